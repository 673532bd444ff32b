"""A duration is a timedelta that travels as Kubernetes writes it: `1h30m0s`, `300ms`.

    Duration(minutes=90) == Duration.parse("1h30m") == timedelta(minutes=90)

A `Duration` is a `timedelta`, so it goes wherever one is wanted. Arithmetic gives a plain `timedelta`;
`Duration.of` makes it a duration again.

The wire has nanoseconds, a timedelta has microseconds. What is finer is rounded away from zero, so that a
duration that is not zero never becomes zero, which often means "off".
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, ClassVar, Self

from windvane.api.value import unshown

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # U+00B5, the micro sign
    "μs": 10**3,  # U+03BC, the Greek letter
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_GRAMMAR = rf"[+-]?(0|({_NUMBER}({'|'.join(_UNITS)}))+)"
_PART = re.compile(rf"{_NUMBER}([^0-9.]*)")
_LONGEST = 2**63 - 1  # nanoseconds: what Kubernetes has room for, about 292 years


def _up_to(digits: int) -> str:
    return rf"([0-9]{{1,{digits}}}(\.[0-9]*)?|\.[0-9]+)"


# What the server is told to accept: hours at most once, and so few digits that the sum is never too long. 999,999 hours
# and five times 999,999,999 seconds are 273 years.
_BELOW_HOURS = f"({_up_to(7)}m|{_up_to(9)}(s|ms|us|µs|μs|ns))"
UNSIGNED = f"(0|{_BELOW_HOURS}{{1,5}}|{_BELOW_HOURS}{{0,2}}{_up_to(6)}h{_BELOW_HOURS}{{0,3}})"
"""The pattern of a duration without a sign."""
_MAX_LENGTH = 64  # CEL rules that read durations need a bound to stay cheap


class Duration(timedelta):
    """A length of time, made like a timedelta: `Duration(hours=1)`, or read: `Duration.parse("1h30m")`."""

    __slots__ = ()

    wire_schema: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "type": "string",
            "maxLength": _MAX_LENGTH,
            "pattern": f"^{_GRAMMAR}$",
            "not": unshown(f"^[+-]?{UNSIGNED}$"),
        }
    )

    @classmethod
    def of(cls, delta: timedelta) -> Self:
        """The same length of time as a duration."""
        return cls(days=delta.days, seconds=delta.seconds, microseconds=delta.microseconds)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1h30m`, `1.5s`, `300ms`, `-2us`; raise ValueError that names what is wrong."""
        nanoseconds = parse_nanoseconds(text)
        return cls(microseconds=nanoseconds // 1000 if nanoseconds < 0 else -(-nanoseconds // 1000))

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Read a JSON string."""
        if not isinstance(value, str):
            raise _problem(str(value), f"a {type(value).__name__} has no unit")
        return cls.parse(value)

    def to_wire(self) -> str:
        """The text that Kubernetes itself would send."""
        return str(self)

    def __str__(self) -> str:
        nanoseconds = (self // timedelta(microseconds=1)) * 1000
        if abs(nanoseconds) > _LONGEST:
            raise ValueError(f"{self!r} is longer than the 292 years that Kubernetes has room for")
        return ("-" if nanoseconds < 0 else "") + _canonical(abs(nanoseconds))


def parse_nanoseconds(text: str) -> int:
    """The number of nanoseconds in a duration such as `1h30m`."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    if not rest:
        raise _problem(text, "there is no number")
    total = position = 0
    while position < len(rest):
        part = _PART.match(rest, position)
        if part is None:
            raise _problem(text, f"a number was expected at {rest[position:][:10]!r}")
        number, unit = part.groups()
        if unit not in _UNITS:
            raise _problem(text, f"{unit!r} is no unit" if unit else f"{number[:20]!r} has no unit")
        whole, _, fraction = number.partition(".")
        # Only as many digits as can matter: 20 are too long already, and the 19th of a fraction is less than
        # a nanosecond even of an hour. A text of a million digits must cost nothing.
        whole, fraction = whole.lstrip("0")[:20], fraction[:18]
        total += int(whole or "0") * _UNITS[unit]
        # In floating point, as Go does it, to arrive at the same nanosecond.
        total += int(float(fraction or "0") * (_UNITS[unit] / 10.0 ** len(fraction)))
        if total > _LONGEST:
            raise _problem(text, "this is longer than the 292 years that Kubernetes has room for")
        position = part.end()
    return -total if text[0] == "-" else total


def _canonical(nanoseconds: int) -> str:
    """Hours, minutes and seconds from one second up; below, the largest unit that fits."""
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < 10**9:
        unit = "ms" if nanoseconds >= 10**6 else "µs" if nanoseconds >= 1000 else "ns"
        return _decimal(nanoseconds, _UNITS[unit]) + unit
    minutes, seconds = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    shown = _decimal(seconds, 10**9) + "s"
    if hours:
        return f"{hours}h{minutes}m{shown}"
    return f"{minutes}m{shown}" if minutes else shown


def _decimal(amount: int, unit: int) -> str:
    """`amount / unit`, exact, without trailing zeros."""
    whole, rest = divmod(amount, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0").rstrip(".")


def _problem(text: str, problem: str) -> ValueError:
    shown = repr(text) if len(text) <= 60 else f"{text[:60]!r}…"
    return ValueError(f'duration {shown}: {problem}; write for example "1h30m", "90s" or "250ms"')
