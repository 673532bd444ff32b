"""What a cluster's status says: each member, and conditions with reasons that a person understands. No I/O."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from etcd_operator import names
from etcd_operator.api import EtcdCluster, Member, Snapshot
from etcd_operator.decide import first_place, is_away
from etcd_operator.etcd import Answer
from etcd_operator.steps import Deferred, Settled, Step
from etcd_operator.versions import Version
from etcd_operator.world import Place, World, quorum

MEBIBYTE = 1024 * 1024
NOTICEABLE = 0.1
"""A database's size is told anew when it differs by that part: else every write of a user would be one of ours."""


@dataclass(frozen=True)
class Said:
    """A condition."""

    type: str
    holds: bool
    reason: str
    message: str


def describe(cluster: EtcdCluster, world: World) -> None:
    """Put what there is into the status."""
    status = cluster.status
    before = {each.name: each for each in status.members}
    leader = names.member(cluster.metadata.name, world.leader_place.ordinal) if world.leader_place else ""
    # A clock that ran without this leader must not be held against a member that has just got it to follow.
    unseen = world.unseen if status.leader == leader else None
    if world.leader is None and status.cluster_id:
        # Nobody can say who the members are: those that were are shown, and how they are now.
        ordinals = [names.ordinal_of(cluster.metadata.name, each.name) for each in status.members]
        places = [world.places.get(each, Place(each, silence="it has no pod")) for each in ordinals if each is not None]
    else:
        places = [each for each in world.places.values() if each.member or each.pod]
    status.members = [_member(cluster, world, place, before, unseen) for place in places]
    healthy = sum(each.healthy for each in status.members)
    status.replicas = sum(1 for each in status.members if each.id)
    status.ready = f"{healthy}/{cluster.spec.replicas}"
    status.leader = leader
    status.quorum = _quorum(cluster, world)
    versions = [each.answer.version for each in world.voters if each.answer is not None]
    if versions and len(versions) == len(world.voters):
        status.version = str(min(map(Version.of, versions)))


def _member(
    cluster: EtcdCluster, world: World, place: Place, before: dict[str, Member], unseen: timedelta | None
) -> Member:
    name = names.member(cluster.metadata.name, place.ordinal)
    was = before.get(name)
    healthy = world.healthy(place)
    known = place.member.id if place.member else (was.id if was and world.leader is None else "")
    same = was if was is not None and was.id == known else None  # one under a new id has all its time before it
    away = is_away(world, place) if world.leader_place is not None else place.answer is None
    return Member(
        name=name,
        id=known,
        role=_role(world, place, was),
        version=place.answer.version if place.answer else (was.version if was else ""),
        healthy=healthy,
        database_size=_size(place.answer.size, was.database_size if was else "") if place.answer else "",
        message="" if healthy else _trouble(world, place),
        since=None if healthy else _since(world.now, same.since if same else None),
        away_since=_away_since(world.now, same.away_since if same else None, unseen) if away else None,
    )


def _since(now: datetime, before: datetime | None) -> datetime:
    return before or now.replace(microsecond=0)


def _away_since(now: datetime, before: datetime | None, unseen: timedelta | None) -> datetime:
    """What `spec.replaceAfter` counts from: later by what nobody has seen, and anew if that is all."""
    if before is None or unseen is None:
        return _since(now, None)
    return min(before + unseen, now).replace(microsecond=0)


def _role(world: World, place: Place, was: Member | None) -> Literal["Leader", "Follower", "Learner", "Unknown"]:
    if place.member is None:
        # Without a leader nobody can say who has a vote: for the quorum, those have none that had none before.
        return "Learner" if world.leader is None and was is not None and was.role == "Learner" else "Unknown"
    if place.member.learner:
        return "Learner"
    if place.answer is None:
        return "Unknown"
    return "Leader" if place.member == world.leader else "Follower"


def _trouble(world: World, place: Place) -> str:
    if place.answer is None:
        return place.lost() or (place.damage if world.leader is None else "") or place.silence
    if place.member is None:
        return "it has no leader" if world.leader is None else "it is not a member yet"
    if place.answer.id != place.member.id:
        return f"it is another member, {place.answer.id}"
    return "it is behind the leader" if place.answer.leader else "it has no leader"


def _size(size: int, shown: str) -> str:
    if shown.endswith("Mi") and shown[:-2].isdecimal():
        there = int(shown[:-2]) * MEBIBYTE
        if abs(size - there) <= max(there * NOTICEABLE, 2 * MEBIBYTE):
            return shown
    return f"{-(-size // MEBIBYTE)}Mi"


def _voters_known(cluster: EtcdCluster) -> int:
    """How many have a vote, when nobody can be asked."""
    return sum(1 for each in cluster.status.members if each.id and each.role != "Learner")


def _quorum(cluster: EtcdCluster, world: World) -> str:
    if world.leader is not None:
        return "AtRisk" if (world.unhealthy or world.held_up) and world.spare() <= 0 else "Healthy"
    if not cluster.status.cluster_id:
        return ""
    return "Lost" if quorum_is_lost(cluster, world) else "Electing"


def is_foreign(cluster: EtcdCluster, answer: Answer) -> bool:
    """Whether who answers belongs to another cluster than the one that is known to be here."""
    return bool(cluster.status.cluster_id) and answer.cluster_id != cluster.status.cluster_id


def quorum_is_lost(cluster: EtcdCluster, world: World) -> bool:
    """Whether too few members answer for any of them to lead."""
    answers = [each.answer for each in world.places.values() if each.answer is not None]
    answering = sum(1 for each in answers if not each.learner and not is_foreign(cluster, each))
    return world.leader is None and answering < quorum(_voters_known(cluster))


def quorum_comes_back(cluster: EtcdCluster, world: World) -> bool:
    """Whether enough members may still come back: their data is not known to be lost, nor have they been away long."""
    answering = sum(
        1
        for ordinal, _ in _voters_by_place(cluster)
        if ordinal in world.places and world.places[ordinal].answer is not None
    )
    return answering + len(hoped_for(cluster, world)) >= quorum(_voters_known(cluster))


def hoped_for(cluster: EtcdCluster, world: World) -> list[str]:
    """The voters that don't answer now, and may come back with their data, which may be more than others have."""
    patience: timedelta = cluster.spec.replace_after
    found = []
    for ordinal, member in _voters_by_place(cluster):
        place = world.places.get(ordinal, Place(ordinal))
        away = member.away_since is not None and world.now - member.away_since >= patience
        if place.answer is None and not place.damage and not away:
            found.append(member.name)
    return found


def _voters_by_place(cluster: EtcdCluster) -> Iterator[tuple[int, Member]]:
    for each in cluster.status.members:
        ordinal = names.ordinal_of(cluster.metadata.name, each.name)
        if ordinal is not None and each.id and each.role != "Learner":
            yield ordinal, each


def available(cluster: EtcdCluster, world: World) -> Said:
    """Whether clients are served."""
    if world.leader_place is not None:
        healthy = len(world.voters) - len(world.unhealthy)
        leads = names.member(cluster.metadata.name, world.leader_place.ordinal)
        message = f"{healthy} of {len(world.voters)} voting members are healthy, {leads} leads"
        if len(world.voters) % 2 == 0 and not world.learners:
            message += f"; an even number of members survives no more failures than {len(world.voters) - 1} would"
        return Said("Available", True, "Quorum", message)
    if not cluster.status.cluster_id:
        first = world.places.get(first_place(cluster))
        why = (first.silence if first is not None else "") or world.refusal or "it is being made"
        return Said("Available", False, "Starting", f"the first member is starting: {why}")
    if not quorum_is_lost(cluster, world):
        return Said("Available", False, "NoLeader", "the members are electing a leader")
    voters = _voters_known(cluster)
    down = ", ".join(_silent_voters(cluster, world))
    message = f"{quorum(voters)} of {voters} members are needed, and these don't answer: {down or 'all'}"
    return Said("Available", False, "QuorumLost", f"{message}. {_what_now(cluster, world)}")


def _silent_voters(cluster: EtcdCluster, world: World) -> Iterator[str]:
    """Who could make a quorum and does not answer. The pod of one that was removed may be there, too: not that."""
    for ordinal, each in _voters_by_place(cluster):
        place = world.places.get(ordinal, Place(ordinal, silence="it has no pod"))
        if place.answer is None:
            yield f"{each.name} ({place.damage or place.silence})"
        elif is_foreign(cluster, place.answer):
            yield f"{each.name} (its data is that of another cluster, {place.answer.cluster_id})"


def recovery_source(cluster: EtcdCluster, world: World) -> Snapshot | None:
    """What a cluster that has lost its quorum can be made anew from: a member's data before a snapshot.

    The member that answers and has most, unless the last snapshot has more still: the others may have got far while
    that one was away. Of a member that does not answer, nobody knows what it has.
    """
    asked = cluster.spec.recovery.source if cluster.spec.recovery else None
    last = cluster.status.last_backup
    survivor = _most_advanced(cluster, world)
    if asked == "Snapshot" or (survivor is None and asked is None):
        return last
    began = cluster.status.restored_from  # a snapshot from before that is of another history, whatever its number
    same = last is not None and (began is None or last.taken > began.taken)
    if asked is None and survivor is not None and last is not None and same and last.revision > survivor.revision:
        return last
    return survivor


def _most_advanced(cluster: EtcdCluster, world: World) -> Snapshot | None:
    known = {each.id for each in cluster.status.members if each.id}
    survivors = [
        (place.answer.revision, place.answer.index, -place.ordinal, place.answer)
        for place in world.places.values()
        if place.answer is not None
        and place.answer.id in known
        and place.claim is not None
        and not place.doomed
        and place.data_of == place.answer.id
    ]
    if not survivors:
        return None
    revision, _, ordinal, answer = max(survivors, key=lambda each: each[:3])
    name = cluster.metadata.name
    return Snapshot(
        name=names.member(name, -ordinal),
        taken=world.now.replace(microsecond=0),
        volume_claim=names.claim(name, -ordinal),
        revision=revision,
        version=answer.version,
    )


def cost_of(cluster: EtcdCluster, source: Snapshot) -> str:
    """What is lost if a cluster is made anew from that."""
    if names.ordinal_of(cluster.metadata.name, source.volume_claim) is not None:
        return (
            f"what {source.name} does not have (it is at revision {source.revision}; others may have acknowledged more)"
        )
    return (
        f"what was written after {source.taken:%Y-%m-%d %H:%M} UTC (snapshot {source.name}, revision {source.revision})"
    )


def _what_now(cluster: EtcdCluster, world: World) -> str:
    heals = "It heals by itself when they come back with their data"
    source, asked = recovery_source(cluster, world), cluster.spec.recovery
    if source is None and asked is not None and asked.source is not None:
        return f"{heals}. There is no {asked.source.lower()} to recover from, which spec.recovery.source asks for"
    if source is None:
        return f"{heals}. There is no member that answers, and no snapshot to recover from"
    consent = {"giveUp": cluster.status.cluster_id}
    if names.ordinal_of(cluster.metadata.name, source.volume_claim) is not None:
        consent["source"] = "Member"  # to lose what a member does not have is no consent to lose more
    patch = json.dumps({"spec": {"recovery": consent}}, separators=(",", ":"))
    return (
        f"{heals}. If that can't be, this gives up {cost_of(cluster, source)}: kubectl patch etcdcluster "
        f"{cluster.metadata.name} -n {cluster.metadata.namespace} --type=merge -p '{patch}'"
    )


def progressing(step: Step, *, rotating: bool = False) -> Said:
    """Whether something is being changed."""
    if isinstance(step, Settled) and rotating:
        return Said("Progressing", True, "CARotation", "another CA is taking the place of the one before")
    if isinstance(step, Settled):
        return Said("Progressing", False, "Settled", step.words)
    if isinstance(step, Deferred):
        return Said("Progressing", False, "Deferred", step.words)
    return Said("Progressing", True, type(step).__name__, step.words)


def degraded(world: World) -> Said:
    """Whether something is not as it should be, though clients may be served."""
    if world.leader is None:
        return Said("Degraded", True, "NoLeader", "nobody leads")
    if world.alarms:
        words = ", ".join(sorted({each.kind for each in world.alarms}))
        return Said("Degraded", True, "Alarm", f"etcd has raised the alarm {words}: it refuses writes")
    if world.unhealthy:
        words = ", ".join(f"{each.called}: {_trouble(world, each)}" for each in world.unhealthy)
        return Said("Degraded", True, "MemberUnhealthy", words)
    if world.held_up:
        words = ", ".join(f"{each.called} can't be replaced: {each.hangs(world.now)}" for each in world.held_up)
        return Said("Degraded", True, "PodStuck", words)
    return Said("Degraded", False, "AllHealthy", "all members are healthy")
