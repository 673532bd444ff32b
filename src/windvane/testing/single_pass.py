"""One pass over one object, in a world that the test states: no operator runs, and nothing else happens.

secret = core.Secret(metadata=ObjectMeta(name="key"))
once = await reconcile_once(reconcile, site, world=[secret], owns=[apps.Deployment])
assert once.writes == ["apply deployments.apps blog", "apply websites.demo.windvane.dev/status blog"]
assert once.obj.status.ready == 0
"""

import asyncio
import builtins
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, overload

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, Resource, kind_of, object_from_wire, object_to_wire, owner_reference
from windvane.client.client import Client
from windvane.client.errors import AlreadyExists
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.k8s.core import Namespace
from windvane.runtime.crds import install_crds
from windvane.runtime.daemon import Daemon
from windvane.runtime.daemon_tasks import Daemons
from windvane.runtime.declaration import Declaration, Owned
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import DeclaredInformers, Informers
from windvane.runtime.lifespan import Lifespan, Lifespans
from windvane.runtime.observability.history import Pass, Trigger
from windvane.runtime.operator import Operator
from windvane.runtime.reconciler import Reconciler
from windvane.runtime.writes.children import RecordEvent
from windvane.testing.bare_function import BareInformers, EndT, Function, check_object, operator_of
from windvane.testing.foreign_kinds import serve_foreign
from windvane.testing.request_log import TEST, master

ObjectT = TypeVar("ObjectT", bound=Object)
OtherT = TypeVar("OtherT", bound=Object)

OF_THE_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp")
"""What an API server sets itself: an object that was read somewhere brings it along."""

Values: TypeAlias = Mapping[Lifespan[Any] | Daemon[Any], Any]


class RecordedEvent(NamedTuple):
    """An Event."""

    reason: str
    message: str
    type: Literal["Normal", "Warning"]


@dataclass
class Once(Generic[ObjectT]):
    """What came of a pass."""

    obj: ObjectT
    """The object after it; as it was last, if its finalizer let it go."""
    result: str
    """`done`, `waiting`, `fatal`; `gone` once it was let go; or `unmatched` if `when=` leaves it out."""
    message: str
    """What it waits for, or why it can't work."""
    again: float | None
    """In how many seconds it wants the next pass."""
    writes: list[str]
    """What it wrote, in order: `apply deployments.apps blog`."""
    events: list[RecordedEvent]
    """What it said about the object."""
    world: dict[Kind, builtins.list[Object]]
    """All objects of the declared kinds, as they are after it."""

    def list(self, what: type[OtherT]) -> builtins.list[OtherT]:
        """The objects of a declared kind that are there after the pass."""
        kind = kind_of(what)
        if kind not in self.world:
            declared = ", ".join(sorted(each.name for each in self.world))
            raise LookupError(f"{what.__name__} is none of the kinds that the controller declares: {declared}")
        return [each for each in self.world[kind] if isinstance(each, what)]

    def get(self, what: type[OtherT], name: str) -> OtherT:
        """One object of a declared kind as it is after the pass; `LookupError` if there is none of that name."""
        there = {each.metadata.name: each for each in self.list(what)}
        if name not in there:
            names = ", ".join(there) or "none at all"
            raise LookupError(f"there is no {what.__name__} {name!r} after the pass; there is {names}")
        return there[name]


@overload
async def reconcile_once(
    what: Operator,
    obj: ObjectT,
    /,
    *,
    world: Iterable[Object] = (),
    values: Values | None = None,
    controller: str = "",
) -> Once[ObjectT]: ...


@overload
async def reconcile_once(
    what: Function[ObjectT, EndT],
    obj: ObjectT,
    /,
    *,
    world: Iterable[Object] = (),
    values: Values | None = None,
    owns: Sequence[type[Object] | Owned[Any]] = (),
    watches: Sequence[type[Object]] = (),
) -> Once[ObjectT]: ...


async def reconcile_once(
    what: Operator | Function[ObjectT, EndT],
    obj: ObjectT,
    /,
    *,
    world: Iterable[Object] = (),
    values: Values | None = None,
    controller: str = "",
    owns: Sequence[type[Object] | Owned[Any]] = (),
    watches: Sequence[type[Object]] = (),
) -> Once[ObjectT]:
    """Have one pass done over `obj`: by an operator's controller of that kind, or by a function alone.

    `world` is what is there before, with its status. Objects of a kind that the controller owns are the object's
    children, as an earlier pass left them, unless they name other owners. `values` are those of lifespans and daemons,
    neither of which runs: `values={http: FakeSession()}`. What the author's function raises is raised here.

    Of an operator, an object that is being deleted is given to the finalizer, and which of several controllers of a
    kind is meant is said by its name. Of a function, `owns` says of which kinds it has children, and `watches` what
    else it reads; it sees what is in `world` as well.
    """
    check_object(obj)
    world = list(world)
    if isinstance(what, Operator):
        if owns or watches:
            raise TypeError(
                f"the operator {what.name!r} declares what it owns and watches: leave owns= and watches= out"
            )
        operator = what
    else:
        if controller:
            raise TypeError(f"controller={controller!r} chooses one of an operator's controllers: leave it out")
        operator = operator_of(what, obj, owns=owns, watches=[*watches, *map(type, world)])
    declared = DeclaredInformers if operator is what else BareInformers
    async with _api_server() as server:
        client = Client(InProcessTransport(server.handle, master(operator.name)), field_manager=operator.name)
        admin = Client(InProcessTransport(server.handle, TEST), field_manager=TEST.name)
        manager = operator.run(client)
        declaration = _declared(operator, type(obj), controller)
        kinds = [type(obj), *operator.kinds, *map(type, world)]
        await install_crds(admin, [each for each in kinds if issubclass(each, Resource)])
        await serve_foreign(admin, kinds)
        there = await _state(admin, obj)
        for each in world:
            owned = _is_child(each, obj, declaration)
            await _state(client if owned else admin, each, owner=there if owned else None)
        if obj.metadata.deletion_timestamp is not None:
            await _delete(admin, there, declaration, operator)
        async with synced(manager.informers):
            try:
                return await _pass(there, declaration, manager.informers, client, values or {}, declared)
            finally:
                await client.close()
                await admin.close()


@asynccontextmanager
async def _api_server() -> AsyncIterator[APIServer]:
    server = APIServer(Store.open())
    await server.start()
    try:
        yield server
    finally:
        await server.close()


def _declared(operator: Operator, what: type[Object], controller: str) -> Declaration:
    for each in operator.declarations.values():
        if each.kind == kind_of(what) and controller in ("", each.name):
            return each
    declared = ", ".join(f"{each.kind.name} ({each.name})" for each in operator.declarations.values())
    raise LookupError(
        f"the operator {operator.name!r} has no controller {controller}{' ' if controller else ''}of {what.__name__}; "
        f"it has those of: {declared}"
    )


def _is_child(thing: Object, obj: Object, declaration: Declaration) -> bool:
    """Whether something in the world is the object's child: what came of another pass over it is, too."""
    if kind_of(thing) not in [each.kind for each in declaration.owned]:
        return False
    owners = [(each.kind, each.name) for each in thing.metadata.owner_references if each.controller]
    return owners in ([], [(obj.kind, obj.metadata.name)])


async def _state(client: Client, thing: ObjectT, *, owner: Object | None = None) -> ObjectT:
    """Have an object be there as stated, with its status; as a child of `owner`, if there is one."""
    wire = object_to_wire(thing)
    wire["metadata"] = {name: value for name, value in wire["metadata"].items() if name not in OF_THE_SERVER}
    status = wire.pop("status", None)
    stated = object_from_wire(wire, type(thing))
    mine = stated.metadata
    if kind_of(thing).namespaced:
        mine.namespace = mine.namespace or (owner.metadata.namespace if owner is not None else client.namespace)
        with suppress(AlreadyExists):
            await client.create(Namespace(metadata=ObjectMeta(name=mine.namespace)))
    if owner is not None:
        mine.owner_references = [owner_reference(owner)]
        there = await client.apply(stated)
    else:
        there = await client.create(stated)
    if status:
        change = {"status": status}
        there = await client.patch(type(thing), mine.name, change, namespace=mine.namespace, subresource="status")
    return there


async def _delete(admin: Client, there: Object, declaration: Declaration, operator: Operator) -> None:
    """Have an object wait for the operator's finalizer, as one that was deleted after its first pass does."""
    what, mine = type(there), there.metadata
    finalizers = [*mine.finalizers, f"{declaration.kind.group}/{operator.name}"]
    await admin.patch(what, mine.name, {"metadata": {"finalizers": finalizers}}, namespace=mine.namespace)
    await admin.delete(what, mine.name, namespace=mine.namespace)


@asynccontextmanager
async def synced(informers: Informers) -> AsyncIterator[None]:
    """Have the caches filled for the length of the block."""
    watching = [asyncio.get_running_loop().create_task(informer.run()) for informer in informers.values()]
    try:
        for informer in informers.values():
            await informer.wait_synced()
        yield
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def _pass(
    obj: ObjectT,
    declaration: Declaration,
    informers: Informers,
    client: Client,
    values: Values,
    of: type[DeclaredInformers],
) -> Once[ObjectT]:
    owned = [each.kind for each in declaration.owned]
    declared = of(declaration.what, informers, declared=declaration.sees, owned=owned)
    events: list[RecordedEvent] = []

    def record_event(_: Object, __: Client) -> RecordEvent:
        return lambda reason, message, type_: events.append(RecordedEvent(reason, message, type_))

    given = _Given(values, declaration, declared, client, record_event)
    reconciler = Reconciler(declaration, declared, given, record_event=record_event)
    key = obj.key
    done = Pass(id=ambient.token(8), namespace=key[0], name=key[1], began=ambient.now(), triggers=[Trigger("the test")])
    again = await reconciler.visit(key, done, client)
    await reconciler.catch_up(key)
    world = {
        each.kind: [item.decode() for item in informer.cache.items()]
        for each, informer in informers.items()
        if not each.metadata_only
    }
    after = [each for each in world[declaration.kind] if each.key == key and isinstance(each, type(obj))]
    result = done.result if after else "gone"
    return Once(
        after[0] if after else obj, result, done.message, again, [each.words for each in done.writes], events, world
    )


class _Given(Daemons):
    """What the test says that lifespans and daemons have yielded; none of them runs."""

    def __init__(
        self, values: Values, declaration: Declaration, declared: DeclaredInformers, client: Client, record_event: Any
    ) -> None:
        super().__init__(
            (),
            declared,
            Lifespans((), client),
            controller=declaration.name,
            manager=declaration.manager,
            retry=declaration.retry,
            ours=lambda _: True,
            ask=lambda _, __: None,
            record_event=record_event,
        )
        self._given = values

    def value(self, key: Key, of: Lifespan[Any] | Daemon[Any]) -> Any:
        """See `Daemons.value`."""
        del key
        if of not in self._given and isinstance(of, Lifespan):
            raise LookupError(f"the pass asks for {of.name}: give reconcile_once(..., values={{{of.name}: ...}})")
        return self._given.get(of)
