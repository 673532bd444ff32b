"""Whatever people do, the world comes to match the specs, and then nothing is written any more."""

import asyncio

from integration.operators.world import OPERATOR, Replica, World
from integration.runtime.websites import Website, Websites
from windvane import ObjectMeta
from windvane.k8s.core import ConfigMap, Event
from windvane.runtime.context import Context


async def test_what_is_stated_comes_to_be(world: World) -> None:
    await Replica(world).synced()
    site = await world.create(aliases=["a"])
    await world.converges()
    child = (await world.children())["blog"]
    assert [(each.kind, each.uid, each.controller) for each in child.metadata.owner_references] == [
        ("Website", site.metadata.uid, True)
    ]


async def test_what_was_there_before_the_operator_comes_to_be_too(world: World) -> None:
    await world.create()
    Replica(world)
    await world.converges()


async def test_a_change_of_the_spec_is_followed(world: World) -> None:
    await Replica(world).synced()
    await world.create(aliases=["a", "b"])
    await world.converges()
    await world.edit(page="news", aliases=["b", "c"])
    await world.converges()
    assert sorted(await world.children()) == ["blog", "blog-b", "blog-c"]


async def test_a_deleted_child_comes_back(world: World) -> None:
    await Replica(world).synced()
    await world.create()
    await world.converges()
    before = (await world.children())["blog"]
    await world.admin.delete(ConfigMap, "blog")
    await world.converges()
    assert (await world.children())["blog"].metadata.uid != before.metadata.uid


async def test_drift_is_corrected(world: World) -> None:
    await Replica(world).synced()
    await world.create()
    await world.converges()
    await world.admin.patch(ConfigMap, "blog", {"data": {"page": "defaced"}})
    await world.converges()
    await world.admin.patch(ConfigMap, "blog", {"data": {"page": None}})
    await world.converges()


async def test_what_others_add_to_a_child_is_left_alone(world: World) -> None:
    await Replica(world).synced()
    await world.create()
    await world.converges()
    await world.admin.patch(ConfigMap, "blog", {"data": {"note": "mine"}, "metadata": {"labels": {"team": "x"}}})
    await world.edit(page="news")
    await world.converges()
    child = (await world.children())["blog"]
    assert (child.data, child.metadata.labels) == ({"page": "news", "note": "mine"}, {"team": "x"})


async def test_whoever_fights_for_a_field_loses_it_and_is_named_in_an_event(world: World) -> None:
    await Replica(world).synced()
    await world.create()
    await world.converges()
    mine = ConfigMap(metadata=ObjectMeta(name="blog", namespace=world.namespace), data={"page": "mine"})
    await world.admin.apply(mine, field_manager="rival", force=True)
    await world.converges()

    async def named() -> list[Event]:
        found = await world.admin.list(Event, namespace=world.namespace)
        return [each for each in found if each.reason == "FieldConflict" and '"rival"' in str(each.message)]

    await world.until(named)


async def test_ten_edits_during_a_pass_are_one_more_pass(world: World) -> None:
    websites = Websites()
    seen: list[int] = []
    entered, let_go = asyncio.Event(), asyncio.Event()

    async def hold(site: Website, ctx: Context) -> None:
        if site.metadata.name == "blog":
            seen.append(site.metadata.generation)
        entered.set()
        await let_go.wait()

    websites.hook = hold
    replica = await Replica(world, websites).synced()
    await world.create()
    await entered.wait()
    for number in range(10):
        await world.edit(page=f"edit {number}")

    async def all_seen() -> bool:
        [informer] = [each for each in replica.running.informers.values() if each.kind.name == "Website"]
        item = informer.cache.get((world.namespace, "blog"))
        return item is not None and item.meta.generation == 11

    await world.until(all_seen)
    let_go.set()
    await world.converges()
    await world.let_nothing_happen(60)
    assert set(seen) == {1, 11}, "nothing in between was worth a pass"
    assert seen.count(11) <= 2, "one for the edits, and one for what it wrote"


async def test_a_settled_world_sees_no_write_for_an_hour(world: World) -> None:
    await Replica(world).synced()
    names = ("blog", "shop", "wiki")
    for name in names:
        await world.create(name, aliases=["a", "b"])
    await world.converges()
    before = await world.written_down(*names)
    assert {each.who for each in before} == {OPERATOR}
    await world.let_nothing_happen(3600)
    assert world.operator_writes() == before


async def test_a_restart_of_a_settled_operator_writes_nothing(world: World) -> None:
    first = await Replica(world).synced()
    await world.create(aliases=["a", "b"])
    await world.converges()
    first.stop.set()
    await first.task
    before = await world.written_down("blog")
    second = Replica(world)

    async def looked() -> bool:
        return second.passes > 0

    await world.until(looked)
    await world.let_nothing_happen(600)
    assert world.operator_writes() == before


async def test_a_website_that_is_made_again_takes_over_the_children_of_the_old_one(world: World) -> None:
    await Replica(world).synced()
    await world.create()
    await world.converges()
    await world.admin.delete(Website, "blog")  # its child stays until the garbage collector comes
    new = await world.create(page="again")
    await world.converges()
    child = (await world.children())["blog"]
    assert [each.uid for each in child.metadata.owner_references] == [new.metadata.uid]
