"""Processes that we start: their end is seen, whoever still holds their pipes."""

import asyncio
import gc
from asyncio.subprocess import DEVNULL, PIPE

import pytest

from windvane import ambient
from windvane.cluster.node.process.child import Child, start

PATIENCE = 30.0


async def shell(code: str) -> Child:
    return await start(["sh", "-c", code], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)


async def test_a_process_that_was_killed_has_ended_though_nobody_reads_what_it_wrote() -> None:
    async with asyncio.timeout(PATIENCE):
        child = await shell("echo begun; head -c 1000000 /dev/zero; exec sleep 1000")
        assert child.stdout is not None
        assert await child.stdout.readline() == b"begun\n"
        child.kill()
        await child.close()
        assert await child.wait() == -9


async def test_a_process_has_ended_though_what_it_started_goes_on() -> None:
    async with asyncio.timeout(PATIENCE):
        child = await shell("sleep 1000 & echo $!; exit 3")
        assert child.stdout is not None
        left = int(await child.stdout.readline())
        assert await child.wait() == 3
        await child.close()
        assert await child.stdout.read() == b""
        killed = await start(["kill", "-9", str(left)], stdout=DEVNULL, stderr=DEVNULL)
        assert await killed.wait() == 0


async def test_what_a_process_said_can_be_read_after_its_end() -> None:
    async with asyncio.timeout(PATIENCE):
        child = await shell("read word; echo $word")
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"hello\n")
        assert await child.wait() == 0
        assert await child.stdout.read() == b"hello\n"
        await child.close()


def test_a_process_whose_end_nobody_has_the_time_to_wait_for_leaves_nothing_open() -> None:
    async def end() -> None:
        child = await shell("echo begun; exec sleep 1000")
        assert child.stdout is not None
        assert await child.stdout.readline() == b"begun\n"
        closing = asyncio.create_task(child.close())
        await ambient.sleep(0)
        closing.cancel()
        await ambient.sleep(0)
        child.kill()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing

    asyncio.run(end())
    gc.collect()  # what was left open is complained about, and that is an error here
