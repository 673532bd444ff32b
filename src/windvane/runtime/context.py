"""What a reconcile is given beside its object: ways to read, to state what should be, and to say how it stands.

async def reconcile(site: Website, ctx: Context) -> None:
    deployment = await ctx.apply(deployment_for(site))
    ctx.ready(deployment.status.ready_replicas == site.spec.replicas, "all copies are up")
"""

from collections.abc import Callable, Coroutine
from typing import Any, Literal, NoReturn, TypeVar

import msgspec

from windvane.api.condition import Condition
from windvane.api.envelope import Item
from windvane.api.resource import Object, kind_of, object_to_wire, owner_reference
from windvane.client.client import Client
from windvane.client.errors import Conflict, NotFound
from windvane.runtime.cache import Key, owners
from windvane.runtime.current import PassLogger
from windvane.runtime.informer import Informer
from windvane.runtime.mistakes import check_child
from windvane.runtime.noting import Noting
from windvane.runtime.outcome import Waiting
from windvane.runtime.owned import Memory, is_so
from windvane.runtime.sight import Sight
from windvane.runtime.view import View

ObjectT = TypeVar("ObjectT", bound=Object)
Tell = Callable[[str, str, Literal["Normal", "Warning"]], None]
"""Says something about the object where `kubectl describe` shows it: reason, message, type."""
MemoryKey = tuple[str, Key]


class Context(View):
    """One pass of one controller over one object: what it can read, and what it can do."""

    def __init__(
        self, obj: Object, client: Client, sight: Sight, memory: dict[MemoryKey, Memory], tell: Tell, manager: str
    ) -> None:
        super().__init__(sight, obj.metadata.namespace)
        self._object = obj
        self._memory = memory
        self._tell = tell
        self._manager = manager
        self._applied: dict[tuple[str, Key], dict[str, Any]] = {}  # what was stated about each
        self.applying: list[tuple[Coroutine[Any, Any, Object], Object]] = []
        """Every call of `apply` so far, and for which child."""
        noting = Noting(client.calls.transport, sight)
        self.writes = noting.writes
        """What was written so far."""
        self.conditions: list[Condition] = []
        """What was said about the object so far."""
        self.client = Client(noting, namespace=obj.metadata.namespace or client.namespace, field_manager=manager)
        """The API server itself, for what can't be stated as a child: reads past the cache, and writes of other kinds.

        The next pass waits until the caches have seen what was written through it. It refuses to write as soon as
        another replica may be at work.
        """
        self.log = PassLogger(f"windvane.{kind_of(obj).name}")
        """A logger whose lines say which pass over which object they come from."""

    # Stating what should be

    def apply(self, child: ObjectT) -> Coroutine[Any, Any, ObjectT]:
        """Have `child` be as stated, owned by this object: `await` it. Returns it as it is now, with its status.

        Nothing is written if it is so already. What an earlier pass applied and this one doesn't is removed at the end
        of this one.
        """
        applying = self._apply(child)
        self.applying.append((applying, child))
        return applying

    async def _apply(self, child: ObjectT) -> ObjectT:
        check_child(child)
        self._check_not_itself(child)
        informer = self._sight.of_owned(type(child))
        key = self._place(child)
        owner = owner_reference(self._object)
        child.metadata.owner_references = [
            each for each in child.metadata.owner_references if each.uid != owner.uid
        ] + [owner]
        stated = object_to_wire(child)
        resource = informer.kind.resource
        if self._applied.setdefault((resource, key), stated) != stated:
            raise ValueError(
                f"{child.kind} {child.metadata.name!r} was applied before in this pass, as something else: each would "
                "undo the other, in every pass. State all of it in one object, or give the two different names"
            )
        item = informer.cache.get(key)
        if item is not None and (item.meta.deletion_timestamp is not None or self._is_so(resource, item, stated)):
            return item.decode()  # one that is being deleted can't be helped: it is made anew when it has gone
        written = await self._write(child)
        self._remember(resource, key, stated, object_to_wire(written))
        return written

    def _check_not_itself(self, child: Object) -> None:
        mine, its = self._object.metadata, child.metadata
        same_place = (its.namespace or mine.namespace, its.name) == (mine.namespace, mine.name)
        if same_place and kind_of(child) == kind_of(self._object):
            raise ValueError(
                f"{child.kind} {its.name!r} can't be applied in its own pass: it would own itself. Set its `status`, "
                "which is written at the end of the pass; its spec is its users' to write"
            )

    def _remember(self, resource: str, key: Key, stated: dict[str, Any], answered: dict[str, Any]) -> None:
        """What the server stores in the words that we stated it in can be told by looking, and need not be kept."""
        if is_so(stated, answered, self._manager):
            self._memory.pop((resource, key), None)
        else:
            self._memory[resource, key] = Memory(stated, answered, self._manager)

    def _is_so(self, resource: str, item: Item[Any], stated: dict[str, Any]) -> bool:
        there = msgspec.json.decode(item.raw)
        memory = self._memory.get((resource, item.key))
        return is_so(stated, there, self._manager) or (
            memory is not None and memory.holds(stated, there, self._manager)
        )

    async def _write(self, child: ObjectT) -> ObjectT:
        try:
            return await self.client.apply(child, field_manager=self._manager)
        except Conflict as conflict:
            # It is ours to say how our children are. But whoever said otherwise may not know that, and will go on.
            self._tell("FieldConflict", f"{child.kind} {child.metadata.name}: taking over: {conflict}", "Warning")
            self.log.warning("%s %s: taking over fields: %s", child.kind, child.metadata.name, conflict)
            return await self.client.apply(child, field_manager=self._manager, force=True)

    async def prune(self) -> None:
        """Remove what this object owns and this pass did not apply. The controller calls it at the end of a pass."""
        uid = self._object.metadata.uid
        for informer in self._sight.all_owned():
            for item, _ in informer.cache.by(owners, owners, uid):
                controlled = any(each.uid == uid and each.controller for each in item.meta.owner_references or ())
                if not controlled or item.meta.deletion_timestamp is not None:
                    continue
                if (informer.kind.resource, item.key) in self._applied:
                    continue
                await self._remove(informer, item.key, item.meta.uid)

    async def _remove(self, informer: Informer[Any], key: Key, uid: str) -> None:
        try:
            await self.client.delete(informer.what, key[1], namespace=key[0], uid=uid, propagation="Background")
        except (NotFound, Conflict):
            return  # it is gone, or another one of that name is there by now
        self._memory.pop((informer.kind.resource, key), None)

    # Saying how it stands

    def ready(self, is_ready: bool, message: str = "", *, reason: str = "") -> None:
        """Say whether the object does what its spec asks: the condition Ready."""
        self.condition("Ready", is_ready, message, reason=reason or ("Ready" if is_ready else "NotReady"))

    def condition(self, type: str, holds: bool, message: str = "", *, reason: str) -> None:  # noqa: A002
        """Say whether something is true of the object."""
        self.conditions = [each for each in self.conditions if each.type != type]
        status: Literal["True", "False"] = "True" if holds else "False"
        self.conditions.append(Condition(type=type, status=status, reason=reason, message=message))

    def wait(self, message: str, *, after: float | None = None) -> NoReturn:
        """End this pass: something must happen first. The next one comes with a change, or `after` so many seconds."""
        raise Waiting(message, after)

    def event(self, reason: str, message: str, *, type: Literal["Normal", "Warning"] = "Normal") -> None:  # noqa: A002
        """Say that something happened; `kubectl describe` shows it."""
        self._tell(reason, message, type)

    def _place(self, child: Object) -> Key:
        """Where a child goes; its namespace is filled in."""
        mine, kind = self._object.metadata.namespace, kind_of(child)
        if not child.metadata.name:
            raise ValueError(
                f"a {kind.name} without metadata.name can't be applied: next time nobody could tell which is meant. "
                f'Derive its name from the owner\'s: ObjectMeta(name=f"{{obj.metadata.name}}-...")'
            )
        if not kind.namespaced:
            if mine:
                raise ValueError(
                    f"{kind.name} {child.metadata.name!r} has no namespace, so it can't be owned by "
                    f"{self._object.kind} {self._object.metadata.name!r}, which has one"
                )
            return "", child.metadata.name
        child.metadata.namespace = child.metadata.namespace or mine
        if mine and child.metadata.namespace != mine:
            raise ValueError(
                f"{kind.name} {child.metadata.name!r} is to be in namespace {child.metadata.namespace!r}, but its "
                f"owner {self._object.metadata.name!r} is in {mine!r}: an owner and what it owns are in one namespace"
            )
        if not child.metadata.namespace:
            raise ValueError(f"{kind.name} {child.metadata.name!r} needs a metadata.namespace: its owner has none")
        return child.metadata.namespace, child.metadata.name
