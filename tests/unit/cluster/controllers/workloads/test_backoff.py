"""Waiting longer each time."""

from datetime import UTC, datetime, timedelta

from windvane.cluster.controllers.workloads.backoff import KeyedBackoff

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_first_time_there_is_nothing_to_wait_for() -> None:
    assert KeyedBackoff(1, 8).left("a", NOW) == 0


def test_each_wait_is_twice_as_long_up_to_the_longest() -> None:
    backoff, now, waits = KeyedBackoff(1, 8), NOW, []
    for _ in range(5):
        backoff.tried("a", now)
        waits.append(backoff.left("a", now))
        now += timedelta(seconds=waits[-1])
    assert waits == [1, 2, 4, 8, 8]


def test_what_is_left_gets_less_and_is_nobody_elses() -> None:
    backoff = KeyedBackoff(4, 8)
    backoff.tried("a", NOW)
    assert backoff.left("a", NOW + timedelta(seconds=3)) == 1
    assert backoff.left("b", NOW) == 0


def test_who_was_quiet_for_long_begins_anew() -> None:
    backoff = KeyedBackoff(1, 8)
    backoff.tried("a", NOW)
    backoff.tried("a", NOW + timedelta(seconds=1))
    later = NOW + timedelta(seconds=60)
    backoff.tried("a", later)
    assert backoff.left("a", later) == 1
