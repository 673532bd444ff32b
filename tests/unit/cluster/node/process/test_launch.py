"""Containers that are started, as far as no node is needed for it."""

import asyncio
import gc
from pathlib import Path

import pytest

from windvane import ambient
from windvane.cluster.node.process.launch import Launched, LaunchSpec, allowed_isolation, launch


@pytest.mark.parametrize("tty", [False, True])
async def test_a_start_that_is_given_up_at_any_moment_leaves_nothing_open(tmp_path: Path, tty: bool) -> None:
    spec = LaunchSpec(
        argv=["sleep", "1000"], env={}, directory=str(tmp_path), isolation="none", hostname="web", tty=tty
    )
    for moments in range(12):
        starting = asyncio.create_task(launch(spec, lambda *_: None, stdin=True))
        for _ in range(moments):
            await ambient.sleep(0)
        starting.cancel()
        async with asyncio.timeout(30):
            (outcome,) = await asyncio.gather(starting, return_exceptions=True)
            if isinstance(outcome, Launched):  # while this process had to wait for a CPU, it was done
                await outcome.close()
            else:
                assert isinstance(outcome, asyncio.CancelledError)
    gc.collect()  # what was left open is complained about, and that is an error here


def test_an_agent_that_stops_while_it_looks_what_the_system_allows_leaves_nothing_open(tmp_path: Path) -> None:
    async def stop(moments: int) -> None:
        looking = asyncio.create_task(allowed_isolation(tmp_path / "check"))
        for _ in range(moments):
            await ambient.sleep(0)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)

    for moments in range(8):
        asyncio.run(stop(moments))
    gc.collect()  # what was left open is complained about, and that is an error here
