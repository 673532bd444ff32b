"""Waiting longer each time before the same thing is tried again."""

from dataclasses import dataclass
from datetime import datetime

from windvane import Backoff


@dataclass
class _Entry:
    tries: int
    since: datetime


class KeyedBackoff:
    """How long to wait before each of many things: longer each time; a key that was quiet for long begins anew."""

    def __init__(self, first: float, longest: float) -> None:
        self._delays = Backoff(first=first, most=longest)
        self._entries: dict[str, _Entry] = {}

    def left(self, key: str, now: datetime) -> float:
        """How many seconds are left before it may be tried; 0 if none."""
        entry = self._entries.get(key)
        return max(0.0, self._delays.longest(entry.tries - 1) - self._quiet(entry, now)) if entry else 0.0

    def tried(self, key: str, now: datetime) -> None:
        """It was tried just now."""
        self._forget(now)
        entry = self._entries.get(key)
        self._entries[key] = _Entry(entry.tries + 1 if entry else 1, now)

    def _forget(self, now: datetime) -> None:
        quiet = [key for key, entry in self._entries.items() if self._quiet(entry, now) > 2 * self._delays.most]
        for key in quiet:
            del self._entries[key]

    @staticmethod
    def _quiet(entry: _Entry, now: datetime) -> float:
        return (now - entry.since).total_seconds()
