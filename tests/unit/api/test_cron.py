"""Cron schedules in Kubernetes' dialect. Expected times are what robfig/cron v3.0.1 answers."""

import pickle
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.cron import Cron
from windvane.api.value import is_value

NEW_YORK = ZoneInfo("America/New_York")
BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("* * * * *", "2024-01-01T00:00:00", "2024-01-01T00:01:00"),
        ("* * * * *", "2024-01-01T00:00:59.999", "2024-01-01T00:01:00"),
        ("*/15 * * * *", "2024-01-01T00:16:00", "2024-01-01T00:30:00"),
        ("50/4 * * * *", "2024-01-01T00:00:00", "2024-01-01T00:50:00"),
        ("5,7,,10-12/2 3 * * *", "2024-01-01T03:07:00", "2024-01-01T03:10:00"),
        ("0 0 1 jan ?", "2024-01-02T00:00:00", "2025-01-01T00:00:00"),
        ("0 0 * * MON-fri", "2024-01-05T00:00:00", "2024-01-08T00:00:00"),
        ("0 0 13 * 5", "2024-01-01T00:00:00", "2024-01-05T00:00:00"),  # the 13th or a Friday
        ("0 0 13 * *", "2024-01-01T00:00:00", "2024-01-13T00:00:00"),
        ("0 0 * * 5", "2024-01-01T00:00:00", "2024-01-05T00:00:00"),
        ("0 0 */2 * 0", "2024-01-01T00:00:00", "2024-01-03T00:00:00"),  # a step takes the star away: or
        ("0 0 */1 * 0", "2024-01-01T00:00:00", "2024-01-07T00:00:00"),  # unless it is one: and
        ("*-5 0 1 1 *", "2024-01-01T00:00:00", "2024-01-01T00:01:00"),  # what follows a star is not read
        ("0 0 29 2 *", "2024-03-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 0 31 4,6 *", "2024-01-01T00:00:00", None),
        ("0 0 30 2 *", "2024-01-01T00:00:00", None),
        (", * * * *", "2024-01-01T00:00:00", None),
        ("@yearly", "2024-01-01T00:00:00", "2025-01-01T00:00:00"),
        ("@annually", "2024-01-01T00:00:00", "2025-01-01T00:00:00"),
        ("@monthly", "2024-01-01T00:00:00", "2024-02-01T00:00:00"),
        ("@weekly", "2024-01-01T00:00:00", "2024-01-07T00:00:00"),
        ("@daily", "2024-01-01T00:00:00", "2024-01-02T00:00:00"),
        ("@midnight", "2024-01-01T00:00:00", "2024-01-02T00:00:00"),
        ("@hourly", "2024-01-01T00:00:00", "2024-01-01T01:00:00"),
        ("@every 1h30m", "2024-01-01T00:00:00.5", "2024-01-01T01:30:00"),
        ("@every 1.9s", "2024-01-01T00:00:00", "2024-01-01T00:00:01"),
        ("@every 1ms", "2024-01-01T00:00:00", "2024-01-01T00:00:01"),
    ],
)
def test_the_next_time(schedule: str, after: str, expected: str | None) -> None:
    assert Cron(schedule).next(at(after)) == (at(expected) if expected else None)


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "expected"),
    [
        # New York skips 02:00 to 03:00 on 10 March 2024, and has 01:00 to 02:00 twice on 3 November.
        ("30 2 * * *", NEW_YORK, "2024-03-09T07:30:00", ["2024-03-11T06:30:00", "2024-03-12T06:30:00"]),
        ("30 * * * *", NEW_YORK, "2024-03-10T06:00:00", ["2024-03-10T06:30:00", "2024-03-10T07:30:00"]),
        ("30 1 * * *", NEW_YORK, "2024-11-03T04:00:00", ["2024-11-03T05:30:00", "2024-11-03T06:30:00"]),
        ("0 3 * * *", NEW_YORK, "2024-03-09T08:00:00", ["2024-03-10T07:00:00", "2024-03-11T07:00:00"]),
        ("30 2 * * *", BERLIN, "2024-03-30T02:00:00", ["2024-04-01T00:30:00", "2024-04-02T00:30:00"]),
        ("30 2 * * *", BERLIN, "2024-10-26T01:00:00", ["2024-10-27T00:30:00", "2024-10-27T01:30:00"]),
        ("0 0 * * *", BERLIN, "2024-10-26T12:00:00", ["2024-10-26T22:00:00", "2024-10-27T23:00:00"]),
    ],
)
def test_the_next_times_where_clocks_are_changed(
    schedule: str, zone: ZoneInfo, after: str, expected: list[str]
) -> None:
    time: datetime | None = at(after)
    for following in expected:
        assert time is not None
        time = Cron(schedule).next(time, zone)
        assert time == at(following)
        assert time.tzinfo is UTC


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("", "has 0 fields, needs five"),
        ("* * * *", "has 4 fields, needs five (minute, hour, day of the month, month, day of the week)"),
        ("0 * * * * *", "has 6 fields"),
        ("60 * * * *", "60 is out of range in the minute '60'; allowed is 0 to 59"),
        ("* 24 * * *", "24 is out of range in the hour '24'; allowed is 0 to 23"),
        ("* * 0 * *", "0 is out of range in the day of the month '0'; allowed is 1 to 31"),
        ("* * * dez *", "'dez' is not a number in the month 'dez'; allowed is 1 to 12 or jan to dec"),
        ("* * * * 7", "7 is out of range in the day of the week '7'; allowed is 0 to 6 or sun to sat"),
        ("5-3 * * * *", "the range '5-3' ends before it begins"),
        ("1-2-3 * * * *", "too many hyphens"),
        ("1/2/3 * * * *", "too many slashes"),
        ("*/0 * * * *", "the step 0 leads nowhere"),
        ("*/-5 * * * *", "'-5' is not a number"),
        ("* * L * *", "'L' is not a number"),
        ("@reboot", "there is @yearly, @annually"),
        ("@daily ", "there is @yearly"),
        ("@every", "there is @yearly"),
        ("@every soon", "duration 'soon'"),
        ("TZ=Europe/Berlin 0 3 * * *", "spec.timeZone"),
        ("CRON_TZ=UTC 0 3 * * *", "spec.timeZone"),
    ],
)
def test_a_bad_schedule_says_which_field_is_wrong_and_what_is_allowed(bad: str, why: str) -> None:
    with pytest.raises(ValueError, match="schedule") as error:
        Cron(bad)
    assert why in str(error.value)
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize(
    ("schedule", "since", "now", "expected"),
    [
        ("0 * * * *", "2024-01-01T00:00:00", "2024-01-01T05:30:00", "2024-01-01T05:00:00"),
        ("0 * * * *", "2024-01-01T00:00:00", "2024-01-01T05:00:00", "2024-01-01T05:00:00"),
        ("0 * * * *", "2024-01-01T05:00:00", "2024-01-01T05:59:59", None),
        ("0 * * * *", "2024-01-01T05:00:00", "2024-01-01T04:00:00", None),
        ("* * * * *", "1990-01-01T00:00:00", "2024-01-01T00:00:30", "2024-01-01T00:00:00"),
        ("0 0 29 2 *", "1990-01-01T00:00:00", "2027-01-01T00:00:00", "2024-02-29T00:00:00"),
        ("0 0 30 2 *", "1990-01-01T00:00:00", "2027-01-01T00:00:00", None),
        ("@every 7m", "1990-01-01T00:00:00", "1990-01-01T00:15:00", "1990-01-01T00:14:00"),
        ("@every 7m", "1990-01-01T00:00:00", "1990-01-01T00:06:00", None),
        ("@every 1s", "1990-01-01T00:00:00", "2024-01-01T00:00:00.5", "2024-01-01T00:00:00"),
    ],
)
def test_the_latest_time_that_is_due(schedule: str, since: str, now: str, expected: str | None) -> None:
    assert Cron(schedule).latest(at(since), at(now)) == (at(expected) if expected else None)


@given(
    st.sampled_from(["*/7 * * * *", "30 1-3 * * *", "0 2 * * sun", "15 6-16/4 * * 1-5", "0 0 1 * *", "@every 95m"]),
    st.integers(0, 40_000_000),
    st.integers(0, 300_000),
    st.sampled_from([UTC, NEW_YORK, BERLIN]),
)
def test_the_latest_time_is_the_one_that_walking_finds(schedule: str, start: int, length: int, zone: ZoneInfo) -> None:
    cron, since = Cron(schedule), at("2024-01-01T00:00:00") + timedelta(seconds=start)
    now = since + timedelta(seconds=length)
    walked, time = None, cron.next(since, zone)
    while time is not None and time <= now:
        walked, time = time, cron.next(time, zone)
    assert cron.latest(since, now, zone) == walked


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        Cron("@daily").next(datetime(2024, 1, 1))  # noqa: DTZ001


def test_there_is_no_next_time_after_the_end_of_the_calendar() -> None:
    assert Cron("* * * * *").next(datetime.max.replace(tzinfo=UTC)) is None
    assert Cron("@every 1h").next(datetime.max.replace(tzinfo=UTC)) is None


def test_a_schedule_is_a_string_and_a_value() -> None:
    cron = Cron.from_wire("0 3 * * *")
    assert cron == cron.to_wire() == "0 3 * * *"
    assert type(cron.to_wire()) is str
    assert is_value(Cron)
    assert pickle.loads(pickle.dumps(cron)).next(at("2024-01-01T00:00:00")) == at("2024-01-01T03:00:00")
    with pytest.raises(ValueError, match="is not a string"):
        Cron.from_wire(5)
