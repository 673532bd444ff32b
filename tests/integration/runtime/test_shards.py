"""Sharding: all replicas work, each on its part of the keys, and whatever happens no key ever has two owners."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from integration.runtime.replicas import SHARDS, Cluster, Entry, trespasses
from integration.runtime.websites import Website, Websites, config_map, website
from integration.runtime.world import World
from windvane import ambient, crd
from windvane.k8s.coordination import Lease
from windvane.k8s.core import ConfigMap
from windvane.runtime.context import Context
from windvane.runtime.coordination.leader_election import DURATION, LeadershipLost
from windvane.runtime.observability.health import page

SECONDS = 5.0
"""What "within seconds" means: the watch tells at once, but a member looks up only every two seconds at worst."""


@pytest.fixture
async def cluster(world: World) -> AsyncIterator[Cluster]:
    await world.admin.create(crd(Website))
    made = Cluster(world)
    yield made
    await made.close()
    assert not trespasses(made.log)


async def make_websites(world: World, count: int) -> list[str]:
    names = [f"site-{number}" for number in range(count)]
    for name in names:
        await world.admin.create(website(name))
    return names


async def all_have_pages(world: World, names: list[str], text: str = "hello") -> None:
    async def missing() -> int:
        there = {each.metadata.name: each.data.get("page") for each in await world.admin.list(ConfigMap)}
        return sum(there.get(name) != text for name in names)

    deadline = ambient.monotonic() + 120
    while left := await missing():
        assert ambient.monotonic() < deadline, f"{left} of {len(names)} have no page"
        await ambient.sleep(0.1)


async def change_pages(world: World, names: list[str], text: str) -> None:
    for name in names:
        await world.admin.patch(Website, name, {"spec": {"page": text}})


# The check itself


HOLD = Entry(1, 0.0, "a", 3, None, holds=True)
WRITE = Entry(2, 1.0, "a", 3, ("default", "blog"))


def test_who_writes_what_it_holds_does_not_trespass() -> None:
    assert not trespasses([HOLD, WRITE])


def test_the_check_finds_who_writes_what_nobody_holds() -> None:
    assert trespasses([WRITE]) == ["1.000: a wrote default/blog in shard 3, which nobody held"]


def test_the_check_finds_who_writes_what_another_holds() -> None:
    took = Entry(3, 2.0, "b", 3, None, holds=True)
    late = Entry(4, 3.0, "a", 3, ("default", "blog"))
    assert trespasses([late, took, WRITE, HOLD]) == ["3.000: a wrote default/blog in shard 3, which b held"]


def test_the_check_finds_who_writes_what_it_gave_back() -> None:
    gave = Entry(3, 2.0, "a", 3, None, holds=False)
    late = Entry(4, 3.0, "a", 3, ("default", "blog"))
    assert trespasses([HOLD, WRITE, gave, late]) == ["3.000: a wrote default/blog in shard 3, which nobody held"]


# Splitting, joining, leaving


async def test_three_replicas_split_the_keys_and_each_key_is_worked_on_by_one(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 300)
    replicas = cluster.start("a", "b", "c")
    await cluster.split(replicas)
    await all_have_pages(world, names)
    began = ambient.monotonic()
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")
    writers = cluster.writers(since=began)
    assert {len(each) for each in writers.values()} == {1}
    share = Counter(replica for each in writers.values() for replica in each)
    assert all(share[name] >= 50 for name in "abc"), share


async def test_when_one_joins_only_its_part_moves_and_within_seconds(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 60)
    replicas = cluster.start("a", "b", "c")
    await cluster.split(replicas)
    await all_have_pages(world, names)
    before = {shard: each.name for each in replicas for shard in each.shards}
    replicas += cluster.start("d")
    assert await cluster.split(replicas) <= SECONDS
    after = {shard: each.name for each in replicas for shard in each.shards}
    moved = [shard for shard in range(SHARDS) if before[shard] != after[shard]]
    assert 0 < len(moved) <= SHARDS // 2
    assert len([shard for shard in moved if after[shard] == "d"]) >= len(moved) / 2
    began = ambient.monotonic()
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")
    assert {name: {after[cluster.shard(name)]} for name in names} == cluster.writers(since=began)


async def test_the_keys_that_stay_are_not_worked_on_again_when_one_joins(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 60)
    [first] = cluster.start("a")
    await cluster.split([first])
    await all_have_pages(world, names)
    await ambient.sleep(5)
    passes = first.websites.passes.copy()
    [second] = cluster.start("b")
    await cluster.split([first, second])
    await ambient.sleep(10)
    assert first.websites.passes == passes
    assert second.websites.passes.keys() == {name for name in names if cluster.shard(name) in second.shards}


async def test_when_one_stops_the_others_take_over_within_seconds(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 60)
    replicas = cluster.start("a", "b", "c")
    await cluster.split(replicas)
    replicas[0].stop.set()
    assert await cluster.split(replicas[1:]) <= SECONDS
    await replicas[0].task
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")
    members = [each.metadata.name for each in await world.admin.list(Lease) if "-member-" in each.metadata.name]
    assert len(members) == 2, "it took its own Lease away"


async def test_when_the_last_one_stops_the_next_begins_at_once(world: World, cluster: Cluster) -> None:
    [first] = cluster.start("a")
    await cluster.split([first])
    first.stop.set()
    await first.task
    assert await cluster.split(cluster.start("b")) <= SECONDS


async def test_when_one_dies_the_others_take_over_when_it_has_been_silent_for_long(
    world: World, cluster: Cluster
) -> None:
    names = await make_websites(world, 60)
    replicas = cluster.start("a", "b", "c")
    await cluster.split(replicas)
    replicas[0].pause()
    took = await cluster.split(replicas[1:])
    assert DURATION - 3 <= took <= DURATION + SECONDS
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")

    async def leases() -> list[str]:
        return [each.metadata.name for each in await world.admin.list(Lease) if "-member-" in each.metadata.name]

    await ambient.sleep(5)
    assert len(await leases()) == 2, "what it left was cleared away"


async def test_a_replica_that_comes_back_gets_its_old_part(world: World, cluster: Cluster) -> None:
    replicas = cluster.start("a", "b", "c")
    await cluster.split(replicas)
    before = replicas[0].shards
    replicas[0].stop.set()
    await cluster.split(replicas[1:])
    [again] = cluster.start("a")
    await cluster.split([again, *replicas[1:]])
    assert again.shards == before


# What goes wrong


async def test_a_replica_that_wakes_in_the_middle_of_a_pass_writes_nothing(world: World, cluster: Cluster) -> None:
    replicas = cluster.start("a", "b")
    sleeper, other = replicas
    await cluster.split(replicas)
    refused: list[str] = []

    async def stubborn(site: Website, ctx: Context) -> None:
        sleeper.pause()
        with suppress(asyncio.CancelledError):  # an author's mistake, but no reason for two to write
            await ambient.sleep(0.01)
        try:
            await ctx.apply(config_map(site.metadata.name, {"page": "stale"}))
        except LeadershipLost as error:
            refused.append(str(error))
            raise

    sleeper.websites.hook = stubborn
    name = next(f"site-{n}" for n in range(100) if cluster.shard(f"site-{n}") in sleeper.shards)
    await world.admin.create(website(name))
    await cluster.split([other])
    await all_have_pages(world, [name])
    await ambient.sleep(60)
    sleeper.websites.hook = None
    sleeper.wake()
    await ambient.sleep(0.5)
    [message] = refused
    assert f"this replica does not hold shard {cluster.shard(name)} any more, and another may" in message
    assert (await world.admin.get(ConfigMap, name)).data == {"page": "hello"}
    assert cluster.writers()[name] == {"b"}
    await cluster.split(replicas)
    await ambient.sleep(10)
    assert (await world.admin.get(ConfigMap, name)).data == {"page": "hello"}


async def test_a_replica_that_is_cut_off_stops_before_another_begins(world: World, cluster: Cluster) -> None:
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    replicas[0].weather.fall()
    cut = ambient.monotonic()
    await world.until(lambda: not replicas[0].shards)
    stopped = ambient.monotonic() - cut
    assert stopped <= 10.1
    await cluster.split(replicas[1:])
    assert ambient.monotonic() - cut >= stopped + 3
    replicas[0].weather.clear()
    await cluster.split(replicas)


async def test_a_short_outage_moves_nothing(world: World, cluster: Cluster) -> None:
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    before = len(cluster.log)
    for replica in replicas:
        replica.weather.fall()
    await ambient.sleep(5)
    for replica in replicas:
        replica.weather.clear()
    await ambient.sleep(60)
    assert [entry for entry in cluster.log[before:] if entry.key is None] == []


async def test_a_minute_without_a_server_is_made_up_for(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 30)
    replicas = cluster.start("a", "b", "c")
    await cluster.split(replicas)
    before = [replica.shards for replica in replicas]
    for replica in replicas:
        replica.weather.fall()
    await ambient.sleep(60)
    assert not any(replica.shards for replica in replicas)
    await change_pages(world, names, "news")
    for replica in replicas:
        replica.weather.clear()
    await cluster.split(replicas)
    await all_have_pages(world, names, "news")
    assert [replica.shards for replica in replicas] == before


async def test_a_shard_lease_that_somebody_deletes_is_made_again(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 30)
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    await all_have_pages(world, names)
    holder = next(each for each in replicas if 3 in each.shards)
    await world.admin.delete(Lease, "websites-shard-3")
    deleted = ambient.monotonic()
    await world.until(lambda: 3 not in holder.shards)
    assert ambient.monotonic() - deleted <= 1, "the watch tells it at once"
    await cluster.split(replicas)
    assert DURATION <= ambient.monotonic() - deleted <= DURATION + SECONDS
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")


async def test_who_does_not_hear_that_its_shard_lease_was_deleted_stops_before_another_begins(
    world: World, cluster: Cluster
) -> None:
    # Its renewals get through, but nothing comes by its watch: a connection that is dead without saying so.
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    deaf, other = replicas
    assert deaf.running.shards is not None
    deaf.running.shards._informer.notify = lambda changes: None  # type: ignore[method-assign]
    deaf.running.shards._informer.has_seen = lambda *_: False  # type: ignore[method-assign]
    for shard in deaf.shards:
        await world.admin.delete(Lease, f"websites-shard-{shard}")
    await world.until(lambda: not deaf.shards)
    assert not any(entry.holds and entry.at > ambient.monotonic() - 5 for entry in cluster.log)
    await cluster.split([other])


async def test_a_member_lease_that_somebody_deletes_costs_no_more_than_a_moment(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 30)
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    await all_have_pages(world, names)
    for lease in await world.admin.list(Lease):
        if lease.spec.holder_identity == "a":
            await world.admin.delete(Lease, lease.metadata.name)
    await ambient.sleep(3)
    assert await cluster.split(replicas) <= SECONDS
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")


async def test_all_leases_deleted_at_once_are_made_again(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 30)
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    await world.admin.delete_collection(Lease, namespace="default")
    await ambient.sleep(3)
    await cluster.split(replicas)
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")


async def test_a_pass_that_is_under_way_is_finished_before_its_shard_moves(world: World, cluster: Cluster) -> None:
    [first] = cluster.start("a")
    await cluster.split([first])
    began: set[str] = set()
    finished: dict[str, float] = {}

    async def slow(site: Website, ctx: Context) -> None:
        began.add(site.metadata.name)
        await ambient.sleep(5)
        finished[site.metadata.name] = ambient.monotonic()

    first.websites.hook = slow
    names = await make_websites(world, 8)
    await world.until(lambda: len(began) == 8)
    [second] = cluster.start("b")
    await cluster.split([first, second])
    assert set(names) == finished.keys()
    assert set(second.websites.passes) == {name for name in names if cluster.shard(name) in second.shards}
    for name in second.websites.passes:
        taken = next(each.at for each in reversed(cluster.log) if each.shard == cluster.shard(name) and each.holds)
        assert taken >= finished[name]


async def test_a_pass_that_takes_too_long_is_cancelled_when_its_shard_moves(world: World, cluster: Cluster) -> None:
    [first] = cluster.start("a")
    await cluster.split([first])
    began: set[str] = set()

    async def endless(site: Website, ctx: Context) -> None:
        began.add(site.metadata.name)
        await ambient.sleep(3600)

    first.websites.hook = endless
    names = await make_websites(world, 8)
    await world.until(lambda: len(began) == 8)
    [second] = cluster.start("b")
    assert await cluster.split([first, second]) <= 10 + SECONDS
    await all_have_pages(world, [name for name in names if cluster.shard(name) in second.shards])


async def test_who_counts_the_shards_differently_waits_until_the_others_have_gone(
    world: World, cluster: Cluster
) -> None:
    names = await make_websites(world, 20)
    old = cluster.start("a", "b")
    await cluster.split(old)
    cluster.shards = 24
    [new] = cluster.start("c")
    await ambient.sleep(60)
    assert not new.shards
    assert len(set().union(*(each.shards for each in old))) == SHARDS
    cluster.log.clear()  # what is in which shard has changed
    for each in old:
        each.stop.set()
        await each.task
    await cluster.split([new])
    await change_pages(world, names, "news")
    await all_have_pages(world, names, "news")


# What else there is to see


async def test_a_settled_world_sees_one_write_in_two_seconds_from_each_replica(world: World, cluster: Cluster) -> None:
    names = await make_websites(world, 30)
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    await all_have_pages(world, names)
    await ambient.sleep(10)
    before = [len(each.weather.asked) for each in replicas]
    await ambient.sleep(600)
    for each, count in zip(replicas, before, strict=True):
        assert len([request for request in each.weather.asked[count:] if request.method != "GET"]) <= 302
        assert len([request for request in each.weather.asked[count:] if request.method == "GET"]) <= 30


async def test_prometheus_hears_how_many_shards_a_replica_has(world: World, cluster: Cluster) -> None:
    replicas = cluster.start("a", "b")
    await cluster.split(replicas)
    for each in replicas:
        assert "windvane_shards_owned 8.0" in page(each.running, "/metrics", {}).body.decode().splitlines()
        assert page(each.running, "/readyz", {}).code == 200


def test_shards_need_an_identity(world: World) -> None:
    with pytest.raises(ValueError, match="needs an identity that no other replica has"):
        Websites().operator.run(world.client(), shards=16)
