"""Virtual time: an event loop that never waits. When all tasks wait, its clock jumps to the next timer.

An hour of a controller's life takes as long as the work in it. Everything that runs on asyncio sees the same time,
`asyncio.timeout` and `loop.call_later` too; `VirtualTime` behind the `ambient` door shows it to the rest.
"""

import asyncio
import random
import selectors
from collections.abc import Callable, MutableSequence
from contextvars import Context, copy_context
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVarTuple
from uuid import UUID

from windvane.ambient import Ambient
from windvane.sim.process import LoopStep, process_of

Arguments = TypeVarTuple("Arguments")

BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
"""When virtual time begins: a moment that can't be mistaken for now."""
SHORTEST = 1e-9


class Deadlock(Exception):
    """Every task waits, and nothing in this world can wake any of them."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop for tasks that talk to each other only. Threads and sockets get no time of their own here.

    What is to run in a thread (`asyncio.to_thread`) runs at once and takes no time: when a real thread would have ended
    can't be said.
    """

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Seconds since the world began."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let that much time pass."""
        # A timer that is nearer than a float can tell apart from now would never come.
        self._now += max(seconds, SHORTEST)

    def run_in_executor(  # type: ignore[override]  # typeshed binds the arguments' types, which buys nothing here
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """The result of a blocking function, which is called here and now."""
        del executor
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - what awaits it gets it
            future.set_exception(error)
        return future

    # Whatever a task does is done by one of these two; so this is where a process can be paused.

    def call_soon(
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        """See `asyncio.AbstractEventLoop.call_soon`."""
        context = context or copy_context()
        if (process := process_of(context)) is None:
            return super().call_soon(callback, *args, context=context)
        step = LoopStep(process, lambda: callback(*args), context)
        step.handle = super().call_soon(step, context=context)
        return step.handle

    def call_at(
        self, when: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """See `asyncio.AbstractEventLoop.call_at`."""
        context = context or copy_context()
        if (process := process_of(context)) is None:
            return super().call_at(when, callback, *args, context=context)
        step = LoopStep(process, lambda: callback(*args), context)
        step.handle = timer = super().call_at(when, step, context=context)
        return timer


class _Selector(selectors.DefaultSelector):
    """Where the loop would sleep until a timer is due, virtual time passes instead."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or timeout == 0:
            return found
        if timeout is None:
            raise Deadlock("every task waits for another, and no timer is set: nothing can happen any more")
        self._loop.advance(timeout)
        return []


class VirtualTime:
    """What stands behind `ambient` on a `VirtualLoop`: its clock, and chance that repeats itself for a seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - must repeat itself, and guards nothing

    def now(self) -> datetime:
        return BEGINNING + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def uid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def token(self, length: int, alphabet: str) -> str:
        return "".join(self._random.choices(alphabet, k=length))

    def shuffle(self, items: MutableSequence[Any]) -> None:
        self._random.shuffle(items)

    def jitter(self, seconds: float) -> float:
        return seconds * self._random.uniform(0.5, 1.0)


class MachineClock:
    """The clocks of one machine in the world of another `Ambient`: they may be set, and the machine may sleep."""

    def __init__(self, world: Ambient) -> None:
        self._world = world
        self._set = timedelta()
        self._slept = 0.0

    def set(self, seconds: float) -> None:
        """Move the time of day, forwards or backwards. Nothing else notices."""
        self._set += timedelta(seconds=seconds)

    def sleep_through(self, seconds: float) -> None:
        """Wake from a sleep that long: both clocks have gone on, while no timer of the machine has."""
        self._set += timedelta(seconds=seconds)
        self._slept += seconds

    def now(self) -> datetime:
        return self._world.now() + self._set

    def monotonic(self) -> float:
        return self._world.monotonic() + self._slept

    async def sleep(self, seconds: float) -> None:
        await self._world.sleep(seconds)

    def uid(self) -> str:
        return self._world.uid()

    def token(self, length: int, alphabet: str) -> str:
        return self._world.token(length, alphabet)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        self._world.shuffle(items)

    def jitter(self, seconds: float) -> float:
        return self._world.jitter(seconds)
