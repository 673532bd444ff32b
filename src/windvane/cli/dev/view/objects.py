"""The objects of an operator's kinds with what belongs to them: as a tree, kept in step by informers.

Beside the kinds that the operator declares, those are watched that the built-in controllers make of them: the
ReplicaSets and pods of a Deployment, say. Of Secrets only the metadata is: there is no secret in this process.
"""

import asyncio
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windvane.api.envelope import Item
from windvane.api.kind import Kind
from windvane.api.partial import only_metadata
from windvane.api.resource import Object, dynamic
from windvane.cli.dev.session import Described
from windvane.cli.dev.view.health import Read, read
from windvane.cli.dev.view.wording import What
from windvane.client.client import Client
from windvane.runtime.informers.cache import Change
from windvane.runtime.informers.informer import Informer

POD = Kind(group="", version="v1", name="Pod", plural="pods")
SECRET = Kind(group="", version="v1", name="Secret", plural="secrets")
REPLICA_SET = Kind(group="apps", version="v1", name="ReplicaSet", plural="replicasets")
JOB = Kind(group="batch", version="v1", name="Job", plural="jobs")
MADE_OF: Mapping[str, Kind] = {
    "deployments.apps": REPLICA_SET,
    "replicasets.apps": POD,
    "statefulsets.apps": POD,
    "daemonsets.apps": POD,
    "cronjobs.batch": JOB,
    "jobs.batch": POD,
}
"""What the built-in controllers make of an object of a kind."""
RUNNING = {*MADE_OF, POD.resource}
"""What has pods, and so most to tell: it comes first."""


@dataclass(frozen=True, slots=True)
class ObjectNode:
    """One object, as it was last seen."""

    kind: Kind
    item: Item[Any]
    read: Read

    @property
    def uid(self) -> str:
        return self.item.meta.uid

    @property
    def namespace(self) -> str:
        return self.item.meta.namespace

    @property
    def name(self) -> str:
        return self.item.meta.name

    @property
    def what(self) -> What:
        """Which it is."""
        return What(self.kind.group, self.kind.name, self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the tree."""

    entry: ObjectNode
    guides: str
    """What stands before its name."""
    children: int
    folded: bool

    @property
    def uid(self) -> str:
        return self.entry.uid


class Objects:
    """All that is watched."""

    def __init__(self) -> None:
        self.version = 0
        """Another one whenever anything has changed."""
        self._primaries: Sequence[str] = ()
        self.client: Client | None = None
        """By which they are watched."""
        self._entries: dict[str, ObjectNode] = {}
        self._children: dict[str, set[str]] = {}
        self._informers: dict[str, tuple[Kind, Informer[Any]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def problems(self) -> list[str]:
        """Why some kinds can't be watched just now."""
        return [each.problem for _, each in self._informers.values() if each.problem]

    @property
    def synced(self) -> bool:
        """Whether all that is there has been read."""
        return bool(self._informers) and all(each.synced for _, each in self._informers.values())

    def watch(self, described: Described, client: Client) -> None:
        """Watch the kinds of this operator from now on, and no others."""
        self._primaries = [each.resource for each in described.primaries]
        wanted = {each.resource: each for each in with_what_is_made(described)}
        for resource, (kind, _) in [*self._informers.items()]:
            if wanted.get(resource) != kind or client is not self.client:
                self._forget(resource)
        self.client = client
        for resource, kind in wanted.items():
            if resource not in self._informers:
                self._begin(kind, client)
        self.version += 1

    def begin_anew(self, *, all_of_them: bool) -> None:
        """Connect again now: all watches, or those that have failed, rather than after their pause."""
        for resource, (_, informer) in self._informers.items():
            if all_of_them or informer.problem:
                self._tasks.pop(resource).cancel()
                self._tasks[resource] = asyncio.get_running_loop().create_task(informer.run())

    async def close(self) -> None:
        """End all watches."""
        tasks = [*self._tasks.values()]
        for resource in [*self._informers]:
            self._forget(resource)
        await asyncio.gather(*tasks, return_exceptions=True)

    def get(self, uid: str) -> ObjectNode | None:
        """An object that is there."""
        return self._entries.get(uid)

    def find(self, what: What) -> ObjectNode | None:
        """An object that is there."""
        for kind, informer in self._informers.values():
            if (kind.group, kind.name) == (what.group, what.kind):
                item = informer.cache.get((what.namespace, what.name))
                return self._entries.get(item.meta.uid) if item is not None else None
        return None

    def roots(self) -> list[ObjectNode]:
        """Objects of the operator's own kinds that belong to no others, in the order in which kinds are declared."""
        order = {resource: number for number, resource in enumerate(self._primaries)}
        own = (each for each in self._entries.values() if each.kind.resource in order)
        found = [each for each in own if not self._has_owner(each)]
        return sorted(found, key=lambda each: (order[each.kind.resource], each.namespace, each.name))

    def children(self, uid: str) -> list[ObjectNode]:
        """What belongs to an object."""
        found = (self._entries[each] for each in self._children.get(uid, ()))
        shown = (each for each in found if not (each.read.replaced and not self._children.get(each.uid)))
        return sorted(shown, key=lambda each: (each.kind.resource not in RUNNING, each.kind.name, *each.item.key))

    def below(self, uid: str) -> Iterator[ObjectNode]:
        """What belongs to an object, and what belongs to that."""
        for each in self.children(uid):
            yield each
            yield from self.below(each.uid)

    def pod_of(self, entry: ObjectNode) -> ObjectNode | None:
        """The pod that an object is, or the first that belongs to it."""
        if entry.kind.resource == POD.resource:
            return entry
        return next((each for each in self.below(entry.uid) if each.kind.resource == POD.resource), None)

    def tree(self, folded: Container[str], wanted: Callable[[ObjectNode], bool] | None = None) -> list[Line]:
        """The lines of the tree; with `wanted`, only such objects, what they belong to, and what belongs to them."""
        shown = None if wanted is None else self._around(each for each in self._entries.values() if wanted(each))
        return [line for root in self.roots() for line in self._lines(root, "", "", folded, shown, ())]

    def _lines(
        self,
        entry: ObjectNode,
        first: str,
        further: str,
        folded: Container[str],
        shown: Container[str] | None,
        above: Sequence[str],
    ) -> Iterator[Line]:
        if shown is not None and entry.uid not in shown:
            return
        # An object may be an owner of its owner; it is below it only once.
        children = [each for each in self.children(entry.uid) if each.uid not in above]
        children = [each for each in children if shown is None or each.uid in shown]
        is_folded = entry.uid in folded and shown is None
        yield Line(entry, first, len(children), is_folded)
        if is_folded:
            return
        for number, child in enumerate(children, start=1):
            guide, beyond = ("└─ ", "   ") if number == len(children) else ("├─ ", "│  ")
            yield from self._lines(child, further + guide, further + beyond, folded, shown, (*above, entry.uid))

    def _around(self, entries: Iterable[ObjectNode]) -> set[str]:
        found: set[str] = set()
        for entry in entries:
            if entry.uid not in found:
                found.add(entry.uid)
                found.update(each.uid for each in self.below(entry.uid))
            self._add_owners(entry, found)
        return found

    def _add_owners(self, entry: ObjectNode, found: set[str]) -> None:
        for owner in entry.item.meta.owner_references or ():
            if (there := self._entries.get(owner.uid)) is not None and owner.uid not in found:
                found.add(owner.uid)
                self._add_owners(there, found)

    def _begin(self, kind: Kind, client: Client) -> None:
        what: type[Object] = dynamic(kind)
        if kind.resource == SECRET.resource:
            what = only_metadata(what)
        informer = Informer(client, what)
        informer.subscribe(lambda change: self._take_in(kind, change))
        self._informers[kind.resource] = kind, informer
        self._tasks[kind.resource] = asyncio.get_running_loop().create_task(informer.run())

    def _forget(self, resource: str) -> None:
        self._tasks.pop(resource).cancel()
        del self._informers[resource]
        for each in [each for each in self._entries.values() if each.kind.resource == resource]:
            self._drop(each)

    def _take_in(self, kind: Kind, change: Change[Any]) -> None:
        self.version += 1
        if change.before is not None and (known := self._entries.get(change.before.meta.uid)) is not None:
            self._drop(known)
        if not change.gone:
            entry = ObjectNode(kind, change.item, read(kind, change.item.raw))
            self._entries[entry.uid] = entry
            for owner in change.item.meta.owner_references or ():
                self._children.setdefault(owner.uid, set()).add(entry.uid)

    def _drop(self, entry: ObjectNode) -> None:
        self._entries.pop(entry.uid, None)
        for owner in entry.item.meta.owner_references or ():
            belonging = self._children.get(owner.uid, set())
            belonging.discard(entry.uid)
            if not belonging:
                self._children.pop(owner.uid, None)

    def _has_owner(self, entry: ObjectNode) -> bool:
        return any(owner.uid in self._entries for owner in entry.item.meta.owner_references or ())


def with_what_is_made(described: Described) -> list[Kind]:
    """The kinds of an operator and of its children, and what the built-in controllers make of these."""
    found: dict[str, Kind] = {}
    more = [*described.primaries, *described.owned]
    while more:
        kind = more.pop(0)
        if kind.resource not in found:
            found[kind.resource] = kind
            more.extend(filter(None, [MADE_OF.get(kind.resource)]))
    return [*found.values()]
