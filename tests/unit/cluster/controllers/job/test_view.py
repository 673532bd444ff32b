"""When a cache of pods is believed, and when the server is asked."""

from dataclasses import dataclass, field
from typing import Any, cast

from integration.controllers.workloads import job
from windvane.api import codec
from windvane.api.selector import Selector
from windvane.cluster.controllers.job.backoff import JobBackoff
from windvane.cluster.controllers.job.view import JobMemories, pods_around
from windvane.k8s.batch import Job
from windvane.k8s.core import Pod


def a_pod(uid: str, version: int) -> Pod:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "work", "uid": "the job", "controller": True}
    metadata = {"name": uid, "uid": uid, "resourceVersion": str(version), "ownerReferences": [owner]}
    return codec.from_wire({"metadata": metadata, "spec": {"containers": []}}, Pod)


def a_job(succeeded: int = 0) -> Job:
    made = job()
    made.metadata.uid = "the job"
    made.status.succeeded = succeeded or None
    return made


@dataclass
class Reading:
    """Stands for a context, its cache, and the server behind it."""

    cached: list[Pod]
    listed: list[Pod] = field(default_factory=list)
    asked: int = 0

    @property
    def client(self) -> "Reading":
        return self

    def find(self, _index: object, value: str) -> list[Pod]:
        return self.cached if value else []

    async def list(self, _what: type[Pod], **_selectors: object) -> list[Pod]:
        self.asked += 1
        return self.listed


async def around(before: list[Pod], then: Job, reading: Reading) -> list[Pod]:
    """What is seen of a Job after a pass has seen `before`, and left it without any success."""
    memories = JobMemories()
    memories.keep(a_job(), before, JobBackoff())
    return await pods_around(then, Selector(), memories.recall(then), cast(Any, reading))


async def test_the_cache_is_believed_if_it_shows_what_was_seen_before() -> None:
    reading = Reading([a_pod("one", 7)])
    assert await around([a_pod("one", 5)], a_job(), reading) == reading.cached
    assert reading.asked == 0


async def test_the_server_is_asked_if_nothing_is_remembered() -> None:
    reading = Reading([], [a_pod("one", 7)])
    found = await pods_around(a_job(), Selector(), JobMemories().recall(a_job()), cast(Any, reading))
    assert found == reading.listed


async def test_the_server_is_asked_if_somebody_else_has_counted() -> None:
    reading = Reading([a_pod("one", 7)], [a_pod("one", 9)])
    assert await around([a_pod("one", 5)], a_job(succeeded=1), reading) == reading.listed


async def test_the_server_is_asked_if_the_cache_is_older_than_what_was_seen() -> None:
    reading = Reading([a_pod("one", 4)], [a_pod("one", 5)])
    assert await around([a_pod("one", 5)], a_job(), reading) == reading.listed


async def test_the_server_is_asked_if_a_pod_is_missing() -> None:
    reading = Reading([], [a_pod("one", 5)])
    assert await around([a_pod("one", 5)], a_job(), reading) == reading.listed


async def test_what_another_job_controls_is_not_around() -> None:
    other = a_pod("other", 3)
    other.metadata.owner_references[0].uid = "another job"
    assert await around([a_pod("one", 5)], a_job(succeeded=1), Reading([], [other])) == []


def test_who_left_a_job_as_it_is_is_remembered_once() -> None:
    memories = JobMemories()
    memories.keep(a_job(), [], JobBackoff())
    assert memories.forget(a_job())
    assert not memories.forget(a_job())
