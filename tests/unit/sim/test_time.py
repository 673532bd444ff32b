"""Virtual time: an hour takes as long as the work in it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from windvane import ambient
from windvane.sim.time import BEGINNING, Deadlock, VirtualLoop, VirtualTime

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    with ambient.use(VirtualTime(seed=1)), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


def test_an_hour_passes_at_once_on_all_clocks() -> None:
    async def world() -> tuple[float, float, float]:
        await ambient.sleep(3600)
        passed = ambient.now() - BEGINNING
        return ambient.monotonic(), passed.total_seconds(), asyncio.get_running_loop().time()

    assert run(world()) == pytest.approx((3600, 3600, 3600))


def test_timers_come_in_their_order() -> None:
    heard: list[str] = []

    async def say(word: str, after: float) -> None:
        await ambient.sleep(after)
        heard.append(word)

    async def world() -> None:
        await asyncio.gather(say("third", 300), say("first", 0.1), say("second", 2))

    run(world())
    assert heard == ["first", "second", "third"]


def test_a_timeout_of_asyncio_sees_the_same_time() -> None:
    async def world() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await asyncio.Event().wait()
        return ambient.monotonic()

    assert run(world()) == pytest.approx(60)


def test_waiting_for_what_can_not_come_is_a_deadlock_and_no_hang() -> None:
    async def world() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match="every task waits"):
        run(world())


def test_chance_repeats_itself_for_a_seed() -> None:
    async def world() -> tuple[str, str, float]:
        return ambient.uid(), ambient.token(8), ambient.jitter(1)

    assert run(world()) == run(world())


def test_what_is_to_run_in_a_thread_runs_at_once() -> None:
    async def work() -> tuple[str, float]:
        return await asyncio.to_thread(str.upper, "done"), asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(work()) == ("DONE", 0.0)


def test_what_fails_in_a_thread_fails_where_it_is_awaited() -> None:
    async def work() -> None:
        await asyncio.to_thread(int, "seven")

    with asyncio.Runner(loop_factory=VirtualLoop) as runner, pytest.raises(ValueError, match="seven"):
        runner.run(work())
