"""How a cluster's backups stand: the last snapshot, and whether there should have been another by now."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from etcd_operator.api import EtcdCluster, Snapshot
from etcd_operator.results import Failure, Running, outcome
from windvane.k8s import batch, core

GRACE = timedelta(hours=1)
"""How long a snapshot may take at most, from when it is due; after that time its Job is given up, too."""


class BackupHealth(NamedTuple):
    """What the status of a cluster says about its backups."""

    last: Snapshot | None
    """The last snapshot that was taken and verified, on schedule or not."""
    ready: bool
    """Whether the condition BackupReady holds."""
    reason: str
    message: str
    look_again: datetime | None = None
    """When this may be otherwise even if nothing happens, for just that would be wrong."""


def backup_status(
    cluster: EtcdCluster,
    jobs: Iterable[batch.Job],
    pods: Iterable[core.Pod],
    now: datetime,
    *,
    since: datetime | None = None,
) -> BackupHealth:
    """How backups stand, by the Jobs that took snapshots of the cluster, whatever for.

    `since` is when the schedule began, as the CronJob was made: nothing was due before. BackupReady is true only if a
    snapshot that is not too old is there; so it is false without a schedule: somebody chose that, and should see it.
    """
    pods = list(pods)
    results = [(job, outcome(job, pods)) for job in jobs]
    last = _newest([each for _, each in results if isinstance(each, Snapshot)], cluster.status.last_backup)
    ended_well = [job.status.completion_time for job, each in results if isinstance(each, Snapshot)]
    last_success = max((each for each in (*ended_well, last and last.taken) if each), default=None)
    failures = [each for _, each in results if isinstance(each, Failure)]
    failure = max(failures, key=lambda each: each.when, default=None)
    if failure is not None and (last_success is None or failure.when > last_success):
        return BackupHealth(last, False, "BackupFailed", f"{failure.message}; {_last(last)}")

    schedule = cluster.spec.backup_schedule
    if schedule is None:
        return BackupHealth(last, False, "NoSchedule", f"spec.backupSchedule is not set; {_last(last)}")
    known = [each for each in (since or cluster.metadata.creation_timestamp, last and last.taken) if each]
    due = schedule.next(max(known, default=now))
    if due is None:
        return BackupHealth(last, False, "NoSchedule", f"spec.backupSchedule is never due; {_last(last)}")
    too_late = due + min(GRACE, (schedule.next(due) or due + GRACE) - due)  # at the time of the one after it, or before
    if now > too_late:
        waits = "".join(f" ({each.message})" for _, each in results if isinstance(each, Running))
        return BackupHealth(last, False, "Overdue", f"a snapshot was due at {_time(due)}{waits}; {_last(last)}")
    if last is None:
        return BackupHealth(None, False, "Pending", f"the first snapshot is due at {_time(due)}", too_late)
    message = f"{_last(last)}, verified; the next is due at {_time(due)}"
    return BackupHealth(last, True, "Scheduled", message, too_late)


def _newest(snapshots: list[Snapshot], known: Snapshot | None) -> Snapshot | None:
    """The last snapshot. Of the same one, the status knows more than its Job, whose pod and log may be gone."""
    every = [each for each in snapshots if known is None or each.name != known.name]
    return max([*every, known] if known else every, key=lambda each: each.taken, default=None)


def _last(last: Snapshot | None) -> str:
    if last is None:
        return "there is no snapshot"
    return f"the last snapshot is {last.name}, of {_time(last.taken)}"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
