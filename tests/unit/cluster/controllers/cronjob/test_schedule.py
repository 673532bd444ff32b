"""When a CronJob is due: years of it in no time."""

import itertools
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from integration.controllers.workloads import cronjob
from windvane.api.cron import Cron
from windvane.cluster.controllers.cronjob.schedule import NeverComes, beginning, due, seconds_to_next
from windvane.k8s.batch import CronJob

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def born(schedule: str, **spec: object) -> CronJob:
    made = cronjob(schedule, **spec)
    made.metadata.creation_timestamp = at("2030-01-01 00:00:30")
    return made


def due_at(cron: CronJob, now: str, zone: tzinfo = UTC) -> datetime | None:
    found = due(cron, Cron(cron.spec.schedule), zone, beginning(cron, None), at(now))
    return found.time if found else None


def starts(cron: CronJob, until: str, zone: tzinfo = UTC) -> list[datetime]:
    """All starts if a controller looks whenever it should."""
    schedule, now, found = Cron(cron.spec.schedule), at("2030-01-01 00:00:30"), []
    while now < at(until):
        since = beginning(cron, None)
        if (pending := due(cron, schedule, zone, since, now)) is not None:
            found.append(pending.time)
            cron.status.last_schedule_time = since = pending.time
        seconds = seconds_to_next(schedule, zone, since, now)
        assert seconds is not None
        assert seconds > 0
        now += timedelta(seconds=seconds + 0.1)
    return found


def test_nothing_is_due_before_the_first_time() -> None:
    assert due_at(born("*/5 * * * *"), "2030-01-01 00:04:59") is None


def test_what_is_due_is_due_on_the_second() -> None:
    assert due_at(born("*/5 * * * *"), "2030-01-01 00:05:00") == at("2030-01-01 00:05")


def test_of_several_missed_times_the_last_is_due() -> None:
    assert due_at(born("*/5 * * * *"), "2030-01-01 00:23:00") == at("2030-01-01 00:20")


def test_what_was_started_is_not_due_again() -> None:
    cron = born("*/5 * * * *")
    cron.status.last_schedule_time = at("2030-01-01 00:20")
    assert due_at(cron, "2030-01-01 00:23:00") is None


def test_after_the_deadline_it_is_too_late() -> None:
    cron = born("0 * * * *", startingDeadlineSeconds=120)
    assert due_at(cron, "2030-01-01 05:01:59") == at("2030-01-01 05:00")
    assert due_at(cron, "2030-01-01 05:02:01") is None


@pytest.mark.parametrize(("now", "many"), [("2030-01-01 01:40:00", False), ("2030-01-01 01:41:00", True)])
def test_more_than_a_hundred_missed_times_are_many(now: str, many: bool) -> None:
    cron = born("* * * * *")
    found = due(cron, Cron("* * * * *"), UTC, beginning(cron, None), at(now))
    assert found is not None
    assert (found.time, found.many) == (at(now), many)


def test_with_a_deadline_only_what_is_within_it_counts_as_missed() -> None:
    cron = born("* * * * *", startingDeadlineSeconds=300)
    found = due(cron, Cron("* * * * *"), UTC, beginning(cron, None), at("2031-01-01 00:00:10"))
    assert found is not None
    assert not found.many


def test_a_day_that_no_calendar_has_is_an_error() -> None:
    with pytest.raises(NeverComes):
        due_at(born("0 0 31 2 *"), "2030-06-01 00:00:00")


def test_a_year_of_days_has_365_starts() -> None:
    found = starts(born("0 3 * * *"), "2031-01-01 00:00:00")
    assert len(found) == 365
    assert all((each.hour, each.minute) == (3, 0) for each in found)


def test_a_year_of_days_in_a_zone_follows_its_clocks() -> None:
    found = starts(born("0 9 * * *"), "2031-01-01 00:00:00", BERLIN)
    assert len(found) == 365
    assert {each.hour for each in found} == {7, 8}
    assert all(each.astimezone(BERLIN).hour == 9 for each in found)


def test_months_are_as_long_as_they_are() -> None:
    found = starts(born("0 0 31 * *"), "2031-01-01 00:00:00")
    assert [each.month for each in found] == [1, 3, 5, 7, 8, 10, 12]


def test_an_interval_goes_by_the_last_start() -> None:
    found = starts(born("@every 1h30m"), "2030-01-02 00:00:00")
    assert found[0] == at("2030-01-01 01:30:30")
    assert {later - sooner for sooner, later in itertools.pairwise(found)} == {timedelta(minutes=90)}


def test_nothing_before_a_change_of_the_schedule_is_due() -> None:
    cron = born("*/5 * * * *")
    changed = at("2030-01-01 00:22")
    assert due(cron, Cron("*/5 * * * *"), UTC, beginning(cron, changed), at("2030-01-01 00:23")) is None
    assert seconds_to_next(Cron("*/5 * * * *"), UTC, beginning(cron, changed), at("2030-01-01 00:23")) == 120


def test_if_the_clock_was_set_back_the_last_start_is_waited_for() -> None:
    cron = born("*/5 * * * *")
    cron.status.last_schedule_time = at("2030-01-01 02:00")
    assert due_at(cron, "2030-01-01 01:00:00") is None
    assert seconds_to_next(Cron("*/5 * * * *"), UTC, beginning(cron, None), at("2030-01-01 01:00")) == 3900
