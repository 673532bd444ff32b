"""Points in time on the wire: whole seconds in most fields, exactly six digits of a second in a few.

Kubernetes has two time types. `Time` is written `2006-01-02T15:04:05Z`; here it is a plain `datetime`.
`MicroTime`, in Leases and Events, is written `2006-01-02T15:04:05.000000Z`, and the API server refuses any other
number of digits; it has a type of its own here, so that it need not be remembered which field is which.

Every time that is read is in UTC. A time without a zone is refused: it would not say when it is.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

from windvane.api.value import unshown

Time: TypeAlias = datetime

# As Go reads RFC 3339: one digit is enough for the hour, and a comma may start the fraction.
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)

# What the server is told to accept: its own "date-time" takes any offset, any sign before the fraction, and the year 0.
# Away from UTC, the first and the last years are left out, because they may end up outside of what Python can hold; in
# the last ones, what is finer than a microsecond, because it may be rounded up to the year 10000.
_CLOCK = "-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
_OFFSET = "[+-]([01][0-9]|2[0-3]):[0-5][0-9]"


def _pattern(fraction: str, late_fraction: str) -> str:
    early = "([1-8][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
    in_utc = f"({early}{_CLOCK}{fraction}|9[0-9]{{3}}{_CLOCK}{late_fraction})(Z|[+-]00:00)"
    return f"^({in_utc}|[1-8][0-9]{{3}}{_CLOCK}{fraction}{_OFFSET})$"


TIME_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "string",
        "format": "date-time",
        "not": unshown(_pattern(r"(\.[0-9]{1,9})?", r"(\.[0-9]{1,6})?")),
    }
)
"""The schema of a plain datetime in a custom kind."""


class MicroTime(datetime):
    """A datetime that is sent with six digits of a second: `MicroTime.of(ambient.now())`.

    Adding or subtracting a timedelta gives a MicroTime; the difference of two times is a timedelta.
    """

    __slots__ = ()

    wire_schema: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"type": "string", "format": "date-time", "not": unshown(_pattern(r"\.[0-9]{6}", r"\.[0-9]{6}"))}
    )

    @classmethod
    def of(cls, time: datetime) -> Self:
        """The same point in time, in UTC."""
        in_utc = _in_utc(time)
        return cls.combine(in_utc.date(), in_utc.timetz())

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Read a JSON string with exactly six digits of a second, as the API server does."""
        parts = _RFC3339.fullmatch(value) if isinstance(value, str) else None
        if parts is None or len(parts[7] or "") != 6:
            raise ValueError(f'time {value!r}: six digits of a second are required here, "2006-01-02T15:04:05.000000Z"')
        return cls.of(parse_time(value))

    def to_wire(self) -> str:
        """`2006-01-02T15:04:05.000000Z`."""
        return _in_utc(self).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time with any offset; what is finer than a microsecond is cut off."""
    parts = _RFC3339.fullmatch(text)
    if parts is None:
        raise _problem(text, "this is not an RFC 3339 time with a zone")
    *fields, fraction, sign, offset_hours, offset_minutes = parts.groups()
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    hours, minutes = int(offset_hours or 0), int(offset_minutes or 0)
    if hours > 24 or minutes > 60:
        raise _problem(text, "the offset from UTC is more than a day")
    offset = timedelta(hours=hours, minutes=minutes)
    year, month, day, hour, minute, second = map(int, fields)
    try:
        local = datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)
        return local + offset if sign == "-" else local - offset
    except (ValueError, OverflowError) as error:
        raise _problem(text, str(error)) from None


def format_time(time: datetime) -> str:
    """Write a time with whole seconds, in UTC; what is finer is cut off."""
    return _in_utc(time).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _in_utc(time: datetime) -> datetime:
    if time.utcoffset() is None:
        raise ValueError(
            f"time {time.isoformat()} has no zone: Kubernetes needs to know when it is; "
            "take it from ambient.now(), or add tzinfo=UTC"
        )
    return time.astimezone(UTC)


def _problem(text: str, problem: str) -> ValueError:
    return ValueError(f'time {text[:60]!r}: {problem}; write for example "2006-01-02T15:04:05Z"')
