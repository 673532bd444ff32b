"""metrics.k8s.io: what real processes use of the machine."""

import asyncio
import json
from typing import Any

from integration.node.machine import NODE, is_ready, running
from integration.processes.machine import python, shell
from integration.streams.machine import StreamingMachine
from windvane import ambient
from windvane.client.transport import Request

ROOT = "/apis/metrics.k8s.io/v1beta1"
BUSY = "data = bytearray(100_000_000)\nprint('up')\nwhile True: pass"


async def get(machine: StreamingMachine, path: str) -> tuple[int, Any]:
    """What is answered at a path."""
    async with machine.transport.open(Request("GET", path)) as response:
        return response.code, json.loads(await response.read())


async def measured(machine: StreamingMachine) -> None:
    """Measure over a moment."""
    machine.kubelet.meter.measure()
    began = ambient.monotonic()
    await machine.until(lambda: ambient.monotonic() > began + 0.3)
    machine.kubelet.meter.measure()


async def test_a_busy_pod_uses_cpu_and_memory_and_an_idle_one_does_not(machine: StreamingMachine) -> None:
    await machine.create("busy", containers=[python(BUSY)])
    await machine.create("idle", containers=[shell("exec sleep 1000")])
    for name in ("busy", "idle"):
        await machine.status(is_ready, name)
    await machine.said("up", "busy")
    cpu = {"busy": 0, "idle": 0}
    async with asyncio.timeout(machine.patience):
        # For one moment others may have had the machine, and what is idle may not have been so yet.
        while not cpu["busy"] > 50_000_000 > cpu["idle"]:
            await measured(machine)
            code, listed = await get(machine, f"{ROOT}/namespaces/default/pods")
            assert (code, listed["kind"]) == (200, "PodMetricsList")
            used = {each["metadata"]["name"]: each["containers"][0]["usage"] for each in listed["items"]}
            cpu = {name: int(usage["cpu"].removesuffix("n")) for name, usage in used.items()}
    memory = {name: int(usage["memory"].removesuffix("Ki")) for name, usage in used.items()}
    assert memory["busy"] > 90_000 > memory["idle"]


async def test_a_node_uses_at_least_what_its_pods_do(machine: StreamingMachine) -> None:
    await machine.create(containers=[python(BUSY)])
    await machine.status(is_ready)
    await machine.said("up")
    await measured(machine)
    _, node = await get(machine, f"{ROOT}/nodes/{NODE}")
    _, pod = await get(machine, f"{ROOT}/namespaces/default/pods/web")
    assert node["kind"] == "NodeMetrics"
    assert pod["containers"][0]["name"] == "main"
    own = int(pod["containers"][0]["usage"]["memory"].removesuffix("Ki"))
    assert int(node["usage"]["memory"].removesuffix("Ki")) > own


async def test_of_a_simulated_pod_nothing_is_known(machine: StreamingMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "nobody.example/knows/this"}])
    await machine.status(running)
    await measured(machine)
    code, refused = await get(machine, f"{ROOT}/namespaces/default/pods/web")
    assert (code, refused["message"]) == (404, 'podmetrics.metrics.k8s.io "default/web" not found')
    assert (await get(machine, f"{ROOT}/pods"))[1]["items"] == []


async def test_a_simulated_pod_uses_what_its_annotation_says(machine: StreamingMachine) -> None:
    annotations = {"windvane.dev/simulate": "cpu=250m memory=64Mi"}
    containers = [{"name": "main", "image": "nobody.example/knows/this"}]
    await machine.create(containers=containers, annotations=annotations)
    await machine.status(running)
    _, pod = await get(machine, f"{ROOT}/namespaces/default/pods/web")
    assert pod["containers"] == [{"name": "main", "usage": {"cpu": "250000000n", "memory": "65536Ki"}}]
    await measured(machine)
    _, listed = await get(machine, f"{ROOT}/pods")
    assert [each["containers"] for each in listed["items"]] == [pod["containers"]]


async def test_the_group_is_served_only_while_there_is_a_node(machine: StreamingMachine) -> None:
    assert (await get(machine, "/apis/metrics.k8s.io"))[0] == 200
    machine.leave()
    code, groups = await get(machine, "/apis")
    assert code == 200
    assert "metrics.k8s.io" not in [each["name"] for each in groups["groups"]]
