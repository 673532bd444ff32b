"""The health port: what it says of an operator that is well, of one that is not, and of what was done."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from integration.runtime.test_controller import settled, start
from integration.runtime.websites import Website, Websites, website
from integration.runtime.world import World
from windvane import APIStatus, Operator, ambient, crd
from windvane.client.transport import Request
from windvane.k8s.coordination import Lease
from windvane.runtime.context import Context
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.health import page
from windvane.sim.fault_injection import NetworkFaults


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
    running.needs["certificate"] = lambda: missing[0]
    answer = page(running, "/readyz", {})
    assert (answer.code, answer.body) == (503, b"the certificate is missing\n")
    missing[0] = ""
    assert page(running, "/readyz", {}).code == 200


def begin(world: World, identity: str, **how: int) -> tuple[OperatorManager, NetworkFaults]:
    """Start a replica that has a network of its own."""
    weather = NetworkFaults()
    running = Websites().operator.run(world._client(weather), identity=identity, **how)  # type: ignore[arg-type]

    async def run() -> None:
        await running

    world.start(run())
    return running, weather


def may_not(*methods: str) -> Callable[[Request], APIStatus | None]:
    """What a server answers to one who may do anything but this to Leases."""

    def refuse(request: Request) -> APIStatus | None:
        if request.method in methods and "/leases" in request.path:
            return APIStatus(status="Failure", code=403, reason="Forbidden", message="leases is forbidden")
        return None

    return refuse


def said(running: OperatorManager) -> tuple[int, str]:
    answer = page(running, "/readyz", {})
    return answer.code, answer.body.decode()


async def test_a_leader_and_a_healthy_standby_are_ready(world: World) -> None:
    await world.admin.create(crd(Website))
    leader, _ = begin(world, "a")
    await world.until(lambda: leader.leading)
    standby, _ = begin(world, "b")
    await world.until(lambda: said(standby) == (200, "ok\n"))
    await ambient.sleep(600)
    assert (leader.leading, standby.leading) == (True, False)
    assert (said(leader), said(standby)) == ((200, "ok\n"), (200, "ok\n"))


@pytest.mark.parametrize("methods", [("GET",), ("POST",), ("GET", "POST", "PUT")])
async def test_a_replica_without_rights_to_its_lease_is_not_ready_and_says_what_to_grant(
    world: World, methods: tuple[str, ...]
) -> None:
    await world.admin.create(crd(Website))
    running, weather = begin(world, "a")
    weather.refuse = may_not(*methods)
    await world.until(lambda: running.synced)
    await ambient.sleep(60)
    code, words = said(running)
    assert code == 503
    assert words == (
        "lease default/websites: leases is forbidden. Grant the verbs get, create and update on "
        "leases.coordination.k8s.io in namespace default to the operator\n"
    )
    assert b'windvane_ready{check="lease"} 0.0' in page(running, "/metrics", {}).body
    weather.clear()
    await world.until(lambda: said(running) == (200, "ok\n"))
    assert b'windvane_ready{check="lease"} 1.0' in page(running, "/metrics", {}).body


async def test_a_standby_that_could_not_take_the_lease_is_not_ready(world: World) -> None:
    """In a rollout it would take the place of a replica that works."""
    await world.admin.create(crd(Website))
    leader, _ = begin(world, "a")
    await world.until(lambda: leader.leading)
    standby, weather = begin(world, "b")
    weather.refuse = may_not("PUT")
    await world.until(lambda: standby.synced)
    for _ in range(600):
        assert said(standby)[0] == 503
        await ambient.sleep(0.1)
    assert "leases is forbidden" in said(standby)[1]
    weather.clear()
    await world.until(lambda: said(standby) == (200, "ok\n"))
    assert not standby.leading
    weather.refuse = may_not("PUT")
    await world.until(lambda: said(standby)[0] == 503)  # and whether it still could, it tries out again and again


async def test_a_leader_that_loses_its_rights_is_not_ready_any_more(world: World) -> None:
    await world.admin.create(crd(Website))
    leader, weather = begin(world, "a")
    await world.until(lambda: leader.leading)
    weather.refuse = may_not("PUT")
    await world.until(lambda: "leases is forbidden" in said(leader)[1])


@pytest.mark.parametrize("methods", [("GET",), ("POST",), ("PUT",)])
async def test_a_replica_that_can_not_have_shards_is_not_ready_and_says_so_once(
    world: World, methods: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    await world.admin.create(crd(Website))
    running, weather = begin(world, "a", shards=1)
    weather.refuse = may_not(*methods)
    await world.until(lambda: running.synced)
    await ambient.sleep(60)
    code, words = said(running)
    assert (code, "leases is forbidden" in words, "Grant the verbs" in words) == (503, True, True)
    assert sum("leases is forbidden" in each.message for each in caplog.records) == 1
    weather.clear()
    await world.until(lambda: said(running) == (200, "ok\n"))


async def test_every_check_has_a_line_if_one_asks_for_it(world: World) -> None:
    await world.admin.create(crd(Website))
    running, weather = begin(world, "a")
    weather.refuse = may_not("GET")
    await world.until(lambda: running.synced)
    await ambient.sleep(5)
    answer = page(running, "/readyz", {"verbose": ""})
    assert answer.code == 503
    first, *_, lease, end = answer.body.decode().splitlines()
    assert first == "[+]cache of websites.demo.windvane.dev ok"
    assert lease.startswith("[-]lease failed: lease default/websites: leases is forbidden. Grant")
    assert end == "readyz check failed"
    weather.clear()
    await world.until(lambda: page(running, "/readyz", {"verbose": ""}).body.endswith(b"\nreadyz check passed\n"))


async def test_a_replica_that_may_not_read_a_kind_is_not_ready(world: World) -> None:
    await world.admin.create(crd(Website))
    running, weather = begin(world, "a")
    weather.refuse = lambda request: (
        APIStatus(status="Failure", code=403, reason="Forbidden", message="configmaps is forbidden")
        if "/configmaps" in request.path
        else None
    )
    await world.until(lambda: running.problems)
    assert said(running) == (
        503,
        "watching configmaps: configmaps is forbidden. Grant the verbs list and watch on configmaps to the operator\n",
    )
    weather.clear()
    await world.until(lambda: said(running) == (200, "ok\n"))


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
    class NetworkFaults:
        def collect(self) -> Iterable[Metric]:
            yield GaugeMetricFamily("weather", "How it is.", 1)

    running = await start(world, Websites())
    running.collectors.append(NetworkFaults())
    assert b"\nweather 1.0\n" in page(running, "/metrics", {}).body


async def test_what_was_done_about_an_object_can_be_read(world: World) -> None:
    websites = Websites()
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    first = history(running, "blog")[0]
    assert [each["words"] for each in first["triggers"]] == ["Website blog came"]
    assert ([each["words"] for each in first["writes"]], first["result"]) == (
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


def history(running: OperatorManager, name: str) -> list[dict[str, Any]]:
    query = {"resource": "websites.demo.windvane.dev", "namespace": "default", "name": name}
    found: list[dict[str, Any]] = json.loads(page(running, "/passes", query).body)[query["resource"]]
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
