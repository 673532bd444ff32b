"""Which pods a Job is to have more, and which it is to have no more."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from windvane.cluster.controllers.job.backoff import JobBackoff, finished_at
from windvane.cluster.controllers.job.completion_indexes import Indexes
from windvane.cluster.controllers.job.pods import (
    all_failures_before,
    indexes_of,
    is_indexed,
    replaces_only_failed,
    valid_index,
)
from windvane.cluster.controllers.job.progress import JobProgress
from windvane.cluster.controllers.workloads.scale_down import pods_to_delete
from windvane.k8s.batch import Job
from windvane.k8s.core import Pod

BURST = 500
"""How many pods are made or removed in one pass; the next one goes on."""


@dataclass
class JobPlan:
    """What to do about the pods of a Job: either to remove some, or to make some, or to wait."""

    remove: list[Pod] = field(default_factory=list)
    create: list[int | None] = field(default_factory=list)
    """An index for each pod to be made; None where there are none."""
    wait: float = 0.0
    """In how many seconds more may be made."""


def plan(job: Job, made: JobProgress, backoff: JobBackoff, now: datetime) -> JobPlan:
    """What to do about a Job that is neither finished nor about to be."""
    wanted = 0 if job.spec.suspend else wanted_active(job, made)
    surplus = max(len(made.active) - wanted, 0)
    if remove := to_remove(job, made.active, surplus, now):
        return JobPlan(remove=remove[:BURST])
    occupied = len(made.active) + (len(made.terminating) if replaces_only_failed(job) else 0)
    missing = min(wanted - occupied, BURST)
    if missing <= 0:
        return JobPlan()
    if job.spec.backoff_limit_per_index is not None:
        return _plan_indexes(job, made, missing, now)
    if wait := backoff.remaining(now):
        return JobPlan(wait=wait)
    return JobPlan(create=[*pending_indexes(job, made, missing)] if is_indexed(job) else [None] * missing)


def wanted_active(job: Job, made: JobProgress) -> int:
    """How many pods should be at work, as far as the Job is not suspended."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.completions is not None:
        return max(min(job.spec.completions - made.succeeded, parallelism), 0)
    return len(made.active) if made.succeeded else parallelism  # once one has succeeded, no more are begun


def pending_indexes(job: Job, made: JobProgress, count: int) -> list[int]:
    """The first indexes that no pod works on, or has worked on with a result."""
    taken = made.completed | made.failed_indexes | Indexes.of(indexes_of(made.active))
    if replaces_only_failed(job):
        taken |= Indexes.of(indexes_of(made.terminating))
    return taken.first_missing(count, job.spec.completions or 0)


def _plan_indexes(job: Job, made: JobProgress, missing: int, now: datetime) -> JobPlan:
    """Where each index has its own limit of failures, each waits for itself."""
    waits = {index: _remaining(made.held.get(index), now) for index in pending_indexes(job, made, missing)}
    return JobPlan(
        create=[index for index, wait in waits.items() if wait <= 0],
        wait=min((wait for wait in waits.values() if wait > 0), default=0.0),
    )


def _remaining(replaced: Pod | None, now: datetime) -> float:
    if replaced is None:
        return 0.0
    return JobBackoff(all_failures_before(replaced) + 1, finished_at(replaced)).remaining(now)


def to_remove(job: Job, active: Sequence[Pod], surplus: int, now: datetime) -> list[Pod]:
    """At least that many pods to be removed: first those that work on what another works on, or on no valid index."""
    remove: list[Pod] = []
    left = list(active)
    if is_indexed(job):
        by_index: dict[int, list[Pod]] = {}
        for pod in active:
            if (index := valid_index(job, pod)) is None:
                remove.append(pod)
            else:
                by_index.setdefault(index, []).append(pod)
        for rivals in by_index.values():
            remove += pods_to_delete(rivals, len(rivals) - 1, (), now)
        left = [each for each in active if each not in remove]
    return remove + pods_to_delete(left, max(surplus - len(remove), 0), (), now)
