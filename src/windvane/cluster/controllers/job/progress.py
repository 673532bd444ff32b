"""How far a Job has come.

Everything is counted here as if it were in the status already. What is not there yet are finished pods that still have
their finalizer: see `uncounted_pods`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from windvane.cluster.controllers.job.backoff import finished_at
from windvane.cluster.controllers.job.completion_indexes import Indexes
from windvane.cluster.controllers.job.conditions import verdict_of
from windvane.cluster.controllers.job.pods import (
    all_failures_before,
    failures_before,
    has_failed,
    indexes_of,
    is_indexed,
    is_tracked,
    valid_index,
)
from windvane.cluster.controllers.job.policies import counts, failure_action
from windvane.cluster.controllers.workloads.pod_state import is_active, is_terminating
from windvane.k8s.batch import Job, UncountedTerminatedPods
from windvane.k8s.core import Pod


@dataclass
class JobProgress:
    """How far a Job has come."""

    active: list[Pod]
    terminating: list[Pod]
    newly_succeeded: list[Pod]
    newly_failed: list[Pod]
    succeeded: int
    failed: int
    completed: Indexes = field(default_factory=Indexes)
    failed_indexes: Indexes = field(default_factory=Indexes)
    held: dict[int, Pod] = field(default_factory=dict)
    """Of each index that is to be tried again, the pod that failed last: it must stay until it is replaced."""


def uncounted(job: Job) -> UncountedTerminatedPods:
    """The finished pods that were written down, and are not in the numbers yet."""
    return job.status.uncounted_terminated_pods or UncountedTerminatedPods()


def progress(job: Job, pods: Sequence[Pod]) -> JobProgress:
    """Count."""
    noted = uncounted(job)
    waiting = [
        each for each in pods if is_tracked(each) and (not is_indexed(job) or valid_index(job, each) is not None)
    ]
    succeeded = [
        each
        for each in waiting
        if each.status.phase == "Succeeded" and each.metadata.uid not in (*noted.succeeded, *noted.failed)
    ]
    failed = [each for each in waiting if has_failed(each, job) and each.metadata.uid not in noted.failed]
    made = JobProgress(
        active=[each for each in pods if is_active(each)],
        terminating=[each for each in pods if is_terminating(each)],
        newly_succeeded=succeeded,
        newly_failed=failed,
        succeeded=(job.status.succeeded or 0) + len(noted.succeeded) + len(succeeded),
        failed=(job.status.failed or 0) + len(noted.failed) + sum(counts(job, each) for each in failed),
    )
    if is_indexed(job):
        _count_indexes(job, waiting, made)
    return made


def _count_indexes(job: Job, waiting: Sequence[Pod], made: JobProgress) -> None:
    completions = job.spec.completions or 0
    completed = Indexes.parse(job.status.completed_indexes, completions)
    failed = Indexes.parse(job.status.failed_indexes, completions)
    done = indexes_of(each for each in waiting if each.status.phase == "Succeeded")
    made.completed = completed | Indexes.of(index for index in done if index not in failed)
    made.succeeded = len(made.completed)
    if job.spec.backoff_limit_per_index is None:
        return
    # What is stopped because of a verdict has not failed by itself.
    judged = waiting if verdict_of(job) is None else []
    lost = indexes_of(each for each in judged if _fails_index(job, each, job.spec.backoff_limit_per_index))
    made.failed_indexes = failed | Indexes.of(index for index in lost if index not in made.completed)
    made.held = _held(job, waiting, made)


def _fails_index(job: Job, pod: Pod, limit: int) -> bool:
    """Whether a pod's index will not be tried again because of it."""
    if not has_failed(pod, job):
        return False
    action = failure_action(job, pod).action
    return action == "FailIndex" or (action != "Ignore" and failures_before(pod) >= limit)


def _held(job: Job, waiting: Sequence[Pod], made: JobProgress) -> dict[int, Pod]:
    settled = made.completed | made.failed_indexes | Indexes.of(indexes_of(made.active))
    held: dict[int, Pod] = {}
    for pod in waiting:
        index = valid_index(job, pod)
        if index is None or index in settled or not has_failed(pod, job):
            continue
        other = held.get(index)
        if other is None or (
            all_failures_before(other) <= all_failures_before(pod) and finished_at(other) <= finished_at(pod)
        ):
            held[index] = pod
    return held
