"""Pods that are removed whatever their owner wants: their status says why, and whether they have failed by that."""

from contextlib import suppress
from datetime import datetime
from typing import Any

from windvane import Conflict, Context, NotFound, ambient, format_time
from windvane.cluster.controllers.workloads.pod_state import is_finished
from windvane.k8s.core import Pod


async def evict(pod: Pod, ctx: Context, reason: str, message: str) -> None:
    """Ask a pod to leave, with the time that it asks for itself."""
    with suppress(NotFound, Conflict):
        await _tell(pod, {"conditions": [disruption(reason, message, ambient.now())]}, ctx)
        await ctx.client.delete(Pod, pod.metadata.name, namespace=pod.metadata.namespace, uid=pod.metadata.uid)


async def remove(pod: Pod, ctx: Context, reason: str = "", message: str = "") -> None:
    """Delete a pod at once: no kubelet is there any more to end its containers. If it had not ended, it has failed."""
    status: dict[str, Any] = {} if is_finished(pod) else {"phase": "Failed"}
    if reason:
        status["conditions"] = [disruption(reason, message, ambient.now())]
    with suppress(NotFound, Conflict):
        if status:
            await _tell(pod, status, ctx)
        meta = pod.metadata
        await ctx.client.delete(Pod, meta.name, namespace=meta.namespace, uid=meta.uid, grace_period=0)


def disruption(reason: str, message: str, now: datetime) -> dict[str, Any]:
    """The condition of a pod that is made to leave."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": format_time(now),
    }


async def _tell(pod: Pod, status: dict[str, Any], ctx: Context) -> None:
    patch = {"metadata": {"uid": pod.metadata.uid}, "status": status}
    meta = pod.metadata
    await ctx.client.patch(Pod, meta.name, patch, namespace=meta.namespace, subresource="status", type="strategic")
