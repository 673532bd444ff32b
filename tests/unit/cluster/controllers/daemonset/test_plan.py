"""What always holds while a DaemonSet is updated, whatever happens in it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windvane.api import codec
from windvane.cluster.controllers.daemonset.plan import (
    DaemonSetPlan,
    by_node,
    limits,
    node_of,
    placement,
    pod_for,
    tolerations,
    update,
)
from windvane.k8s.apps import DaemonSet
from windvane.k8s.core import Node, Pod, PodSpec, Toleration

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHARE = st.integers(0, 8) | st.integers(0, 100).map(lambda percent: f"{percent}%")


def daemonset(unavailable: int | str = 1, surge: int | str = 0, **spec: Any) -> DaemonSet:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge}}
    wire = {"selector": {}, "template": {"spec": {"containers": []} | spec}, "updateStrategy": strategy}
    return codec.from_wire({"metadata": {"name": "web", "namespace": "d", "uid": "u"}, "spec": wire}, DaemonSet)


def node(name: str) -> Node:
    return codec.from_wire({"metadata": {"name": name}}, Node)


@dataclass
class Cluster:
    """Nodes, and the pods of one DaemonSet, whose template changed from `old` to `new`."""

    ds: DaemonSet
    nodes: list[Node]
    pods: list[Pod] = field(default_factory=list)
    made: int = 0

    def make(self, where: str, word: str) -> Pod:
        self.made += 1
        pod = pod_for(self.ds, where, word)
        pod.metadata.name = pod.metadata.uid = f"{word}-{self.made}"
        pod.metadata.creation_timestamp = NOW + timedelta(seconds=self.made)
        pod.status.phase = "Pending"
        self.pods.append(pod)
        return pod

    def step(self) -> DaemonSetPlan:
        """What the controller does."""
        there = by_node(self.pods)
        plan = placement(self.ds, self.nodes, there, "new", NOW, lambda pod: True)
        plan = plan or update(self.ds, self.nodes, there, "new", NOW)
        for pod in plan.delete:
            pod.metadata.deletion_timestamp = NOW
        for name in plan.create:
            self.make(name, "new")
        return plan

    def become_ready(self, pod: Pod) -> None:
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        pod.status = codec.from_wire(ready, type(pod.status))

    def go(self, pod: Pod) -> None:
        """What the node does with a pod that is being deleted."""
        if pod.metadata.deletion_timestamp is not None:
            self.pods.remove(pod)

    def check(self) -> None:
        allowed = limits(self.ds, len(self.nodes))
        there = {
            name: [each for each in pods if each.metadata.deletion_timestamp is None]
            for name, pods in by_node(self.pods).items()
        }
        available = sum(any(each.status.phase == "Running" for each in pods) for pods in there.values())
        assert available >= len(self.nodes) - (0 if allowed.surge else allowed.unavailable)
        assert sum(len(pods) > 1 for pods in there.values()) <= allowed.surge
        assert all(len(pods) <= 2 for pods in there.values())


@given(st.integers(0, 5), SHARE, SHARE, st.data())
def test_a_rolling_update_keeps_its_limits_and_ends(
    count: int, unavailable: int | str, surge: int | str, data: st.DataObject
) -> None:
    cluster = Cluster(daemonset(unavailable, surge), [node(f"node-{number}") for number in range(count)])
    for each in cluster.nodes:
        cluster.become_ready(cluster.make(each.metadata.name, "old"))
    for action in data.draw(st.lists(st.integers(0, 2), max_size=30), "what happens"):
        if action == 0:
            cluster.step()
        elif cluster.pods:
            pod = data.draw(st.sampled_from(cluster.pods))
            (cluster.become_ready if action == 1 else cluster.go)(pod)
        cluster.check()
    for _ in range(4 * count + 4):  # and now all is done by turns
        for pod in list(cluster.pods):
            cluster.become_ready(pod)
            cluster.go(pod)
        if not cluster.step():
            break
        cluster.check()
    assert [node_of(each) for each in sorted(cluster.pods, key=lambda each: node_of(each) or "")] == [
        each.metadata.name for each in cluster.nodes
    ]
    assert {each.metadata.labels["controller-revision-hash"] for each in cluster.pods} <= {"new"}


def test_what_the_template_tolerates_is_kept_and_not_said_twice() -> None:
    own = Toleration(key="gpu", operator="Exists")
    again = Toleration(key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute", toleration_seconds=5)
    found = tolerations(PodSpec(containers=[], tolerations=[own, again]))
    assert found[0] == own
    assert [each for each in found if each.key == again.key] == [
        Toleration(key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute")
    ]


def test_a_pod_in_the_network_of_its_node_need_not_wait_for_the_network_of_pods() -> None:
    keys = [each.key for each in tolerations(PodSpec(containers=[], host_network=True))]
    assert "node.kubernetes.io/network-unavailable" in keys


def test_what_a_template_prefers_of_nodes_is_kept_and_what_it_requires_is_replaced() -> None:
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}]
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "b", "operator": "Exists"}]}]}
    affinity = {
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        "requiredDuringSchedulingIgnoredDuringExecution": required,
    }
    made = pod_for(daemonset(affinity={"nodeAffinity": affinity, "podAffinity": {}}), "one", "hash")
    field_ = {"key": "metadata.name", "operator": "In", "values": ["one"]}
    assert codec.to_wire(made.spec.affinity) == {
        "podAffinity": {},
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field_]}]},
        },
    }
