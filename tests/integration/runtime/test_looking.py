"""What a controller can look at beyond what it owns, and how little of it must be kept in memory."""

from typing import Any

import pytest

from integration.runtime.test_controller import settled
from integration.runtime.websites import Website, config_map, website
from integration.runtime.world import World
from windvane import Context, ObjectMeta, Operator, View, Watch, crd, index, only_metadata
from windvane.k8s.core import ConfigMap, Namespace, Secret
from windvane.runtime.informers.declared_informers import Undeclared
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.history import Trigger

sites_by_secret = index(Website, by=lambda site: site.spec.secret or None)


async def run(world: World, operator: Operator) -> OperatorManager:
    await world.admin.create(crd(Website))
    running = operator.run(world.client())

    async def work() -> None:
        await running

    world.start(work())
    await world.until(lambda: running.synced)
    return running


def secret(name: str, **data: str) -> Secret:
    return Secret(metadata=ObjectMeta(name=name, namespace="default"), string_data=data)


async def test_a_watch_finds_whom_a_change_concerns_by_an_index(world: World) -> None:
    operator, passes = Operator("websites"), []

    def concerned(secret: Secret, view: View) -> list[Website]:
        return view.find(sites_by_secret, secret.metadata.name)

    @operator.controller(Website, watches=[Watch(Secret, to=concerned)])
    async def reconcile(site: Website, ctx: Context) -> None:
        passes.append(site.metadata.name)

    running = await run(world, operator)
    for name in ("a", "b"):
        await world.admin.create(website(name, secret="shared"))
    await world.admin.create(website("c", secret="other"))
    await settled(world, running)
    passes.clear()
    await world.admin.create(secret("shared", password="1"))
    await settled(world, running)
    assert sorted(passes) == ["a", "b"]


async def test_an_index_follows_what_changes(world: World) -> None:
    operator, found = Operator("websites"), list[str]()

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        found[:] = [each.metadata.name for each in ctx.find(sites_by_secret, "db")]

    running = await run(world, operator)
    await world.admin.create(website("a", secret="db"))
    await world.admin.create(website("b"))
    await settled(world, running)
    assert found == ["a"]
    await world.admin.patch(Website, "b", {"spec": {"secret": "db"}})
    await settled(world, running)
    assert found == ["a", "b"]
    await world.admin.patch(Website, "a", {"spec": {"secret": ""}})
    await settled(world, running)
    assert found == ["b"]


async def test_an_index_can_keep_what_matters_of_each_object(world: World) -> None:
    made = list[str]()

    def described(site: Website) -> tuple[str, int]:
        made.append(site.metadata.name)
        return site.metadata.name, site.spec.copies

    described_by_secret = index(Website, by=lambda site: site.spec.secret or None, of=described)
    operator, found = Operator("websites"), list[tuple[str, int]]()

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        found[:] = ctx.find(described_by_secret, "db")

    running = await run(world, operator)
    for name in ("a", "b"):
        await world.admin.create(website(name, secret="db"))
    await settled(world, running)
    assert found == [("a", 1), ("b", 1)]
    made.clear()
    await world.admin.patch(Website, "b", {"spec": {"copies": 2}})
    await settled(world, running)
    assert found == [("a", 1), ("b", 2)]
    assert "a" not in made


async def test_an_object_that_an_index_can_not_take_is_found_by_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def by(site: Website) -> Any:
        return 7 if site.metadata.name == "odd" else "even"

    broken, operator, found = index(Website, by=by), Operator("websites"), list[str]()

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        found[:] = [each.metadata.name for each in ctx.find(broken, "even")]

    running = await run(world, operator)
    await world.admin.create(website("odd"))
    await world.admin.create(website("other"))
    await settled(world, running)
    assert found == ["other"]
    assert "it must return a string, several strings, or None" in caplog.text


async def test_other_namespaces_are_looked_into_when_told_to(world: World) -> None:
    operator, seen = Operator("websites"), dict[str, Any]()

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen["here"] = [each.metadata.name for each in ctx.list(Website)]
        seen["everywhere"] = [each.metadata.name for each in ctx.list(Website, all_namespaces=True)]
        seen["found"] = [each.metadata.name for each in ctx.find(sites_by_secret, "db", all_namespaces=True)]
        seen["there"] = ctx.get(Website, "far", namespace="faraway")

    running = await run(world, operator)
    await world.admin.create(Namespace(metadata=ObjectMeta(name="faraway")))
    far = website("far", secret="db")
    far.metadata.namespace = "faraway"
    await world.admin.create(far)
    await settled(world, running)
    await world.admin.create(website("near", secret="db"))
    await settled(world, running)
    assert (seen["here"], seen["everywhere"], seen["found"]) == (["near"], ["near", "far"], ["near", "far"])
    assert seen["there"].metadata.namespace == "faraway"


async def test_a_change_of_what_nobody_looks_at_brings_no_pass(world: World) -> None:
    operator, passes = Operator("websites"), []
    watch = Watch(ConfigMap, to=lambda config: "blog", seeing=lambda config: config.data.get("color"))

    @operator.controller(Website, watches=[watch])
    async def reconcile(site: Website, ctx: Context) -> None:
        passes.append(site.metadata.name)

    running = await run(world, operator)
    await world.admin.create(website())
    await world.admin.create(config_map("theme", {"color": "red", "size": "1"}))
    await settled(world, running)
    passes.clear()
    await world.admin.patch(ConfigMap, "theme", {"data": {"size": "2"}})
    await settled(world, running)
    assert passes == []
    await world.admin.patch(ConfigMap, "theme", {"data": {"color": "blue"}})
    await settled(world, running)
    assert passes == ["blog"]


async def test_objects_that_do_not_match_are_not_kept(world: World) -> None:
    operator = Operator("websites")
    operator.watch_only(Secret, labels={"for": "websites"})

    @operator.controller(Website, watches=[Watch(Secret, to=lambda secret: "blog")])
    async def reconcile(site: Website, ctx: Context) -> None:
        site.status.page = ",".join(each.metadata.name for each in ctx.list(Secret))

    ours = secret("ours")
    ours.metadata.labels = {"for": "websites"}
    await world.admin.create(ours)
    await world.admin.create(secret("theirs"))
    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).status.page == "ours"


def test_watching_only_everything_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="needs labels= or fields="):
        Operator("websites").watch_only(Secret)


async def test_of_secrets_only_the_metadata_need_be_seen(world: World) -> None:
    operator = Operator("websites")
    SecretMetadata = only_metadata(Secret)  # noqa: N806 - a class

    @operator.controller(Website, watches=[Watch(SecretMetadata, to=lambda secret: secret.metadata.labels.get("site"))])
    async def reconcile(site: Website, ctx: Context) -> None:
        there = ctx.list(SecretMetadata)
        site.status.page = ",".join(each.metadata.name for each in there)

    running = await run(world, operator)
    await world.admin.create(website())
    made = secret("password", word="sesame")
    made.metadata.labels = {"site": "blog"}
    await world.admin.create(made)
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).status.page == "password"
    raw = [item.raw for informer in running.informers.values() for item in informer.cache.items()]
    assert b'"data"' not in b"".join(raw)


async def test_a_kind_of_which_only_metadata_was_declared_is_not_declared(world: World) -> None:
    operator, errors = Operator("websites"), []

    @operator.controller(Website, watches=[Watch(only_metadata(Secret), to=lambda secret: None)])
    async def reconcile(site: Website, ctx: Context) -> None:
        try:
            ctx.get(Secret, "password")
        except Undeclared as error:
            errors.append(str(error))

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert "watches=[Watch(Secret, to=...)]" in errors[0]


async def test_a_kind_that_another_controller_declared_is_not_declared(world: World) -> None:
    operator, errors = Operator("websites"), []

    @operator.controller(ConfigMap, watches=[Watch(Secret, to=lambda secret: None)])
    async def other(config: ConfigMap, ctx: Context) -> None: ...

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        try:
            ctx.list(Secret)
        except Undeclared as error:
            errors.append(str(error))

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert "not declared by the controller of Website" in errors[0]


async def test_the_next_pass_sees_what_the_client_wrote_by_any_verb(world: World) -> None:
    operator, seen = Operator("websites"), []

    @operator.controller(Website, watches=[Watch(ConfigMap, to=lambda config: "blog")])
    async def reconcile(site: Website, ctx: Context) -> None:
        there = ctx.get(ConfigMap, "log")
        seen.append(there.data["step"] if there else "none")
        match seen[-1]:
            case "none" if len(seen) == 1:
                await ctx.client.create(config_map("log", {"step": "created"}))
            case "created":
                await ctx.client.patch(ConfigMap, "log", {"data": {"step": "patched"}})
            case "patched":
                assert there is not None
                there.data["step"] = "replaced"
                await ctx.client.replace(there)
            case "replaced":
                assert there is not None
                await ctx.client.delete(ConfigMap, "log", uid=there.metadata.uid)

    # Each pass would do its step again if it looked at a cache that has not seen the last one's: the world is slow.
    running = await run(world, operator)
    world.weather.lag = 0.5
    await world.admin.create(website())
    await world.until(lambda: len(seen) > 1 and seen[-1] == "none")
    steps = [step for position, step in enumerate(seen) if position == 0 or seen[position - 1] != step]
    assert steps == ["none", "created", "patched", "replaced", "none"]
    [controller] = running.controllers
    words = [str(write) for each in controller.history.of(("default", "blog")) for write in each.writes]
    assert [word for word in words if "configmaps" in word] == [
        "create configmaps log",
        "patch configmaps log",
        "replace configmaps log",
        "delete configmaps log",
    ]


async def test_a_pass_can_be_asked_for_from_outside(world: World) -> None:
    operator, passes = Operator("websites"), []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        passes.append(site.metadata.name)

    running = await run(world, operator)
    await world.admin.create(website("a"))
    await settled(world, running)
    passes.clear()
    running.ask(Website, "a", namespace="default", why="the disk is full")
    await settled(world, running)
    assert passes == ["a"]
    [controller] = running.controllers
    assert controller.history.of(("default", "a"))[-1].triggers == [Trigger("the disk is full")]
