"""Lifespans: what an operator opens once when it starts, has at hand in every pass, and closes when it has stopped.

    @operator.lifespan
    async def http(client: Client) -> AsyncIterator[aiohttp.ClientSession]:
        async with aiohttp.ClientSession() as session:
            yield session

    async def reconcile(site: Website, ctx: Context) -> None:
        session = ctx.value(http)

Every replica enters its lifespans before anything else, also one that will stand by: what is wrong with them shows when
the operator is rolled out, and not when the leader has died. They are left last, when no pass and no daemon runs any
more and the lease is given back.
"""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from windvane.client.client import Client
from windvane.runtime.observability.failure import Failure, cancelling, meant, named, not_cancelled

log = logging.getLogger(__name__)

LEAVE_WITHIN = 5.0
"""How long, in seconds, what comes after a `yield` may take when the operator stops. It holds no lease by then."""

ValueT = TypeVar("ValueT")


class LifespanFailed(Exception):
    """The operator can't start, or can't go on, because a lifespan failed."""


class Lifespan(Generic[ValueT]):
    """What `@operator.lifespan` makes of a function: `ctx.value(http)` is what it has yielded."""

    def __init__(self, function: Callable[[Client], AsyncIterator[ValueT]]) -> None:
        self.function = function
        """The function itself, for a test that calls it."""
        self.name = getattr(function, "__name__", repr(function))
        remedy = f"write `async def {self.name}(client: Client) -> AsyncIterator[...]`, with one `yield`"
        if not inspect.isasyncgenfunction(function):
            if hasattr(function, "__wrapped__"):
                remedy = "leave out @asynccontextmanager"
            raise TypeError(f"the lifespan function {self.name} must be an async function that yields: {remedy}")
        try:
            inspect.signature(function).bind(None)
        except TypeError:
            raise TypeError(f"the lifespan function {self.name} is called with a client alone: {remedy}") from None


class Lifespans:
    """The lifespans of an operator at work, each in a task of its own.

    A function can have a task group around its `yield` that way: what that cancels when one of its tasks fails is the
    lifespan, whose failure ends the operator.
    """

    def __init__(self, declared: Iterable[Lifespan[Any]], client: Client) -> None:
        self._declared = tuple(declared)
        self._client = client
        self._values: dict[Lifespan[Any], Any] = {}
        self._begun: list[tuple[Lifespan[Any], asyncio.Task[None], asyncio.Event]] = []

    @property
    def missing(self) -> str:
        """What has not begun yet; empty if nothing is missing."""
        waiting = [each.name for each in self._declared if each not in self._values]
        return f"waiting for the lifespan {waiting[0]} to begin" if waiting else ""

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """One that ends before it is told to has failed, and the operator with it."""
        return [task for _, task, _ in self._begun]

    def value(self, lifespan: Lifespan[ValueT]) -> ValueT:
        """What it has yielded."""
        if not isinstance(lifespan, Lifespan):
            made = "what @operator.lifespan made of a function, or in a pass @operator.daemon"
            raise TypeError(f"ctx.value takes {made}, and not {lifespan!r}")
        if lifespan not in self._values:
            raise LookupError(f"{lifespan.name} is not a lifespan of this operator: is it another operator's?")
        value: ValueT = self._values[lifespan]
        return value

    async def enter(self) -> None:
        """Begin all of them, one after the other; `LifespanFailed` says why one can't."""
        for each in self._declared:
            began: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            leave = asyncio.Event()
            task = asyncio.get_running_loop().create_task(self._live(each, began, leave))
            self._begun.append((each, task, leave))
            await asyncio.wait([task, began], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            self._values[each] = began.result()

    async def leave(self) -> None:
        """End all of them, the last first."""
        while self._begun:
            each, task, leave = self._begun.pop()
            if each in self._values:
                leave.set()
                await asyncio.wait([task], timeout=LEAVE_WITHIN)
                if not task.done():
                    log.warning("the lifespan %s has not ended within %g s, and is cancelled", each.name, LEAVE_WITHIN)
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()) is not None:
                log.debug("%s", error)  # it is told where it happened

    def _live(self, each: Lifespan[Any], began: asyncio.Future[Any], leave: asyncio.Event) -> Coroutine[Any, Any, None]:
        async def live() -> None:
            async with asynccontextmanager(each.function)(self._client) as value:
                began.set_result(value)
                await leave.wait()

        async def run() -> None:
            try:
                await live()
            except asyncio.CancelledError as cancelled:
                if cancelling():
                    raise
                failure: Exception = not_cancelled(cancelled)
            except Exception as error:  # noqa: BLE001 - the author's code may raise anything
                failure = meant(error)
            else:
                return
            when = "when the operator stopped" if leave.is_set() else "while the operator worked"
            said = f"the lifespan {each.name} failed {when if began.done() else 'to begin'}: {named(failure)}"
            log.error("%s", said, exc_info=Failure.shown(failure))
            raise LifespanFailed(said) from failure

        return run()
