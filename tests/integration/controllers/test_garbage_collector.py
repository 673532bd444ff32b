"""Garbage collection: what becomes of objects whose owners go, in the background, in the foreground, or orphaned."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.runtime.world import World
from windvane import Kind, ambient, dynamic
from windvane.api.meta import ObjectMeta, OwnerReference
from windvane.api.resource import Object
from windvane.api.status import APIStatus
from windvane.client.client import Propagation
from windvane.client.errors import NotFound
from windvane.cluster.controllers.garbage_collector.controller import GarbageCollector
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.core import ConfigMap, Event, Namespace, Secret

Widget = dynamic(Kind(group="example.com", version="v1", name="Widget", plural="widgets"))
Board = dynamic(Kind(group="example.com", version="v1", name="Board", plural="boards", namespaced=False))


def crd(name: str, plural: str, *, scope: str = "Namespaced", versions: Sequence[str] = ("v1",)) -> Any:
    definition = dynamic(
        Kind(
            group="apiextensions.k8s.io",
            version="v1",
            name="CustomResourceDefinition",
            plural="customresourcedefinitions",
            namespaced=False,
        )
    )
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    spec = {
        "group": "example.com",
        "scope": scope,
        "names": {"kind": name, "plural": plural, "singular": name.lower(), "listKind": f"{name}List"},
        "versions": [
            {"name": each, "served": True, "storage": each == versions[0], "schema": schema} for each in versions
        ],
    }
    return definition(metadata=ObjectMeta(name=f"{plural}.example.com"), content={"spec": spec})


def belongs_to(owner: Object, *, blocks: bool = False) -> OwnerReference:
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        block_owner_deletion=blocks or None,
    )


def nobody(name: str = "gone", *, kind: str = "ConfigMap", api_version: str = "v1") -> OwnerReference:
    """A reference to an owner that is not there."""
    return OwnerReference(api_version=api_version, kind=kind, name=name, uid=ambient.uid())


def config_map(
    name: str, *owners: OwnerReference, namespace: str = "default", finalizers: Sequence[str] = ()
) -> ConfigMap:
    metadata = ObjectMeta(name=name, namespace=namespace, owner_references=[*owners], finalizers=[*finalizers])
    return ConfigMap(metadata=metadata)


async def make(cluster: Cluster, name: str, *owners: OwnerReference, **more: Any) -> ConfigMap:
    return await cluster.admin.create(config_map(name, *owners, **more))


async def delete(cluster: Cluster, thing: Object, propagation: Propagation = "Background") -> None:
    meta = thing.metadata
    await cluster.admin.delete(type(thing), meta.name, namespace=meta.namespace, propagation=propagation)
    await cluster.settled()


async def is_there(cluster: World, thing: Object) -> bool:
    try:
        there = await cluster.admin.get(type(thing), thing.metadata.name, namespace=thing.metadata.namespace)
    except NotFound:
        return False
    return there.metadata.uid == thing.metadata.uid


async def reread(cluster: Cluster, thing: ConfigMap) -> ConfigMap:
    return await cluster.admin.get(ConfigMap, thing.metadata.name, namespace=thing.metadata.namespace)


async def finalize(cluster: Cluster, thing: Object) -> None:
    """Play whoever put a finalizer there, and is done."""
    meta = thing.metadata
    patch = [{"op": "remove", "path": "/metadata/finalizers/0"}]
    await cluster.admin.patch(type(thing), meta.name, patch, type="json", namespace=meta.namespace)
    await cluster.settled()


# In the background


async def test_what_an_object_owns_goes_after_it(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    await delete(cluster, owner)
    assert not await is_there(cluster, child)


async def test_grandchildren_go_as_well(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    grandchild = await make(cluster, "grandchild", belongs_to(child))
    await delete(cluster, owner)
    assert not await is_there(cluster, grandchild)


async def test_nothing_goes_while_its_owner_is_there(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    await cluster.settled()
    assert await is_there(cluster, child)


async def test_children_of_another_kind_go_as_well(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    metadata = ObjectMeta(name="child", namespace="default", owner_references=[belongs_to(owner)])
    child = await cluster.admin.create(Secret(metadata=metadata))
    await delete(cluster, owner)
    assert not await is_there(cluster, child)


async def test_a_child_of_somebody_who_never_was_goes(cluster: Cluster) -> None:
    child = await make(cluster, "child", nobody())
    await cluster.settled()
    assert not await is_there(cluster, child)


async def test_a_child_whose_owner_was_replaced_by_another_of_that_name_goes(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    stale = belongs_to(owner)
    await delete(cluster, owner)
    another = await make(cluster, "owner")
    child = await make(cluster, "child", stale)
    await cluster.settled()
    assert not await is_there(cluster, child)
    assert await is_there(cluster, another)


async def test_an_owner_that_is_being_deleted_is_still_an_owner(cluster: Cluster) -> None:
    owner = await make(cluster, "owner", finalizers=["example.com/wait"])
    child = await make(cluster, "child", belongs_to(owner))
    await delete(cluster, owner)
    assert await is_there(cluster, child)
    await finalize(cluster, owner)
    assert not await is_there(cluster, child)


async def test_a_thousand_children_go(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    for number in range(1000):
        await make(cluster, f"child-{number}", belongs_to(owner))
    await delete(cluster, owner)
    assert [each for each in await cluster.list(ConfigMap) if each.metadata.name.startswith("child")] == []


async def test_a_cluster_wide_owner_has_children_in_namespaces(cluster: Cluster) -> None:
    await cluster.admin.create(crd("Board", "boards", scope="Cluster"))
    await cluster.settled()
    owner = await cluster.admin.create(Board(metadata=ObjectMeta(name="owner")))
    child = await make(cluster, "child", belongs_to(owner))
    await cluster.settled()
    assert await is_there(cluster, child)
    await delete(cluster, owner)
    assert not await is_there(cluster, child)


async def test_objects_without_owners_stay(cluster: Cluster) -> None:
    before = {each.metadata.uid for each in await cluster.admin.list(ConfigMap)}
    alone = await make(cluster, "alone")
    await delete(cluster, await make(cluster, "other"))
    assert await is_there(cluster, alone)
    assert before <= {each.metadata.uid for each in await cluster.admin.list(ConfigMap)}


# Several owners


async def test_one_owner_of_two_is_enough(cluster: Cluster) -> None:
    one, other = await make(cluster, "one"), await make(cluster, "other")
    child = await make(cluster, "child", belongs_to(one), belongs_to(other))
    await delete(cluster, one)
    assert await is_there(cluster, child)


async def test_a_reference_to_an_owner_that_is_gone_is_removed(cluster: Cluster) -> None:
    one, other = await make(cluster, "one"), await make(cluster, "other")
    child = await make(cluster, "child", belongs_to(one), belongs_to(other))
    await delete(cluster, one)
    assert [each.name for each in (await reread(cluster, child)).metadata.owner_references] == ["other"]


async def test_when_the_last_owner_goes_its_child_does(cluster: Cluster) -> None:
    one, other = await make(cluster, "one"), await make(cluster, "other")
    child = await make(cluster, "child", belongs_to(one), belongs_to(other))
    await delete(cluster, one)
    await delete(cluster, other)
    assert not await is_there(cluster, child)


async def test_an_owner_of_a_kind_that_nobody_knows_keeps_its_child(cluster: Cluster) -> None:
    child = await make(cluster, "child", nobody(kind="Gadget", api_version="example.com/v1"))
    await cluster.settled()
    assert await is_there(cluster, child)


async def test_beside_an_owner_that_nobody_knows_nothing_is_changed(cluster: Cluster) -> None:
    child = await make(cluster, "child", nobody(), nobody(kind="Gadget", api_version="example.com/v1"))
    await cluster.settled()
    assert len((await reread(cluster, child)).metadata.owner_references) == 2


# In the foreground


async def test_in_the_foreground_the_owner_waits_for_a_child_that_blocks(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner, blocks=True), finalizers=["example.com/wait"])
    await delete(cluster, owner, "Foreground")
    assert (await reread(cluster, child)).metadata.deletion_timestamp
    assert await is_there(cluster, owner)
    await finalize(cluster, child)
    assert not await is_there(cluster, owner)


async def test_in_the_foreground_the_owner_does_not_wait_for_a_child_that_does_not_block(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner), finalizers=["example.com/wait"])
    await delete(cluster, owner, "Foreground")
    assert not await is_there(cluster, owner)
    assert (await reread(cluster, child)).metadata.deletion_timestamp


async def test_in_the_foreground_an_owner_without_children_goes_at_once(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    await delete(cluster, owner, "Foreground")
    assert not await is_there(cluster, owner)


async def test_in_the_foreground_the_leaves_go_first(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner, blocks=True))
    leaf = await make(cluster, "leaf", belongs_to(child, blocks=True), finalizers=["example.com/wait"])
    await delete(cluster, owner, "Foreground")
    assert "foregroundDeletion" in (await reread(cluster, child)).metadata.finalizers
    assert await is_there(cluster, owner)
    await finalize(cluster, leaf)
    assert [await is_there(cluster, each) for each in (leaf, child, owner)] == [False, False, False]


async def test_a_child_with_another_owner_survives_and_no_longer_holds_back_the_one_that_goes(cluster: Cluster) -> None:
    one, other = await make(cluster, "one"), await make(cluster, "other")
    child = await make(cluster, "child", belongs_to(one, blocks=True), belongs_to(other))
    await delete(cluster, one, "Foreground")
    assert not await is_there(cluster, one)
    assert [each.name for each in (await reread(cluster, child)).metadata.owner_references] == ["other"]


async def test_a_child_that_stops_blocking_lets_its_owner_go(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner, blocks=True), finalizers=["example.com/wait"])
    await delete(cluster, owner, "Foreground")
    assert await is_there(cluster, owner)
    patch = [{"op": "replace", "path": "/metadata/ownerReferences/0/blockOwnerDeletion", "value": False}]
    await cluster.admin.patch(ConfigMap, "child", patch, type="json")
    await cluster.settled()
    assert not await is_there(cluster, owner)
    assert await is_there(cluster, child)


async def test_a_child_that_comes_while_its_owner_waits_goes_with_it(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    await make(cluster, "slow", belongs_to(owner, blocks=True), finalizers=["example.com/wait"])
    await delete(cluster, owner, "Foreground")
    late = await make(cluster, "late", belongs_to(owner, blocks=True))
    await cluster.settled()
    assert not await is_there(cluster, late)


async def test_a_childs_own_foreground_finalizer_is_honoured(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner), finalizers=["foregroundDeletion"])
    leaf = await make(cluster, "leaf", belongs_to(child, blocks=True), finalizers=["example.com/wait"])
    await delete(cluster, owner)
    assert await is_there(cluster, child)
    await finalize(cluster, leaf)
    assert not await is_there(cluster, child)


# Orphans


async def test_orphans_survive_without_their_reference(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    await delete(cluster, owner, "Orphan")
    assert not await is_there(cluster, owner)
    assert (await reread(cluster, child)).metadata.owner_references == []


async def test_orphans_keep_their_other_owners(cluster: Cluster) -> None:
    one, other = await make(cluster, "one"), await make(cluster, "other")
    child = await make(cluster, "child", belongs_to(one), belongs_to(other))
    await delete(cluster, one, "Orphan")
    assert [each.name for each in (await reread(cluster, child)).metadata.owner_references] == ["other"]


async def test_what_orphans_own_stays_theirs(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    grandchild = await make(cluster, "grandchild", belongs_to(child))
    await delete(cluster, owner, "Orphan")
    assert [each.name for each in (await reread(cluster, grandchild)).metadata.owner_references] == ["child"]


async def test_other_finalizers_stay_when_orphaning_is_done(cluster: Cluster) -> None:
    owner = await make(cluster, "owner", finalizers=["example.com/wait"])
    await make(cluster, "child", belongs_to(owner))
    await delete(cluster, owner, "Orphan")
    assert (await reread(cluster, owner)).metadata.finalizers == ["example.com/wait"]


async def test_a_childs_own_orphan_finalizer_is_honoured(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner), finalizers=["orphan"])
    grandchild = await make(cluster, "grandchild", belongs_to(child))
    await delete(cluster, owner)
    assert not await is_there(cluster, child)
    assert (await reread(cluster, grandchild)).metadata.owner_references == []


# Circles


async def circle(cluster: Cluster, size: int, *, blocks: bool = True) -> list[ConfigMap]:
    """Each belongs to the one before it, and the first to the last."""
    made = [await make(cluster, f"part-{number}") for number in range(size)]
    for number, part in enumerate(made):
        owner = belongs_to(made[number - 1], blocks=blocks)
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner.name,
            "uid": owner.uid,
            "blockOwnerDeletion": blocks,
        }
        patch = {"metadata": {"ownerReferences": [reference]}}
        await cluster.admin.patch(ConfigMap, part.metadata.name, patch)
    await cluster.settled()
    return made


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_a_circle_of_owners_goes_when_one_of_them_does(
    cluster: Cluster, size: int, propagation: Propagation
) -> None:
    parts = await circle(cluster, size)
    assert [await is_there(cluster, each) for each in parts] == [True] * size
    await delete(cluster, parts[0], propagation)
    assert [await is_there(cluster, each) for each in parts] == [False] * size


async def test_a_circle_goes_when_all_of_it_is_deleted_in_the_foreground_at_once(cluster: Cluster) -> None:
    parts = await circle(cluster, 3)
    for each in parts:
        await cluster.admin.delete(ConfigMap, each.metadata.name, propagation="Foreground")
    await cluster.settled()
    assert [await is_there(cluster, each) for each in parts] == [False] * 3


async def test_in_a_circle_an_owner_still_waits_for_children_outside_of_it(cluster: Cluster) -> None:
    parts = await circle(cluster, 2)
    outside = await make(cluster, "outside", belongs_to(parts[0], blocks=True), finalizers=["example.com/wait"])
    await delete(cluster, parts[0], "Foreground")
    assert await is_there(cluster, parts[0])
    await finalize(cluster, outside)
    assert [await is_there(cluster, each) for each in parts] == [False] * 2


# Wrong references


async def test_a_child_of_an_owner_in_another_namespace_goes_and_an_event_says_why(cluster: Cluster) -> None:
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
    owner = await make(cluster, "owner", namespace="elsewhere")
    child = await make(cluster, "child", belongs_to(owner))
    await cluster.settled()
    assert not await is_there(cluster, child)
    assert await is_there(cluster, owner)
    (event,) = [each for each in await cluster.list(Event) if each.reason == "OwnerRefInvalidNamespace"]
    assert (event.type, event.involved_object.name) == ("Warning", "child")
    assert event.message == (
        f"ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {owner.metadata.uid}] does not exist in "
        'namespace "default"'
    )


async def test_a_child_with_a_good_owner_loses_only_its_reference_into_another_namespace(cluster: Cluster) -> None:
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
    good, bad = await make(cluster, "good"), await make(cluster, "bad", namespace="elsewhere")
    child = await make(cluster, "child", belongs_to(good), belongs_to(bad))
    await cluster.settled()
    assert [each.name for each in (await reread(cluster, child)).metadata.owner_references] == ["good"]


async def test_children_with_a_wrong_and_with_a_right_reference_to_one_owner_are_told_apart(cluster: Cluster) -> None:
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="elsewhere")))
    owner = await make(cluster, "owner", namespace="elsewhere")
    wrong = await make(cluster, "child", belongs_to(owner))
    right = await make(cluster, "child", belongs_to(owner), namespace="elsewhere")
    await cluster.settled()
    assert (await is_there(cluster, wrong), await is_there(cluster, right)) == (False, True)


async def test_a_reference_with_another_name_is_to_nobody(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    reference = belongs_to(owner)
    reference.name = "misspelt"
    child = await make(cluster, "child", reference)
    await cluster.settled()
    assert not await is_there(cluster, child)


async def test_a_cluster_wide_child_of_an_owner_in_a_namespace_is_left_alone(cluster: Cluster) -> None:
    await cluster.admin.create(crd("Board", "boards", scope="Cluster"))
    await cluster.settled()
    child = await cluster.admin.create(Board(metadata=ObjectMeta(name="child", owner_references=[nobody()])))
    await cluster.settled()
    assert await is_there(cluster, child)


# Kinds that come and go


async def test_objects_of_a_kind_that_came_later_are_collected(cluster: Cluster) -> None:
    await cluster.admin.create(crd("Widget", "widgets"))
    await cluster.settled()
    owner = await make(cluster, "owner")
    metadata = ObjectMeta(name="child", namespace="default", owner_references=[belongs_to(owner)])
    child = await cluster.admin.create(Widget(metadata=metadata))
    await delete(cluster, owner)
    assert not await is_there(cluster, child)


async def test_objects_of_a_kind_that_came_later_own_others(cluster: Cluster) -> None:
    await cluster.admin.create(crd("Widget", "widgets"))
    await cluster.settled()
    owner = await cluster.admin.create(Widget(metadata=ObjectMeta(name="owner", namespace="default")))
    child = await make(cluster, "child", belongs_to(owner))
    await cluster.settled()
    assert await is_there(cluster, child)
    await delete(cluster, owner)
    assert not await is_there(cluster, child)


async def test_a_child_whose_owners_kind_comes_later_goes_if_the_owner_is_not_there(cluster: Cluster) -> None:
    child = await make(cluster, "child", nobody(kind="Widget", api_version="example.com/v1"))
    await cluster.settled()
    assert await is_there(cluster, child)
    await cluster.admin.create(crd("Widget", "widgets"))
    await cluster.settled()
    assert not await is_there(cluster, child)


async def test_when_a_kind_goes_what_its_objects_owned_stays(cluster: Cluster) -> None:
    definition = await cluster.admin.create(crd("Widget", "widgets"))
    await cluster.settled()
    owner = await cluster.admin.create(Widget(metadata=ObjectMeta(name="owner", namespace="default")))
    child = await make(cluster, "child", belongs_to(owner), finalizers=["example.com/wait"])
    await cluster.settled()
    await cluster.admin.delete(CustomResourceDefinition, definition.metadata.name)
    await cluster.settled()
    late = await make(cluster, "late", nobody(kind="Widget", api_version="example.com/v1"))
    await cluster.settled()
    assert await is_there(cluster, child)
    assert await is_there(cluster, late)


async def test_an_owner_named_in_another_version_of_its_kind_is_the_same(cluster: Cluster) -> None:
    await cluster.admin.create(crd("Widget", "widgets", versions=("v1", "v1beta1")))
    await cluster.settled()
    owner = await cluster.admin.create(Widget(metadata=ObjectMeta(name="owner", namespace="default")))
    reference = belongs_to(owner)
    reference.api_version = "example.com/v1beta1"
    child = await make(cluster, "child", reference)
    await cluster.settled()
    assert await is_there(cluster, child)
    await delete(cluster, owner)
    assert not await is_there(cluster, child)


# Starting late, and in bad weather


async def restarted(world: World) -> GarbageCollector:
    collector = GarbageCollector(world.client())
    world.start(collector.run())
    await world.until(lambda: collector.kinds.synced)
    await world.until(lambda: not len(collector.queue) and not collector.queue.working)
    await ambient.sleep(5)
    return collector


async def test_what_lost_its_owner_while_nobody_looked_is_collected(world: World) -> None:
    owner = await world.admin.create(config_map("owner"))
    child = await world.admin.create(config_map("child", belongs_to(owner)))
    await world.admin.delete(ConfigMap, "owner")
    await restarted(world)
    assert not await is_there(world, child)


async def test_foreground_deletion_that_was_under_way_is_finished(world: World) -> None:
    owner = await world.admin.create(config_map("owner"))
    child = await world.admin.create(config_map("child", belongs_to(owner, blocks=True)))
    await world.admin.delete(ConfigMap, "owner", propagation="Foreground")
    await restarted(world)
    assert (await is_there(world, owner), await is_there(world, child)) == (False, False)


async def test_orphaning_that_was_under_way_is_finished(world: World) -> None:
    owner = await world.admin.create(config_map("owner"))
    child = await world.admin.create(config_map("child", belongs_to(owner)))
    await world.admin.delete(ConfigMap, "owner", propagation="Orphan")
    await restarted(world)
    assert (await is_there(world, owner), await is_there(world, child)) == (False, True)


async def test_a_whole_family_goes_though_every_third_request_fails(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    for number in range(10):
        await make(cluster, f"child-{number}", belongs_to(owner, blocks=True))
    await cluster.settled()
    requests = count(1)
    busy = APIStatus(status="Failure", code=503, reason="ServiceUnavailable", message="busy")
    cluster.weather.refuse = lambda request: busy if next(requests) % 3 == 0 else None
    await cluster.admin.delete(ConfigMap, "owner", propagation="Foreground")
    await cluster.until(lambda: cluster.collector.graph.get(owner.metadata.uid) is None)
    assert [each.metadata.name for each in await cluster.list(ConfigMap)] == ["kube-root-ca.crt"]


async def test_events_that_come_late_delete_nothing_that_has_an_owner(cluster: Cluster) -> None:
    cluster.weather.lag = 30.0
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    await ambient.sleep(60)
    await cluster.settled()
    assert await is_there(cluster, child)


async def test_of_an_object_only_its_identity_and_its_owners_are_kept(cluster: Cluster) -> None:
    big = config_map("big")
    big.metadata.annotations = {"words": "x" * 10_000}
    made = await cluster.admin.create(big)
    await cluster.settled()
    node = cluster.collector.graph.get(made.metadata.uid)
    assert node is not None
    assert (node.meta.annotations, node.meta.labels) == (None, None)


async def test_an_object_that_goes_and_comes_again_under_its_name_is_another_one(cluster: Cluster) -> None:
    owner = await make(cluster, "owner")
    child = await make(cluster, "child", belongs_to(owner))
    await cluster.settled()
    await cluster.admin.delete(ConfigMap, "owner")
    another = await make(cluster, "owner")
    other_child = await make(cluster, "other-child", belongs_to(another))
    await cluster.settled()
    assert (await is_there(cluster, child), await is_there(cluster, other_child)) == (False, True)
