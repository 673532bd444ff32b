"""The scenarios that take little time: they are part of `make test-long`, too."""

from itertools import pairwise

import pytest

from scenarios.scene import Scene, condition, identities
from scenarios.writer import Writer
from windvane import Invalid, ambient

A_TRY = 2
"""Within so many seconds a key is written while a member is missing: a try has a second, and the next one succeeds."""
TIMES = 3
"""Of so many pauses one must be as short: a machine that is busy with something else is so by chance."""


async def test_02_a_follower_is_killed_and_no_write_fails(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    pauses: list[float] = []
    async with stage.under_load() as load:
        await load.writer.more(50)
        while len(pauses) < TIMES and not any(each < A_TRY for each in pauses):
            with stage.timed():
                pauses.append(await pause_without_a_follower(stage, load.writer))
            assert identities(await stage.cluster()) == identities(before)
    assert min(pauses) < A_TRY


async def pause_without_a_follower(stage: Scene, writer: Writer) -> float:
    """Kill one; for how many seconds no key was acknowledged, at worst, until it was back."""
    begin = ambient.monotonic()
    await stage.machine.crash(await stage.etcd.member("Follower"))
    await stage.settled()
    moments = [begin, *(each for each in writer.acknowledged.values() if each > begin), ambient.monotonic()]
    return max(later - earlier for earlier, later in pairwise(moments))


async def test_16_versions_that_can_not_follow_are_refused_with_the_reason(stage: Scene) -> None:
    await stage.create(replicas=1)
    await stage.settled(1)
    async with stage.under_load() as load:
        with stage.timed():
            for version in ("3.5.0", "3.4.23", "3.7.0", "4.0.0"):
                with pytest.raises(
                    Invalid, match=f"version {version} can not follow 3.5.1, which runs: upgrade by one"
                ):
                    await stage.change(version=version)
            with pytest.raises(Invalid, match="version must be three numbers"):
                await stage.change(version="latest")
        await load.writer.more(50)
    await stage.until("it is available", lambda it: condition(it, "Available").status == "True")
