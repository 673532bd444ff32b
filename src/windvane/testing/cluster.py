"""A cluster for a test, of whichever kind: in the test's own process, with real processes, or a real one.

Write tests against `Cluster`: the fixtures `cluster`, `process_cluster` and `real_cluster` all give one.
"""

import builtins
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import ModuleType
from typing import Any, Self, TypeVar

from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, Resource, kind_of, object_to_wire
from windvane.client.client import Client
from windvane.client.errors import NotFound
from windvane.k8s.core import Event, Namespace
from windvane.runtime.crds import install_crds
from windvane.runtime.operator import Operator
from windvane.runtime.writes.status import changes
from windvane.testing.failure_report import report_failure
from windvane.testing.pods import Pods
from windvane.testing.replica import Replica
from windvane.testing.request_log import TEST, RequestLog

ObjectT = TypeVar("ObjectT", bound=Object)

SHOWN = 10
BEGIN_WITHIN = 60.0
"""Seconds in which an operator fills its caches."""
BREATH = 0.05


class NotSettled(AssertionError):
    """The cluster does not come to rest; the message says what was written lately, and by which client."""


class Cluster(ABC):
    """What all clusters of tests can do. `async with` begins and ends one, as the fixtures do."""

    within: float = 600.0
    """How long `settled` waits, in seconds, before it gives up."""

    def __init__(self, pods: Pods) -> None:
        self._stack = AsyncExitStack()
        self._requests = RequestLog()
        self._began = 0.0
        self._began_at = ambient.now()
        self._touched: set[tuple[str, str]] = set()  # the kinds and names of objects that the test has named
        self._ended = False
        self.replicas: list[Replica] = []
        """The operators that were run, also those that have ended."""
        self.pods = pods
        """What pods do."""
        self.namespace = "default"
        """Where objects are that name no namespace."""
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The test's own client, for what has no method here."""
        if self._client is None or self._ended:
            raise RuntimeError(
                f"this test's cluster {'has ended' if self._ended else 'has not begun'}: use it in the test that has "
                "the fixture"
            )
        return self._client

    async def __aenter__(self) -> Self:
        try:
            await self._begin()
        except BaseException:
            await self._stack.aclose()
            raise
        self._began, self._began_at = ambient.monotonic(), ambient.now()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            for replica in self.replicas:
                if not replica.ended:
                    await replica.kill()
        finally:
            self._ended = True
            await self._stack.aclose()
        for replica in self.replicas:
            replica.check()  # one that failed meanwhile

    @abstractmethod
    async def _begin(self) -> None:
        """Have the cluster and the test's client; what is to be undone is put on the stack."""

    # Operators

    async def install(self, *kinds: type[Object]) -> None:
        """Have the cluster serve these kinds, as `windvane run --install-crds` does. `run` does so by itself."""
        for what in kinds:
            _check_kind(what, "install")
        await install_crds(self.client, kinds)

    async def run(self, operator: Operator) -> Replica:
        """Have an operator work until the test ends: its CRDs are installed, and its webhooks are called."""
        _check_operator(operator)
        if any(each.operator.name == operator.name and not each.ended for each in self.replicas):
            raise ValueError(
                f"an operator called {operator.name!r} runs already, and two of a name would undo each other's work: "
                "`await replica.stop()` before, or give this one another name"
            )
        replica = await self._start(operator, self.client)
        self.replicas.append(replica)
        began = ambient.monotonic()
        while not replica.running.synced:
            replica.check()
            if ambient.monotonic() - began > BEGIN_WITHIN:
                why = "; ".join(replica.running.problems) or "its lifespans, or caches, are not there yet"
                raise NotSettled(f"operator {operator.name!r} has not begun after {BEGIN_WITHIN:g} s: {why}")
            await ambient.sleep(BREATH)
        return replica

    @abstractmethod
    async def _start(self, operator: Operator, admin: Client) -> Replica:
        """Begin an operator, with what it needs."""

    @property
    def writes(self) -> builtins.list[str]:
        """What operators have written so far, in order: `apply deployments.apps blog`. Leases and Events are left out.

        A test that is about one part of it remembers how many there were: `before = len(cluster.writes)`.
        """
        names = {replica.operator.name for replica in self.replicas}
        return [each.words for each in self._requests.writes if each.user in names]

    # What its users do

    async def apply(self, thing: ObjectT) -> ObjectT:
        """Have an object be as stated, as `kubectl apply --server-side` does. Returns it as it was stored."""
        _check_object(thing, "apply")
        self._touch(type(thing), thing.metadata.name)
        if thing.metadata.namespace:
            await self._have_namespace(thing.metadata.namespace)
        with _Explained(type(thing)):
            return await self.client.apply(thing, field_manager=TEST.name)

    async def _have_namespace(self, name: str) -> None:
        """Make a namespace that an object is to be in, if need be."""
        if not await self.exists(Namespace, name):
            await self.client.create(Namespace(metadata=ObjectMeta(name=name)))

    async def get(self, what: type[ObjectT], name: str, *, namespace: str = "") -> ObjectT:
        """An object as it is now; `NotFound` if there is none."""
        _check_kind(what, "get")
        self._touch(what, name)
        with _Explained(what):
            return await self.client.get(what, name, namespace=self._where(what, namespace))

    async def exists(self, what: type[Object], name: str, *, namespace: str = "") -> bool:
        """Whether there is such an object."""
        try:
            await self.get(what, name, namespace=namespace)
        except NotFound:
            return False
        return True

    async def list(
        self, what: type[ObjectT], *, labels: Mapping[str, str] | None = None, namespace: str = ""
    ) -> builtins.list[ObjectT]:
        """The objects of a kind in a namespace, by name."""
        _check_kind(what, "list")
        with _Explained(what):
            return list(await self.client.list(what, namespace=self._where(what, namespace), labels=labels))

    @asynccontextmanager
    async def edit(self, what: type[ObjectT], name: str, *, namespace: str = "") -> AsyncIterator[ObjectT]:
        """Change an object, as `kubectl edit` does.

            async with cluster.edit(Website, "blog") as site:
                site.spec.replicas = 3

        What the block did to it is written at its end, status included.
        """
        thing = await self.get(what, name, namespace=namespace)
        before = object_to_wire(thing)
        yield thing
        patch = changes(before, object_to_wire(thing))
        where = thing.metadata.namespace
        if (status := patch.pop("status", None)) is not None:
            await self.client.patch(what, name, {"status": status}, namespace=where, subresource="status")
        if patch:
            await self.client.patch(what, name, patch, namespace=where)

    async def delete(self, what: type[Object], name: str, *, namespace: str = "") -> None:
        """Delete an object. It goes when its finalizers let it: see `settled`."""
        _check_kind(what, "delete")
        self._touch(what, name)
        with _Explained(what):
            await self.client.delete(what, name, namespace=self._where(what, namespace))

    async def events(self, thing: Object) -> builtins.list[Event]:
        """What was said about an object, as `kubectl describe` shows it; the oldest first."""
        _check_object(thing, "events")
        self._touch(type(thing), thing.metadata.name)
        namespace = thing.metadata.namespace or "default"
        about = {"involvedObject.name": thing.metadata.name, "involvedObject.kind": thing.kind}
        found = await self.client.list(Event, namespace=namespace, fields=about)
        return sorted(found, key=lambda event: event.metadata.creation_timestamp or ambient.now())

    def _touch(self, what: type[Object], name: str) -> None:
        self._touched.add((kind_of(what).name, name))

    def _where(self, what: type[Object], namespace: str) -> str:
        return (namespace or self.namespace) if kind_of(what).namespaced else ""

    # Time

    async def settled(self) -> None:
        """Wait until nothing is left to do: no pass is due, and nothing has changed for a while.

        What is to come later, by `After(hours=1)` or a retry, is not waited for. What never comes to rest is
        `NotSettled`. How long is a while, each kind of cluster says.
        """
        _ = self.client  # which says so if the cluster is not there
        began = ambient.monotonic()
        while True:
            for replica in self.replicas:
                replica.check()
            rest = self._rest(began)
            busy = any(each.busy or each.put_off for each in self.replicas if not each.ended)
            if rest <= 0 and not busy:
                return
            if ambient.monotonic() - began > self.within:
                raise NotSettled(self._unsettled())
            await ambient.sleep(max(rest, BREATH))

    @abstractmethod
    def _rest(self, began: float) -> float:
        """How many seconds nothing must change before the cluster is settled, for one that waits since `began`."""

    @abstractmethod
    async def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Let that much time pass, with all that comes due in it, and then wait until the cluster is settled."""

    # What happened

    def story(self) -> str:
        """What happened lately, a line for each: the passes of operators, with why; the test's writes; Events."""
        writes, began = self._requests.writes, (self._began_at, self._began)
        return report_failure(self.replicas, writes, self._said, touched=self._touched, began=began)

    @property
    def _said(self) -> Mapping[str, tuple[float, bytes]]:
        """The latest Events, by name: when each was written, and as what."""
        return self._requests.events

    def _unsettled(self) -> str:
        latest = [
            f"  {each.at - self._began:.1f} s: {each.user}: {each.words}"
            for each in self._requests.writes
            if each.at >= self._began  # not those by which the cluster came to be
        ]
        words = f"something is still being done after {self.within:g} s"
        return "\n".join([f"{words}{self._under_way()}. The last writes:", *latest[-SHOWN:]])

    def _under_way(self) -> str:
        """What is still to be done, as far as that can be seen."""
        alive = [each for each in self.replicas if not each.ended]
        due = [
            f"{each.declaration.kind.name} {'/'.join(filter(None, key))}"
            for replica in alive
            for each in replica.controllers
            for key in each.queue.being_worked_on
        ]
        told = [f"a pass is under way over {', '.join(due)}"] if due else []
        put_off = [each for replica in alive for each in replica.put_off]
        told += [f"passes over {', '.join(put_off)} are put off: the Event Unsettled says what never settles"] * bool(
            put_off
        )
        told += [problem for replica in alive for problem in replica.running.problems]
        return "".join(f"; {each}" for each in told)


class _Explained:
    """A block in which an object is asked for: if its kind is not served, the error says how it will be."""

    def __init__(self, what: type[Object]) -> None:
        self._what = what

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        # Of an object that is not there, the server says which.
        if isinstance(error, NotFound) and issubclass(self._what, Resource) and not _names_an_object(error):
            name = self._what.__name__
            error.add_note(f"Is {name} served? Write `await cluster.run(operator)` before, or cluster.install({name})")


def _names_an_object(error: NotFound) -> bool:
    return bool(error.status.details is not None and error.status.details.name)


def _check_kind(what: Any, verb: str) -> None:
    if isinstance(what, type) and issubclass(what, Object):
        return
    remedy = f"write cluster.{verb}(type(thing), ...)" if isinstance(what, Object) else "such as apps.Deployment"
    raise TypeError(f"cluster.{verb} takes the class of a kind, not {_short(what)}: {remedy}")


def _check_object(thing: Any, verb: str) -> None:
    match thing:
        case Object():
            return
        case dict():
            remedy = "of a manifest, write object_from_wire(manifest, Website), say"
        case type():
            remedy = f"make one: {thing.__name__}(metadata=ObjectMeta(name=...), ...)"
        case _:
            remedy = "such as Website(metadata=ObjectMeta(name=...), spec=...)"
    raise TypeError(f"cluster.{verb} takes an object, not {_short(thing)}: {remedy}")


def _check_operator(operator: Any) -> None:
    match operator:
        case Operator():
            return
        case ModuleType():
            found = [name for name, value in vars(operator).items() if isinstance(value, Operator)]
            remedy = f"write cluster.run({operator.__name__.rpartition('.')[2]}.{found[0] if found else 'operator'})"
        case type():
            remedy = 'make one: operator = Operator("website")'
        case _ if callable(operator):
            remedy = "give it to an Operator, @operator.controller(...); or reconcile_once(function, obj) for one pass"
        case _:
            remedy = 'such as operator = Operator("website")'
    raise TypeError(f"cluster.run takes an Operator, not {_short(operator)}: {remedy}")


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"a {type(value).__name__}"
