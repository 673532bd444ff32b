"""Controllers: when passes come, what they may count on, how they can end, and what an author's mistakes are told.

That the world comes to match the specs, whatever happens, is in `integration/operators`, on both servers.
"""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from integration.runtime.websites import Website, Websites, config_map, website
from integration.runtime.world import World
from windvane import (
    AlreadyExists,
    APIStatus,
    NotFound,
    ObjectMeta,
    ambient,
    crd,
    dynamic,
    find_condition,
    kind_of,
    only_metadata,
    owner_reference,
)
from windvane.client.transport import Request
from windvane.k8s.apiextensions import CustomResourceDefinition, CustomResourceValidation, JSONSchemaProps
from windvane.k8s.core import ConfigMap, Event, PersistentVolumeClaim, Secret
from windvane.runtime.context import Context
from windvane.runtime.informers.declared_informers import Undeclared
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.history import Pass
from windvane.runtime.operator import Operator
from windvane.runtime.outcome import After, Fatal
from windvane.runtime.reconciler import GOES_WITHIN


async def start(world: World, websites: Websites) -> OperatorManager:
    await world.admin.create(crd(Website))
    running = websites.operator.run(world.client())
    world.start(_run(running))
    await world.until(lambda: running.synced)
    return running


async def _run(running: OperatorManager) -> None:
    await running


async def page_of(world: World, name: str = "blog") -> str | None:
    try:
        return (await world.admin.get(ConfigMap, name)).data["page"]
    except NotFound:
        return None


async def settled(world: World, running: OperatorManager) -> None:
    """Wait until nothing is to be done any more, but for what is to be done later."""
    quiet = 0
    while quiet < 10:
        busy = any(len(each.queue) or each.queue.working for each in running.controllers)
        quiet = 0 if busy else quiet + 1
        await ambient.sleep(0.1)


def ready_of(site: Website) -> tuple[str, str, str]:
    condition = find_condition(site.status.conditions, "Ready")
    assert condition is not None
    return condition.status, condition.reason, condition.message


def writes(world: World) -> list[str]:
    return [str(each) for each in world.weather.asked if each.method != "GET"]


async def test_what_is_stated_comes_to_be(world: World) -> None:
    running = await start(world, Websites())
    await world.admin.create(website())
    await settled(world, running)
    child = await world.admin.get(ConfigMap, "blog")
    assert child.data == {"page": "hello"}
    assert [(each.kind, each.name, each.controller) for each in child.metadata.owner_references] == [
        ("Website", "blog", True)
    ]
    site = await world.admin.get(Website, "blog")
    assert site.status.page == "hello"
    assert (site.status.observed_generation, ready_of(site)) == (1, ("True", "Reconciled", ""))


async def test_whoever_fights_for_a_field_is_named_in_an_event(world: World) -> None:
    running = await start(world, Websites())
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.apply(
        ConfigMap(metadata=ObjectMeta(name="blog", namespace="default"), data={"page": "mine"}),
        field_manager="rival",
        force=True,
    )
    await settled(world, running)
    assert await page_of(world) == "hello"
    events = [each for each in await world.admin.list(Event) if each.reason == "FieldConflict"]
    assert len(events) == 1
    assert 'conflict with "rival"' in str(events[0].message)


async def test_nothing_of_others_is_pruned(world: World) -> None:
    running = await start(world, Websites())
    await world.admin.create(config_map("unrelated", {}))
    await world.admin.create(website())
    await settled(world, running)
    assert [each.metadata.name for each in await world.admin.list(ConfigMap)] == ["blog", "unrelated"]


async def test_a_pass_that_fails_prunes_nothing(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website(aliases=["a"]))
    await settled(world, running)

    async def fail(site: Website, ctx: Context) -> None:
        raise RuntimeError("the moon is in the way")

    websites.hook = fail
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    assert [each.metadata.name for each in await world.admin.list(ConfigMap)] == ["blog", "blog-a"]


async def test_a_settled_world_sees_no_write_for_an_hour(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    for name in ("blog", "shop", "wiki"):
        await world.admin.create(website(name, aliases=["a"]))
    await settled(world, running)
    world.weather.asked.clear()
    passes = sum(websites.passes.values())
    await ambient.sleep(3600)
    assert writes(world) == []
    assert sum(websites.passes.values()) == passes


async def test_ten_rapid_edits_cause_one_or_two_passes(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    websites.passes.clear()
    world.weather.delay = 0.05  # a network, as anywhere but here
    for number in range(10):
        await world.admin.patch(Website, "blog", {"spec": {"page": f"edit {number}"}})
    await settled(world, running)
    assert await page_of(world) == "edit 9"
    assert websites.passes["blog"] <= 3  # one or two for the edits, and one for what they wrote


async def test_all_that_a_pass_wrote_brings_one_more_pass(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    world.weather.lag = 0.5  # so that it is seen bit by bit
    await world.admin.create(website(aliases=["a", "b", "c"]))
    await ambient.sleep(10)
    await settled(world, running)
    assert len((await world.admin.list(ConfigMap)).items) == 4
    assert websites.passes["blog"] == 2


async def test_a_pass_that_writes_nothing_but_the_status_brings_no_other(world: World) -> None:
    websites = Websites()
    called: list[int] = []

    async def call_outside(site: Website, ctx: Context) -> After:
        called.append(site.metadata.generation)
        site.status.page = site.spec.page
        return After(hours=1)

    websites.hook = call_outside
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).status.page == "news"
    assert called == [1, 2]


async def test_what_others_change_while_a_status_is_written_brings_a_pass(world: World) -> None:
    websites = Websites()

    async def busy(site: Website, ctx: Context) -> After:
        if site.spec.page == "hello":
            await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
        site.status.page = site.spec.page
        return After(hours=1)

    websites.hook = busy
    world.weather.lag = 0.5  # both changes are seen after the pass
    running = await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(5)
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).status.page == "news"


async def test_what_others_changed_before_a_status_was_written_is_seen_also_if_all_is_read_anew(world: World) -> None:
    websites = Websites()
    seen: list[str | None] = []

    def no_watches(request: Request) -> APIStatus | None:
        return APIStatus(code=503, message="not now") if ("watch", "true") in request.query else None

    async def be_blind(site: Website, ctx: Context) -> After:
        seen.append(site.metadata.annotations.get("by"))
        if len(seen) == 1:
            world.weather.refuse = no_watches
            world.weather.cut()
            await world.admin.patch(Website, "blog", {"metadata": {"annotations": {"by": "another"}}})
        site.status.page = site.spec.page
        return After(hours=1)

    websites.hook = be_blind
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await world.forget_history()
    world.weather.clear()  # the list that comes now has the pass's own status, and what came before it
    await ambient.sleep(60)
    assert seen == [None, "another"]


async def test_a_pass_that_goes_on_from_its_status_asks_for_the_next_at_once(world: World) -> None:
    websites = Websites()
    steps = ["", "bought", "built", "sold"]

    async def step(site: Website, ctx: Context) -> After:
        at = steps.index(site.status.page)
        site.status.page = steps[min(at + 1, 3)]
        return After(seconds=0) if at < 3 else After(hours=1)

    websites.hook = step
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).status.page == "sold"
    assert websites.passes["blog"] == 4


async def test_a_failure_whose_words_change_is_not_tried_again_before_its_time(world: World) -> None:
    websites = Websites()
    began: list[float] = []

    async def fail(site: Website, ctx: Context) -> None:
        began.append(ambient.monotonic())
        raise RuntimeError(f"no answer to request {len(began)}")

    websites.hook = fail
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(20)
    gaps = [later - earlier for earlier, later in pairwise(began)]
    assert len(gaps) > 3
    for number, gap in enumerate(gaps):
        assert gap > 0.2 * 2**number / 2, "a pause is shortened by half at most"


async def test_one_object_is_never_worked_on_twice_at_once(world: World) -> None:
    websites = Websites()
    at_work: set[str] = set()

    async def slowly(site: Website, ctx: Context) -> None:
        assert site.metadata.name not in at_work
        at_work.add(site.metadata.name)
        await ambient.sleep(3)
        at_work.discard(site.metadata.name)

    websites.hook = slowly
    running = await start(world, websites)
    await world.admin.create(website())
    for number in range(10):
        await world.admin.patch(Website, "blog", {"spec": {"page": f"edit {number}"}})
        await ambient.sleep(1)
    await settled(world, running)
    assert await page_of(world) == "edit 9"


async def test_many_objects_are_worked_on_at_once_up_to_the_declared_number(world: World) -> None:
    websites = Websites()
    at_work: list[int] = []
    now = 0

    async def slowly(site: Website, ctx: Context) -> None:
        nonlocal now
        now += 1
        at_work.append(now)
        await ambient.sleep(5)
        now -= 1

    websites.hook = slowly
    running = await start(world, websites)
    for number in range(20):
        await world.admin.create(website(f"site-{number}"))
    await settled(world, running)
    assert max(at_work) == 8


async def test_a_pass_that_raises_is_tried_again_and_shown(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)

    async def fail(site: Website, ctx: Context) -> None:
        raise RuntimeError("the moon is in the way")

    websites.hook = fail
    await world.admin.create(website())
    await ambient.sleep(60)
    assert 5 <= websites.passes["blog"] <= 20
    site = await world.admin.get(Website, "blog")
    assert ready_of(site) == ("False", "RuntimeError", "the moon is in the way")
    events = [each for each in await world.admin.list(Event) if each.reason == "RuntimeError"]
    assert len(events) == 1, "one that says how often"
    assert (events[0].count or 0) > 3
    websites.hook = None
    await ambient.sleep(120)
    assert ready_of(await world.admin.get(Website, "blog")) == ("True", "Reconciled", "")
    del running


async def test_an_object_that_its_class_can_not_read_is_left_alone_until_it_changes(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    definition = await world.admin.get(CustomResourceDefinition, "websites.demo.windvane.dev")
    schema = definition.spec.versions[0].schema
    assert schema is not None
    assert schema.open_api_v3_schema is not None
    definition.spec.versions[0].schema = CustomResourceValidation(
        open_api_v3_schema=JSONSchemaProps(type="object", x_kubernetes_preserve_unknown_fields=True)
    )
    await world.admin.replace(definition)
    odd = dynamic(kind_of(Website))(metadata=ObjectMeta(name="odd"), content={"spec": {"page": 5}})
    await world.admin.create(odd)
    await ambient.sleep(60)
    assert websites.passes["odd"] == 0
    events = [each for each in await world.admin.list(Event) if each.reason == "Unreadable"]
    assert [each.involved_object.name for each in events] == ["odd"]
    await world.admin.patch(dynamic(kind_of(Website)), "odd", {"spec": {"page": "five"}})
    await settled(world, running)
    assert await page_of(world, "odd") == "five"


async def test_what_can_not_work_is_not_tried_again_until_the_spec_changes(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)

    async def refuse(site: Website, ctx: Context) -> None:
        if site.spec.page == "v9":
            raise Fatal("there is no version 9")

    websites.hook = refuse
    await world.admin.create(website(page="v9"))
    await ambient.sleep(3600)
    assert websites.passes["blog"] == 1
    assert ready_of(await world.admin.get(Website, "blog")) == ("False", "Fatal", "there is no version 9")
    await world.admin.patch(Website, "blog", {"spec": {"page": "v8"}})
    await settled(world, running)
    assert ready_of(await world.admin.get(Website, "blog")) == ("True", "Reconciled", "")


async def test_a_pass_that_waits_says_for_what_and_comes_back(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    began = ambient.monotonic()

    async def wait(site: Website, ctx: Context) -> None:
        if ambient.monotonic() < began + 60:
            ctx.wait("the page is being printed", after=10)

    websites.hook = wait
    await world.admin.create(website(aliases=["a"]))
    await ambient.sleep(5)
    assert ready_of(await world.admin.get(Website, "blog")) == ("False", "Waiting", "the page is being printed")
    await ambient.sleep(90)
    assert ready_of(await world.admin.get(Website, "blog"))[0] == "True"
    del running


async def test_a_pass_can_ask_to_come_back_later(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)

    async def hourly(site: Website, ctx: Context) -> After:
        return After(hours=1)

    websites.hook = hourly
    await world.admin.create(website())
    await settled(world, running)
    websites.passes.clear()
    await ambient.sleep(3 * 3600 + 60)
    assert websites.passes["blog"] == 3


async def test_a_pass_that_the_operators_end_cuts_short_is_told_with_what_it_wrote(world: World) -> None:
    websites = Websites()
    wrote = asyncio.Event()

    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("early", {"page": site.spec.page}))
        wrote.set()
        await asyncio.Event().wait()

    websites.hook = hook
    await world.admin.create(crd(Website))
    running = websites.operator.run(world.client())
    told: list[Pass] = []
    running.listeners.append(told.append)
    working = world.start(_run(running))
    await world.admin.create(website())
    await world.until(wrote.is_set)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert [(each.result, [write.name for write in each.writes]) for each in told] == [("cancelled", ["early"])]


async def test_a_pass_that_takes_too_long_is_cancelled_and_tried_again(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)

    async def hang(site: Website, ctx: Context) -> None:
        await asyncio.Event().wait()

    websites.hook = hang
    await world.admin.create(website())
    await ambient.sleep(400)
    assert ready_of(await world.admin.get(Website, "blog")) == (
        "False",
        "TimeoutError",
        "the pass took longer than 300 s",
    )
    websites.hook = None
    await world.until(lambda: websites.passes["blog"] >= 2)
    del running


async def test_a_pass_never_sees_less_than_the_last_one_wrote(world: World) -> None:
    websites = Websites()
    seen: list[int] = []

    async def look(site: Website, ctx: Context) -> None:
        seen.append(len(ctx.list(ConfigMap)))

    def blind(request: Request) -> APIStatus | None:
        if request.method == "GET" and "configmaps" in request.path:
            return APIStatus(status="Failure", code=500, reason="InternalError", message="not now")
        return None

    websites.hook = look
    running = await start(world, websites)
    world.weather.refuse = blind
    world.weather.cut()
    await world.admin.create(website())
    await world.until(lambda: seen)
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await ambient.sleep(100)
    assert seen == [0], "there was a second pass, which could not see what the first had made"
    world.weather.clear()
    await ambient.sleep(60)
    await settled(world, running)
    assert set(seen[1:]) == {1}
    assert await page_of(world) == "news"


async def test_a_watched_object_brings_the_ones_that_it_concerns(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    websites.passes.clear()
    secret = Secret(metadata=ObjectMeta(name="key", labels={"website": "blog"}))
    await world.admin.create(secret)
    await settled(world, running)
    assert websites.passes["blog"] == 1
    await world.admin.create(Secret(metadata=ObjectMeta(name="unrelated")))
    await settled(world, running)
    assert websites.passes["blog"] == 1
    await world.admin.delete(Secret, "key")
    await settled(world, running)
    assert websites.passes["blog"] == 2


async def test_a_finalizer_runs_before_the_object_goes(world: World) -> None:
    websites = Websites(finalizer=True)
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).metadata.finalizers == ["demo.windvane.dev/websites"]
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert websites.retired == ["blog"]
    with pytest.raises(NotFound):
        await world.admin.get(Website, "blog")


async def test_the_finalizer_is_there_before_the_first_thing_is_done(world: World) -> None:
    websites = Websites(finalizer=True)
    seen: list[list[str]] = []

    async def look(site: Website, ctx: Context) -> None:
        seen.append((await world.admin.get(Website, "blog")).metadata.finalizers)

    websites.hook = look
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    assert seen[0] == ["demo.windvane.dev/websites"]


async def test_a_finalizer_that_fails_keeps_the_object_until_it_succeeds(world: World) -> None:
    websites = Websites(finalizer=True)

    async def fail(site: Website, ctx: Context) -> None:
        raise RuntimeError("not yet")

    websites.retire_hook = fail
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await ambient.sleep(60)
    held = await world.admin.get(Website, "blog")
    assert held.metadata.finalizers == ["demo.windvane.dev/websites"]
    assert ready_of(held) == ("False", "RuntimeError", "not yet")
    assert "RuntimeError" in [event.reason for event in await world.admin.list(Event, namespace="default")]
    websites.retire_hook = None
    await world.until(lambda: websites.retired)
    await settled(world, running)
    with pytest.raises(NotFound):
        await world.admin.get(Website, "blog")


async def test_a_finalizer_that_waits_says_for_what(world: World) -> None:
    websites = Websites(finalizer=True)

    async def wait(site: Website, ctx: Context) -> None:
        ctx.wait("a file in it is locked", after=10)

    websites.retire_hook = wait
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    held = await world.admin.get(Website, "blog")
    assert ready_of(held) == ("False", "Waiting", "a file in it is locked")
    await ambient.sleep(60)
    assert (await world.admin.get(Website, "blog")).metadata.resource_version == held.metadata.resource_version
    websites.retire_hook = None
    await world.until(lambda: websites.retired)


@pytest.mark.parametrize("says", [True, False])
async def test_a_finalizer_that_goes_on_later_has_its_status_written(world: World, says: bool) -> None:
    websites = Websites(finalizer=True)

    async def go_on(site: Website, ctx: Context) -> After:
        site.status.page = "half of it is gone"
        if says:
            ctx.ready(False, "one of two rooms is empty", reason="Emptying")
        return After(minutes=1)

    websites.retire_hook = go_on
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    held = await world.admin.get(Website, "blog")
    assert held.status.page == "half of it is gone"
    finalizing = ("False", "Finalizing", "it is being deleted, which goes on later")
    assert ready_of(held) == (("False", "Emptying", "one of two rooms is empty") if says else finalizing)
    websites.retire_hook = None
    await world.until(lambda: websites.retired)


async def test_others_finalizers_are_left_alone(world: World) -> None:
    websites = Websites(finalizer=True)
    running = await start(world, websites)
    site = website()
    site.metadata.finalizers = ["somebody.else/x"]
    await world.admin.create(site)
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).metadata.finalizers == ["somebody.else/x"]


async def test_an_hour_without_a_server_is_made_up_for(world: World) -> None:
    running = await start(world, Websites())
    await world.admin.create(website())
    await settled(world, running)
    world.weather.fall()
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await world.admin.create(website("shop"))
    await world.admin.delete(ConfigMap, "blog")
    await ambient.sleep(3600)
    await world.forget_history()
    world.weather.clear()
    await ambient.sleep(60)
    await settled(world, running)
    assert (await page_of(world), await page_of(world, "shop")) == ("news", "hello")


async def test_two_replicas_never_write_both(world: World) -> None:
    await world.admin.create(crd(Website))
    stops = []
    replicas = []
    for name in ("a", "b"):
        stop = asyncio.Event()
        running = Websites().operator.run(world.client(), identity=name, stop=stop)
        world.start(_run(running))
        stops.append(stop)
        replicas.append(running)
    await world.admin.create(website())
    await ambient.sleep(30)
    assert sum(each.leading for each in replicas) == 1
    assert await page_of(world) == "hello"
    leader = next(number for number, each in enumerate(replicas) if each.leading)
    stops[leader].set()
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await ambient.sleep(10)
    assert replicas[1 - leader].leading, "the lease was given back"
    assert await page_of(world) == "news"


Mistake = Any


async def _mistake(world: World, hook: Mistake) -> str:
    websites = Websites()
    websites.hook = hook
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(5)
    return ready_of(await world.admin.get(Website, "blog"))[2]


async def test_reading_a_kind_that_was_not_declared_says_what_to_declare(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        ctx.get(Event, "x")

    assert await _mistake(world, hook) == (
        "Event was not declared by the controller of Website, so there is no cache of it. Write owns=[Event] if "
        "Website objects own it, watches=[Watch(Event, to=...)] if its changes bring passes, or reads=[Event] if they "
        "don't"
    )


async def test_a_pass_whose_object_goes_meanwhile_has_not_failed(world: World) -> None:
    websites = Websites()

    async def hook(site: Website, ctx: Context) -> None:
        await world.admin.delete(Website, "blog")
        await ctx.client.patch(Website, "blog", {"metadata": {"labels": {"seen": "yes"}}})

    websites.hook = hook
    running = await start(world, websites)
    ended: list[Pass] = []
    running.listeners.append(ended.append)
    await world.admin.create(website())
    await ambient.sleep(30)
    assert {(each.result, each.message, each.again) for each in ended} == {("gone", "", None)}
    assert websites.passes["blog"] == 1
    assert [each.reason for each in await world.admin.list(Event)] == []


async def test_that_the_object_has_changed_meanwhile_is_told_at_once(world: World) -> None:
    websites = Websites()

    async def hook(site: Website, ctx: Context) -> None:
        stale = {"resourceVersion": site.metadata.resource_version, "labels": {"mine": "yes"}}
        await world.admin.patch(Website, "blog", {"metadata": {"labels": {"seen": "yes"}}})
        await ctx.client.patch(Website, "blog", {"metadata": stale})

    websites.hook = hook
    running = await start(world, websites)
    ended: list[Pass] = []
    running.listeners.append(ended.append)
    await world.admin.create(website())
    await ambient.sleep(5)
    assert ended[0].result == "failed"
    assert "the object has been modified" in ended[0].message
    assert ended[0].seconds < GOES_WITHIN


async def test_that_another_object_is_not_there_is_a_failure_also_if_it_has_the_same_name(world: World) -> None:
    websites = Websites()

    async def hook(site: Website, ctx: Context) -> None:
        await ctx.client.get(Website, "blog", namespace="elsewhere")

    websites.hook = hook
    running = await start(world, websites)
    ended: list[Pass] = []
    running.listeners.append(ended.append)
    await world.admin.create(website())
    await ambient.sleep(5)
    assert {each.result for each in ended} == {"failed"}
    assert websites.passes["blog"] > 1


async def test_what_is_only_read_is_in_the_cache_and_brings_no_pass(world: World) -> None:
    await world.admin.create(crd(Website))
    await world.admin.create(Secret(metadata=ObjectMeta(name="a", namespace="default")))
    operator = Operator("websites")
    read: list[list[str]] = []

    @operator.controller(Website, reads=[Secret])
    async def reconcile(site: Website, ctx: Context) -> None:
        read.append([each.metadata.name for each in ctx.list(Secret)])

    running = operator.run(world.client())
    world.start(_run(running))
    await world.admin.create(website())
    await ambient.sleep(5)
    await world.admin.create(Secret(metadata=ObjectMeta(name="b", namespace="default")))
    await ambient.sleep(5)
    assert read == [["a"]]
    assert [each.metadata.name for each in running.informer(Secret).list()] == ["a", "b"]
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await ambient.sleep(5)
    assert read == [["a"], ["a", "b"]]


async def test_a_cache_that_no_controller_has_declared_is_not_there(world: World) -> None:
    running = Websites().operator.run(world.client())
    with pytest.raises(Undeclared, match=r"by a controller of the operator 'websites', .* Write reads=\[Event\]"):
        running.informer(Event)


async def test_an_event_can_be_about_another_object(world: World) -> None:
    websites = Websites()

    async def hook(site: Website, ctx: Context) -> None:
        ctx.event("Shown", "hello", about=await ctx.apply(config_map("blog", {"page": "hello"})))

    websites.hook = hook
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(5)
    [event] = [each for each in await world.admin.list(Event) if each.reason == "Shown"]
    assert (event.involved_object.kind, event.involved_object.name) == ("ConfigMap", "blog")


async def test_applying_a_kind_that_is_only_watched_says_what_to_declare(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(Secret(metadata=ObjectMeta(name="x")))

    assert await _mistake(world, hook) == (
        "a Secret can't be applied by the controller of Website, which does not own any. "
        "Write @operator.controller(Website, owns=[Secret])"
    )


async def test_applying_an_object_without_a_name_says_how_to_name_it(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(ConfigMap())

    assert (await _mistake(world, hook)).startswith("a ConfigMap without metadata.name can't be applied")


async def test_returning_the_wrong_thing_says_what_to_return(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> int:
        return 5

    assert (await _mistake(world, hook)).endswith("returned 5; return nothing, or After(seconds=5) to come back later")


async def test_a_child_in_another_namespace_is_refused(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(ConfigMap(metadata=ObjectMeta(name="x", namespace="kube-system")))

    assert "an owner and what it owns are in one namespace" in await _mistake(world, hook)


async def test_of_a_status_that_is_not_ours_only_what_changed_is_written(world: World) -> None:
    operator = Operator("claims")

    @operator.controller(PersistentVolumeClaim)
    async def reconcile(claim: PersistentVolumeClaim, ctx: Context) -> None:
        claim.status.phase = "Bound"

    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await world.admin.create(
        dynamic(kind_of(PersistentVolumeClaim))(metadata=ObjectMeta(name="data"), content={"spec": spec})
    )
    await world.admin.patch(
        PersistentVolumeClaim, "data", {"status": {"accessModes": ["ReadWriteOnce"]}}, subresource="status"
    )
    running = operator.run(world.client())
    world.start(_run(running))
    await world.until(lambda: running.synced)
    await settled(world, running)
    status = (await world.admin.get(PersistentVolumeClaim, "data")).status
    assert (status.phase, status.access_modes, status.conditions) == ("Bound", ["ReadWriteOnce"], [])
    statuses = [each for each in world.weather.asked if each.method == "PATCH" and each.path.endswith("/status")]
    assert [json.loads(each.body or b"")["status"] for each in statuses] == [{"phase": "Bound"}]


async def test_a_status_that_is_not_ours_is_written_later_if_the_object_changed_in_the_pass(world: World) -> None:
    operator = Operator("claims")
    passes: list[str] = []

    @operator.controller(PersistentVolumeClaim)
    async def reconcile(claim: PersistentVolumeClaim, ctx: Context) -> None:
        passes.append(claim.metadata.resource_version)
        if len(passes) == 1:
            await world.admin.patch(PersistentVolumeClaim, "data", {"metadata": {"labels": {"changed": "yes"}}})
        claim.status.phase = "Bound"

    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await world.admin.create(
        dynamic(kind_of(PersistentVolumeClaim))(metadata=ObjectMeta(name="data"), content={"spec": spec})
    )
    running = operator.run(world.client())
    world.start(_run(running))
    await world.until(lambda: running.synced)
    await settled(world, running)
    assert (await world.admin.get(PersistentVolumeClaim, "data")).status.phase == "Bound"
    assert len(passes) > 1
    assert running.controllers[0].results["failed"] == 0


async def test_two_controllers_of_a_kind_see_to_different_things(world: World) -> None:
    operator = Operator("websites")

    @operator.controller(Website, owns=[ConfigMap])
    async def pages(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map(site.metadata.name, {"page": site.spec.page}))

    @operator.controller(ConfigMap, name="stamps")
    async def stamps(config: ConfigMap, ctx: Context) -> None:
        await ctx.client.patch(ConfigMap, config.metadata.name, {"metadata": {"labels": {"stamped": "yes"}}})

    @operator.controller(ConfigMap)
    async def others(config: ConfigMap, ctx: Context) -> None: ...

    await world.admin.create(crd(Website))
    running = operator.run(world.client())
    world.start(_run(running))
    await world.until(lambda: running.synced)
    await world.admin.create(website())
    await settled(world, running)
    made = await world.admin.get(ConfigMap, "blog")
    assert (made.data, made.metadata.labels) == ({"page": "hello"}, {"stamped": "yes"})
    assert {each.manager for each in made.metadata.managed_fields} == {"websites", "websites-stamps"}


async def test_a_second_controller_of_a_kind_speaks_of_itself_and_not_of_ready(world: World) -> None:
    operator, passes = Operator("websites"), Counter[str]()

    @operator.controller(Website, name="nightly-backups")
    async def back_up(site: Website, ctx: Context) -> None:
        passes["backups"] += 1
        raise Fatal("there is no disk")

    @operator.controller(Website)
    async def serve(site: Website, ctx: Context) -> None:
        passes["pages"] += 1
        ctx.ready(True, "it is up")

    await world.admin.create(crd(Website))
    running = operator.run(world.client())
    world.start(_run(running))
    await world.until(lambda: running.synced)
    await world.admin.create(website())
    await settled(world, running)
    conditions = (await world.admin.get(Website, "blog")).status.conditions
    said = {each.type: (each.status, each.message) for each in conditions}
    assert said == {"Ready": ("True", "it is up"), "NightlyBackupsReady": ("False", "there is no disk")}
    assert passes["pages"] <= 2, "one more, because of what the other wrote"


async def test_two_operators_that_write_one_status_slow_each_other_down(world: World) -> None:
    passes = Counter[str]()

    def make(name: str, *, works: bool) -> Operator:
        operator = Operator(name)

        @operator.controller(Website)
        async def reconcile(site: Website, ctx: Context) -> None:
            passes[name] += 1
            if not works:
                raise RuntimeError("the moon is in the way")

        return operator

    await world.admin.create(crd(Website))
    world.weather.delay = 0.05
    for operator in (make("one", works=True), make("two", works=False)):
        world.start(_run(operator.run(world.client())))
    await world.admin.create(website())
    await ambient.sleep(600)
    assert max(passes.values()) < 60, passes
    told = [each for each in await world.admin.list(Event) if each.reason == "Unsettled"]
    assert told
    assert "its status, which another client writes as well: Apply failed with" in str(told[0].message)


async def test_a_controller_that_has_a_name_and_is_alone_speaks_of_ready(world: World) -> None:
    operator = Operator("websites")

    @operator.controller(Website, name="pages")
    async def serve(site: Website, ctx: Context) -> None: ...

    await world.admin.create(crd(Website))
    running = operator.run(world.client())
    world.start(_run(running))
    await world.until(lambda: running.synced)
    await world.admin.create(website())
    await settled(world, running)
    assert ready_of(await world.admin.get(Website, "blog"))[0] == "True"


def test_a_second_controller_of_a_kind_needs_a_name() -> None:
    operator = Operator("websites")

    @operator.controller(Website)
    async def first(site: Website, ctx: Context) -> None: ...

    with pytest.raises(ValueError, match=r"give it a name: @operator\.controller"):

        @operator.controller(Website)
        async def second(site: Website, ctx: Context) -> None: ...


async def test_an_object_that_is_being_deleted_gets_passes_until_it_is_gone_if_asked_for(world: World) -> None:
    operator, seen = Operator("websites"), list[bool]()

    @operator.controller(Website, until_gone=True)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(site.metadata.deletion_timestamp is not None)

    await world.admin.create(crd(Website))
    running = operator.run(world.client())
    world.start(_run(running))
    held = website()
    held.metadata.finalizers = ["somebody.else/holds-it"]
    await world.admin.create(held)
    await settled(world, running)
    assert set(seen) == {False}
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert seen[-1]


async def test_of_an_owned_kind_the_metadata_may_be_enough(world: World) -> None:
    operator = Operator("websites")
    names: list[list[str]] = []

    @operator.controller(Website, owns=[only_metadata(ConfigMap)])
    async def reconcile(site: Website, ctx: Context) -> None:
        child = config_map("blog", {})
        child.metadata.owner_references = [owner_reference(site)]
        with suppress(AlreadyExists):
            await ctx.client.create(child)
        names.append([each.metadata.name for each in ctx.list(only_metadata(ConfigMap))])

    await world.admin.create(crd(Website))
    running = operator.run(world.client())
    world.start(_run(running))
    await world.admin.create(website())
    await settled(world, running)
    assert ready_of(await world.admin.get(Website, "blog"))[0] == "True"
    assert names[-1] == ["blog"]
