"""Pods without a kubelet: those of nodes that are gone, and those that are deleted without having had one."""

from collections.abc import Iterable, Mapping

from windvane import After, Context, NotFound, Operator, View, Watch, ambient
from windvane.cluster.controllers.endpoints.service_pods import pods_by_node
from windvane.cluster.controllers.workloads.pod_disruption import remove
from windvane.k8s.core import Namespace, Node, Pod

NAME = "pod-garbage-collector-controller"
QUARANTINE = 40.0
"""For how many seconds a node may be gone before its pods are: it may come back."""
PATIENCE = 20.0
"""For how many seconds a pod that never had a node may take to go."""
SOON = 0.01
"""In how many seconds the next pass comes at the earliest."""


def add_to(operator: Operator) -> None:
    """Declare the controller. It works on a namespace at a time: there are few, and a pod alone is rarely concerned."""
    missing: dict[str, dict[str, float]] = {}
    """By namespace and the name of a node: since when pods there have no such node."""

    @operator.controller(
        Namespace,
        name=NAME,
        until_gone=True,
        watches=[
            Watch(Pod, to=_namespace_of_lost, seeing=lambda pod: (pod.spec.node_name, _is_going(pod))),
            Watch(Node, to=_namespaces_on, seeing=lambda node: node.metadata.uid),
        ],
    )
    async def collect(namespace: Namespace, ctx: Context) -> After | None:
        name = namespace.metadata.name
        missing[name], after = await reconcile(ctx.list(Pod, namespace=name), missing.get(name, {}), ctx)
        return after


async def reconcile(
    pods: Iterable[Pod], before: Mapping[str, float], ctx: Context
) -> tuple[dict[str, float], After | None]:
    """One pass over the pods of a namespace. Which nodes are missing, and since when, is told from pass to pass."""
    missing: dict[str, float] = {}
    waits = []
    now = ambient.monotonic()
    for pod in pods:
        node = pod.spec.node_name or ""
        if not node:
            left = _seconds_left(pod)
            if left is not None and left > 0:
                waits.append(left)
            elif left is not None:
                await remove(pod, ctx)
            continue
        if ctx.get(Node, node) is not None:
            continue
        missing[node] = before.get(node, now)
        left = missing[node] + QUARANTINE - now
        if left > 0:
            waits.append(left)
        elif await _is_gone(node, ctx):
            await remove(pod, ctx, "DeletionByPodGC", "PodGC: node no longer exists")
    return missing, After(seconds=max(min(waits), SOON)) if waits else None


async def _is_gone(node: str, ctx: Context) -> bool:
    """Ask the server itself: a cache may be late, and pods that run are not to be removed."""
    try:
        await ctx.client.get(Node, node)
    except NotFound:
        return True
    return False


def _seconds_left(pod: Pod) -> float | None:
    """How long a pod may still take to go that never had a node; None if it is not going."""
    going = pod.metadata.deletion_timestamp
    return PATIENCE - (ambient.now() - going).total_seconds() if going is not None else None


def _is_going(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _namespace_of_lost(pod: Pod, view: View) -> str | None:
    node = pod.spec.node_name
    lost = view.get(Node, node) is None if node else _is_going(pod)
    return pod.metadata.namespace if lost else None


def _namespaces_on(node: Node, view: View) -> set[str]:
    return {each.metadata.namespace for each in view.find(pods_by_node, node.metadata.name, all_namespaces=True)}
