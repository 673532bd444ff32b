"""Nodes that are lost: what is said of them, which taints they get, and which pods leave when."""

from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.services import NODE, node, running_pod
from integration.controllers.workloads import pod
from windvane import ambient
from windvane.api import codec
from windvane.api.meta import ObjectMeta
from windvane.api.time import MicroTime
from windvane.client.errors import AlreadyExists, NotFound
from windvane.k8s.coordination import Lease, LeaseSpec
from windvane.k8s.core import Event, Node, Pod

OTHER = "node-2"
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


async def beat(cluster: Cluster, name: str = NODE) -> None:
    """Play the node: say that it is alive."""
    spec = LeaseSpec(holder_identity=name, lease_duration_seconds=40, renew_time=MicroTime.of(ambient.now()))
    lease = Lease(metadata=ObjectMeta(name=name, namespace="kube-node-lease"), spec=spec)
    try:
        await cluster.admin.create(lease)
    except AlreadyExists:
        renewed = {"spec": {"renewTime": MicroTime.of(ambient.now()).to_wire()}}
        await cluster.admin.patch(Lease, name, renewed, namespace="kube-node-lease")


async def say_ready(cluster: Cluster, name: str = NODE, status: str = "True") -> None:
    now = ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {"type": "Ready", "status": status, "lastHeartbeatTime": now, "lastTransitionTime": now}
    await cluster.admin.patch(Node, name, {"status": {"conditions": [condition]}}, subresource="status")


async def ready_node(cluster: Cluster, name: str = NODE, *, alive: bool = False) -> None:
    """A node that is ready; if it is alive, it stays so."""
    await node(cluster, name)
    await say_ready(cluster, name)
    await beat(cluster, name)
    if alive:

        async def live() -> None:
            while True:
                await ambient.sleep(10)
                await beat(cluster, name)

        cluster.start(live())
    await cluster.settled()


async def the(cluster: Cluster, name: str = NODE) -> Node:
    await cluster.settled()
    return await cluster.admin.get(Node, name)


async def readiness(cluster: Cluster, name: str = NODE) -> str:
    return next((each.status for each in (await the(cluster, name)).status.conditions if each.type == "Ready"), "")


async def taints(cluster: Cluster, name: str = NODE) -> set[tuple[str, str]]:
    return {(each.key, each.effect) for each in (await the(cluster, name)).spec.taints}


async def is_gone(cluster: Cluster, name: str) -> bool:
    """Whether a pod was deleted; its node is silent, so it may still be there."""
    try:
        there = await cluster.admin.get(Pod, name, namespace="default")
    except NotFound:
        return True
    return there.metadata.deletion_timestamp is not None


async def test_a_node_that_renews_its_lease_stays_ready(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await ambient.sleep(300)
    assert await readiness(cluster) == "True"
    assert await taints(cluster) == set()


async def test_a_node_that_is_silent_is_unknown_after_fifty_seconds(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ambient.sleep(45)
    assert await readiness(cluster) == "True"
    await ambient.sleep(10)
    there = await the(cluster)
    told = {each.type: (each.status, each.reason, each.message) for each in there.status.conditions}
    assert told["Ready"] == ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    assert told["DiskPressure"] == ("Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status.")
    events = [each.message for each in await cluster.list(Event) if each.reason == "NodeNotReady"]
    assert events == ["Node node-1 status is now: NodeNotReady"]


async def test_a_node_that_never_said_anything_is_unknown_after_a_minute(cluster: Cluster) -> None:
    await node(cluster)
    await ambient.sleep(55)
    assert await readiness(cluster) == ""
    await ambient.sleep(10)
    assert await readiness(cluster) == "Unknown"


async def test_a_lost_node_takes_no_more_pods(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ambient.sleep(60)
    assert (UNREACHABLE, "NoSchedule") in await taints(cluster)


async def test_a_lost_node_makes_pods_leave_if_there_is_another(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ready_node(cluster, OTHER, alive=True)
    await ambient.sleep(60)
    assert await taints(cluster) == {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}
    assert await taints(cluster, OTHER) == set()


async def test_if_all_nodes_are_lost_no_pod_leaves(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ready_node(cluster, OTHER)
    await running_pod(cluster, "a")
    await ambient.sleep(900)
    assert await taints(cluster) == {(UNREACHABLE, "NoSchedule")}
    assert not await is_gone(cluster, "a")


async def test_a_node_that_comes_back_loses_its_taints(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ready_node(cluster, OTHER, alive=True)
    await ambient.sleep(60)
    assert len(await taints(cluster)) == 2
    await say_ready(cluster)
    await beat(cluster)
    assert await taints(cluster) == set()


async def test_a_node_that_says_that_it_is_not_ready_is_tainted_otherwise(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await ready_node(cluster, OTHER, alive=True)
    await say_ready(cluster, status="False")
    assert await taints(cluster) == {(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")}


async def test_a_new_node_is_not_tainted_for_ever(cluster: Cluster) -> None:
    tainted = {"metadata": {"name": NODE}, "spec": {"taints": [{"key": NOT_READY, "effect": "NoSchedule"}]}}
    await cluster.admin.create(codec.from_wire(tainted, Node))
    await say_ready(cluster)
    await beat(cluster)
    assert await taints(cluster) == set()


@pytest.mark.parametrize(
    ("condition", "key"),
    [
        ("MemoryPressure", "node.kubernetes.io/memory-pressure"),
        ("DiskPressure", "node.kubernetes.io/disk-pressure"),
        ("PIDPressure", "node.kubernetes.io/pid-pressure"),
        ("NetworkUnavailable", "node.kubernetes.io/network-unavailable"),
    ],
)
async def test_other_conditions_keep_new_pods_off(cluster: Cluster, condition: str, key: str) -> None:
    await ready_node(cluster, alive=True)
    told = {"status": {"conditions": [{"type": condition, "status": "True"}]}}
    await cluster.admin.patch(Node, NODE, told, subresource="status", type="strategic")
    assert await taints(cluster) == {(key, "NoSchedule")}


async def test_a_cordoned_node_is_tainted(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await cluster.admin.patch(Node, NODE, {"spec": {"unschedulable": True}})
    assert await taints(cluster) == {("node.kubernetes.io/unschedulable", "NoSchedule")}
    await cluster.admin.patch(Node, NODE, {"spec": {"unschedulable": None}})
    assert await taints(cluster) == set()


async def test_taints_of_others_stay(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    theirs = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    await cluster.admin.patch(Node, NODE, {"spec": {"taints": theirs, "unschedulable": True}})
    assert ("dedicated", "NoSchedule") in await taints(cluster)
    await cluster.admin.patch(Node, NODE, {"spec": {"unschedulable": None}})
    assert await taints(cluster) == {("dedicated", "NoSchedule")}


# Pods


async def test_pods_of_a_lost_node_are_not_ready(cluster: Cluster) -> None:
    await ready_node(cluster)
    await running_pod(cluster, "a")
    await ambient.sleep(60)
    there = await cluster.admin.get(Pod, "a", namespace="default")
    assert [each.status for each in there.status.conditions if each.type == "Ready"] == ["False"]


async def test_a_node_that_was_only_late_is_not_contradicted(cluster: Cluster) -> None:
    await ready_node(cluster)
    await running_pod(cluster, "a")
    await ambient.sleep(60)
    await cluster.make_ready(await cluster.admin.get(Pod, "a", namespace="default"))
    await cluster.settled()
    there = await cluster.admin.get(Pod, "a", namespace="default")
    assert [each.status for each in there.status.conditions if each.type == "Ready"] == ["True"]


async def test_pods_of_a_node_that_is_lost_again_are_not_ready_again(cluster: Cluster) -> None:
    await ready_node(cluster)
    await running_pod(cluster, "a")
    await ambient.sleep(60)
    await say_ready(cluster)
    await cluster.make_ready(await cluster.admin.get(Pod, "a", namespace="default"))
    await ambient.sleep(60)
    there = await cluster.admin.get(Pod, "a", namespace="default")
    assert [each.status for each in there.status.conditions if each.type == "Ready"] == ["False"]


async def test_pods_leave_a_lost_node_after_five_minutes(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ready_node(cluster, OTHER, alive=True)
    await running_pod(cluster, "a")
    await ambient.sleep(300)
    assert not await is_gone(cluster, "a")
    await ambient.sleep(70)
    assert await is_gone(cluster, "a")
    there = await cluster.admin.get(Pod, "a", namespace="default")
    [target] = [each for each in there.status.conditions if each.type == "DisruptionTarget"]
    assert (target.reason, target.message) == (
        "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
    )  # fmt: skip


async def test_pods_stay_if_the_node_comes_back_in_time(cluster: Cluster) -> None:
    await ready_node(cluster)
    await ready_node(cluster, OTHER, alive=True)
    await running_pod(cluster, "a")
    await ambient.sleep(200)
    await say_ready(cluster)

    async def live() -> None:
        while True:
            await beat(cluster)
            await ambient.sleep(10)

    cluster.start(live())
    await ambient.sleep(600)
    assert not await is_gone(cluster, "a")


def tolerating(seconds: int | None) -> list[dict[str, Any]]:
    told: dict[str, Any] = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute"}
    return [told if seconds is None else told | {"tolerationSeconds": seconds}]


async def test_a_taint_makes_pods_leave_each_in_its_time(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await running_pod(cluster, "at-once")
    await running_pod(cluster, "soon", tolerations=tolerating(60))
    await running_pod(cluster, "never", tolerations=tolerating(None))
    await cluster.admin.patch(Node, NODE, {"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}})
    await cluster.settled()
    left = [await is_gone(cluster, each) for each in ("at-once", "soon", "never")]
    assert left == [True, False, False]
    await ambient.sleep(65)
    left = [await is_gone(cluster, each) for each in ("at-once", "soon", "never")]
    assert left == [True, True, False]


async def test_a_taint_that_goes_in_time_makes_nobody_leave(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await running_pod(cluster, "a", tolerations=tolerating(60))
    await cluster.admin.patch(Node, NODE, {"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}})
    await ambient.sleep(30)
    await cluster.admin.patch(Node, NODE, {"spec": {"taints": []}})
    await ambient.sleep(120)
    assert not await is_gone(cluster, "a")


async def test_taints_that_only_keep_off_make_nobody_leave(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await running_pod(cluster, "a")
    await cluster.admin.patch(Node, NODE, {"spec": {"taints": [{"key": "busy", "effect": "NoSchedule"}]}})
    await ambient.sleep(60)
    assert not await is_gone(cluster, "a")


async def test_pods_that_go_are_removed_from_a_node_out_of_service(cluster: Cluster) -> None:
    await ready_node(cluster)
    await running_pod(cluster, "a")
    await ambient.sleep(60)
    await cluster.admin.delete(Pod, "a")
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    there = [codec.to_wire(each) for each in (await the(cluster)).spec.taints]
    await cluster.admin.patch(Node, NODE, {"spec": {"taints": [*there, taint]}})
    await cluster.settled()
    assert await cluster.list(Pod) == []


# Nodes that are gone


async def test_pods_of_a_deleted_node_are_removed(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await running_pod(cluster, "a")
    await cluster.admin.patch(Pod, "a", {"metadata": {"finalizers": ["a.example/x"]}})
    await cluster.admin.delete(Node, NODE)
    await ambient.sleep(30)
    assert not await is_gone(cluster, "a")
    await ambient.sleep(20)
    there = await cluster.admin.get(Pod, "a", namespace="default")
    assert there.metadata.deletion_timestamp is not None
    assert there.status.phase == "Failed"
    [target] = [each for each in there.status.conditions if each.type == "DisruptionTarget"]
    assert (target.reason, target.message) == ("DeletionByPodGC", "PodGC: node no longer exists")


async def test_pods_of_a_node_that_comes_back_stay(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await running_pod(cluster, "a")
    await cluster.admin.delete(Node, NODE)
    await ambient.sleep(30)
    await node(cluster)
    await say_ready(cluster)
    await ambient.sleep(45)
    assert not await is_gone(cluster, "a")


async def test_a_node_that_is_gone_again_is_waited_for_again(cluster: Cluster) -> None:
    await ready_node(cluster, alive=True)
    await running_pod(cluster, "a")
    await cluster.admin.delete(Node, NODE)
    await ambient.sleep(50)
    assert await is_gone(cluster, "a")
    await node(cluster)
    await running_pod(cluster, "b")
    await cluster.settled()
    await cluster.admin.delete(Node, NODE)
    await ambient.sleep(30)
    assert not await is_gone(cluster, "b")
    await ambient.sleep(20)
    assert await is_gone(cluster, "b")


async def test_a_pod_on_a_node_that_there_never_was_is_removed(cluster: Cluster) -> None:
    await running_pod(cluster, "a")
    await ambient.sleep(50)
    assert await cluster.list(Pod) == []


async def test_a_pod_that_waits_for_a_node_stays(cluster: Cluster) -> None:
    await cluster.admin.create(pod("a"))
    await ambient.sleep(300)
    assert not await is_gone(cluster, "a")
