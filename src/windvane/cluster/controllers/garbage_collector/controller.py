"""The garbage collector: deletes objects whose owners are gone, and releases owners that wait for their dependents.

It sees all objects of all kinds, but it may see late. So it deletes nothing by what it has seen: it reads the object
once more, and each owner that it does not see; and it deletes that object only, in the version that it has read.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from windvane import (
    Change,
    Client,
    ClientError,
    Conflict,
    EventRecorder,
    Kind,
    Metadata,
    NotFound,
    ObjectMeta,
    OwnerReference,
    WorkQueue,
    dynamic,
    only_metadata,
    to_wire,
)
from windvane.cluster.controllers.garbage_collector.decision import Ask, Delete, Disown, judge
from windvane.cluster.controllers.garbage_collector.graph import FOREGROUND, ORPHAN, GraphNode, OwnerGraph, OwnerState
from windvane.cluster.controllers.garbage_collector.resource_monitors import ResourceMonitors

log = logging.getLogger(__name__)

NAME = "garbage-collector-controller"
WORKERS = 8
SYNC_WITHIN = 10.0
INITIAL = -10
"""The priority of what was there before: what happens now is more urgent."""
ABSENT = 1000
"""How many owners that are gone are remembered, so that a thousand dependents of one ask for it once."""
WITHOUT_OWNERS = frozenset({"events", "events.events.k8s.io"})


class NotSynced(Exception):
    """Something can't be done before all kinds are seen."""


class Collected(NamedTuple):
    """An object that was deleted because its owners are gone."""

    kind: Kind
    metadata: ObjectMeta
    owners: Sequence[tuple[OwnerReference, Kind | None]]
    """Each with its kind, if the server has it."""


class _Place(NamedTuple):
    kind: Kind
    namespace: str
    name: str
    uid: str


class GarbageCollector:
    """Collects on one server."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.graph = OwnerGraph()
        self.queue: WorkQueue[str] = WorkQueue()
        self.kinds = ResourceMonitors(self._client, self._changed, without=WITHOUT_OWNERS)
        self.kinds.on_new_kinds(self._look_at_parked)
        self._events = EventRecorder(client, NAME)
        self._absent: OrderedDict[_Place, None] = OrderedDict()
        self._parked: set[str] = set()  # those whose owners are of unknown kinds, until there are other kinds
        self.listeners: list[Callable[[Collected], None]] = []
        """Each is called with what was deleted."""

    async def run(self) -> None:
        """Collect until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.kinds.run())
            group.create_task(self._events.run())
            # At first almost every owner would have to be asked for. But a kind that can't be read must not stop all.
            with suppress(TimeoutError):
                async with asyncio.timeout(SYNC_WITHIN):
                    await self.kinds.wait_synced()
            for _ in range(WORKERS):
                group.create_task(self._work())

    # What may need a look

    def _changed(self, kind: Kind, change: Change[Metadata]) -> None:
        look: set[str] = set()
        before = change.before.meta.uid if change.before else ""
        if change.gone or (before and before != change.item.meta.uid):
            look |= self.graph.gone(before)
            self._parked.discard(before)
        if not change.gone:
            look |= self.graph.seen(kind, change.item.meta)
        for uid in look:
            self.queue.add(uid, priority=INITIAL if change.initial else 0)

    def _look_at_parked(self) -> None:
        for uid in self._parked:
            self.queue.add(uid)
        self._parked.clear()

    # Looking

    async def _work(self) -> None:
        while True:
            uid = await self.queue.take()
            try:
                await self._look(uid)
            except (ClientError, NotSynced) as error:
                delay = self.queue.retry(uid)
                log.info("%s: %s; again in %.1f s", self._words(uid), error, delay)
            except Exception:  # one object that can't be looked at must not stop the others
                delay = self.queue.retry(uid)
                log.exception("%s: this is a bug in windvane; again in %.1f s", self._words(uid), delay)
            else:
                self.queue.succeeded(uid)
            finally:
                self.queue.done(uid)

    async def _look(self, uid: str) -> None:
        node = self.graph.get(uid)
        if node is None:
            return
        if node.orphaning:
            self._check_synced()
            for dependent in self.graph.dependents(uid):
                await self._disown(dependent, frozenset({uid}))
            await self._release(node, ORPHAN)
        elif node.foreground:
            self._check_synced()
            if blockers := self.graph.blockers(uid):
                self._look_at_remaining(blockers)
            else:
                await self._release(node, FOREGROUND)
        elif not node.deleting:
            await self._judge(node)

    def _check_synced(self) -> None:
        """That an object has no dependents is known only when all kinds are seen."""
        if not self.kinds.synced:
            raise NotSynced(
                f"not all kinds can be seen yet ({'; '.join(self.kinds.problems) or 'they are being read'})"
            )

    def _look_at_remaining(self, uids: set[str]) -> None:
        for uid in uids:
            if (node := self.graph.get(uid)) is not None and not node.deleting:
                self.queue.add(uid)

    async def _judge(self, node: GraphNode) -> None:
        there = await self._read(_place(node))
        if there is None or there.metadata.deletion_timestamp is not None:
            return  # what comes of that is told by its informer
        owners = [(each, await self._owner_state(there, each)) for each in there.metadata.owner_references]
        dependents = self.graph.dependents(node.meta.uid)
        match judge(owners, there.metadata.finalizers, has_dependents=bool(dependents)):
            case Delete(propagation):
                log.info("%s is deleted (%s): its owners are gone", self._words(node.meta.uid), propagation)
                await self._delete(node.kind, there, Delete(propagation))
                self._tell(node.kind, there)
            case Disown(former):
                await self._write_owners(node.kind, there, former)
            case Ask():
                self._parked.add(node.meta.uid)

    async def _owner_state(self, there: Metadata, reference: OwnerReference) -> OwnerState:
        namespace = there.metadata.namespace
        kind = self.kinds.served(reference.api_version, reference.kind)
        if (owner := self.graph.get(reference.uid)) is not None and owner.is_elsewhere(namespace):
            self._record_invalid_namespace(there, reference)
        if kind is None or (kind.namespaced and not namespace):
            return OwnerState.UNKNOWN
        if (known := self.graph.standing(reference, namespace)) is not None:
            return known
        place = _Place(kind, namespace if kind.namespaced else "", reference.name, reference.uid)
        if place in self._absent:
            return OwnerState.ABSENT
        found = await self._read(place)
        if found is None:
            self._absent[place] = None
            if len(self._absent) > ABSENT:
                self._absent.popitem(last=False)
            return OwnerState.ABSENT
        waits = found.metadata.deletion_timestamp is not None and FOREGROUND in found.metadata.finalizers
        return OwnerState.WAITING if waits else OwnerState.SOLID

    def _record_invalid_namespace(self, there: Metadata, reference: OwnerReference) -> None:
        namespace = there.metadata.namespace
        owner = f"{reference.api_version}/{reference.kind}, namespace: {namespace}, name: {reference.name}"
        message = f'ownerRef [{owner}, uid: {reference.uid}] does not exist in namespace "{namespace}"'
        self._events.event(there, "OwnerRefInvalidNamespace", message, type="Warning")

    # Reading and writing; all of it only if the object is still the one that was meant

    async def _read(self, place: _Place) -> Metadata | None:
        try:
            found = await self._client.get(_class(place.kind), place.name, namespace=place.namespace)
        except NotFound:
            return None
        return found if found.metadata.uid == place.uid else None

    async def _delete(self, kind: Kind, there: Metadata, how: Delete) -> None:
        meta = there.metadata
        what = _class(kind)
        delete = self._client.delete
        try:
            try:
                await delete(
                    what,
                    meta.name,
                    namespace=meta.namespace,
                    uid=meta.uid,
                    resource_version=meta.resource_version,
                    propagation=how.propagation,
                )
            except Conflict:
                now = await self._read(_Place(kind, meta.namespace, meta.name, meta.uid))
                if now is None or now.metadata.owner_references != meta.owner_references:
                    raise
                # Something else of it changes all the time. Its owners are the same, and that is all that counts.
                await delete(what, meta.name, namespace=meta.namespace, uid=meta.uid, propagation=how.propagation)
        except NotFound:
            pass

    async def _disown(self, uid: str, former: frozenset[str]) -> None:
        node = self.graph.get(uid)
        there = await self._read(_place(node)) if node is not None else None
        if node is not None and there is not None:
            await self._write_owners(node.kind, there, former)

    async def _write_owners(self, kind: Kind, there: Metadata, former: frozenset[str]) -> None:
        remaining = [each for each in there.metadata.owner_references if each.uid not in former]
        if len(remaining) < len(there.metadata.owner_references):
            await self._patch(kind, there, {"ownerReferences": [to_wire(each) for each in remaining] or None})

    async def _release(self, node: GraphNode, finalizer: str) -> None:
        there = await self._read(_place(node))
        if there is not None and finalizer in there.metadata.finalizers:
            remaining = [each for each in there.metadata.finalizers if each != finalizer]
            await self._patch(node.kind, there, {"finalizers": remaining or None})

    async def _patch(self, kind: Kind, there: Metadata, change: dict[str, Sequence[object] | None]) -> None:
        meta = there.metadata
        patch = {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, **change}}
        with suppress(NotFound):
            await self._client.patch(_class(kind), meta.name, patch, namespace=meta.namespace)

    def _tell(self, kind: Kind, there: Metadata) -> None:
        owners = [(each, self.kinds.served(each.api_version, each.kind)) for each in there.metadata.owner_references]
        for listener in self.listeners:
            listener(Collected(kind, there.metadata, owners))

    def _words(self, uid: str) -> str:
        node = self.graph.get(uid)
        return f"{node.kind.name} {'/'.join(filter(None, (node.meta.namespace, node.meta.name)))}" if node else uid


def _class(kind: Kind) -> type[Metadata]:
    return only_metadata(dynamic(kind))


def _place(node: GraphNode) -> _Place:
    return _Place(node.kind, node.meta.namespace, node.meta.name, node.meta.uid)
