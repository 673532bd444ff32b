"""The fixture `cluster`: the embedded API server, the built-in controllers and a node, in the test's own process."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from windvane import ambient
from windvane.client.client import Client
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.controlplane import Pods, cluster_at_work
from windvane.k8s.core import Node
from windvane.runtime.crds import install_crds
from windvane.runtime.operator import Operator
from windvane.sim.time import VirtualLoop
from windvane.testing.cluster import BREATH, Cluster
from windvane.testing.foreign_kinds import serve_foreign
from windvane.testing.in_process_webhooks import Webhooks, conversion
from windvane.testing.pods import SimulatedPods
from windvane.testing.replica import Replica
from windvane.testing.request_log import TEST, LoggedHandler, master

ROOT_CA = "in a test's own process, no certificate is needed\n"
QUIET = 10.0
"""A cluster in which nothing is written for so many seconds is settled. What polls more slowly has `advance`."""
LEASE_DURATION = 1200
"""A node that says every five minutes that it is alive costs a test less than one that says it every ten seconds."""


class VirtualCluster(Cluster):
    """See the module. Time is virtual: a test that waits for hours takes as long as the work in them.

    Every client here may do everything. Pods are simulated: `pods` says how.
    """

    pods: SimulatedPods

    def __init__(self) -> None:
        super().__init__(SimulatedPods())
        store = Store.open()
        self._webhooks = Webhooks(store)
        self._server = APIServer(store, require_accounts=True, caller=self._webhooks)
        self._handle = LoggedHandler(self._server.handle, self._requests).handle

    async def _begin(self) -> None:
        if not isinstance(asyncio.get_running_loop(), VirtualLoop):  # each hour of `advance` would be one
            raise RuntimeError(
                "time is real here, and a VirtualCluster needs a test whose time is virtual: write "
                "`async def test_it(cluster): ...` for one that has its cluster, and begin a second one in there"
            )
        self._client = self._connect(TEST)
        self._stack.push_async_callback(self._server.close)
        self._stack.push_async_callback(self._client.close)
        await self._server.start()
        pods = Pods(imagined=self.pods.simulation, lease_duration=LEASE_DURATION)
        # Without volumes there is no StorageClass, and a pod that has a claim never gets a node.
        volumes = self._stack.enter_context(TemporaryDirectory(prefix="windvane-volumes-", ignore_cleanup_errors=True))
        work = cluster_at_work(self._handle, root_ca=ROOT_CA, volumes=Path(volumes), pods=pods)
        await self._stack.enter_async_context(work)
        while not any(is_ready(each) for each in await self._client.list(Node)):
            await ambient.sleep(BREATH)

    async def _start(self, operator: Operator, admin: Client) -> Replica:
        client = self._connect(master(operator.name))
        self._stack.push_async_callback(client.close)
        await self._webhooks.serve(operator, admin)
        await install_crds(admin, operator.kinds, conversion=conversion(operator))
        await serve_foreign(admin, operator.kinds)
        return Replica(operator, client, self._webhooks, admin)

    def _rest(self, began: float) -> float:
        return max(began, self._requests.last) + QUIET - ambient.monotonic()

    async def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """See `Cluster.advance`."""
        _ = self.client
        await ambient.sleep(seconds + 60 * (minutes + 60 * (hours + 24 * days)))
        await self.settled()

    def _connect(self, user: User) -> Client:
        return Client(InProcessTransport(self._handle, user), field_manager=user.name)


def is_ready(node: Node) -> bool:
    """Whether pods can come to a node."""
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)
