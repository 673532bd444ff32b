"""Times and durations as rules see them: to the nanosecond, with the zones, the limits and the notation of Go."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windvane.api.cel.values import LEAST_INT, MOST_INT, CelError, Duration, Timestamp
from windvane.api.duration import parse_nanoseconds

_SECOND = 10**9
_EARLIEST, _LATEST = -62135596800, 253402300799
_DAY_SECONDS, _CYCLE = 86400, 146097 * 86400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_PART = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = (
    (1, ("ns",), "nano"), (10**3, ("us", "µs"), "micro"), (10**6, ("ms",), "milli"), (_SECOND, ("s",), "sec"),
    (60 * _SECOND, ("m",), "min"), (3600 * _SECOND, ("h", "hr"), "hour"), (86400 * _SECOND, ("d",), "day"),
    (7 * 86400 * _SECOND, ("w", "wk"), "week"),
)  # fmt: skip


def read_timestamp(text: str) -> Timestamp | None:
    """The time that an RFC 3339 text states, or None if it states none."""
    parts = _RFC3339.fullmatch(text)
    if parts is None or text[10] != "T" or text[-1] == "z":
        return None
    *fields, fraction, sign, hours, minutes = parts.groups()
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * 60
    if int(hours or 0) > 24 or int(minutes or 0) > 60:
        return None
    offset = -offset if sign == "-" else offset
    year, month, day, hour, minute, second = map(int, fields)
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    seconds = int((local - _EPOCH) / timedelta(seconds=1)) - offset
    return timestamp(seconds * _SECOND + int((fraction or "0")[:9].ljust(9, "0")), offset)


def read_date(text: str) -> Timestamp | None:
    """The first moment of a day, in UTC."""
    return read_timestamp(f"{text}T00:00:00Z") if _DAY.fullmatch(text) else None


def timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    """A time, if it is one between the years 1 and 9999."""
    if not _EARLIEST <= nanoseconds // _SECOND <= _LATEST:
        raise CelError("timestamp overflow")
    return Timestamp(nanoseconds, offset)


def read_duration(text: str) -> Duration | None:
    """The duration that a text such as `1h30m` states, or None if it states none."""
    try:
        return Duration(parse_nanoseconds(text))
    except (ValueError, CelError):
        return None


def read_loose_duration(text: str) -> Duration | None:
    """The same for the format `duration`, which also knows `3 weeks`."""
    if (found := read_duration(text)) is not None:
        return found
    total, known = 0, False
    for number, unit in _PART.findall(text):
        for nanoseconds, variants, stem in _UNITS:
            if unit.lower() in variants or unit.lower().startswith(stem):
                known = True
                total += int(number[:25]) * nanoseconds
    return Duration(total) if known and LEAST_INT <= total <= MOST_INT else None


def show_timestamp(time: Timestamp) -> str:
    """RFC 3339 with as many digits of a second as there are, in the zone that the time was written with."""
    seconds, rest = divmod(time.nanoseconds, _SECOND)
    local = _EPOCH + timedelta(seconds=min(max(seconds + time.offset, _EARLIEST), _LATEST))
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    zone = "Z"
    if time.offset:
        hours, minutes = divmod(abs(time.offset) // 60, 60)
        zone = f"{'-' if time.offset < 0 else '+'}{hours:02d}:{minutes:02d}"
    return f"{local.replace(tzinfo=None).isoformat(timespec='seconds')}{fraction}{zone}"


def show_duration(duration: Duration) -> str:
    """Seconds, such as `90s` or `0.25s`."""
    sign = "-" if duration.nanoseconds < 0 else ""
    whole, rest = divmod(abs(duration.nanoseconds), _SECOND)
    return f"{sign}{f'{whole}.{rest:09d}'.rstrip('0').rstrip('.')}s"


def part(time: Timestamp, name: str, zone: str = "UTC") -> int:
    """The year, the hour and so on of a time, as seen in a zone. Months and most days are counted from 0."""
    seconds, rest = divmod(time.nanoseconds, _SECOND)
    # Python's years end at 9999, and a zone may lead beyond: 400 years earlier the calendar is the same.
    cycles = 1 if seconds > _LATEST - 2 * _DAY_SECONDS else -1 if seconds < _EARLIEST + 2 * _DAY_SECONDS else 0
    moved = _EPOCH + timedelta(seconds=seconds - cycles * _CYCLE)
    local = moved + timedelta(seconds=_offset(zone, moved))
    match name:
        case "getFullYear":
            return local.year + 400 * cycles
        case "getMonth":
            return local.month - 1
        case "getDayOfYear":
            return local.timetuple().tm_yday - 1
        case "getDayOfMonth":
            return local.day - 1
        case "getDate":
            return local.day
        case "getDayOfWeek":
            return local.isoweekday() % 7
        case "getHours":
            return local.hour
        case "getMinutes":
            return local.minute
        case "getSeconds":
            return local.second
    return rest // 10**6


def _offset(zone: str, at: datetime) -> int:
    """How many seconds a zone is ahead of UTC."""
    if zone in ("", "UTC"):
        return 0
    hours, colon, minutes = zone.partition(":")
    if not colon:
        try:
            ahead = at.astimezone(ZoneInfo(zone)).utcoffset()
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise CelError(f"unknown time zone {zone}") from None
        return int(ahead.total_seconds()) if ahead is not None else 0
    for number in (hours, minutes):
        if not re.fullmatch("[+-]?[0-9]{1,4}", number):
            raise CelError(f'strconv.Atoi: parsing "{number}": invalid syntax')
    return (int(hours) * 60 - int(minutes) if zone[0] == "-" else int(hours) * 60 + int(minutes)) * 60


def whole(duration: Duration, unit: int) -> int:
    """How many whole units of so many nanoseconds a duration has, cut off towards zero."""
    units = abs(duration.nanoseconds) // unit
    return -units if duration.nanoseconds < 0 else units
