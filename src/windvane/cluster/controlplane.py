"""What makes an API server a cluster: controllers, a scheduler and nodes, which work on it in the same process.

They are clients of the API server as any operator is, and reach it by function calls. They begin when it can be used,
and stop before it does. One that fails is begun again; the API server and the others don't notice.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from windvane import ambient
from windvane.backoff import Backoff
from windvane.client.client import Client
from windvane.cluster.apiserver.answer import Handler, User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.components import PassEnded, components
from windvane.cluster.kubelet import Kubelet
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.container_runtime import ContainerRuntime
from windvane.cluster.node.network import proxy
from windvane.cluster.node.network.addresses import SIMULATED, Addresses, claim_loopback
from windvane.cluster.node.network.proxy import ServiceProxy
from windvane.cluster.node.process.images import Images
from windvane.cluster.node.process.runtime import ProcessRuntime
from windvane.cluster.node.registration import LEASE_DURATION, retire_others
from windvane.cluster.node.server import KubeletServer
from windvane.cluster.node.simulated.runtime import SimulatedRuntime

if TYPE_CHECKING:
    from windvane.certificates import Authority

log = logging.getLogger(__name__)

MANAGER = User("system:kube-controller-manager", ("system:masters", "system:authenticated"))
NODE_GROUPS = ("system:nodes", "system:masters", "system:authenticated")
RESTARTS = Backoff(first=1.0, most=60.0)
FINISH_WITHIN = 5.0
"""How long, in seconds, passes that are under way may take when the cluster stops."""


Parts = Mapping[str, Callable[[], Awaitable[None]]]
"""What is to be run, each until it is cancelled."""


@dataclass(frozen=True)
class Pods:
    """How the pods of a cluster run."""

    mode: str = "simulated"
    """`process`: all are processes; `simulated`: none; `auto`: those with a program for their images are."""
    nodes: int = 1
    """How many nodes share them."""
    directory: Path = Path()
    """Where processes have their files."""
    images: Path = Path()
    """The file that says which program stands for which image."""
    host_paths: bool = False
    """Whether they may see directories of this machine."""
    api_port: int = 443
    """Where they find the API server."""
    lease_duration: int = LEASE_DURATION
    """Seconds: a node says four times as often that it is alive."""
    imagined: SimulatedRuntime | None = None
    """What simulates them, if that is to be told how each behaves."""


ALL_SIMULATED = Pods()
Introduced = Callable[[str, Kubelet], AbstractContextManager[None]]
"""Has an API server know a node by its name: `APIServer.introduced`."""


def without_kubelet(node: str, kubelet: Kubelet) -> AbstractContextManager[None]:
    """The node is asked for nothing."""
    del node, kubelet
    return nullcontext()


@asynccontextmanager
async def cluster_at_work(
    handle: Handler,
    *,
    root_ca: str,
    authority: "Callable[[], Authority] | None" = None,
    migrations: bool = False,
    volumes: Path | None = None,
    pods: Pods = ALL_SIMULATED,
    api_port: int = 0,
    introduced: Introduced = without_kubelet,
    ended: PassEnded | None = None,
) -> AsyncIterator[None]:
    """Have controllers, scheduler and nodes work, for the length of the block, on the API server that `handle` is.

    `root_ca` is the certificate that its clients trust, in PEM; the `authority` signs those that are requested. With
    `migrations`, it serves StorageVersionMigrations, which are seen to. In `volumes` are the directories that claims
    get. If it listens, on `api_port`, so do its Services. Nodes are `introduced` to it, so that it can ask them for
    logs and the like. `ended` is called with each pass of a controller that has ended.
    """
    client = Client(InProcessTransport(handle, MANAGER))
    work = dict(
        components(
            client,
            root_ca=root_ca,
            authority=authority,
            migrations=migrations,
            volumes=volumes,
            api_port=api_port,
            ended=ended,
        )
    )

    async def run_proxy() -> None:
        await ServiceProxy(client).run()

    if api_port:
        work[proxy.NAME] = run_proxy
    async with AsyncExitStack() as stack:
        names = [f"node-{number}" for number in range(1, pods.nodes + 1)]
        await retire_others(client, names)
        await stack.enter_async_context(_at_work(client, work))
        for name in names:
            await stack.enter_async_context(_node_at_work(handle, name, pods, introduced))
        yield


@asynccontextmanager
async def _node_at_work(handle: Handler, name: str, pods: Pods, introduced: Introduced) -> AsyncIterator[None]:
    client = Client(InProcessTransport(handle, User(f"system:node:{name}", NODE_GROUPS)))
    directory = pods.directory / name
    addresses = Addresses(SIMULATED) if pods.mode == "simulated" else claim_loopback(str(directory))

    async def run_node() -> None:
        api = ("127.0.0.1", pods.api_port)
        runner = _runner(pods, directory)
        agent = NodeAgent(client, name, runner, addresses=addresses, api=api, lease_duration=pods.lease_duration)
        kubelet = KubeletServer(agent, directory)
        with introduced(name, kubelet):
            async with asyncio.TaskGroup() as group:
                group.create_task(agent.run())
                if pods.mode != "simulated":  # what is only imagined uses nothing
                    group.create_task(kubelet.meter.run())

    try:
        async with _at_work(client, {f"node {name}": run_node}):
            yield
    finally:
        addresses.close()


def _runner(pods: Pods, directory: Path) -> ContainerRuntime:
    if pods.mode == "simulated":
        return pods.imagined or SimulatedRuntime()
    images = Images(pods.images)
    return ProcessRuntime(directory, images, simulate_unknown=pods.mode != "process", host_paths=pods.host_paths)


@asynccontextmanager
async def _at_work(client: Client, work: Parts) -> AsyncIterator[None]:
    working = asyncio.get_running_loop().create_task(_work(client, work))
    try:
        yield
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def _work(client: Client, work: Parts) -> None:
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(keep_running(name, run)) for name, run in work.items()]
    try:
        await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=FINISH_WITHIN)
        await client.close()  # a call that still waits for an answer gets an error instead
        await asyncio.gather(*tasks, return_exceptions=True)


async def keep_running(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Run something that should never end, and again whenever it does, after a pause that grows while it fails."""
    failures = 0
    while True:
        pause = RESTARTS.longest(failures)
        began = ambient.monotonic()
        try:
            await run()
            log.error("%s ended by itself: this is a bug in windvane; it begins again in %.0f s", name, pause)
        except Exception:
            log.exception("%s failed: this is a bug in windvane; it begins again in %.0f s", name, pause)
        await ambient.sleep(pause)
        well = ambient.monotonic() - began > 2 * RESTARTS.most
        failures = 0 if well else failures + 1
