"""Pods that no Job will count lose the finalizer that held them for it: their Job is gone, or done, or not theirs."""

from contextlib import suppress

from windvane import Conflict, Context, NotFound, Operator, View, Watch
from windvane.cluster.controllers.job.conditions import is_finished, is_ours
from windvane.cluster.controllers.job.pods import TRACKING, is_tracked
from windvane.cluster.controllers.workloads.controller_refs import controller_of, pods_by_controller
from windvane.k8s.batch import Job
from windvane.k8s.core import Pod


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    def concerned(job: Job, view: View) -> list[Pod]:
        return view.find(pods_by_controller, job.metadata.uid)

    @operator.controller(
        Pod, name="job-finalizers", watches=[Watch(Job, to=concerned, seeing=is_finished)], until_gone=True
    )
    async def release(pod: Pod, ctx: Context) -> None:
        if is_tracked(pod) and not await is_looked_after(pod, ctx):
            await untrack(pod, ctx)


async def is_looked_after(pod: Pod, ctx: Context) -> bool:
    """Whether the finalizer is taken off elsewhere: by the Job that the pod belongs to, or by another controller."""
    controller = controller_of(pod)
    if controller is None:
        return False
    if controller.kind != "Job" or controller.api_version != "batch/v1":
        return True
    job = ctx.get(Job, controller.name)
    if job is None or job.metadata.uid != controller.uid:
        # The cache of Jobs may be behind that of pods. One finalizer too few is a pod that is never counted.
        try:
            job = await ctx.client.get(Job, controller.name)
        except NotFound:
            return False
        if job.metadata.uid != controller.uid:
            return False
    return not (is_finished(job) and is_ours(job))


async def untrack(pod: Pod, ctx: Context) -> None:
    """Take the finalizer off a pod, if it is (still) there."""
    if not is_tracked(pod):
        return
    patch = {"metadata": {"uid": pod.metadata.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING]}}
    with suppress(NotFound, Conflict):  # it is gone, or another one has its name
        await ctx.client.patch(Pod, pod.metadata.name, patch, type="strategic")
