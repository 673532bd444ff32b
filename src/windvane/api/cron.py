"""A cron schedule says when a job runs: `*/5 * * * *`, `0 3 * * mon-fri`, `@daily`, `@every 1h30m`.

    Cron("0 3 * * *").next(ambient.now(), ZoneInfo("Europe/Berlin"))

This is the dialect that Kubernetes' CronJob accepts, no more and no less, with its behaviour where clocks are
changed: a time that occurs twice runs twice, a time that is skipped doesn't run that day. In one point we differ:
in zones that change clocks at midnight or by half an hour, Kubernetes may run a job in an hour that was not asked for.

Results are in UTC, because Python compares and subtracts two times of one zone by the clock on the wall.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

from windvane.api.duration import UNSIGNED, parse_nanoseconds
from windvane.api.value import unshown

_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EXAMPLES = 'write for example "*/5 * * * *", "0 3 * * mon-fri", "@daily" or "@every 1h30m"'

_BLANKS = re.compile(r"[^\S\x1c-\x1f]+")  # Unicode's white space; Python alone counts \x1c to \x1f too
_SECOND, _MINUTE, _HOUR, _DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class _Field(NamedTuple):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        names = f" or {self.names[0]} to {self.names[-1]}" if self.names else ""
        return f"{self.low} to {self.high}{names}"


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    _Field("day of the week", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


def _shape(field: _Field, numbers: str) -> str:
    """The pattern of one field: a list of ranges and steps, whose numbers are in range."""
    names = f"|{_range(_any_case(field.names))}" if field.names else ""
    part = rf"([*?]|{_range(numbers)}{names})(/0?[1-9][0-9]{{0,2}})?"
    return f"{part}(,{part})*"


def _any_case(names: tuple[str, ...]) -> str:
    return f"(?i:{'|'.join(names)})"


def _range(one: str) -> str:
    return f"({one})(-({one}))?"


def _backwards() -> str:
    """The pattern of a range that ends before it begins; no number has more than two digits."""
    units = "|".join(f"{end + 1}-{{tens}}[0-{end}]" for end in range(9))
    numbers = [f"{tens or '0?'}({units.format(tens=tens or '0?')})" for tens in ("", *"12345")]
    numbers += [f"{tens}[0-9]-{'0?' if tens == 1 else f'[0-{tens - 1}]?'}[0-9]" for tens in range(1, 6)]
    names = [
        f"{later}-({'|'.join(field.names[:place])})"
        for field in _FIELDS
        for place, later in enumerate(field.names)
        if place > 0
    ]
    return rf"\b({'|'.join(numbers)}|(?i:{'|'.join(names)}))\b"


def _grammar() -> str:
    """The pattern of a schedule, but for the order of the two ends of a range: no pattern can compare numbers."""
    numbers = ("[0-5]?[0-9]", "[01]?[0-9]|2[0-3]", "0?[1-9]|[12][0-9]|3[01]", "0?[1-9]|1[0-2]", "0?[0-6]")
    five = "[ \\t]+".join(_shape(field, each) for field, each in zip(_FIELDS, numbers, strict=True))
    return f"^(@({_WORDS}|every {UNSIGNED})|{five})$"


_WORDS = "|".join(name.removeprefix("@") for name in _DESCRIPTORS)
_LONG_S = "\N{LATIN SMALL LETTER LONG S}"  # which, in patterns that ignore case, is an s
_OUTLINE = rf"^(@({_WORDS}|every \S+)|\S+([ \t]+\S+){{4}})$"


class _Calendar(NamedTuple):
    """The times whose every field is in the field's set."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    both_days: bool  # whether a day must fit both sets, because one was written `*`, or either is enough

    def has_day(self, day: datetime) -> bool:
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (in_month and in_week) if self.both_days else (in_month or in_week)


class Cron(str):
    """A schedule in Kubernetes' cron dialect; a string that is known to be valid."""

    __slots__ = ("_schedule",)

    _schedule: _Calendar | timedelta

    # A CEL rule would have better words for what is wrong, but the server refuses one in a list without MaxItems.
    wire_schema: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "type": "string",
            "pattern": _OUTLINE,
            "not": {"anyOf": [unshown(_grammar()), {"pattern": _backwards()}, {"pattern": _LONG_S}]},
        }
    )

    def __new__(cls, text: str) -> Self:
        cron = super().__new__(cls, text)
        cron._schedule = _parse(text)
        return cron

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Read a JSON string."""
        if not isinstance(value, str):
            raise ValueError(f"schedule {value!r}: a {type(value).__name__} is not a string; {_EXAMPLES}")
        return cls(value)

    def to_wire(self) -> str:
        """The schedule as it was written."""
        return str(self)

    def next(self, after: datetime, timezone: tzinfo = UTC) -> datetime | None:
        """The first scheduled time later than `after`; None if there is none within five years.

        `@every 1h` has no clock of its own: the next time is an hour after `after`.
        """
        start = _in_utc(after).replace(microsecond=0)
        try:
            if isinstance(self._schedule, timedelta):
                return start + self._schedule
            return _next(self._schedule, start, timezone)
        except OverflowError:  # past the year 9999
            return None

    def latest(self, since: datetime, now: datetime, timezone: tzinfo = UTC) -> datetime | None:
        """The last scheduled time later than `since` and not later than `now`; None if there is none.

        This is what a controller asks after it was away, perhaps for years: which run is due? It doesn't walk
        through all that were missed. "Something was scheduled in the last x seconds" is false for small x and
        true from some x on: doubling x finds a place on the other side, and halving finds the border.
        """
        start, end = _in_utc(since), _in_utc(now)
        if isinstance(self._schedule, timedelta):
            start = start.replace(microsecond=0)
            missed = (end - start) // self._schedule
            return start + missed * self._schedule if missed > 0 else None

        span, quiet, busy = end - start, timedelta(0), _SECOND
        while (found := self._due(end - min(busy, span), end, timezone)) is None:
            if busy >= span:
                return None
            quiet, busy = busy, busy * 2
        busy = min(busy, span)
        while busy - quiet > _SECOND:
            middle = (quiet + busy) / 2
            later = self._due(end - middle, end, timezone)
            if later is None:
                quiet = middle
            else:
                busy, found = middle, later
        return found

    def _due(self, after: datetime, now: datetime, timezone: tzinfo) -> datetime | None:
        time = self.next(after, timezone)
        return time if time is not None and time <= now else None


def _parse(text: str) -> _Calendar | timedelta:
    if "TZ" in text:
        raise ValueError(
            f"schedule {text[:80]!r}: Kubernetes refuses a time zone in the schedule; "
            "put it into the field beside it (spec.timeZone of a CronJob)"
        )
    if text.startswith("@every "):
        try:
            nanoseconds = parse_nanoseconds(text.removeprefix("@every "))
        except ValueError as error:
            raise ValueError(f"schedule {text[:80]!r}: {error}") from None
        return timedelta(seconds=max(1, nanoseconds // 10**9))
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise ValueError(
                f"schedule {text[:80]!r}: there is {', '.join(_DESCRIPTORS)} and @every followed by a duration"
            )
        return _parse(_DESCRIPTORS[text])
    fields = [field for field in _BLANKS.split(text) if field]
    if len(fields) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        raise ValueError(f"schedule {text[:80]!r}: has {len(fields)} fields, needs five ({names}); {_EXAMPLES}")
    sets = []
    for field, expression in zip(_FIELDS, fields, strict=True):
        try:
            sets.append(_parse_field(expression, field))
        except ValueError as error:
            problem = f"{error} in the {field.name} {expression[:80]!r}"
            raise ValueError(f"schedule {text[:80]!r}: {problem}; allowed is {field.allowed}") from None
    (minutes, _), (hours, _), (days, any_day), (months, _), (weekdays, any_weekday) = sets
    return _Calendar(minutes, hours, days, months, weekdays, any_day or any_weekday)


def _parse_field(expression: str, field: _Field) -> tuple[frozenset[int], bool]:
    """The numbers in a comma-separated list of ranges, and whether a plain `*` was among them."""
    numbers: set[int] = set()
    star = False
    for part in filter(None, expression.split(",")):
        span, *steps = part.split("/")
        low, *highs = span.split("-")
        if len(steps) > 1:
            raise ValueError("too many slashes")
        step = _number(steps[0]) if steps else 1
        if low in ("*", "?"):
            first, last = field.low, field.high
            star = star or step <= 1
        else:
            if len(highs) > 1:
                raise ValueError("too many hyphens")
            first = _number_or_name(low, field)
            last = _number_or_name(highs[0], field) if highs else field.high if steps else first
        if first < field.low or last > field.high:
            raise ValueError(f"{first if first < field.low else last} is out of range")
        if first > last:
            raise ValueError(f"the range {span[:20]!r} ends before it begins")
        if step == 0:
            raise ValueError("the step 0 leads nowhere")
        numbers.update(range(first, last + 1, step))
    return frozenset(numbers), star


def _number_or_name(text: str, field: _Field) -> int:
    name = text.lower()
    return field.names.index(name) + field.low if name in field.names else _number(text)


def _number(text: str) -> int:
    if not re.fullmatch(r"\+?0*[0-9]{1,18}", text):
        raise ValueError(f"{text[:20]!r} is not a number")
    return int(text)


def _next(calendar: _Calendar, after: datetime, zone: tzinfo) -> datetime | None:
    """Step from field to field, the largest first, until all of them fit.

    `time` is in UTC and `local` shows it on the clocks of `zone`. Months and days step by the calendar,
    hours and minutes by the time that really passes, which decides what happens when clocks are changed.
    """
    if not (calendar.minutes and calendar.hours and calendar.months):
        return None
    time = after + _SECOND
    local = _local(time, zone)
    last_year = local.year + 5
    cleared = False  # whether the parts below the field that was stepped have been set to their lowest
    while local.year <= last_year:
        if local.month not in calendar.months:
            if not cleared:
                local = local.replace(day=1, hour=0, minute=0, second=0)
            next_month = (local.replace(day=1) + 31 * _DAY).replace(day=1) + (local.day - 1) * _DAY
            time = _absolute(next_month, zone)
        elif not calendar.has_day(local):
            if not cleared:
                local = local.replace(hour=0, minute=0, second=0)
            time = _absolute(local + _DAY, zone)
            # Some zones change their clocks at midnight, so that a day may begin at one.
            hour = _local(time, zone).hour
            time += (24 - hour if hour > 12 else -hour) * _HOUR
        elif local.hour not in calendar.hours:
            if not cleared:
                time = _absolute(local.replace(minute=0, second=0), zone)
            time += _HOUR
        elif local.minute not in calendar.minutes:
            time = (time if cleared else time.replace(second=0)) + _MINUTE
        elif local.second:
            time += (60 - local.second) * _SECOND
        else:
            return time
        cleared = True
        local = _local(time, zone)
    return None


def _local(time: datetime, zone: tzinfo) -> datetime:
    return time.astimezone(zone).replace(tzinfo=None, fold=0)


def _absolute(local: datetime, zone: tzinfo) -> datetime:
    """When clocks show `local`; if they skip it or show it twice, what Go's time.Date says."""
    as_if_utc = local.replace(tzinfo=UTC)
    guess = as_if_utc - (_local(as_if_utc, zone) - local)
    return as_if_utc - (_local(guess, zone) - guess.replace(tzinfo=None))


def _in_utc(time: datetime) -> datetime:
    if time.utcoffset() is None:
        raise ValueError(f"time {time.isoformat()} has no zone; take it from ambient.now(), or add tzinfo=UTC")
    return time.astimezone(UTC)
