"""The snippets of `docs/concepts.md`, run in their order: one story, on an API server in memory."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from integration.runtime.test_controller import ready_of, settled
from integration.runtime.world import World
from windvane import Client, Context, ObjectMeta, Operator, Resource
from windvane.k8s.core import ConfigMap, Event

CONCEPTS = Path(__file__).parents[3] / "docs" / "concepts.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", CONCEPTS.read_text(), re.MULTILINE | re.DOTALL)


def is_part_of_a_pass(snippet: str) -> bool:
    """Whether it speaks of `ctx` outside of a function, and so stands for some lines of one."""
    lines = [each for each in ast.parse(snippet).body if not isinstance(each, ast.AsyncFunctionDef)]
    return any(isinstance(node, ast.Name) and node.id == "ctx" for line in lines for node in ast.walk(line))


async def run(snippet: str, names: dict[str, Any]) -> None:
    code = compile(snippet, str(CONCEPTS), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if inspect.isawaitable(waiting := eval(code, names)):
        await waiting


@pytest.fixture
async def story(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the snippets that stand by themselves have defined. What they print is for the test to read."""
    monkeypatch.setattr(Client, "connect", world.client)
    names: dict[str, Any] = {"__name__": "concepts"}
    for snippet in SNIPPETS:
        if not is_part_of_a_pass(snippet):
            names["client"] = world.admin
            await run(snippet, names)
    await world.admin.create(names["definition"])
    return names


def a_cache(story: dict[str, Any]) -> Resource[Any, Any]:
    cache: Resource[Any, Any] = story["Cache"](metadata=ObjectMeta(name="pages", namespace="default"))
    return cache


async def test_what_is_printed_is_what_the_comments_say(
    story: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert story["page"].metadata.uid
    assert capsys.readouterr().out.splitlines() == [
        "caches",
        "caches.examples.windvane.dev",
        "ADDED page",
        'Apply failed with 1 conflict: conflict with "me": .data.text',
    ]


async def test_the_operator_works_until_its_objects_are_gone(world: World, story: dict[str, Any]) -> None:
    async def work() -> None:
        await story["running"]

    world.start(work())
    await world.until(lambda: story["running"].leading)
    await world.admin.create(a_cache(story))
    await settled(world, story["running"])
    assert (await world.admin.get(ConfigMap, "pages")).data == {"on": "yes"}
    assert (await world.admin.get(story["Cache"], "pages")).metadata.finalizers
    await world.admin.delete(story["Cache"], "pages")
    await settled(world, story["running"])
    assert not await world.admin.list(story["Cache"])


async def test_the_parts_of_a_pass_work_in_one(
    world: World, story: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    operator = Operator("reader")

    @operator.controller(story["Cache"], owns=[ConfigMap])
    async def reconcile(cache: Any, ctx: Context) -> None:
        for snippet in SNIPPETS:
            if is_part_of_a_pass(snippet):
                await run(snippet, story | {"cache": cache, "ctx": ctx})

    running = operator.run(world.client())

    async def work() -> None:
        await running

    world.start(work())
    await world.until(lambda: running.synced)
    await world.admin.create(a_cache(story))
    await settled(world, running)
    cache = await world.admin.get(story["Cache"], "pages")
    assert ready_of(cache) == ("False", "NotReady", "0 of 1 copies are up")
    assert {each.type for each in cache.status.conditions} == {"Ready", "Warm"}
    assert [event.reason for event in await world.admin.list(Event)] == ["Filled"]
    assert "pages" in capsys.readouterr().out
