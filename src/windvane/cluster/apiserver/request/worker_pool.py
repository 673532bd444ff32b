"""Runs CEL expressions on the event loop for some milliseconds, and those that take longer in threads.

While the loop compiles or runs an expression, all other requests wait. So what takes longer than a few milliseconds is
started again in a thread. Threads hold up the loop, too, because only one thread of Python runs at a time; so there are
three for all such work. Each has a time limit, and what takes longer is started again in the next one; the last one's
limit is that of the request. So quick expressions don't wait for slow ones.
"""

import asyncio
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from windvane import ambient
from windvane.api.cel.cost.limits import Deadline, TakesLong, tick
from windvane.cluster.apiserver.request.deadline import LONGEST, remaining, timed_out

Q = TypeVar("Q")
T = TypeVar("T")
ON_THE_LOOP = 0.005
"""The time limit on the loop, in seconds."""
SMALL = 16 * 1024
"""How many bytes can be processed in about that time. No single function looks at the clock."""
TURNS = (0.25, 5.0, LONGEST)
"""The time limit in each thread, in seconds."""
_threads = [ThreadPoolExecutor(1, "windvane-expressions") for _ in TURNS]  # a thread is there once it is needed


class _Turns:
    """Yields to other requests: a hundred policies may each be quick, and take long together."""

    def __init__(self) -> None:
        self._held = 0.0

    async def held(self, seconds: float) -> None:
        """Add to the time that the loop was blocked; yield when that reaches the limit of one expression."""
        self._held += seconds
        if self._held > ON_THE_LOOP:
            self._held = 0.0
            await ambient.sleep(0)


_turns = _Turns()


async def run_costly(work: Callable[[], T], *about: Any) -> T:
    """What `work` comes to, which reads or runs expressions about these objects; a `Failure` 504 if time runs out.

    It may be done several times, and in other threads, so it must not change anything.
    """
    if not ambient.is_real():
        with Deadline(math.inf):  # virtual time stands still meanwhile
            return work()
    if sum(len(msgspec.json.encode(each)) for each in about) <= SMALL:
        began = ambient.stopwatch()
        try:
            with Deadline(ON_THE_LOOP):
                done = work()
            await _turns.held(ambient.stopwatch() - began)
            return done
        except TakesLong:
            pass
    for seconds, thread in zip(TURNS, _threads, strict=True):
        deadline = Deadline(min(remaining(), LONGEST))
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, _in_turn, work, deadline, seconds)
        except TakesLong:
            if not remaining():
                break
        finally:
            deadline.end()  # if the client is gone, it is not needed any more
    raise timed_out()


def _in_turn(work: Callable[[], T], deadline: Deadline, seconds: float) -> T:
    """What `work` comes to in so many seconds from now, if the client waits as long."""
    deadline.until = min(deadline.until, ambient.stopwatch() + seconds)
    with deadline:
        return work()


def on_event_loop(answer: Callable[[Q], T]) -> Callable[[Q], T]:
    """`answer` as a function for threads, which runs on the event loop: the store belongs to the loop's thread."""
    loop, its_thread = asyncio.get_running_loop(), threading.get_ident()

    def ask(question: Q) -> T:
        if threading.get_ident() == its_thread:
            return answer(question)
        coming: Future[T] = Future()

        def answer_it() -> None:
            try:
                coming.set_result(answer(question))
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked
                coming.set_exception(error)

        try:
            # Not a coroutine: the loop may end before it is begun, and Python complains of one that is not awaited.
            loop.call_soon_threadsafe(answer_it)
        except RuntimeError:  # the loop has ended, and with it what waits
            raise TakesLong from None
        while True:
            try:
                return coming.result(1)
            except TimeoutError:
                tick()  # the loop may have ended

    return ask
