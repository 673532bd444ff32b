"""An operator at work: controllers that share one client, one watch per kind, and one leader or a set of shards.

It starts in this order: lifespans, caches, election, workers; so that a new leader begins with a full view at once.
When it stops, passes that are under way may finish, then the lease is given back, and the lifespans are left last.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from windvane.api.resource import Object, kind_of
from windvane.client.client import Client
from windvane.runtime.controller import Controller
from windvane.runtime.coordination.leader_election import Election, Fence
from windvane.runtime.coordination.partition import Partition, WholePartition
from windvane.runtime.coordination.shards import Shards
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import InformerKey, Undeclared, informer_key
from windvane.runtime.informers.informer import ALL, Informer
from windvane.runtime.lifespan import Lifespans
from windvane.runtime.observability.event_recorder import Recorder
from windvane.runtime.observability.history import Pass
from windvane.runtime.observability.request_metrics import MeasuredTransport
from windvane.runtime.observability.tracing import TracedTransport, tracer
from windvane.runtime.observability.watchdog import Watchdog

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from windvane.runtime.operator import Operator

log = logging.getLogger(__name__)

ObjectT = TypeVar("ObjectT", bound=Object)

FINISH_WITHIN = 25.0
"""How long, in seconds, passes that are under way may take when the operator stops.

A pod is killed 30 seconds after it was asked to stop, and by then the lease should be given back as well.
"""


class OperatorManager:
    """An operator at work: await it."""

    def __init__(
        self,
        operator: "Operator",
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
        measured = MeasuredTransport(client.calls.transport)
        self.requests = measured.counts
        """How many requests of which method were answered with which code."""
        self._tracer = tracer()
        transport = TracedTransport(measured, self._tracer) if self._tracer is not None else measured
        client = Client(transport, namespace=client.namespace, field_manager=operator.name)
        self._election: Election | None = None
        self.shards: Shards | None = None
        """Which part of the objects is this replica's; None if that is all or nothing."""
        self._partition: Partition = WholePartition(client)
        if not operator.declarations:
            pass  # an operator that only answers needs no leader: any replica answers
        elif shards:
            self._partition = self.shards = Shards(
                client, operator.name, namespace=lease_namespace, identity=identity, count=shards
            )
        elif identity:
            self._election = Election(client, operator.name, namespace=lease_namespace, identity=identity)
            fence = Fence(transport, self._election)
            self._partition = WholePartition(Client(fence, namespace=client.namespace, field_manager=operator.name))
        self.informers: dict[InformerKey, Informer[Any]] = {
            each: Informer(client, what, namespaces=namespaces, **operator.narrowed.get(each.kind, ALL)._asdict())
            for declaration in operator.declarations.values()
            for each, what in declaration.sees.items()
        }
        self._lifespans = Lifespans(operator.lifespans, client)
        self.needs: dict[str, Callable[[], str]] = (
            {"lifespans": lambda: self._lifespans.missing} if operator.lifespans else {}
        )
        """What else must be there before it is ready, by name: each says what is missing, or nothing."""
        self.collectors: list[Collector] = []
        """What else /metrics shows."""
        self.listeners: list[Callable[[Pass], None]] = []
        """Each is called with every pass that has ended, of any controller."""
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

    @property
    def checks(self) -> dict[str, str]:
        """What must be well before this replica is ready, by name, and what is wrong with it: nothing, if it is empty.

        A replica that could not take over if it had to is not ready: else a rollout goes on until none can work.
        """
        checks = {f"cache of {key}": _lag(informer) for key, informer in self.informers.items()}
        if self.synced:  # before that, no Lease is looked at
            if self.shards is not None:
                checks["leases"] = self.shards.problem
            elif self._election is not None:
                checks["lease"] = self._election.problem
        return checks | {name: need() for name, need in self.needs.items()}

    def informer(self, what: type[ObjectT]) -> Informer[ObjectT]:
        """The cache of a kind that a controller has declared, for what is not part of a pass: all share it."""
        informer = self.informers.get(informer_key(what))
        if informer is None:
            raise Undeclared(
                f"{what.__name__} was not declared by a controller of the operator {self._operator.name!r}, so there "
                f"is no cache of it. Write reads=[{what.__name__}]"
            )
        return cast(Informer[ObjectT], informer)

    def ask(self, what: type[Object], name: str, *, namespace: str = "", why: str) -> None:
        """Have a pass over an object because of something that the API server knows nothing of: a process has ended.

        Nothing happens while this replica does not work: its first pass, when it does, sees to everything.
        """
        for controller in self.controllers:
            if controller.declaration.kind == kind_of(what):
                controller.ask((namespace, name), why)

    def _pass_ended(self, done: Pass) -> None:
        for listener in self.listeners:
            listener(done)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        watchdog = Watchdog()
        watchdog.start()
        stopped = loop.create_task(self._stop.wait())
        try:
            if await _unless(stopped, self._lifespans.enter()):
                await self._watch_and_work(stopped)
        finally:
            watchdog.stop()
            await _end(stopped)
            await self._lifespans.leave()

    async def _watch_and_work(self, stopped: asyncio.Task[Any]) -> None:
        loop = asyncio.get_running_loop()
        watching = [loop.create_task(informer.run()) for informer in self.informers.values()]
        working = loop.create_task(self._lead_and_work(stopped))
        try:
            await _first(working, *watching, *self._lifespans.tasks)
        finally:
            # The watches last: a pass that may still finish can be waiting for what they tell.
            await _end(working)
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
                renewal = asyncio.get_running_loop().create_task(self._election.keep_renewing())
                try:
                    await self._work(stopped, renewal)
                finally:
                    await _end(renewal)
                    await self._election.release()

    async def _share_and_work(self, shards: Shards, stopped: asyncio.Task[Any]) -> None:
        def notify_controllers(notify: Callable[[Controller, Callable[[Key], bool]], None], shard: int) -> None:
            for controller in self.controllers:
                kind = controller.declaration.kind
                notify(controller, lambda key, kind=kind: shards.shard(kind, key) == shard)  # type: ignore[misc]

        async def cleared(shard: int) -> None:
            for controller in self.controllers:
                kind = controller.declaration.kind
                await controller.daemons.ended(lambda key, kind=kind: shards.shard(kind, key) == shard)  # type: ignore[misc]

        shards.cleared = cleared
        shards.gained = partial(notify_controllers, Controller.gained)
        shards.lost = partial(notify_controllers, Controller.lost)
        shard_renewal = asyncio.get_running_loop().create_task(shards.run())
        try:
            await self._work(stopped, shard_renewal)
        finally:
            await _end(shard_renewal)

    async def _work(self, *until: asyncio.Task[Any]) -> None:
        """Have all controllers work until one of these tasks is done; then let them finish what they have begun."""
        loop = asyncio.get_running_loop()
        self.controllers = [
            Controller(
                declaration,
                self._partition,
                self.informers,
                self._lifespans,
                record_event=partial(self.recorder.about, component=declaration.events_from),
                ended=self._pass_ended,
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
            # If another replica leads by now, what we have begun is not ours to finish.
            if self.leading and workers:
                await asyncio.wait(workers, timeout=FINISH_WITHIN)
            await _end(recording, *workers)
            for controller in self.controllers:
                await controller.daemons.ended()  # before the lease is given back: another replica would start them


def _lag(informer: Informer[Any]) -> str:
    """Why what an informer shows is not what there is; empty if it is."""
    waiting = "" if informer.synced else f"waiting for the first list of {informer.kind.resource}"
    return informer.problem or waiting


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
