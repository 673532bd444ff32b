"""Doing things in batches that double."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.controllers.workloads.slow_start import slow_start


async def run(count: int, works: int) -> tuple[int, bool]:
    """How often it was tried, and whether that went well, if it only works so many times."""
    tried = 0

    async def do() -> None:
        nonlocal tried
        tried += 1
        if tried > works:
            raise ValueError("no more")

    try:
        await slow_start(count, do)
    except ValueError:
        return tried, False
    return tried, True


@given(st.integers(0, 300))
async def test_all_is_done_if_all_goes_well(count: int) -> None:
    assert await run(count, works=count) == (count, True)


@pytest.mark.parametrize(("works", "tried"), [(0, 1), (1, 3), (2, 3), (3, 7), (10, 15)])
async def test_the_batch_in_which_something_fails_is_the_last(works: int, tried: int) -> None:
    assert await run(100, works) == (tried, False)
