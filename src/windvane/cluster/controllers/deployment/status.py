"""What is said of a Deployment: how many pods it has, whether they are enough, and whether its rollout gets on."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from windvane.cluster.controllers.deployment.rollout import limits_of, replicas_of, total
from windvane.k8s.apps import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet

AVAILABLE, PROGRESSING, REPLICA_FAILURE = "Available", "Progressing", "ReplicaFailure"
CREATED, FOUND, UPDATED, DONE = (
    "NewReplicaSetCreated",
    "FoundNewReplicaSet",
    "ReplicaSetUpdated",
    "NewReplicaSetAvailable",
)
TIMED_OUT, PAUSED, RESUMED = "ProgressDeadlineExceeded", "DeploymentPaused", "DeploymentResumed"
CREATE_ERROR = "ReplicaSetCreateError"
NO_DEADLINE = 2**31 - 1


# Conditions


def condition(status: DeploymentStatus, what: str) -> DeploymentCondition | None:
    """The condition of that type."""
    return next((each for each in status.conditions if each.type == what), None)


def set_condition(status: DeploymentStatus, what: str, holds: str, reason: str, message: str, now: datetime) -> None:
    """Say something of a Deployment. What was said already, by status and reason, is left as it stands."""
    was = condition(status, what)
    if was is None or (was.status, was.reason) != (holds, reason):
        _put(status, what, holds, reason, message, now)


def _put(status: DeploymentStatus, what: str, holds: str, reason: str, message: str, now: datetime) -> None:
    was = condition(status, what)
    now = now.replace(microsecond=0)
    since = was.last_transition_time if was and was.status == holds else now
    made = DeploymentCondition(
        type=what, status=holds, reason=reason, message=message, last_update_time=now, last_transition_time=since
    )
    status.conditions = [*(each for each in status.conditions if each.type != what), made]


def _remove(status: DeploymentStatus, what: str) -> None:
    status.conditions = [each for each in status.conditions if each.type != what]


# Pausing


def has_deadline(deployment: Deployment) -> bool:
    """Whether progress is watched at all."""
    return deployment.spec.progress_deadline_seconds not in (None, NO_DEADLINE)


def note_pause(deployment: Deployment, now: datetime) -> None:
    """Say that the rollout is paused or resumed: the time that it stood still on purpose is no lack of progress."""
    was = condition(deployment.status, PROGRESSING)
    reason = was.reason if was else None
    if not has_deadline(deployment) or reason == TIMED_OUT:
        return
    if deployment.spec.paused and reason != PAUSED:
        set_condition(deployment.status, PROGRESSING, "Unknown", PAUSED, "Deployment is paused", now)
    elif not deployment.spec.paused and reason == PAUSED:
        set_condition(deployment.status, PROGRESSING, "Unknown", RESUMED, "Deployment is resumed", now)


# Counting


def counted(
    deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet], now: datetime
) -> DeploymentStatus:
    """The status as its ReplicaSets have it, with the condition Available; other conditions are as they were."""
    sets = [*old, new] if new else list(old)
    available = sum(each.status.available_replicas or 0 for each in sets)
    status = DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.status.replicas for each in sets) or None,
        updated_replicas=(new.status.replicas if new else 0) or None,
        ready_replicas=sum(each.status.ready_replicas or 0 for each in sets) or None,
        available_replicas=available or None,
        unavailable_replicas=max(0, total(sets) - available) or None,
        terminating_replicas=_terminating(sets),
        collision_count=deployment.status.collision_count,
        conditions=list(deployment.status.conditions),
    )
    if available >= replicas_of(deployment) - limits_of(deployment).unavailable:
        words = "MinimumReplicasAvailable", "Deployment has minimum availability."
        set_condition(status, AVAILABLE, "True", *words, now)
    else:
        words = "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
        set_condition(status, AVAILABLE, "False", *words, now)
    return status


def _terminating(sets: Sequence[ReplicaSet]) -> int | None:
    """How many pods are on their way out; None if a ReplicaSet that was looked after does not say."""
    if any(each.status.terminating_replicas is None and each.status.observed_generation for each in sets):
        return None
    return sum(each.status.terminating_replicas or 0 for each in sets)


# Progress


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Whether all pods are new ones, available, and as many as asked for."""
    desired = replicas_of(deployment)
    counts = (status.updated_replicas or 0, status.replicas or 0, status.available_replicas or 0)
    return counts == (desired, desired, desired) and (status.observed_generation or 0) >= deployment.metadata.generation


def rolled(
    deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet], now: datetime
) -> DeploymentStatus:
    """The status during and after a rollout: what is counted, how it gets on, and what ReplicaSets can't do."""
    status = counted(deployment, new, old, now)
    subject = f'ReplicaSet "{new.metadata.name}"' if new else f'Deployment "{deployment.metadata.name}"'
    was = condition(deployment.status, PROGRESSING)
    settled = status.replicas == status.updated_replicas and was is not None and was.reason == DONE
    if not has_deadline(deployment):
        _remove(status, PROGRESSING)
    elif settled:
        pass
    elif is_complete(deployment, status):
        set_condition(status, PROGRESSING, "True", DONE, f"{subject} has successfully progressed.", now)
    elif _gets_on(deployment.status, status):
        # With the time of every step forward, which is what the deadline counts from.
        _put(status, PROGRESSING, "True", UPDATED, f"{subject} is progressing.", now)
    elif (left := seconds_left(deployment, status, now)) is not None and left < 0:
        set_condition(status, PROGRESSING, "False", TIMED_OUT, f"{subject} has timed out progressing.", now)
    _report_failure(status, new, old)
    return status


def _gets_on(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    def old_pods(status: DeploymentStatus) -> int:
        return (status.replicas or 0) - (status.updated_replicas or 0)

    return (
        (after.updated_replicas or 0) > (before.updated_replicas or 0)
        or old_pods(after) < old_pods(before)
        or (after.ready_replicas or 0) > (before.ready_replicas or 0)
        or (after.available_replicas or 0) > (before.available_replicas or 0)
    )


def seconds_left(deployment: Deployment, status: DeploymentStatus, now: datetime) -> float | None:
    """How long it may go on without a step forward; None if that does not matter, or is past."""
    said, limit = condition(status, PROGRESSING), deployment.spec.progress_deadline_seconds
    if said is None or said.last_update_time is None or limit is None or not has_deadline(deployment):
        return None
    if said.reason in (DONE, TIMED_OUT):
        return None
    return (said.last_update_time + timedelta(seconds=limit) - now).total_seconds()


def _report_failure(status: DeploymentStatus, new: ReplicaSet | None, old: Sequence[ReplicaSet]) -> None:
    """Pass on what a ReplicaSet says about pods that it can't make or delete; the new one's word comes first."""
    sets = [new, *old] if new else old
    failed = next((said for each in sets for said in each.status.conditions if said.type == REPLICA_FAILURE), None)
    was = condition(status, REPLICA_FAILURE)
    if failed is None:
        _remove(status, REPLICA_FAILURE)
    elif was is None or (was.status, was.reason) != (failed.status, failed.reason):
        since = failed.last_transition_time
        made = DeploymentCondition(
            type=REPLICA_FAILURE,
            status=failed.status,
            reason=failed.reason,
            message=failed.message,
            last_update_time=since,
            last_transition_time=since,
        )
        status.conditions = [*(each for each in status.conditions if each.type != REPLICA_FAILURE), made]
