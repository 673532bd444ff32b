"""What is decided about nodes: from their silence that they are lost, from their conditions which taints they have, and
from their taints which pods must leave, and when.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from windvane.cluster.controllers.scheduler.node_fit import tolerates
from windvane.k8s.core import Node, NodeCondition, Pod, Taint, Toleration

READY = "Ready"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "NoExecute"
TAINTS: dict[tuple[str, str], str] = {
    (READY, "False"): NOT_READY,
    (READY, "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
"""By type and status of a node's condition: the taint that goes with it."""
TOLD = (READY, "MemoryPressure", "DiskPressure", "PIDPressure")
"""The conditions that a node tells of itself."""


def ready_condition(node: Node) -> NodeCondition | None:
    """What a node, or this controller for it, says about its being ready."""
    return next((each for each in node.status.conditions if each.type == READY), None)


def readiness(node: Node) -> str:
    """`True`, `False`, or `Unknown`; empty if nothing was ever said."""
    condition = ready_condition(node)
    return condition.status if condition is not None else ""


def lost(node: Node, now: datetime) -> list[NodeCondition]:
    """The conditions of a node that nothing is heard of any more."""
    now = now.replace(microsecond=0)
    told = {each.type for each in node.status.conditions}
    conditions = [_silenced(each, now) for each in node.status.conditions]
    return conditions + [
        NodeCondition(
            type=type_,
            status="Unknown",
            reason="NodeStatusNeverUpdated",
            message="Kubelet never posted node status.",
            last_heartbeat_time=node.metadata.creation_timestamp,
            last_transition_time=now,
        )
        for type_ in TOLD
        if type_ not in told
    ]


def _silenced(condition: NodeCondition, now: datetime) -> NodeCondition:
    if condition.type not in TOLD or condition.status == "Unknown":
        return condition
    return NodeCondition(
        type=condition.type,
        status="Unknown",
        reason="NodeStatusUnknown",
        message="Kubelet stopped posting node status.",
        last_heartbeat_time=condition.last_heartbeat_time,
        last_transition_time=now,
    )


def taints_of(node: Node, now: datetime, *, evict: bool) -> list[Taint]:
    """The taints that a node should have. Those that say nothing about its conditions stay as they are.

    Without `evict`, none makes pods leave: where no node is ready at all, there is nowhere to go.
    """
    wanted = [(TAINTS[each.type, each.status], NO_SCHEDULE) for each in node.status.conditions if _tainting(each)]
    if node.spec.unschedulable:
        wanted.append((UNSCHEDULABLE, NO_SCHEDULE))
    if evict and (key := TAINTS.get((READY, readiness(node)))):
        wanted.append((key, NO_EXECUTE))
    there = {(each.key, each.effect) for each in node.spec.taints}
    kept = [each for each in node.spec.taints if (each.key, each.effect) in wanted or not _is_ours(each)]
    since = now.replace(microsecond=0)
    return kept + [
        Taint(key=key, effect=effect, time_added=since) for key, effect in wanted if (key, effect) not in there
    ]


def _tainting(condition: NodeCondition) -> bool:
    return (condition.type, condition.status) in TAINTS


def _is_ours(taint: Taint) -> bool:
    if taint.effect == NO_EXECUTE:
        return taint.key in (NOT_READY, UNREACHABLE)
    return taint.effect == NO_SCHEDULE and (taint.key in TAINTS.values() or taint.key == UNSCHEDULABLE)


def must_leave_at(pod: Pod, taints: Iterable[Taint], since: datetime) -> datetime | None:
    """When a pod must leave a node with these taints; None if it may stay for ever.

    `since` is when the taints were first seen, for those that don't say themselves.
    """
    times: list[datetime] = []
    began = pod.status.start_time or pod.metadata.creation_timestamp or since
    for taint in taints:
        if taint.effect != NO_EXECUTE:
            continue
        toleration = _tolerating(pod.spec.tolerations, taint)
        if toleration is None:
            return since
        if toleration.toleration_seconds is not None:
            from_ = max(taint.time_added or since, began)
            times.append(from_ + timedelta(seconds=max(toleration.toleration_seconds, 0)))
    return min(times, default=None)


def _tolerating(tolerations: Sequence[Toleration], taint: Taint) -> Toleration | None:
    return next((each for each in tolerations if tolerates(each, taint)), None)
