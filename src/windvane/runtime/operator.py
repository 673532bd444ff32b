"""An operator: controllers that share one client, one watch per kind, and one leader or a set of shards.

    operator = Operator("website")

    @operator.controller(Website, owns=[apps.Deployment])
    async def reconcile(site: Website, ctx: Context) -> None: ...

It starts in this order: caches, then election, then workers; so that a new leader begins with a full view at once.
When it stops, passes that are under way may finish, and the lease is given back last.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from windvane.api.field_selector import FieldSelector
from windvane.api.kind import Kind
from windvane.api.resource import Object, kind_of
from windvane.api.selector import Selector
from windvane.client.client import Client
from windvane.runtime.cache import Key
from windvane.runtime.controller import Controller
from windvane.runtime.declaration import Declaration, Finalize, Reconcile, Watch
from windvane.runtime.election import Election, Fence
from windvane.runtime.events import Recorder
from windvane.runtime.informer import ALL, Informer, Selection
from windvane.runtime.measured import Measured
from windvane.runtime.mistakes import check_function, check_kind, check_kinds
from windvane.runtime.shards import Shards
from windvane.runtime.share import Everything, Share
from windvane.runtime.sight import Seen
from windvane.runtime.spans import Traced, tracer
from windvane.runtime.watchdog import Watchdog

log = logging.getLogger(__name__)

FINISH_WITHIN = 25.0
"""How long, in seconds, passes that are under way may take when the operator stops.

A pod is killed 30 seconds after it was asked to stop, and by then the lease should be given back as well.
"""

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class Operator:
    """What an author declares. Nothing happens before it runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        """Its name as a field manager, in Events and in Leases."""
        self.declarations: dict[str, Declaration] = {}
        """By the name of the controller, which is that of its resource unless it was given one."""
        self.narrowed: dict[Kind, Selection] = {}
        """Of which kinds only some objects are watched."""
        self._finalizers: dict[Kind, Finalize] = {}

    def controller(
        self,
        what: type[Object],
        *,
        owns: Sequence[type[Object]] = (),
        watches: Sequence[Watch[Any]] = (),
        concurrency: int = 8,
        timeout: float = 300.0,
        until_gone: bool = False,
        name: str = "",
        events_from: str = "",
    ) -> Callable[[FunctionT], FunctionT]:
        """Declare the function that makes the world match an object of a kind.

        An object that is being deleted gets no more passes, but for its finalizer; with `until_gone`, it does. A second
        controller of the same kind, for another matter altogether, needs a `name` to be told apart by. Its Events come
        from `events_from`, where that says something to users that the operator's name does not.
        """
        check_kind(what, "controller")
        check_kinds(owns, watches, Watch)

        def declare(function: FunctionT) -> FunctionT:
            check_function(function, "controller", what)
            called = name or kind_of(what).resource
            if called in self.declarations:
                there = self.declarations[called].reconcile.__name__
                raise ValueError(
                    f"{what.__name__} has a controller already, {there}; two would undo each other's work. If this one "
                    'sees to other things, give it a name: @operator.controller(..., name="...")'
                )
            reconcile: Reconcile = function
            manager = f"{self.name}-{name}" if name else self.name
            self.declarations[called] = Declaration(
                what,
                reconcile,
                owns,
                watches,
                concurrency,
                timeout,
                until_gone=until_gone,
                name=called,
                manager=manager,
                events_from=events_from or self.name,
            )
            return function

        return declare

    def finalizer(self, what: type[Object]) -> Callable[[FunctionT], FunctionT]:
        """Declare the function that runs before a deleted object goes away, until it succeeds."""
        check_kind(what, "finalizer")

        def declare(function: FunctionT) -> FunctionT:
            check_function(function, "finalizer", what)
            kind = kind_of(what)
            if kind in self._finalizers:
                raise ValueError(f"{what.__name__} has a finalizer already, {self._finalizers[kind].__name__}")
            self._finalizers[kind] = function
            return function

        return declare

    def watch_only(
        self,
        what: type[Object],
        *,
        labels: Mapping[str, str] | Selector | str | None = None,
        fields: Mapping[str, str] | FieldSelector | str | None = None,
    ) -> None:
        """Watch only those objects of a kind that match, wherever the kind is declared: the others cost no memory.

        What an object's owner applies must match, or the next pass would not see it.
        """
        kind = kind_of(what)
        if kind in self.narrowed:
            raise ValueError(f"watch_only({what.__name__}) was said before; say it once, with all that must match")
        if not labels and not fields:
            raise ValueError(f"watch_only({what.__name__}) needs labels= or fields=, or it would watch all")
        self.narrowed[kind] = Selection(labels, fields)

    def run(
        self,
        client: Client,
        *,
        namespaces: Iterable[str] = (),
        identity: str = "",
        lease_namespace: str = "",
        shards: int = 0,
        stop: asyncio.Event | None = None,
    ) -> "Running":
        """The operator at work: `await operator.run(client)` works until cancelled, or until `stop` is set.

        With an `identity`, one replica of those that have different ones leads, and the others stand by. With `shards`
        as well, the objects are split into so many, and all replicas work, each on its part of them. The leases that
        decide are in the client's namespace if `lease_namespace` names no other.
        """
        if shards < 0 or (shards and not identity):
            raise ValueError(
                f"shards={shards} needs an identity that no other replica has: "
                "operator.run(client, identity=socket.gethostname(), shards=64)"
            )
        for kind, finalize in self._finalizers.items():
            if kind.resource not in self.declarations:
                raise ValueError(f"{kind.name} has a finalizer but no controller: write @operator.controller as well")
            self.declarations[kind.resource].finalize = finalize
        if not self.declarations:
            raise ValueError(f"operator {self.name!r} has no controllers: write @operator.controller(...)")
        return Running(
            self,
            client,
            tuple(namespaces) or ("",),
            stop or asyncio.Event(),
            identity=identity,
            lease_namespace=lease_namespace,
            shards=shards,
        )


class Running:
    """An operator at work: await it."""

    def __init__(
        self,
        operator: Operator,
        client: Client,
        namespaces: Sequence[str],
        stop: asyncio.Event,
        *,
        identity: str,
        lease_namespace: str,
        shards: int,
    ) -> None:
        self._operator = operator
        self._stop = stop
        measured = Measured(client.calls.transport)
        self.requests = measured.counts
        """How many requests of which method were answered with which code."""
        self._tracer = tracer()
        transport = Traced(measured, self._tracer) if self._tracer is not None else measured
        client = Client(transport, namespace=client.namespace, field_manager=operator.name)
        self._election: Election | None = None
        self.shards: Shards | None = None
        """Which part of the objects is this replica's; None if that is all or nothing."""
        self._share: Share = Everything(client)
        if shards:
            self._share = self.shards = Shards(
                client, operator.name, namespace=lease_namespace, identity=identity, count=shards
            )
        elif identity:
            self._election = Election(client, operator.name, namespace=lease_namespace, identity=identity)
            fence = Fence(transport, self._election)
            self._share = Everything(Client(fence, namespace=client.namespace, field_manager=operator.name))
        self.informers: dict[Seen, Informer[Any]] = {
            each: Informer(client, what, namespaces=namespaces, only=operator.narrowed.get(each.kind, ALL))
            for declaration in operator.declarations.values()
            for each, what in declaration.sees.items()
        }
        self.recorder = Recorder(operator.name)
        self.controllers: list[Controller] = []

    def __await__(self) -> Any:
        return self._run().__await__()

    @property
    def leading(self) -> bool:
        """Whether this replica is the one that works."""
        if self.shards is not None:
            return bool(self.shards.held)
        return self._election is None or self._election.leading

    @property
    def synced(self) -> bool:
        """Whether all caches are filled."""
        return all(informer.synced for informer in self.informers.values())

    @property
    def problems(self) -> list[str]:
        """What keeps the caches from being in step just now."""
        return [informer.problem for informer in self.informers.values() if informer.problem]

    def ask(self, what: type[Object], name: str, *, namespace: str = "", why: str) -> None:
        """Have a pass over an object because of something that the API server knows nothing of: a process has ended.

        Nothing happens while this replica does not work: its first pass, when it does, sees to everything.
        """
        for controller in self.controllers:
            if controller.declaration.kind == kind_of(what):
                controller.ask((namespace, name), why)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        watchdog = Watchdog()
        watchdog.start()
        stopped = loop.create_task(self._stop.wait())
        watching = [loop.create_task(informer.run()) for informer in self.informers.values()]
        working = loop.create_task(self._lead_and_work(stopped))
        try:
            await _first(working, *watching)
        finally:
            watchdog.stop()
            # The watches last: a pass that may still finish can be waiting for what they tell.
            await _end(stopped, working)
            await _end(*watching)

    async def _lead_and_work(self, stopped: asyncio.Task[Any]) -> None:
        for informer in self.informers.values():
            await _unless(stopped, informer.wait_synced())
        if self.synced:
            objects = sum(len(informer.cache) for informer in self.informers.values())
            log.info("%s has filled its caches; objects in them: %d", self._operator.name, objects)
        while not stopped.done():
            if self.shards is not None:
                await self._share_and_work(self.shards, stopped)
            elif self._election is None:
                await self._work(stopped)
            elif await _unless(stopped, self._election.acquire()):
                keeping = asyncio.get_running_loop().create_task(self._election.keep())
                try:
                    await self._work(stopped, keeping)
                finally:
                    await _end(keeping)
                    await self._election.release()

    async def _share_and_work(self, shards: Shards, stopped: asyncio.Task[Any]) -> None:
        def tell(heard: Callable[[Controller, Callable[[Key], bool]], None], shard: int) -> None:
            for controller in self.controllers:
                kind = controller.declaration.kind
                heard(controller, lambda key, kind=kind: shards.shard(kind, key) == shard)  # type: ignore[misc]

        shards.gained = partial(tell, Controller.gained)
        shards.lost = partial(tell, Controller.lost)
        sharing = asyncio.get_running_loop().create_task(shards.run())
        try:
            await self._work(stopped, sharing)
        finally:
            await _end(sharing)

    async def _work(self, *until: asyncio.Task[Any]) -> None:
        """Have all controllers work until one of these tasks is done; then let them finish what they have begun."""
        loop = asyncio.get_running_loop()
        self.controllers = [
            Controller(
                declaration,
                self._share,
                self.informers,
                tell=partial(self.recorder.about, component=declaration.events_from),
                tracer=self._tracer,
            )
            for declaration in self._operator.declarations.values()
        ]
        workers = [loop.create_task(controller.run()) for controller in self.controllers]
        recording = loop.create_task(self.recorder.run())
        try:
            await _first(*until, *workers, recording)
        finally:
            if self.shards is not None:
                await self.shards.leave()
            for controller in self.controllers:
                controller.close()
            if self.leading:  # else another replica may work by now, and what we have begun is not ours to finish
                await asyncio.wait(workers, timeout=FINISH_WITHIN)
            await _end(recording, *workers)


async def _first(*tasks: asyncio.Task[Any]) -> None:
    """Wait until the first of these is done; raise what it raised."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _unless(stopped: asyncio.Task[Any], work: Coroutine[Any, Any, Any]) -> bool:
    """Do `work` unless `stopped` is done before it; whether it was done."""
    working = asyncio.get_running_loop().create_task(work)
    try:
        await _first(stopped, working)
        return working.done()
    finally:
        await _end(working)


async def _end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel these, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
