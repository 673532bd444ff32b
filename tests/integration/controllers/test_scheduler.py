"""The scheduler: every pod gets a node that can take it, or its status says why there is none."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from integration.runtime.world import World
from windvane import ObjectMeta, ambient
from windvane.api import codec
from windvane.client.errors import NotFound
from windvane.cluster.controllers.scheduler.controller import Scheduler
from windvane.k8s.core import Event, Namespace, Node, NodeSpec, NodeStatus, PersistentVolumeClaim, Pod, PodSpec
from windvane.k8s.scheduling import PriorityClass

ZONE = "topology.kubernetes.io/zone"


class Nodes(World):
    """An API server with a scheduler, and nodes that nobody runs pods on."""

    async def begin(self) -> None:
        await self.server.start()
        scheduler = Scheduler(self.client())
        self.start(scheduler.run())
        await self.until(lambda: scheduler.running.synced)

    async def node(self, name: str, *, cpu: str = "4", labels: dict[str, str] | None = None, **spec: Any) -> None:
        meta = ObjectMeta(name=name, labels={"kubernetes.io/hostname": name, **(labels or {})})
        allocatable = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
        status = codec.from_wire({"allocatable": allocatable, "capacity": allocatable}, NodeStatus)
        await self.admin.create(Node(metadata=meta, spec=codec.from_wire(spec, NodeSpec)))
        await self.admin.patch(Node, name, {"status": codec.to_wire(status)}, subresource="status")
        # The real server keeps pods off a new node until its agent says that it is ready; ours has no such taint yet.
        await self.admin.patch(Node, name, {"spec": {"taints": codec.to_wire(spec.get("taints")) or None}})

    async def pod(self, name: str, *, cpu: str = "", labels: dict[str, str] | None = None, **spec: Any) -> None:
        container: dict[str, Any] = {"name": "main", "image": "nginx"}
        if cpu:
            container["resources"] = {"requests": {"cpu": cpu}}
        meta = ObjectMeta(name=name, namespace="default", labels=labels or {})
        wire = {"containers": [container], **spec}
        await self.admin.create(Pod(metadata=meta, spec=codec.from_wire(wire, PodSpec)))

    async def where(self, name: str) -> str:
        """The node of a pod, once it has one."""
        for _ in range(200):
            if node := (await self.admin.get(Pod, name)).spec.node_name:
                return node
            await ambient.sleep(0.1)
        raise AssertionError(f"{name} has no node: {await self.why(name)}")

    async def why(self, name: str) -> str:
        """Why a pod has no node, once that is said."""
        for _ in range(100):
            pod = await self.admin.get(Pod, name)
            said = [each.message or "" for each in pod.status.conditions if each.type == "PodScheduled"]
            if said:
                return said[0]
            await ambient.sleep(0.1)
        raise AssertionError(f"nobody says why {name} has no node")


@pytest.fixture
async def nodes() -> AsyncIterator[Nodes]:
    nodes = Nodes()
    await nodes.begin()
    yield nodes
    await nodes.close()


async def test_a_pod_gets_the_only_node(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.pod("web")
    assert await nodes.where("web") == "a"
    pod = await nodes.admin.get(Pod, "web")
    assert [(each.type, each.status) for each in pod.status.conditions] == [("PodScheduled", "True")]
    events = [each for each in await nodes.admin.list(Event, namespace="default") if each.reason == "Scheduled"]
    assert [each.message for each in events] == ["Successfully assigned default/web to a"]
    assert [each.reporting_component for each in events] == ["default-scheduler"]


async def test_without_nodes_a_pod_waits_until_there_is_one(nodes: Nodes) -> None:
    await nodes.pod("web")
    assert await nodes.why("web") == "no nodes available to schedule pods"
    await nodes.node("a")
    assert await nodes.where("web") == "a"


async def test_a_pod_that_has_a_node_keeps_it(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.pod("web", nodeName="elsewhere")
    await nodes.pod("next")
    assert await nodes.where("next") == "a"
    assert await nodes.where("web") == "elsewhere"


async def test_a_pod_of_another_scheduler_is_left_alone(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.pod("web", schedulerName="mine")
    await nodes.pod("next")
    await nodes.where("next")
    assert (await nodes.admin.get(Pod, "web")).spec.node_name is None


async def test_a_gated_pod_waits_for_its_gates(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.pod("web", schedulingGates=[{"name": "example.com/quota"}])
    assert "non-empty scheduling gates" in await nodes.why("web")
    await nodes.admin.patch(Pod, "web", {"spec": {"schedulingGates": None}})
    assert await nodes.where("web") == "a"


async def test_the_node_selector_is_respected(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.node("b", labels={"disk": "ssd"})
    await nodes.pod("web", nodeSelector={"disk": "ssd"})
    assert await nodes.where("web") == "b"
    await nodes.pod("odd", nodeSelector={"disk": "tape"})
    assert (await nodes.why("odd")).startswith(
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
    )
    await nodes.admin.patch(Node, "a", {"metadata": {"labels": {"disk": "tape"}}})
    assert await nodes.where("odd") == "a"


async def test_a_preferred_node_is_taken_if_it_can_be(nodes: Nodes) -> None:
    await nodes.node("a", cpu="1", labels={"disk": "ssd"})
    await nodes.node("b", cpu="64")
    prefers = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
            ]
        }
    }
    await nodes.pod("small", cpu="1", affinity=prefers)
    assert await nodes.where("small") == "a"
    await nodes.pod("late", cpu="1", affinity=prefers)
    assert await nodes.where("late") == "b"


async def test_a_taint_keeps_pods_off_that_do_not_tolerate_it(nodes: Nodes) -> None:
    await nodes.node("a", taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])
    await nodes.pod("web")
    assert (await nodes.why("web")).startswith("0/1 nodes are available: 1 node(s) had untolerated taint(s).")
    await nodes.pod("gpu", tolerations=[{"key": "gpu", "operator": "Equal", "value": "yes"}])
    assert await nodes.where("gpu") == "a"


async def test_a_cordoned_node_takes_no_pods(nodes: Nodes) -> None:
    await nodes.node("a", unschedulable=True)
    await nodes.pod("web")
    assert (await nodes.why("web")).startswith("0/1 nodes are available: 1 node(s) were unschedulable.")
    await nodes.admin.patch(Node, "a", {"spec": {"unschedulable": None}})
    assert await nodes.where("web") == "a"


async def test_a_full_node_takes_no_more(nodes: Nodes) -> None:
    await nodes.node("a", cpu="2")
    await nodes.pod("first", cpu="1500m")
    await nodes.where("first")
    await nodes.pod("second", cpu="600m")
    assert await nodes.why("second") == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims "
        "found for incoming pod."
    )
    await nodes.admin.delete(Pod, "first", grace_period=0)
    assert await nodes.where("second") == "a"


async def test_a_resized_pod_takes_what_it_asks_for_or_still_has(nodes: Nodes) -> None:
    async def resize(cpu: str, *, told: str) -> None:
        asked, has = ({"requests": {"cpu": amount}} for amount in (cpu, told))
        patch = {"spec": {"containers": [{"name": "main", "resources": asked}]}}
        await nodes.admin.patch(Pod, "first", patch, subresource="resize", type="strategic")
        common = {"name": "main", "image": "nginx", "imageID": "", "ready": True, "restartCount": 0}
        status = {"containerStatuses": [{**common, "resources": has, "allocatedResources": has["requests"]}]}
        await nodes.admin.patch(Pod, "first", {"status": status}, subresource="status")

    await nodes.node("a")
    await nodes.pod("first", cpu="1")
    assert await nodes.where("first") == "a"
    await resize("3", told="1")
    await nodes.pod("second", cpu="2")
    assert "Insufficient cpu" in await nodes.why("second")
    await resize("1", told="3")
    await nodes.pod("third", cpu="2")
    assert "Insufficient cpu" in await nodes.why("third")
    await nodes.admin.delete(Pod, "third")
    await resize("1", told="1")
    assert await nodes.where("second") == "a"


async def test_many_at_once_never_take_more_than_there_is(nodes: Nodes) -> None:
    await nodes.node("a", cpu="3")
    await nodes.node("b", cpu="2")
    for number in range(8):
        await nodes.pod(f"p{number}", cpu="1")
    await nodes.until(lambda: True)
    await ambient.sleep(30)
    placed = [each.spec.node_name for each in await nodes.admin.list(Pod, namespace="default")]
    assert (placed.count("a"), placed.count("b"), placed.count(None)) == (3, 2, 3)


async def test_a_node_has_room_for_so_many_pods(nodes: Nodes) -> None:
    await nodes.node("a")
    for number in range(10):
        await nodes.pod(f"p{number}")
    await nodes.pod("eleventh")
    assert "1 Too many pods" in await nodes.why("eleventh")


async def test_a_finished_pod_takes_nothing(nodes: Nodes) -> None:
    await nodes.node("a", cpu="1")
    await nodes.pod("job", cpu="1")
    await nodes.where("job")
    await nodes.pod("next", cpu="1")
    await nodes.why("next")
    await nodes.admin.patch(Pod, "job", {"status": {"phase": "Succeeded"}}, subresource="status")
    assert await nodes.where("next") == "a"


async def test_copies_are_spread(nodes: Nodes) -> None:
    for name in ("a", "b", "c"):
        await nodes.node(name)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    for number in range(3):
        meta = codec.from_wire(
            {"name": f"web-{number}", "namespace": "default", "ownerReferences": [owner]}, ObjectMeta
        )
        spec = codec.from_wire({"containers": [{"name": "main", "image": "nginx"}]}, PodSpec)
        await nodes.admin.create(Pod(metadata=meta, spec=spec))
    assert {await nodes.where(f"web-{number}") for number in range(3)} == {"a", "b", "c"}


def apart(key: str = "kubernetes.io/hostname") -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def together(key: str = "kubernetes.io/hostname") -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": key}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


async def test_pods_that_want_to_be_apart_are(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.node("b")
    for name in ("db-0", "db-1"):
        await nodes.pod(name, labels={"app": "db"}, affinity=apart())
    assert {await nodes.where("db-0"), await nodes.where("db-1")} == {"a", "b"}
    await nodes.pod("db-2", labels={"app": "db"}, affinity=apart())
    assert "2 node(s) didn't match pod anti-affinity rules" in await nodes.why("db-2")


async def test_a_pod_keeps_off_others_that_do_not_mind(nodes: Nodes) -> None:
    await nodes.node("a")
    await nodes.pod("alone", affinity=apart())
    await nodes.where("alone")
    await nodes.pod("db", labels={"app": "db"})
    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in await nodes.why("db")


async def test_pods_that_want_to_be_together_are(nodes: Nodes) -> None:
    await nodes.node("a", labels={ZONE: "x"})
    await nodes.node("b", labels={ZONE: "y"})
    await nodes.pod("web", affinity=together(ZONE))
    assert "2 node(s) didn't match pod affinity rules" in await nodes.why("web")
    await nodes.pod("db", labels={"app": "db"}, affinity=together(ZONE))  # the first of its group
    there = await nodes.where("db")
    assert await nodes.where("web") == there


async def test_zones_are_kept_even(nodes: Nodes) -> None:
    for name, zone in {"a": "x", "b": "x", "c": "y"}.items():
        await nodes.node(name, labels={ZONE: zone})
    rule = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "db"}},
    }
    for number in range(4):
        await nodes.pod(f"db-{number}", labels={"app": "db"}, topologySpreadConstraints=[rule])
        await nodes.where(f"db-{number}")
    assert [await nodes.where(f"db-{number}") for number in range(4)].count("c") == 2


async def test_a_port_of_the_node_is_given_once(nodes: Nodes) -> None:
    await nodes.node("a")
    port = {"containerPort": 80, "hostPort": 8080}
    for name in ("first", "second"):
        await nodes.pod(name, containers=[{"name": "main", "image": "nginx", "ports": [port]}])
    await nodes.where("first")
    assert "1 node(s) didn't have free ports for the requested pod ports" in await nodes.why("second")


async def test_a_pod_waits_for_its_volume(nodes: Nodes) -> None:
    await nodes.node("a")
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    await nodes.pod("db", volumes=[volume])
    assert await nodes.why("db") == 'persistentvolumeclaim "data" not found'
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await nodes.admin.create(codec.from_wire({"metadata": {"name": "data"}, "spec": spec}, PersistentVolumeClaim))
    await nodes.admin.patch(PersistentVolumeClaim, "data", {"spec": {"volumeName": "pv-1"}})
    assert await nodes.where("db") == "a"


async def test_the_more_important_pod_takes_the_place_of_a_less_important_one(nodes: Nodes) -> None:
    for name, value in {"high": 1000, "low": 1}.items():
        await nodes.admin.create(PriorityClass(metadata=ObjectMeta(name=name), value=value))
    await nodes.node("a", cpu="2")
    await nodes.pod("cheap", cpu="1", priorityClassName="low")
    await nodes.pod("dear", cpu="1", priorityClassName="high")
    assert [await nodes.where("cheap"), await nodes.where("dear")] == ["a", "a"]
    await nodes.pod("vital", cpu="1", priorityClassName="high")
    while (await nodes.admin.get(Pod, "cheap")).metadata.deletion_timestamp is None:
        await ambient.sleep(0.1)
    assert (await nodes.admin.get(Pod, "vital")).status.nominated_node_name == "a"
    await nodes.admin.delete(Pod, "cheap", grace_period=0)  # what its node does when it has ended
    assert await nodes.where("vital") == "a"
    assert (await nodes.admin.get(Pod, "dear")).metadata.deletion_timestamp is None


async def test_a_pod_that_never_preempts_waits(nodes: Nodes) -> None:
    meek = PriorityClass(metadata=ObjectMeta(name="meek"), value=1000, preemption_policy="Never")
    await nodes.admin.create(meek)
    await nodes.node("a", cpu="1")
    await nodes.pod("cheap", cpu="1")
    await nodes.where("cheap")
    await nodes.pod("meek", cpu="1", priorityClassName="meek")
    await nodes.why("meek")
    assert (await nodes.admin.get(Pod, "cheap")).metadata.deletion_timestamp is None


async def test_the_most_important_of_those_who_wait_comes_first(nodes: Nodes) -> None:
    for name, value in {"high": 1000, "low": 1}.items():
        await nodes.admin.create(PriorityClass(metadata=ObjectMeta(name=name), value=value))
    await nodes.pod("cheap", cpu="1", priorityClassName="low")
    await nodes.pod("dear", cpu="1", priorityClassName="high")
    await nodes.why("cheap")
    await nodes.why("dear")
    await nodes.node("a", cpu="1")
    assert await nodes.where("dear") == "a"
    assert (await nodes.admin.get(Pod, "cheap")).spec.node_name is None


async def test_another_pod_of_the_same_name_is_placed_anew(nodes: Nodes) -> None:
    await nodes.node("a", cpu="1")
    for _ in range(3):
        await nodes.pod("web", cpu="1")
        assert await nodes.where("web") == "a"
        await nodes.admin.delete(Pod, "web", grace_period=0)
        with pytest.raises(NotFound):
            await nodes.admin.get(Pod, "web")


async def test_namespaces_that_a_term_selects_count(nodes: Nodes) -> None:
    await nodes.admin.create(Namespace(metadata=ObjectMeta(name="other", labels={"team": "db"})))
    await nodes.node("a")
    await nodes.node("b")
    meta = ObjectMeta(name="db", namespace="other", labels={"app": "db"})
    spec = codec.from_wire({"containers": [{"name": "main", "image": "x"}], "nodeName": "a"}, PodSpec)
    await nodes.admin.create(Pod(metadata=meta, spec=spec))
    wish = apart()
    term = wish["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    term["namespaceSelector"] = {"matchLabels": {"team": "db"}}
    await nodes.pod("web", affinity=wish)
    assert await nodes.where("web") == "b"
