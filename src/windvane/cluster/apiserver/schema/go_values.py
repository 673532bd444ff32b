"""What Go says about text that is no time, no amount and no base64."""

import binascii
import re
from calendar import monthrange

from windvane.api.quantity import Quantity

SECONDS, MICROSECONDS = "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000000Z07:00"

_BAD_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_BAD_SUFFIX = "unable to parse quantity's suffix"
_LIKE_QUANTITY = re.compile(r"\s*[+-]?[0-9]*\.?[0-9]*[eEinumkKMGTP]*[-+]?[0-9]*\s*")

# The parts of a time as Go's layouts show them, what each looks like, what it counts and how far.
_TWO = r"[0-9]{2}"
_PARTS = (
    ("2006", r"[0-9]{4}", "year", range(10_000)), ("-", "-", "", None),
    ("01", _TWO, "month", range(1, 13)), ("-", "-", "", None),
    ("02", _TWO, "day", range(100)), ("T", "T", "", None),
    ("15", r"[0-9]{1,2}", "hour", range(24)), (":", ":", "", None),
    ("04", _TWO, "minute", range(60)), (":", ":", "", None),
    ("05", _TWO, "second", range(60)),
)  # fmt: skip
_ANY_FRACTION = re.compile(r"[.,][0-9]+")
_SIX_DIGITS = re.compile(r"[.,][0-9]{6}")
_ZONE = re.compile(r"Z|[+-]([0-9]{2}):([0-9]{2})")
_BASE64 = re.compile("[A-Za-z0-9+/]")


def time_problem(text: str, layout: str) -> str:
    """Go's complaint about a time that it can't parse; empty if it can."""
    rest, numbers = text, dict[str, int]()
    for shown, pattern, name, possible in _PARTS:
        found = re.match(pattern, rest)
        if found is None:
            return _not_parsed(text, layout, rest, shown)
        rest = rest[found.end() :]
        if possible is not None:
            numbers[name] = int(found[0])
            if numbers[name] not in possible:
                return f'parsing time "{text}": {name} out of range'
    fraction = (_SIX_DIGITS if layout == MICROSECONDS else _ANY_FRACTION).match(rest)
    if fraction is None and layout == MICROSECONDS:
        return _not_parsed(text, layout, rest, ".000000")
    rest = rest[fraction.end() :] if fraction else rest
    zone = _ZONE.match(rest)
    if zone is None:
        return _not_parsed(text, layout, rest, "Z07:00")
    for name, number, most in (("hour", zone[1], 24), ("minute", zone[2], 60)):
        if int(number or 0) > most:
            return f'parsing time "{text}": time zone offset {name} out of range'
    if rest := rest[zone.end() :]:
        return f'parsing time "{text}": extra text: "{rest}"'
    if not 1 <= numbers["day"] <= monthrange(numbers["year"] or 4, numbers["month"])[1]:
        return f'parsing time "{text}": day out of range'
    return ""


def _not_parsed(text: str, layout: str, rest: str, part: str) -> str:
    return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{part}"'


def quantity_problem(value: object) -> str:
    """Go's complaint about an amount that is none; empty if it is one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return _BAD_QUANTITY
    try:
        Quantity.from_wire(value)
    except ValueError:
        return _BAD_SUFFIX if value and _LIKE_QUANTITY.fullmatch(str(value)) else _BAD_QUANTITY
    return ""


def base64_problem(text: str) -> str:
    """Where Go stops reading base64; line breaks are no reason to. Empty if it reads it all."""
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        place = _end_of_base64(text)
        return "" if place is None else f"illegal base64 data at input byte {place}"
    return ""


def _end_of_base64(text: str) -> int | None:
    significant = [(place, each) for place, each in enumerate(text) if each not in "\r\n"]
    padding = len(significant)
    for count, (place, each) in enumerate(significant):
        if each == "=" and count % 4 >= 2:
            padding = count
            break
        if not _BASE64.match(each):
            return place
    ending, needed = "".join(each for _, each in significant[padding:]), "=" * (-padding % 4)
    if ending == needed:
        return None
    if not ending:
        return significant[padding - padding % 4][0]
    if ending.startswith(needed):
        return significant[padding + len(needed)][0]
    return len(text) if ending == "=" else significant[padding][0]
