"""The children of one object: what a pass states of them, which it makes once, and which it removes.

One rule: nothing is removed unless the pass says so. `prune` removes what this operator applied for this object in an
earlier pass and has not applied in this one; never what another client made, and never what holds data. It is done when
the pass has come to its end: a pass that prunes first and applies then would otherwise delete all that it is about to
state, and one that fails in between would not have stated all.
"""

from collections.abc import Callable, Container, Iterator, Set
from typing import Any, Literal, TypeVar

import msgspec

from windvane.api import codec
from windvane.api.envelope import Item
from windvane.api.meta import OwnerReference
from windvane.api.resource import Object, kind_of, object_to_wire, owner_reference
from windvane.client.client import Client
from windvane.client.errors import AlreadyExists, Conflict, NotFound
from windvane.runtime.informers.cache import Key, owners
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.informers.informer import Informer
from windvane.runtime.observability.current_pass import PassLogger
from windvane.runtime.outcome import Waiting
from windvane.runtime.usage_checks import check_child, check_made
from windvane.runtime.writes.applied_fields import drop_record, is_applied, is_recorded, our_fields, record
from windvane.runtime.writes.write_budget import Child, PassBudget

ObjectT = TypeVar("ObjectT", bound=Object)
RecordEvent = Callable[[str, str, Literal["Normal", "Warning"]], None]
"""Says something about the object where `kubectl describe` shows it: reason, message, type."""

PRUNE = "windvane.dev/prune"
"""The annotation of a child that `prune` leaves alone, with the value `false`."""

HOLDING_DATA = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "namespaces",
        "customresourcedefinitions.apiextensions.k8s.io",
        "volumesnapshots.snapshot.storage.k8s.io",
        "volumesnapshotcontents.snapshot.storage.k8s.io",
    }
)
"""Kinds that are never pruned: what was in them can't be had again."""


NO_VERSION = "1"
"""A resourceVersion that no object has: etcd's first is 2."""


class NotAdopted(Exception):
    """What is to be applied exists, and this operator did not make it; the message says what to do."""


class Children:
    """What one pass says of the children of one object."""

    def __init__(
        self,
        owner: Object,
        client: Client,
        informers: DeclaredInformers,
        record_event: RecordEvent,
        manager: str,
        budget: PassBudget,
    ) -> None:
        self._owner = owner
        self._client = client
        self._informers = informers
        self._record_event = record_event
        self._manager = manager
        self._budget = budget
        self._log = PassLogger(f"windvane.{kind_of(owner).name}")
        self._stated: dict[tuple[str, Key], dict[str, Any]] = {}  # what this pass said of each
        self.pruned = False
        """Whether this pass has said that what it did not apply may go."""
        self.unsettled: list[str] = []
        """What doesn't settle: children that were written too often lately, and which of their fields differed."""

    @property
    def stated(self) -> Set[tuple[str, Key]]:
        """What this pass has applied, or made once."""
        return self._stated.keys()

    # Stating what should be

    async def apply(self, child: ObjectT, *, adopt: bool, prune: bool) -> ObjectT:
        """See `Context.apply`."""
        check_child(child)
        self._check_not_itself(child)
        check_made(child)
        informer = self._informers.of_owned(type(child))
        key = self._place(child)
        self._check_seen(child, informer)
        self._own(child)
        if not prune:
            child.metadata.annotations = {**child.metadata.annotations, PRUNE: "false"}
        drop_record(child)
        stated = object_to_wire(child)
        resource = informer.kind.resource
        if self._stated.setdefault((resource, key), stated) != stated:
            raise ValueError(
                f"{child.kind} {child.metadata.name!r} was applied before in this pass, as something else: each would "
                "undo the other, in every pass. State all of it in one object, or give the two different names"
            )
        item = informer.cache.get(key)
        there = msgspec.json.decode(item.raw) if item is not None else None
        if item is not None and there is not None:
            if item.meta.deletion_timestamp is not None:
                return item.decode()  # it can't be helped: it is made anew when it has gone
            self._check_ours(item, there, adopt=adopt)
            if is_applied(stated, there, self._manager) or is_recorded(stated, there, self._manager):
                return item.decode()
        if there is None:
            written = await self._write_unseen(child, stated, adopt=adopt)
        else:
            written = await self._write(child, stated, there)
        # What changes nothing brings no pass, and what is refused has delays of its own.
        if item is None or written.metadata.resource_version != item.meta.resource_version:
            self._count((resource, key), child, stated, there)
        return written

    async def make_once(
        self, what: type[ObjectT], name: str, make: Callable[[], ObjectT], *, namespace: str, adopt: bool
    ) -> ObjectT:
        """See `Context.make_once`."""
        informer = self._informers.of_owned(what)
        namespace = namespace or self._owner.metadata.namespace
        if kind_of(what).namespaced and not namespace:
            # Where it is can't be asked of `make`, which would be called in each pass then.
            raise ValueError(
                f"ctx.make_once({what.__name__}, {name!r}, ...) needs a namespace=, for its owner has none: "
                f'ctx.make_once({what.__name__}, {name!r}, make, namespace="..."), say'
            )
        item = informer.cache.get((namespace if kind_of(what).namespaced else "", name))
        if item is not None:
            self._stated[informer.kind.resource, item.key] = {}
            return await self._made_before(item, msgspec.json.decode(item.raw), adopt=adopt)
        child = make()
        check_child(child)
        if not isinstance(child, what):
            raise TypeError(
                f"the function of ctx.make_once({what.__name__}, {name!r}, ...) made a {child.kind}: "
                f"write `lambda: {what.__name__}(...)`"
            )
        child.metadata.name = name
        child.metadata.namespace = namespace if kind_of(what).namespaced else ""
        key = self._place(child)
        self._check_seen(child, informer)
        self._own(child)
        self._stated[informer.kind.resource, key] = {}
        try:
            made = await self._client.create(child)
        except AlreadyExists:
            # The cache is behind: a replica that led before us has made it, or another client has.
            return await self._made_before(*await self._read(child), adopt=adopt)
        self._count((informer.kind.resource, key), child, {}, None)
        return made

    async def _made_before(self, item: Item[ObjectT], there: dict[str, Any], *, adopt: bool) -> ObjectT:
        """What is to be made once, and is there; owned anew if an owner went without it (`--cascade=orphan`)."""
        meta = there["metadata"]
        managers = {each.get("manager") for each in meta.get("managedFields") or () if not each.get("subresource")}
        if meta.get("ownerReferences") or managers != {self._manager}:
            self._check_ours(item, there, adopt=adopt, call="make_once")
            return item.decode()
        owner = codec.to_wire(owner_reference(self._owner))
        patch = {"metadata": {"resourceVersion": meta["resourceVersion"], "ownerReferences": [owner]}}
        what: type[ObjectT] = type(item.decode())
        return await self._client.patch(what, item.meta.name, patch, namespace=item.meta.namespace)

    async def _write_unseen(self, child: ObjectT, stated: dict[str, Any], *, adopt: bool) -> ObjectT:
        """Apply a child that the cache does not show. It may be there all the same, and another client's.

        The cache may be behind, or `watch_only` leaves it out. A version that no object has makes it a request for a
        new one: if one is there, the server refuses, and it is looked at before anything of it is changed.
        """
        child.metadata.resource_version = NO_VERSION
        try:
            written = await self._client.apply(child, field_manager=self._manager)
        except Conflict:
            child.metadata.resource_version = ""
            item, wire = await self._read(child)
            self._check_ours(item, wire, adopt=adopt)
            return await self._write(child, stated, wire)
        child.metadata.resource_version = ""
        return await self._record(child, stated, stated, written)

    async def _read(self, child: ObjectT) -> tuple[Item[ObjectT], dict[str, Any]]:
        """A child as it is on the server now."""
        there = object_to_wire(
            await self._client.get(type(child), child.metadata.name, namespace=child.metadata.namespace)
        )
        return Item(msgspec.json.encode(there), type(child)), there

    async def _write(self, child: ObjectT, stated: dict[str, Any], there: dict[str, Any]) -> ObjectT:
        """Apply a child. If the server stores it in other words than ours, note on it what we stated.

        `1000m` comes back as `1`, and defaults are filled in within lists that are stored as one value. Without the
        note, the first pass after every restart would apply the same once more.
        """
        noted = record(child, stated, there, self._manager, only_again=True)
        sent = object_to_wire(child) if noted else stated
        return await self._record(child, stated, sent, await self._apply(child))

    async def _record(self, child: ObjectT, stated: dict[str, Any], sent: dict[str, Any], written: ObjectT) -> ObjectT:
        """Note on a child what we stated, if that can't be told by looking at it. `sent` may have an older note."""
        answered = object_to_wire(written)
        if is_applied(sent, answered, self._manager):
            return written
        if not is_recorded(stated, answered, self._manager) and record(child, stated, answered, self._manager):
            written = await self._apply(child)
        return written

    async def _apply(self, child: ObjectT) -> ObjectT:
        try:
            return await self._client.apply(child, field_manager=self._manager)
        except Conflict as conflict:
            # It is ours to say how our children are. But the other manager may not know that, and will go on.
            self._record_event(
                "FieldConflict", f"{child.kind} {child.metadata.name}: taking over: {conflict}", "Warning"
            )
            self._log.warning("%s %s: taking over fields: %s", child.kind, child.metadata.name, conflict)
            return await self._client.apply(child, field_manager=self._manager, force=True)

    def _count(self, place: Child, child: Object, stated: dict[str, Any], there: dict[str, Any] | None) -> None:
        if field := self._budget.wrote(place, stated, there):
            self.unsettled.append(f"{child.kind} {child.metadata.name}: {field}")

    # To which owner it belongs

    def _check_ours(self, item: Item[Any], there: dict[str, Any], *, adopt: bool, call: str = "apply") -> None:
        """`NotAdopted` if that object is not this one's child, and may not become it."""
        mine = self._owner.metadata
        what = f"{item.kind} {item.meta.name!r}"
        controller = next((each for each in item.meta.owner_references or () if each.controller), None)
        if controller is not None and controller.uid == mine.uid:
            return
        applied = our_fields(there, self._manager) is not None
        if controller is not None and self._is_namesake(controller):
            if applied:
                return  # of an owner of the same name that is no more; stating it anew replaces the reference
            raise Waiting(f"{what} belonged to a {controller.kind} of the same name that was deleted; it has yet to go")
        if controller is not None:
            raise NotAdopted(
                f"{what} is controlled by {controller.kind} {controller.name!r}, and an object has one controller: "
                "give this child another name, such as one that begins with that of its owner"
            )
        if adopt or applied:
            return
        managers = sorted({entry.get("manager", "") for entry in there["metadata"].get("managedFields") or ()} - {""})
        by = f" (its field managers: {', '.join(managers)})" if managers else ""
        then = "it belongs to this object from then on and goes with it" if call == "apply" else "it is used as it is"
        raise NotAdopted(
            f"{what} was there before, and this operator did not make it{by}. Delete it or give the child another "
            f"name; or write ctx.{call}(..., adopt=True), and {then}"
        )

    def _is_namesake(self, owner: OwnerReference) -> bool:
        kind = kind_of(self._owner)
        mine = (kind.group, kind.name, self._owner.metadata.name)
        return mine == (owner.api_version.rpartition("/")[0], owner.kind, owner.name)

    # What is no longer wanted

    def prune(self) -> None:
        """See `Context.prune`."""
        self.pruned = True

    async def finish(self) -> None:
        """The pass has come to its end: remove what it has not applied, if it has said so."""
        if not self.pruned:
            return
        for informer, item in list(self.leftovers()):
            if await self._remove(informer, item.key, item.meta.uid):
                self._record_event(
                    "Pruned", f"{item.kind} {item.meta.name} is no longer wanted, and was deleted", "Normal"
                )

    async def delete(self, child: Object) -> None:
        """See `Context.delete`."""
        informer = self._informers.of_owned(type(child))
        key = self._place(child)
        item = informer.cache.get(key)
        if item is None or (child.metadata.uid and child.metadata.uid != item.meta.uid):
            return
        if not _is_controlled(item.meta.owner_references, self._owner.metadata.uid):
            raise NotAdopted(
                f"{item.kind} {item.meta.name!r} is not controlled by {self._owner.kind} "
                f"{self._owner.metadata.name!r}, and ctx.delete deletes nothing else: write ctx.client.delete(...) if "
                "that is what you want"
            )
        if item.meta.deletion_timestamp is None:
            await self._remove(informer, key, item.meta.uid)

    def leftovers(self, *, but: Container[str] = ()) -> Iterator[tuple[Informer[Any], Item[Any]]]:
        """What this operator applied for the object before, this pass did not, and that may be pruned.

        `but` are resources that are not looked at, also if they get into it meanwhile.
        """
        uid = self._owner.metadata.uid
        for informer in self._informers.all_owned():
            resource = informer.kind.resource
            if resource in HOLDING_DATA:
                continue
            for item, _ in informer.cache.by(owners, owners, uid):
                if resource in but:
                    break
                if (resource, item.key) in self._stated or item.meta.deletion_timestamp is not None:
                    continue
                if not _is_controlled(item.meta.owner_references, uid):
                    continue
                if our_fields(msgspec.json.decode(item.raw), self._manager) is None:
                    continue  # made by another client, or by `make_once`
                if (item.meta.annotations or {}).get(PRUNE) != "false":
                    yield informer, item

    async def _remove(self, informer: Informer[Any], key: Key, uid: str) -> bool:
        try:
            await self._client.delete(informer.what, key[1], namespace=key[0], uid=uid, propagation="Background")
        except (NotFound, Conflict):
            return False  # it is gone, or another one of that name is there by now
        return True

    # Where it goes

    def _own(self, child: Object) -> None:
        owner = owner_reference(self._owner)
        others = [each for each in child.metadata.owner_references if each.uid != owner.uid]
        child.metadata.owner_references = [*others, owner]

    def _check_not_itself(self, child: Object) -> None:
        mine, its = self._owner.metadata, child.metadata
        same_place = (its.namespace or mine.namespace, its.name) == (mine.namespace, mine.name)
        if same_place and kind_of(child) == kind_of(self._owner):
            raise ValueError(
                f"{child.kind} {its.name!r} can't be applied in its own pass: it would own itself. Set its `status`, "
                "which is written at the end of the pass; its spec is its users' to write"
            )

    def _check_seen(self, child: Object, informer: Informer[Any]) -> None:
        if not informer.watches(child.metadata.labels):
            name = type(child).__name__
            raise ValueError(
                f"{child.kind} {child.metadata.name!r} has not the labels `{informer.selector}` of "
                f"operator.watch_only({name}, ...), so no later pass would see it: put them on it"
            )

    def _place(self, child: Object) -> Key:
        """Where a child goes; its namespace is filled in."""
        mine, kind = self._owner.metadata.namespace, kind_of(child)
        if not child.metadata.name:
            raise ValueError(
                f"a {kind.name} without metadata.name can't be applied: next time nobody could tell which is meant. "
                f'Derive its name from the owner\'s: ObjectMeta(name=f"{{obj.metadata.name}}-...")'
            )
        if not kind.namespaced:
            if mine:
                raise ValueError(
                    f"{kind.name} {child.metadata.name!r} has no namespace, so it can't be owned by "
                    f"{self._owner.kind} {self._owner.metadata.name!r}, which has one"
                )
            return "", child.metadata.name
        child.metadata.namespace = child.metadata.namespace or mine
        if mine and child.metadata.namespace != mine:
            raise ValueError(
                f"{kind.name} {child.metadata.name!r} is to be in namespace {child.metadata.namespace!r}, but its "
                f"owner {self._owner.metadata.name!r} is in {mine!r}: an owner and what it owns are in one namespace"
            )
        if not child.metadata.namespace:
            raise ValueError(f"{kind.name} {child.metadata.name!r} needs a metadata.namespace: its owner has none")
        return child.metadata.namespace, child.metadata.name


def _is_controlled(references: list[OwnerReference] | None, uid: str) -> bool:
    return any(each.uid == uid and each.controller for each in references or ())
