"""What a schema says about numbers: bounds, multiples, and the range of a 32- or 64-bit integer.

The server compares integers with bounds that are cut off to integers, and floats with bounds as they are.
"""

import math
from typing import Any

from windvane.api.custom_resources.schema import Schema
from windvane.api.status import StatusCause
from windvane.api.wording import NOWHERE, invalid, shown

_LARGEST_INTEGER = 2.0**53
_LARGEST_FLOAT = 3.4028234663852886e38
_CLOSE = 1e-9


class NumberRules:
    """The rules for one number."""

    def __init__(self, of: Schema, type_: str, format_: str) -> None:
        self._type = type_ if type_ in ("integer", "number") else ""
        self._format = format_ if self._type else ""
        self._bits = 31 if self._format == "int32" else 63
        self._multiple_of, self._minimum, self._maximum = of.get("multipleOf"), of.get("minimum"), of.get("maximum")
        self._exclusive_minimum = of.get("exclusiveMinimum") is True
        self._exclusive_maximum = of.get("exclusiveMaximum") is True
        bounds = (self._multiple_of, self._minimum, self._maximum)
        self.allow_all = bounds == (None, None, None) and self._format in ("", "int64", "double")
        # Integers in here are right without a closer look; where bounds are odd, there are none.
        odd = self._multiple_of is not None or any(isinstance(bound, float) for bound in bounds)
        least = -(2**self._bits) if self._minimum is None else self._minimum + self._exclusive_minimum
        most = 2**self._bits - 1 if self._maximum is None else self._maximum - self._exclusive_maximum
        limit = 2**self._bits
        self.easy = range(0) if odd or abs(least) > limit or abs(most) > limit else range(least, most + 1)

    def causes(self, value: int | float, path: str) -> list[StatusCause]:
        """What is wrong with a number; the complaints about its range name no field."""
        found: list[StatusCause] = []
        self._check_range("Checked", value, path, found)
        if (factor := self._multiple_of) is not None:
            native = self._check_range("MultipleOf", float(factor), path, found) and isinstance(value, int)
            factor = int(factor) if native else float(factor)
            if factor <= 0:
                found.append(
                    _wrong(path, factor, f"factor MultipleOf declared for {path} must be positive: {shown(factor)}")
                )
            elif value % factor if native else not _is_multiple(float(value), factor):
                found.append(_should(path, value if native else float(value), f"be a multiple of {shown(factor)}"))
        if (least := self._minimum) is not None:
            native = self._check_range("Minimum boundary", float(least), path, found) and isinstance(value, int)
            least = int(least) if native else float(least)
            if value < least or (self._exclusive_minimum and value == least):
                or_equal = "" if self._exclusive_minimum else " or equal to"
                found.append(_should(path, value, f"be greater than{or_equal} {shown(least)}"))
        if (most := self._maximum) is not None:
            native = self._check_range("Maximum boundary", float(most), path, found) and isinstance(value, int)
            most = int(most) if native else float(most)
            if value > most or (self._exclusive_maximum and value == most):
                or_equal = "" if self._exclusive_maximum else " or equal to"
                found.append(_should(path, value, f"be less than{or_equal} {shown(most)}"))
        return found

    def _check_range(self, what: str, value: float, path: str, found: list[StatusCause]) -> bool:
        if self._type == "integer":
            whole = isinstance(value, int) or value.is_integer()
            fits = whole and -(2**self._bits) <= value < 2**self._bits
        else:
            fits = self._format != "float" or abs(value) <= _LARGEST_FLOAT
        if not fits:
            of_format = f"with format {self._format}" if self._format else "(default format)"
            found.append(invalid(NOWHERE, "", f"{what} value must be of type {self._type} {of_format} in {path}"))
        return fits


def is_json_integer(value: float) -> bool:
    """Whether a float counts as an integer, because that is what it is or comes close to."""
    if not -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER - 1:
        return False
    whole = float(math.trunc(value))
    return value == whole or (value > 0 < whole and abs(value - whole) / (abs(value) + abs(whole)) < _CLOSE)


def _is_multiple(value: float, factor: float) -> bool:
    return is_json_integer(1 / factor * value if factor < 1 else value / factor)


def _wrong(path: str, value: Any, why: str) -> StatusCause:
    return invalid(path or NOWHERE, value, why)


def _should(path: str, value: Any, what: str) -> StatusCause:
    return _wrong(path, value, f"{path} in body should {what}")
