"""Counting each finished pod once, whatever happens in between: a ledger in the Job's status.

A pod has a finalizer until it is counted, so it can't vanish unseen. And the number can't be written together with the
removal of the finalizer, which is on another object; so it goes in steps, each of which can be done again:

    finished, with the finalizer          → its uid is written into status.uncountedTerminatedPods
    its uid is there                      → the finalizer goes
    its uid is there, without finalizer   → the uid is removed and the number grows, in one write

A step is taken only if the one before is in the status as it was read. Indexes need no uids: they can't count twice.
"""

from collections.abc import Sequence

from windvane.cluster.controllers.job.completion_indexes import Indexes
from windvane.cluster.controllers.job.conditions import FAILURE, SUCCESS, condition, verdict_of
from windvane.cluster.controllers.job.pods import has_failed, is_indexed, is_tracked, valid_index
from windvane.cluster.controllers.job.policies import counts
from windvane.cluster.controllers.job.progress import JobProgress, uncounted
from windvane.cluster.controllers.workloads.pod_state import is_terminating
from windvane.k8s.batch import Job, JobStatus, UncountedTerminatedPods
from windvane.k8s.core import Pod

MOST_UNCOUNTED = 500
"""How many uids the status may hold: it is written often, and should stay small."""


def releasable(job: Job, pods: Sequence[Pod], made: JobProgress) -> list[Pod]:
    """The pods that may lose their finalizer, as far as the Job's status, as it was read, has taken note of them."""
    return [each for each in pods if is_tracked(each) and _may_go(job, each, made)]


def _may_go(job: Job, pod: Pod, made: JobProgress) -> bool:
    status, noted = job.status, uncounted(job)
    if job.metadata.deletion_timestamp is not None or pod.metadata.uid in noted.succeeded:
        return True
    completions, index = job.spec.completions or 0, valid_index(job, pod)
    if pod.status.phase == "Succeeded":
        if not is_indexed(job):
            return pod.metadata.uid in noted.failed
        settled = Indexes.parse(status.completed_indexes, completions) | Indexes.parse(
            status.failed_indexes, completions
        )
        return index is None or index in settled or pod.metadata.uid in noted.failed
    if not _is_lost(job, pod):
        return is_terminating(pod) and condition(status, SUCCESS) is not None
    held = index is not None and made.held.get(index) is pod
    if held and verdict_of(job) is None:
        return False
    return pod.metadata.uid in noted.failed or not _is_counted(job, pod)


def _is_lost(job: Job, pod: Pod) -> bool:
    """Whether it has failed, or was stopped because the Job has."""
    return has_failed(pod, job) or (is_terminating(pod) and condition(job.status, FAILURE) is not None)


def _is_counted(job: Job, pod: Pod) -> bool:
    """Whether a lost pod is one of the failures that are counted."""
    return counts(job, pod) and (not is_indexed(job) or valid_index(job, pod) is not None)


def account(job: Job, pods: Sequence[Pod], made: JobProgress) -> JobStatus:
    """The status with the next steps taken: what has lost its finalizer is counted, what has finished is noted."""
    status, noted = job.status, uncounted(job)
    tracked = {each.metadata.uid for each in pods if is_tracked(each)}
    succeeded = [uid for uid in noted.succeeded if uid in tracked]
    failed = [uid for uid in noted.failed if uid in tracked]
    status.succeeded = ((status.succeeded or 0) + len(noted.succeeded) - len(succeeded)) or None
    status.failed = ((status.failed or 0) + len(noted.failed) - len(failed)) or None
    room = MOST_UNCOUNTED - len(succeeded) - len(failed)
    new_failed = [
        each.metadata.uid
        for each in pods
        if is_tracked(each) and _is_lost(job, each) and _is_counted(job, each) and each.metadata.uid not in failed
    ][: max(room, 0)]
    new_succeeded = [] if is_indexed(job) else [each.metadata.uid for each in made.newly_succeeded]
    status.uncounted_terminated_pods = UncountedTerminatedPods(
        succeeded=succeeded + new_succeeded[: max(room - len(new_failed), 0)], failed=failed + new_failed
    )
    if is_indexed(job):
        status.completed_indexes = str(made.completed) or None
        status.succeeded = len(made.completed) or None
        if job.spec.backoff_limit_per_index is not None:
            status.failed_indexes = str(made.failed_indexes)
    return status


def is_settled(job: Job, pods: Sequence[Pod]) -> bool:
    """Whether every pod is counted, and none may still run."""
    noted = uncounted(job)
    waiting = any(is_tracked(each) or each.status.phase not in ("Succeeded", "Failed") for each in pods)
    return not (waiting or noted.succeeded or noted.failed)
