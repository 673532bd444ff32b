"""What an operator would do to a cluster: its own controllers, at work on a view of it that keeps what they write.

    lifespans → caches → (objects of a file) → passes, until no change asks for another one

It is the runtime's own queue and its own passes that run here. Only time stands still: what comes back after a while,
or is tried again, is told and not done.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from windvane.api.kind import Kind
from windvane.api.resource import Dynamic, Object, Resource, dynamic, kind_of
from windvane.cli.doctor.cluster_checks import check_crd
from windvane.cli.plan.author_lines import line_of_error
from windvane.cli.plan.diff import ObjectChange, object_change
from windvane.cli.plan.dry_run import Judge
from windvane.cli.plan.garbage import collect
from windvane.cli.plan.kubectl_apply import KUBECTL, Wire, apply_as_kubectl
from windvane.cli.plan.outside_calls import Outside, OutsideCallRefused
from windvane.cli.plan.overlay import Overlay
from windvane.cli.plan.plan import CanNotPlan, Plan, PlanRequest, subject
from windvane.client.client import Client
from windvane.client.errors import APIError, ClientError, NotFound
from windvane.client.transport import Transport
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.cluster.apiserver.storage.store import Store
from windvane.runtime.context import Context
from windvane.runtime.controller import Controller
from windvane.runtime.coordination.partition import WholePartition
from windvane.runtime.crds import definitions, install_crds
from windvane.runtime.declaration import Declaration
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import informer_key
from windvane.runtime.informers.informer import Informer, explained
from windvane.runtime.lifespan import LifespanFailed, Lifespans
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.history import Pass
from windvane.runtime.operator import Operator
from windvane.runtime.queue import FRESH, WorkQueue
from windvane.runtime.rbac import own_kinds
from windvane.runtime.writes.children import RecordEvent
from windvane.testing.in_process_webhooks import Webhooks, conversion
from windvane.testing.request_log import master
from windvane.testing.single_pass import RecordedEvent, synced

PASSES = 20
"""How many passes over one object are made if nothing is said: one that wants more does not settle."""

KeyT = TypeVar("KeyT", bound=Key)


class _Untimed(WorkQueue[KeyT]):
    """A queue in which nothing comes later, and which remembers whose turn it was."""

    taken: KeyT

    def add(self, key: KeyT, *, priority: int = FRESH, after: float = 0.0) -> None:
        """See `WorkQueue.add`."""
        if after <= 0:
            super().add(key, priority=priority)

    async def take(self) -> KeyT:
        """See `WorkQueue.take`."""
        self.taken = await super().take()
        return self.taken


class _PlannedObjects(WholePartition):
    """Nothing gets a pass before it is said which objects do."""

    begun = False

    def has(self, _kind: Kind, _key: Key, /) -> bool:
        """See `Partition.has`."""
        return self.begun


async def make_plan(operator: Operator, transport: Transport, wanted: PlanRequest, outside: Outside) -> Plan:
    """What the operator would do to the cluster that `transport` leads to, of which nothing but reads is asked."""
    store = Store.open()
    webhooks = Webhooks(store)
    own = definitions([each for each in operator.kinds if issubclass(each, Resource)])
    judge = Judge(transport) if wanted.judged else None
    overlay = Overlay(transport, caller=webhooks, store=store, conversion=conversion(operator), own=own, judge=judge)
    try:
        with outside.watched():
            plan = await _Planner(operator, overlay, webhooks, wanted, outside).plan()
        if judge is not None:
            plan.refusals = judge.refusals
            plan.notes += judge.remarks
        return plan
    finally:
        await overlay.close()


class _Planner:
    def __init__(
        self, operator: Operator, overlay: Overlay, webhooks: Webhooks, wanted: PlanRequest, outside: Outside
    ) -> None:
        self._operator = operator
        self._overlay = overlay
        self._webhooks = webhooks
        self._wanted = wanted
        self._outside = outside
        self._plan = Plan(operator.name)
        transport = InProcessTransport(overlay.handle, master(operator.name))
        self._client = Client(transport, namespace=wanted.home, field_manager=operator.name)
        transport = InProcessTransport(overlay.handle, master("garbage-collector"))
        self._garbage_collector = Client(transport, field_manager="garbage-collector")
        self._counts: dict[tuple[str, Key], int] = {}
        self._raised: dict[Key, Exception] = {}

    async def plan(self) -> Plan:
        """See `make_plan`."""
        try:
            manager = self._operator.run(self._client, namespaces=self._wanted.namespaces)
        except ValueError as error:
            raise CanNotPlan(str(error)) from error  # what it declares is not whole
        if self._wanted.install_crds:
            await install_crds(self._client, self._operator.kinds, conversion=conversion(self._operator))
        await self._read(manager)
        if not self._wanted.install_crds:
            await self._compare_crds()
        if self._operator.serves_webhooks:
            own = Client(InProcessTransport(self._overlay.unnoted, master(self._operator.name)))
            await self._webhooks.serve(self._operator, own)
        async with self._lifespans() as lifespans, synced(manager.informers):
            if lifespans is not None:
                await self._work(manager, lifespans)
        await self._client.close()
        self._plan.changes += self._written()
        self._plan.calls = list(self._outside.calls)
        self._plan.notes += self._overlay.notes
        return self._plan

    async def _read(self, manager: OperatorManager) -> None:
        """Have in the view what the operator's caches will want, or say why that can't be had."""
        places = self._wanted.namespaces or ("",)
        for informer in manager.informers.values():
            only = self._operator.narrowed.get(informer.kind)
            for place in places if informer.kind.namespaced else ("",):
                try:
                    listing = self._client.list(
                        informer.what,
                        namespace=place,
                        labels=only.labels if only else None,
                        fields=only.fields if only else None,
                    )
                    await listing
                except NotFound as error:
                    raise CanNotPlan(_no_crd(informer.what, error)) from error
                except ClientError as error:
                    raise CanNotPlan(explained(informer.what, f"reading {informer.kind.resource}", error)) from error

    async def _compare_crds(self) -> None:
        """Say of which kinds the cluster has another CRD than the classes make: objects are judged by that."""
        for what in {(kind_of(each).group, kind_of(each).name): each for each in own_kinds(self._operator)}.values():
            found = await check_crd(self._client, self._operator, what, "")
            if found.level == "fail":
                by = "the plan goes by the cluster's, and with --install-crds by the class's"
                self._plan.notes.append(f"{found.words}; {by}")

    @asynccontextmanager
    async def _lifespans(self) -> AsyncIterator[Lifespans | None]:
        """The operator's lifespans; None if one of them needs what is outside."""
        lifespans = Lifespans(self._operator.lifespans, self._client)
        self._outside.begin()
        try:
            try:
                await lifespans.enter()
            except OutsideCallRefused as refused:
                self._plan.cut_short = f"a lifespan of the operator calls the outside: {refused}"
            except LifespanFailed as error:
                if self._outside.refused is None:
                    raise CanNotPlan(str(error)) from error
                self._plan.cut_short = f"{error}: {self._outside.refused} was refused"
            yield None if self._plan.cut_short else lifespans
        finally:
            await lifespans.leave()

    # Passes

    async def _work(self, manager: OperatorManager, lifespans: Lifespans) -> None:
        partition = _PlannedObjects(self._client)
        controllers = [
            self._controller(declaration, partition, manager, lifespans)
            for declaration in self._operator.declarations.values()
        ]
        partition.begun = True
        keys = [self._there(each, manager) for each in self._wanted.objects]
        stated = [await self._apply(wire, manager) for wire in self._wanted.manifests]
        self._plan.applied = self._written()
        changed = {(each.kind.resource, each.namespace, each.name) for each in self._plan.applied}
        keys += [(kind, key) for kind, key in stated if (kind.resource, *key) not in changed]  # others wake passes
        self._overlay.begin()
        apart = self._leaving()
        for controller in controllers:
            controller.gained(self._chosen(controller.declaration.kind, keys))
        while not self._plan.cut_short:
            if due := [each for each in controllers if len(each.queue)]:
                await self._pass(due[0])
            elif not await collect(self._overlay.objects, self._overlay.gone, self._garbage_collector, apart=apart):
                break
            else:
                await self._seen(manager)
        for controller in controllers:
            controller.close()
        self._plan.ready = self._standing(manager)

    def _leaving(self) -> set[str]:
        """The uids of what others have deleted and is still there: what comes of that is not the operator's doing."""
        own = {(each.kind.group, each.kind.plural) for each in self._operator.declarations.values()}
        return {
            wire["metadata"]["uid"]
            for kind, wire in self._overlay.objects
            if "deletionTimestamp" in wire["metadata"] and (kind.group, kind.plural) not in own
        }

    async def _seen(self, manager: OperatorManager) -> None:
        """Wait until the caches show what was written."""
        for (kind, namespace, name), version in self._overlay.versions().items():
            for informer in manager.informers.values():
                if (informer.kind.group, informer.kind.plural) == (kind.group, kind.plural):
                    await informer.until(partial(_shows, informer, (namespace, name), version))

    def _there(self, named: tuple[type[Object], str, str], manager: OperatorManager) -> tuple[Kind, Key]:
        what, *key = named
        kind, place = kind_of(what), (key[0], key[1])
        if manager.informers[informer_key(what)].cache.get(place) is None:
            where = "/".join(filter(None, place))
            raise CanNotPlan(f"there is no {kind.name} {where}. One that is to be made is planned with -f FILE")
        return kind, place

    def _chosen(self, kind: Kind, keys: Collection[tuple[Kind, Key]]) -> Callable[[Key], bool]:
        wanted = {key for each, key in keys if (each.group, each.plural) == (kind.group, kind.plural)}
        return lambda key: self._wanted.everything or key in wanted

    def _controller(
        self, declaration: Declaration, partition: _PlannedObjects, manager: OperatorManager, lifespans: Lifespans
    ) -> Controller:
        """A controller that does a pass when it is told to, and runs no daemons."""

        def record_event(obj: Object, _: Client) -> RecordEvent:
            where = f"{obj.kind} {'/'.join(filter(None, obj.key))}"
            return lambda reason, message, type_: self._plan.events.append(
                (where, RecordedEvent(reason, message, type_))
            )

        controller = Controller(
            replace(
                declaration,
                reconcile=self._noted(declaration.reconcile),
                finalize=self._noted(declaration.finalize) if declaration.finalize is not None else None,
            ),
            partition,
            manager.informers,
            lifespans,
            record_event=record_event,
            ended=lambda _: None,
        )
        controller.queue = _Untimed(retry=declaration.retry)
        controller.daemons.close()
        return controller

    def _noted(self, function: Any) -> Any:
        """An author's function; what it raises is remembered, for the line in which it did."""

        async def noted(obj: Any, ctx: Context) -> Any:
            ctx.before_outside = self._outside.change
            try:
                return await function(obj, ctx)
            except Exception as error:
                self._raised[obj.key] = error
                raise

        return noted

    async def _pass(self, controller: Controller) -> None:
        self._outside.begin()
        self._raised.clear()
        with suppress(OutsideCallRefused, BaseExceptionGroup):
            await controller.next_pass()
        key = cast(_Untimed[Key], controller.queue).taken
        done = controller.history.of(key)[-1]
        self._plan.passes.append(done)
        where = subject(done)
        self._plan.failures.pop(where, None)
        if (refused := self._outside.refused) is not None:
            does = "would change what is outside" if refused.announced else "calls the outside, which is refused"
            done.result, done.message = "stopped", f"it {does}: {refused}"
            self._plan.cut_short = f"the pass over {where} {does}: {refused}"
            self._overlay.closed_to_writes = "the plan has come to its end"
            return
        if done.result == "failed":
            self._fail(where, key, done)
            return
        await controller.caught_up(key)
        self._count(controller, key, where)

    def _fail(self, where: str, key: Key, done: Pass) -> None:
        raised = self._raised.get(key)
        line = line_of_error(raised) if raised is not None else ""
        at = f" ({line})" if line else ""
        name = f"{type(raised).__name__}: " if raised is not None and type(raised).__name__ != done.message else ""
        self._plan.failures[where] = f"{name}{done.message}{at}"
        if raised is not None:
            self._plan.tracebacks.append(raised)

    def _count(self, controller: Controller, key: Key, where: str) -> None:
        place = (controller.declaration.name, key)
        self._counts[place] = made = self._counts.get(place, 0) + 1
        if made < (self._wanted.passes or PASSES) or not len(controller.queue):
            return
        if self._wanted.passes is None:
            self._plan.cut_short = f"{where} asks for one pass after the other, and has had {made}: --passes N goes on"
        else:
            self._plan.cut_short = f"{where} has had {made} passes, as --passes says, and asks for another"

    def _standing(self, manager: OperatorManager) -> dict[str, tuple[str, str, str]]:
        """What objects say of themselves after the last pass."""
        standing = {}
        for done in self._plan.last:
            declaration = self._operator.declarations[done.controller]
            informer = next(each for key, each in manager.informers.items() if key.kind == declaration.kind)
            item = informer.cache.get((done.namespace, done.name))
            if item is None:
                continue
            with suppress(Exception):  # of an object that can't be read, the pass has said so
                conditions = getattr(getattr(item.decode(), "status", None), "conditions", None) or []
                for each in conditions:
                    if each.type == declaration.ready:
                        standing[subject(done)] = (each.type, each.status, each.message)
        return standing

    def _written(self) -> list[ObjectChange]:
        changes = (object_change(each.kind, each.before, each.after) for each in self._overlay.changes)
        return [each for each in changes if each is not None and each.kind.name != "Event"]

    # Objects of a file

    async def _apply(self, wire: Wire, manager: OperatorManager) -> tuple[Kind, Key]:
        """Apply an object as kubectl does, and wait until the caches have seen it."""
        what = await self._class_of(wire)
        kind, metadata = kind_of(what), wire["metadata"]
        name = metadata["name"]
        namespace = metadata.get("namespace") or self._client.namespace if kind.namespaced else ""
        # A namespace that such a kind has no use for is dropped, as the server does when kubectl applies the file.
        named = {key: value for key, value in metadata.items() if key != "namespace"}
        stated = {**wire, "metadata": {**named, **({"namespace": namespace} if namespace else {})}}
        said = f"{kind.name} {'/'.join(filter(None, (namespace, name)))}"
        user = Client(InProcessTransport(self._overlay.handle, master(KUBECTL)), field_manager=KUBECTL)
        try:
            written = await apply_as_kubectl(user, what, stated, namespace)
        except APIError as error:
            raise CanNotPlan(f"{said} would be refused: {error}") from error
        version = written.metadata.resource_version
        for informer in manager.informers.values():
            if (informer.kind.group, informer.kind.plural) != (kind.group, kind.plural):
                continue
            not_declared = self._wanted.namespaces and namespace and namespace not in self._wanted.namespaces
            if informer.watches(written.metadata.labels) and not not_declared:
                await informer.until(partial(informer.has_seen, (namespace, name), version))
        return kind, (namespace, name)

    async def _class_of(self, wire: Wire) -> type[Dynamic]:
        said = (wire["apiVersion"], wire["kind"])
        for what in (*self._operator.kinds, *builtin_models()):
            kind = kind_of(what)
            if (kind.api_version, kind.name) == said:
                return dynamic(kind)
        for kind in await self._client.discover():
            if (kind.api_version, kind.name) == said:
                return dynamic(kind)
        raise CanNotPlan(f"the cluster has no {wire['kind']} of {wire['apiVersion']}: install its CRD first")


def _shows(informer: Informer[Any], key: Key, version: str) -> bool:
    item = informer.cache.get(key)
    return (item is None) if not version else item is None or informer.has_seen(key, version)


def _no_crd(what: type[Object], error: NotFound) -> str:
    resource = kind_of(what).resource
    if not issubclass(what, Resource):
        return f"the cluster has no {resource}: {error}"
    return (
        f"the cluster has no {resource}. Install its CRD (windvane crd MODULE | kubectl apply --server-side -f -), or "
        "plan with it: --install-crds"
    )
