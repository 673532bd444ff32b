"""Whether it is certain how a Job will end: too many failures, too much time, or enough successes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from windvane.cluster.controllers.job.conditions import FAILURE, SUCCESS, new_condition, verdict_of
from windvane.cluster.controllers.job.pods import has_failed
from windvane.cluster.controllers.job.policies import failure_action, met_rule
from windvane.cluster.controllers.job.progress import JobProgress
from windvane.k8s.batch import Job, JobCondition
from windvane.k8s.core import Pod

BACKOFF_LIMIT = 6


def verdict(job: Job, pods: Sequence[Pod], made: JobProgress, now: datetime) -> JobCondition | None:
    """How the Job will end, if that is certain. A verdict that was written down stands."""
    if (given := verdict_of(job)) is not None:
        return given
    if (failure := _failure(job, pods, made, now)) is not None:
        return new_condition(FAILURE, *failure, now)
    if (rule := met_rule(job, made.completed)) is not None:
        return new_condition(SUCCESS, "SuccessPolicy", f"Matched rules at index {rule}", now)
    return None


def _failure(job: Job, pods: Sequence[Pod], made: JobProgress, now: datetime) -> tuple[str, str] | None:
    """Why a Job has failed: a reason and a message."""
    spec = job.spec
    for pod in pods:
        if has_failed(pod, job) and (ruled := failure_action(job, pod)).action == "FailJob":
            return "PodFailurePolicy", ruled.message
    limit = BACKOFF_LIMIT if spec.backoff_limit is None else spec.backoff_limit
    if made.failed > limit or _restarted_too_often(job, pods, limit):
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    if (left := seconds_to_deadline(job, now)) is not None and left <= 0:
        return "DeadlineExceeded", "Job was active longer than specified deadline"
    lost = len(made.failed_indexes)
    if spec.max_failed_indexes is not None and lost > spec.max_failed_indexes:
        return "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
    if lost and lost + len(made.completed) >= (spec.completions or 0):
        return "FailedIndexes", "Job has failed indexes"
    return None


def _restarted_too_often(job: Job, pods: Sequence[Pod], limit: int) -> bool:
    """Whether containers that are restarted in their pods have failed as often as pods may."""
    if job.spec.template.spec.restart_policy != "OnFailure":
        return False
    restarts = sum(
        status.restart_count
        for pod in pods
        if pod.status.phase in ("Running", "Pending")
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts > 0 if limit == 0 else restarts >= limit


def seconds_to_deadline(job: Job, now: datetime) -> float | None:
    """How long the Job may go on; None if there is no limit, or the clock is not running."""
    deadline, began = job.spec.active_deadline_seconds, job.status.start_time
    if deadline is None or began is None or job.spec.suspend:
        return None
    return (began + timedelta(seconds=deadline) - now).total_seconds()


def is_complete(job: Job, made: JobProgress, active: int) -> bool:
    """Whether all is done. Where no number is asked for, one success is enough, once all others have ended."""
    needed = 1 if job.spec.completions is None else job.spec.completions
    return made.succeeded >= needed and active == 0


def completed_condition(now: datetime) -> JobCondition:
    """The verdict on a Job that is complete."""
    return new_condition(SUCCESS, "CompletionsReached", "Reached expected number of succeeded pods", now)
