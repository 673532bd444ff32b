"""The first scenario, which is short: it is part of `make test-long`, too, as is what is in test_quick.py."""

from scenarios.scene import Scene


async def test_01_three_members_are_available_within_a_minute(stage: Scene) -> None:
    with stage.timed():
        async with stage.operator.killed_at_random(stage.seed):
            await stage.create()
            cluster = await stage.settled(within=60)
    ids = set()
    for at in (await stage.etcd.each()).values():
        ids.add((await at.ask("maintenance/status"))["header"]["cluster_id"])
    assert [f"{int(each):x}" for each in ids] == [cluster.status.cluster_id]
    async with stage.observed() as load:
        await load.writer.more(100)
