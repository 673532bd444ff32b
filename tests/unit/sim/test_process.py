"""Processes of a simulated world: paused in the midst of what they do, and none the wiser."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from windvane import ambient
from windvane.sim.process import SimulatedProcess
from windvane.sim.time import VirtualLoop, VirtualTime

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    with ambient.use(VirtualTime(seed=1)), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


async def tick(heard: list[float]) -> None:
    while True:
        await ambient.sleep(1)
        heard.append(round(ambient.monotonic()))


def test_a_paused_process_does_nothing_while_others_go_on() -> None:
    async def world() -> tuple[list[float], list[float]]:
        paused: list[float] = []
        other: list[float] = []
        process = SimulatedProcess()
        tasks = [process.start(tick(paused)), SimulatedProcess().start(tick(other))]
        await ambient.sleep(2.5)
        process.pause()
        await ambient.sleep(10)
        process.resume()
        await ambient.sleep(2)
        for task in tasks:
            task.cancel()
        return paused, other

    paused, other = run(world())
    assert paused == [1, 2, 12, 14]
    assert other == [*range(1, 15)]


def test_what_a_process_starts_is_part_of_it() -> None:
    async def world() -> list[float]:
        heard: list[float] = []
        process = SimulatedProcess()
        inner: list[asyncio.Task[None]] = []

        async def start() -> None:
            inner.append(asyncio.get_running_loop().create_task(tick(heard)))

        await process.start(start())
        process.pause()
        await ambient.sleep(10)
        process.resume()
        await ambient.sleep(1.5)
        inner[0].cancel()
        return heard

    assert run(world()) == [10, 11]


def test_a_timer_that_is_cancelled_during_a_pause_never_comes() -> None:
    async def world() -> list[str]:
        heard: list[str] = []
        process = SimulatedProcess()
        timers: list[asyncio.TimerHandle] = []

        async def start() -> None:
            timers.append(asyncio.get_running_loop().call_later(1, heard.append, "late"))

        await process.start(start())
        process.pause()
        await ambient.sleep(5)
        timers[0].cancel()
        process.resume()
        await ambient.sleep(5)
        return heard

    assert run(world()) == []


def test_a_process_that_pauses_itself_takes_no_further_step() -> None:
    async def world() -> list[str]:
        heard: list[str] = []
        process = SimulatedProcess()

        async def work() -> None:
            process.pause()
            heard.append("this step")
            await ambient.sleep(0)
            heard.append("the next")

        task = process.start(work())
        await ambient.sleep(100)
        before = list(heard)
        process.resume()
        await task
        return [*before, "|", *heard]

    assert run(world()) == ["this step", "|", "this step", "the next"]
