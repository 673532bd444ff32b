"""`kubectl rollout` with the real kubectl, on a cluster as users start it, with pods that are simulated."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest

from e2e.clusters import embedded
from reference.controlplane import Programs
from windvane import Client
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.simulated.runtime import SimulatedRuntime

pytestmark = pytest.mark.reference

Kubectl = Callable[[str], Awaitable[str]]
DAEMONSET = """{
  "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
  "spec": {
    "selector": {"matchLabels": {"app": "web"}},
    "template": {
      "metadata": {"labels": {"app": "web"}},
      "spec": {"containers": [{"name": "web", "image": "web:1"}]}
    }
  }
}"""


@pytest.fixture
async def kubectl() -> AsyncIterator[Kubectl]:
    """kubectl on a cluster with one node; returns what it prints, whatever comes of it."""
    program = Programs.find().directory / "kubectl"
    with embedded() as kubeconfig:

        async def run(command: str) -> str:
            line, _, text = command.partition(" <<< ")
            process = await asyncio.create_subprocess_exec(
                program,
                f"--kubeconfig={kubeconfig}",
                *line.split(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await process.communicate(text.encode())
            return said.decode()

        async with Client.connect(kubeconfig=kubeconfig) as client:
            node = asyncio.get_running_loop().create_task(NodeAgent(client, "test-node", SimulatedRuntime()).run())
            yield run
            node.cancel()
            with suppress(asyncio.CancelledError):
                await node


async def done(kubectl: Kubectl, what: str) -> None:
    """Wait until kubectl says that a rollout has come to its end."""
    said = await kubectl(f"rollout status {what} --timeout=60s")
    assert "successfully rolled out" in said, said


def revisions(history: str) -> list[str]:
    """The numbers in what `kubectl rollout history` prints."""
    return [line.split()[0] for line in history.splitlines() if line[:1].isdigit()]


async def test_a_deployment_goes_forward_and_back(kubectl: Kubectl) -> None:
    image = "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"
    await kubectl("create deployment web --image=web:1 --replicas=3")
    await done(kubectl, "deployment/web")
    await kubectl("set image deployment/web web=web:2")
    await done(kubectl, "deployment/web")
    assert revisions(await kubectl("rollout history deployment/web")) == ["1", "2"]
    assert "rolled back" in await kubectl("rollout undo deployment/web")
    await done(kubectl, "deployment/web")
    assert await kubectl(image) == "web:1"
    assert revisions(await kubectl("rollout history deployment/web")) == ["2", "3"]
    await kubectl("rollout undo deployment/web --to-revision=2")
    await done(kubectl, "deployment/web")
    assert await kubectl(image) == "web:2"


async def test_a_deployment_is_restarted(kubectl: Kubectl) -> None:
    names = "get pods -o jsonpath={.items[*].metadata.name} --field-selector=status.phase=Running"
    await kubectl("create deployment web --image=web:1 --replicas=2")
    await done(kubectl, "deployment/web")
    before = set((await kubectl(names)).split())
    await kubectl("rollout restart deployment/web")
    await done(kubectl, "deployment/web")
    await kubectl("wait --for=delete --timeout=60s " + " ".join(f"pod/{name}" for name in before))
    after = set((await kubectl(names)).split())
    assert len(before) == len(after) == 2
    assert not before & after


async def test_a_paused_deployment_waits_until_it_is_resumed(kubectl: Kubectl) -> None:
    running = "get pods -o jsonpath={.items[*].spec.containers[0].image}"
    await kubectl("create deployment web --image=web:1")
    await done(kubectl, "deployment/web")
    assert "paused" in await kubectl("rollout pause deployment/web")
    await kubectl("set image deployment/web web=web:2")
    paused = '--for=jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=DeploymentPaused'
    assert "condition met" in await kubectl(f"wait deployment/web {paused} --timeout=60s")
    assert await kubectl(running) == "web:1"
    await kubectl("rollout resume deployment/web")
    await done(kubectl, "deployment/web")
    assert "web:2" in await kubectl(running)


async def test_a_rollout_that_gets_nowhere_is_an_error(kubectl: Kubectl) -> None:
    await kubectl("create deployment web --image=web:1")
    await done(kubectl, "deployment/web")
    patch = '{"spec":{"progressDeadlineSeconds":1,"template":{"spec":{"nodeSelector":{"no":"where"}}}}}'
    await kubectl(f"patch deployment web -p {patch}")
    assert "exceeded its progress deadline" in await kubectl("rollout status deployment/web --timeout=60s")


async def test_a_daemonset_goes_forward_and_back(kubectl: Kubectl) -> None:
    image = "get daemonset web -o jsonpath={.spec.template.spec.containers[0].image}"
    await kubectl(f"create -f - <<< {DAEMONSET}")
    await kubectl("wait --for=create node/test-node --timeout=60s")
    await done(kubectl, "daemonset/web")
    await kubectl("set image daemonset/web web=web:2")
    await done(kubectl, "daemonset/web")
    assert "rolled back" in await kubectl("rollout undo daemonset/web")
    await done(kubectl, "daemonset/web")
    assert await kubectl(image) == "web:1"
    assert revisions(await kubectl("rollout history daemonset/web")) == ["2", "3"]
