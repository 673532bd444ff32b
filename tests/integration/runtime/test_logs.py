"""What a pass logs: every line says which pass over which object it comes from, and each pass ends with one."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from integration.runtime.test_controller import settled, start
from integration.runtime.websites import Website, Websites, website
from integration.runtime.world import World
from windvane import ambient
from windvane.runtime.context import Context
from windvane.runtime.observability import logs
from windvane.runtime.outcome import Fatal


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """The log, as JSON."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    logs.set_up_logging("json", "DEBUG", stream)
    yield stream
    logging.captureWarnings(False)
    root.handlers[:] = before
    root.setLevel(level)


def lines(written: io.StringIO, message: str) -> list[dict[str, Any]]:
    every = [json.loads(line) for line in written.getvalue().splitlines()]
    return [line for line in every if message in line["message"]]


async def one_pass(world: World, hook: Any) -> Websites:
    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    return websites


async def test_every_line_of_a_pass_says_which_one_it_is(world: World, written: io.StringIO) -> None:
    async def by_a_task() -> None:
        logging.getLogger("library").info("from a task")

    async def hook(site: Website, ctx: Context) -> None:
        ctx.log.info("by the context", extra={"size": 3})
        logging.getLogger("library").info("by a library")
        async with asyncio.TaskGroup() as group:
            group.create_task(by_a_task())

    await one_pass(world, hook)
    first = [lines(written, message)[0] for message in ("by the context", "by a library", "from a task")]
    for line in first:
        assert (line["controller"], line["object"]) == ("websites.demo.windvane.dev", "default/blog")
        assert line["trigger"] == "Website blog came"
        assert line["reconcile"] == first[0]["reconcile"]
    assert first[0]["logger"] == "windvane.Website"
    assert first[0]["size"] == 3


async def test_lines_outside_of_passes_are_of_no_pass(world: World, written: io.StringIO) -> None:
    await one_pass(world, None)
    logging.getLogger("library").info("elsewhere")
    (line,) = lines(written, "elsewhere")
    assert "reconcile" not in line


async def test_two_passes_at_once_do_not_mix(world: World, written: io.StringIO) -> None:
    both = asyncio.Barrier(2)

    async def hook(site: Website, ctx: Context) -> None:
        if len(websites.passes) == 2 and max(websites.passes.values()) == 1:
            await both.wait()
        logging.getLogger("library").info("I am %s", site.metadata.name)

    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    for name in ("blog", "shop"):
        await world.admin.create(website(name))
    await settled(world, running)
    assert {line["object"] for line in lines(written, "I am blog")} == {"default/blog"}
    assert {line["object"] for line in lines(written, "I am shop")} == {"default/shop"}


async def test_the_contexts_log_needs_no_set_up(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        ctx.log.warning("by the context")

    await one_pass(world, hook)
    record = next(each for each in caplog.records if each.message == "by the context")
    facts = {name: vars(record)[name] for name in logs.FACTS}
    assert len(facts.pop("reconcile")) == 8
    assert facts == {
        "controller": "websites.demo.windvane.dev",
        "object": "default/blog",
        "trigger": "Website blog came",
    }


async def test_a_pass_that_wrote_is_told_and_one_that_did_not_only_to_who_wants_to_know(
    world: World, written: io.StringIO
) -> None:
    await one_pass(world, None)
    wrote, *others = lines(written, "Website default/blog: done")
    assert (wrote["level"], wrote["result"]) == ("INFO", "done")
    assert wrote["writes"] == ["apply configmaps blog", "apply websites.demo.windvane.dev/status blog"]
    assert wrote["seconds"] >= 0
    assert others
    assert {(line["level"], *line["writes"]) for line in others} == {("DEBUG",)}


async def test_a_pass_that_waits_says_for_what(world: World, written: io.StringIO) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        ctx.wait("no page yet")

    await one_pass(world, hook)
    assert lines(written, "Website default/blog: waiting: no page yet")[0]["result"] == "waiting"


async def test_a_pass_that_can_not_work_is_told_once(world: World, written: io.StringIO) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        raise Fatal("no such page")

    await one_pass(world, hook)
    (line,) = lines(written, "Website default/blog: fatal: no such page")
    assert (line["level"], line["result"]) == ("INFO", "fatal")


async def test_a_pass_that_fails_is_told_with_its_traceback(world: World, written: io.StringIO) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        if websites.passes["blog"] == 1:
            raise RuntimeError("out of paper")

    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    (line,) = lines(written, "Website default/blog: out of paper; again in ")
    assert (line["level"], line["result"], line["object"]) == ("ERROR", "failed", "default/blog")
    assert "RuntimeError: out of paper" in line["exception"]


async def test_a_failure_is_told_with_its_traceback_once_and_then_in_a_line(world: World, written: io.StringIO) -> None:
    async def fail(site: Website, ctx: Context) -> None:
        if site.spec.page == "other":
            raise LookupError("another one")
        raise RuntimeError(f"no answer, {ambient.monotonic():.0f}")

    websites = Websites()
    websites.hook = fail
    await start(world, websites)
    await world.admin.create(website())
    await ambient.sleep(20)
    first, *others = lines(written, "no answer")
    traceback = first["exception"]
    assert "in fail" in traceback
    assert traceback.count("  File ") == traceback.count("test_logs.py") + traceback.count("websites.py")
    assert len(others) > 3
    for line in others:
        assert "exception" not in line
        assert "(as before, test_logs.py line " in line["message"]
    retries = {line["trigger"] for line in others}
    assert retries == {"a retry after RuntimeError"}
    await world.admin.patch(Website, "blog", {"spec": {"page": "other"}})
    await ambient.sleep(1)
    assert "in fail" in lines(written, "another one")[0]["exception"]
