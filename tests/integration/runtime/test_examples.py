"""The operators in `examples/`, each run as it stands."""

import asyncio
import os
import runpy
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from integration.runtime.test_controller import ready_of, settled
from integration.runtime.world import World
from windvane import Duration, Object, ObjectMeta, ambient, crd
from windvane.k8s.apps import Deployment
from windvane.k8s.batch import Job
from windvane.k8s.coordination import Lease
from windvane.k8s.core import ConfigMap, Event, Namespace, Pod, Secret, Service
from windvane.k8s.networking import NetworkPolicy
from windvane.runtime.manager import OperatorManager

EXAMPLES = Path(__file__).parents[3] / "examples"

Start = Callable[..., Awaitable[tuple[SimpleNamespace, OperatorManager]]]


@pytest.fixture
def start(world: World) -> Start:
    """Starts the operator of an example, with the CRDs of these of its classes; gives what is in the example."""

    async def start(name: str, *kinds: str) -> tuple[SimpleNamespace, OperatorManager]:
        example = SimpleNamespace(**runpy.run_path(str(EXAMPLES / f"{name}.py")))
        for kind in kinds:
            await world.admin.create(crd(getattr(example, kind)))
        running: OperatorManager = example.operator.run(world.client())

        async def work() -> None:
            await running

        world.start(work())
        await world.until(lambda: running.synced)
        return example, running

    return start


def named(name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="default")


async def names(world: World, what: type[Object]) -> list[str]:
    return [each.metadata.name for each in await world.admin.list(what, namespace="default")]


async def test_a_cache_of_thirty_lines_is_ready_when_its_copies_are(world: World, start: Start) -> None:
    example, running = await start("thirty_lines", "Cache")
    spec = example.CacheSpec(copies=2, megabytes=128)
    await world.admin.create(example.Cache(metadata=named("sessions"), spec=spec))
    await settled(world, running)
    deployment = await world.admin.get(Deployment, "sessions")
    assert (deployment.spec.replicas, deployment.spec.template.spec.containers[0].args) == (2, ["-m128"])
    cache = await world.admin.get(example.Cache, "sessions")
    assert ready_of(cache) == ("False", "NotReady", "0 of 2 copies are up")
    # What the controllers of a whole cluster would do.
    status = {"status": {"replicas": 2, "readyReplicas": 2}}
    await world.admin.patch(Deployment, "sessions", status, subresource="status")
    await settled(world, running)
    assert ready_of(await world.admin.get(example.Cache, "sessions")) == ("True", "Ready", "2 of 2 copies are up")
    await world.admin.delete(Deployment, "sessions")
    await settled(world, running)
    again = await world.admin.get(Deployment, "sessions")
    assert again.metadata.uid != deployment.metadata.uid


async def test_a_website_gets_a_deployment_and_a_service(world: World, start: Start) -> None:
    example, running = await start("website_operator", "Website")
    spec = example.WebsiteSpec(image="nginx", replicas=2)
    await world.admin.create(example.Website(metadata=named("blog"), spec=spec))
    await settled(world, running)
    deployment = await world.admin.get(Deployment, "blog")
    assert (deployment.spec.replicas, deployment.spec.template.spec.containers[0].image) == (2, "nginx")
    assert (await world.admin.get(Service, "blog")).spec.selector == {"website": "blog"}
    site = await world.admin.get(example.Website, "blog")
    assert ready_of(site) == ("False", "NotReady", "0 of 2 copies are up")
    # What the controllers of a whole cluster would do.
    await world.admin.patch(Deployment, "blog", {"status": {"replicas": 2, "readyReplicas": 2}}, subresource="status")
    await settled(world, running)
    site = await world.admin.get(example.Website, "blog")
    assert (site.status.ready, ready_of(site)) == (2, ("True", "Ready", "2 of 2 copies are up"))


async def test_a_team_has_a_desk_for_each_member(world: World, start: Start) -> None:
    example, running = await start("children_for_a_list", "Team")
    spec = example.TeamSpec(members=["ann", "bob"])
    await world.admin.create(example.Team(metadata=named("core"), spec=spec))
    await settled(world, running)
    assert await names(world, ConfigMap) == ["core-ann", "core-bob"]
    await world.admin.patch(example.Team, "core", {"spec": {"members": ["bob", "eve"]}})
    await settled(world, running)
    assert await names(world, ConfigMap) == ["core-bob", "core-eve"]
    assert (await world.admin.get(example.Team, "core")).status.size == 2


async def test_a_bucket_is_gone_when_its_directory_is(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUCKETS", str(tmp_path))
    example, running = await start("clean_up_outside", "Bucket")
    await world.admin.create(example.Bucket(metadata=named("files")))
    await settled(world, running)
    place = Path((await world.admin.get(example.Bucket, "files")).status.path)
    assert place.parent == tmp_path
    lock = place / "busy.lock"
    lock.touch()
    await world.admin.delete(example.Bucket, "files")
    await settled(world, running)
    held = await world.admin.get(example.Bucket, "files")
    assert ready_of(held) == ("False", "Waiting", "a file in it is locked")
    lock.unlink()
    while await names(world, example.Bucket):
        await ambient.sleep(1)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - the linter takes pathlib for slower than this


async def test_tickets_get_their_numbers_from_one_database(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TICKETS", str(tmp_path / "tickets.db"))
    example, running = await start("open_once", "Ticket")
    for name in ("ann", "bob"):
        await world.admin.create(example.Ticket(metadata=named(name)))
        await settled(world, running)
    assert ready_of(await world.admin.get(example.Ticket, "bob")) == ("True", "Ready", "number 2")
    await world.close()
    assert capsys.readouterr().out == "the database is open\nthe database is closed\n"


async def test_a_flag_follows_its_file(world: World, start: Start, tmp_path: Path) -> None:
    example, running = await start("keep_watching", "Flag")
    file = tmp_path / "flag"
    await world.admin.create(example.Flag(metadata=named("door"), spec=example.FlagSpec(path=str(file))))
    for exists in (False, True, False):
        file.touch() if exists else file.unlink(missing_ok=True)
        await ambient.sleep(2)
        await settled(world, running)
        flag = await world.admin.get(example.Flag, "door")
        assert (ready_of(flag)[0] == "True", flag.status.raised) == (exists, exists)


async def test_lamps_of_another_maker_are_left_alone(world: World, start: Start) -> None:
    example, running = await start("only_some", "Lamp")
    for name, maker in (("desk", "acme"), ("hall", "lumo")):
        await world.admin.create(example.Lamp(metadata=named(name), spec=example.LampSpec(maker=maker, color="red")))
    await settled(world, running)
    assert await names(world, ConfigMap) == ["desk-settings"]
    assert (await world.admin.get(example.Lamp, "hall")).status.conditions == []
    (controller,) = running.controllers
    passes = len(controller.history.of(("default", "desk")))
    await world.admin.patch(ConfigMap, "desk-settings", {"metadata": {"labels": {"checked": "yes"}}})
    await settled(world, running)
    assert len(controller.history.of(("default", "desk"))) == passes
    await world.admin.patch(ConfigMap, "desk-settings", {"data": {"color": "green"}})
    await settled(world, running)
    assert (await world.admin.get(ConfigMap, "desk-settings")).data == {"color": "red"}
    await world.admin.patch(example.Lamp, "desk", {"spec": {"maker": "lumo", "color": "blue"}})
    await settled(world, running)
    assert (await world.admin.get(ConfigMap, "desk-settings")).data == {"color": "red"}


async def test_a_site_follows_a_secret_that_it_does_not_own(world: World, start: Start) -> None:
    example, running = await start("related_secrets", "Site")
    await world.admin.create(example.Site(metadata=named("shop"), spec=example.SiteSpec(password_from="door")))
    await settled(world, running)
    assert ready_of(await world.admin.get(example.Site, "shop"))[1:] == (
        "Waiting",
        "there is no Secret 'door' yet",
    )
    for _ in range(2):
        secret = await world.admin.apply(Secret(metadata=named("door"), string_data={"at": str(ambient.monotonic())}))
        await settled(world, running)
        site = await world.admin.get(example.Site, "shop")
        assert site.status.password_version == secret.metadata.resource_version


async def test_a_release_is_live_when_its_migration_has_succeeded(world: World, start: Start) -> None:
    example, running = await start("wait_for_a_job", "Release")
    release = example.Release(metadata=named("app"), spec=example.ReleaseSpec(version="1.2"))
    await world.admin.create(release)
    await settled(world, running)
    assert ready_of(await world.admin.get(example.Release, "app"))[2] == "migrating to 1.2"
    assert await names(world, ConfigMap) == []
    await world.admin.patch(Job, "app-to-1-2", {"status": {"succeeded": 1}}, subresource="status")
    await settled(world, running)
    assert (await world.admin.get(example.Release, "app")).status.live == "1.2"
    await world.admin.patch(example.Release, "app", {"spec": {"version": "1.3"}})
    await settled(world, running)
    await world.admin.patch(Job, "app-to-1-3", {"status": {"failed": 1}}, subresource="status")
    await settled(world, running)
    after = await world.admin.get(example.Release, "app")
    assert (after.status.live, ready_of(after)[1]) == ("1.2", "Fatal")


async def test_a_reservation_runs_out(world: World, start: Start) -> None:
    example, running = await start("come_back_later", "Reservation")
    spec = example.ReservationSpec(lasts=Duration(hours=72))
    await world.admin.create(example.Reservation(metadata=named("table"), spec=spec))
    await settled(world, running)
    assert not (await world.admin.get(example.Reservation, "table")).status.expired
    await ambient.sleep(71 * 3600)
    assert not (await world.admin.get(example.Reservation, "table")).status.expired
    await ambient.sleep(2 * 3600)
    assert (await world.admin.get(example.Reservation, "table")).status.expired


async def test_an_engine_says_what_is_wrong(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = tmp_path / "parts"
    monkeypatch.setenv("SPARE_PARTS", str(parts))
    example, running = await start("say_what_is_wrong", "Engine")
    await world.admin.create(example.Engine(metadata=named("v8"), spec=example.EngineSpec(version="9.9")))
    await settled(world, running)
    assert ready_of(await world.admin.get(example.Engine, "v8")) == (
        "False",
        "Fatal",
        "there is no version 9.9; there are 1.0, 2.0",
    )
    await world.admin.patch(example.Engine, "v8", {"spec": {"version": "2.0"}})
    await settled(world, running)
    assert ready_of(await world.admin.get(example.Engine, "v8"))[1:] == (
        "RuntimeError",
        f"no spare parts: {parts} is not there",
    )
    parts.touch()
    await ambient.sleep(600)
    assert ready_of(await world.admin.get(example.Engine, "v8"))[0] == "True"
    reasons = {each.reason for each in await world.admin.list(Event, namespace="default")}
    assert {"Fatal", "RuntimeError", "Upgraded"} <= reasons


async def test_a_guarded_namespace_lets_nothing_in(world: World, start: Start) -> None:
    _, running = await start("guard_namespaces")
    await world.admin.create(Namespace(metadata=ObjectMeta(name="vault", labels={"guarded": "yes"})))
    await settled(world, running)
    policy = await world.admin.get(NetworkPolicy, "nothing-comes-in", namespace="vault")
    assert policy.spec.policy_types == ["Ingress"]
    await world.admin.patch(Namespace, "vault", {"metadata": {"labels": {"guarded": None}}})
    await settled(world, running)
    assert not await world.admin.list(NetworkPolicy)


async def test_an_orchard_knows_how_many_of_its_trees_bear_fruit(world: World, start: Start) -> None:
    example, running = await start("several_kinds", "Tree", "Orchard")
    await world.admin.create(example.Orchard(metadata=named("hill"), spec=example.OrchardSpec(trees=3)))
    await settled(world, running)
    assert await names(world, ConfigMap) == ["hill-0", "hill-1", "hill-2"]
    assert ready_of(await world.admin.get(example.Orchard, "hill"))[2] == "3 of 3 trees bear fruit"


async def test_secrets_are_counted_unseen(world: World, start: Start) -> None:
    example, running = await start("count_secrets", "Census")
    await world.admin.create(example.Census(metadata=named("all")))
    for name, labels in {"a": {}, "b": {}, "release": {"owner": "helm"}}.items():
        secret = Secret(metadata=ObjectMeta(name=name, namespace="default", labels=labels), string_data={"x": "sesame"})
        await world.admin.create(secret)
    await settled(world, running)
    assert (await world.admin.get(example.Census, "all")).status.secrets == 2
    await world.admin.delete(Secret, "a")
    await settled(world, running)
    assert (await world.admin.get(example.Census, "all")).status.secrets == 1


async def test_a_flock_is_scaled(world: World, start: Start) -> None:
    example, running = await start("scale_it", "Flock")
    await world.admin.create(example.Flock(metadata=named("birds")))
    await settled(world, running)
    await world.admin.scale(example.Flock, "birds", 3)
    await settled(world, running)
    assert await names(world, Pod) == ["birds-0", "birds-1", "birds-2"]
    scale = await world.admin.get_scale(example.Flock, "birds")
    assert (scale.status.replicas, scale.status.selector) == (3, "flock=birds")
    assert len(await world.admin.list(Pod, labels=scale.status.selector)) == 3


async def test_one_replica_stands_by_until_the_other_stops(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    example: dict[str, Any] = runpy.run_path(str(EXAMPLES / "standing_by.py"))
    stops = {"first": asyncio.Event(), "second": asyncio.Event()}
    client = world.client()
    world.start(example["replica"](client, "first", stops["first"]))

    async def leader() -> str | None:
        return next((each.spec.holder_identity for each in await world.admin.list(Lease, namespace="default")), None)

    while await leader() != "first":
        await ambient.sleep(0.1)
    world.start(example["replica"](client, "second", stops["second"]))
    await ambient.sleep(60)
    assert await leader() == "first"
    words = capsys.readouterr().out
    assert "first says hello to default." in words
    assert "second" not in words
    stops["first"].set()
    while await leader() != "second":
        await ambient.sleep(0.1)
    await ambient.sleep(1)
    words = capsys.readouterr().out
    assert "first has stopped." in words
    assert "second says hello to default." in words


async def test_three_replicas_share_the_work(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    example: dict[str, Any] = runpy.run_path(str(EXAMPLES / "sharded_operator.py"))
    stops = {"ann": asyncio.Event(), "bob": asyncio.Event(), "eve": asyncio.Event()}
    for who, stop in stops.items():
        world.start(example["replica"](world.client(), who, stop))
    await ambient.sleep(30)
    capsys.readouterr()
    made = [f"space-{number}" for number in range(30)]
    for name in made:
        await world.admin.create(Namespace(metadata=ObjectMeta(name=name)))
    await ambient.sleep(1)
    said = [line.split(" looks after ") for line in capsys.readouterr().out.splitlines()]
    assert {who for who, _ in said} == stops.keys()
    caretakers = {name: {who for who, whom in said if whom == f"{name}."} for name in made}
    assert all(len(each) == 1 for each in caretakers.values()), caretakers
    stops["ann"].set()
    await ambient.sleep(5)
    words = capsys.readouterr().out
    assert "ann has stopped." in words
    assert all(f"looks after {name}." in words for name, each in caretakers.items() if each == {"ann"})


async def test_of_every_kind_it_is_told_what_is_deleted_and_does_not_go(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    example: dict[str, Any] = runpy.run_path(str(EXAMPLES / "stuck_deletions.py"))
    world.start(example["StuckDeletions"](world.client()).run())
    held = ObjectMeta(name="colors", namespace="default", finalizers=["example.com/paint"])
    await world.admin.create(ConfigMap(metadata=held))
    await world.admin.create(Secret(metadata=named("quick")))
    await ambient.sleep(20)
    await world.admin.delete(ConfigMap, "colors")
    await world.admin.delete(Secret, "quick")
    await ambient.sleep(20)
    words = "it is deleted, and waits for example.com/paint"
    assert capsys.readouterr().out.splitlines()[1:] == [f"configmaps default/colors: {words}"]
    await ambient.sleep(60)
    [event] = [each for each in await world.admin.list(Event) if each.reason == "StuckDeletion"]
    assert (event.message, event.involved_object.name, event.count) == (words, "colors", 2)
