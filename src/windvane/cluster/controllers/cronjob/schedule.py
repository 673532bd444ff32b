"""When a CronJob is due, and when it is next. Pure functions of what it says and of the time."""

from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from windvane import Cron
from windvane.k8s.batch import CronJob

MANY = 100
"""More missed starts than this look like a clock that went wrong, and are told of."""


class Due(NamedTuple):
    """The last time that was scheduled and at which nothing was started yet."""

    time: datetime
    many: bool
    """Whether a great many times were missed before."""


class NeverComes(ValueError):
    """A schedule that is well written, and names a day that no calendar has."""


def beginning(cron: CronJob, changed: datetime | None) -> datetime:
    """From when on starts are looked for: the last one, or when the CronJob, or its schedule, came to be what it is."""
    times = [cron.status.last_schedule_time or cron.metadata.creation_timestamp, changed]
    return max(each for each in times if each is not None)


def due(cron: CronJob, schedule: Cron, zone: tzinfo, since: datetime, now: datetime) -> Due | None:
    """What should have been started since then; None if nothing, or if it is too late for it."""
    deadline = cron.spec.starting_deadline_seconds
    earliest = since if deadline is None else max(since, now - timedelta(seconds=deadline))
    first = schedule.next(earliest, zone)
    if first is None:
        raise NeverComes("time difference between two schedules is less than 1 second")
    latest = schedule.latest(earliest, now, zone)
    if latest is None:
        return None
    second = schedule.next(first, zone)
    # As Kubernetes does it, by the time between the first two, and not one by one: there may be millions.
    missed = (now - first) // (second - first) + 1 if second is not None and second <= now else 0
    return Due(latest, missed > MANY)


def seconds_to_next(schedule: Cron, zone: tzinfo, since: datetime, now: datetime) -> float | None:
    """How long it is until the next start. `@every 1h` goes by the last one, whether it took place or not."""
    coming = schedule.next(schedule.latest(since, now, zone) or since, zone)
    return None if coming is None else (coming - now).total_seconds()
