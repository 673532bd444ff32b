"""Whether a cluster's backups are as they should be."""

import json
from datetime import UTC, datetime, timedelta

from etcd_operator.api import EtcdClusterStatus, Snapshot
from etcd_operator.backup_health import backup_status
from jobs_and_pods import cluster, ended, job, pod

NIGHT = datetime(2026, 1, 2, 2, 0, tzinfo=UTC)
MORNING = datetime(2026, 1, 2, 8, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def snapshot(name: str, taken: datetime, revision: int = 0) -> Snapshot:
    return Snapshot(name=name, taken=taken, volume_claim="prod-backups", revision=revision)


def test_the_last_snapshot_is_in_time() -> None:
    done = job("one", "Complete", at=NIGHT + MINUTE)
    record = json.dumps({"name": "one", "taken": "2026-01-02T02:00:00Z", "size": 5, "sha256": "ab"})
    health = backup_status(cluster(), [done], [pod(done, "Succeeded", keep=ended(0, record))], MORNING)
    assert (health.ready, health.reason) == (True, "Scheduled")
    assert health.message == (
        "the last snapshot is one, of 2026-01-02 02:00:00 UTC, verified; the next is due at 2026-01-03 02:00:00 UTC"
    )
    assert health.last is not None
    assert health.last.sha256 == "ab"
    assert health.look_again == NIGHT + DAY + HOUR


def test_what_the_status_has_counts_when_jobs_are_gone() -> None:
    known = cluster()
    known.status = EtcdClusterStatus(last_backup=snapshot("one", NIGHT, revision=7))
    health = backup_status(known, [], [], MORNING)
    assert (health.ready, health.last) == (True, snapshot("one", NIGHT, revision=7))


def test_the_revision_that_the_status_has_is_not_forgotten() -> None:
    known = cluster()
    known.status = EtcdClusterStatus(last_backup=snapshot("one", NIGHT, revision=7))
    health = backup_status(known, [job("one", "Complete", at=NIGHT + MINUTE)], [], MORNING)
    assert health.last is not None
    assert health.last.revision == 7


def test_a_failure_after_the_last_success_is_told_with_its_words() -> None:
    failed = job("two", "Failed", at=NIGHT + HOUR)
    pods = [pod(failed, "Failed", snapshot=ended(5, "Error: no space left on device"))]
    health = backup_status(cluster(), [job("one", "Complete", at=NIGHT), failed], pods, MORNING)
    assert (health.ready, health.reason) == (False, "BackupFailed")
    assert health.message == (
        "taking the snapshot failed (exit code 5): no space left on device; "
        "the last snapshot is one, of 2026-01-02 01:59:00 UTC"
    )


def test_a_success_after_a_failure_makes_up_for_it() -> None:
    jobs = [job("one", "Failed", at=NIGHT + MINUTE), job("two", "Complete", at=NIGHT + MINUTE * 2)]
    assert backup_status(cluster(), jobs, [], MORNING).reason == "Scheduled"


def test_a_failure_while_a_success_was_under_way_does_not_count() -> None:
    long = job("long", "Complete", at=NIGHT + HOUR)
    long.status.start_time = NIGHT
    assert backup_status(cluster(), [long, job("short", "Failed", at=NIGHT + MINUTE)], [], MORNING).ready


def test_a_snapshot_that_did_not_come_is_overdue() -> None:
    done = job("one", "Complete", at=NIGHT)
    assert backup_status(cluster(), [done], [], NIGHT + HOUR).ready
    health = backup_status(cluster(), [done], [], NIGHT + DAY + HOUR + MINUTE)
    assert (health.ready, health.reason) == (False, "Overdue")
    assert "a snapshot was due at 2026-01-02 02:00:00 UTC" in health.message


def test_of_a_tight_schedule_none_may_be_left_out() -> None:
    often, done = cluster(backupSchedule="*/5 * * * *"), job("one", "Complete", at=NIGHT + MINUTE)
    assert backup_status(often, [done], [], NIGHT + MINUTE * 10).ready
    assert backup_status(often, [done], [], NIGHT + MINUTE * 11).reason == "Overdue"


def test_what_is_overdue_says_what_it_waits_for() -> None:
    stuck = job("two")
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    pods = [pod(stuck, "Pending", begin=waiting)]
    health = backup_status(cluster(), [job("one", "Complete", at=NIGHT), stuck], pods, NIGHT + DAY * 2)
    assert health.message == (
        "a snapshot was due at 2026-01-02 02:00:00 UTC (beginning the snapshot can't begin: ImagePullBackOff: "
        "no such image); the last snapshot is one, of 2026-01-02 01:59:00 UTC"
    )


def test_before_the_first_one_it_is_pending_and_then_overdue() -> None:
    health = backup_status(cluster(), [], [], datetime(2026, 1, 1, 1, tzinfo=UTC))
    assert (health.ready, health.reason) == (False, "Pending")
    assert "2026-01-01 02:00:00 UTC" in health.message
    assert backup_status(cluster(), [], [], MORNING).reason == "Overdue"


def test_nothing_was_due_before_the_schedule_was_set() -> None:
    health = backup_status(cluster(), [], [], MORNING, since=NIGHT + HOUR)
    assert (health.reason, health.look_again) == ("Pending", NIGHT + DAY + HOUR)


def test_without_a_schedule_nothing_is_ready_and_a_snapshot_is_still_shown() -> None:
    health = backup_status(cluster(backupSchedule=None), [job("one", "Complete", at=NIGHT)], [], MORNING)
    assert (health.ready, health.reason, health.look_again) == (False, "NoSchedule", None)
    assert "the last snapshot is one" in health.message


def test_a_job_that_runs_changes_nothing() -> None:
    done = job("one", "Complete", at=NIGHT)
    assert backup_status(cluster(), [done, job("two")], [], NIGHT) == backup_status(cluster(), [done], [], NIGHT)
