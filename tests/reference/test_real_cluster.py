"""`real_cluster` on a real kube-apiserver, with the suite that runs on all kinds of cluster.

It needs more than an API server: windvane's own controllers, scheduler and simulated node work on it, as its clients.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from reference.controlplane import ReferenceControlPlane
from windvane.client.client import Client
from windvane.cluster.components import components
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.network.addresses import SIMULATED, Addresses
from windvane.cluster.node.simulated.runtime import SimulatedRuntime
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.core import Namespace

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tests" / "integration" / "testing" / "test_any_cluster.py"


@asynccontextmanager
async def controllers_at_work(control_plane: ReferenceControlPlane) -> AsyncIterator[Client]:
    """Have the API server be that of a cluster in which things happen; a client of it."""
    async with Client.connect(kubeconfig=control_plane.kubeconfig) as client:
        agent = NodeAgent(client, "node-1", SimulatedRuntime(), addresses=Addresses(SIMULATED), api=("127.0.0.1", 443))
        work = [agent.run, *components(client, root_ca=control_plane.ca_file.read_text()).values()]
        tasks = [asyncio.ensure_future(run()) for run in work]
        try:
            yield client
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [each for each in ended if not isinstance(each, asyncio.CancelledError)]


async def test_the_suite_of_all_clusters_passes_on_a_real_api_server() -> None:
    with ReferenceControlPlane(service_accounts=True) as control_plane:
        async with controllers_at_work(control_plane) as client:
            pytest_of_theirs = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SUITE)]
            choice = ["--windvane-kubeconfig", str(control_plane.kubeconfig), "--windvane-allow", "reference"]
            process = await asyncio.create_subprocess_exec(
                *(*pytest_of_theirs, "-k", "real_cluster", *choice),
                cwd=ROOT,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            told = (await process.communicate())[0].decode()
            assert process.returncode == 0, told
            assert "skipped" not in told
            left = [each.metadata.name async for each in client.list(Namespace)]
            assert not [each for each in left if each.startswith("windvane-test-")]
            await client.get(CustomResourceDefinition, "sites.demo.windvane.dev")  # which stays
