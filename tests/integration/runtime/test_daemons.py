"""Daemons: one for each object, for as long as it is there and ours, and never two at once, whoever leads."""

import asyncio
import contextvars
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from integration.runtime.replicas import _REPLICA, _hold_up_who_is_paused
from integration.runtime.test_controller import ready_of, settled
from integration.runtime.websites import Website, website
from integration.runtime.world import World
from windvane import Backoff, Client, Context, DaemonContext, Fatal, ObjectMeta, Operator, ambient, crd
from windvane.client.errors import APIError
from windvane.k8s.core import ConfigMap, Event
from windvane.runtime.coordination.leader_election import DURATION
from windvane.runtime.daemon_tasks import STOP_WITHIN
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.health import page as health_page
from windvane.runtime.observability.history import Trigger
from windvane.sim.fault_injection import NetworkFaults

Hook = Callable[[Website, DaemonContext], Awaitable[None]]


class Log:
    """What happened to the daemons of all replicas."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.running: dict[str, str] = {}
        """The replica that a daemon runs on, by its object."""
        self.twice: list[str] = []
        """Whenever one began while another ran."""


class Replica:
    """An operator that has a daemon."""

    def __init__(self, world: World, log: Log, name: str = "one", *, hook: Hook | None = None) -> None:
        self.world, self.log, self.name, self.hook = world, log, name, hook
        self.operator = Operator("websites")
        self.weather = NetworkFaults()
        self.stop = asyncio.Event()
        self.awake = asyncio.Event()
        self.awake.set()
        self.held_up: list[Callable[[], object]] = []
        self.seen: list[Any] = []
        self.daemon = self.operator.daemon(Website, when=lambda site: site.spec.page != "off")(self._watch)
        self.operator.controller(Website, retry=Backoff(first=1, most=60))(self._reconcile)
        self.operator.finalizer(Website)(self._retire)

    async def _watch(self, site: Website, ctx: DaemonContext) -> AsyncIterator[str]:
        name = site.metadata.name
        if name in self.log.running:
            self.log.twice.append(f"{name} on {self.name} and {self.log.running[name]}")
        self.log.running[name] = self.name
        self.log.told.append(f"{name} began: {site.spec.page}")
        try:
            yield site.spec.page
            await (self.hook(site, ctx) if self.hook is not None else asyncio.Event().wait())
        finally:
            del self.log.running[name]
            self.log.told.append(f"{name} ended")

    def wake(self) -> None:
        self.awake.set()
        for callback in self.held_up:
            asyncio.get_running_loop().call_soon(callback)

    async def _reconcile(self, site: Website, ctx: Context) -> None:
        self.seen.append(ctx.value(self.daemon))

    async def _retire(self, site: Website, ctx: Context) -> None:
        self.log.told.append(f"{site.metadata.name} retired")

    async def start(self, **how: Any) -> OperatorManager:
        self.running = self.operator.run(self.world._client(self.weather), stop=self.stop, **how)

        async def run() -> None:
            await self.running

        context = contextvars.copy_context()
        context.run(_REPLICA.set, self)  # type: ignore[arg-type]
        self.task = context.run(self.world.start, run())
        await self.world.until(lambda: self.running.synced)
        return self.running


@pytest.fixture
async def replica(world: World) -> Replica:
    await world.admin.create(crd(Website))
    return Replica(world, Log())


async def test_it_runs_for_as_long_as_the_object_is_there_and_ends_before_the_finalizer(
    world: World, replica: Replica
) -> None:
    running = await replica.start()
    await world.admin.create(website())
    await ambient.sleep(3600)
    assert replica.log.told == ["blog began: hello"]
    await world.admin.delete(Website, "blog")
    await settled(world, running)
    assert replica.log.told[1:] == ["blog ended", "blog retired"]


async def test_what_it_yields_brings_a_pass_that_sees_it(world: World, replica: Replica) -> None:
    running = await replica.start()
    await world.admin.create(website())
    await settled(world, running)
    assert replica.seen == [None, "hello"]
    (controller,) = running.controllers
    assert controller.history.of(("default", "blog"))[-1].triggers == [Trigger("daemon _watch yielded")]


async def test_the_same_again_brings_no_pass(world: World, replica: Replica) -> None:
    operator, seen = Operator("others"), list[int | None]()

    @operator.daemon(Website)
    async def count(site: Website, ctx: DaemonContext) -> AsyncIterator[int]:
        for number in (1, 1, 1, 2):
            await ambient.sleep(10)
            yield number

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        seen.append(ctx.value(count))

    await world.admin.create(website())

    async def run() -> None:
        await operator.run(world.client())

    world.start(run())
    await ambient.sleep(100)
    assert seen == [None, 1, 2], "and one that came to its end keeps its value, and is not begun again"


async def test_a_new_spec_begins_it_anew_and_a_new_label_does_not(world: World, replica: Replica) -> None:
    running = await replica.start()
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.patch(Website, "blog", {"metadata": {"labels": {"a": "b"}}})
    await settled(world, running)
    assert replica.log.told == ["blog began: hello"]
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    assert replica.log.told[1:] == ["blog ended", "blog began: news"]
    assert replica.seen[-2:] == [None, "news"]


async def test_it_runs_only_for_objects_for_which_when_is_true(world: World, replica: Replica) -> None:
    running = await replica.start()
    await world.admin.create(website(page="off"))
    await settled(world, running)
    assert replica.log.told == []
    for page in ("on", "off"):
        await world.admin.patch(Website, "blog", {"spec": {"page": page}})
        await settled(world, running)
    assert replica.log.told == ["blog began: on", "blog ended"]


async def test_when_counts_also_for_an_object_that_its_pass_has_given_up(world: World) -> None:
    operator, running = Operator("websites"), set[str]()

    @operator.daemon(Website, when=lambda site: "off" not in site.metadata.labels)
    async def watch(site: Website, ctx: DaemonContext) -> None:
        running.add(site.metadata.name)
        try:
            await asyncio.Event().wait()
        finally:
            running.remove(site.metadata.name)

    @operator.controller(Website)
    async def reconcile(site: Website, ctx: Context) -> None:
        raise Fatal("no such plan")

    async def run() -> None:
        await operator.run(world.client())

    await world.admin.create(crd(Website))
    await world.admin.create(website())
    world.start(run())
    await world.until(lambda: running)
    await world.admin.patch(Website, "blog", {"metadata": {"labels": {"off": "yes"}}})
    await world.until(lambda: not running)
    await world.admin.patch(Website, "blog", {"metadata": {"labels": {"off": None}}})
    await world.until(lambda: running)


async def test_one_that_fails_begins_again_later_and_later_and_is_told(
    world: World, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    began: list[float] = []

    async def fail(site: Website, ctx: DaemonContext) -> None:
        began.append(ambient.monotonic())
        raise ConnectionError("the line is dead")

    replica.hook = fail
    await replica.start()
    await world.admin.create(website())
    await ambient.sleep(600)
    pauses = [after - before for before, after in pairwise(began)]
    assert all(0.5 * 2**n <= pause <= 2**n for n, pause in enumerate(pauses[:6]))
    assert all(30 <= pause <= 60 for pause in pauses[6:])
    events = {each.reason: each.message for each in await world.admin.list(Event)}
    assert events == {"ConnectionError": "the daemon _watch failed: the line is dead"}
    assert caplog.text.count("Traceback") == 1
    told = health_page(replica.running, "/metrics", {}).body.decode()
    assert 'windvane_daemons{controller="websites.demo.windvane.dev"} 1.0' in told
    assert f'windvane_daemon_failures_total{{controller="websites.demo.windvane.dev"}} {len(began)}.0' in told
    assert replica.log.twice == []


async def test_one_that_gave_up_begins_again_with_a_new_spec(world: World, replica: Replica) -> None:
    async def give_up(site: Website, ctx: DaemonContext) -> None:
        raise Fatal("no such camera")

    replica.hook = give_up
    running = await replica.start()
    await world.admin.create(website())
    await ambient.sleep(3600)
    assert replica.log.told == ["blog began: hello", "blog ended"]
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    assert replica.log.told[2:] == ["blog began: news", "blog ended"]


async def test_one_that_exits_begins_again_and_the_operator_goes_on(world: World, replica: Replica) -> None:
    async def leave(site: Website, ctx: DaemonContext) -> None:
        sys.exit(1)

    replica.hook = leave
    await replica.start()
    await world.admin.create(website())
    await ambient.sleep(10)
    assert replica.log.told.count("blog began: hello") > 1


async def test_what_it_waited_for_was_cancelled_and_not_it(world: World, replica: Replica) -> None:
    async def wait(site: Website, ctx: DaemonContext) -> None:
        raise asyncio.CancelledError

    replica.hook = wait
    await replica.start()
    await world.admin.create(website())
    await ambient.sleep(2)
    assert replica.log.told.count("blog began: hello") > 1


async def test_one_whose_tasks_fail_begins_again_and_says_what_failed(world: World, replica: Replica) -> None:
    async def listen() -> None:
        await ambient.sleep(1)
        raise ConnectionError("the line is dead")

    async def fail(site: Website, ctx: DaemonContext) -> None:
        async with asyncio.TaskGroup() as group:  # which cancels the daemon's own task, once it waits at its end
            group.create_task(listen())

    replica.hook = fail
    await replica.start()
    await world.admin.create(website())
    await ambient.sleep(30)
    assert replica.log.told.count("blog began: hello") > 2
    events = {each.reason: each.message for each in await world.admin.list(Event)}
    assert events == {"ConnectionError": "the daemon _watch failed: the line is dead"}


async def test_an_object_of_the_same_name_gets_one_of_its_own(world: World, replica: Replica) -> None:
    running = await replica.start()
    for page in ("one", "two"):
        await world.admin.create(website(page=page))
        await settled(world, running)
        await world.admin.delete(Website, "blog")
        await settled(world, running)
    assert [each for each in replica.log.told if "retired" not in each] == [
        "blog began: one",
        "blog ended",
        "blog began: two",
        "blog ended",
    ]
    assert running.controllers[0].daemons._running == {}
    assert running.controllers[0].daemons._values == {}


async def test_the_finalizer_waits_for_one_that_does_not_want_to_end(
    world: World, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    async def linger(site: Website, ctx: DaemonContext) -> None:
        for _ in range(3):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    replica.hook = linger
    running = await replica.start()
    await world.admin.create(website())
    await settled(world, running)
    await world.admin.delete(Website, "blog")
    await ambient.sleep(STOP_WITHIN + 1)
    words = f"the daemon _watch was cancelled, and has not ended within {STOP_WITHIN:g} s"
    assert ready_of(await world.admin.get(Website, "blog")) == ("False", "StillRunning", words)
    await world.until(lambda: "blog retired" in replica.log.told)
    assert replica.log.told == ["blog began: hello", "blog ended", "blog retired"]
    assert f"{words}; again in" in caplog.text


async def test_all_end_when_the_operator_stops(world: World, replica: Replica) -> None:
    running = await replica.start()
    for name in ("a", "b", "c"):
        await world.admin.create(website(name))
    await settled(world, running)
    assert len(replica.log.running) == 3
    began = ambient.monotonic()
    replica.stop.set()
    await replica.task
    assert (replica.log.running, ambient.monotonic() - began < 1) == ({}, True)


async def test_another_replica_begins_when_the_leader_has_stopped_and_not_before(
    world: World, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = replica, Replica(world, replica.log, "two")
    running = await first.start(identity="one")
    await world.admin.create(website())
    await world.until(lambda: first.log.running == {"blog": "one"})

    async def linger(site: Website, ctx: DaemonContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told = ambient.monotonic()
            while ambient.monotonic() < told + 100:
                with suppress(asyncio.CancelledError):
                    await ambient.sleep(10)

    first.hook = linger
    await world.admin.patch(Website, "blog", {"spec": {"page": "news"}})
    await settled(world, running)
    await second.start(identity="two")
    await ambient.sleep(30)
    assert first.log.running == {"blog": "one"}
    first.stop.set()
    await ambient.sleep(90)
    assert first.log.running == {"blog": "one"}
    await world.until(lambda: first.log.running == {"blog": "two"})
    assert first.log.twice == []
    assert "the daemon _watch of Website default/blog was cancelled, and has not ended within 4 s" in caplog.text


async def test_a_leader_that_is_cut_off_ends_its_daemons_before_another_begins_them(
    world: World, replica: Replica
) -> None:
    first, second = replica, Replica(world, replica.log, "two")
    await first.start(identity="one")
    await world.admin.create(website())
    await world.until(lambda: first.log.running == {"blog": "one"})
    await second.start(identity="two")
    await ambient.sleep(30)
    first.weather.fall()
    cut_off = ambient.monotonic()
    await world.until(lambda: not first.log.running)
    assert ambient.monotonic() - cut_off < DURATION - STOP_WITHIN
    await world.until(lambda: first.log.running == {"blog": "two"})
    first.weather.clear()
    await ambient.sleep(60)
    assert (first.log.running, first.log.twice) == ({"blog": "two"}, [])


async def test_when_the_leader_dies_its_daemons_begin_on_another(world: World, replica: Replica) -> None:
    _hold_up_who_is_paused(asyncio.get_running_loop())
    first, second = replica, Replica(world, replica.log, "two")
    await first.start(identity="one")
    await world.admin.create(website())
    await world.until(lambda: first.log.running == {"blog": "one"})
    await second.start(identity="two")
    await ambient.sleep(30)
    first.awake.clear()  # nothing of it runs any more, not even what would end it well
    died = ambient.monotonic()
    first.log.running.clear()
    try:
        await world.until(lambda: first.log.running == {"blog": "two"})
        assert DURATION - 3 <= ambient.monotonic() - died <= DURATION + 3
        assert first.log.told == ["blog began: hello", "blog began: hello"]
    finally:
        first.wake()  # or nothing could end it


async def test_daemons_go_with_their_shards_and_never_run_twice(world: World, replica: Replica) -> None:
    async def linger(site: Website, ctx: DaemonContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await ambient.sleep(3)

    replicas = [replica, *(Replica(world, replica.log, name, hook=linger) for name in ("two", "three"))]
    names = {f"site-{number}" for number in range(12)}
    for name in names:
        await world.admin.create(website(name))
    for each in replicas:
        await each.start(identity=each.name, shards=8)
    running = replica.log.running
    await world.until(lambda: running.keys() == names and set(running.values()) == {"one", "two", "three"})
    replicas[1].stop.set()
    await replicas[1].task
    await world.until(lambda: running.keys() == names and set(running.values()) == {"one", "three"})
    replicas[2].weather.fall()
    await world.until(lambda: running.keys() == names and set(running.values()) == {"one"})
    replicas[2].weather.clear()
    await world.until(lambda: running.keys() == names and set(running.values()) == {"one", "three"})
    assert replica.log.twice == []


async def test_its_client_writes_only_while_the_replica_leads(world: World, replica: Replica) -> None:
    clients: list[Client] = []

    async def write(site: Website, ctx: DaemonContext) -> None:
        await ctx.client.create(ConfigMap(metadata=ObjectMeta(name="found")))
        clients.append(ctx.client)
        await asyncio.Event().wait()

    replica.hook = write
    await replica.start(identity="one")
    await world.admin.create(website())
    await world.until(lambda: clients)
    replica.stop.set()
    await replica.task
    with pytest.raises(Exception, match="this replica does not lead") as refused:
        await clients[0].create(ConfigMap(metadata=ObjectMeta(name="late")))
    assert not isinstance(refused.value, APIError)


async def test_its_log_lines_say_whose_they_are(
    world: World, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    async def say(site: Website, ctx: DaemonContext) -> None:
        ctx.log.warning("it rains")

    replica.hook = say
    running = await replica.start()
    await world.admin.create(website())
    await settled(world, running)
    (record,) = [each for each in caplog.records if each.message == "it rains"]
    assert (record.__dict__["object"], record.__dict__["trigger"]) == ("default/blog", "daemon _watch")


def test_what_is_no_daemon_is_answered_with_what_to_write() -> None:
    operator: Any = Operator("websites")

    def sync(site: Website, ctx: DaemonContext) -> None:
        pass

    async def alone(site: Website) -> None:
        pass

    with pytest.raises(TypeError, match=r"must be an async function: write `async def sync\(obj: Website, ctx: Daemon"):
        operator.daemon(Website)(sync)
    with pytest.raises(TypeError, match="is called with the object and a context"):
        operator.daemon(Website)(alone)
    with pytest.raises(TypeError, match=r"@operator.daemon\(Website, when=3\): write a function of the object"):
        operator.daemon(Website, when=3)
    with pytest.raises(TypeError, match=r"write @operator.daemon\(Website\), say"):
        operator.daemon(alone)


def test_a_daemon_needs_a_controller_beside_it(world: World) -> None:
    operator = Operator("websites")

    @operator.daemon(Website)
    async def watch(site: Website, ctx: DaemonContext) -> None:
        pass

    with pytest.raises(ValueError, match="Website has a daemon but no controller"):
        operator.run(world.client())
