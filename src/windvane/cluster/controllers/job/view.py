"""The pods of a Job as they are, and what is remembered of it from one pass to the next.

Counting from a view that is older than the numbers would count a pod twice: it seems to be still uncounted. Two caches,
of Jobs and of pods, may well be of different ages when a controller begins, or takes over from another. So the cache is
believed only if no other client has counted since our last pass, and if it shows all that we saw then. Else the server
is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from windvane import Context, Selector, to_wire
from windvane.cluster.controllers.job.backoff import JobBackoff
from windvane.cluster.controllers.workloads.controller_refs import (
    ORPHAN,
    controller_of,
    is_controlled_by,
    pods_by_controller,
)
from windvane.cluster.controllers.workloads.lru_cache import LRUCache
from windvane.k8s.batch import Job
from windvane.k8s.core import Pod


@dataclass
class JobMemory:
    """What the last pass saw and did. All of it can be lost."""

    status: dict[str, Any] = field(default_factory=dict)
    """The status that it left."""
    versions: dict[str, int] = field(default_factory=dict)
    """The pods that it saw: by uid, in which version."""
    backoff: JobBackoff | None = None


class JobMemories:
    """What is remembered of each Job."""

    def __init__(self) -> None:
        self._of: LRUCache[JobMemory] = LRUCache()

    def recall(self, job: Job) -> JobMemory:
        """What the last pass left, unless another client has written the status since, or it was never written."""
        memory = self._of.get(job.metadata.uid)
        return memory if memory is not None and memory.status == to_wire(job.status) else JobMemory()

    def keep(self, job: Job, pods: Sequence[Pod], backoff: JobBackoff) -> None:
        """Remember what a pass saw and did."""
        versions = {each.metadata.uid: _version(each) for each in pods}
        self._of.keep(job.metadata.uid, JobMemory(to_wire(job.status), versions, backoff))

    def forget(self, job: Job) -> bool:
        """Remember it no more; whether the last pass left it as it is."""
        memory = self._of.forget(job.metadata.uid)
        return memory is not None and memory.status == to_wire(job.status)


async def pods_around(job: Job, selector: Selector, memory: JobMemory, ctx: Context) -> list[Pod]:
    """The pods that the Job controls, or may adopt."""
    cached = ctx.find(pods_by_controller, job.metadata.uid) + ctx.find(pods_by_controller, ORPHAN)
    if memory.backoff is not None and _shows(cached, memory):
        return cached
    listed = await ctx.client.list(Pod, namespace=job.metadata.namespace, labels=selector)
    return [each for each in listed if is_controlled_by(each, job) or controller_of(each) is None]


def _shows(cached: Sequence[Pod], memory: JobMemory) -> bool:
    shown = {each.metadata.uid: _version(each) for each in cached}
    return all(shown.get(uid, -1) >= version for uid, version in memory.versions.items())


def _version(pod: Pod) -> int:
    return int(pod.metadata.resource_version)
