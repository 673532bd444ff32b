"""Numbers, or shares of a number in percent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.int_or_string import scaled_value


def test_a_number_is_taken_as_it_is() -> None:
    assert scaled_value(3, 10, round_up=True) == 3


@pytest.mark.parametrize(
    ("percent", "total", "up", "down"),
    [("25%", 10, 3, 2), ("50%", 10, 5, 5), ("0%", 10, 0, 0), ("1%", 1, 1, 0), ("150%", 3, 5, 4), ("-25%", 10, -2, -3)],
)
def test_a_percentage_is_a_share_of_the_total(percent: str, total: int, up: int, down: int) -> None:
    assert scaled_value(percent, total, round_up=True) == up
    assert scaled_value(percent, total, round_up=False) == down


@pytest.mark.parametrize("bad", ["", "5", "%", "5 %", "5%%", "half", "1.5%", "٣%", "9" * 10**6 + "%"])
def test_a_string_that_is_no_percentage_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match='write for example 1 or "25%"') as error:
        scaled_value(bad, 10, round_up=True)
    assert len(str(error.value)) < 200


@given(st.integers(0, 1000), st.integers(0, 10**6))
def test_rounding_up_and_down_are_at_most_one_apart(percent: int, total: int) -> None:
    up, down = scaled_value(f"{percent}%", total, round_up=True), scaled_value(f"{percent}%", total, round_up=False)
    assert down * 100 <= percent * total <= up * 100
    assert up - down in (0, 1)
