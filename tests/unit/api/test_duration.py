"""Durations: timedeltas that travel as Go writes them."""

import pickle
import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.duration import Duration, parse_nanoseconds
from windvane.api.value import is_value


@pytest.mark.parametrize(
    ("written", "printed"),  # as Go's time.Duration prints what time.ParseDuration has read
    [
        ("0", "0s"), ("+0", "0s"), ("0h", "0s"), ("1h30m", "1h30m0s"), ("90m", "1h30m0s"), ("1.5s", "1.5s"),
        ("300ms", "300ms"), ("1500ms", "1.5s"), (".5h", "30m0s"), ("5.s", "5s"), ("60s", "1m0s"),
        ("1500us", "1.5ms"), ("2µs", "2µs"), ("2μs", "2µs"), ("-1.5h", "-1h30m0s"), ("100h", "100h0m0s"),
        ("1m1h", "1h1m0s"), ("1h0.000001s", "1h0m0.000001s"), ("2000ns", "2µs"), ("1.0000001h", "1h0m0.00036s"),
    ],
)  # fmt: skip
def test_a_duration_prints_as_go_prints_it(written: str, printed: str) -> None:
    assert Duration.from_wire(written).to_wire() == printed
    assert re.match(Duration.wire_schema["pattern"], written)
    assert re.match(Duration.wire_schema["pattern"], printed)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("", "no number"), ("-", "no number"), ("1", "has no unit"), ("1d", "'d' is no unit"),
        ("h", "number was expected"),
        ("1 s", "' s' is no unit"), (".s", "number was expected"), ("1h-5m", "is no unit"), ("1h5", "has no unit"),
    ],
)  # fmt: skip
def test_a_bad_duration_says_what_is_wrong_and_is_refused_by_the_schema_too(bad: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)) as error:
        Duration.parse(bad)
    assert repr(bad) in str(error.value)
    assert '"1h30m"' in str(error.value)
    assert not re.match(Duration.wire_schema["pattern"], bad)


@pytest.mark.parametrize("long", ["2562048h", "9223372036854775808ns", "9" * 10**6 + "h"])
def test_more_than_kubernetes_has_room_for_is_refused(long: str) -> None:
    with pytest.raises(ValueError, match="292 years"):
        Duration.parse(long)
    with pytest.raises(ValueError, match="292 years"):
        Duration(days=300 * 366).to_wire()


def test_a_duration_that_is_not_zero_never_becomes_zero() -> None:
    assert Duration.parse("1ns") == timedelta(microseconds=1)
    assert Duration.parse("-1ns") == timedelta(microseconds=-1)
    assert Duration.parse("1001ns") == timedelta(microseconds=2)


def test_nanoseconds_are_read_exactly() -> None:
    assert parse_nanoseconds("1h2m3.000000004s") == 3_723_000_000_004
    assert parse_nanoseconds("-9ns") == -9


@given(st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000)))
def test_what_is_printed_reads_back(delta: timedelta) -> None:
    assert Duration.parse(str(Duration.of(delta))) == delta


def test_a_duration_is_a_timedelta() -> None:
    duration = Duration(hours=1)
    assert duration + timedelta(minutes=30) == timedelta(hours=1.5)
    assert Duration.of(duration * 2) == Duration.parse("2h")
    assert pickle.loads(pickle.dumps(duration)) == duration


def test_a_duration_is_a_value_and_refuses_numbers() -> None:
    assert is_value(Duration)
    with pytest.raises(ValueError, match="has no unit"):
        Duration.from_wire(30)
