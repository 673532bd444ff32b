"""`fieldValidation`: what becomes of an object with fields that are unknown or come twice."""


class FieldValidation:
    """Ignore, Warn or Strict, as a request says; Warn if it says nothing."""

    def __init__(self, how: str, warnings: list[str]) -> None:
        self.ignores = how == "Ignore"
        self._strict = how == "Strict"
        self._warnings = warnings

    def reason_to_refuse(self, complaints: list[str]) -> str:
        """Why an object with these complaints can't be read; empty if it can be, and at most warnings are due.

        What is said about an object takes the place of what was said before: a patch may be tried again.
        """
        if complaints and self._strict:
            return f"strict decoding error: {', '.join(complaints)}"
        self._warnings[:] = [] if self.ignores else [line for each in complaints for line in _told(each)]
        return ""


def _told(complaint: str) -> list[str]:
    """A complaint as warnings tell it: the lines of a YAML body each have their own."""
    return [line.strip() for line in complaint.removeprefix("yaml: unmarshal errors:\n").split("\n")]
