"""Resizes of pods that run, on a node that has only so much."""

from typing import Any

from integration.node.machine import Machine, conditions, is_ready
from windvane.api.quantity import Quantity
from windvane.cluster.node.simulated.runtime import SimulatedRuntime
from windvane.k8s.core import Pod


def container(cpu: str | int, **more: Any) -> dict[str, Any]:
    return {"name": "main", "image": "x", "resources": {"requests": {"cpu": str(cpu)}}, **more}


async def resize(machine: Machine, cpu: str | int) -> None:
    patch = {"spec": {"containers": [container(cpu)]}}
    await machine.admin.patch(Pod, "web", patch, namespace="default", subresource="resize", type="strategic")


def has(status: Any, cpu: str | int) -> bool:
    """Whether a pod tells that its container has this much."""
    [told] = status.container_statuses
    return told.state.running is not None and told.resources.requests["cpu"] == Quantity(cpu)


async def test_a_pod_is_resized_where_it_runs(machine: Machine) -> None:
    await machine.create(containers=[container("100m")])
    before = await machine.status(is_ready)
    await resize(machine, "200m")
    status = await machine.status(lambda status: has(status, "200m"))
    [told] = status.container_statuses
    assert told.allocated_resources == {"cpu": Quantity("200m")}
    assert told.container_id == before.container_statuses[0].container_id
    assert conditions(status) == conditions(before)
    assert status.observed_generation == 2
    said = await machine.events()
    assert {"ResizeStarted", "ResizeCompleted"} <= {reason for reason, _ in said}


async def test_a_container_is_started_anew_for_it_if_it_says_so(machine: Machine) -> None:
    policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    await machine.create(containers=[container("100m", resizePolicy=policy)])
    await machine.status(is_ready)
    await resize(machine, "200m")
    status = await machine.status(lambda status: has(status, "200m"))
    assert status.container_statuses[0].restart_count == 1
    await machine.status(is_ready)


async def test_a_resize_waits_until_there_is_room_also_with_another_agent(machine: Machine) -> None:
    all_of_it = int(machine.agent._registration.resources["cpu"])
    await machine.create(containers=[container("100m")])
    await machine.create("other", containers=[container("500m")])
    await machine.status(is_ready)
    await machine.status(is_ready, "other")
    await resize(machine, all_of_it)
    status = await machine.status(lambda status: "PodResizePending" in conditions(status))
    [condition] = [each for each in status.conditions if each.type == "PodResizePending"]
    capacity = all_of_it * 1000
    assert condition.reason == "Deferred"
    assert condition.message == (
        f"Node didn't have enough resource: cpu, requested: {capacity}, used: 500, capacity: {capacity}"
    )
    assert has(status, "100m")
    machine._tasks.pop().cancel()
    machine.start_agent(SimulatedRuntime())
    await machine.until(lambda: len(machine.agent.pods) == 2)
    assert (await machine.get()).status.conditions == status.conditions
    await machine.admin.delete(Pod, "other", namespace="default", grace_period=0)
    status = await machine.status(lambda status: has(status, all_of_it))
    assert "PodResizePending" not in conditions(status)
