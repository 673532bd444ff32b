"""What an author gets wrong is said where authors look, the object's status and the log, with what to write instead.

Reading what was not declared, and applying what has no name, are with the controller's tests; blocking the event loop
is with the watchdog's.
"""

import asyncio
import logging
import sys
from datetime import timedelta
from typing import Any

import pytest

from integration.runtime.test_controller import page_of, ready_of, settled, start
from integration.runtime.websites import Hook, Website, Websites, config_map, website
from integration.runtime.world import World
from windvane import ObjectMeta, ambient
from windvane.k8s.core import ConfigMap
from windvane.runtime.context import Context
from windvane.runtime.outcome import After, Fatal


async def said_about(world: World, hook: Hook) -> str:
    """What the status of a Website says after some passes that go wrong."""
    websites = Websites()
    websites.hook = hook
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(5)
    ready, reason, message = ready_of(await world.admin.get(Website, "blog"))
    assert (ready, bool(reason)) == ("False", True)
    return message


async def test_who_forgets_to_await_an_apply_is_told_and_loses_nothing(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> After | None:
        if site.spec.page == "forgetful":
            ctx.apply(config_map("blog", {"page": "x"}))  # type: ignore[unused-coroutine]
            return After(hours=1)
        return None

    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"spec": {"page": "forgetful"}})
    await ambient.sleep(5)
    assert ready_of(await world.admin.get(Website, "blog"))[2] == (
        "ctx.apply was called for ConfigMap 'blog', and not waited for: write `await ctx.apply(...)`"
    )
    assert await page_of(world) == "hello", "what was there is not taken for what is no longer stated"


async def test_who_leaves_an_apply_to_a_task_is_told(world: World) -> None:
    tasks = list[asyncio.Task[ConfigMap]]()

    async def hook(site: Website, ctx: Context) -> After:
        tasks.append(asyncio.get_running_loop().create_task(ctx.apply(config_map(f"x-{len(tasks)}", {}))))
        await ambient.sleep(0)
        return After(hours=1)

    world.weather.delay = 0.1
    assert "and not waited for: write `await ctx.apply(...)`" in await said_about(world, hook)
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_applies_that_are_gathered_are_waited_for(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await asyncio.gather(*(ctx.apply(config_map(name, {"page": name})) for name in ("a", "b")))

    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    assert await page_of(world, "a") == "a"
    assert ready_of(await world.admin.get(Website, "blog"))[0] == "True"


async def test_a_child_that_is_stated_twice_must_be_the_same(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("x", {"page": "one"}))
        await ctx.apply(config_map("x", {"page": "one"}))
        await ctx.apply(config_map("x", {"page": "two"}))

    assert await said_about(world, hook) == (
        "ConfigMap 'x' was applied before in this pass, as something else: each would undo the other, in every pass. "
        "State all of it in one object, or give the two different names"
    )


async def test_an_object_can_not_be_applied_in_its_own_pass(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(site)

    assert await said_about(world, hook) == (
        "Website 'blog' can't be applied in its own pass: it would own itself. Set its `status`, which is written at "
        "the end of the pass; its spec is its users' to write"
    )


@pytest.mark.parametrize(
    ("child", "message"),
    [
        (None, "not None: has the function that makes it no `return`?"),
        (ConfigMap, "that is a class; make an object of it: ConfigMap(metadata=ObjectMeta(name=...), ...)"),
        ({"kind": "ConfigMap"}, "not {'kind': 'ConfigMap'}: to make an object of a manifest, write object_from_wire"),
        ([ConfigMap()], "apply each on its own: `for child in children: await ctx.apply(child)`"),
        ("blog", "not 'blog': such as apps.Deployment(metadata=ObjectMeta(name=...), ...)"),
    ],
    ids=["nothing", "a class", "a manifest", "several", "a name"],
)
async def test_only_objects_can_be_applied(world: World, child: Any, message: str) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(child)

    said = await said_about(world, hook)
    assert said.startswith("ctx.apply takes an object, not ")
    assert message in said


async def test_what_an_async_function_makes_must_be_awaited_before_it_is_applied(world: World) -> None:
    async def make() -> ConfigMap:
        return config_map("x", {})

    async def hook(site: Website, ctx: Context) -> None:
        child: Any = make()
        await ctx.apply(child)

    assert (await said_about(world, hook)).endswith("that is what an async function gives without `await`")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (True, "returned True; return nothing; whether the object is as it should be, say with ctx.ready(...)"),
        (2.5, "returned 2.5; return nothing, or After(seconds=2.5) to come back later"),
        (timedelta(minutes=1), "return nothing, or After(seconds=60) to come back later"),
        (
            ConfigMap(metadata=ObjectMeta(name="x")),
            "to have this ConfigMap be there, write `await ctx.apply(...)`, and return nothing",
        ),
        (After, 'write `return After(seconds=30)`, say, or `raise Fatal("...")`'),
        (Fatal("no"), "returned Fatal('no'); write `raise Fatal(...)`"),
        ("done", "returned 'done'; return nothing, or After(seconds=...) to come back later"),
    ],
    ids=["a bool", "a number", "a timedelta", "a child", "a class", "an exception", "a string"],
)
async def test_what_is_returned_must_mean_something(world: World, returned: Any, message: str) -> None:
    async def hook(site: Website, ctx: Context) -> Any:
        return returned

    said = await said_about(world, hook)
    assert said.startswith("Websites._reconcile returned ")
    assert said.endswith(message)


async def test_a_coroutine_that_is_returned_was_not_awaited(world: World) -> None:
    async def later() -> None: ...

    async def hook(site: Website, ctx: Context) -> Any:
        return later()

    assert (await said_about(world, hook)).endswith("it was not waited for: write `await`")


async def test_a_search_that_finds_nothing_is_explained(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        next(iter([]))

    assert await said_about(world, hook) == (
        "Websites._reconcile raised StopIteration, most likely by a `next(...)` that found nothing: write "
        "`next(..., None)`, and say what is to be done then"
    )


@pytest.mark.parametrize(
    ("errors", "reason", "message"),
    [
        ([ConnectionError("the line is dead")], "ConnectionError", "the line is dead"),
        ([Fatal("no such plan")], "Fatal", "no such plan"),
        ([ConnectionError("dead"), ValueError()], "ExceptionGroup", "ConnectionError: dead; ValueError"),
    ],
    ids=["one", "what can't work", "several"],
)
async def test_what_fails_in_a_task_group_is_told_and_not_that_there_was_one(
    world: World, errors: list[Exception], reason: str, message: str
) -> None:
    async def fail(error: Exception) -> None:
        raise error

    async def hook(site: Website, ctx: Context) -> None:
        async with asyncio.TaskGroup() as group:
            for error in errors:
                group.create_task(fail(error))

    websites = Websites()
    websites.hook = hook
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(60)
    assert ready_of(await world.admin.get(Website, "blog")) == ("False", reason, message)
    assert (websites.passes["blog"] > 5) == (reason != "Fatal")


async def test_a_pass_that_exits_has_failed_and_the_operator_goes_on(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        sys.exit("no token")

    message = "sys.exit('no token'): that does not end the operator, and is a failure as any other"
    assert await said_about(world, hook) == message


async def test_a_pass_that_awaits_what_was_cancelled_has_failed_and_is_tried_again(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        task = asyncio.get_running_loop().create_task(ambient.sleep(60))
        task.cancel()
        await task

    websites = Websites()
    websites.hook = hook
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(60)
    ready, reason, message = ready_of(await world.admin.get(Website, "blog"))
    assert (ready, reason) == ("False", "RuntimeError")
    assert message.startswith("asyncio.CancelledError, though nothing had told it to end")
    assert websites.passes["blog"] > 5


async def test_a_status_that_is_not_json_is_named_and_the_rest_is_kept(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)

    async def spoil(site: Website, ctx: Context) -> After:
        page: Any = object
        site.status.page = page
        return After(hours=1)

    websites.hook = spoil
    await world.admin.patch(Website, "blog", {"spec": {"page": "bye"}})
    await ambient.sleep(5)
    site = await world.admin.get(Website, "blog")
    assert ready_of(site)[:2] == ("False", "Unwritable")
    assert ready_of(site)[2].startswith("`status.page` is <class 'object'>, which can't be written as JSON: put what")
    assert site.status.page == "hello"


async def test_a_status_of_the_wrong_type_is_a_failure_that_names_the_field(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> After:
        page: Any = 5
        site.status.page = page
        return After(hours=1)

    assert await said_about(world, hook) == "`status.page` is of the wrong type: Expected `str`, got `int`"


async def test_who_states_less_and_does_not_prune_is_told_once_that_it_stays(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website(aliases=["a", "b"]))
    await settled(world, running)

    async def early(site: Website, ctx: Context) -> After:
        return After(hours=1)

    websites.hook = early
    for page in ("news", "more news"):
        await world.admin.patch(Website, "blog", {"spec": {"page": page}})
        await settled(world, running)
    told = [each.getMessage() for each in caplog.records if "ctx.prune()" in each.getMessage()]
    assert len(told) == 1
    assert told[0].startswith("ConfigMap blog was applied by an earlier pass and not by this one; it stays")


async def test_a_status_is_filled_in_not_replaced(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> After:
        status: Any = {"page": "x"}
        site.status = status
        return After(hours=1)

    assert await said_about(world, hook) == (
        "`status` was replaced by a dict: set its fields instead, `obj.status.ready = 3`, say"
    )


async def test_who_changes_the_spec_is_told_once_that_it_is_not_written(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def hook(site: Website, ctx: Context) -> After:
        site.spec.page = site.spec.page.upper()
        site.metadata.labels["shouts"] = "yes"
        return After(seconds=60)

    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    await ambient.sleep(300)
    assert websites.passes["blog"] > 3
    (said,) = [each.message for each in caplog.records if each.levelno == logging.WARNING]
    assert said == (
        "the pass changed `spec.page`, `metadata.labels` of its Website; that is not written, and the next pass does "
        "not see it. A spec is its users' to write: give fields their defaults in the class, keep what you found in "
        "`status`, and compute with local variables"
    )


async def test_who_changes_only_the_status_is_told_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    running = await start(world, Websites(finalizer=True))
    await world.admin.create(website())
    await settled(world, running)
    assert (await world.admin.get(Website, "blog")).status.page == "hello"
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


async def test_what_was_read_can_not_be_applied(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        there = await ctx.apply(config_map("settings", {"a": "1"}))
        there.data["b"] = "2"
        await ctx.apply(there)

    message = await said_about(world, hook)
    assert message.startswith("ConfigMap 'settings' was read from the API server, and what ctx.apply states is")
    assert "ConfigMap(metadata=ObjectMeta(name=...), ...)" in message


async def test_what_is_not_watched_can_not_be_applied(world: World) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("settings", {}))

    websites = Websites()
    websites.hook = hook
    websites.operator.watch_only(ConfigMap, labels={"app": "site"})
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(5)
    assert ready_of(await world.admin.get(Website, "blog"))[2] == (
        "ConfigMap 'settings' has not the labels `app=site` of operator.watch_only(ConfigMap, ...), so no later "
        "pass would see it: put them on it"
    )
