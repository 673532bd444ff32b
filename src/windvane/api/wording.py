"""Causes of a refusal in the very words, and the very notation of values, that a Go server has for them.

Users know these sentences from real clusters, and tools match on them.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from windvane.api.status import StatusCause

NOWHERE = "<nil>"
"""What the server gives as the field of an error that it has no field for."""

_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_JSON_ESCAPES = {
    **{chr(code): f"\\u{code:04x}" for code in (*range(32), 0x2028, 0x2029)},
    "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\",
    "<": "\\u003c", ">": "\\u003e", "&": "\\u0026",
}  # fmt: skip
_JSON_TABLE = str.maketrans(_JSON_ESCAPES)


class Record(dict[str, Any]):
    """A Go struct, whose fields are shown in their own order; the keys of a map are sorted."""


def invalid(field: str, value: Any, why: str) -> StatusCause:
    """The value can't be right."""
    return StatusCause(reason="FieldValueInvalid", message=f"Invalid value: {shown(value)}: {why}", field=field)


def wrong_type(field: str, value: Any, why: str) -> StatusCause:
    """The value is of another type than the field."""
    return StatusCause(reason="FieldValueTypeInvalid", message=f"Invalid value: {shown(value)}: {why}", field=field)


def required(field: str, why: str = "") -> StatusCause:
    """There must be a value."""
    return StatusCause(reason="FieldValueRequired", message=_because("Required value", why), field=field)


def forbidden(field: str, why: str) -> StatusCause:
    """There must be no value."""
    return StatusCause(reason="FieldValueForbidden", message=_because("Forbidden", why), field=field)


def duplicate(field: str, value: Any) -> StatusCause:
    """The value is there a second time."""
    return StatusCause(reason="FieldValueDuplicate", message=f"Duplicate value: {shown(value)}", field=field)


def unsupported(field: str, value: Any, supported: Iterable[str]) -> StatusCause:
    """The value is not one of the possible ones."""
    listed = ", ".join(quoted(each) for each in supported)
    message = f"Unsupported value: {shown(value)}: supported values: {listed}"
    return StatusCause(reason="FieldValueNotSupported", message=message, field=field)


def too_long(field: str, limit: int) -> StatusCause:
    """The string is longer than `limit`. The server says bytes even where it counted characters."""
    message = f"Too long: may not be more than {limit} {'byte' if limit == 1 else 'bytes'}"
    return StatusCause(reason="FieldValueTooLong", message=message, field=field)


def too_many(field: str, count: int, limit: int) -> StatusCause:
    """There are more items than `limit`."""
    message = f"Too many: {count}: must have at most {limit} {'item' if limit == 1 else 'items'}"
    return StatusCause(reason="FieldValueTooMany", message=message, field=field)


def internal(field: str, why: str) -> StatusCause:
    """The server itself has a problem with the value."""
    return StatusCause(reason="InternalError", message=f"Internal error: {why}", field=field)


def _because(what: str, why: str) -> str:
    return f"{what}: {why}" if why else what


def shown(value: Any) -> str:
    """A bad value as messages show it: Go's %q for strings, %v for numbers, JSON for the rest."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return shown_float(value)
    return as_json(value)


def quoted(text: str) -> str:
    """Go's %q."""
    return f'"{"".join(_quoted_character(character) for character in text)}"'


def quoted_list(values: Iterable[str]) -> str:
    """Go's %q of a list: `["a" "b"]`."""
    return "[" + " ".join(quoted(value) for value in values) + "]"


def _quoted_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown_float(value: float) -> str:
    """Go's %v: the shortest digits that mean this number, with an exponent from a million on."""
    return _float(value, least=-4, most=6)


def as_json(value: Any) -> str:
    """JSON as Go writes it: keys in order, safe inside HTML."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value, least=-6, most=21).replace("e-0", "e-")
    if isinstance(value, str):
        return f'"{value.translate(_JSON_TABLE)}"'
    if isinstance(value, dict):
        keys = value if isinstance(value, Record) else sorted(value)
        return "{" + ",".join(f"{as_json(key)}:{as_json(value[key])}" for key in keys) + "}"
    return "[" + ",".join(as_json(each) for each in value) + "]"


def _float(value: float, *, least: int, most: int) -> str:
    number = Decimal(repr(value)).normalize()
    magnitude = number.adjusted()
    if least <= magnitude < most or not number:
        return format(number, "f")
    sign, (whole, *rest), _ = number.as_tuple()
    digits = f"{whole}{'.' if rest else ''}{''.join(map(str, rest))}"
    return f"{'-' if sign else ''}{digits}e{'-' if magnitude < 0 else '+'}{abs(magnitude):02d}"
