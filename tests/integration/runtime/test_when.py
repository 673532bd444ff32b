"""`when=` and `seeing=`: of which objects, and of what in them, changes bring passes."""

import asyncio
from typing import Any

import pytest

from integration.runtime.test_controller import settled
from integration.runtime.websites import Website, config_map, website
from integration.runtime.world import World
from windvane import Context, DaemonContext, NotFound, ObjectMeta, Operator, Owned, Watch, crd
from windvane.k8s.core import ConfigMap, Secret
from windvane.runtime.manager import OperatorManager


class Ours:
    """An operator for Websites whose secret is `ours`."""

    def __init__(self) -> None:
        self.operator = Operator("websites")
        self.told: list[str] = []
        self.broken = False
        self.operator.controller(Website, when=self._is_ours, owns=[ConfigMap])(self._reconcile)
        self.operator.finalizer(Website)(self._retire)
        self.operator.daemon(Website)(self._watch)

    def _is_ours(self, site: Website) -> bool:
        if self.broken:
            raise KeyError("the weather")
        return site.spec.secret == "ours"

    async def _reconcile(self, site: Website, ctx: Context) -> None:
        self.told.append(f"pass {site.spec.page}")
        await ctx.apply(config_map(site.metadata.name, {"page": site.spec.page}))

    async def _retire(self, site: Website, ctx: Context) -> None:
        self.told.append("retired")

    async def _watch(self, site: Website, ctx: DaemonContext) -> None:
        self.told.append("daemon began")
        try:
            await asyncio.Event().wait()
        finally:
            self.told.append("daemon ended")


async def run(world: World, operator: Operator) -> OperatorManager:
    running = operator.run(world.client())

    async def work() -> None:
        await running

    world.start(work())
    await world.until(lambda: running.synced)
    return running


@pytest.fixture(autouse=True)
async def kind(world: World) -> None:
    await world.admin.create(crd(Website))


async def test_an_object_that_does_not_match_is_not_touched(world: World) -> None:
    ours = Ours()
    await world.admin.create(website("before", secret="theirs"))
    running = await run(world, ours.operator)
    await world.admin.create(website(secret="theirs"))
    world.weather.asked.clear()
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    running.ask(Website, "blog", namespace="default", why="a test")
    await settled(world, running)
    assert ours.told == []
    assert [each for each in world.weather.asked if each.method != "GET"] == []
    site = await world.admin.get(Website, "blog")
    assert (site.metadata.finalizers, site.status.conditions) == ([], [])
    assert [each.result for each in running.controllers[0].history.all()] == ["unmatched"], "but for what was asked for"


async def test_one_that_begins_to_match_gets_its_first_pass(world: World) -> None:
    ours = Ours()
    running = await run(world, ours.operator)
    await world.admin.create(website(secret="theirs"))
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"spec": {"secret": "ours"}})
    await settled(world, running)
    assert sorted(set(ours.told)) == ["daemon began", "pass hello"]
    assert (await world.admin.get(Website, "blog")).metadata.finalizers == ["demo.windvane.dev/websites"]


async def test_one_that_stops_matching_is_left_as_it_is_until_it_is_deleted(world: World) -> None:
    ours = Ours()
    running = await run(world, ours.operator)
    await world.admin.create(website(secret="ours"))
    await settled(world, running)
    before = (await world.admin.get(Website, "blog")).status
    ours.told.clear()
    await world.admin.patch(Website, "blog", {"spec": {"secret": "theirs", "page": "news"}})
    await world.admin.patch(ConfigMap, "blog", {"data": {"page": "changed by another"}})
    await settled(world, running)
    assert ours.told == ["daemon ended"]
    site = await world.admin.get(Website, "blog")
    assert (site.status, site.metadata.finalizers) == (before, ["demo.windvane.dev/websites"])
    assert (await world.admin.get(ConfigMap, "blog")).data == {"page": "changed by another"}
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert ours.told == ["daemon ended", "retired"]
    with pytest.raises(NotFound):
        await world.admin.get(Website, "blog")


async def test_a_when_that_fails_is_told_and_tried_again(world: World, caplog: pytest.LogCaptureFixture) -> None:
    ours = Ours()
    ours.broken = True
    running = await run(world, ours.operator)
    await world.admin.create(website(secret="ours"))
    await settled(world, running)
    assert "Website default/blog: 'the weather'; again in" in caplog.text
    ours.broken = False
    await world.until(lambda: ours.told)
    assert ours.told[0] == "pass hello"


@pytest.mark.parametrize(
    ("owned", "passes"),
    [
        (ConfigMap, ["color", "size", "mine", "gone"]),
        (Owned(ConfigMap), ["color", "size", "mine", "gone"]),
        (Owned(ConfigMap, seeing=lambda child: child.data.get("color")), ["color", "gone"]),
        (Owned(ConfigMap, when=lambda child: child.data.get("size") == "2"), ["size", "mine", "gone"]),
        (Owned(ConfigMap, when=lambda child: child.data.get("size") == "3"), []),
    ],
    ids=["a kind", "Owned", "seeing", "when", "never"],
)
async def test_changes_of_children_bring_passes_as_declared(world: World, owned: Any, passes: list[str]) -> None:
    operator, seen = Operator("websites"), list[str]()
    what = ""

    @operator.controller(Website, owns=[owned])
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(what)
        if not what:
            await ctx.apply(config_map("blog", {"page": "hello"}))

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    seen.clear()
    changes: dict[str, Any] = {"color": {"color": "red"}, "size": {"size": "2"}, "mine": {"owner": "me"}}
    for what, data in changes.items():  # noqa: B007 - the passes look at it
        await world.admin.patch(ConfigMap, "blog", {"data": data})
        await settled(world, running)
    what = "gone"
    await world.admin.delete(ConfigMap, "blog")
    await settled(world, running)
    assert list(dict.fromkeys(seen)) == passes


async def test_a_watched_object_brings_passes_while_it_matches_and_when_it_stops(world: World) -> None:
    operator, seen = Operator("websites"), list[str]()
    watch = Watch(Secret, to=lambda _: "blog", when=lambda secret: secret.metadata.labels.get("for") == "websites")
    step = ""

    @operator.controller(Website, watches=[watch])
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(step)

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    seen.clear()

    async def label(value: str) -> None:
        await world.admin.patch(Secret, "key", {"metadata": {"labels": {"for": value}}})
        await settled(world, running)

    await world.admin.create(Secret(metadata=ObjectMeta(name="key", namespace="default")))
    for step in ("others", "websites", "nobody", "others"):
        await label(step)
    assert seen == ["websites", "nobody"]


def test_what_is_no_predicate_is_answered_with_what_to_write() -> None:
    operator: Any = Operator("websites")

    async def waiting(site: Website) -> bool:
        return True

    for declare in (
        lambda when: operator.controller(Website, when=when),
        lambda when: Owned(ConfigMap, when=when),
        lambda when: Watch(ConfigMap, to=lambda _: None, when=when),
    ):
        with pytest.raises(TypeError, match=r"when=True\): write a function of the object: when=lambda obj"):
            declare(True)
        with pytest.raises(TypeError, match="takes a function that does not wait"):
            declare(waiting)
        with pytest.raises(TypeError, match="is called with the object alone, which <lambda> can't be"):
            declare(lambda before, after: True)
    with pytest.raises(TypeError, match="owns= takes a list of kinds"):
        operator.controller(Website, owns=Owned(ConfigMap))
