"""What `docs/from-kopf.md` says: each idiom of kopf, as it is written here. Each row of the page names its test."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from integration.runtime.test_controller import ready_of, settled
from integration.runtime.test_when import run
from integration.runtime.websites import Website, config_map, website
from integration.runtime.world import World
from windvane import (
    After,
    Backoff,
    Client,
    Context,
    DaemonContext,
    Fatal,
    Kind,
    NotFound,
    ObjectMeta,
    Operator,
    ambient,
    crd,
    dynamic,
    index,
    kind_of,
    only_metadata,
    owned_by,
    owner_reference,
)
from windvane.k8s.core import ConfigMap, Container, Event, Namespace, Pod, PodSpec, Secret
from windvane.runtime.observability.health import page


@pytest.fixture(autouse=True)
async def kind(world: World) -> None:
    await world.admin.create(crd(Website))


@pytest.fixture
def operator() -> Operator:
    return Operator("websites")


def secret(name: str, **labels: str) -> Secret:
    return Secret(metadata=ObjectMeta(name=name, namespace="default", labels=labels))


async def blog(world: World) -> Website:
    return await world.admin.get(Website, "blog")


# Handlers


async def test_creation_change_and_restart_are_one_function(world: World, operator: Operator) -> None:
    """on.create, on.update, on.resume."""
    seen: list[str] = []
    stop = asyncio.Event()

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.spec.page)
        await ctx.apply(config_map("blog", {"page": site.spec.page}))

    running = operator.run(world.client(), stop=stop)

    async def work() -> None:
        await running

    task = world.start(work())
    await world.admin.create(website())
    await world.until(lambda: seen)
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    assert list(dict.fromkeys(seen)) == ["hello", "news"]
    stop.set()
    await task
    seen.clear()
    await world.admin.patch(Website, "blog", {"spec": {"page": "changed while nothing ran"}})
    await settled(world, await run(world, operator))
    assert seen[0] == "changed while nothing ran"
    assert (await world.admin.get(ConfigMap, "blog")).data == {"page": "changed while nothing ran"}


async def test_what_was_deleted_while_nothing_ran_is_finalized(world: World, operator: Operator) -> None:
    """on.resume(deleted=True), on.delete after a restart."""
    seen: list[str] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append("pass")

    @operator.finalizer(Website)
    async def retire(site: Website, ctx: Context) -> None:
        seen.append("finalizer")

    site = website()
    site.metadata.finalizers = ["demo.windvane.dev/websites"]
    await world.admin.create(site)
    await world.admin.delete(Website, "blog")
    await settled(world, await run(world, operator))
    assert seen == ["finalizer"]
    with pytest.raises(NotFound):
        await blog(world)


async def test_what_changed_is_what_differs_from_the_status(world: World, operator: Operator) -> None:
    """on.field, on.update(field=), old, new, diff."""
    renamed: list[tuple[str, str]] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        if site.status.page != site.spec.page:
            renamed.append((site.status.page, site.spec.page))
            site.status.page = site.spec.page

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    for spec in ({"copies": 2}, {"page": "news"}, {"copies": 3}):
        await world.admin.patch(Website, "blog", {"spec": spec})
        await settled(world, running)
    assert renamed == [("", "hello"), ("hello", "news")]


async def test_a_kind_of_others_is_followed_and_nothing_is_written_to_it(world: World, operator: Operator) -> None:
    """on.event: also of what another controller looks after."""
    seen: list[str] = []

    @operator.controller(Pod)
    async def look(pod: Pod, ctx: Context) -> None:
        seen.append(pod.status.phase or "")

    running = await run(world, operator)
    spec = PodSpec(containers=[Container(name="main", image="web:1")])
    await world.admin.create(Pod(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
    await settled(world, running)
    await world.admin.patch(Pod, "web", {"status": {"phase": "Running"}}, subresource="status")
    await settled(world, running)
    assert seen == ["Pending", "Running"]
    assert [each for each in world.weather.asked if each.method != "GET"] == []


async def test_one_function_is_for_several_kinds(world: World, operator: Operator) -> None:
    """Several decorators on one function; kopf.EVERYTHING, once it is known what there is."""
    seen: set[str] = set()

    async def look(thing: ConfigMap | Secret, ctx: Context) -> None:
        seen.add(f"{kind_of(thing).resource} {thing.metadata.name}")

    operator.controller(ConfigMap)(look)
    operator.controller(Secret)(look)
    running = await run(world, operator)
    await world.admin.create(config_map("a", {}))
    await world.admin.create(secret("b"))
    await settled(world, running)
    assert {"configmaps a", "secrets b"} <= seen


async def test_a_kind_without_a_class_has_a_controller(world: World, operator: Operator) -> None:
    """on.create("demo.windvane.dev", "v1", "websites")."""
    seen: list[Any] = []
    kind = Kind(group="demo.windvane.dev", version="v1", name="Website", plural="websites")

    @operator.controller(dynamic(kind))
    async def look(site: Any, ctx: Context) -> None:
        seen.append(site["spec"]["page"])

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert seen == ["hello"]


async def test_a_loop_that_fails_halfway_writes_only_the_rest_next_time(world: World, operator: Operator) -> None:
    """Sub-handlers, kopf.execute: what is done needs no mark of its own."""
    broken = True

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        for alias in site.spec.aliases:
            if alias == "b" and broken:
                raise RuntimeError("the moon is in the way of b")
            await ctx.apply(config_map(f"blog-{alias}", {}))

    running = await run(world, operator)
    await world.admin.create(website(aliases=["a", "b", "c"]))
    await settled(world, running)
    assert ready_of(await blog(world)) == ("False", "RuntimeError", "the moon is in the way of b")
    world.weather.asked.clear()
    broken = False
    await ambient.sleep(60)
    written = [each.path.rpartition("/")[2] for each in world.weather.asked if "configmaps" in each.path]
    assert [each for each in written if each.startswith("blog-")] == ["blog-b", "blog-c"]


async def test_each_of_many_can_fail_alone(world: World, operator: Operator) -> None:
    """Sub-handlers whose errors are told apart."""

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        async def serve(alias: str) -> None:
            if alias == "b":
                raise RuntimeError("b is taken")
            await ctx.apply(config_map(f"blog-{alias}", {}))

        results = await asyncio.gather(*(serve(alias) for alias in site.spec.aliases), return_exceptions=True)
        if failures := [each for each in results if isinstance(each, Exception)]:
            raise ExceptionGroup(f"{len(failures)} of {len(results)} aliases", failures)

    running = await run(world, operator)
    await world.admin.create(website(aliases=["a", "b", "c"]))
    await settled(world, running)
    assert [each.metadata.name for each in await world.admin.list(ConfigMap)] == ["blog-a", "blog-c"]
    assert ready_of(await blog(world)) == ("False", "ExceptionGroup", "1 of 3 aliases: RuntimeError: b is taken")


async def test_nothing_is_written_on_an_object_but_its_status(world: World, operator: Operator) -> None:
    """Progress and diffbase storages: there is nothing to store."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    made = await world.admin.create(website())
    await settled(world, await run(world, operator))
    site = await blog(world)
    assert (site.metadata.annotations, site.metadata.labels, site.metadata.finalizers) == ({}, {}, [])
    assert site.metadata.generation == made.metadata.generation
    assert site.status.observed_generation == 1


# Arguments


async def test_an_object_has_what_handlers_are_given(world: World, operator: Operator) -> None:
    """body, spec, meta, status, name, namespace, uid, labels, annotations, resource."""
    seen: list[Any] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        meta = site.metadata
        seen.append((meta.name, meta.namespace, bool(meta.uid), meta.labels.get("tier"), dict(meta.annotations)))
        seen.append((site.spec.page, site.status.page, kind_of(site).plural))

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert seen == [("blog", "default", True, None, {}), ("hello", "", "websites")]


async def test_other_parts_of_the_object_are_written_by_the_client(world: World, operator: Operator) -> None:
    """patch.metadata, patch.spec."""
    passes = 0

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        nonlocal passes
        passes += 1
        if "seen" not in site.metadata.annotations:
            await ctx.client.patch(Website, site.metadata.name, {"metadata": {"annotations": {"seen": "yes"}}})

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert (await blog(world)).metadata.annotations == {"seen": "yes"}
    assert passes == 2


async def test_what_a_pass_that_fails_set_in_the_status_is_written(world: World, operator: Operator) -> None:
    """patch.status before TemporaryError; retries=3."""
    tried = 0

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        nonlocal tried
        tried += 1
        site.status.page = str(int(site.status.page or 0) + 1)
        if site.status.page == "3":
            raise Fatal("tried three times")
        raise RuntimeError("the moon is in the way")

    await run(world, operator)
    await world.admin.create(website())
    await ambient.sleep(3600)
    assert tried == 3
    site = await blog(world)
    assert (site.status.page, ready_of(site)) == ("3", ("False", "Fatal", "tried three times"))


async def test_what_is_kept_in_memory_is_a_lifespans(world: World, operator: Operator) -> None:
    """memo, of the operator and of each object."""
    seen: list[int] = []

    @operator.lifespan
    async def pings(client: Client) -> AsyncIterator[dict[str, int]]:
        yield {}

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        memo = ctx.value(pings)
        memo[site.metadata.uid] = memo.get(site.metadata.uid, 0) + 1
        seen.append(memo[site.metadata.uid])

    running = await run(world, operator)
    for name in ("blog", "shop"):
        await world.admin.create(website(name))
        await settled(world, running)
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    assert seen == [1, 1, 2]


async def test_a_function_can_be_given_more(world: World, operator: Operator) -> None:
    """param=."""
    seen: list[str] = []

    async def reconcile(site: Website, ctx: Context, *, size: str) -> None:
        seen.append(size)

    operator.controller(Website)(partial(reconcile, size="small"))
    operator.controller(Website, name="large")(partial(reconcile, size="large"))
    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert set(seen) == {"large", "small"}


async def test_what_blocks_is_called_by_way_of_a_thread(world: World, operator: Operator) -> None:
    """Handlers that are `def`."""

    def buy_a_domain(name: str) -> str:
        return f"{name}.example.com"

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        site.status.page = await asyncio.to_thread(buy_a_domain, site.metadata.name)

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert (await blog(world)).status.page == "blog.example.com"


# Timers and daemons


@pytest.mark.parametrize(("sharp", "gap"), [(False, 70.0), (True, 60.0)], ids=["interval", "sharp"])
async def test_an_interval_counts_from_the_end_of_a_pass_or_from_its_beginning(
    world: World, operator: Operator, sharp: bool, gap: float
) -> None:
    """timer(interval=60), timer(interval=60, sharp=True)."""
    began: list[float] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> After:
        began.append(ambient.monotonic())
        await ambient.sleep(10)
        return After(seconds=60 - (ambient.monotonic() - began[-1])) if sharp else After(minutes=1)

    await run(world, operator)
    await world.admin.create(website())
    await ambient.sleep(300)
    assert [later - earlier for earlier, later in pairwise(began)] == pytest.approx([gap] * (len(began) - 1), abs=0.5)


async def test_a_daemon_that_sleeps_first_waits_until_the_spec_is_quiet(world: World, operator: Operator) -> None:
    """timer(idle=60), initial_delay=60."""
    told: list[tuple[float, str]] = []
    start = ambient.monotonic()

    @operator.daemon(Website)
    async def publish(site: Website, ctx: DaemonContext) -> None:
        await ambient.sleep(60)
        told.append((ambient.monotonic() - start, site.spec.page))

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    await run(world, operator)
    start = ambient.monotonic()
    await world.admin.create(website())
    for number in range(3):
        await ambient.sleep(30)
        await world.admin.patch(Website, "blog", {"spec": {"page": f"edit {number}"}})
    await ambient.sleep(600)
    assert [(round(at), page) for at, page in told] == [(150, "edit 2")]


async def test_a_daemon_looks_at_its_object_as_it_is_now(world: World, operator: Operator) -> None:
    """The live `body`, `labels` and `status` of a daemon."""
    seen: list[str | None] = []

    @operator.daemon(Website)
    async def watch(site: Website, ctx: DaemonContext) -> None:
        while True:
            now = ctx.get(Website, site.metadata.name)
            seen.append(now.metadata.labels.get("tier") if now else "gone")
            await ambient.sleep(60)

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"metadata": {"labels": {"tier": "gold"}}})
    await ambient.sleep(100)
    assert seen == [None, "gold"]


async def test_a_daemon_that_is_cancelled_can_see_it_coming(world: World, operator: Operator) -> None:
    """stopped, stopped.wait(10)."""
    told: list[str] = []

    @operator.daemon(Website)
    async def listen(site: Website, ctx: DaemonContext) -> None:
        try:
            while True:
                await ambient.sleep(10)
        except asyncio.CancelledError:
            told.append("hung up")
            raise

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert told == ["hung up"]


# Errors


async def test_retries_can_be_equally_far_apart(world: World, operator: Operator) -> None:
    """backoff=30, settings.execution.default_backoff: a pause is shortened by chance, by up to half."""
    began: list[float] = []

    @operator.controller(Website, retry=Backoff(first=30, most=30))
    async def reconcile(site: Website, ctx: Context) -> None:
        began.append(ambient.monotonic())
        raise RuntimeError("the moon is in the way")

    await run(world, operator)
    await world.admin.create(website())
    await ambient.sleep(300)
    assert all(14.5 <= later - earlier <= 30.5 for earlier, later in pairwise(began))
    assert len(began) > 8


async def test_an_error_is_final_or_nothing_if_the_pass_says_so(world: World, operator: Operator) -> None:
    """errors=ErrorsMode.PERMANENT, errors=ErrorsMode.IGNORED."""
    passes: list[str] = []

    def judge(page: str) -> None:
        raise ValueError(f"{page} is no page")

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        passes.append(site.metadata.name)
        if site.metadata.name == "ignored":
            with suppress(ValueError):
                judge(site.spec.page)
            return
        try:
            judge(site.spec.page)
        except ValueError as error:
            raise Fatal(str(error)) from error

    await run(world, operator)
    for name in ("permanent", "ignored"):
        await world.admin.create(website(name))
    await ambient.sleep(3600)
    assert sorted(passes) == ["ignored", "permanent"]
    assert ready_of(await world.admin.get(Website, "permanent")) == ("False", "Fatal", "hello is no page")
    assert ready_of(await world.admin.get(Website, "ignored"))[0] == "True"


async def test_a_finalizer_lets_go_by_returning_and_whatever_it_raises_keeps_the_object(
    world: World, operator: Operator
) -> None:
    """PermanentError in on.delete."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    @operator.finalizer(Website)
    async def retire(site: Website, ctx: Context) -> None:
        if site.metadata.name == "kept":
            raise Fatal("its bucket is not empty")

    running = await run(world, operator)
    for name in ("kept", "let-go"):
        await world.admin.create(website(name))
        await settled(world, running)
        await world.admin.delete(Website, name)
    await ambient.sleep(600)
    (held,) = await world.admin.list(Website)
    assert (held.metadata.name, ready_of(held)) == ("kept", ("False", "Fatal", "its bucket is not empty"))
    passes = running.controllers[0].history.of(("default", "kept"))
    assert len(passes) > 3


async def test_a_deadline_is_counted_from_the_objects_creation(world: World, operator: Operator) -> None:
    """timeout=3600 of all tries together; started, runtime."""

    @operator.controller(Website, retry=Backoff(first=60, most=60))
    async def reconcile(site: Website, ctx: Context) -> None:
        created = site.metadata.creation_timestamp
        assert created is not None
        if (ambient.now() - created).total_seconds() > 3600:
            raise Fatal("not done within an hour")
        raise RuntimeError("the moon is in the way")

    await run(world, operator)
    await world.admin.create(website())
    await ambient.sleep(3000)
    assert ready_of(await blog(world))[1] == "RuntimeError"
    await ambient.sleep(1000)
    assert ready_of(await blog(world)) == ("False", "Fatal", "not done within an hour")


# Filters


FILTERS: dict[str, Callable[[Website], bool]] = {
    "labels={'tier': 'gold'}": lambda site: site.metadata.labels.get("tier") == "gold",
    "annotations={'note': PRESENT}": lambda site: "note" in site.metadata.annotations,
    "labels={'off': ABSENT}": lambda site: "off" not in site.metadata.labels,
    "field='spec.page', value='hello'": lambda site: site.spec.page == "hello",
    "value=callback": lambda site: site.spec.page.startswith("he"),
    "when=all_([...])": lambda site: site.spec.page == "hello" and site.metadata.labels.get("tier") == "gold",
    "when=any_([...])": lambda site: site.spec.page == "hello" or "off" in site.metadata.labels,
    "when=not_(...)": lambda site: not site.metadata.labels.get("off"),
    "when=none_([...])": lambda site: not (site.spec.page == "news" or "off" in site.metadata.labels),
}


@pytest.mark.parametrize("when", FILTERS.values(), ids=FILTERS)
async def test_a_filter_is_a_function_of_the_object(
    world: World, operator: Operator, when: Callable[[Website], bool]
) -> None:
    seen: list[str] = []

    @operator.controller(Website, when=when)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.metadata.name)

    yes, no = website("yes", page="hello"), website("no", page="news")
    yes.metadata.labels, yes.metadata.annotations = {"tier": "gold"}, {"note": ""}
    no.metadata.labels = {"off": "x"}
    for each in (yes, no):
        await world.admin.create(each)
    await settled(world, await run(world, operator))
    expected = ["no", "yes"] if when is FILTERS["when=any_([...])"] else ["yes"]
    assert sorted(seen) == expected


async def test_the_server_can_be_asked_for_some_objects_only(world: World, operator: Operator) -> None:
    """labels= where what does not match should cost no memory either."""
    seen: list[str] = []
    operator.watch_only(Website, labels={"tier": "gold"})

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.metadata.name)

    yes = website("yes")
    yes.metadata.labels = {"tier": "gold"}
    for each in (yes, website("no")):
        await world.admin.create(each)
    await settled(world, await run(world, operator))
    assert seen == ["yes"]


# Children


async def test_children_are_found_by_their_owner_and_need_no_labels(world: World, operator: Operator) -> None:
    """kopf.label, and handlers with labels= to find them again."""
    children = index(ConfigMap, by=owned_by(Website))
    found: list[str] = []

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        for alias in site.spec.aliases:
            await ctx.apply(config_map(alias, {}))
        found[:] = [each.metadata.name for each in ctx.find(children, site.metadata.name)]

    running = await run(world, operator)
    await world.admin.create(config_map("c", {}))
    site = website(aliases=["a", "b"])
    site.metadata.labels = {"tier": "gold"}
    await world.admin.create(site)
    await settled(world, running)
    assert found == ["a", "b"]
    assert (await world.admin.get(ConfigMap, "a")).metadata.labels == {}, "nothing is copied from the owner"


async def test_an_owner_can_be_stated_beside_the_controller(world: World, operator: Operator) -> None:
    """append_owner_reference(objs, owner, controller=False)."""
    other = await world.admin.create(secret("other"))

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        child = config_map("blog", {})
        child.metadata.owner_references = [owner_reference(other, controller=False)]
        await ctx.apply(child)

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    owners = (await world.admin.get(ConfigMap, "blog")).metadata.owner_references
    assert {(each.kind, bool(each.controller)) for each in owners} == {("Secret", False), ("Website", True)}


async def test_a_child_elsewhere_is_written_by_the_client_and_removed_by_the_finalizer(
    world: World, operator: Operator
) -> None:
    """adjust_namespace: an owner reference can't lead to another namespace."""

    def child(site: Website) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name=site.metadata.name, namespace="elsewhere"), data={"at": "blog"})

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        await ctx.client.apply(child(site))

    @operator.finalizer(Website)
    async def retire(site: Website, ctx: Context) -> None:
        with suppress(NotFound):
            await ctx.client.delete(ConfigMap, site.metadata.name, namespace="elsewhere")

    await world.admin.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert (await world.admin.get(ConfigMap, "blog", namespace="elsewhere")).data == {"at": "blog"}
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    with pytest.raises(NotFound):
        await world.admin.get(ConfigMap, "blog", namespace="elsewhere")


async def test_a_change_of_a_child_reaches_the_status_of_its_owner(world: World, operator: Operator) -> None:
    """A handler of the child's kind that patches the parent."""

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        child = await ctx.apply(config_map("blog", {"page": site.spec.page}))
        site.status.page = child.data.get("visitors", "nobody")

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert (await blog(world)).status.page == "nobody"
    await world.admin.patch(ConfigMap, "blog", {"data": {"visitors": "12"}})
    await settled(world, running)
    assert (await blog(world)).status.page == "12"


# Events


async def test_events_are_normal_or_warnings(world: World, operator: Operator) -> None:
    """kopf.info, kopf.warn, kopf.event."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        ctx.event("Scaled", "3 → 5")
        ctx.event("Full", "the disk is full", type="Warning")

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    events = [each for each in await world.admin.list(Event) if each.involved_object.name == "blog"]
    assert {(each.type, each.reason, each.message) for each in events} == {
        ("Normal", "Scaled", "3 → 5"),
        ("Warning", "Full", "the disk is full"),
    }


async def test_log_lines_are_no_events(world: World, operator: Operator, caplog: pytest.LogCaptureFixture) -> None:
    """settings.posting.loggers, settings.posting.level."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        ctx.log.error("the disk is full")

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert "the disk is full" in caplog.text
    assert [each.reason for each in await world.admin.list(Event)] == []


# Indexes


async def test_the_first_pass_sees_all_that_was_there(world: World, operator: Operator) -> None:
    """@kopf.index: filled before any handler is called; with values of its own, several keys, or none."""
    sizes = index(ConfigMap, by=lambda each: each.data.get("for", "").split(), of=lambda each: each.data["size"])
    found: list[list[str]] = []

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        found.append(sorted(ctx.find(sizes, site.metadata.name)))

    for name, data in {"a": {"for": "blog shop", "size": "1"}, "b": {"for": "blog", "size": "2"}, "c": {}}.items():
        await world.admin.create(config_map(name, data))
    await world.admin.create(website())
    await settled(world, await run(world, operator))
    assert found == [["1", "2"]]


# Running


async def test_operators_in_one_process_know_nothing_of_each_other(world: World) -> None:
    """OperatorRegistry, kopf.operator(registry=...)."""
    seen: list[str] = []

    def make(name: str) -> Operator:
        operator = Operator(name)

        @operator.controller(Website)
        async def reconcile(site: Website, ctx: Context) -> None:
            seen.append(name)

        return operator

    for name in ("one", "two"):
        await run(world, make(name))
    await world.admin.create(website())
    await ambient.sleep(5)
    assert sorted(set(seen)) == ["one", "two"]


async def test_an_embedded_operator_stops_when_it_is_told_to(world: World, operator: Operator) -> None:
    """kopf.operator(stop_flag=, ready_flag=)."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    stop = asyncio.Event()
    running = operator.run(world.client(), stop=stop)

    async def work() -> None:
        await running

    task = world.start(work())
    await world.until(lambda: running.synced)
    assert not task.done()
    stop.set()
    await asyncio.wait_for(task, 30)


async def test_only_the_named_namespaces_are_worked_on(world: World, operator: Operator) -> None:
    """--namespace a --namespace b."""
    seen: list[str] = []

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.metadata.namespace)

    for namespace in ("a", "b", "c"):
        await world.admin.create(Namespace(metadata=ObjectMeta(name=namespace)))
        site = website()
        site.metadata.namespace = namespace
        await world.admin.create(site)
    running = operator.run(world.client(), namespaces=["a", "b"])

    async def work() -> None:
        await running

    world.start(work())
    await world.until(lambda: running.synced)
    await settled(world, running)
    assert sorted(seen) == ["a", "b"]


async def test_what_a_probe_would_report_is_a_metric(world: World, operator: Operator) -> None:
    """@kopf.on.probe."""
    from prometheus_client import Gauge

    gauge = Gauge("from_kopf_sites", "How many websites were seen.")

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        gauge.inc()

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    assert b"from_kopf_sites 1.0" in page(running, "/metrics", {}).body
    assert page(running, "/healthz", {}).code == 200


async def test_what_was_done_and_why_can_be_read(world: World, operator: Operator) -> None:
    """reason, and what kopf writes into annotations for people to look at."""

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None: ...

    running = await run(world, operator)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    passes = json.loads(page(running, "/passes", {"name": "blog", "namespace": "default"}).body)
    assert "Website blog changed" in json.dumps(passes)


async def test_of_a_kind_only_the_metadata_need_be_watched(world: World, operator: Operator) -> None:
    """on.event("secrets") for who looks at labels only."""
    seen: list[str] = []
    Secrets = only_metadata(Secret)  # noqa: N806

    @operator.controller(Secrets)
    async def look(thing: Any, ctx: Context) -> None:
        seen.append(thing.metadata.labels.get("tier", ""))

    running = await run(world, operator)
    await world.admin.create(secret("a", tier="gold"))
    await settled(world, running)
    assert seen == ["gold"]


# Moving over


async def test_what_a_kopf_operator_left_is_taken_over(world: World, operator: Operator) -> None:
    """Its finalizer and annotations, children that it adopted, and some that it did not."""
    kopfs = "kopf.zalando.org/KopfFinalizerMarker"
    adopt = False

    @operator.controller(Website, owns=[ConfigMap])
    async def reconcile(site: Website, ctx: Context) -> None:
        if kopfs in site.metadata.finalizers:
            left = [each for each in site.metadata.finalizers if each != kopfs]
            patch = {"metadata": {"finalizers": left, "resourceVersion": site.metadata.resource_version}}
            await ctx.client.patch(Website, site.metadata.name, patch)
        await ctx.apply(config_map("adopted", {"page": site.spec.page}))
        await ctx.apply(config_map("loose", {"page": site.spec.page}), adopt=adopt)

    site = website()
    site.metadata.finalizers = [kopfs]
    site.metadata.annotations = {"kopf.zalando.org/last-handled-configuration": "{}"}
    site = await world.admin.create(site)
    adopted = config_map("adopted", {"page": "old"})
    adopted.metadata.owner_references = [owner_reference(site)]
    for each in (adopted, config_map("loose", {"page": "old"})):
        await world.admin.create(each)
    running = await run(world, operator)
    await settled(world, running)
    assert (await world.admin.get(ConfigMap, "adopted")).data == {"page": "hello"}
    assert (await world.admin.get(ConfigMap, "loose")).data == {"page": "old"}
    assert ready_of(await blog(world))[1] == "NotAdopted"
    adopt = True
    await ambient.sleep(60)
    assert (await world.admin.get(ConfigMap, "loose")).data == {"page": "hello"}
    site = await blog(world)
    assert (site.metadata.finalizers, ready_of(site)[0]) == ([], "True")
    assert list(site.metadata.annotations) == ["kopf.zalando.org/last-handled-configuration"]
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    with pytest.raises(NotFound):
        await blog(world)
