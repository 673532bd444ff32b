"""Nodes that are lost, and what becomes of their pods.

A node renews its Lease. When it stops, its conditions become Unknown, and taints keep new pods off and make those that
are there leave, each after the time that it tolerates.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from windvane import After, Context, NotFound, Operator, View, Watch, ambient, format_time, to_wire
from windvane.cluster.controllers.endpoints.service_pods import pods_by_node
from windvane.cluster.controllers.node_lifecycle.health import (
    NO_EXECUTE,
    OUT_OF_SERVICE,
    lost,
    must_leave_at,
    readiness,
    ready_condition,
    taints_of,
)
from windvane.cluster.controllers.workloads.pod_disruption import evict, remove
from windvane.cluster.controllers.workloads.pod_state import is_ready
from windvane.k8s.coordination import Lease
from windvane.k8s.core import Node, Pod

NAME = "node-lifecycle-controller"
LEASES = "kube-node-lease"
GRACE, FIRST_GRACE = 50.0, 60.0
"""For how many seconds a node may be silent; and one that has not said anything yet."""


@dataclass
class NodeHeartbeat:
    """The last sign of life of a node, and when we noticed it: clocks may differ, so its own time says nothing."""

    sign: object
    at: float
    tainted: datetime | None = None
    """Since when it has taints that make pods leave."""
    marked: set[str] = field(default_factory=set)
    """The uids of pods that were said not to be ready because it is not."""


def add_to(operator: Operator) -> None:
    """Declare the controller."""
    heartbeats: dict[str, NodeHeartbeat] = {}
    watches: list[Watch[Any]] = [
        Watch(Lease, to=lambda lease: lease.metadata.name if lease.metadata.namespace == LEASES else None),
        Watch(Pod, to=lambda pod: pod.spec.node_name, seeing=_what_matters),
        Watch(Node, to=_all_nodes, seeing=readiness),
    ]

    @operator.controller(Node, name=NAME, watches=watches, events_from="node-controller")
    async def nodes(node: Node, ctx: Context) -> After | None:
        return await reconcile(node, heartbeats, ctx)


async def reconcile(node: Node, heartbeats: dict[str, NodeHeartbeat], ctx: Context) -> After | None:
    """One pass: hear, say what is lost, taint, and have pods leave."""
    known = _heartbeat(node, heartbeats, ctx)
    said = ready_condition(node)
    left = known.at + (FIRST_GRACE if said is None else _grace(node, ctx)) - ambient.monotonic()
    if left <= 0:
        conditions = lost(node, ambient.now())
        if to_wire(conditions) != to_wire(node.status.conditions):
            if said is not None and said.status == "True":
                ctx.event("NodeNotReady", f"Node {node.metadata.name} status is now: NodeNotReady")
            node.status.conditions = conditions
            return After(seconds=0)  # go on once that is written
    some_ready = any(readiness(each) == "True" for each in ctx.list(Node))
    taints = taints_of(node, ambient.now(), evict=some_ready)
    if to_wire(taints) != to_wire(node.spec.taints):
        metadata = {"resourceVersion": node.metadata.resource_version}
        patch = {"metadata": metadata, "spec": {"taints": [to_wire(each) for each in taints]}}
        await ctx.client.patch(Node, node.metadata.name, patch)
        return None  # the change brings the next pass
    waits = [await _clear(node, known, ctx), left if left > 0 else None]
    return After(seconds=max(min(each for each in waits if each is not None), 0.01)) if any(waits) else None


def _grace(node: Node, ctx: Context) -> float:
    """How long a node may be silent. One whose Lease says that it lasts longer than a kubelet's is given more time."""
    lease = ctx.get(Lease, node.metadata.name, namespace=LEASES)
    lasts = lease.spec.lease_duration_seconds if lease is not None else None
    return max(GRACE, 1.25 * (lasts or 0))


def _heartbeat(node: Node, heartbeats: dict[str, NodeHeartbeat], ctx: Context) -> NodeHeartbeat:
    lease, said = ctx.get(Lease, node.metadata.name, namespace=LEASES), ready_condition(node)
    sign = (lease.spec.renew_time if lease is not None else None, said.last_heartbeat_time if said else None)
    known = heartbeats.get(node.metadata.uid)
    if known is None:
        there = {each.metadata.uid for each in ctx.list(Node)}
        for uid in heartbeats.keys() - there:
            del heartbeats[uid]
        known = heartbeats[node.metadata.uid] = NodeHeartbeat(sign, ambient.monotonic())
    elif known.sign != sign:
        known.sign, known.at = sign, ambient.monotonic()
    return known


async def _clear(node: Node, known: NodeHeartbeat, ctx: Context) -> float | None:
    """Have those pods leave that must; returns in how many seconds the next one must."""
    executing = [each for each in node.spec.taints if each.effect == NO_EXECUTE]
    unready = readiness(node) in ("False", "Unknown")
    now = ambient.now()
    known.tainted = (known.tainted or now) if executing else None
    if not unready:
        known.marked.clear()
    if not executing and not unready:
        return None
    pods = ctx.find(pods_by_node, node.metadata.name, all_namespaces=True)
    if unready:
        await _mark_unready(pods, known.marked, ctx)
    if unready and any(each.key == OUT_OF_SERVICE for each in node.spec.taints):
        for pod in pods:
            if pod.metadata.deletion_timestamp is not None:
                await remove(pod, ctx)
    waits = []
    for pod in pods:
        due = must_leave_at(pod, executing, known.tainted or now)
        if pod.metadata.deletion_timestamp is not None or due is None:
            continue
        if due <= now:
            await evict(pod, ctx, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        else:
            waits.append((due - now).total_seconds())
    return min(waits, default=None)


async def _mark_unready(pods: Iterable[Pod], marked: set[str], ctx: Context) -> None:
    """No kubelet is there to say that they are not ready: so it is said for them, and they get no traffic.

    It is said once. A pod that is ready after that has a kubelet that says so: the node is there, only late.
    """
    pods = list(pods)
    marked &= {each.metadata.uid for each in pods}
    for pod in pods:
        if not is_ready(pod) or pod.metadata.uid in marked:
            continue
        ready = {"type": "Ready", "status": "False", "lastTransitionTime": format_time(ambient.now())}
        patch = {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [ready]}}
        meta = pod.metadata
        try:
            await ctx.client.patch(
                Pod, meta.name, patch, namespace=meta.namespace, subresource="status", type="strategic"
            )
        except NotFound:
            continue
        marked.add(pod.metadata.uid)


def _what_matters(pod: Pod) -> Any:
    going = pod.metadata.deletion_timestamp is not None
    return pod.spec.node_name, going, is_ready(pod), to_wire(pod.spec.tolerations)


def _all_nodes(node: Node, view: View) -> list[Node]:
    del node
    return view.list(Node)
