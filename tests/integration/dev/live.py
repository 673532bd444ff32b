"""A session for tests of the live view: a real cluster and a real operator, in the test's own process and real time.

Only what is outside of a process is played: to pause the operator is to cut it off, and its code is loaded by a test.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Generic, TypeVar

from integration.testing.sites import Site, Sites
from windvane import Client, ambient
from windvane.api.resource import Object, kind_of
from windvane.cli.dev.session import Described, Note, State
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.controlplane import Pods, cluster_at_work
from windvane.k8s import apps, core
from windvane.runtime.crds import install_crds
from windvane.runtime.observability.history import Pass
from windvane.sim.fault_injection import FaultyTransport, NetworkFaults

PATIENCE = 20.0
MASTERS = ("system:masters", "system:authenticated")
ValueT = TypeVar("ValueT")


class Told(Generic[ValueT]):
    """What was told so far, and what comes."""

    def __init__(self) -> None:
        self._all: list[ValueT] = []
        self._more = asyncio.Event()

    def add(self, value: ValueT) -> None:
        self._all.append(value)
        self._more.set()
        self._more = asyncio.Event()

    async def follow(self) -> AsyncIterator[ValueT]:
        position = 0
        while True:
            more = self._more
            while position < len(self._all):
                position += 1
                yield self._all[position - 1]
            await more.wait()


class LiveSession(logging.Handler):
    """A cluster with an operator for Sites in it."""

    def __init__(self, directory: Path, *, mode: str = "simulated") -> None:
        super().__init__(logging.INFO)
        self.kubeconfig = directory / "kubeconfig"
        self.described: Described | None = None
        self.state = State.STARTING
        self.problem = ""
        self.weather = NetworkFaults()
        """Between the view and the cluster."""
        self.asked: list[str] = []
        """What the view has asked for."""
        self._pods = Pods(mode=mode, directory=directory / "pods", images=directory / "images.json")
        self._server = APIServer(Store.open(), require_accounts=True)
        self._stack = AsyncExitStack()
        self._operators_weather = NetworkFaults()
        self._told: tuple[Told[Note], Told[Pass], Told[str]] = (Told(), Told(), Told())
        self._task: asyncio.Task[None] | None = None
        self.client = self._client("view", self.weather)
        self.admin = self._client("kubectl", NetworkFaults())
        """The test's own client: its weather is always good."""

    async def __aenter__(self) -> "LiveSession":
        await self._server.start()
        self._stack.push_async_callback(self._server.close)
        await self._stack.enter_async_context(
            cluster_at_work(self._server.handle, root_ca="(none)", pods=self._pods, introduced=self._server.introduced)
        )
        logging.getLogger("windvane").addHandler(self)
        logging.getLogger("windvane").setLevel(logging.INFO)
        return self

    async def __aexit__(self, *_: object) -> None:
        logging.getLogger("windvane").removeHandler(self)
        logging.getLogger("windvane").setLevel(logging.NOTSET)
        await self.end()
        for client in (self.client, self.admin):
            await client.close()
        await self._stack.aclose()

    @property
    def alive(self) -> bool:
        """Whether the operator is there."""
        return self._task is not None and not self._task.done()

    # What a test does

    async def begin(self) -> None:
        """Have the operator at work."""
        self.sites = Sites()
        await install_crds(self.admin, [Site])
        running = self.sites.operator.run(self._client("sites", self._operators_weather))
        running.listeners.append(self._told[1].add)

        async def work() -> None:
            await running

        self._task = asyncio.get_running_loop().create_task(work())
        self.described = Described(
            name="sites",
            primaries=[kind_of(Site)],
            owned=[kind_of(apps.Deployment)],
            watched=[kind_of(core.Secret)],
        )
        self.state = State.RUNNING

    async def end(self) -> None:
        """Have it be gone."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def note(self, words: str, detail: str = "", *, problem: bool = False) -> None:
        """Note something."""
        self._told[0].add(Note(at=ambient.now(), words=words, detail=detail, problem=problem))

    def emit(self, record: logging.LogRecord) -> None:
        """Have something in the operator's log."""
        self._told[2].add(f"{record.levelname} {record.name}: {record.getMessage()}")

    async def until(self, condition: Callable[[], Awaitable[object]]) -> None:
        """Wait until something is so in the cluster."""
        deadline = ambient.monotonic() + PATIENCE
        while not await condition():
            assert ambient.monotonic() < deadline, "it does not come to be so"
            await ambient.sleep(0.05)

    async def exists(self, what: type[Object], name: str) -> bool:
        """Whether there is such an object."""
        return any(each.metadata.name == name for each in await self.admin.list(what, namespace="default"))

    # `Session`

    def notes(self) -> AsyncIterator[Note]:
        return self._told[0].follow()

    def passes(self) -> AsyncIterator[Pass]:
        return self._told[1].follow()

    def log(self) -> AsyncIterator[str]:
        return self._told[2].follow()

    async def restart(self) -> None:
        self.asked.append("restart")
        await self.end()
        await self.begin()

    async def kill(self) -> None:
        self.asked.append("kill")
        await self.end()
        await self.begin()

    async def pause(self) -> None:
        self.asked.append("pause")
        self._operators_weather.fall()
        self.state = State.PAUSED

    async def resume(self) -> None:
        self.asked.append("resume")
        self._operators_weather.clear()
        self.state = State.RUNNING

    async def drop_watches(self) -> None:
        self.asked.append("drop watches")
        self._operators_weather.cut()

    def _client(self, name: str, weather: NetworkFaults) -> Client:
        transport = InProcessTransport(self._server.handle, User(name, MASTERS))
        return Client(FaultyTransport(transport, weather), field_manager=name)
