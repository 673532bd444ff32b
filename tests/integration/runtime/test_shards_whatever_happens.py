"""Sharding under chance: replicas come, go, sleep and are cut off in any order, and no key ever has two owners."""

import asyncio
from typing import Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from integration.runtime.replicas import Cluster, Replica, trespasses
from integration.runtime.test_shards import all_have_pages, change_pages, make_websites
from integration.runtime.websites import Website
from integration.runtime.world import World
from windvane import ambient, crd
from windvane.k8s.coordination import Lease
from windvane.runtime.context import Context
from windvane.runtime.coordination.held_shard import HeldShard
from windvane.sim.time import VirtualLoop, VirtualTime

Action = Literal["join", "stop", "pause", "wake", "cut", "slow", "clear", "delete shard", "delete member"]
ACTIONS: tuple[Action, ...] = ("join", "stop", "pause", "wake", "cut", "slow", "clear", "delete shard", "delete member")
MANY = 4
PAUSES = (0.1, 1.0, 4.0, 9.0, 12.0, 16.0, 25.0)


class Step(NamedTuple):
    """Something that happens to one replica, and how long nothing happens after it."""

    action: Action
    which: int
    seconds: float


STEPS = st.lists(
    st.builds(
        Step, st.sampled_from(ACTIONS), st.integers(0, 31), st.sampled_from([0.1, 1.0, 4.0, 9.0, 12.0, 16.0, 40.0])
    ),
    max_size=12,
)


async def happen(cluster: Cluster, step: Step) -> None:
    """Let one step happen."""
    living = [each for each in cluster.replicas if not each.stop.is_set()]
    replica = living[step.which % len(living)] if living else None
    match step.action:
        case "join" if len(living) < MANY:
            join(cluster)
        case "stop" if replica is not None and len(living) > 1:
            replica.stop.set()
        case "pause" if replica is not None:
            replica.pause()
        case "wake" if replica is not None:
            replica.wake()
        case "cut" if replica is not None:
            replica.weather.fall()
        case "slow" if replica is not None:
            replica.weather.delay = 3.0
        case "clear" if replica is not None:
            replica.weather.clear()
        case "delete shard":
            await delete_lease(cluster.world, "-shard-", step.which)
        case "delete member":
            await delete_lease(cluster.world, "-member-", step.which)


async def delete_lease(world: World, part: str, which: int) -> None:
    leases = [each.metadata.name for each in await world.admin.list(Lease) if part in each.metadata.name]
    if leases:
        await world.admin.delete(Lease, leases[which % len(leases)])


def join(cluster: Cluster) -> Replica:
    async def slowly(_site: Website, _ctx: Context) -> None:
        await ambient.sleep(0.7)

    [replica] = cluster.start(f"r{len(cluster.replicas)}")
    replica.websites.hook = slowly
    return replica


async def live_through(steps: list[Step], seed: int) -> list[str]:
    """Have all of it happen while websites change all the time; who trespassed. In the end, all is well again."""
    world = World()
    await world.server.start()
    await world.admin.create(crd(Website))
    cluster = Cluster(world, shards=8)
    names = await make_websites(world, 8)

    async def change() -> None:
        number = seed
        while True:
            number += 1
            await world.admin.patch(Website, names[number % len(names)], {"spec": {"page": f"page {number}"}})
            await ambient.sleep(0.4)

    try:
        join(cluster)
        join(cluster)
        changing = world.start(change())
        await ambient.sleep(20)
        for step in steps:
            await happen(cluster, step)
            await ambient.sleep(step.seconds)
        changing.cancel()
        for replica in cluster.replicas:
            replica.weather.clear()
            replica.wake()
        await cluster.split([each for each in cluster.replicas if not each.stop.is_set()])
        await change_pages(world, names, "the end")
        await all_have_pages(world, names, "the end")
    finally:
        await cluster.close()
        await world.close()
    return trespasses(cluster.log)


def run(steps: list[Step], seed: int = 0) -> list[str]:
    with ambient.use(VirtualTime(seed)), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(live_through(steps, seed))


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, st.integers(0, 1000))
def test_whatever_happens_no_key_has_two_owners_and_in_the_end_all_is_well(steps: list[Step], seed: int) -> None:
    assert run(steps, seed) == []


def test_without_the_fence_the_check_finds_two_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldShard, "leading", True)
    monkeypatch.setattr(HeldShard, "alone", 60.0)
    monkeypatch.setattr(HeldShard, "end", lambda _: None)
    assert run([Step("pause", 0, 25.0), Step("wake", 0, 2.0)]) != []
