"""Times on the wire."""

import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.time import MicroTime, format_time, parse_time
from windvane.api.value import is_value

NOON = datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC)
aware = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-02-29T12:00:00Z", NOON.replace(microsecond=0)),
        ("2024-02-29T12:00:00.123456Z", NOON),
        ("2024-02-29T12:00:00.123456789Z", NOON),
        ("2024-02-29T12:00:00,5Z", NOON.replace(microsecond=500000)),
        ("2024-02-29T14:30:00.123456+02:30", NOON),
        ("2024-02-29T05:00:00.123456-07:00", NOON),
        ("2024-02-29T7:00:00+00:00", NOON.replace(hour=7, microsecond=0)),
    ],
)
def test_times_are_read_in_utc(text: str, time: datetime) -> None:
    assert parse_time(text) == time
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize(
    "bad",
    [
        "", "now", "2024-02-29", "2024-02-29T12:00:00", "2024-02-29 12:00:00Z", "2024-02-29t12:00:00Z",
        "2023-02-29T12:00:00Z", "2024-02-29T24:00:00Z", "2024-02-29T12:00:60Z", "2024-02-29T12:00:00.Z",
        "2024-02-29T12:00:00+25:00",
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "2024-02-29T12:00:00z", "2024-02-29T12:00:00+0200",
    ],
)  # fmt: skip
def test_a_bad_time_is_named_beside_a_good_one(bad: str) -> None:
    with pytest.raises(ValueError, match='write for example "2006-01-02T15:04:05Z"') as error:
        parse_time(bad)
    assert repr(bad) in str(error.value)


def test_a_time_is_written_with_whole_seconds_in_utc() -> None:
    assert format_time(NOON) == "2024-02-29T12:00:00Z"
    assert format_time(NOON.astimezone(timezone(timedelta(hours=2)))) == "2024-02-29T12:00:00Z"
    assert format_time(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


def test_a_time_without_a_zone_is_refused() -> None:
    naive = MicroTime(2024, 1, 1)
    with pytest.raises(ValueError, match=r"2024-01-01T00:00:00 has no zone.*tzinfo=UTC"):
        format_time(naive)
    with pytest.raises(ValueError, match="has no zone"):
        MicroTime.of(naive)
    with pytest.raises(ValueError, match="has no zone"):
        naive.to_wire()


def test_a_micro_time_always_has_six_digits() -> None:
    assert MicroTime.of(NOON).to_wire() == "2024-02-29T12:00:00.123456Z"
    assert MicroTime.of(NOON.replace(microsecond=0)).to_wire() == "2024-02-29T12:00:00.000000Z"
    assert MicroTime.from_wire("2024-02-29T14:00:00.123456+02:00") == NOON


@pytest.mark.parametrize("bad", ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.123Z", "2024-02-29T12:00:00.1234567Z", 5])
def test_a_micro_time_with_other_digits_is_refused_as_the_server_does(bad: object) -> None:
    with pytest.raises(ValueError, match="six digits of a second"):
        MicroTime.from_wire(bad)


@given(aware)
def test_times_survive_the_wire(time: datetime) -> None:
    assert MicroTime.from_wire(MicroTime.of(time).to_wire()) == time
    assert parse_time(format_time(time)) == time.replace(microsecond=0)


def test_arithmetic_keeps_a_micro_time_usable() -> None:
    time = MicroTime.of(NOON)
    later = time + timedelta(seconds=15)
    assert isinstance(later, MicroTime)
    assert later.to_wire() == "2024-02-29T12:00:15.123456Z"
    assert later - time == timedelta(seconds=15)
    assert pickle.loads(pickle.dumps(later)) == later


def test_a_micro_time_is_a_value() -> None:
    assert is_value(MicroTime)
    assert MicroTime.wire_schema["format"] == "date-time"
