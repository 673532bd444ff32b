"""Sets of indexes as intervals do what sets do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.controllers.job.completion_indexes import Indexes

SETS = st.sets(st.integers(0, 40))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([3, 4], "3,4"), ([3, 4, 5], "3-5"), ([0, 2, 3, 5, 6, 7, 9], "0,2,3,5-7,9")],
)
def test_two_that_follow_each_other_are_no_interval_yet(numbers: list[int], text: str) -> None:
    assert str(Indexes.of(numbers)) == text


@given(SETS)
def test_what_was_written_is_read(numbers: set[int]) -> None:
    assert Indexes.parse(str(Indexes.of(numbers)), 41) == Indexes.of(numbers)


@given(SETS, st.integers(0, 40))
def test_what_is_beyond_completions_is_not_read(numbers: set[int], completions: int) -> None:
    below = {each for each in numbers if each < completions}
    assert Indexes.parse(str(Indexes.of(numbers)), completions) == Indexes.of(below)


def test_what_is_no_index_is_not_read() -> None:
    assert str(Indexes.parse("1,x,3-y,-5,7", 10)) == "1,7"


@given(SETS, SETS)
def test_they_are_joined_and_compared_as_sets_are(one: set[int], other: set[int]) -> None:
    assert Indexes.of(one) | Indexes.of(other) == Indexes.of(one | other)
    assert Indexes.of(one).shared_with(Indexes.of(other)) == len(one & other)
    assert len(Indexes.of(one)) == len(one)
    assert all((each in Indexes.of(one)) == (each in one) for each in range(42))


@given(SETS, st.integers(0, 10), st.integers(0, 50))
def test_the_first_that_are_missing_are_found(numbers: set[int], count: int, completions: int) -> None:
    expected = [each for each in range(completions) if each not in numbers][:count]
    assert Indexes.of(numbers).first_missing(count, completions) == expected


def test_a_billion_indexes_cost_nothing() -> None:
    all_but_one = Indexes.parse("0-999999998", 10**9)
    assert len(all_but_one) == 999_999_999
    assert all_but_one.first_missing(5, 10**9) == [999_999_999]
