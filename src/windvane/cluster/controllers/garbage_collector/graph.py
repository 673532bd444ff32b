"""Owners and dependents: a graph of all objects, by uid, and which of them should be looked at after a change.

An edge is there as soon as an object names an owner, whether that owner was seen or not: a reference is only a
claim. `standing` says what the graph knows about it; what it does not know, only the server can tell.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from windvane import EnvelopeMeta, Kind, OwnerReference

FOREGROUND = "foregroundDeletion"
"""The finalizer of an object that waits until its dependents are deleted."""
ORPHAN = "orphan"
"""The finalizer of an object that waits until its dependents are no longer its own."""


class OwnerState(Enum):
    """What is known about an object that a reference names as an owner."""

    SOLID = auto()
    """It is there."""
    WAITING = auto()
    """It is being deleted, and waits until its dependents are gone."""
    ABSENT = auto()
    """It is not there, or it is another one of that name."""
    UNKNOWN = auto()
    """It can't be known: there is no such kind, or none that this object could belong to."""


class GraphNode(NamedTuple):
    """One object, as far as owners are concerned."""

    kind: Kind
    meta: EnvelopeMeta

    @property
    def owners(self) -> list[OwnerReference]:
        """The owners that it names."""
        return self.meta.owner_references or []

    @property
    def deleting(self) -> bool:
        """Whether it is on its way out: there is no way back."""
        return self.meta.deletion_timestamp is not None

    @property
    def foreground(self) -> bool:
        """Whether it waits until its dependents are gone."""
        return self.deleting and FOREGROUND in (self.meta.finalizers or ())

    @property
    def orphaning(self) -> bool:
        """Whether it waits until its dependents are no longer its own."""
        return self.deleting and ORPHAN in (self.meta.finalizers or ())

    def is_meant_by(self, reference: OwnerReference, namespace: str) -> bool:
        """Whether a reference in that namespace is to this object, and is right in all that it says."""
        named = (reference.uid, reference.name, reference.kind, reference.api_version.rpartition("/")[0])
        return named == (self.meta.uid, self.meta.name, self.kind.name, self.kind.group) and not self.is_elsewhere(
            namespace
        )

    def is_elsewhere(self, namespace: str) -> bool:
        """Whether it has a namespace, and another one: nothing in `namespace` can belong to it."""
        return self.kind.namespaced and self.meta.namespace != namespace

    @property
    def matters(self) -> object:
        """Everything of which a change means that objects should be looked at."""
        return self.owners, self.deleting, self.foreground, self.orphaning


class OwnerGraph:
    """All objects that were seen. Each change answers with the uids of those that should be looked at."""

    def __init__(self) -> None:
        self._nodes: dict[str, GraphNode] = {}
        self._dependents: dict[str, set[str]] = {}  # of owners, seen or not, that have any

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, uid: str) -> GraphNode | None:
        """The object of that uid; None if it was not seen."""
        return self._nodes.get(uid)

    def dependents(self, uid: str) -> set[str]:
        """Those that name it as an owner."""
        return set(self._dependents.get(uid, ()))

    def standing(self, reference: OwnerReference, namespace: str) -> OwnerState | None:
        """How the owner stands that an object in `namespace` names; None if only the server can tell."""
        owner = self._nodes.get(reference.uid)
        if owner is None or not owner.is_meant_by(reference, namespace):
            return None
        return OwnerState.WAITING if owner.foreground else OwnerState.SOLID

    def blockers(self, uid: str) -> set[str]:
        """The dependents that must go before it can.

        Where they wait in a circle, one for another, none of them counts: else all would wait for ever.
        """
        return {each for each in self._blocking(uid) if not self._waits_for(each, uid)}

    def seen(self, kind: Kind, meta: EnvelopeMeta) -> set[str]:
        """An object is there, or is as it is now."""
        before, now = self._nodes.get(meta.uid), GraphNode(kind, meta)
        self._nodes[meta.uid] = now
        if before is not None and before.matters == now.matters:
            return set()
        freed = self._move(meta.uid, before.owners if before else [], now.owners)
        look = {each for each in freed if self._is_foreground(each)}
        if now.foreground or now.orphaning or (not now.deleting and self._is_doubtful(now)):
            look.add(meta.uid)
        if now.foreground and not (before and before.foreground):
            look |= self.dependents(meta.uid)  # they are to go with it
        if before is None:
            # A dependent that named it before it was seen may have been wrong about where it is, or what it is called.
            look |= {each for each in self.dependents(meta.uid) if not self._names_rightly(each, now)}
        return look

    def gone(self, uid: str) -> set[str]:
        """An object is no more."""
        node = self._nodes.pop(uid, None)
        if node is None:
            return set()
        self._move(uid, node.owners, [])
        return self.dependents(uid) | {each.uid for each in node.owners if self._is_foreground(each.uid)}

    def _move(self, uid: str, before: list[OwnerReference], after: list[OwnerReference]) -> set[str]:
        """Have the edges of an object be as it says now; the owners that it does not hold back any longer."""
        for owner in {each.uid for each in before} - {each.uid for each in after}:
            those = self._dependents[owner]
            those.discard(uid)
            if not those:
                del self._dependents[owner]
        for each in after:
            self._dependents.setdefault(each.uid, set()).add(uid)
        return _blocked(before) - _blocked(after)

    def _is_foreground(self, uid: str) -> bool:
        node = self._nodes.get(uid)
        return node is not None and node.foreground

    def _is_doubtful(self, node: GraphNode) -> bool:
        """Whether any of its owners is not known to be there to stay."""
        return any(self.standing(each, node.meta.namespace) is not OwnerState.SOLID for each in node.owners)

    def _names_rightly(self, uid: str, owner: GraphNode) -> bool:
        node = self._nodes[uid]
        named = [each for each in node.owners if each.uid == owner.meta.uid]
        return all(owner.is_meant_by(each, node.meta.namespace) for each in named)

    def _blocking(self, uid: str) -> Iterator[str]:
        return (each for each in self._dependents.get(uid, ()) if uid in _blocked(self._nodes[each].owners))

    def _waits_for(self, waiter: str, uid: str) -> bool:
        """Whether `waiter`, or an object that it waits for, waits until `uid` is gone."""
        known, ahead = {waiter}, [waiter]
        while ahead:
            each = ahead.pop()
            if not self._is_foreground(each):
                continue
            if each == uid:
                return True
            ahead += (found := set(self._blocking(each)) - known)
            known |= found
        return False


def _blocked(owners: list[OwnerReference]) -> set[str]:
    """The owners that can't go before this object does, if they are deleted in the foreground."""
    return {each.uid for each in owners if each.block_owner_deletion}
