"""Jobs under chance: pods end and vanish, and controllers die between any two writes. Each pod is counted, and once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import job
from windvane import ambient
from windvane.api.status import APIStatus
from windvane.client.transport import Request
from windvane.cluster.controllers.workloads.pod_state import is_active, is_finished
from windvane.k8s.batch import Job
from windvane.k8s.core import Pod
from windvane.sim.time import VirtualLoop, VirtualTime

Action = Literal["succeed", "fail", "delete", "delete finished", "crash", "late", "clear"]
ACTIONS: tuple[Action, ...] = ("succeed", "succeed", "fail", "delete", "delete finished", "crash", "late", "clear")
PARALLELISM = 3
COMPLETIONS = 6
MANY = 12
"""How many random lives are tried. Hundreds have been."""
DOWN = APIStatus(status="Failure", code=503, reason="ServiceUnavailable", message="the controller is dead")


class Step(NamedTuple):
    """Something that happens, to one pod or to the controllers, and how long nothing happens after it."""

    action: Action
    which: int
    seconds: float


STEPS = st.lists(
    st.builds(Step, st.sampled_from(ACTIONS), st.integers(0, 12), st.sampled_from([0.0, 0.01, 0.1, 1.0, 11.0])),
    max_size=14,
)


@dataclass
class Ledger:
    """What really happened."""

    made: set[str] = field(default_factory=set)
    active: set[str] = field(default_factory=set)
    succeeded: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    most_active: int = 0

    async def watch(self, cluster: Cluster) -> None:
        async for event in cluster.admin.watch(Pod, namespace="default", initial=True):
            if event.type == "BOOKMARK":
                continue
            uid = event.object.metadata.uid
            self.made.add(uid)
            (self.active.add if event.type != "DELETED" and is_active(event.object) else self.active.discard)(uid)
            self.most_active = max(self.most_active, len(self.active))


async def happen(cluster: Cluster, ledger: Ledger, step: Step) -> None:
    """Let one step happen."""
    there = [each for each in await cluster.list(Pod) if each.metadata.deletion_timestamp is None]
    running = [each for each in there if not is_finished(each)]
    finished = [each for each in there if is_finished(each)]
    match step.action:
        case "succeed" if running:
            ledger.succeeded.add(running[step.which % len(running)].metadata.uid)
            await cluster.finish(running[step.which % len(running)])
        case "fail" if running:
            ledger.failed.add(running[step.which % len(running)].metadata.uid)
            await cluster.finish(running[step.which % len(running)], code=1)
        case "delete" if running:
            ledger.failed.add(running[step.which % len(running)].metadata.uid)
            await cluster.admin.delete(Pod, running[step.which % len(running)].metadata.name)
        case "delete finished" if finished:
            await cluster.admin.delete(Pod, finished[step.which % len(finished)].metadata.name)
        case "crash":
            cluster.weather.refuse = dies_after(step.which)
            await ambient.sleep(step.seconds)
            cluster.weather.refuse = lambda _: None
            await cluster.restart_controllers()
        case "late":
            cluster.weather.lag = step.which / 4
        case "clear":
            cluster.weather.clear()


def dies_after(writes: int) -> Callable[[Request], APIStatus | None]:
    """Nothing gets through after that many writes, as if the process were gone."""
    left = writes

    def refuse(request: Request) -> APIStatus | None:
        nonlocal left
        if left > 0 and request.method != "GET":
            left -= 1
            return None
        return None if left > 0 else DOWN

    return refuse


async def live_through(steps: list[Step], **spec: Any) -> tuple[Job, Ledger]:
    """Have all of it happen, and then let all pods succeed until the Job is complete."""
    cluster, ledger = Cluster(), Ledger()
    await cluster.begin()
    try:
        watching = cluster.start(ledger.watch(cluster))
        made = job(completions=COMPLETIONS, parallelism=PARALLELISM, backoffLimit=1000, **spec)
        await cluster.admin.create(made)
        for step in [Step("clear", 0, 1.0), *steps]:
            await happen(cluster, ledger, step)
            await ambient.sleep(step.seconds)
        cluster.weather.clear()

        async def complete() -> bool:
            await happen(cluster, ledger, Step("succeed", 0, 0.0))
            done = await cluster.admin.get(Job, "work", namespace="default")
            return any(each.type == "Complete" for each in done.status.conditions)

        await cluster.until_async(complete)
        await cluster.settled()
        assert not watching.done()
        return await cluster.admin.get(Job, "work", namespace="default"), ledger
    finally:
        await cluster.close()


def run(steps: list[Step], seed: int = 0, **spec: Any) -> tuple[Job, Ledger]:
    with ambient.use(VirtualTime(seed)), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(live_through(steps, **spec))


@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, st.integers(0, 1000))
def test_each_pod_is_counted_once_and_none_is_made_in_vain(steps: list[Step], seed: int) -> None:
    done, ledger = run(steps, seed)
    assert (done.status.succeeded or 0) == len(ledger.succeeded) == COMPLETIONS
    assert (done.status.failed or 0) == len(ledger.failed)
    assert len(ledger.made) == COMPLETIONS + len(ledger.failed)
    assert ledger.most_active <= PARALLELISM


@settings(max_examples=MANY // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, st.integers(0, 1000), st.sampled_from([{}, {"backoffLimitPerIndex": 1000}]))
def test_each_index_is_done_once(steps: list[Step], seed: int, limits: dict[str, int]) -> None:
    done, ledger = run(steps, seed, completionMode="Indexed", **limits)
    assert done.status.completed_indexes == "0-5"
    assert len(ledger.succeeded) == COMPLETIONS
    assert (done.status.failed or 0) == len(ledger.failed)
    assert len(ledger.made) == COMPLETIONS + len(ledger.failed)
    assert ledger.most_active <= PARALLELISM


@pytest.mark.parametrize("writes", range(12))
def test_a_crash_after_any_write_loses_nothing(writes: int) -> None:
    ends = [Step("succeed", 0, 0.0), Step("fail", 0, 0.0), Step("delete", 0, 0.0)]
    done, ledger = run([*ends, Step("crash", writes, 1.0)])
    assert (done.status.succeeded, done.status.failed) == (COMPLETIONS, 2)
    assert len(ledger.made) == COMPLETIONS + 2


def test_a_controller_that_counts_without_taking_notes_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(_job: Job, pods: list[Pod], _made: object) -> list[Pod]:
        return [each for each in pods if is_finished(each)]

    monkeypatch.setattr("windvane.cluster.controllers.job.controller.releasable", careless)
    counts = []
    for writes in range(4):
        done, ledger = run([Step("fail", 0, 0.0), Step("fail", 0, 0.0), Step("crash", writes, 1.0)])
        counts.append((done.status.failed or 0) == len(ledger.failed))
    assert not all(counts)
