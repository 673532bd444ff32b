"""The health port: what it says of an operator that is well, of one that is not, and of what was done."""

import asyncio
import json
from collections.abc import Iterable

import pytest
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from integration.runtime.test_controller import settled, start
from integration.runtime.websites import Website, Websites, website
from integration.runtime.world import World
from windvane import Operator, ambient, crd
from windvane.k8s.coordination import Lease
from windvane.runtime.context import Context
from windvane.runtime.health import page
from windvane.runtime.running import Running


async def test_a_running_operator_is_healthy_and_ready(world: World) -> None:
    running = await start(world, Websites())
    assert page(running, "/healthz", {}).code == 200
    assert page(running, "/readyz", {}).code == 200


async def test_an_operator_that_can_not_watch_says_why_it_is_not_ready(world: World) -> None:
    running = Websites().operator.run(world.client())
    assert page(running, "/readyz", {}).body.startswith(b"waiting for the first list of websites.demo.windvane.dev\n")

    async def run() -> None:
        await running

    world.start(run())
    await world.until(lambda: running.problems)
    answer = page(running, "/readyz", {})
    assert answer.code == 503
    assert b"Install its CustomResourceDefinition" in answer.body
    await world.admin.create(crd(Website))
    await world.until(lambda: page(running, "/readyz", {}).code == 200)


async def test_an_operator_is_ready_when_what_else_it_needs_is_there(world: World) -> None:
    running = await start(world, Websites())
    missing = ["the certificate is missing"]
    running.needs.append(lambda: missing[0])
    answer = page(running, "/readyz", {})
    assert (answer.code, answer.body) == (503, b"the certificate is missing\n")
    missing[0] = ""
    assert page(running, "/readyz", {}).code == 200


async def test_prometheus_hears_of_passes_queues_caches_and_requests(world: World) -> None:
    running = await start(world, Websites())
    await world.admin.create(website())
    await settled(world, running)
    lines = page(running, "/metrics", {}).body.decode().splitlines()
    name = "websites.demo.windvane.dev"
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    assert values[f'windvane_passes_total{{controller="{name}",result="done"}}'] == sum(
        each.results["done"] for each in running.controllers
    )
    assert values[f'windvane_pass_seconds_count{{controller="{name}"}}'] >= 1
    assert values[f'workqueue_depth{{name="{name}"}}'] == 0
    assert values[f'workqueue_queue_duration_seconds_count{{name="{name}"}}'] >= 1
    assert values[f'windvane_cache_objects{{resource="{name}"}}'] == 1
    assert values['rest_client_requests_total{code="201",method="PATCH"}'] == 1
    assert values["windvane_leading"] == 1


async def test_an_operator_that_only_answers_is_ready_without_a_leader(world: World) -> None:
    operator = Operator("guard")
    operator.validate(Website)(lambda site: None)
    stop = asyncio.Event()
    running = operator.run(world.client(), identity="a", stop=stop)

    async def run() -> None:
        await running

    task = world.start(run())
    assert running.leading
    assert page(running, "/readyz", {}).code == 200
    stop.set()
    await task
    assert (await world.admin.list(Lease)).items == []


async def test_prometheus_hears_of_what_else_there_is(world: World) -> None:
    class Weather:
        def collect(self) -> Iterable[Metric]:
            yield GaugeMetricFamily("weather", "How it is.", 1)

    running = await start(world, Websites())
    running.collectors.append(Weather())
    assert b"\nweather 1.0\n" in page(running, "/metrics", {}).body


async def test_what_was_done_about_an_object_can_be_read(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    first = history(running, "blog")[0]
    assert first["triggers"] == ["Website blog came"]
    assert (first["writes"], first["result"]) == (
        ["apply configmaps blog", "apply websites.demo.windvane.dev/status blog"],
        "done",
    )

    async def fail(site: Website, ctx: Context) -> None:
        raise RuntimeError("the moon is in the way")

    websites.hook = fail
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await ambient.sleep(1)
    last = history(running, "blog")[-1]
    assert (last["result"], last["message"]) == ("failed", "the moon is in the way")


def history(running: Running, name: str) -> list[dict[str, object]]:
    query = {"resource": "websites.demo.windvane.dev", "namespace": "default", "name": name}
    found: list[dict[str, object]] = json.loads(page(running, "/passes", query).body)[query["resource"]]
    return found


@pytest.mark.parametrize("query", [{}, {"resource": "websites.demo.windvane.dev"}])
async def test_without_a_name_the_last_pass_of_each_object_is_told(world: World, query: dict[str, str]) -> None:
    running = await start(world, Websites())
    await world.admin.create(website("blog"))
    await world.admin.create(website("shop"))
    await settled(world, running)
    told = json.loads(page(running, "/passes", query).body)["websites.demo.windvane.dev"]
    assert sorted(each["name"] for each in told) == ["blog", "shop"]


async def test_a_controller_that_is_not_there_is_not_found(world: World) -> None:
    running = await start(world, Websites())
    await settled(world, running)
    answer = page(running, "/passes", {"resource": "shops.demo.windvane.dev"})
    assert (answer.code, answer.body) == (
        404,
        b"there is no controller of shops.demo.windvane.dev; there is: websites.demo.windvane.dev\n",
    )


async def test_other_paths_say_what_there_is(world: World) -> None:
    running = await start(world, Websites())
    assert page(running, "/", {}).code == 404
