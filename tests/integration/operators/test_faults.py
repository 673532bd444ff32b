"""Whatever the network, the server and the clocks do, the world comes to match the specs once they are well again."""

import asyncio
from collections.abc import Callable

import pytest

from integration.operators.world import Replica, World
from integration.runtime.websites import Website, Websites
from windvane import APIStatus, Forbidden, NotFound, ObjectMeta, crd, find_condition
from windvane.api.status import StatusDetails
from windvane.client.transport import Request
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.core import ConfigMap, Namespace
from windvane.runtime.context import Context

MINUTE = 60.0
DAY = 86400.0


async def settled(world: World, *, elected: bool = False) -> Replica:
    """A replica that has made a Website, with one alias, what it should be."""
    replica = await Replica(world, elected=elected).synced()
    await world.create(aliases=["a"])
    await world.converges()
    return replica


async def disturb(world: World) -> None:
    """Change one of everything: a spec, a child, what there is."""
    await world.edit(page="news", aliases=["b"])
    await world.admin.delete(ConfigMap, "blog")
    await world.create("shop")


async def test_a_watch_that_is_cut_misses_nothing(world: World) -> None:
    replica = await settled(world)
    replica.weather.cut()
    await disturb(world)
    replica.weather.cut()
    await world.converges()


@pytest.mark.asyncio(loop_factories=["embedded"])  # which can tell how long it took
async def test_an_operator_that_is_cancelled_still_sees_what_its_passes_wait_for(world: World) -> None:
    replica = await settled(world)
    replica.weather.cut()  # so the pass after the first waits, for a second, to see what that one wrote
    await world.edit(page="news")
    replica.weather.cut()
    await world.converges()
    began = world.time.monotonic()
    replica.task.cancel()
    await asyncio.wait([replica.task])
    assert world.time.monotonic() - began < 5


async def test_a_watch_whose_history_is_gone_misses_nothing(world: World) -> None:
    replica = await settled(world)
    replica.weather.fall()
    await disturb(world)
    await world.forget_history()
    replica.weather.clear()
    await world.converges()
    assert any(each.restarts for each in replica.running.informers.values()), "everything was read anew"


async def test_a_server_that_has_forgotten_everything_each_time_is_not_asked_in_a_tight_loop(world: World) -> None:
    replica = await settled(world)

    def gone(request: Request) -> APIStatus | None:
        if request.method != "GET":
            return None
        return APIStatus(status="Failure", code=410, reason="Expired", message="too old resource version")

    replica.weather.refuse = gone
    replica.weather.asked.clear()
    replica.weather.cut()
    await world.let_pass(MINUTE, replica)
    assert len(replica.weather.asked) < 100
    await disturb(world)
    replica.weather.clear()
    await world.converges()


async def test_a_minute_without_a_server_is_made_up_for(world: World) -> None:
    replica = await settled(world)
    replica.weather.fall()
    await disturb(world)
    await world.let_pass(MINUTE, replica)
    assert await world.difference()
    replica.weather.clear()
    await world.converges()


async def test_a_slow_server_is_waited_for(world: World) -> None:
    replica = await Replica(world).synced()
    replica.weather.delay = world.slow
    await world.create(aliases=["a"])
    await world.converges()
    await disturb(world)
    await world.converges()


@pytest.mark.asyncio(loop_factories=["embedded"])  # where nobody has to wait for the time-outs
async def test_a_server_that_is_too_slow_for_every_time_out_is_outlasted(world: World) -> None:
    replica = await settled(world, elected=True)
    replica.weather.delay = 100.0
    replica.weather.cut()
    await disturb(world)
    await world.let_pass(10 * MINUTE, replica)
    replica.weather.clear()
    await world.converges()


TooSoon = Callable[[Request], APIStatus | None]


def refusing(code: int, reason: str, retry_after: int = 0) -> TooSoon:
    def refuse(request: Request) -> APIStatus | None:
        if request.method == "GET":
            return None
        details = StatusDetails(retry_after_seconds=retry_after)
        return APIStatus(status="Failure", code=code, reason=reason, message="not now", details=details)

    return refuse


@pytest.mark.parametrize(
    "refuse",
    [refusing(500, "InternalError"), refusing(429, "TooManyRequests", 1), refusing(503, "ServiceUnavailable")],
    ids=["500", "429", "503"],
)
async def test_a_server_that_refuses_writes_for_a_minute_is_outlasted(world: World, refuse: TooSoon) -> None:
    replica = await settled(world)
    replica.weather.refuse = refuse
    await disturb(world)
    await world.let_pass(MINUTE, replica)
    assert await world.difference()
    replica.weather.clear()
    await world.converges()


async def test_a_server_that_refuses_everything_for_a_minute_is_outlasted(world: World) -> None:
    replica = await settled(world)
    replica.weather.refuse = lambda _: APIStatus(status="Failure", code=500, reason="InternalError", message="no")
    replica.weather.cut()
    await disturb(world)
    await world.let_pass(MINUTE, replica)
    replica.weather.clear()
    await world.converges()


async def test_writes_whose_answers_are_lost_are_looked_at_before_they_are_repeated(world: World) -> None:
    websites = Websites()
    replica = await Replica(world, websites).synced()

    async def look(site: Website, ctx: Context) -> None:
        """Let no pass begin before the operator has seen what is there: else it would be right to write it again."""

        async def all_seen() -> bool:
            [informer] = [each for each in replica.running.informers.values() if each.kind.name == "ConfigMap"]
            return {name for _, name in informer.cache.keys(world.namespace)} >= (await world.children()).keys()

        await world.until(all_seen)

    websites.hook = look
    replica.weather.lose = lambda request: request.method != "GET"
    await world.create(aliases=["a"])

    async def all_answers_are_lost() -> bool:
        return len([each for each in replica.weather.asked if each.method != "GET"]) >= 3

    # Of two children and the status. It may be so before we hear that the Website was made, and then nothing follows.
    await world.until(all_answers_are_lost)
    await world.converges()
    replica.weather.clear()
    await world.converges()
    about_children = [each for each in world.operator_writes() if each.resource == "configmaps"]
    assert len(about_children) == 2, "each was made once, although nobody heard of it"


async def test_a_crd_that_goes_and_comes_back_is_followed(world: World) -> None:
    replica = await settled(world)
    name = crd(Website).metadata.name
    await world.admin.delete(CustomResourceDefinition, name)

    async def said() -> bool:
        return any("Install its CustomResourceDefinition" in each for each in replica.running.problems)

    await world.until(said)
    await world.serve_websites()
    await world.create("shop")
    await world.converges()
    assert replica.running.problems == []


async def test_a_namespace_that_is_being_deleted_is_told_about_and_not_fought(world: World) -> None:
    replica = await settled(world)
    await world.admin.delete(Namespace, world.namespace)
    await world.admin.delete(ConfigMap, "blog")

    async def told() -> bool:
        condition = find_condition((await world.admin.get(Website, "blog")).status.conditions, "Ready")
        return condition is not None and "because it is being terminated" in condition.message

    await world.until(told)
    before = replica.passes
    await world.let_pass(10 * MINUTE, replica)
    assert replica.passes - before <= 15
    assert sorted(await world.children()) == ["blog-a"]

    await empty(world)
    await world.admin.create(Namespace(metadata=ObjectMeta(name=world.namespace)))

    async def is_let_in() -> bool:
        try:
            await world.create("shop")
        except Forbidden:  # a real server takes a moment to notice that it is another namespace
            return False
        return True

    await world.until(is_let_in)
    await world.converges()


async def empty(world: World) -> None:
    """What the namespace controller does, which is not there."""
    await world.admin.delete_collection(Website, namespace=world.namespace)

    async def nothing() -> bool:
        await world.admin.delete_collection(ConfigMap, namespace=world.namespace)
        return not await world.admin.list(Website, namespace=world.namespace) and not await world.children()

    await world.until(nothing)
    namespace = await world.admin.get(Namespace, world.namespace)
    namespace.spec.finalizers = []
    await world.admin.replace(namespace, subresource="finalize")

    async def gone() -> bool:
        try:
            await world.admin.get(Namespace, world.namespace)
        except NotFound:
            return True
        return False

    await world.until(gone)


@pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["forwards", "backwards"])
async def test_a_clock_that_is_set_disturbs_nobody(world: World, seconds: float) -> None:
    replica = await settled(world, elected=True)
    before = await world.written_down("blog")
    replica.clock.set(seconds)
    await world.let_nothing_happen(MINUTE)
    assert world.operator_writes() == before
    assert replica.leading
    await disturb(world)
    await world.converges()


async def test_a_machine_that_wakes_from_an_hour_of_sleep_takes_up_its_work_again(world: World) -> None:
    replica = await settled(world, elected=True)
    replica.clock.sleep_through(3600)
    assert not replica.leading, "it must not trust a lease that it has not renewed for an hour"
    await disturb(world)
    await world.converges()
    assert replica.leading


async def test_a_finalizer_does_not_run_again_for_an_object_that_it_has_let_go(world: World) -> None:
    websites = Websites(finalizer=True)
    replica = await Replica(world, websites).synced()
    await world.create()
    await world.converges()

    def blind(request: Request) -> APIStatus | None:
        if request.method != "GET" or "websites" not in request.path:
            return None
        return APIStatus(status="Failure", code=500, reason="InternalError", message="not now")

    async def go_blind(site: Website, ctx: Context) -> None:
        replica.weather.refuse = blind
        replica.weather.cut()

    websites.retire_hook = go_blind
    await world.admin.delete(Website, "blog")
    await world.until(lambda: _is_gone(world, "blog"))
    await world.admin.delete(ConfigMap, "blog")  # which brings a pass for its owner, who seems to be there still
    await world.let_pass(MINUTE, replica)
    replica.weather.clear()
    await world.create("shop")
    await world.converges()
    assert websites.retired == ["blog"]


async def _is_gone(world: World, name: str) -> bool:
    try:
        await world.admin.get(Website, name)
    except NotFound:
        return True
    return False
