"""`'%s has %d'.format([name, count])`: the clauses, and what they make of values."""

import math
import re
from collections.abc import Callable
from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for
from windvane.api.cel.library.conversions import text_of
from windvane.api.cel.times import show_duration, show_timestamp
from windvane.api.cel.values import (
    CelError,
    Duration,
    MapValue,
    Timestamp,
    TypeValue,
    Uint,
    is_list,
    items_of,
    type_name,
)
from windvane.api.wording import quoted

_DIGITS = 6
_MOST_DIGITS = 1000  # more are of no use, and each costs memory
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

# What each clause accepts, by the kinds of types, and what it says of anything else.
ACCEPTED: dict[str, tuple[frozenset[str], str]] = {
    "s": (
        frozenset({"list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration"})
        | {"type", "null"},
        (
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
            "and timestamps, was given "
        ),
    ),
    "d": (frozenset({"int", "uint"}), "decimal clause can only be used on integers, was given "),
    "f": (frozenset({"double", "string"}), "fixed-point clause can only be used on doubles, was given "),
    "e": (frozenset({"double", "string"}), "scientific clause can only be used on doubles, was given "),
    "b": (frozenset({"int", "uint", "bool"}), "only integers and bools can be formatted as binary, was given "),
    "x": (
        frozenset({"int", "uint", "string", "bytes"}),
        "only integers, byte buffers, and strings can be formatted as hex, was given ",
    ),
    "o": (frozenset({"int", "uint"}), "octal clause can only be used on integers, was given "),
}


class FormatError(ValueError):
    """A text with clauses that can't be formatted."""


def formatted(text: str, args: Any) -> str:
    """The text with its clauses replaced."""
    values = items_of(args)

    def clause(letter: str, digits: int | None, index: int) -> str:
        value = values[index]
        room_for(len(value) if isinstance(value, str | bytes) else 0 if digits is None else digits)
        return _CLAUSES[letter.lower()](value, letter, _DIGITS if digits is None else digits)

    try:
        return expand(text, len(values), clause)
    except FormatError as error:
        raise CelError(str(error)) from None


def expand(text: str, count: int, clause: Callable[[str, int | None, int], str]) -> str:
    """The text in which `clause` says what stands for each clause: a letter, digits behind the point, and an index."""
    made: list[str] = []
    at = index = 0
    while at < len(text):
        if text[at] != "%":
            end = text.find("%", at)
            made.append(text[at : end if end >= 0 else len(text)])
            at = end if end >= 0 else len(text)
            continue
        if text[at + 1 : at + 2] == "%":
            made.append("%")
            at += 2
            continue
        if at + 1 >= len(text):
            raise FormatError("unexpected end of string")
        if index >= count:
            raise FormatError(f"index {index} out of range")
        letter, digits, at = _clause(text, at + 1)
        try:
            made.append(clause(letter, digits, index))
        except FormatError as error:
            raise FormatError(f"error during formatting: {error}") from error
        index += 1
    return "".join(made)


def _clause(text: str, at: int) -> tuple[str, int | None, int]:
    digits: int | None = None
    if text[at] == ".":
        stated = re.compile("[0-9]*").match(text, at + 1)
        number = stated[0] if stated else ""
        at += 1 + len(number)
        problem = "could not parse formatting clause: error while parsing precision: "
        if at >= len(text):
            raise FormatError(f"{problem}could not find end of precision specifier")
        if not number:
            why = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
            raise FormatError(problem + why)
        digits = int(number[:6])
    if text[at].lower() not in _CLAUSES or (text[at].isupper() and text[at] != "X"):
        raise FormatError(f'could not parse formatting clause: unrecognized formatting clause "{text[at]}"')
    return text[at], digits, at + 1


def refused(letter: str, name: str) -> FormatError:
    """A clause can't be used on a value of that type."""
    return FormatError(ACCEPTED[letter.lower()][1] + name)


def _string(value: Any, _letter: str = "", _digits: int = 0) -> str:
    if value is None:
        return "null"
    if is_list(value):
        return f"[{', '.join(_literal(each) for each in items_of(value))}]"
    if isinstance(value, MapValue):
        pairs = sorted((_literal(key), _literal(value.find(key))) for key in value.keys())  # noqa: SIM118
        return f"{{{', '.join(f'{key}:{each}' for key, each in pairs)}}}"
    if isinstance(value, bool | int | float | str | bytes | Duration | Timestamp | TypeValue):
        return text_of(value)
    raise refused("s", type_name(value))


def _literal(value: Any) -> str:
    """A value inside of a list or map, as it would be written in an expression."""
    room_for(len(value) if isinstance(value, str | bytes) else ITEM)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes):
        return f"b{quoted(text_of(value))}"
    if isinstance(value, float):
        if math.isfinite(value):
            return f"{value:.6f}"
        return '"NaN"' if math.isnan(value) else '"+Inf"' if value > 0 else '"-Inf"'
    if isinstance(value, Duration):
        return f'duration("{show_duration(value)}")'
    if isinstance(value, Timestamp):
        return f'timestamp("{show_timestamp(value)}")'
    if isinstance(value, bool | int | TypeValue | MapValue) or value is None or is_list(value):
        return _string(value)
    raise FormatError(f"no formatting function for {type_name(value)}")


def _decimal(value: Any, _letter: str = "", _digits: int = 0) -> str:
    if type(value) is int or type(value) is Uint:
        return str(int(value))
    raise refused("d", type_name(value))


def _number(value: Any, letter: str) -> float:
    if type(value) is float:
        return value
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    raise refused(letter, type_name(value))


def _odd(value: float) -> str:
    return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"


def _fixed(value: Any, _letter: str, digits: int) -> str:
    number = _number(value, "f")
    if not math.isfinite(number):
        return _odd(number)
    return f"{number:,.{min(digits, _MOST_DIGITS)}f}"


def _scientific(value: Any, _letter: str, _digits: int) -> str:
    number = _number(value, "e")
    if not math.isfinite(number):
        return _odd(number)
    # The server takes the digits for a width, and writes as many as there are.
    base, _, exponent = f"{number:.6e}".partition("e")
    power = f"{int(exponent):+03d}".replace("+", "")
    return f"{base}×10{power.translate(_SUPERSCRIPT)}"


def _binary(value: Any, _letter: str = "", _digits: int = 0) -> str:
    if isinstance(value, int):
        return f"{int(value):b}"
    raise refused("b", type_name(value))


def _hex(value: Any, letter: str, _digits: int) -> str:
    if isinstance(value, str):
        shown = value.encode().hex()
    elif isinstance(value, bytes):
        shown = value.hex()
    elif isinstance(value, int) and not isinstance(value, bool):
        shown = f"{int(value):x}"
    else:
        raise refused("x", type_name(value))
    return shown.upper() if letter == "X" else shown


def _octal(value: Any, _letter: str = "", _digits: int = 0) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{int(value):o}"
    raise refused("o", type_name(value))


_CLAUSES: dict[str, Callable[[Any, str, int], str]] = {
    "s": _string, "d": _decimal, "f": _fixed, "e": _scientific, "b": _binary, "x": _hex, "o": _octal,
}  # fmt: skip
