"""`windvane plan` of a cluster that is scaled from 3 to 5, compared with what then happens."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any
from unittest import mock

from etcd_operator.api import EtcdCluster, EtcdClusterSpec
from etcd_operator.operator import operator
from etcd_operator.reach import access
from model.members import Members
from model.operating import MODULE
from windvane import Object, ObjectMeta, Quantity, dynamic, kind_of, object_to_wire
from windvane.cli.plan.diff import ObjectChange, object_change
from windvane.cli.plan.outside_calls import Mode, Outside
from windvane.cli.plan.plan import Plan, PlanRequest
from windvane.cli.plan.planner import make_plan
from windvane.k8s import apps, core
from windvane.testing import Cluster


def prod(replicas: int) -> EtcdCluster:
    spec = EtcdClusterSpec(version="3.5.1", replicas=replicas, storage_size=Quantity("1Gi"))
    return EtcdCluster(metadata=ObjectMeta(name="prod", namespace="default"), spec=spec)


def volume(name: str) -> core.PersistentVolume:
    source = core.HostPathVolumeSource(path=f"/disks/{name}")
    spec = core.PersistentVolumeSpec(
        capacity={"storage": Quantity("1Gi")}, access_modes=["ReadWriteOnce"], host_path=source
    )
    return core.PersistentVolume(metadata=ObjectMeta(name=name), spec=spec)


@asynccontextmanager
async def three(cluster: Cluster) -> AsyncIterator[Members]:
    """A cluster of three members that is as it should be, and its operator at work."""
    members = Members("prod")
    living = asyncio.get_running_loop().create_task(members.live(cluster))
    try:
        with members.reached():
            for number in range(6):  # a node in a test has no storage of its own
                await cluster.apply(volume(f"disk-{number}"))
            await cluster.run(operator)
            await cluster.apply(prod(3))
            await cluster.advance(minutes=2)
            assert (await cluster.get(apps.StatefulSet, "prod")).spec.replicas == 3
            assert len(members.raft.voters()) == 3
            yield members
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


async def plan_of(cluster: Cluster, replicas: int, outside: Mode) -> Plan:
    wanted = PlanRequest(manifests=[object_to_wire(prod(replicas))])
    return await make_plan(operator, cluster.client.calls.transport, wanted, Outside(outside))


async def test_a_plan_ends_before_members_are_asked_if_nothing_else_is_said(cluster: Cluster) -> None:
    async with three(cluster):
        with mock.patch.object(MODULE, "access", access):  # which opens sockets
            plan = await plan_of(cluster, 5, "refuse")
        assert plan.cut_short.startswith("the pass over EtcdCluster default/prod calls the outside, which is refused: ")
        assert len(plan.calls) == 3
        for call in plan.calls:
            assert call.words.startswith("connect to 10.")
            assert call.words.endswith(":2379")
            assert call.line.startswith("etcd.py line ")
        assert [(each.kind.name, [f.path for f in each.fields]) for each in plan.applied] == [
            ("EtcdCluster", ["spec.replicas"])
        ]
        assert plan.changes == []


async def test_members_are_asked_and_not_changed_if_calls_are_recorded(cluster: Cluster) -> None:
    async with three(cluster) as members:
        was = members.raft.config()
        plan = await plan_of(cluster, 5, "record")
        assert "would change what is outside: scaling 3 → 5: adding prod-3 as a learner (act.py line " in plan.cut_short
        assert plan.changes == []
        assert members.raft.config() == was


async def test_a_scale_from_3_to_5_begins_as_it_was_planned(cluster: Cluster) -> None:
    """As far as a plan goes: the next thing to happen is that prod-3 starts, and no plan can know how that turns out.

    In the plan, members are a copy of those that there are, and do as they are told.
    """
    async with three(cluster) as members:
        with members.copied().reached():
            plan = await plan_of(cluster, 5, "allow")
        assert plan.cut_short == ""
        assert plan.ready["EtcdCluster default/prod"] == ("Ready", "False", "prod-3 is joining: it has no pod")

        planned = [str(write) for each in plan.passes for write in each.writes]
        assert planned == [
            "apply etcdclusters.etcd.windvane.dev/status prod",
            "apply configmaps prod-members",
            "apply statefulsets.apps prod",
            "apply etcdclusters.etcd.windvane.dev/status prod",
        ]
        before = len(cluster.writes)
        was = await versions(cluster)
        async with seen(cluster) as story:
            await cluster.client.apply(prod(5), force=True, field_manager="kubectl")
            await cluster.advance(minutes=2)
        assert cluster.writes[before:][:4] == planned
        for change in plan.all_changes:
            assert change.action == "change"
            # The second version that the operator wrote of the EtcdCluster is the first that tells of prod-3.
            kind = change.kind.name
            then = next(each for each in story if each["kind"] == kind and is_written(each, was[kind]))
            really = object_change(change.kind, was[kind], then)
            assert really is not None
            if change in plan.applied:
                assert fields(change, "kubectl") == fields(really, "kubectl") == {"spec.replicas": (3, 5)}
            else:
                assert fields(change, "etcd-operator") == fields(really, "etcd-operator")
        assert (await cluster.get(apps.StatefulSet, "prod")).spec.replicas == 5
        assert len(members.raft.voters()) == 5


def is_written(wire: Any, before: Any) -> bool:
    """Whether a version is that which the operator has written once it has added a member."""
    if wire["kind"] == "EtcdCluster":
        return any(each["name"] == "prod-3" for each in wire["status"]["members"])
    part = "spec" if wire["kind"] == "StatefulSet" else "data"
    return bool(wire[part] != before[part])


def fields(change: ObjectChange, manager: str) -> dict[str, tuple[Any, Any]]:
    """What a field manager changes, but for times."""
    return {
        each.path: (each.old, each.new)
        for each in change.fields
        if manager in each.then and not each.path.endswith(("since", "lastTransitionTime"))
    }


OF = tuple(
    (dynamic(kind_of(what)), name)  # a class leaves out what is as its defaults are
    for what, name in ((EtcdCluster, "prod"), (apps.StatefulSet, "prod"), (core.ConfigMap, "prod-members"))
)
"""The three objects that matter."""


async def versions(cluster: Cluster) -> Mapping[str, Any]:
    """These by their kinds, as they are."""
    there = [await cluster.get(what, name) for what, name in OF]
    return {each.kind: object_to_wire(each) for each in there}


@asynccontextmanager
async def seen(cluster: Cluster) -> AsyncIterator[list[Any]]:
    """Every version of these that there is during the block."""
    story: list[Any] = []

    async def watch(what: type[Object], name: str) -> None:
        events = cluster.client.watch(what, namespace="default", fields={"metadata.name": name})
        async with aclosing(events):
            async for event in events:
                story.append(object_to_wire(event.item.decode()))  # noqa: PERF401 - it is read while it grows

    loop = asyncio.get_running_loop()
    watching = [loop.create_task(watch(what, name)) for what, name in OF]
    await cluster.advance(seconds=1)
    try:
        yield story
    finally:
        for each in watching:
            each.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
