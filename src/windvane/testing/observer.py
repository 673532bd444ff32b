"""Looks at what happens in a cluster in real time, to tell when nothing does any more."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from windvane import ambient
from windvane.api.partial import Metadata
from windvane.api.resource import Object, kind_of
from windvane.client.client import Client
from windvane.k8s.apps import DaemonSet, Deployment, ReplicaSet, StatefulSet
from windvane.k8s.batch import Job
from windvane.k8s.coordination import Lease
from windvane.k8s.core import Event, Node, PersistentVolumeClaim, Pod
from windvane.runtime.informers.cache import Change
from windvane.runtime.informers.informer import Informer
from windvane.testing.progress import under_way
from windvane.testing.replica import Replica
from windvane.testing.request_log import EVENTS, LoggedWrite

ALWAYS: tuple[type[Object], ...] = (
    DaemonSet,
    Deployment,
    Event,
    Job,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    StatefulSet,
)
"""What controllers and nodes work on, whatever a test is about."""
BEATS: tuple[type[Object], ...] = (Event, Lease, Node)
"""Kinds that change although nothing is done."""
POLL = 0.02


class Observer:
    """Caches of the kinds that a test and its operators have to do with, in some namespaces."""

    def __init__(self, client: Client, namespaces: Sequence[str]) -> None:
        self._client = client
        self._namespaces = namespaces
        self._informers: dict[type[Object], Informer[Any]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.last = 0.0
        """When something has changed last."""
        self.events: dict[str, tuple[float, bytes]] = {}
        """The latest Events by name, the oldest first: when each was written, and as what."""

    async def watch(self, kinds: Iterable[type[Object]]) -> None:
        """Look at these kinds, too, from now on."""
        new = [what for what in dict.fromkeys(kinds) if not issubclass(what, Metadata) and what not in self._informers]
        for what in new:
            informer = Informer(self._client, what, namespaces=self._namespaces)
            self._informers[what] = informer
            if what is Event:
                informer.subscribe(self._record_event)
            elif kind_of(what) not in [kind_of(each) for each in BEATS]:
                informer.subscribe(self._record_change)
            self._tasks.append(asyncio.get_running_loop().create_task(informer.run()))
        for what in new:
            informer = self._informers[what]
            while not informer.synced and not informer.problem:  # as where one may not look
                await ambient.sleep(POLL)

    async def close(self) -> None:
        """Look no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def under_way(self) -> list[str]:
        """What is still to come, as far as objects tell."""
        told = (
            under_way(msgspec.json.decode(item.raw))
            for what, informer in self._informers.items()
            if what not in BEATS
            for item in informer.cache.items()
        )
        return [each for each in told if each]

    def is_behind(self, replicas: Sequence[Replica], writes: Iterable[LoggedWrite]) -> bool:
        """Whether there is something that this, or an operator, will see in a moment: it was written already.

        What an operator has not seen it has not begun to work on, and would look as if it had nothing to do.
        """
        theirs = [each for replica in replicas for each in _informers_of(replica)]
        for write in writes:
            place = write.place
            # A cache of ours that can't be kept in step is for a kind that one may not look at.
            for informer in (*(each for each in self._informers.values() if not each.problem), *theirs):
                kind = informer.kind
                if (kind.group, kind.plural) != (place.group, place.resource) or not write.version:
                    continue
                if not informer.has_seen((place.namespace, place.name), write.version):
                    return True
        return any(
            not informer.has_seen(item.key, item.meta.resource_version)
            for informer in theirs
            for what, seen in self._informers.items()
            if kind_of(what) == informer.kind
            for item in seen.cache.items()
        )

    def _record_change(self, change: Change[Any]) -> None:
        if not change.initial:
            self.last = ambient.monotonic()

    def _record_event(self, change: Change[Any]) -> None:
        item = change.item
        if not change.initial:
            self.events.pop(item.meta.name, None)
            self.events[item.meta.name] = ambient.monotonic(), item.raw
            if len(self.events) > EVENTS:
                del self.events[next(iter(self.events))]


def _informers_of(replica: Replica) -> Iterator[Informer[Any]]:
    """The caches that an operator works from, and that show all there is."""
    if replica.ended or replica.weather.down:
        return
    for informer in replica.running.informers.values():
        if informer.kind not in replica.operator.narrowed:
            yield informer
