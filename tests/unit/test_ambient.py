"""Time and chance can be replaced for the length of a block."""

import asyncio
import sys
import time
from collections.abc import MutableSequence
from datetime import UTC, datetime
from typing import Any

import pytest

from windvane import ambient


class Frozen:
    """A world in which nothing happens by chance and time stands still."""

    def __init__(self, year: int) -> None:
        self.year = year

    def now(self) -> datetime:
        return datetime(self.year, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        del seconds

    def uid(self) -> str:
        return "uid"

    def token(self, length: int, alphabet: str) -> str:
        return alphabet[0] * length

    def shuffle(self, items: MutableSequence[Any]) -> None:
        items.reverse()

    def jitter(self, seconds: float) -> float:
        return seconds


async def test_a_block_has_its_own_world() -> None:
    with ambient.use(Frozen(1999)):
        assert ambient.now().year == 1999
        assert not ambient.is_real()
        assert ambient.token(3, "ab") == "aaa"
        assert ambient.uid() == "uid"
        await ambient.sleep(10**9)
        items = [1, 2, 3]
        ambient.shuffle(items)
        assert items == [3, 2, 1]
    assert ambient.now().year > 2000
    assert ambient.is_real()


async def test_two_tasks_in_two_worlds_do_not_see_each_other() -> None:
    async def year(world: int) -> int:
        with ambient.use(Frozen(world)):
            await asyncio.gather(*(_yield() for _ in range(3)))
            return ambient.now().year

    assert list(await asyncio.gather(year(1), year(2))) == [1, 2]


async def _yield() -> None:
    await ambient.sleep(0)


def test_reality_has_a_clock_in_utc_that_goes_forward() -> None:
    assert ambient.now().tzinfo is UTC
    assert ambient.monotonic() <= ambient.monotonic()


def test_ids_and_tokens_differ_each_time() -> None:
    assert ambient.uid() != ambient.uid()
    assert ambient.token(20) != ambient.token(20)
    assert set(ambient.token(200)) <= set(ambient.SAFE_ALPHABET)


def test_jitter_stays_between_half_and_all() -> None:
    assert all(5 <= ambient.jitter(10) <= 10 for _ in range(100))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the usual clock does that")
def test_the_steady_clock_is_the_one_that_goes_on_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {time.CLOCK_MONOTONIC: 100.0, time.CLOCK_BOOTTIME: 3700.0}
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)
    assert ambient.monotonic() == 3700.0
