"""Lifespans: one value for all passes, entered before the first one, and left after the last, whatever happens."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from integration.runtime.test_controller import settled
from integration.runtime.websites import Website, config_map, website
from integration.runtime.world import World
from windvane import Client, Context, LifespanFailed, Operator, ambient, crd
from windvane.k8s.coordination import Lease
from windvane.k8s.core import ConfigMap
from windvane.runtime.lifespan import LEAVE_WITHIN
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.health import page
from windvane.sim.fault_injection import NetworkFaults


class Story:
    """An operator with one lifespan, and all that happened to it in order."""

    def __init__(self) -> None:
        self.operator = Operator("websites")
        self.told: list[str] = []
        self.stop = asyncio.Event()
        self.seconds = 0.0  # that a pass takes
        self.lifespan = self.operator.lifespan(self._open)
        self.operator.controller(Website)(self._reconcile)

    async def _open(self, client: Client) -> AsyncIterator[dict[str, int]]:
        self.told.append("opened")
        try:
            yield {"calls": 0}
        finally:
            self.told.append("closed")

    async def _reconcile(self, site: Website, ctx: Context) -> None:
        shared = ctx.value(self.lifespan)
        shared["calls"] += 1
        self.told.append(f"{site.metadata.name} is call {shared['calls']}")
        await ambient.sleep(self.seconds)
        self.told.append(f"{site.metadata.name} is done")

    def run(self, client: Client, **how: Any) -> OperatorManager:
        return self.operator.run(client, stop=self.stop, **how)


async def run(running: OperatorManager) -> None:
    await running


async def test_all_passes_share_what_was_opened_before_the_first(world: World) -> None:
    await world.admin.create(crd(Website))
    story = Story()
    for name in ("a", "b"):
        await world.admin.create(website(name))
    running = story.run(world.client())
    task = world.start(run(running))
    await world.until(lambda: running.synced)
    await settled(world, running)
    assert story.told == ["opened", "a is call 1", "b is call 2", "a is done", "b is done"]
    story.stop.set()
    await task
    assert story.told[5:] == ["closed"]


async def test_a_pass_that_may_still_finish_has_it_until_its_end(world: World) -> None:
    await world.admin.create(crd(Website))
    story = Story()
    story.seconds = 20
    await world.admin.create(website("a"))
    task = world.start(run(story.run(world.client())))
    await world.until(lambda: "a is call 1" in story.told)
    story.stop.set()
    await task
    assert story.told == ["opened", "a is call 1", "a is done", "closed"]


async def test_it_is_left_when_the_operator_is_cancelled(world: World) -> None:
    await world.admin.create(crd(Website))
    story = Story()
    task = world.start(run(story.run(world.client())))
    await world.until(lambda: story.told)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert story.told == ["opened", "closed"]


async def test_a_replica_that_stands_by_has_entered_it_and_the_lease_is_given_back_before_it_is_left(
    world: World,
) -> None:
    await world.admin.create(crd(Website))
    leader, standby = Story(), Story()
    holders: list[str | None] = []

    @leader.operator.lifespan
    async def slow_to_close(client: Client) -> AsyncIterator[None]:
        yield
        holders.append((await world.admin.get(Lease, "websites")).spec.holder_identity)

    first = leader.run(world.client(), identity="leader")
    task = world.start(run(first))
    await world.until(lambda: first.leading)
    second = standby.run(world._client(NetworkFaults()), identity="standby")
    world.start(run(second))
    await world.until(lambda: second.synced)
    assert standby.told == ["opened"]
    assert not second.leading
    leader.stop.set()
    await task
    assert holders in ([""], ["standby"])


async def test_what_fails_at_the_start_ends_the_operator_before_any_pass_and_leaves_what_was_entered(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.admin.create(crd(Website))
    await world.admin.create(website())
    story = Story()

    @story.operator.lifespan
    async def queue(client: Client) -> AsyncIterator[None]:
        raise ConnectionRefusedError("nothing listens at queue:5672")
        yield

    with pytest.raises(LifespanFailed) as failed:
        await story.run(world.client())
    words = "the lifespan queue failed to begin: ConnectionRefusedError: nothing listens at queue:5672"
    assert str(failed.value) == words
    assert words in caplog.text
    assert story.told == ["opened", "closed"]
    (traceback,) = [each.exc_info[2] for each in caplog.records if each.exc_info]
    assert traceback is not None
    assert traceback.tb_frame.f_code.co_name == "queue", "what is not the author's is left out"


async def test_one_that_awaits_what_was_cancelled_has_failed(world: World) -> None:
    await world.admin.create(crd(Website))
    story = Story()

    @story.operator.lifespan
    async def queue(client: Client) -> AsyncIterator[None]:
        task = asyncio.get_running_loop().create_task(ambient.sleep(60))
        task.cancel()
        await task
        yield

    with pytest.raises(
        LifespanFailed, match=r"the lifespan queue failed to begin: RuntimeError: asyncio\.CancelledError"
    ):
        await story.run(world.client())


async def test_a_task_that_fails_beside_the_yield_ends_the_operator(world: World) -> None:
    await world.admin.create(crd(Website))
    story = Story()

    async def listen() -> None:
        await ambient.sleep(30)
        raise ConnectionResetError("the queue hung up")

    @story.operator.lifespan
    async def queue(client: Client) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            group.create_task(listen())
            yield

    with pytest.raises(LifespanFailed) as failed:
        await story.run(world.client())
    words = "the lifespan queue failed while the operator worked: ConnectionResetError: the queue hung up"
    assert str(failed.value) == words
    assert story.told == ["opened", "closed"]


async def test_what_fails_or_hangs_at_the_end_is_told_and_the_others_are_left_all_the_same(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.admin.create(crd(Website))
    story = Story()

    @story.operator.lifespan
    async def failing(client: Client) -> AsyncIterator[None]:
        yield
        raise RuntimeError("it would not close")

    @story.operator.lifespan
    async def hanging(client: Client) -> AsyncIterator[None]:
        yield
        await asyncio.Event().wait()

    running = story.run(world.client())
    task = world.start(run(running))
    await world.until(lambda: running.synced)
    began = ambient.monotonic()
    story.stop.set()
    await task
    assert ambient.monotonic() - began == pytest.approx(LEAVE_WITHIN, abs=0.5)
    assert "the lifespan failing failed when the operator stopped: RuntimeError: it would not close" in caplog.text
    assert "the lifespan hanging has not ended within 5 s, and is cancelled" in caplog.text
    assert story.told == ["opened", "closed"]


async def test_the_operator_is_not_ready_before_they_have_begun_and_stops_when_told_to(world: World) -> None:
    await world.admin.create(crd(Website))
    story = Story()

    @story.operator.lifespan
    async def patient(client: Client) -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield

    running = story.run(world.client())
    task = world.start(run(running))
    await ambient.sleep(60)
    found = page(running, "/readyz", {})
    assert (found.code, b"waiting for the lifespan patient to begin" in found.body) == (503, True)
    story.stop.set()
    await task
    assert story.told == ["opened", "closed"]


async def test_it_can_ask_the_api_server_for_what_it_needs(world: World) -> None:
    operator, opened = Operator("websites"), list[str]()

    @operator.lifespan
    async def settings(client: Client) -> AsyncIterator[dict[str, str]]:
        yield (await client.get(ConfigMap, "settings", namespace="default")).data

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        opened.append(ctx.value(settings)["region"])

    await world.admin.create(crd(Website))
    await world.admin.create(website())
    await world.admin.create(config_map("settings", {"region": "north"}))
    world.start(run(operator.run(world.client())))
    await world.until(lambda: opened)
    assert opened == ["north"]


async def test_another_operators_is_not_at_hand(world: World) -> None:
    operator, said = Operator("websites"), list[str]()
    story = Story()
    strange = story.lifespan

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        values: list[Any] = [strange, story._reconcile, "http"]
        for value in values:
            try:
                ctx.value(value)
            except (LookupError, TypeError) as error:
                said.append(str(error))

    await world.admin.create(crd(Website))
    await world.admin.create(website())
    world.start(run(operator.run(world.client())))
    await world.until(lambda: said)
    assert said[0] == "_open is not a lifespan of this operator: is it another operator's?"
    made = "ctx.value takes what @operator.lifespan made of a function, or in a pass @operator.daemon, and not"
    assert said[1].startswith(f"{made} <bound method Story._reconcile")
    assert said[2] == f"{made} 'http'"


def test_a_function_that_is_no_lifespan_is_answered_with_what_to_write() -> None:
    async def no_yield(client: Client) -> None:
        pass

    async def no_client() -> AsyncIterator[None]:
        yield

    operator: Any = Operator("websites")
    with pytest.raises(TypeError, match=r"no_yield must be an async function that yields: write `async def no_yield\("):
        operator.lifespan(no_yield)
    with pytest.raises(TypeError, match="no_client is called with a client alone"):
        operator.lifespan(no_client)
