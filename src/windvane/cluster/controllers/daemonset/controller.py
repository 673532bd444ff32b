"""DaemonSets: one pod on each node that fits, and an orderly way from one template to the next."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from windvane import After, ClientError, Context, NotFound, Operator, Selector, View, Watch, ambient, owned_by
from windvane.cluster.controllers.daemonset.plan import (
    DaemonSetPlan,
    by_node,
    node_of,
    placement,
    pod_for,
    set_status,
    update,
)
from windvane.cluster.controllers.workloads.backoff import KeyedBackoff
from windvane.cluster.controllers.workloads.controller_refs import ORPHAN, claimed_by, pods_by_controller, settle_claims
from windvane.cluster.controllers.workloads.controller_revisions import (
    REVISION_HASH,
    RevisionHistory,
    keep_history,
    to_drop,
)
from windvane.cluster.controllers.workloads.pod_control import create_pod, delete_pod
from windvane.cluster.controllers.workloads.pod_state import seconds_until_available
from windvane.cluster.controllers.workloads.slow_start import all_at_once, slow_start
from windvane.k8s.apps import ControllerRevision, DaemonSet
from windvane.k8s.core import Node, Pod

BURST = 250
"""How many pods are made, and how many deleted, in one pass; the next one goes on."""
FIRST_WAIT, LONGEST_WAIT = 1.0, 900.0
"""Seconds before a pod that fails again and again is replaced."""


def add_to(operator: Operator) -> None:
    """Declare the controller."""
    failures = KeyedBackoff(FIRST_WAIT, LONGEST_WAIT)
    watches: list[Watch[Any]] = [
        Watch(Pod, to=claimed_by(DaemonSet, selector_of)),
        Watch(Node, to=_all, seeing=lambda node: (node.metadata.labels, node.spec.taints)),
        Watch(ControllerRevision, to=owned_by(DaemonSet)),
    ]

    @operator.controller(DaemonSet, watches=watches, events_from="daemonset-controller")
    async def daemonsets(ds: DaemonSet, ctx: Context) -> After | None:
        return await reconcile(ds, ctx, failures)


def selector_of(ds: DaemonSet) -> Selector:
    """Which pods are its."""
    return Selector.from_label_selector(ds.spec.selector)


def _all(_: Node, view: View) -> list[DaemonSet]:
    return view.list(DaemonSet, all_namespaces=True)


async def reconcile(ds: DaemonSet, ctx: Context, failures: KeyedBackoff) -> After | None:
    """One step towards a pod on each node, all of the template as it is."""
    selector, now = selector_of(ds), ambient.now()
    nodes = ctx.list(Node)
    history = await keep_history(ds, selector, ctx, hash_label=REVISION_HASH)
    if history is None:
        return After(seconds=0)  # the name of the revision is taken: the next pass tries another
    word = history.current.metadata.labels[REVISION_HASH]
    around = ctx.find(pods_by_controller, ds.metadata.uid) + ctx.find(pods_by_controller, ORPHAN)
    pods = await settle_claims(ds, selector, around, ctx)
    there = by_node(pods)
    plan = placement(ds, nodes, there, word, now, lambda pod: not failures.left(_key(ds, pod), now))
    _tell(ds, plan, failures, now, ctx)
    if not plan and ds.spec.update_strategy is not None and ds.spec.update_strategy.type == "RollingUpdate":
        plan = update(ds, nodes, there, word, now)
    failure: ClientError | None = None
    try:
        await _carry_out(ds, plan, word, ctx)
        await _drop(ds, history, pods, ctx)
    except ClientError as error:
        failure = error
    set_status(ds, nodes, there, word, now)
    if failure is not None:
        raise failure
    waits = [failures.left(_key(ds, each), now) for each in pods if each.status.phase == "Failed"]
    waits.append(seconds_until_available(pods, ds.spec.min_ready_seconds or 0, now) or 0)
    return After(seconds=min(each for each in waits if each > 0)) if any(waits) else None


def _key(ds: DaemonSet, pod: Pod) -> str:
    return f"{ds.metadata.uid}/{ds.metadata.generation}/{node_of(pod)}"


def _tell(ds: DaemonSet, plan: DaemonSetPlan, failures: KeyedBackoff, now: datetime, ctx: Context) -> None:
    """Say of pods that have ended that they will be replaced."""
    for pod in plan.delete:
        where = f"{pod.metadata.namespace}/{pod.metadata.name} on node {node_of(pod)}"
        if pod in plan.failed:
            failures.tried(_key(ds, pod), now)
            ctx.event("FailedDaemonPod", f"Found failed daemon pod {where}, will try to kill it", type="Warning")
        elif pod.status.phase == "Succeeded":
            ctx.event("SucceededDaemonPod", f"Found succeeded daemon pod {where}, will try to delete it")


async def _carry_out(ds: DaemonSet, plan: DaemonSetPlan, revision_hash: str, ctx: Context) -> None:
    nodes = iter(plan.create)
    try:
        await slow_start(min(len(plan.create), BURST), lambda: create_pod(pod_for(ds, next(nodes), revision_hash), ctx))
    finally:
        await all_at_once(*(delete_pod(each, ctx) for each in plan.delete[:BURST]))


async def _drop(ds: DaemonSet, history: RevisionHistory, pods: Sequence[Pod], ctx: Context) -> None:
    """Delete the revisions that are too many."""
    used = {each.metadata.labels.get(REVISION_HASH) for each in pods}
    live = {each.metadata.name for each in history.old if each.metadata.labels.get(REVISION_HASH) in used}
    for each in to_drop(history.old, ds.spec.revision_history_limit, live):
        with suppress(NotFound):
            await ctx.client.delete(ControllerRevision, each.metadata.name, uid=each.metadata.uid)
