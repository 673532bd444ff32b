"""The scenarios that take little time: they are part of `make test`, too."""

import pytest

from scenarios.scene import Scene, condition, identities
from windvane import Invalid


async def test_02_a_follower_is_killed_and_no_write_fails(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        victim = await stage.etcd.member("Follower")
        with stage.timed():
            await stage.machine.crash(victim)
            after = await stage.settled()
        assert identities(after) == identities(before)
    assert load.writer.longest_gap() < 2  # a try has a second, and the next one succeeds


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
    assert condition(await stage.cluster(), "Available").status == "True"
