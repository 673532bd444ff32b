"""Clusters for tests of what is decided: a few words make a World of places, pods, claims and members."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from etcd_operator import children, names
from etcd_operator.api import EtcdCluster, EtcdClusterStatus
from etcd_operator.api import Member as Shown
from etcd_operator.etcd import Answer, Member
from etcd_operator.world import Place, World
from windvane import ObjectMeta, Quantity, object_from_wire
from windvane.k8s import apps, core

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
OLD, CURRENT = "old-template", "current-template"


def cluster(*, status: EtcdClusterStatus | None = None, **spec: Any) -> EtcdCluster:
    """An EtcdCluster as a user writes it, prod in db."""
    content = {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": "prod", "namespace": "db", "uid": "u-1"},
        "spec": {"version": "3.5.1", "storageSize": "1Gi", **spec},
    }
    made = object_from_wire(content, EtcdCluster)
    made.status = status or EtcdClusterStatus(cluster_id="c1", version=made.spec.version)
    return made


def identity(ordinal: int) -> str:
    """The id of the member that a place has had from the beginning."""
    return f"a{ordinal}"


def url(ordinal: int) -> str:
    """The peer URL of a place."""
    return names.peer_url("prod", "db", ordinal, scheme="http")


def pod(
    ordinal: int,
    *,
    template: str = CURRENT,
    restarts: int = 0,
    waiting: str = "",
    ready: bool = True,
    deleting: bool = False,
) -> core.Pod:
    """A member's pod."""
    if waiting:
        state = core.ContainerState(waiting=core.ContainerStateWaiting(reason=waiting))
    else:
        state = core.ContainerState(running=core.ContainerStateRunning())
    status = core.ContainerStatus(
        name="etcd", image="", image_id="", ready=not waiting, restart_count=restarts, state=state
    )
    return core.Pod(
        metadata=ObjectMeta(
            name=names.member("prod", ordinal),
            namespace="db",
            uid=f"pod-{ordinal}",
            labels={"controller-revision-hash": template},
            deletion_timestamp=NOW if deleting else None,
        ),
        spec=core.PodSpec(containers=[]),
        status=core.PodStatus(pod_ip=f"10.0.0.{ordinal}", container_statuses=[status], conditions=[is_ready(ready)]),
    )


def is_ready(ready: bool) -> core.PodCondition:
    """What the kubelet says of a pod."""
    return core.PodCondition(type="Ready", status="True" if ready else "False")


def claim(
    ordinal: int, *, data_of: str = "", deleting: bool = False, phase: str = "Bound"
) -> core.PersistentVolumeClaim:
    """A member's volume claim."""
    return core.PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=names.claim("prod", ordinal),
            namespace="db",
            uid=f"claim-{ordinal}",
            annotations={names.ANNOTATION_MEMBER: data_of} if data_of else {},
            deletion_timestamp=NOW if deleting else None,
        ),
        spec=children.claim_spec(cluster(), Quantity("1Gi")),
        status=core.PersistentVolumeClaimStatus(phase=phase),
    )


def answer(ordinal: int, *, leader: int = 0, **said: Any) -> Answer:
    """What a member says of itself."""
    content = {
        "cluster_id": "c1",
        "id": identity(ordinal),
        "version": "3.5.1",
        "leader": identity(leader),
        "learner": False,
        "term": 2,
        "index": 100,
        "revision": 100,
        "size": 1000,
        "in_use": 1000,
        **said,
    }
    return Answer(**content)


def voter(ordinal: int, *, leader: int = 0, **but: Any) -> Place:
    """A place where all is well, `but` for some things."""
    place = Place(
        ordinal,
        pod=pod(ordinal),
        claim=claim(ordinal, data_of=identity(ordinal)),
        member=Member(identity(ordinal), names.member("prod", ordinal), url(ordinal), learner=False),
        answer=answer(ordinal, leader=leader),
    )
    return replace(place, **but)


def down(ordinal: int, **but: Any) -> Place:
    """A voter that doesn't answer."""
    away = {"answer": None, "silence": "connection refused", "pod": pod(ordinal, ready=False)}
    return voter(ordinal, **{**away, **but})


def learner(ordinal: int, **but: Any) -> Place:
    """A member that has no vote yet; it has just been added, and nobody is there, `but` for some things."""
    added = Member(identity(ordinal), "", url(ordinal), learner=True)
    return replace(Place(ordinal, member=added, silence="it has no pod"), **but)


def joined(ordinal: int) -> Place:
    """A learner that has caught up, and whose volume is known to be its."""
    return learner(
        ordinal,
        member=Member(identity(ordinal), names.member("prod", ordinal), url(ordinal), learner=True),
        pod=pod(ordinal),
        claim=claim(ordinal, data_of=identity(ordinal)),
        answer=answer(ordinal, learner=True),
    )


def world(*places: Place, leader: int | None = 0, **but: Any) -> World:
    """All of a cluster; without a leader nobody can say who the members are."""
    if leader is None:
        return World(places={each.ordinal: replace(each, member=None) for each in places}, now=NOW, **but)
    members = [each.member for each in places if each.member is not None]
    leads = next(each for each in members if each.id == identity(leader))
    there = {each.ordinal: each for each in places}
    return World(places=there, now=NOW, members=members, leader=leads, **but)


def stateful_set(replicas: int, *, template: str = CURRENT, observed: int = 1) -> apps.StatefulSet:
    """The StatefulSet, whose newest template is `template`."""
    made = children.stateful_set(cluster(), replicas, "3.5.1", children.Security())
    made.metadata.generation = 1
    made.status = apps.StatefulSetStatus(replicas=replicas, observed_generation=observed, update_revision=template)
    return made


def shown(ordinal: int, *, away: datetime | None = None, role: Any = "Follower") -> Shown:
    """A member in the status: healthy, or away since then."""
    return Shown(
        name=names.member("prod", ordinal),
        id=identity(ordinal),
        role=role,
        healthy=away is None,
        since=away,
        away_since=away,
    )
