"""What an author declares about daemons: coroutines that run beside the passes, one for each object.

    @operator.daemon(Website)
    async def probe(site: Website, ctx: DaemonContext) -> AsyncIterator[bool]:
        while True:
            yield await answers(site.spec.url)
            await asyncio.sleep(10)

    async def reconcile(site: Website, ctx: Context) -> None:
        ctx.ready(ctx.value(probe) is True, "it answers")

What it yields reaches the passes: a value that differs from the last brings one.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, overload

from windvane.api.resource import Object, kind_of
from windvane.client.client import Client
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.informers.view import View
from windvane.runtime.lifespan import Lifespan, Lifespans
from windvane.runtime.observability.current_pass import PassLogger
from windvane.runtime.predicate import When
from windvane.runtime.writes.children import RecordEvent

ObjectT_co = TypeVar("ObjectT_co", bound=Object, covariant=True)
ValueT = TypeVar("ValueT")


class DaemonContext(View):
    """What a daemon is given beside its object: the caches, the client, and what is shared.

    It can't state children, nor write the object's status: that is for a pass, which reads what the daemon yields.
    """

    def __init__(
        self,
        obj: Object,
        client: Client,
        informers: DeclaredInformers,
        lifespans: Lifespans,
        record_event: Callable[[Object], RecordEvent],
    ) -> None:
        super().__init__(informers, obj.metadata.namespace)
        self._lifespans = lifespans
        self._record_event = record_event
        self._obj = obj
        self.client = client
        """The API server itself. It refuses to write as soon as another replica may be at work."""
        self.log = PassLogger(f"windvane.{kind_of(obj).name}")
        """A logger whose lines say which daemon of which object they come from."""

    def value(self, of: Lifespan[ValueT]) -> ValueT:
        """What a lifespan of the operator has yielded."""
        return self._lifespans.value(of)

    def event(
        self,
        reason: str,
        message: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",  # noqa: A002 - Kubernetes' word
        about: Object | None = None,
    ) -> None:
        """Say that something happened to this object, or to the one that it is `about`; `kubectl describe` shows it."""
        self._record_event(about or self._obj)(reason, message, type)


class Daemon(Generic[ValueT]):
    """What `@operator.daemon` makes of a function: `ctx.value(probe)` is what it yielded last for the object."""

    def __init__(
        self,
        what: type[Object],
        function: Callable[[Any, DaemonContext], AsyncIterator[ValueT] | Coroutine[Any, Any, None]],
        when: When[Any] | None = None,
    ) -> None:
        self.what = what
        self.function = function
        """The function itself, for a test that calls it."""
        self.when = when
        """For which objects it runs; None is for all."""
        self.name = getattr(function, "__name__", repr(function))
        remedy = f"write `async def {self.name}(obj: {what.__name__}, ctx: DaemonContext)`"
        if not (inspect.isasyncgenfunction(function) or asyncio.iscoroutinefunction(function)):
            raise TypeError(f"the daemon {self.name} of {what.__name__} must be an async function: {remedy}")
        try:
            inspect.signature(function).bind(None, None)
        except TypeError:
            raise TypeError(
                f"the daemon {self.name} of {what.__name__} is called with the object and a context: {remedy}"
            ) from None

    async def run(self, obj: Any, ctx: DaemonContext, yielded: Callable[[ValueT], None]) -> None:
        """Run it once, and pass on what it yields."""
        running = self.function(obj, ctx)
        if not isinstance(running, AsyncGenerator):
            await cast(Coroutine[Any, Any, None], running)
            return
        async with aclosing(running) as values:
            async for value in values:
                yielded(value)


class DeclaresDaemon(Protocol[ObjectT_co]):
    """What `@operator.daemon(Website)` is: it takes a function of a Website that yields what it finds, or nothing."""

    @overload
    def __call__(self, function: Callable[[ObjectT_co, DaemonContext], AsyncIterator[ValueT]], /) -> Daemon[ValueT]: ...

    @overload
    def __call__(
        self, function: Callable[[ObjectT_co, DaemonContext], Coroutine[Any, Any, None]], /
    ) -> Daemon[None]: ...
