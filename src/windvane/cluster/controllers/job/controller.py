"""Jobs: pods of one template until enough of them have succeeded, or too many have failed.

A pass counts (job_progress), decides (job_verdict, job_plan), does it, and takes the next steps of the accounts
(job_accounting). Each pass does what follows from the status as it was read, so it does not matter where the last one
was interrupted.
"""

from collections.abc import Sequence
from datetime import datetime

from windvane import After, ClientError, Context, Operator, Selector, Watch, ambient
from windvane.cluster.controllers.job.backoff import JobBackoff
from windvane.cluster.controllers.job.completion import (
    completed_condition,
    is_complete,
    seconds_to_deadline,
    verdict,
)
from windvane.cluster.controllers.job.conditions import (
    COMPLETE,
    OUTCOMES,
    SUCCESS,
    SUSPENDED,
    condition,
    finished_condition,
    is_ours,
    new_condition,
)
from windvane.cluster.controllers.job.orphan_pods import untrack
from windvane.cluster.controllers.job.plan import JobPlan, plan
from windvane.cluster.controllers.job.pods import TRACKING, has_failed, pod_for
from windvane.cluster.controllers.job.progress import JobProgress, progress
from windvane.cluster.controllers.job.uncounted_pods import MOST_UNCOUNTED, account, is_settled, releasable
from windvane.cluster.controllers.job.view import JobMemories, pods_around
from windvane.cluster.controllers.workloads.controller_refs import claimed_by, settle_claims
from windvane.cluster.controllers.workloads.pod_control import create_pod, delete_pod
from windvane.cluster.controllers.workloads.pod_state import is_ready
from windvane.cluster.controllers.workloads.slow_start import all_at_once, slow_start
from windvane.cluster.controllers.workloads.status_steps import StatusSteps
from windvane.k8s.batch import Job, JobCondition
from windvane.k8s.core import Pod


def add_to(operator: Operator) -> None:
    """Declare the controller."""
    memories = JobMemories()

    @operator.controller(
        Job,
        watches=[Watch(Pod, to=claimed_by(Job, selector_of))],
        until_gone=True,
        events_from="job-controller",
    )
    async def jobs(job: Job, ctx: Context) -> After | None:
        if not is_ours(job):
            return None
        if (end := finished_condition(job)) is not None:
            if memories.forget(job):  # else it was told already, by this controller or by another one
                _tell_end(job, end, ctx)
            return None
        return await reconcile(job, ctx, memories)


def selector_of(job: Job) -> Selector:
    """Which pods are its."""
    return Selector.from_label_selector(job.spec.selector)


async def reconcile(job: Job, ctx: Context, memories: JobMemories) -> After | None:
    """One pass over a Job that is not finished."""
    steps = StatusSteps(job.status)
    memory, now = memories.recall(job), ambient.now()
    around = await pods_around(job, selector_of(job), memory, ctx)
    pods = await settle_claims(job, selector_of(job), around, ctx, finalizers=[TRACKING])
    made = progress(job, pods)
    backoff = _backoff(job, pods, made, memory.backoff)
    if job.status.start_time is None and not job.spec.suspend:
        job.status.start_time = now.replace(microsecond=0)
    given = verdict(job, pods, made, now)
    written = given is not None and given in job.status.conditions
    going = job.metadata.deletion_timestamp is not None
    doing = _Doing(job, made, ctx)
    failure: ClientError | None = None
    wait = 0.0
    try:
        if given is not None and written:
            await doing.stop(given)
        elif given is None and not going:
            planned = plan(job, made, backoff, now)
            wait = planned.wait
            await doing.carry_out(planned)
    except ClientError as error:
        failure = error
    release = releasable(job, pods, made)[:MOST_UNCOUNTED]
    account(job, pods, made)
    job.status.active = doing.active or None
    job.status.ready = doing.ready
    job.status.terminating = doing.terminating
    if given is None and is_complete(job, made, doing.active):
        given = completed_condition(now)
    if given is None:
        if not going:
            _note_suspension(job, ctx, now)
    elif not written:
        job.status.conditions.append(given)
    elif is_settled(job, pods) and doing.active == doing.terminating == 0:
        _finish(job, given, now)
    memories.keep(job, pods, backoff)
    try:
        await all_at_once(*(untrack(each, ctx) for each in release))
    except ClientError as error:
        failure = failure or error
    if failure is not None:
        raise failure
    times = [wait, seconds_to_deadline(job, now) or 0.0]
    soonest = min((each for each in times if each > 0), default=None)
    return steps.after(job.status, After(seconds=soonest) if soonest else None)


def _backoff(job: Job, pods: Sequence[Pod], made: JobProgress, before: JobBackoff | None) -> JobBackoff:
    if before is not None:
        return before.after(made.newly_succeeded, made.newly_failed)
    # Nothing is remembered: what is left of the pods tells most of it.
    succeeded = [each for each in pods if each.status.phase == "Succeeded"]
    return JobBackoff().after(succeeded, [each for each in pods if has_failed(each, job)])


class _Doing:
    """Making and stopping the pods of a Job, and how many there are afterwards."""

    def __init__(self, job: Job, made: JobProgress, ctx: Context) -> None:
        self._job = job
        self._made = made
        self._ctx = ctx
        self.active = len(made.active)
        self.ready = sum(map(is_ready, made.active))
        self.terminating = len(made.terminating)

    async def stop(self, given: JobCondition) -> None:
        """Stop what still runs, because of a verdict. Where the Job has succeeded, that is no failure of the pods."""
        stop = self._remove if given.type == SUCCESS else self._delete
        await all_at_once(*map(stop, self._made.active))

    async def carry_out(self, planned: JobPlan) -> None:
        """Make pods, or remove some."""
        indexes = iter(planned.create)
        await slow_start(len(planned.create), lambda: self._create(next(indexes)))
        await all_at_once(*map(self._remove, planned.remove))

    async def _create(self, index: int | None) -> None:
        replaced = None if index is None else self._made.held.get(index)
        await create_pod(pod_for(self._job, index, replaced), self._ctx)
        self.active += 1

    async def _remove(self, pod: Pod) -> None:
        """Delete a pod that is not needed. Without its finalizer first: it must not count as failed."""
        await untrack(pod, self._ctx)
        await self._delete(pod)

    async def _delete(self, pod: Pod) -> None:
        await delete_pod(pod, self._ctx)
        self.active -= 1
        self.ready -= is_ready(pod)
        self.terminating += 1


def _note_suspension(job: Job, ctx: Context, now: datetime) -> None:
    """Say whether the Job is suspended. Its time begins anew when it is resumed."""
    before = condition(job.status, SUSPENDED)
    if bool(job.spec.suspend) == (before is not None):
        return
    if before is None:
        said = new_condition(SUSPENDED, "JobSuspended", "Job suspended", now)
        job.status.start_time = None
        ctx.event("Suspended", "Job suspended")
    else:
        said = new_condition(SUSPENDED, "JobResumed", "Job resumed", now, status="False")
        job.status.start_time = now.replace(microsecond=0)
        ctx.event("Resumed", "Job resumed")
    others = [each for each in job.status.conditions if each.type != SUSPENDED]
    job.status.conditions = [*others, said]


def _finish(job: Job, given: JobCondition, now: datetime) -> None:
    end = new_condition(OUTCOMES[given.type], given.reason or "", given.message or "", now)
    job.status.conditions.append(end)
    if end.type == COMPLETE:
        job.status.completion_time = end.last_transition_time


def _tell_end(job: Job, end: JobCondition, ctx: Context) -> None:
    if end.type != COMPLETE:
        ctx.event(end.reason or "", end.message or "", type="Warning")
        return
    if job.spec.completions is not None and (job.status.succeeded or 0) > job.spec.completions:
        message = "Too many succeeded pods running after completion count reached"
        ctx.event("TooManySucceededPods", message, type="Warning")
    ctx.event("Completed", "Job completed")
