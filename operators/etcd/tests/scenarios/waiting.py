"""Waiting until something is so, and saying what was waited for if it never is."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from windvane import ambient

Found = TypeVar("Found")
PAUSE = 0.1


async def until(what: str, look: Callable[[], Awaitable[Found | None]], *, within: float, why: str = "") -> Found:
    """The first thing that is true."""
    deadline = ambient.monotonic() + within
    while True:
        if found := await look():
            return found
        assert ambient.monotonic() < deadline, f"not within {within:.0f} seconds: {what}. {why}"
        await ambient.sleep(PAUSE)
