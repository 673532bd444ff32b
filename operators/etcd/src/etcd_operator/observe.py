"""Looking at a cluster: its pods and volumes in the cache, and each member itself, all at once."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.etcd import READ_TIMEOUT, Etcd, EtcdError, Member
from etcd_operator.reach import Access
from etcd_operator.refusals import refusal
from etcd_operator.report import is_foreign
from etcd_operator.world import DENIED, Place, World, agreed_leader, last_words, quorum, says
from windvane import ClientError, Context
from windvane.k8s import apps, core

_looks: dict[str, datetime] = {}
"""When each cluster was last looked at, by its uid. Not in its status: the next process has not watched."""

JOINING_TIMEOUT = 1.0
"""How long a member that has no vote may take to say how it is, in seconds."""
LOG_TIMEOUT = 3.0
"""How long a kubelet may take to show a log, in seconds: the API server waits ten times as long for a lost node's."""
NO_POD = "it has no pod"
TAIL = 200
"""How many lines of a member's log are read to find out why it gave up."""


@dataclass(frozen=True)
class Sight:
    """What was seen, and the members that can be talked to."""

    world: World
    doors: Mapping[int, Etcd]
    """The members that answered, by ordinal."""

    @property
    def leader(self) -> Etcd:
        """The member that leads: only it can be asked for everything."""
        place = self.world.leader_place
        if place is None or place.ordinal not in self.doors:
            raise EtcdError("nobody leads")
        return self.doors[place.ordinal]


async def observe(cluster: EtcdCluster, ctx: Context, access: Access, now: datetime) -> Sight:
    """See how everything is."""
    places = _places(cluster, ctx)
    stateful_set = ctx.get(apps.StatefulSet, cluster.metadata.name)
    if stateful_set is not None and not _owned(stateful_set, cluster):
        stateful_set = None
    refused = await _refusal(stateful_set, places, ctx)
    doors: dict[int, Etcd] = {}
    for ordinal, place in places.items():
        if place.pod is not None and place.pod.status.pod_ip and place.pod.metadata.deletion_timestamp is None:
            doors[ordinal] = access.door(
                place.pod, names.host(cluster.metadata.name, cluster.metadata.namespace, ordinal)
            )
    asked = await asyncio.gather(*(_ask(doors.get(ordinal), place, now) for ordinal, place in places.items()))
    heard = await asyncio.gather(*(_hear(each, ctx) for each in asked))
    places = {each.ordinal: each for each in heard}
    world = World(
        places={each.ordinal: _without_pod(each, refused) for each in places.values()},
        stateful_set=stateful_set,
        now=now,
        last_look=_looks.get(cluster.metadata.uid),
        refusal=refused,
    )
    _looks[cluster.metadata.uid] = now
    answering = {ordinal: door for ordinal, door in doors.items() if places[ordinal].answer is not None}
    return Sight(await _with_members(cluster, world, answering), answering)


def forget(cluster: EtcdCluster) -> None:
    """Keep nothing of a cluster that is gone."""
    _looks.pop(cluster.metadata.uid, None)


def _places(cluster: EtcdCluster, ctx: Context) -> dict[int, Place]:
    name = cluster.metadata.name
    selector = names.selector(name)
    places: dict[int, Place] = {}
    for pod in ctx.list(core.Pod, labels=selector):
        if (ordinal := names.ordinal_of(name, pod.metadata.name)) is not None:
            places[ordinal] = replace(places.get(ordinal, Place(ordinal)), pod=pod)
    for claim in ctx.list(core.PersistentVolumeClaim, labels=selector):
        if (ordinal := names.ordinal_of(name, claim.metadata.name)) is not None:
            places[ordinal] = replace(places.get(ordinal, Place(ordinal)), claim=claim)
    return dict(sorted(places.items()))


def _owned(thing: apps.StatefulSet, cluster: EtcdCluster) -> bool:
    return any(each.uid == cluster.metadata.uid for each in thing.metadata.owner_references)


async def _refusal(owner: apps.StatefulSet | None, places: Mapping[int, Place], ctx: Context) -> str:
    """Why the API server refuses the StatefulSet's pods; nothing if none is missing."""
    wanted = owner.spec.replicas if owner is not None and owner.spec.replicas else 0
    if owner is None or all(each in places and places[each].pod is not None for each in range(wanted)):
        return ""
    return await refusal(ctx.client, owner)


def _without_pod(place: Place, refused: str) -> Place:
    return replace(place, silence=f"{NO_POD}: {refused}") if refused and place.silence == NO_POD else place


def _why_no_door(place: Place, now: datetime) -> str:
    if place.pod is None:
        return NO_POD
    if place.pod.metadata.deletion_timestamp is not None:
        return place.hangs(now) or "its pod is being stopped"
    return "its pod is starting"


async def _ask(door: Etcd | None, place: Place, now: datetime) -> Place:
    if door is None:
        return replace(place, silence=place.stuck or _why_no_door(place, now))
    # Who has no vote yet may have just been started, and not listen: that must not hold up the pass.
    patience = READ_TIMEOUT if place.pod and names.LABEL_ROLE in place.pod.metadata.labels else JOINING_TIMEOUT
    try:
        return replace(place, answer=await door.status(timeout=patience))
    except EtcdError as error:
        return replace(place, silence=place.stuck or str(error))


async def _hear(place: Place, ctx: Context) -> Place:
    """Find out why a member is silent. Only if it has failed: mostly it is just starting."""
    if place.answer is not None or place.pod is None or not place.has_failed:
        return place
    pod = ctx.client.pod(place.pod.metadata.name, namespace=place.pod.metadata.namespace)
    try:
        async with asyncio.timeout(LOG_TIMEOUT):
            lines = [line async for line in pod.logs(container="etcd", tail=TAIL)]
    except (ClientError, TimeoutError):
        return place  # the log went with the container, or its node does not answer
    words = last_words(lines)
    silence = "etcd may not use its volume (permission denied): see spec.securityContext" if says(words, DENIED) else ""
    return replace(place, last_words=words, silence=silence or place.silence)


async def _with_members(cluster: EtcdCluster, world: World, doors: Mapping[int, Etcd]) -> World:
    """Add what the leader knows, if there is one that a majority follows: of this cluster, for by the word of any other
    (of data that somebody has restored by hand, say) all the volumes of this one would be of nobody."""
    heard = {ordinal: place.answer for ordinal, place in world.places.items() if place.answer is not None}
    answers = {ordinal: answer for ordinal, answer in heard.items() if not is_foreign(cluster, answer)}
    leader = agreed_leader(list(answers.values()))
    at = next((ordinal for ordinal, answer in answers.items() if answer.id == leader), None)
    if at is None:
        return world
    try:
        members = await doors[at].members()
        alarms = await doors[at].alarms()
    except EtcdError:
        return world
    voters = {each.id for each in members if not each.learner}
    following = [each for each in answers.values() if each.id in voters and each.leader == leader]
    if len(following) < quorum(len(voters)):
        return world  # a leader that most have left, and that has not noticed yet
    name, namespace = cluster.metadata.name, cluster.metadata.namespace
    places = dict(world.places)
    strangers: list[Member] = []
    for member in members:
        ordinal = names.ordinal_at(name, namespace, member.peer_url)
        if ordinal is None or (ordinal in places and places[ordinal].member is not None):
            strangers.append(member)
        else:
            there = places.get(ordinal) or _without_pod(Place(ordinal, silence=NO_POD), world.refusal)
            places[ordinal] = replace(there, member=member)
    return replace(
        world,
        places=dict(sorted(places.items())),
        members=members,
        strangers=strangers,
        leader=next(each for each in members if each.id == leader),
        alarms=alarms,
    )
