"""Whoever is in the chain is asked about every write, at the right moment, and may change it or say no."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Network
from typing import Any

import msgspec
import pytest

from windvane import ambient
from windvane.api.json_value import json_copy
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.admission.chain import Chain
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.apiserver.managedfields.field_manager import FieldManager
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.pipeline.deletion import Deletion
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.service_addresses import NETWORK, ServiceAddresses
from windvane.cluster.apiserver.registry.storage_codec import key_of
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

Wire = dict[str, Any]


class Judge(AdmissionPlugin):
    """Notes what it is asked, puts a label on what it may change, and refuses what is labelled `bad`."""

    name = "ValidatingAdmissionWebhook"

    def __init__(self) -> None:
        self.asked: list[tuple[str, AdmissionRequest]] = []
        self.meanwhile: list[Any] = []
        """Done, one each, while somebody waits for the judgement of a change."""

    def handles(self, request: AdmissionRequest) -> bool:
        return request.type.kind.resource in ("configmaps", "services", "deployments.apps", "pods")

    async def mutate(self, request: AdmissionRequest) -> None:
        self._note("mutate", request)
        if request.object is not None and "metadata" in request.object and not request.subresource:
            metadata = request.object["metadata"]
            labels = {**metadata.get("labels", {}), "seen": "yes"}
            request.object = {**request.object, "metadata": {**metadata, "labels": labels}}

    async def validate(self, request: AdmissionRequest) -> None:
        self._note("validate", request)
        if self.meanwhile:
            await self.meanwhile.pop(0)
        judged: Wire = request.object or request.old or {}
        if "bad" in judged["metadata"].get("labels", {}):
            raise forbidden(request.type.kind, request.name, "it is bad")

    def _note(self, word: str, request: AdmissionRequest) -> None:
        self.asked.append((word, replace(request, object=json_copy(request.object), old=json_copy(request.old))))

    @property
    def words(self) -> list[str]:
        return [f"{word} {request.operation}" for word, request in self.asked]


class World:
    """A store in memory with one namespace, in which every write is put to the judge."""

    def __init__(self) -> None:
        self.store = Store.open()
        self.catalog = Catalog()
        self.catalog.add(builtin_types())
        addresses = ServiceAddresses(self.store, IPv4Network(NETWORK))
        conversions = Conversions(Caller(self.store))
        self.writer = Writer(self.store, addresses, FieldManager(self.catalog), conversions)
        self.judge = Judge()

    def at(self, plural: str, name: str = "", group: str = "") -> Target:
        type_ = self.catalog.types[group, "v1", plural]
        return Target(type_, "ns" if type_.kind.namespaced else "", name)

    def admission(self, target: Target, **rest: Any) -> Admission:
        options = {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}
        chain, me = Chain([self.judge]), User("me")
        return Admission(
            target=target,
            chain=chain,
            user=me,
            guard=lambda *_: None,
            check_create=lambda: None,
            options=options,
            **rest,
        )

    async def create(self, plural: str, wire: Wire, **rest: Any) -> Wire:
        target = self.at(plural)
        written = await self.writer.create(target, wire, admission=self.admission(target, **rest), **rest)
        made: Wire = msgspec.json.decode(written.value)
        return made

    def get(self, target: Target) -> Wire | None:
        entry = self.store.get(key_of(target.type, target.namespace, target.name))
        return msgspec.json.decode(entry.value) if entry else None


def config(name: str = "a", **labels: str) -> Wire:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    await world.writer.create(world.at("namespaces"), {"metadata": {"name": "ns"}})
    yield world
    await world.store.close()


async def test_a_new_object_is_changed_first_and_judged_as_it_will_be(world: World) -> None:
    made = await world.create("configmaps", config())
    assert made["metadata"]["labels"] == {"seen": "yes"}
    (_, first), (_, last) = world.judge.asked
    assert world.judge.words == ["mutate CREATE", "validate CREATE"]
    assert first.object is not None
    assert "uid" not in first.object["metadata"]
    assert last.object is not None
    assert last.object["metadata"]["uid"] == made["metadata"]["uid"]


async def test_what_is_refused_is_not_stored(world: World) -> None:
    with pytest.raises(Failure, match="it is bad"):
        await world.create("configmaps", config(bad="very"))
    assert world.get(world.at("configmaps", "a")) is None


async def test_a_change_is_judged_beside_what_was_there(world: World) -> None:
    await world.create("configmaps", config())
    target = world.at("configmaps", "a")
    await world.writer.modify(target, lambda wire: {**wire, "data": {"k": "v"}}, admission=world.admission(target))
    word, last = world.judge.asked[-1]
    assert (word, last.operation) == ("validate", "UPDATE")
    assert last.object is not None
    assert last.object["data"] == {"k": "v"}
    assert last.old is not None
    assert "data" not in last.old


async def test_a_change_that_others_overtook_meanwhile_is_judged_again(world: World) -> None:
    await world.create("configmaps", config())
    target = world.at("configmaps", "a")
    overtaking = world.writer.modify(target, lambda wire: {**wire, "data": {"theirs": "1"}})
    world.judge.meanwhile = [overtaking]

    def mine(wire: Wire) -> Wire:
        wire.setdefault("data", {})["mine"] = "1"
        return wire

    await world.writer.modify(target, mine, admission=world.admission(target))
    stored = world.get(target)
    assert stored is not None
    assert stored["data"] == {"mine": "1", "theirs": "1"}
    assert world.judge.words[2:] == ["mutate UPDATE", "validate UPDATE"] * 2
    assert world.judge.asked[-1][1].object is not None
    assert world.judge.asked[-1][1].object["data"] == {"mine": "1", "theirs": "1"}


async def test_what_is_deleted_is_judged_as_it_was(world: World) -> None:
    target = world.at("configmaps", "a")
    await world.writer.create(target, config(bad="very"))
    with pytest.raises(Failure, match="it is bad"):
        await world.writer.delete(target, Deletion(), admission=world.admission(target))
    assert world.get(target) is not None
    word, last = world.judge.asked[-1]
    assert (word, last.operation, last.object) == ("validate", "DELETE", None)


async def test_who_scales_is_judged_by_the_scale(world: World) -> None:
    target = world.at("deployments", "web", "apps")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    await world.writer.create(target, {"metadata": {"name": "web"}, "spec": spec})

    def three(scale: Wire, _: Wire) -> Wire:
        return {**scale, "spec": {"replicas": 3}}

    admission = world.admission(Target(target.type, "ns", "web", "scale"))
    await world.writer.scale(target, three, admission=admission)
    for _, request in world.judge.asked:
        assert request.object is not None
        assert request.object["kind"] == "Scale"
        assert request.old is not None
        assert request.old["spec"] == {"replicas": 1}


async def test_nobody_gets_an_address_that_was_taken_while_others_were_asked(world: World) -> None:
    def service(name: str) -> Wire:
        return {"metadata": {"name": name}, "spec": {"ports": [{"port": 1}], "clusterIP": "10.0.3.3"}}

    other = world.writer.create(world.at("services"), service("faster"))
    world.judge.meanwhile = [other]
    with pytest.raises(Failure, match="provided IP is already allocated"):
        await world.create("services", service("slower"))


async def test_two_that_are_asked_about_at_once_get_two_addresses(world: World) -> None:
    def service(name: str) -> Wire:
        return {"metadata": {"name": name}, "spec": {"ports": [{"port": 1}]}}

    world.judge.meanwhile = [ambient.sleep(0), ambient.sleep(0)]
    one, two = await asyncio.gather(world.create("services", service("a")), world.create("services", service("b")))
    assert one["spec"]["clusterIP"] != two["spec"]["clusterIP"]


async def test_a_dry_run_is_judged_as_well(world: World) -> None:
    with pytest.raises(Failure, match="it is bad"):
        await world.create("configmaps", config(bad="very"), dry_run=True)


async def test_kinds_that_nobody_cares_about_are_not_put_to_anybody(world: World) -> None:
    await world.create("secrets", {"metadata": {"name": "s"}})
    assert world.judge.asked == []


def test_an_update_that_creates_has_the_options_of_a_creation() -> None:
    type_ = next(each for each in builtin_types() if each.kind.resource == "configmaps")
    options = {"kind": "PatchOptions", "apiVersion": "meta.k8s.io/v1", "force": True, "fieldManager": "me"}
    admission = Admission(
        chain=Chain(),
        target=Target(type_, "ns", "a"),
        user=User("me"),
        guard=lambda *_: None,
        check_create=lambda: None,
        options=options,
    )
    assert admission._options("CREATE") == {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "fieldManager": "me",
    }


async def test_who_connects_does_so_as_those_say_who_are_asked(world: World) -> None:
    class Listing(Judge):
        async def mutate(self, request: AdmissionRequest) -> None:
            request.object = {**(request.object or {}), "command": ["ls"]}

        async def validate(self, request: AdmissionRequest) -> None:
            self._note("validate", request)

    world.judge = Listing()
    target = replace(world.at("pods", "p"), subresource="exec")
    asked = {"kind": "PodExecOptions", "apiVersion": "v1", "command": ["rm"]}
    assert await world.admission(target).connect(asked) == {**asked, "command": ["ls"]}
    assert [request.object for _, request in world.judge.asked] == [{**asked, "command": ["ls"]}]
    assert await world.admission(world.at("nodes", "n")).connect(asked) == asked


async def test_who_writes_to_one_name_never_changes_the_object_of_another(world: World) -> None:
    class Renaming(Judge):
        async def mutate(self, request: AdmissionRequest) -> None:
            if request.object is not None:
                request.object = {**request.object, "metadata": {**request.object["metadata"], "name": "taken"}}

    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}]}}
    world.judge = Renaming()
    for plural, wire in (("configmaps", config()), ("services", service)):
        await world.create(plural, json_copy(wire))
        before, at = world.get(world.at(plural, "taken")), world.at(plural, "a")
        assert before is not None
        with pytest.raises(Failure, match=f'{plural} "taken" already exists'):
            await world.writer.apply(at, partial(_stated, wire), admission=world.admission(at))
        assert world.get(world.at(plural, "taken")) == before
    with pytest.raises(Failure, match='services "taken" already exists'):
        await world.writer.update(at, service, admission=world.admission(at))


def _stated(wire: Wire, _: Wire | None) -> Wire:
    stated: Wire = json_copy(wire)
    return stated
