"""Writes against a store in memory: what happens when several meet, and what a dry run leaves behind."""

import asyncio
from collections.abc import AsyncIterator
from ipaddress import IPv4Network
from typing import Any

import msgspec
import pytest

from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from windvane.cluster.apiserver.admission.priority import Priority
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.pipeline.deletion import Deletion
from windvane.cluster.apiserver.pipeline.draft import Written
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.service_addresses import NETWORK, ServiceAddresses
from windvane.cluster.apiserver.registry.storage_codec import key_of
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

Wire = dict[str, Any]
MANY = 50


class World:
    """One namespace, and who writes to it."""

    def __init__(self) -> None:
        self.store = Store.open()
        self.catalog = Catalog()
        self.catalog.add(builtin_types())
        addresses = ServiceAddresses(self.store, IPv4Network(NETWORK))
        conversions = Conversions(Caller(self.store))
        self.writer = Writer(self.store, addresses, FieldManager(self.catalog), conversions)

    def at(self, plural: str, name: str = "", group: str = "", namespace: str = "ns") -> Target:
        type_ = self.catalog.types[group, "v1", plural]
        return Target(type_, namespace if type_.kind.namespaced else "", name)

    async def create(self, plural: str, wire: Wire, group: str = "", namespace: str = "ns") -> Wire:
        target = self.at(plural, group=group, namespace=namespace)
        return shown(await self.writer.create(target, wire, admission=self.admission(target)))

    def admission(self, target: Target) -> Admission:
        return Admission(
            chain=Chain([NamespaceLifecycle(self.store), Priority(self.store)]),
            target=target,
            user=User("me"),
            guard=lambda *_: None,
            check_create=lambda: None,
            options={"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        )

    def get(self, target: Target) -> Wire | None:
        entry = self.store.get(key_of(target.type, target.namespace, target.name))
        return msgspec.json.decode(entry.value) if entry else None


def shown(written: Written) -> Wire:
    wire: Wire = msgspec.json.decode(written.value)
    return wire


def named(name: str, **rest: Any) -> Wire:
    return {"metadata": {"name": name, **rest.pop("metadata", {})}, **rest}


def pod(name: str = "p", **spec: Any) -> Wire:
    return named(name, spec={"containers": [{"name": "main", "image": "nginx"}], **spec})


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    await world.create("namespaces", named("ns"))
    yield world
    await world.store.close()


async def test_writers_that_meet_all_get_through_if_none_names_a_version(world: World) -> None:
    await world.create("configmaps", named("a"))
    target = world.at("configmaps", "a")

    async def note(number: int) -> None:
        def change(wire: Wire) -> Wire:
            wire.setdefault("data", {})[str(number)] = "x"
            return wire

        await world.writer.modify(target, change)

    await asyncio.gather(*(note(number) for number in range(MANY)))
    found = world.get(target)
    assert found is not None
    assert len(found["data"]) == MANY


async def test_of_writers_that_name_one_version_one_gets_through(world: World) -> None:
    made = await world.create("configmaps", named("a"))
    target = world.at("configmaps", "a")

    stated = {"resourceVersion": made["metadata"]["resourceVersion"]}
    puts = [named("a", metadata=stated, data={"k": str(number)}) for number in range(MANY)]
    written = await asyncio.gather(*(world.writer.update(target, each) for each in puts), return_exceptions=True)
    refusals = [each for each in written if isinstance(each, Failure)]
    assert len(refusals) == MANY - 1
    assert {each.status.reason for each in refusals} == {"Conflict"}


async def test_of_creators_that_meet_one_gets_through(world: World) -> None:
    made = await asyncio.gather(*(world.create("configmaps", named("a")) for _ in range(MANY)), return_exceptions=True)
    refusals = [each for each in made if isinstance(each, Failure)]
    assert len(refusals) == MANY - 1
    assert {each.status.reason for each in refusals} == {"AlreadyExists"}


async def test_updates_that_may_create_meet(world: World) -> None:
    target = world.at("endpoints", "e")
    written = await asyncio.gather(*(world.writer.update(target, named("e")) for _ in range(MANY)))
    assert [each.made for each in written].count(True) == 1


async def test_of_deleters_that_meet_one_finds_the_object(world: World) -> None:
    await world.create("configmaps", named("a"))
    target = world.at("configmaps", "a")
    gone = await asyncio.gather(*(world.writer.delete(target, Deletion()) for _ in range(MANY)), return_exceptions=True)
    assert [isinstance(each, Written) for each in gone].count(True) == 1


async def test_a_deletion_of_a_version_loses_to_a_change(world: World) -> None:
    made = await world.create("configmaps", named("a"))
    target = world.at("configmaps", "a")

    def change(wire: Wire) -> Wire:
        return {**wire, "data": {"k": "v"}}

    how = Deletion(resource_version=made["metadata"]["resourceVersion"])
    _, refused = await asyncio.gather(
        world.writer.modify(target, change), world.writer.delete(target, how), return_exceptions=True
    )
    assert isinstance(refused, Failure)
    assert refused.status.reason == "Conflict"
    assert world.get(target) is not None


async def test_services_that_meet_get_addresses_and_ports_of_their_own(world: World) -> None:
    services = [named(f"s{number}", spec={"type": "NodePort", "ports": [{"port": 80}]}) for number in range(MANY)]
    made = await asyncio.gather(*(world.create("services", each) for each in services))
    assert len({each["spec"]["clusterIP"] for each in made}) == MANY
    assert len({each["spec"]["ports"][0]["nodePort"] for each in made}) == MANY


async def test_of_services_that_ask_for_one_node_port_one_gets_it(world: World) -> None:
    port = {"port": 80, "nodePort": 30123}
    services = [named(f"s{number}", spec={"type": "NodePort", "ports": [port]}) for number in range(3)]
    made = await asyncio.gather(*(world.create("services", each) for each in services), return_exceptions=True)
    assert [isinstance(each, Failure) for each in made] == [False, True, True]


async def test_a_dry_run_changes_nothing(world: World) -> None:
    await world.create("configmaps", named("a", data={"k": "v"}))
    revision, target = world.store.revision, world.at("configmaps", "a")
    await world.writer.create(world.at("configmaps"), named("b"), dry_run=True)
    await world.writer.modify(target, lambda wire: {**wire, "data": {}}, dry_run=True)
    await world.writer.delete(target, Deletion(dry_run=True))
    await world.writer.update(world.at("endpoints", "e"), named("e"), dry_run=True)
    assert world.store.revision == revision


async def test_a_dry_run_is_refused_as_a_real_one_is(world: World) -> None:
    await world.create("configmaps", named("a"))
    for name, reason in (("a", "AlreadyExists"), ("BAD", "Invalid")):
        with pytest.raises(Failure) as refused:
            await world.writer.create(world.at("configmaps"), named(name), dry_run=True)
        assert refused.value.status.reason == reason


async def test_a_change_that_changes_nothing_makes_no_version(world: World) -> None:
    made = await world.create("configmaps", named("a", data={"k": "v"}))
    written = await world.writer.modify(world.at("configmaps", "a"), lambda wire: wire)
    assert shown(written)["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_an_object_goes_with_its_last_finalizer(world: World) -> None:
    await world.create("configmaps", named("a", metadata={"finalizers": ["a.example/x"]}))
    target = world.at("configmaps", "a")
    assert not (await world.writer.delete(target, Deletion())).gone

    def release(wire: Wire) -> Wire:
        del wire["metadata"]["finalizers"]
        return wire

    assert (await world.writer.modify(target, release)).gone
    assert world.get(target) is None


async def test_a_pod_that_is_given_time_outlives_changes(world: World) -> None:
    await world.create("pods", pod(nodeName="n1"))
    target = world.at("pods", "p")
    await world.writer.delete(target, Deletion())

    def label(wire: Wire) -> Wire:
        wire["metadata"]["labels"] = {"a": "b"}
        return wire

    assert not (await world.writer.modify(target, label)).gone
    assert world.get(target) is not None


async def test_watchers_see_a_pod_marked_before_it_is_gone(world: World) -> None:
    await world.create("pods", pod(nodeName="n1"))
    watch = world.store.watch("/pods", world.store.revision)
    await world.writer.delete(world.at("pods", "p"), Deletion(grace=0))
    marked, gone = await anext(watch), await anext(watch)
    assert (marked.deleted, gone.deleted) == (False, True)
    assert msgspec.json.decode(marked.value)["metadata"]["deletionGracePeriodSeconds"] == 0


async def test_a_namespace_ends_in_two_steps(world: World) -> None:
    target = world.at("namespaces", "ns")
    marked = await world.writer.delete(target, Deletion())
    assert (marked.gone, shown(marked)["status"]["phase"]) == (False, "Terminating")
    with pytest.raises(Failure, match="because it is being terminated"):
        await world.create("configmaps", named("late"))
    ended = await world.writer.modify(
        Target(target.type, "", "ns", "finalize"), lambda wire: {**wire, "spec": {"finalizers": []}}
    )
    assert ended.gone


async def test_the_namespace_is_looked_for_before_the_object_is_looked_at(world: World) -> None:
    with pytest.raises(Failure, match='namespaces "nowhere" not found'):
        await world.create("configmaps", named("BAD"), namespace="nowhere")


async def test_a_label_whose_text_speaks_of_deletion_is_no_deletion(world: World) -> None:
    def annotate(wire: Wire) -> Wire:
        wire["metadata"]["annotations"] = {"deletionTimestamp": "never"}
        return wire

    await world.writer.modify(world.at("namespaces", "ns"), annotate)
    assert await world.create("configmaps", named("a"))


async def test_admission_comes_before_validation(world: World) -> None:
    with pytest.raises(Failure, match="no PriorityClass with name nope was found"):
        await world.create("pods", pod(priorityClassName="nope", restartPolicy="Sometimes"))
