"""Finished Jobs go when their time has come: `spec.ttlSecondsAfterFinished`, which may be changed until then."""

from contextlib import suppress
from datetime import datetime, timedelta

from windvane import After, Conflict, Context, NotFound, Operator, ambient
from windvane.cluster.controllers.job.conditions import finished_condition
from windvane.k8s.batch import Job


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(Job, name="ttl-after-finished")
    async def expire(job: Job, ctx: Context) -> After | None:
        left = seconds_left(job, ambient.now())
        if left is not None and left <= 0:
            # Look again, at the Job as it is: time that it was just given must not be lost to a cache that is behind.
            try:
                job = await ctx.client.get(Job, job.metadata.name)
            except NotFound:
                return None
            left = seconds_left(job, ambient.now())
        if left is None:
            return None
        if left > 0:
            return After(seconds=left)
        with suppress(NotFound, Conflict):  # it is gone, or another one has its name
            await ctx.client.delete(Job, job.metadata.name, uid=job.metadata.uid, propagation="Foreground")
        return None


def seconds_left(job: Job, now: datetime) -> float | None:
    """How long a finished Job is kept; None if it is not finished, is to be kept, or is being deleted already."""
    end, ttl = finished_condition(job), job.spec.ttl_seconds_after_finished
    if ttl is None or end is None or end.last_transition_time is None or job.metadata.deletion_timestamp is not None:
        return None
    return (end.last_transition_time + timedelta(seconds=ttl) - now).total_seconds()
