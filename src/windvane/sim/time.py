"""Virtual time: an event loop that never waits. When all tasks wait, its clock jumps to the next timer.

An hour of a controller's life takes as long as the work in it. Everything that runs on asyncio sees the same time,
`asyncio.timeout` and `loop.call_later` too; `VirtualTime` behind the `ambient` door shows it to the rest.
"""

import asyncio
import random
import selectors
from collections.abc import Callable, MutableSequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
"""When virtual time begins: a moment that nobody mistakes for now."""
SHORTEST = 1e-9


class Deadlock(Exception):
    """Every task waits, and nothing in this world can wake any of them."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop for tasks that talk to each other only. Threads and sockets get no time of their own here.

    What is to run in a thread (`asyncio.to_thread`) runs at once and takes no time: when a real thread would have ended
    is for nobody to say.
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
        except Exception as error:  # noqa: BLE001 - whoever awaits it gets it
            future.set_exception(error)
        return future


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
