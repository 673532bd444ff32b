"""How long ago something was, the way `kubectl get` says it: `5s`, `3m20s`, `4d2h`, `2y`."""

from datetime import timedelta

from windvane import ambient
from windvane.api.time import parse_time

DAY = 24
YEAR = 365 * DAY


def human_duration(length: timedelta) -> str:
    """A length of time in two or three digits that matter: the longer it is, the coarser."""
    # Towards zero, as Go does it: half a second before its time is no error but "0s", as clocks differ.
    seconds = int(length.total_seconds())
    if seconds < -1:
        return "<invalid>"
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    minutes, hours = seconds // 60, seconds // 3600
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 2 * DAY:
        return f"{hours}h"
    if hours < 8 * DAY:
        return _two(hours // DAY, "d", hours % DAY, "h")
    if hours < 2 * YEAR:
        return f"{hours // DAY}d"
    if hours < 8 * YEAR:
        return _two(hours // YEAR, "y", hours // DAY % 365, "d")
    return f"{hours // YEAR}y"


def since(time: str | None) -> str:
    """How long ago this point in time was, given as the API writes it."""
    return human_duration(ambient.now() - parse_time(time)) if time else "<unknown>"


def _two(large: int, unit: str, small: int, small_unit: str) -> str:
    return f"{large}{unit}{small}{small_unit}" if small else f"{large}{unit}"
