"""Nothing is removed or taken over unless the author says so."""

from datetime import timedelta
from functools import partial
from itertools import count

import pytest

from integration.operators.author import Author, event, passed, ready
from integration.operators.test_settled_kinds import Estate, serve_estates
from integration.operators.world import OPERATOR, EmbeddedWorld, Replica, World
from integration.runtime.websites import Website, Websites, WebsiteSpec, config_map
from windvane import After, Context, NotFound, ObjectMeta, Operator, Quantity, Watch, find_condition, owner_reference
from windvane.k8s.core import (
    ConfigMap,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Secret,
    VolumeResourceRequirements,
)


async def both_unless_early(site: Website, ctx: Context) -> After | None:
    """An author who returns early, waits, or prunes, as the page says."""
    match site.spec.page:
        case "early":
            return None
        case "waits":
            ctx.wait("the moon is in the way")
        case "none":
            await ctx.prune()
            return None
        case "later":
            return After(hours=1)
    for alias in site.spec.aliases:
        await ctx.apply(config_map(f"{site.metadata.name}-{alias}", {"alias": alias}))
    if site.spec.page == "prunes":
        await ctx.prune()
    return None


async def names(world: World) -> list[str]:
    return sorted(name for name in await world.children() if name.startswith("blog"))


@pytest.mark.parametrize("page", ["early", "waits", "later", "states less"])
async def test_a_pass_that_does_not_say_so_removes_nothing(world: World, page: str) -> None:
    replica = await Replica(world, Author(both_unless_early)).synced()
    await world.create(aliases=["a", "b"])
    await passed(world, replica, 1)
    await world.edit(page=page, aliases=["b"])
    await passed(world, replica, 2)
    assert await names(world) == ["blog-a", "blog-b"]


async def test_a_pass_that_prunes_removes_what_it_did_not_apply_and_tells_it(world: World) -> None:
    replica = await Replica(world, Author(both_unless_early)).synced()
    await world.create(aliases=["a", "b"])
    await passed(world, replica, 1)
    await world.edit(page="prunes", aliases=["b"])
    await passed(world, replica, 2)
    assert await names(world) == ["blog-b"]
    assert await event(world, "Pruned") == "ConfigMap blog-a is no longer wanted, and was deleted"


async def test_a_pass_that_prunes_and_applies_nothing_wants_nothing(world: World) -> None:
    replica = await Replica(world, Author(both_unless_early)).synced()
    await world.create(aliases=["a", "b"])
    await passed(world, replica, 1)
    await world.edit(page="none")
    await passed(world, replica, 2)
    assert await names(world) == []


async def test_a_pass_that_prunes_before_it_applies_loses_nothing(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.prune()
        for alias in site.spec.aliases:
            await ctx.apply(config_map(f"{site.metadata.name}-{alias}", {"alias": alias}))
        if site.spec.page == "fails":
            raise ValueError("there is more to be stated")

    replica = await Replica(world, Author(reconcile)).synced()
    await world.create(aliases=["a", "b"])
    await passed(world, replica, 1)
    before = {name: each.metadata.uid for name, each in (await world.children()).items()}
    await world.edit(page="fails", aliases=["a"])
    await event(world, "ValueError")
    assert await names(world) == ["blog-a", "blog-b"], "a pass that fails may not have stated all"
    await world.edit(page="works")
    await passed(world, replica, 3)
    after = {name: each.metadata.uid for name, each in (await world.children()).items()}
    assert (after["blog-a"], await names(world)) == (before["blog-a"], ["blog-a"])


def claim(name: str) -> PersistentVolumeClaim:
    resources = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    spec = PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=resources)
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name), spec=spec)


async def test_what_holds_data_is_not_pruned_and_can_be_deleted(world: World) -> None:
    made = count()

    async def reconcile(site: Website, ctx: Context) -> None:
        if site.spec.page == "hello":
            await ctx.apply(claim("data"))
            await ctx.make_once(Secret, "password", lambda: Secret(string_data={"it": str(next(made))}))
            await ctx.apply(config_map("marked", {}), prune=False)
            await ctx.apply(config_map("plain", {}))
        if site.spec.page == "delete":
            await ctx.delete(claim("data"))
            await ctx.delete(Secret(metadata=ObjectMeta(name="password")))
            await ctx.delete(config_map("marked", {}))
        await ctx.prune()

    replica = await Replica(world, Author(reconcile, owns=[ConfigMap, Secret, PersistentVolumeClaim])).synced()

    async def there() -> set[str]:
        found = {each.metadata.name for each in await world.admin.list(Secret, namespace=world.namespace)}
        for each in await world.admin.list(PersistentVolumeClaim, namespace=world.namespace):
            if each.metadata.deletion_timestamp is None:  # a real server's pvc-protection holds it
                found.add(each.metadata.name)
        return (found | set(await world.children())) & {"data", "password", "marked", "plain"}

    await world.create()
    await passed(world, replica, 1)
    assert await there() == {"data", "password", "marked", "plain"}
    await world.edit(page="nothing")
    await passed(world, replica, 2)
    assert await there() == {"data", "password", "marked"}
    await world.edit(page="delete")
    await passed(world, replica, 3)
    assert await there() == set()


async def test_what_is_made_once_stays_as_it_was_made(world: World) -> None:
    made = count()

    async def reconcile(site: Website, ctx: Context) -> None:
        secret = await ctx.make_once(Secret, "password", lambda: Secret(string_data={"it": str(next(made))}))
        site.status.page = secret.data["it"].decode()

    author = Author(reconcile, owns=[Secret])
    replica = await Replica(world, author).synced()
    await world.create()
    await passed(world, replica, 1)
    await world.edit(page="news")
    await passed(world, replica, 2)
    replica.stop.set()
    await replica.task
    second = await Replica(world, Author(reconcile, owns=[Secret])).synced()
    await world.edit(page="more news")
    await passed(world, second, 3)
    assert (await world.admin.get(Website, "blog")).status.page == "0"
    assert next(made) == 1, "the function was called once"


async def test_what_was_orphaned_is_owned_again(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.make_once(Secret, "password", lambda: Secret(string_data={"it": "x"}))
        await ctx.apply(config_map("applied", {"a": "1"}))

    replica = await Replica(world, Author(reconcile, owns=[Secret, ConfigMap])).synced()
    await world.create()
    await passed(world, replica, 1)
    before = await world.admin.get(Secret, "password")
    replica.stop.set()
    await replica.task
    await world.admin.delete(Website, "blog")
    for what, name in ((Secret, "password"), (ConfigMap, "applied")):  # as the garbage collector does for an orphan
        await world.admin.patch(what, name, {"metadata": {"ownerReferences": None}})
    replica = await Replica(world, Author(reconcile, owns=[Secret, ConfigMap])).synced()
    site = await world.create()
    await passed(world, replica, 1)
    secret = await world.admin.get(Secret, "password")
    assert (secret.metadata.uid, secret.data) == (before.metadata.uid, before.data)
    for each in (secret, (await world.children())["applied"]):
        assert [owner.uid for owner in each.metadata.owner_references] == [site.metadata.uid]


async def test_what_has_an_owner_without_a_namespace_is_made_once_too(world: World) -> None:
    made: list[int] = []

    def make() -> Secret:
        made.append(1)
        return Secret(string_data={"it": "x"})

    class Houses(Websites):
        def __init__(self) -> None:
            super().__init__()
            self.operator = Operator(OPERATOR)

            @self.operator.controller(Estate, owns=[Secret])
            async def reconcile(estate: Estate, ctx: Context) -> None:
                where = world.namespace if estate.spec.page != "nowhere" else ""
                await ctx.make_once(Secret, "password", make, namespace=where)
                estate.status.page = estate.spec.page

    await serve_estates(world)
    await Replica(world, Houses()).synced()
    name = f"estate-{world.namespace}"
    await world.admin.create(Estate(metadata=ObjectMeta(name=name), spec=WebsiteSpec(page="hello")))

    async def shows(page: str) -> bool:
        estate = await world.admin.get(Estate, name)
        said = find_condition(estate.status.conditions, "Ready")
        return page in (estate.status.page, said.message if said else "")

    for page in ("hello", "news"):
        await world.admin.patch(Estate, name, {"spec": {"page": page}})
        await world.until(partial(shows, page))
    assert made == [1]
    assert [each.verb for each in world.writes() if each.resource == "secrets"] == ["create"]
    await world.admin.patch(Estate, name, {"spec": {"page": "nowhere"}})
    needs = (
        "needs a namespace=, for its owner has none: ctx.make_once(Secret, 'password', make, namespace=\"...\"), say"
    )
    await world.until(partial(shows, f"ctx.make_once(Secret, 'password', ...) {needs}"))
    await world.admin.delete(Estate, name)


async def test_what_another_client_made_is_not_pruned_though_it_names_the_owner(world: World) -> None:
    replica = await Replica(world, Author(both_unless_early)).synced()
    site = await world.create(aliases=["a"])
    await passed(world, replica, 1)
    theirs = config_map("blog-theirs", {})
    theirs.metadata.namespace, theirs.metadata.owner_references = world.namespace, [owner_reference(site)]
    await world.admin.create(theirs)
    await world.edit(page="none")
    await passed(world, replica, 2)
    assert await names(world) == ["blog-theirs"]


async def test_an_object_that_was_there_is_not_taken_over(world: World) -> None:
    theirs = config_map("blog-a", {"theirs": "yes"})
    theirs.metadata.namespace = world.namespace
    await world.admin.create(theirs)
    replica = await Replica(world, Author(both_unless_early)).synced()
    await world.create(aliases=["a"])

    async def told() -> bool:
        site = await world.admin.get(Website, "blog")
        return bool(site.status.conditions) and (await ready(world)).reason == "NotAdopted"

    await world.until(told)
    said = await ready(world)
    assert said.status == "False"
    assert "ConfigMap 'blog-a' was there before, and this operator did not make it" in said.message
    assert "adopt=True" in said.message
    there = (await world.children())["blog-a"]
    assert (there.data, there.metadata.owner_references) == ({"theirs": "yes"}, [])
    await world.admin.delete(ConfigMap, "blog-a")
    await passed(world, replica, 1)
    await world.until(lambda: _is_ready(world))


async def _is_ready(world: World) -> bool:
    return (await ready(world)).status == "True"


async def test_an_object_that_was_there_is_taken_over_if_the_author_says_so(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("blog-a", {"mine": "too"}), adopt=True)

    theirs = config_map("blog-a", {"theirs": "yes"})
    theirs.metadata.namespace = world.namespace
    await world.admin.create(theirs)
    replica = await Replica(world, Author(reconcile)).synced()
    site = await world.create()
    await passed(world, replica, 1)
    there = (await world.children())["blog-a"]
    assert there.data == {"theirs": "yes", "mine": "too"}
    assert [each.uid for each in there.metadata.owner_references] == [site.metadata.uid]


async def test_two_objects_do_not_share_a_child(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("shared", {}), adopt=True)

    replica = await Replica(world, Author(reconcile)).synced()
    await world.create("blog")
    await passed(world, replica, 1)
    await world.create("shop")

    async def told() -> bool:
        site = await world.admin.get(Website, "shop")
        return bool(site.status.conditions)

    await world.until(told)
    said = await ready(world, "shop")
    assert (said.status, said.reason) == ("False", "NotAdopted")
    assert "is controlled by Website 'blog'" in said.message


async def test_a_child_that_never_settles_is_slowed_down_and_told(world: World) -> None:
    ticks = count()

    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("clock", {"now": str(next(ticks))}))

    replica = await Replica(world, Author(reconcile)).synced()
    await world.create()
    message = await event(world, "Unsettled")
    assert "ConfigMap clock: data.now is another one in each pass" in message
    if isinstance(world, EmbeddedWorld):  # where an hour may pass
        before = replica.passes
        await world.time.sleep(timedelta(hours=1).total_seconds())
        assert replica.passes - before <= 20
    assert replica.passes <= 40


async def test_a_child_that_follows_what_changes_often_is_not_slowed_down(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        watched = ctx.get(Secret, "watched")
        await ctx.apply(config_map("follows", {"it": watched.data["it"].decode() if watched else ""}))

    replica = await Replica(world, Author(reconcile, watches=[Watch(Secret, to=lambda _: "blog")])).synced()
    await world.create()
    await passed(world, replica, 1)
    secret = Secret(metadata=ObjectMeta(name="watched", namespace=world.namespace))

    async def follows() -> bool:
        return (await world.children())["follows"].data["it"].encode() == secret.data["it"]

    for number in range(40):
        secret.data = {"it": str(number).encode()}
        await world.admin.apply(secret)
        await world.until(follows)
    [controller] = replica.running.controllers
    assert controller.budgets.overdrawn == 0


async def test_a_child_that_the_server_refuses_is_not_one_that_never_settles(world: World) -> None:
    pokes = Secret(metadata=ObjectMeta(name="poke", namespace=world.namespace))

    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("blog-a", {"not a key": ""}))

    author = Author(reconcile, watches=[Watch(Secret, to=lambda _: "blog")])
    replica = await Replica(world, author).synced()
    await world.create()
    for number in range(20):
        await world.until(partial(_tried, replica, number))
        pokes.data = {"it": str(number).encode()}
        await world.admin.apply(pokes)
    [controller] = replica.running.controllers
    assert controller.budgets.overdrawn == 0
    assert (await ready(world)).reason == "Invalid"


async def _tried(replica: Replica, times: int) -> bool:
    return replica.passes > times


async def test_a_deleted_website_takes_what_holds_data_with_it_by_its_owner_reference(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.make_once(Secret, "password", lambda: Secret(string_data={"it": "x"}))

    replica = await Replica(world, Author(reconcile, owns=[Secret])).synced()
    site = await world.create()
    await passed(world, replica, 1)
    secret = await world.admin.get(Secret, "password")
    assert [(each.uid, each.controller) for each in secret.metadata.owner_references] == [(site.metadata.uid, True)]
    with pytest.raises(NotFound):
        await world.admin.get(ConfigMap, "password")


async def test_a_pass_that_always_asks_for_another_is_slowed_down_and_told(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> After:
        return After(seconds=0)

    replica = await Replica(world, Author(reconcile)).synced()
    await world.create()
    assert "by `After(seconds=0)`" in await event(world, "Unsettled")
    if isinstance(world, EmbeddedWorld):
        before = replica.passes
        await world.time.sleep(timedelta(hours=1).total_seconds())
        assert replica.passes - before <= 20


async def test_a_pass_that_always_writes_past_the_caches_is_slowed_down_and_told(world: World) -> None:
    ticks = count()

    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.client.patch(Website, "blog", {"metadata": {"annotations": {"tick": str(next(ticks))}}})

    replica = await Replica(world, Author(reconcile)).synced()
    await world.create()
    assert "websites.demo.windvane.dev blog is written in each pass, with ctx.client" in await event(world, "Unsettled")
    if isinstance(world, EmbeddedWorld):
        before = replica.passes
        await world.time.sleep(timedelta(hours=1).total_seconds())
        assert replica.passes - before <= 20


async def test_an_object_that_the_cache_does_not_show_is_not_taken_over(world: World) -> None:
    async def reconcile(site: Website, ctx: Context) -> None:
        child = config_map("blog-a", {"mine": "yes"})
        child.metadata.labels = {"app": "blog"}
        await ctx.apply(child)

    theirs = config_map("blog-a", {"theirs": "yes"})
    theirs.metadata.namespace = world.namespace
    await world.admin.create(theirs)
    author = Author(reconcile)
    author.operator.watch_only(ConfigMap, labels={"app": "blog"})
    await Replica(world, author).synced()
    await world.create()

    async def told() -> bool:
        site = await world.admin.get(Website, "blog")
        return bool(site.status.conditions) and (await ready(world)).reason == "NotAdopted"

    await world.until(told)
    there = (await world.children())["blog-a"]
    assert (there.data, there.metadata.labels, there.metadata.owner_references) == ({"theirs": "yes"}, {}, [])
    assert next(each.code for each in world.operator_writes() if each.resource == "configmaps") == 409
