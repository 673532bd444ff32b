"""CronJobs: Jobs at their times, what happens if one still runs, what is kept, and clocks that jump."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import cronjob, job
from windvane import ambient
from windvane.cluster.controllers.cronjob.controller import SCHEDULED
from windvane.k8s.batch import CronJob, Job
from windvane.k8s.core import Event, ObjectReference, Pod
from windvane.sim.time import BEGINNING, VirtualTime

EPOCH_MINUTES = int(BEGINNING.timestamp()) // 60


class Clock:
    """What clocks show, which may jump, while the time that passes does not."""

    def __init__(self) -> None:
        self.jumped = timedelta(0)

    def jump(self, **by: float) -> None:
        self.jumped += timedelta(**by)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    def now(time: VirtualTime) -> datetime:
        return BEGINNING + timedelta(seconds=time.monotonic()) + clock.jumped

    monkeypatch.setattr(VirtualTime, "now", now)
    return clock


async def made(cluster: Cluster, schedule: str = "* * * * *", **spec: Any) -> None:
    await cluster.admin.create(cronjob(schedule, **spec))
    await cluster.settled()


async def until(cluster: Cluster, minute: int) -> None:
    """Wait until that many minutes have passed since time began, and a few seconds."""
    passed = (ambient.now() - BEGINNING).total_seconds()
    await ambient.sleep(max(minute * 60 + 3 - passed, 0))
    await cluster.settled()


async def jobs(cluster: Cluster) -> list[str]:
    return [each.metadata.name for each in await cluster.list(Job)]


def named(*minutes: int) -> list[str]:
    return [f"tick-{EPOCH_MINUTES + minute}" for minute in minutes]


async def the(cluster: Cluster) -> CronJob:
    return await cluster.admin.get(CronJob, "tick", namespace="default")


async def finish_all(cluster: Cluster, code: int = 0) -> None:
    running = [each for each in await cluster.list(Pod) if each.status.phase not in ("Succeeded", "Failed")]
    await cluster.finish(*running, code=code)
    await cluster.settled()


async def events(cluster: Cluster, reason: str) -> list[str]:
    await cluster.settled()
    told = [each for each in await cluster.list(Event) if each.involved_object.kind == "CronJob"]
    return sorted(each.message or "" for each in told if each.reason == reason)


async def change(cluster: Cluster, **spec: Any) -> None:
    await cluster.admin.patch(CronJob, "tick", {"spec": spec})
    await cluster.settled()


# Starting


async def test_a_job_is_made_at_each_time(cluster: Cluster) -> None:
    await made(cluster)
    assert await jobs(cluster) == []
    await until(cluster, 1)
    assert await jobs(cluster) == named(1)
    await until(cluster, 3)
    assert await jobs(cluster) == named(1, 2, 3)


async def test_a_job_is_as_the_template_says_and_tells_its_time(cluster: Cluster) -> None:
    await made(cluster)
    await until(cluster, 1)
    [only] = await cluster.list(Job)
    assert only.metadata.labels["by"] == "tick"
    assert only.metadata.annotations == {"by": "tick", SCHEDULED: "2030-01-01T00:01:00Z"}
    [owner] = only.metadata.owner_references
    assert (owner.kind, owner.name, owner.controller) == ("CronJob", "tick", True)
    assert only.spec.template.spec.containers[0].image == "web:1"


async def test_the_status_tells_what_runs_and_when_it_was_scheduled(cluster: Cluster) -> None:
    await made(cluster)
    await until(cluster, 1)
    [only] = await cluster.list(Job)
    status = (await the(cluster)).status
    [reference] = status.active
    assert isinstance(reference, ObjectReference)
    assert (reference.kind, reference.name, reference.uid) == ("Job", only.metadata.name, only.metadata.uid)
    assert (reference.api_version, reference.namespace) == ("batch/v1", "default")
    assert status.last_schedule_time == datetime(2030, 1, 1, 0, 1, tzinfo=UTC)
    assert await events(cluster, "SuccessfulCreate") == [f"Created job {only.metadata.name}"]


async def test_a_completed_job_is_active_no_longer(cluster: Cluster) -> None:
    await made(cluster)
    await until(cluster, 1)
    await finish_all(cluster)
    status = (await the(cluster)).status
    [only] = await cluster.list(Job)
    assert status.active == []
    assert status.last_successful_time == only.status.completion_time
    assert await events(cluster, "SawCompletedJob") == [f"Saw completed job: {only.metadata.name}, condition: Complete"]


async def test_a_failed_job_is_no_success(cluster: Cluster) -> None:
    spec = job(backoffLimit=0).spec
    await made(cluster, jobTemplate={"spec": {"backoffLimit": spec.backoff_limit, "template": template_of(spec)}})
    await until(cluster, 1)
    await finish_all(cluster, code=1)
    status = (await the(cluster)).status
    assert (status.active, status.last_successful_time) == ([], None)
    [said] = await events(cluster, "SawCompletedJob")
    assert said.endswith("condition: Failed")


def template_of(spec: Any) -> dict[str, Any]:
    container = {"name": "web", "image": spec.template.spec.containers[0].image}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


async def test_a_suspended_cronjob_starts_nothing(cluster: Cluster) -> None:
    await made(cluster, suspend=True)
    await until(cluster, 3)
    assert await jobs(cluster) == []


async def test_a_cronjob_that_is_resumed_starts_the_last_it_missed(cluster: Cluster) -> None:
    await made(cluster, "*/2 * * * *", suspend=True)
    await until(cluster, 5)
    await change(cluster, suspend=False)
    assert await jobs(cluster) == named(4)


async def test_a_new_schedule_holds_from_now_on_and_not_for_the_past(cluster: Cluster) -> None:
    await made(cluster, "0 5 * * *")
    await until(cluster, 3)
    await change(cluster, schedule="*/2 * * * *")
    assert await jobs(cluster) == []
    await until(cluster, 4)
    assert await jobs(cluster) == named(4)


async def test_an_interval_begins_when_the_cronjob_was_made(cluster: Cluster) -> None:
    await until(cluster, 0)
    await made(cluster, "@every 90s")
    await until(cluster, 5)
    born = (await the(cluster)).metadata.creation_timestamp
    assert born is not None
    times = [born + timedelta(seconds=90 * each) for each in (1, 2, 3)]
    assert await jobs(cluster) == [f"tick-{int(each.timestamp()) // 60}" for each in times]


async def test_a_time_zone_says_what_the_clock_shows(cluster: Cluster) -> None:
    await made(cluster, "2 1 * * *", timeZone="Europe/Berlin")
    await until(cluster, 2)
    [only] = await cluster.list(Job)
    assert only.metadata.annotations[SCHEDULED] == "2030-01-01T01:02:00+01:00"


async def test_a_day_that_never_comes_is_told(cluster: Cluster) -> None:
    await made(cluster, "0 0 31 2 *")
    assert await events(cluster, "InvalidSchedule") == [
        "invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second"
    ]


# If one still runs


async def test_jobs_may_run_at_the_same_time(cluster: Cluster) -> None:
    await made(cluster)
    await until(cluster, 3)
    assert len((await the(cluster)).status.active) == 3


async def test_with_forbid_nothing_is_started_while_one_runs(cluster: Cluster) -> None:
    await made(cluster, concurrencyPolicy="Forbid")
    await until(cluster, 3)
    assert await jobs(cluster) == named(1)
    message = "Not starting job because prior execution is running and concurrency policy is Forbid"
    assert set(await events(cluster, "JobAlreadyActive")) == {message}


async def test_with_forbid_what_was_missed_starts_when_the_one_has_ended(cluster: Cluster) -> None:
    await made(cluster, concurrencyPolicy="Forbid")
    await until(cluster, 3)
    await finish_all(cluster)
    assert await jobs(cluster) == named(1, 3)


async def test_with_forbid_and_a_deadline_what_is_too_late_does_not_start(cluster: Cluster) -> None:
    await made(cluster, "*/2 * * * *", concurrencyPolicy="Forbid", startingDeadlineSeconds=20)
    await until(cluster, 5)
    await finish_all(cluster)
    assert await jobs(cluster) == named(2)
    missed = "Missed scheduled time to start a job: Tue, 01 Jan 2030 00:04:00 +0000"
    assert await events(cluster, "MissSchedule") == [missed]
    await until(cluster, 6)
    assert await jobs(cluster) == named(2, 6)


async def test_with_replace_the_new_one_takes_the_place_of_the_old(cluster: Cluster) -> None:
    await made(cluster, concurrencyPolicy="Replace")
    await until(cluster, 1)
    [before] = await jobs(cluster)
    await until(cluster, 2)
    assert await jobs(cluster) == named(2)
    assert [each.name for each in (await the(cluster)).status.active] == named(2)
    assert f"Deleted job {before}" in await events(cluster, "SuccessfulDelete")


# What is kept


async def test_three_successes_are_kept_if_nothing_else_is_said(cluster: Cluster) -> None:
    await made(cluster)
    for minute in range(1, 6):
        await until(cluster, minute)
        await finish_all(cluster)
    assert await jobs(cluster) == named(3, 4, 5)
    assert await events(cluster, "SuccessfulDelete") == [f"Deleted job {name}" for name in named(1, 2)]


async def test_one_failure_is_kept_if_nothing_else_is_said(cluster: Cluster) -> None:
    spec = {"backoffLimit": 0, "template": template_of(job().spec)}
    await made(cluster, jobTemplate={"spec": spec})
    for minute in range(1, 4):
        await until(cluster, minute)
        await finish_all(cluster, code=1)
    assert await jobs(cluster) == named(3)


async def test_nothing_is_kept_if_that_is_asked_for(cluster: Cluster) -> None:
    await made(cluster, successfulJobsHistoryLimit=0)
    await until(cluster, 1)
    await finish_all(cluster)
    assert await jobs(cluster) == []
    status = (await the(cluster)).status
    assert status.active == []
    assert status.last_successful_time is not None


async def test_a_lower_limit_holds_at_once(cluster: Cluster) -> None:
    await made(cluster)
    for minute in range(1, 4):
        await until(cluster, minute)
        await finish_all(cluster)
    await change(cluster, successfulJobsHistoryLimit=1)
    assert await jobs(cluster) == named(3)


async def test_a_job_that_somebody_deleted_is_active_no_longer(cluster: Cluster) -> None:
    await made(cluster, "*/2 * * * *")
    await until(cluster, 2)
    [only] = await jobs(cluster)
    await cluster.admin.delete(Job, only, propagation="Background")
    await cluster.settled()
    assert (await the(cluster)).status.active == []
    assert await events(cluster, "MissingJob") == [f"Active job went missing: {only}"]


async def test_a_job_that_the_controller_did_not_make_is_told_of(cluster: Cluster) -> None:
    await made(cluster, "0 5 * * *")
    mine = await the(cluster)
    strange = job()
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": mine.metadata.uid, "controller": True}
    await cluster.admin.create(strange)
    await cluster.admin.patch(Job, "work", {"metadata": {"ownerReferences": [owner]}})
    await cluster.settled()
    assert await events(cluster, "UnexpectedJob") == ["Saw a job that the controller did not create or forgot: work"]


# Restarts and clocks


async def test_after_a_restart_nothing_is_made_twice(cluster: Cluster) -> None:
    await made(cluster)
    await until(cluster, 2)
    await cluster.restart_controllers()
    await cluster.settled()
    assert await jobs(cluster) == named(1, 2)


async def test_a_job_that_was_made_before_the_controller_died_is_known_afterwards(cluster: Cluster) -> None:
    await made(cluster, "0 5 * * *")
    mine = await the(cluster)
    await cluster.admin.patch(CronJob, "tick", {"spec": {"schedule": "2 * * * *"}})
    orphan = job()
    orphan.metadata.name = named(2)[0]
    await cluster.admin.create(orphan)
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": mine.metadata.uid, "controller": True}
    await cluster.admin.patch(Job, named(2)[0], {"metadata": {"ownerReferences": [owner]}})
    await until(cluster, 2)
    assert await jobs(cluster) == named(2)
    assert [each.name for each in (await the(cluster)).status.active] == named(2)


async def test_after_a_long_absence_only_the_last_is_made_up_for(cluster: Cluster, clock: Clock) -> None:
    await made(cluster, "0 * * * *")
    cluster.weather.fall()
    clock.jump(days=3, minutes=30)
    cluster.weather.clear()
    await cluster.restart_controllers()
    await cluster.settled()
    assert await jobs(cluster) == named(3 * 1440)
    assert await events(cluster, "TooManyMissedTimes") == []


async def test_a_clock_that_jumps_over_a_hundred_times_is_told_of(cluster: Cluster, clock: Clock) -> None:
    await made(cluster)
    clock.jump(hours=2)
    await ambient.sleep(61)
    await cluster.settled()
    assert len(await jobs(cluster)) == 1
    remedy = "Set or decrease .spec.startingDeadlineSeconds or check clock skew"
    assert await events(cluster, "TooManyMissedTimes") == [f"too many missed start times. {remedy}"]


async def test_a_clock_that_jumps_is_noticed_within_a_minute(cluster: Cluster, clock: Clock) -> None:
    await made(cluster, "0 5 * * *")
    clock.jump(hours=5)
    await ambient.sleep(61)
    assert await jobs(cluster) == named(300)


async def test_a_clock_that_is_set_back_starts_nothing_twice(cluster: Cluster, clock: Clock) -> None:
    await made(cluster)
    await until(cluster, 3)
    clock.jump(minutes=-2)
    await ambient.sleep(110)
    assert await jobs(cluster) == named(1, 2, 3)
    await ambient.sleep(70)
    assert await jobs(cluster) == named(1, 2, 3, 4)


async def test_months_of_mornings_follow_the_clocks_of_their_zone(cluster: Cluster, clock: Clock) -> None:
    await made(cluster, "0 9 * * *", timeZone="Europe/Berlin", successfulJobsHistoryLimit=100)
    clock.jump(hours=12)
    for _ in range(100):
        clock.jump(days=1)
        await ambient.sleep(61)
    names = await jobs(cluster)
    found = [datetime.fromtimestamp(int(each.removeprefix("tick-")) * 60, UTC) for each in names]
    assert len(found) == 100
    assert {each.hour for each in found} == {7, 8}
    assert found == sorted(found)
