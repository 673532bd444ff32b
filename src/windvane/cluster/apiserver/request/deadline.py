"""How long a request may take: a minute, or less if it says so (`?timeout=5s`). Watches take as long as they like.

A write is never broken off half-way. When its time is up, the client is told so; the write goes on to its end,
unless it waits for others, who are told how much time they have (`remaining`).
"""

import asyncio
import math
import re
from collections.abc import Coroutine
from contextvars import ContextVar

from windvane import ambient
from windvane.api.duration import parse_nanoseconds
from windvane.api.status import StatusDetails
from windvane.api.wording import quoted
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.failure import Failure, bad_request, failure

LONGEST = 60.0
WITHOUT_UNIT = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
UNKNOWN_UNIT = re.compile(r"[+-]?[0-9.]+([^0-9.]+)")
LONGEST_SHOWN = 100
MOMENT = 0.01  # two clocks are not the same to the microsecond
_until: ContextVar[float] = ContextVar("until", default=math.inf)


def time_limit(query: dict[str, str], longest: float = LONGEST) -> float:
    """The seconds that a request may take; 400 if what it says about that makes no sense."""
    text = query.get("timeout", "")
    if not text:
        return longest
    try:
        seconds = parse_nanoseconds(text) / 1e9
    except ValueError:
        raise bad_request(f"invalid timeout specified in the request URL - {_problem(text)}") from None
    return min(seconds, longest) if seconds > 0 else longest


def _problem(text: str) -> str:
    """What Go says about a duration that it can't read."""
    shown = quoted(text[:LONGEST_SHOWN])
    if WITHOUT_UNIT.fullmatch(text):
        return f"time: missing unit in duration {shown}"
    if (unit := UNKNOWN_UNIT.fullmatch(text)) is not None:
        return f"time: unknown unit {quoted(unit[1][:LONGEST_SHOWN])} in duration {shown}"
    return f"time: invalid duration {shown}"


def remaining() -> float:
    """The seconds that are left for the request that is being answered; 0 if its time is up, or will be in no time."""
    left = _until.get() - ambient.monotonic()
    return left if left > MOMENT else 0.0


def timed_out() -> Failure:
    """What the client is told when the time is up."""
    message = "Timeout: request did not complete within the allotted timeout"
    return failure(504, "Timeout", message, StatusDetails())


class Deadlines:
    """Tells when the time for an answer is up, and lets what is under way come to its end."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[Answer]] = set()  # asyncio itself keeps tasks weakly

    async def within(self, seconds: float, answering: Coroutine[None, None, Answer]) -> Answer:
        """The answer, or a `Failure` 504 if it takes too long."""
        before = _until.set(ambient.monotonic() + seconds)  # the task takes it along
        try:
            task = asyncio.get_running_loop().create_task(answering)
        finally:
            _until.reset(before)
        self._under_way.add(task)
        task.add_done_callback(self._done)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            raise timed_out()
        return task.result()

    def _done(self, task: asyncio.Task[Answer]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # the client was told, if it still waited
