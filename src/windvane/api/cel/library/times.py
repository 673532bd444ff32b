"""The parts of times and durations: `self.when.getHours('Europe/Berlin')`."""

from collections.abc import Callable

from windvane.api.cel.functions import Functions, Overload, member
from windvane.api.cel.times import part, whole
from windvane.api.cel.types import DURATION, INT, STRING, TIMESTAMP
from windvane.api.cel.values import Duration, Timestamp

_UNITS = {"getHours": 3600 * 10**9, "getMinutes": 60 * 10**9, "getSeconds": 10**9, "getMilliseconds": 10**6}
_PARTS = {
    "getFullYear": "year", "getMonth": "month", "getDayOfYear": "day_of_year", "getDayOfMonth": "day_of_month",
    "getDate": "day_of_month_1_based", "getDayOfWeek": "day_of_week", "getHours": "hours", "getMinutes": "minutes",
    "getSeconds": "seconds", "getMilliseconds": "milliseconds",
}  # fmt: skip


def _part(name: str) -> Callable[..., int]:
    def run(time: Timestamp, zone: str = "UTC") -> int:
        return part(time, name, zone)

    return run


def _whole(unit: int) -> Callable[[Duration], int]:
    return lambda duration: whole(duration, unit)


def _overloads(name: str, word: str) -> tuple[Overload, ...]:
    found = [
        member(f"timestamp_to_{word}", [TIMESTAMP], INT, _part(name)),
        member(f"timestamp_to_{word}_with_tz", [TIMESTAMP, STRING], INT, _part(name)),
    ]
    if name in _UNITS:
        found.append(member(f"duration_to_{word}", [DURATION], INT, _whole(_UNITS[name])))
    return tuple(found)


FUNCTIONS: Functions = {name: _overloads(name, word) for name, word in _PARTS.items()}
