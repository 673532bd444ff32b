"""Collects what is wrong with an object, in the words of kube-apiserver: one cause for each broken rule.

Paths are written as the server writes them: `spec.containers[0].resources.limits[cpu]`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from windvane.api.status import StatusCause

# JSON as Go writes it, which is also safe inside HTML.
_ESCAPED = {"&": "\\u0026", "<": "\\u003c", ">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029"}


class Omitted:
    """Stands for a value that the message doesn't show."""


OMITTED = Omitted()


class Problems(list[StatusCause]):
    """A list of causes, with one method for each kind of complaint."""

    def invalid(self, path: str, value: object, why: str) -> None:
        """The value can't be right."""
        self._add("FieldValueInvalid", path, _with_value("Invalid value", value), why)

    def all_invalid(self, path: str, value: object, why: Iterable[str]) -> None:
        """The value breaks each of these rules."""
        for each in why:
            self.invalid(path, value, each)

    def required(self, path: str, why: str = "") -> None:
        """There must be a value."""
        self._add("FieldValueRequired", path, "Required value", why)

    def forbidden(self, path: str, why: str) -> None:
        """There must be no value, or it must not change."""
        self._add("FieldValueForbidden", path, "Forbidden", why)

    def duplicate(self, path: str, value: object) -> None:
        """The value is there a second time."""
        self._add("FieldValueDuplicate", path, _with_value("Duplicate value", value), "")

    def not_found(self, path: str, value: object) -> None:
        """The value names something that isn't there."""
        self._add("FieldValueNotFound", path, _with_value("Not found", value), "")

    def unsupported(self, path: str, value: object, supported: Sequence[str]) -> None:
        """The value is not one of the possible ones."""
        listed = ", ".join(f'"{each}"' for each in supported)
        self._add(
            "FieldValueNotSupported", path, _with_value("Unsupported value", value), f"supported values: {listed}"
        )

    def too_long(self, path: str, limit: int, unit: str = "bytes") -> None:
        """The value has more than `limit` bytes."""
        self._add("FieldValueTooLong", path, "Too long", f"may not be more than {limit} {unit}")

    def too_many(self, path: str, count: int, limit: int) -> None:
        """The list has more than `limit` items."""
        self._add("FieldValueTooMany", path, f"Too many: {count}", f"must have at most {limit} items")

    def internal(self, path: str, why: str) -> None:
        """The server itself has a problem with the value."""
        self._add("InternalError", path, "Internal error", why)

    def not_negative(self, path: str, value: int | None) -> None:
        """The number may be zero or more."""
        if value is not None and value < 0:
            self.invalid(path, value, "must be greater than or equal to 0")

    def one_of(self, path: str, value: str | None, supported: Sequence[str]) -> None:
        """The value is required, and one of these."""
        if not value:
            self.required(path)
        elif value not in supported:
            self.unsupported(path, value, supported)

    def immutable(self, path: str, value: object, old: object) -> None:
        """The value must be what it was."""
        if same(value, old):
            return
        self.invalid(path, value, "field is immutable")

    def _add(self, reason: str, path: str, message: str, why: str) -> None:
        self.append(StatusCause(reason=reason, field=path, message=f"{message}: {why}" if why else message))


def same(one: object, other: object) -> bool:
    """Whether two JSON values mean the same to Kubernetes, which doesn't tell empty from absent."""
    if one == other:
        return True  # nearly always, and Python sees that without going through them step by step
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(same(one.get(key), other.get(key)) for key in one.keys() | other.keys())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return _empty(one) and _empty(other)


def _empty(value: object) -> bool:
    """Whether a value is absent, or a list or map of nothing; an absent struct isn't the same as an empty one."""
    return value is None or value == [] or value == "" or value is False


def shown(value: object) -> str:
    """A value as messages show it: strings quoted, everything else as JSON."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, str):
        return text
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text


def _with_value(message: str, value: object) -> str:
    return message if isinstance(value, Omitted) else f"{message}: {shown(value)}"
