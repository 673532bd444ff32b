"""The world that an operator lives in, on either server: the embedded one in virtual time, or a real kube-apiserver.

`converges` is what all tests are about: whatever happened, children and status come to be what `difference` computes
from the specs alone.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from integration.runtime.websites import Website, Websites, config_map, website
from reference.controlplane import ReferenceControlPlane
from windvane import AlreadyExists, Client, NotFound, ObjectMeta, ambient, crd, find_condition
from windvane.ambient import Ambient, Reality
from windvane.client.config import ClientConfig, load_config
from windvane.client.http import HTTPTransport
from windvane.client.transport import Transport
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.audit import AuditLog
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.core import ConfigMap, Namespace
from windvane.runtime.manager import OperatorManager
from windvane.sim.fault_injection import FaultyTransport, NetworkFaults
from windvane.sim.process import SimulatedProcess
from windvane.sim.time import MachineClock, VirtualTime

OPERATOR = "websites"
WITNESS = "witness"


@dataclass(frozen=True)
class Write:
    """One line of the audit log: who wrote what."""

    who: str
    verb: str
    resource: str
    name: str
    subresource: str
    code: int


class World(ABC):
    """An API server, a namespace in it, and whoever talks to it."""

    time: Ambient
    patience: float
    """How long something may take to happen, in seconds."""
    slow: float
    """How many seconds a request takes when the server is slow."""

    def __init__(self) -> None:
        self.namespace = ""
        self._clients: list[Client] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._witnesses = count()

    @property
    def admin(self) -> Client:
        """The test's own client, which no weather troubles."""
        return self._admin

    async def open(self) -> None:
        """Have a namespace of our own, in which there can be Websites."""
        self._admin = self.client("admin", NetworkFaults())
        made = await self.admin.create(Namespace(metadata=ObjectMeta(generate_name="test-")))
        self.namespace = made.metadata.name
        self._admin = self.client("admin", NetworkFaults())
        await self.serve_websites()

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.namespace:
            await self.let_go()
        for client in self._clients:
            await client.close()

    def client(self, who: str, weather: NetworkFaults) -> Client:
        """A client of somebody who may do everything, in that weather."""
        client = Client(FaultyTransport(self.connect(who), weather), namespace=self.namespace or "default")
        self._clients.append(client)
        return client

    def keep(self, task: asyncio.Task[None]) -> None:
        """Let something run until the test ends."""
        self._tasks.append(task)

    async def until(self, condition: Callable[[], Awaitable[object]]) -> None:
        """Wait until something is so."""
        deadline = self.time.monotonic() + self.patience
        while not await condition():
            assert self.time.monotonic() < deadline, f"not so within {self.patience:g} s"
            await self.time.sleep(0.05)

    async def let_go(self) -> None:
        """Have no finalizer hold back a Website: it would keep the kind from going in another test."""
        with suppress(NotFound):  # as the kind may be
            for site in await self.admin.list(Website, namespace=self.namespace):
                if site.metadata.finalizers:
                    await self.admin.patch(Website, site.metadata.name, {"metadata": {"finalizers": None}})

    async def serve_websites(self) -> None:
        """Have the CustomResourceDefinition, and wait until the server has taken notice."""
        with suppress(AlreadyExists):
            await self.admin.create(crd(Website))

        async def served() -> bool:
            try:
                await self.admin.list(Website, namespace=self.namespace)
            except NotFound:
                return False
            name = crd(Website).metadata.name
            definition = await self.admin.get(CustomResourceDefinition, name)
            return any(each.type == "Established" and each.status == "True" for each in definition.status.conditions)

        await self.until(served)

    async def create(self, name: str = "blog", page: str = "hello", **spec: Any) -> Website:
        """Make a Website in our namespace."""
        site = website(name, page, **spec)
        site.metadata.namespace = self.namespace
        return await self.admin.create(site)

    async def edit(self, name: str = "blog", **spec: Any) -> None:
        """Change the spec of a Website."""
        await self.admin.patch(Website, name, {"spec": spec})

    async def children(self) -> dict[str, ConfigMap]:
        """All ConfigMaps of our namespace."""
        found = await self.admin.list(ConfigMap, namespace=self.namespace)
        return {each.metadata.name: each for each in found}

    async def difference(self) -> list[str]:
        """What is not yet as the specs say."""
        sites = [
            each
            for each in await self.admin.list(Website, namespace=self.namespace)
            if not each.metadata.deletion_timestamp
        ]
        owners = {each.metadata.uid for each in sites}
        there = await self.children()
        owned = {
            name
            for name, child in there.items()
            if any(each.controller and each.uid in owners for each in child.metadata.owner_references)
        }
        wanted = {child.metadata.name: (child, site) for site in sites for child in desired(site)}
        found = [f"ConfigMap {name} is there, and nobody wants it" for name in sorted(owned - wanted.keys())]
        for name, (child, site) in wanted.items():
            if name not in owned:
                found.append(f"ConfigMap {name} is not there, or not owned by {site.metadata.name}")
            elif not child.data.items() <= there[name].data.items():
                found.append(f"ConfigMap {name} has {there[name].data}, not {child.data}")
        for site in sites:
            ready = find_condition(site.status.conditions, "Ready")
            if site.status.observed_generation != site.metadata.generation or site.status.page != site.spec.page:
                found.append(
                    f"the status of {site.metadata.name} is about generation {site.status.observed_generation}"
                )
            elif ready is None or ready.status != "True":
                found.append(f"{site.metadata.name} is not ready: {ready}")
        return found

    async def converges(self) -> None:
        """Wait until children and status are what the specs say."""
        deadline = self.time.monotonic() + self.patience
        pause = 0.05
        while found := await self.difference():
            assert self.time.monotonic() < deadline, "\n".join(found)
            await self.time.sleep(pause)
            pause = min(
                pause * 1.2, self.patience / 200
            )  # a world that never converges must not take forever to say so

    def writes(self) -> list[Write]:
        """What was written so far in our namespace, by the server's own account."""
        found = []
        complete, _, _ = self.audit_log.read_bytes().rpartition(b"\n")  # somebody may be writing the last line just now
        for line in complete.splitlines():
            event = msgspec.json.decode(line)
            about = event.get("objectRef", {})
            if event["stage"] != "ResponseComplete" or event["verb"] in ("get", "list", "watch"):
                continue
            if about.get("namespace") != self.namespace or "dryRun=All" in event["requestURI"]:
                continue  # a dry run writes nothing: a replica that stands by asks in that way whether it could lead
            who = event.get("impersonatedUser") or event["user"]
            found.append(
                Write(
                    who["username"],
                    event["verb"],
                    about["resource"],
                    about.get("name", ""),
                    about.get("subresource", ""),
                    event["responseStatus"]["code"],
                )
            )
        return found

    def operator_writes(self) -> list[Write]:
        """What operators wrote about Websites and their children; not Leases and Events, nor about witnesses."""
        return [
            each
            for each in self.writes()
            if each.who != "admin" and each.resource not in ("leases", "events") and not each.name.startswith(WITNESS)
        ]

    async def written_down(self, *names: str) -> list[Write]:
        """What operators wrote until these Websites were ready, for the first time.

        Their status comes last, and that may be a moment late: a real server shows a write before its audit log does.
        """

        async def all_are() -> bool:
            return {each.name for each in self.operator_writes() if each.subresource == "status"} == set(names)

        await self.until(all_are)
        return self.operator_writes()

    @property
    @abstractmethod
    def audit_log(self) -> Path:
        """Where the server writes down who asked for what."""

    @abstractmethod
    def connect(self, who: str) -> Transport:
        """A way to the server, for somebody who may do everything."""

    @abstractmethod
    async def forget_history(self) -> None:
        """Make the server forget all that happened: a watch that breaks now can't be resumed."""

    @abstractmethod
    async def let_pass(self, seconds: float, replica: "Replica") -> None:
        """Let that much time pass. Where it is not ours to pass, wait until the replica has tried something thrice."""

    @abstractmethod
    async def let_nothing_happen(self, seconds: float) -> None:
        """Let that much time pass. Where it is not ours to pass, wait until the operators have followed something new.

        What they would have done about all else, they have had the time to do.
        """


class EmbeddedWorld(World):
    """The embedded API server in this process, in virtual time."""

    patience = 1200.0
    slow = 5.0

    def __init__(self, audit_log: Path) -> None:
        super().__init__()
        self.time = VirtualTime()
        self._audit_log = audit_log
        self._server = APIServer(Store.open(), audit_log=AuditLog(audit_log))

    @property
    def audit_log(self) -> Path:
        return self._audit_log

    async def open(self) -> None:
        await self._server.start()
        await super().open()

    async def close(self) -> None:
        await super().close()
        await self._server.close()

    def connect(self, who: str) -> Transport:
        return InProcessTransport(self._server.handle, User(who, ("system:masters", "system:authenticated")))

    async def forget_history(self) -> None:
        await self._server.store.compact(self._server.store.revision)

    async def let_pass(self, seconds: float, replica: "Replica") -> None:
        await self.time.sleep(seconds)

    async def let_nothing_happen(self, seconds: float) -> None:
        await self.time.sleep(seconds)


class ReferenceWorld(World):
    """A real kube-apiserver, over HTTPS, in real time."""

    patience = 120.0
    slow = 0.1

    def __init__(self, control_plane: ReferenceControlPlane) -> None:
        super().__init__()
        self.time = Reality()
        self._control_plane = control_plane

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self._control_plane.kubeconfig

    @property
    def audit_log(self) -> Path:
        return self._control_plane.audit_log

    def connect(self, who: str) -> Transport:
        return HTTPTransport(config_of(self.kubeconfig, who))

    async def forget_history(self) -> None:
        # Not in a thread: the server would end with it.
        self._control_plane.compact()

    async def let_pass(self, seconds: float, replica: "Replica") -> None:
        enough = len(replica.weather.asked) + 3

        async def tried() -> bool:
            return len(replica.weather.asked) >= enough

        await self.until(tried)

    async def let_nothing_happen(self, seconds: float) -> None:
        await self.create(f"{WITNESS}-{next(self._witnesses)}")
        await self.converges()


def config_of(kubeconfig: Path, who: str) -> ClientConfig:
    """The administrator's configuration, under another name: so the audit log can tell replicas apart."""
    return replace(load_config(kubeconfig=kubeconfig), impersonate_user=who, impersonate_groups=("system:masters",))


class Replica:
    """One process that runs the operator, with a network, clocks and an end of its own."""

    def __init__(
        self, world: World, websites: Websites | None = None, *, who: str = OPERATOR, elected: bool = False
    ) -> None:
        self.world = world
        self.websites = websites or Websites()
        self.weather = NetworkFaults()
        self.clock = MachineClock(world.time)
        self.process = SimulatedProcess()
        self.stop = asyncio.Event()
        self.dead = False
        self.running: OperatorManager = self.websites.operator.run(
            world.client(who, self.weather),
            namespaces=[world.namespace],
            identity=who if elected else "",
            stop=self.stop,
        )
        with ambient.use(self.clock):
            self.task = self.process.start(_run(self.running))
        world.keep(self.task)

    async def synced(self) -> "Replica":
        """Wait until it has seen everything."""

        async def is_synced() -> bool:
            return self.running.synced

        await self.world.until(is_synced)
        return self

    @property
    def leading(self) -> bool:
        """Whether it is the one that works, by its own clock."""
        with ambient.use(self.clock):
            return self.running.leading

    def kill(self) -> None:
        """End as a killed process does: nothing that it would still like to do gets through."""
        self.dead = True
        self.weather.fall()
        self.task.cancel()

    @property
    def passes(self) -> int:
        """How many passes it has begun."""
        return sum(self.websites.passes.values())


async def _run(running: OperatorManager) -> None:
    await running


def desired(site: Website) -> list[ConfigMap]:
    """What a Website should have, by its spec alone."""
    name = site.metadata.name
    aliases = [config_map(f"{name}-{alias}", {"alias": alias}) for alias in site.spec.aliases]
    return [config_map(name, {"page": site.spec.page}), *aliases]


def usurped(writes: list[Write]) -> list[Write]:
    """The writes of replicas that did not hold the Lease at that time."""
    holder, found = "", []
    for write in writes:
        if write.who == "admin" or write.code >= 300:
            continue
        if write.resource == "leases":
            holder = write.who
        elif write.who != holder:
            found.append(write)
    return found
