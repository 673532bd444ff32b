"""A cluster for a test: the embedded API server, the built-in controllers and a node, in the test's own process."""

import builtins
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self, TypeVar

from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, Resource, kind_of, object_to_wire
from windvane.client.client import Client
from windvane.client.errors import NotFound
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.controlplane import Pods, cluster_at_work
from windvane.k8s.core import Event, Namespace, Node
from windvane.runtime.crds import install_crds
from windvane.runtime.operator import Operator
from windvane.runtime.report import changes
from windvane.testing.pods import SimulatedPods
from windvane.testing.replica import Replica
from windvane.testing.requests import TEST, Requests, master
from windvane.testing.story import story_of
from windvane.testing.webhooks import Webhooks, conversion

ObjectT = TypeVar("ObjectT", bound=Object)

ROOT_CA = "in a test's own process, no certificate is needed\n"
QUIET = 10.0
"""A cluster in which nothing is written for so many seconds is settled. What polls more slowly has `advance`."""
WITHIN = 600.0
LEASE_DURATION = 1200
"""A node that says every five minutes that it is alive costs a test less than one that says it every ten seconds."""
SHOWN = 10
BREATH = 0.05


class NotSettled(AssertionError):
    """The cluster does not come to rest; the message says what was written lately, and by which client."""


class Cluster:
    """See the module. Time is virtual: a test that waits for hours takes as long as the work in them.

    Every client here may do everything. Pods are simulated: `pods` says how.
    """

    def __init__(self) -> None:
        store = Store.open()
        self._webhooks = Webhooks(store)
        self._server = APIServer(store, require_accounts=True, caller=self._webhooks)
        self._requests = Requests(self._server.handle)
        self._stack = AsyncExitStack()
        self.replicas: list[Replica] = []
        """The operators that were run, also those that have ended."""
        self.pods = SimulatedPods()
        """What pods do."""
        self.client = self._client(TEST)
        """The test's own client, for what has no method here."""

    async def __aenter__(self) -> Self:
        self._stack.push_async_callback(self._server.close)
        self._stack.push_async_callback(self.client.close)
        await self._server.start()
        pods = Pods(imagined=self.pods.simulation, lease_duration=LEASE_DURATION)
        await self._stack.enter_async_context(cluster_at_work(self._requests.handle, root_ca=ROOT_CA, pods=pods))
        while not any(_is_ready(each) for each in await self.client.list(Node)):
            await ambient.sleep(BREATH)
        return self

    async def __aexit__(self, *_: object) -> None:
        for replica in self.replicas:
            if not replica.ended:
                await replica.kill()
        await self._stack.aclose()
        for replica in self.replicas:
            replica.check()  # one that failed while no one looked

    # Operators

    async def install(self, *kinds: type[Object]) -> None:
        """Have the cluster serve these kinds, as `windvane run --install-crds` does. `run` does so by itself."""
        await install_crds(self.client, kinds)

    async def run(self, operator: Operator) -> Replica:
        """Have an operator work until the test ends: its CRDs are installed, and its webhooks are called."""
        client = self._client(master(operator.name))
        self._stack.push_async_callback(client.close)
        await self._webhooks.serve(operator, self.client)
        await install_crds(self.client, operator.kinds, conversion=conversion(operator))
        replica = Replica(operator, client, self._webhooks, self.client)
        self.replicas.append(replica)
        while not replica.running.synced:
            replica.check()
            await ambient.sleep(BREATH)
        return replica

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
        if thing.metadata.namespace and not await self.exists(Namespace, thing.metadata.namespace):
            await self.client.create(Namespace(metadata=ObjectMeta(name=thing.metadata.namespace)))
        try:
            return await self.client.apply(thing, field_manager=TEST.name)
        except NotFound as error:
            if isinstance(thing, Resource):
                name = type(thing).__name__
                error.add_note(
                    f"Is {name} served? Write `await cluster.run(operator)` before, or cluster.install({name})"
                )
            raise

    async def get(self, what: type[ObjectT], name: str, *, namespace: str = "default") -> ObjectT:
        """An object as it is now; `NotFound` if there is none."""
        return await self.client.get(what, name, namespace=namespace if kind_of(what).namespaced else "")

    async def exists(self, what: type[Object], name: str, *, namespace: str = "default") -> bool:
        """Whether there is such an object."""
        try:
            await self.get(what, name, namespace=namespace)
        except NotFound:
            return False
        return True

    async def list(
        self, what: type[ObjectT], *, labels: Mapping[str, str] | None = None, namespace: str = "default"
    ) -> builtins.list[ObjectT]:
        """The objects of a kind in a namespace, by name."""
        where = namespace if kind_of(what).namespaced else ""
        return list(await self.client.list(what, namespace=where, labels=labels))

    @asynccontextmanager
    async def edit(self, what: type[ObjectT], name: str, *, namespace: str = "default") -> AsyncIterator[ObjectT]:
        """Change an object, as `kubectl edit` does: what the block did to it is written at its end, status included.

        async with cluster.edit(Website, "blog") as site:
            site.spec.replicas = 3
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

    async def delete(self, what: type[Object], name: str, *, namespace: str = "default") -> None:
        """Delete an object. It goes when its finalizers let it: see `settled`."""
        await self.client.delete(what, name, namespace=namespace if kind_of(what).namespaced else "")

    async def events(self, thing: Object) -> builtins.list[Event]:
        """What was said about an object, as `kubectl describe` shows it; the oldest first."""
        namespace = thing.metadata.namespace or "default"
        about = {"involvedObject.name": thing.metadata.name, "involvedObject.kind": thing.kind}
        found = await self.client.list(Event, namespace=namespace, fields=about)
        return sorted(found, key=lambda event: event.metadata.creation_timestamp or ambient.now())

    # Time

    async def settled(self) -> None:
        """Wait until nothing is left to do: no pass is due, and nothing was written for ten seconds of virtual time.

        What is to come later, by `After(hours=1)` or a retry, is not waited for: `advance` lets the time pass. What
        never comes to rest is `NotSettled` after ten minutes.
        """
        began = ambient.monotonic()
        while True:
            for replica in self.replicas:
                replica.check()
            now = ambient.monotonic()
            rest = max(began, self._requests.last) + QUIET - now
            if rest <= 0 and not any(each.busy for each in self.replicas if not each.ended):
                return
            if now - began > WITHIN:
                raise NotSettled(self._unsettled())
            await ambient.sleep(max(rest, BREATH))

    async def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Let that much time pass, with all that comes due in it, and then wait until the cluster is settled."""
        await ambient.sleep(seconds + 60 * (minutes + 60 * (hours + 24 * days)))
        await self.settled()

    # What happened

    def story(self) -> str:
        """What operators did lately, and why: one line for each pass."""
        return story_of(self.replicas)

    def _unsettled(self) -> str:
        latest = [f"  {each.at:.1f} s: {each.user}: {each.words}" for each in self._requests.writes[-SHOWN:]]
        return "\n".join([f"something is still being done after {WITHIN:g} s. The last writes:", *latest])

    def _client(self, user: User) -> Client:
        return Client(InProcessTransport(self._requests.handle, user), field_manager=user.name)


def _is_ready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)
