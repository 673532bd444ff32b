"""Where the pods of a DaemonSet should be, and which of them are made and deleted next: one on each node that fits.

Pods are meant for a node from the start, by an affinity to its name, and the scheduler puts them there. What is decided
here is decided node by node; only a rolling update looks at all nodes together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from windvane import IntOrString, ObjectMeta, scaled_value
from windvane.cluster.controllers.scheduler.node_fit import NAME_FIELD, is_wanted_on, keeps_off
from windvane.cluster.controllers.workloads.controller_revisions import REVISION_HASH
from windvane.cluster.controllers.workloads.pod_state import is_available, is_finished, is_ready
from windvane.cluster.controllers.workloads.pod_template import pod_from
from windvane.k8s.apps import DaemonSet, DaemonSetStatus
from windvane.k8s.core import (
    Affinity,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    PodTemplateSpec,
    Toleration,
)

GENERATION = "deprecated.daemonset.template.generation"
"""The annotation in which the server counts templates."""
POD_GENERATION = "pod-template-generation"

PodsByNode = Mapping[str, Sequence[Pod]]


# Pods


def tolerations(spec: PodSpec) -> list[Toleration]:
    """What a daemon pod does not mind: what its template says, and most of what can be wrong with a node."""
    always = [
        Toleration(key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute"),
        Toleration(key="node.kubernetes.io/unreachable", operator="Exists", effect="NoExecute"),
        Toleration(key="node.kubernetes.io/disk-pressure", operator="Exists", effect="NoSchedule"),
        Toleration(key="node.kubernetes.io/memory-pressure", operator="Exists", effect="NoSchedule"),
        Toleration(key="node.kubernetes.io/pid-pressure", operator="Exists", effect="NoSchedule"),
        Toleration(key="node.kubernetes.io/unschedulable", operator="Exists", effect="NoSchedule"),
    ]
    if spec.host_network:
        always.append(Toleration(key="node.kubernetes.io/network-unavailable", operator="Exists", effect="NoSchedule"))

    def place(each: Toleration) -> tuple[str | None, str | None, str | None, str | None]:
        return each.key, each.operator, each.value, each.effect

    added = {place(each) for each in always}
    return [each for each in spec.tolerations if place(each) not in added] + always


def pod_for(ds: DaemonSet, node: str, revision_hash: str) -> Pod:
    """The pod that is meant for a node."""
    template = ds.spec.template
    metadata = template.metadata or ObjectMeta()
    labels = metadata.labels | {REVISION_HASH: revision_hash}
    if generation := ds.metadata.annotations.get(GENERATION):
        labels[POD_GENERATION] = generation
    spec = msgspec.structs.replace(
        template.spec, tolerations=tolerations(template.spec), affinity=_to_node(template.spec.affinity, node)
    )
    return pod_from(PodTemplateSpec(metadata=msgspec.structs.replace(metadata, labels=labels), spec=spec), ds)


def _to_node(affinity: Affinity | None, node: str) -> Affinity:
    """An affinity to that node and no other, in place of what the template requires of nodes: it was judged already."""
    by_name = NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=[node])
    required = NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[by_name])])
    affinity = affinity or Affinity()
    to_node = affinity.node_affinity or NodeAffinity()
    to_node = msgspec.structs.replace(to_node, required_during_scheduling_ignored_during_execution=required)
    return msgspec.structs.replace(affinity, node_affinity=to_node)


def node_of(pod: Pod) -> str | None:
    """The node that a pod is on, or meant for."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    names = [
        each.values
        for term in (required.node_selector_terms if required else ())
        for each in term.match_fields
        if each.key == NAME_FIELD and each.operator == "In"
    ]
    return names[0][0] if names and len(names[0]) == 1 else None


def by_node(pods: Sequence[Pod]) -> dict[str, list[Pod]]:
    """Pods by their nodes, the oldest first. Those that have ended and are being deleted are as good as gone."""
    found: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=_age):
        node = node_of(pod)
        if node is not None and not (is_finished(pod) and pod.metadata.deletion_timestamp):
            found.setdefault(node, []).append(pod)
    return found


def _age(pod: Pod) -> tuple[bool, float, str]:
    made = pod.metadata.creation_timestamp
    return not pod.spec.node_name, made.timestamp() if made else 0.0, pod.metadata.name


def is_updated(ds: DaemonSet, pod: Pod, revision_hash: str) -> bool:
    """Whether a pod was made from the template as it is."""
    generation = ds.metadata.annotations.get(GENERATION)
    labels = pod.metadata.labels
    return labels.get(REVISION_HASH) == revision_hash or (
        generation is not None and labels.get(POD_GENERATION) == generation
    )


# Nodes


def should_run(ds: DaemonSet, node: Node) -> bool:
    """Whether there should be a pod on that node."""
    return _fits(ds, node, "NoSchedule", "NoExecute")


def may_stay(ds: DaemonSet, node: Node) -> bool:
    """Whether a pod that is on that node may stay there: a taint that keeps new pods off does not drive it away."""
    return _fits(ds, node, "NoExecute")


def _fits(ds: DaemonSet, node: Node, *effects: str) -> bool:
    spec = ds.spec.template.spec
    if spec.node_name and spec.node_name != node.metadata.name:
        return False
    if not is_wanted_on(spec, node):
        return False
    return not node.spec.taints or keeps_off(node.spec.taints, tolerations(spec), effects) is None


# One pod on each node


@dataclass
class DaemonSetPlan:
    """What is to be done next."""

    create: list[str] = field(default_factory=list)
    """The nodes that get a pod."""
    delete: list[Pod] = field(default_factory=list)
    failed: list[Pod] = field(default_factory=list)
    """Those among the deleted that had failed."""

    def __bool__(self) -> bool:
        return bool(self.create or self.delete)


def placement(
    ds: DaemonSet,
    nodes: Sequence[Node],
    pods: PodsByNode,
    revision_hash: str,
    now: datetime,
    may_replace: Callable[[Pod], bool],
) -> DaemonSetPlan:
    """Have one pod on each node that fits, and none elsewhere. A failed one waits until `may_replace` allows it."""
    plan = DaemonSetPlan()
    for node in nodes:
        there = pods.get(node.metadata.name, ())
        if should_run(ds, node) and not there:
            plan.create.append(node.metadata.name)
        elif may_stay(ds, node):
            _thin_out(plan, ds, node, there, revision_hash, now, may_replace)
        else:
            plan.delete += [each for each in there if each.metadata.deletion_timestamp is None]
    known = {node.metadata.name for node in nodes}
    plan.delete += [pod for name in pods if name not in known for pod in pods[name] if not pod.spec.node_name]
    return plan


def _thin_out(
    plan: DaemonSetPlan,
    ds: DaemonSet,
    node: Node,
    there: Sequence[Pod],
    revision_hash: str,
    now: datetime,
    may_replace: Callable[[Pod], bool],
) -> None:
    """Keep the oldest pod that runs on a node; while new pods may surge, the oldest of each kind."""
    staying = [each for each in there if each.metadata.deletion_timestamp is None]
    plan.delete += [each for each in staying if each.status.phase == "Succeeded"]
    failed = [each for each in staying if each.status.phase == "Failed" and may_replace(each)]
    plan.delete += failed
    plan.failed += failed
    running = [each for each in staying if not is_finished(each)]
    if not limits(ds, 1).surge:
        plan.delete += running[1:]
        return
    if not running and should_run(ds, node):
        plan.create.append(node.metadata.name)
    new = [each for each in running if each.metadata.labels.get(REVISION_HASH) == revision_hash]
    old = [each for each in running if each not in new]
    plan.delete += new[1:] + old[1:]
    if new and old and (not is_ready(old[0]) or is_available(new[0], ds.spec.min_ready_seconds or 0, now)):
        plan.delete.append(old[0])


# Rolling updates


@dataclass(frozen=True)
class UpdateLimits:
    """On how many nodes there may be two pods, and on how many none that is available, during an update."""

    surge: int
    unavailable: int


def limits(ds: DaemonSet, desired: int) -> UpdateLimits:
    """maxSurge and maxUnavailable for so many nodes, shares rounded up; not both are 0, or nothing would move."""
    strategy = ds.spec.update_strategy
    if strategy is None or strategy.type != "RollingUpdate" or strategy.rolling_update is None:
        return UpdateLimits(0, 0)

    def share(value: IntOrString | None) -> int:
        return scaled_value(value or 0, desired, round_up=True)

    surge, unavailable = share(strategy.rolling_update.max_surge), share(strategy.rolling_update.max_unavailable)
    return UpdateLimits(surge, 1 if desired and not surge and not unavailable else unavailable)


def update(ds: DaemonSet, nodes: Sequence[Node], pods: PodsByNode, revision_hash: str, now: datetime) -> DaemonSetPlan:
    """The next step of a rolling update, once there is one pod on each node."""
    fitting = {each.metadata.name for each in nodes if should_run(ds, each)}
    allowed = limits(ds, len(fitting))
    places = [_Place.of(ds, name, pods.get(name, ()), revision_hash, now) for name in sorted({*pods, *fitting})]
    if allowed.surge:
        return _surge(places, allowed.surge, fitting)
    return _replace(places, allowed.unavailable)


@dataclass
class _Place:
    """One node in an update: its old pod, its new one, and which of them are available."""

    node: str
    old: Pod | None = None
    new: Pod | None = None
    old_available: bool = False
    new_available: bool = False
    crowded: bool = False
    """Whether there are more pods than that, which is for `placement` to sort out."""

    @classmethod
    def of(cls, ds: DaemonSet, node: str, pods: Sequence[Pod], revision_hash: str, now: datetime) -> "_Place":
        staying = [each for each in pods if each.metadata.deletion_timestamp is None]
        new = [each for each in staying if is_updated(ds, each, revision_hash)]
        old = [each for each in staying if each not in new]
        if len(new) > 1 or len(old) > 1:
            return cls(node, crowded=True)
        seconds = ds.spec.min_ready_seconds or 0
        return cls(
            node,
            old=old[0] if old else None,
            new=new[0] if new else None,
            old_available=any(is_available(each, seconds, now) for each in old),
            new_available=any(is_available(each, seconds, now) for each in new),
        )


def _replace(places: Sequence[_Place], max_unavailable: int) -> DaemonSetPlan:
    """Delete old pods, those first that are of no use; `placement` makes new ones when they have gone."""
    useless: list[Pod] = []
    useful: list[Pod] = []
    unavailable = 0
    for place in places:
        if place.old is not None and place.new is None and not place.crowded:
            (useful if place.old_available else useless).append(place.old)
            unavailable += not place.old_available
        else:
            unavailable += place.old is not None or not place.new_available
    return DaemonSetPlan(delete=useless + useful[: max(0, max_unavailable - unavailable)])


def _surge(places: Sequence[_Place], max_surge: int, fitting: set[str]) -> DaemonSetPlan:
    """Make new pods beside old ones; those of which the new one is available go."""
    plan = DaemonSetPlan()
    candidates: list[str] = []
    misplaced: list[Pod] = []
    surging = available = 0
    for place in places:
        available += place.old_available if place.old else place.new_available
        if place.crowded:
            surging += 1
        elif place.old is None:
            continue
        elif place.new is not None:
            if place.new_available:
                plan.delete.append(place.old)
            else:
                surging += 1
        elif place.node not in fitting:
            (misplaced if place.old_available else plan.delete).append(place.old)
        elif place.old_available:
            candidates.append(place.node)
        else:
            plan.create.append(place.node)  # what it stands beside is of no use, so it does not count as a surge
    plan.delete += misplaced[: max(0, available - len(fitting))]
    plan.create += candidates[: max(0, max_surge - surging)]
    return plan


# Counting


def set_status(ds: DaemonSet, nodes: Sequence[Node], pods: PodsByNode, revision_hash: str, now: datetime) -> None:
    """Say of a DaemonSet on how many nodes its pods should be and are. The oldest pod on a node speaks for it."""
    fitting = [each.metadata.name for each in nodes if should_run(ds, each)]
    first = [pods[name][0] for name in fitting if pods.get(name)]
    ready = [each for each in first if is_ready(each)]
    available = sum(is_available(each, ds.spec.min_ready_seconds or 0, now) for each in ready)
    known = {each.metadata.name for each in nodes}
    ds.status = DaemonSetStatus(
        observed_generation=ds.metadata.generation,
        desired_number_scheduled=len(fitting),
        current_number_scheduled=len(first),
        number_misscheduled=len([name for name in pods if name in known and name not in fitting]),
        number_ready=len(ready),
        number_available=available or None,
        number_unavailable=(len(fitting) - available) or None,
        updated_number_scheduled=sum(is_updated(ds, each, revision_hash) for each in first) or None,
        collision_count=ds.status.collision_count,
        conditions=ds.status.conditions,
    )
