"""ReplicaSets and ReplicationControllers: that many pods of one template, no more and no fewer."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias, TypeVar

from windvane import After, ClientError, Context, Operator, Selector, Watch, ambient
from windvane.cluster.controllers.workloads.controller_refs import (
    ORPHAN,
    claimed_by,
    controller_of,
    is_controlled_by,
    replicas_by_controller,
    replicasets_by_controller,
    settle_claims,
)
from windvane.cluster.controllers.workloads.pod_control import create_pod, delete_pod
from windvane.cluster.controllers.workloads.pod_state import (
    is_active,
    is_available,
    is_ready,
    is_terminating,
    ready_since,
    seconds_until_available,
)
from windvane.cluster.controllers.workloads.pod_template import pod_from
from windvane.cluster.controllers.workloads.scale_down import pods_to_delete
from windvane.cluster.controllers.workloads.slow_start import all_at_once, slow_start
from windvane.k8s.apps import ReplicaSet, ReplicaSetCondition
from windvane.k8s.core import Pod, PodTemplateSpec, ReplicationController, ReplicationControllerCondition

Replicated: TypeAlias = ReplicaSet | ReplicationController
ConditionT = TypeVar("ConditionT", ReplicaSetCondition, ReplicationControllerCondition)

BURST = 500
"""How many pods are made or deleted in one pass; the next one goes on."""
REPLICA_FAILURE = "ReplicaFailure"


def add_to(operator: Operator) -> None:
    """Declare both controllers."""

    @operator.controller(
        ReplicaSet,
        watches=[Watch(Pod, to=claimed_by(ReplicaSet, selector_of), seeing=what_counts)],
        until_gone=True,
        events_from="replicaset-controller",
    )
    async def replicasets(rs: ReplicaSet, ctx: Context) -> After | None:
        return await reconcile(rs, ctx)

    @operator.controller(
        ReplicationController,
        watches=[Watch(Pod, to=claimed_by(ReplicationController, selector_of), seeing=what_counts)],
        until_gone=True,
        events_from="replication-controller",
    )
    async def replicationcontrollers(rc: ReplicationController, ctx: Context) -> After | None:
        return await reconcile(rc, ctx)


async def reconcile(owner: Replicated, ctx: Context) -> After | None:
    """One pass: claim pods, make or delete some, and say how many there were when it began."""
    selector, uid = selector_of(owner), owner.metadata.uid
    around = ctx.find(replicas_by_controller, uid) + ctx.find(replicas_by_controller, ORPHAN)
    pods = await settle_claims(owner, selector, [each for each in around if is_active(each)], ctx)
    terminating = [
        each
        for each in around
        if is_terminating(each) and is_controlled_by(each, owner) and selector.matches(each.metadata.labels)
    ]
    failure: ClientError | None = None
    if owner.metadata.deletion_timestamp is None:
        try:
            await _scale(owner, pods, ctx)
        except ClientError as error:
            failure = error
    now = ambient.now()
    set_status(owner, pods, terminating, failure, now)
    if failure is not None:
        raise failure
    seconds = seconds_until_available(pods, owner.spec.min_ready_seconds or 0, now)
    return After(seconds=seconds) if seconds else None


def what_counts(pod: Pod) -> object:
    """What of a pod its owner counts by; for `seeing=`. Where it is, for one, is nothing to make another pass for."""
    return pod.metadata.labels, controller_of(pod), is_active(pod), is_terminating(pod), is_ready(pod), ready_since(pod)


def selector_of(owner: Replicated) -> Selector:
    """Which pods are its."""
    if isinstance(owner, ReplicationController):
        return Selector.of(owner.spec.selector)
    return Selector.from_label_selector(owner.spec.selector)


def wanted(owner: Replicated) -> int:
    """How many pods there should be."""
    return 1 if owner.spec.replicas is None else owner.spec.replicas


def set_status(
    owner: Replicated, pods: Sequence[Pod], terminating: Sequence[Pod], failure: Exception | None, now: datetime
) -> None:
    """Say of `owner` how many pods it has, and whether the last attempt to have more or fewer failed."""
    status, min_ready = owner.status, owner.spec.min_ready_seconds or 0
    stated = _template(owner).metadata
    labels = stated.labels if stated else {}
    ready = [each for each in pods if is_ready(each)]
    status.replicas = len(pods)
    status.fully_labeled_replicas = sum(labels.items() <= each.metadata.labels.items() for each in pods) or None
    status.ready_replicas = len(ready) or None
    status.available_replicas = sum(is_available(each, min_ready, now) for each in ready) or None
    status.observed_generation = owner.metadata.generation
    reason = "FailedCreate" if len(pods) < wanted(owner) else "FailedDelete"
    if isinstance(owner, ReplicaSet):
        owner.status.terminating_replicas = len(terminating)
        owner.status.conditions = _conditions(owner.status.conditions, ReplicaSetCondition, reason, failure, now)
    else:
        owner.status.conditions = _conditions(
            owner.status.conditions, ReplicationControllerCondition, reason, failure, now
        )


def _conditions(
    before: list[ConditionT], what: type[ConditionT], reason: str, failure: Exception | None, now: datetime
) -> list[ConditionT]:
    """The conditions with ReplicaFailure among them if there is one; what it says is what failed first."""
    if failure is None:
        return [each for each in before if each.type != REPLICA_FAILURE]
    if any(each.type == REPLICA_FAILURE for each in before):
        return before
    since = now.replace(microsecond=0)
    failed = what(type=REPLICA_FAILURE, status="True", reason=reason, message=str(failure), last_transition_time=since)
    return before + [failed]  # noqa: RUF005 - mypy does not follow a star through the two types


def _template(owner: Replicated) -> PodTemplateSpec:
    if owner.spec.template is None:
        raise ValueError(f"{owner.kind} {owner.metadata.name} has no spec.template to make pods from")
    return owner.spec.template


async def _scale(owner: Replicated, pods: Sequence[Pod], ctx: Context) -> None:
    """Make the pods that are missing, or delete those that are too many."""
    missing = wanted(owner) - len(pods)
    if missing > 0:
        await slow_start(min(missing, BURST), lambda: create_pod(pod_from(_template(owner), owner), ctx))
    elif missing < 0:
        going = pods_to_delete(pods, min(-missing, BURST), _kin(owner, ctx), ambient.now())
        await all_at_once(*(delete_pod(each, ctx) for each in going))


def _kin(owner: Replicated, ctx: Context) -> list[Pod]:
    """The pods of all ReplicaSets that belong to the same Deployment: they should not crowd on one node."""
    controller = controller_of(owner)
    if controller is None or not isinstance(owner, ReplicaSet):
        return []
    siblings = ctx.find(replicasets_by_controller, controller.uid)
    return [pod for each in siblings for pod in ctx.find(replicas_by_controller, each.metadata.uid)]
