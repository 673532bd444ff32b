"""Two replicas, and a leader that is paused in the midst of its work: by the audit log, never two that write.

The proof: whoever wrote something was the last one before that to write the Lease. A leader that wakes up has lost it
to the other, which has worked meanwhile. The order of the lines proves it on the real server, too: an answer ends only
when its line is written, so a leader's first write comes after its Lease.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from integration.operators.world import ReferenceWorld, Replica, World, Write, desired, usurped
from integration.runtime.websites import Website, Websites
from windvane import NotFound
from windvane.k8s.coordination import Lease
from windvane.runtime.context import Context
from windvane.runtime.coordination.leader_election import DEADLINE, DURATION

TESTS = Path(__file__).parents[2]
LEASE = "websites"


def workers(writes: list[Write]) -> list[str]:
    """Who worked, one after the other."""
    found: list[str] = []
    for write in writes:
        if write.who != "admin" and write.resource == "configmaps" and found[-1:] != [write.who]:
            found.append(write.who)
    return found


async def holder(world: World) -> str | None:
    try:
        return (await world.admin.get(Lease, LEASE)).spec.holder_identity
    except NotFound:
        return None


async def led_by(world: World, who: str) -> None:
    async def leads() -> bool:
        return await holder(world) == who

    await world.until(leads)


@pytest.mark.asyncio(loop_factories=["embedded"])
@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("seconds", [1, DEADLINE - 1, DEADLINE + 1, DURATION - 1, DURATION + 1, 60])
async def test_a_leader_that_is_paused_in_a_pass_writes_nothing_once_another_leads(
    world: World, step: int, seconds: float
) -> None:
    websites = Websites()

    async def pause(site: Website, ctx: Context) -> None:
        """Stop in the pass that follows the edit, when so many of its children have been applied."""
        for child in desired(site)[:step] if site.spec.page == "news" else []:
            await ctx.apply(child)
        if site.spec.page == "news":
            first.process.pause()
            await world.time.sleep(0)

    first = await Replica(world, websites, who="first", elected=True).synced()
    await led_by(world, "first")
    second = await Replica(world, who="second", elected=True).synced()
    await world.create(aliases=["a", "b"])
    await world.converges()
    websites.hook = pause
    await world.edit(page="news", aliases=["b", "c"])

    async def paused() -> bool:
        return first.process.paused

    await world.until(paused)
    await world.time.sleep(seconds)
    first.process.resume()
    websites.hook = None
    await world.converges()
    await world.edit(page="late news")
    await world.converges()
    assert usurped(world.writes()) == []
    if seconds > DURATION + 5:
        assert workers(world.writes()) == ["first", "second"]
    assert first.leading != second.leading


@asynccontextmanager
async def process(world: ReferenceWorld, who: str) -> AsyncIterator[int]:
    """A replica as a process of its own; its id."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "integration.operators.replica",
        str(world.kubeconfig),
        world.namespace,
        who,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield child.pid
    finally:
        child.kill()
        await child.wait()


async def is_stopped(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG) is not None  # noqa: ASYNC222 - it does not wait


@pytest.mark.asyncio(loop_factories=["reference"])
async def test_a_leader_whose_process_is_stopped_writes_nothing_once_another_leads(world: World) -> None:
    assert isinstance(world, ReferenceWorld)
    sites = [f"site-{number}" for number in range(6)]
    async with process(world, "first") as first:
        await led_by(world, "first")
        async with process(world, "second"):
            for name in sites:
                await world.create(name)
            await world.converges()
            for name in sites:
                await world.edit(name, page="news", aliases=["a", "b", "c"])
            os.kill(first, signal.SIGUSR1)  # in the midst of it
            await world.until(lambda: is_stopped(first))
            await led_by(world, "second")
            await world.converges()
            for name in sites:
                await world.edit(name, page="late news", aliases=["c", "d"])
            os.kill(first, signal.SIGCONT)
            await world.converges()
            for name in sites:
                await world.edit(name, page="last news")
            await world.converges()
    assert usurped(world.writes()) == []
    assert workers(world.writes())[:2] == ["first", "second"]


def test_the_proof_can_fail() -> None:
    def write(who: str, resource: str, code: int = 200) -> Write:
        return Write(who, "patch", resource, "x", "", code)

    fair = [write("a", "leases"), write("a", "configmaps"), write("b", "leases", 409), write("a", "configmaps")]
    assert usurped(fair) == []
    late = write("a", "configmaps")
    assert usurped([*fair, write("b", "leases"), late, write("b", "configmaps")]) == [late]
