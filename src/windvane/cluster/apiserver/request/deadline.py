"""How long a request may take: a minute, or less if it says so (`?timeout=5s`). Watches take as long as they like.

A write is never cancelled half-way. When its time is up, the client gets an error, and the write goes on. Only calls to
webhooks end with the request: they get the time that is left (`remaining`).
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
    """The seconds that a request may take; 400 if its `timeout` is malformed."""
    text = query.get("timeout", "")
    if not text:
        return longest
    try:
        seconds = parse_nanoseconds(text) / 1e9
    except ValueError:
        raise bad_request(f"invalid timeout specified in the request URL - {_problem(text)}") from None
    return min(seconds, longest) if seconds > 0 else longest


def _problem(text: str) -> str:
    """Go's error for a duration that it can't parse."""
    shown = quoted(text[:LONGEST_SHOWN])
    if WITHOUT_UNIT.fullmatch(text):
        return f"time: missing unit in duration {shown}"
    if (unit := UNKNOWN_UNIT.fullmatch(text)) is not None:
        return f"time: unknown unit {quoted(unit[1][:LONGEST_SHOWN])} in duration {shown}"
    return f"time: invalid duration {shown}"


def remaining() -> float:
    """The seconds that are left for the current request; 0 if its time is up, or nearly."""
    left = _until.get() - ambient.monotonic()
    return left if left > MOMENT else 0.0


def timed_out() -> Failure:
    """The 504 for a request that took too long."""
    message = "Timeout: request did not complete within the allotted timeout"
    return failure(504, "Timeout", message, StatusDetails())


class Deadlines:
    """Limits the time of requests, and lets writes that are late come to their end."""

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
            task.exception()  # the client has its answer already
