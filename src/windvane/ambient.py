"""The only door to time, chance and unique ids: simulation replaces what stands behind it.

Everything else in windvane asks here for the time, waits here, and draws its random names here; a lint
rule bans the standard library's own ways. A simulation, or a test with virtual time, puts another
`Ambient` behind the door for the length of a `with ambient.use(...)` block.
"""

import random
import secrets
import sys
import time
import uuid
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Protocol


class Ambient(Protocol):
    """What the world around a program provides."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...
    def uid(self) -> str: ...
    def token(self, length: int, alphabet: str) -> str: ...
    def shuffle(self, items: MutableSequence[Any]) -> None: ...
    def jitter(self, seconds: float) -> float: ...


class Reality:
    """The machine's own clocks and the operating system's randomness."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        # A clock that goes on while the machine sleeps. Linux' CLOCK_MONOTONIC stands still then, and a leader on a
        # laptop that was closed for an hour would believe in its lease.
        return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # here, so that a command that never waits need not load it

        await asyncio.sleep(seconds)

    def uid(self) -> str:
        return str(uuid.uuid4())

    def token(self, length: int, alphabet: str) -> str:
        drawn = secrets.randbelow(len(alphabet) ** length)  # once: each draw asks the operating system
        characters = []
        for _ in range(length):
            drawn, place = divmod(drawn, len(alphabet))
            characters.append(alphabet[place])
        return "".join(characters)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        random.shuffle(items)

    def jitter(self, seconds: float) -> float:
        return seconds * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing


# Kubernetes' own choice for generated names: no vowels, so no words, and no characters that look alike.
SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"

# A context variable, not a global: two simulations in two tasks must not see each other's clocks.
_ambient: ContextVar[Ambient] = ContextVar("ambient", default=Reality())  # noqa: B039 - Reality has no state


@contextmanager
def use(ambient: Ambient) -> Iterator[None]:
    """Put `ambient` behind the door for this block and the tasks started in it."""
    reset = _ambient.set(ambient)
    try:
        yield
    finally:
        _ambient.reset(reset)


def now() -> datetime:
    """The time of day, in UTC."""
    return _ambient.get().now()


def monotonic() -> float:
    """Seconds on a clock that never goes back; only differences mean something."""
    return _ambient.get().monotonic()


stopwatch: Callable[[], float] = time.perf_counter
"""Seconds on the machine's own clock, in a simulation, too: for what must not keep others waiting.

What it says may decide where something is done, and never what comes of it.
"""


def is_real() -> bool:
    """Whether time is the machine's own here, which passes while code runs."""
    return isinstance(_ambient.get(), Reality)


async def sleep(seconds: float) -> None:
    """Let `seconds` pass."""
    await _ambient.get().sleep(seconds)


def uid() -> str:
    """An id that no other object ever has."""
    return _ambient.get().uid()


def token(length: int, alphabet: str = SAFE_ALPHABET) -> str:
    """`length` characters that can't be guessed, drawn from `alphabet`."""
    return _ambient.get().token(length, alphabet)


def shuffle(items: MutableSequence[Any]) -> None:
    """Put `items` into a random order, in place."""
    _ambient.get().shuffle(items)


def jitter(seconds: float) -> float:
    """Between half of `seconds` and all of it, so that many waiters don't come back at once."""
    return _ambient.get().jitter(seconds)
