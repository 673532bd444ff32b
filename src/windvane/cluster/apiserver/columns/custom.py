"""Columns of custom kinds, which their CRD names: a JSON path, and the type that is expected there."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.age import since
from windvane.cluster.apiserver.columns.column import AGE, NAME, Cell, Column, Columns
from windvane.cluster.apiserver.columns.jsonpath import JSONPath

SMALLEST_INTEGER = -(2**63)
UNDESCRIBED = "Custom resource definition column (in JSONPath format): "
_TEXT_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.e+-]*')
_ESCAPED_IN_TEXT = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


def custom_columns(version: Mapping[str, Any]) -> Columns:
    """The columns of an entry in a CRD's `spec.versions`: name and age, if it names none itself."""
    wanted: Sequence[Mapping[str, Any]] = version.get("additionalPrinterColumns") or ()
    if not wanted:
        return (NAME, Column("Age", AGE.cell, "date"))
    columns = [NAME]
    for each in wanted:
        try:
            path = JSONPath.parse(each["jsonPath"])
        except ValueError:
            # The real server takes such a CRD, and shows the columns before the one that it can't read.
            break
        columns.append(
            Column(
                each["name"],
                _cell(path, CELLS[each["type"]]),
                each["type"],
                each.get("format", ""),
                each.get("description") or f"{UNDESCRIBED}{each['jsonPath']}",
                each.get("priority", 0),
            )
        )
    return tuple(columns)


def _cell(path: JSONPath, show: Callable[[Any], Cell]) -> Callable[[Wire], Cell]:
    def cell(thing: Wire) -> Cell:
        found = path.find(thing)
        return show(found[0]) if found else None

    return cell


def _text(value: object) -> str:
    """Any value as text, as Go prints it."""
    match value:
        case str():
            return value
        case None:
            return "<no value>"
        case bool():
            return "true" if value else "false"
        case float():
            return _digits(value, plain_from=-4, plain_below=6)
        case dict() | list():
            # Through the text, not the value: an object may be nested deeper than Python's stack.
            return _TEXT_OR_NUMBER.sub(_as_go_writes_it, msgspec.json.encode(value, order="sorted").decode())
    return str(value)


def _as_go_writes_it(part: re.Match[str]) -> str:
    """A text or number in JSON: what could be HTML is escaped, and a whole number has no `.0`."""
    if part[0].startswith('"'):
        return part[0].translate(_ESCAPED_IN_TEXT)
    is_float = any(mark in part[0] for mark in ".e")
    digits = _digits(float(part[0]), plain_from=-6, plain_below=21) if is_float else part[0]
    return digits.replace("e-0", "e-")


def _digits(value: float, *, plain_from: int, plain_below: int) -> str:
    """The fewest digits that mean this number, with an exponent outside of these powers of ten."""
    digits = Decimal(repr(value)).normalize()
    exponent = digits.adjusted()
    if plain_from <= exponent < plain_below:
        return f"{digits:f}"
    return f"{digits.scaleb(-exponent):f}e{exponent:+03d}"


def _integer(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # What doesn't fit becomes the smallest integer there is: Go's way, on the machines that most servers are.
    return int(value) if SMALLEST_INTEGER <= value < -SMALLEST_INTEGER else SMALLEST_INTEGER


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Without a fraction it is sent without one, and `kubectl` shows what is sent.
    return int(value) if isinstance(value, int) or (value.is_integer() and abs(value) < 1e21) else value


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _date(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return since("" if value == "null" else value)
    except ValueError:
        return "<invalid>"


CELLS: Mapping[str, Callable[[Any], Cell]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
