"""What to do next about a cluster: one step, from what there is now. No I/O, and nothing is remembered.

Steps are small, and the order of the rules below is the order of what matters: first what endangers the quorum, then
what was begun, then what was asked for. An operator that is killed between any two steps finds, when it looks again,
the step that comes next.
"""

from collections.abc import Sequence
from datetime import timedelta

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.children import EXISTING, NEW, NOBODY, Joining
from etcd_operator.steps import (
    AddLearner,
    Deferred,
    Defragment,
    FreeSpace,
    MoveLeadership,
    Promote,
    Remove,
    Restart,
    Settled,
    Step,
    TakeSnapshot,
    Vacate,
    Waiting,
)
from etcd_operator.versions import Version, refusal
from etcd_operator.world import BROKEN, DENIED, EMPTY, REMOVED, Place, World, says

NO_SPACE = "NOSPACE"
IMAGE_TROUBLE = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")
FRAGMENTED, WORTH_IT = 0.5, 64 * 1024 * 1024
"""When half of a database is empty pages, and it is not small, they are given back."""


def decide(cluster: EtcdCluster, world: World, *, snapshots: Sequence[str] = ()) -> Step:
    """The next step. `snapshots` are the names of those that have been taken."""
    if world.leader is None:
        return Waiting("waiting for a leader")
    for rule in (
        _strangers,
        _lost_members,
        _left_behind,
        _learners,
        _doomed,
        _surplus,
        _space,
        _holes,
        lambda *given: _outdated(*given, snapshots=snapshots),
        _missing,
        _fragmented,
        _unready,
    ):
        if (step := rule(cluster, world)) is not None:
            return step
    return Settled("everything is as asked for")


def upgrade_refusal(cluster: EtcdCluster) -> str:
    """Why the version that the spec asks for can't follow the one that runs; nothing if it can."""
    if not cluster.status.version:
        return ""
    return refusal(Version.of(cluster.status.version), Version.of(cluster.spec.version))


def pods_wanted(cluster: EtcdCluster, world: World) -> int:
    """How many pods the StatefulSet should have: as many as etcd has members, not as many as are asked for.

    A member is added to the cluster before its pod is made, and removed before its pod goes. As long as nobody can say
    who the members are, nothing changes: fewer pods never help.
    """
    name = cluster.metadata.name
    if world.leader is not None:
        return 1 + max(place.ordinal for place in world.places.values() if place.member is not None)
    known = [names.ordinal_of(name, each.name) or 0 for each in cluster.status.members if each.id]
    with_data = [each.ordinal for each in world.places.values() if each.data_of]
    there = world.stateful_set.spec.replicas if world.stateful_set and world.stateful_set.spec.replicas else 0
    first = 0 if cluster.status.cluster_id else first_place(cluster)
    return 1 + max([there - 1, first, *known, *with_data])


def first_place(cluster: EtcdCluster) -> int:
    """Where a cluster's first member is: one that is made of what a member had left begins in the place of that one."""
    began = cluster.status.restored_from
    return (names.ordinal_of(cluster.metadata.name, began.volume_claim) or 0) if began else 0


def joining(cluster: EtcdCluster, world: World) -> Joining:
    """Who may begin with an empty data directory now: a new cluster's first member, or a learner that was added."""
    name, namespace = cluster.metadata.name, cluster.metadata.namespace
    scheme = "https" if cluster.spec.tls else "http"
    if not cluster.status.cluster_id:
        if cluster.status.restored_from is not None or any(place.data_of for place in world.places.values()):
            return Joining()  # there are volumes with data: they know who they are
        url = names.peer_url(name, namespace, 0, scheme=scheme)
        return Joining(NEW, names.initial_cluster(name, {0: url}, 0))
    for place in world.learners:
        if place.member is not None and place.data_of != place.member.id and not world.strangers:
            urls = {each.ordinal: each.member.peer_url for each in world.places.values() if each.member}
            return Joining(EXISTING, names.initial_cluster(name, urls, place.ordinal))
    return Joining(EXISTING, NOBODY)


def _called(cluster: EtcdCluster, place: Place) -> str:
    return names.member(cluster.metadata.name, place.ordinal)


def _unhealthy(cluster: EtcdCluster, world: World, *, but: Place | None = None) -> str:
    """Which voters are not healthy, in words; nothing if all are."""
    found = [each for each in world.unhealthy if but is None or each.ordinal != but.ordinal]
    return ", ".join(f"{_called(cluster, each)} ({each.silence or 'it is behind'})" for each in found)


def _strangers(cluster: EtcdCluster, world: World) -> Step | None:
    del cluster
    for member in world.strangers:
        return Remove(f"removing member {member.name or member.id}: it has no place here ({member.peer_url})", member)
    return None


def _lost_members(cluster: EtcdCluster, world: World) -> Step | None:
    """A member whose data is gone never comes back as who it was: it leaves, and another one takes its place."""
    for place in (*world.learners, *world.voters):
        if place.member is None:
            continue
        why = place.lost() or _away_too_long(cluster, world, place)
        if why:
            return Remove(f"replacing {_called(cluster, place)}: {why}", place.member)
    return None


def is_away(world: World, place: Place) -> bool:
    """Whether a member could follow the leader that is there, and does not.

    No time counts in which it could not: the same would befall whoever takes its place.
    """
    if world.leader_place is None or place.member is None or world.follows(place):
        return False
    if place.pod is None or place.stuck.startswith(IMAGE_TROUBLE) or _is_outdated(world, place):
        return False  # it is not started yet, can't be, or is about to be started otherwise
    if says(place.last_words, DENIED):
        return False  # its data is there, and the spec has to be changed
    return place.answer is not None or not place.ready  # else its kubelet says that it works: we can't reach it


def _away_too_long(cluster: EtcdCluster, world: World, place: Place) -> str:
    if not is_away(world, place):
        return ""
    name = _called(cluster, place)
    since = next((each.away_since for each in cluster.status.members if each.name == name), None)
    patience: timedelta = cluster.spec.replace_after
    if since is None or world.now - since < patience:
        return ""
    return f"it has been away since {since:%H:%M:%S} ({place.silence or 'it does not follow'})"


def _left_behind(cluster: EtcdCluster, world: World) -> Step | None:
    """Volumes of members that have left. Nobody may ever start on them again."""
    alive = {each.id for each in world.members}
    for place in world.places.values():
        if place.claim is None:
            continue
        stale = bool(place.data_of) and place.data_of not in alive
        # As long as the StatefulSet has a pod there, it would only make the volume again.
        unused = place.member is None and place.ordinal >= max(cluster.spec.replicas, pods_wanted(cluster, world))
        # Data that nobody was seen with: its member came and went while nobody looked.
        taken_up = place.member is not None and not place.member.name and says(place.last_words, (*REMOVED, *BROKEN))
        # A claim that was deleted goes when its pod does, and that would never go by itself.
        deleted = place.member is None and place.doomed
        if not (stale or unused or taken_up or deleted):
            continue
        if place.doomed and (place.pod is None or place.pod.metadata.deletion_timestamp is not None):
            going = f"the volume of the {_called(cluster, place)} that was removed is going"
            return Deferred(f"{going}: {hangs}") if (hangs := place.hangs(world.now)) else Waiting(going)
        return Vacate(f"deleting the volume of the {_called(cluster, place)} that was removed", place)
    return None


def _learners(cluster: EtcdCluster, world: World) -> Step | None:
    for place in world.learners:
        if place.member is None:
            continue
        name = _called(cluster, place)
        if place.ordinal >= cluster.spec.replicas:
            return Remove(f"removing {name}, which is not needed any more", place.member)
        if place.doomed:
            return Remove(f"replacing {name}, whose volume claim was deleted, before it gets a vote", place.member)
        if world.healthy(place) and place.data_of == place.member.id:
            return Promote(f"giving {name} its vote", place.member)
        if place.pod is not None and place.stuck.startswith("CrashLoopBackOff") and says(place.last_words, EMPTY):
            return Restart(f"starting {name} again: it may join now", place)
        return Waiting(f"{name} is joining: {place.silence or 'it is catching up'}")
    return None


def _doomed(cluster: EtcdCluster, world: World) -> Step | None:
    """A member whose claim somebody has deleted works until its pod goes. It is replaced while there are others."""
    for place in world.voters:
        if place.member is None or not place.doomed:
            continue
        why = f"replacing {_called(cluster, place)}, whose volume claim was deleted"
        if len(world.voters) == 1 and cluster.spec.replicas > 1:
            return _missing(cluster, world)  # others come before anything else, and then it can go
        if len(world.voters) == 1:
            return Deferred(f"{why}, is not possible: it is the only one. Its data goes with its pod: take a backup")
        if others := _unhealthy(cluster, world, but=place):
            return Deferred(f"{why}, waits until all other members are healthy: {others}")
        if place.member == world.leader:
            return _hand_over(cluster, world, [each for each in world.voters if not each.doomed], why)
        return Remove(why, place.member)
    return None


def _surplus(cluster: EtcdCluster, world: World) -> Step | None:
    """Members that are too many. Where one is missing among those that stay, it comes first."""
    surplus = [each for each in world.voters if each.ordinal >= cluster.spec.replicas]
    if not surplus or len(world.voters) <= cluster.spec.replicas:
        return None
    place = max(surplus, key=lambda each: each.ordinal)
    name, scaling = _called(cluster, place), f"scaling {len(world.voters)} → {cluster.spec.replicas}"
    if others := _unhealthy(cluster, world, but=place):
        return Deferred(f"{scaling} waits until all other members are healthy: {others}")
    if place.member is not None and place.member == world.leader:
        return _hand_over(cluster, world, world.voters, scaling)
    return Remove(f"{scaling}: removing {name}", place.member) if place.member else None


def _hand_over(cluster: EtcdCluster, world: World, heirs: Sequence[Place], why: str) -> Step | None:
    for heir in heirs:
        if heir.member is not None and heir.member != world.leader and world.healthy(heir):
            return MoveLeadership(f"{why}: {_called(cluster, heir)} is to lead", heir.member)
    return Deferred(f"{why} waits until another member can lead")


def _holes(cluster: EtcdCluster, world: World) -> Step | None:
    """Places between members that have none: one was removed there, to be replaced."""
    last = max((place.ordinal for place in world.places.values() if place.member), default=0)
    return _add(cluster, world, range(min(last, cluster.spec.replicas)), "replacing")


def _missing(cluster: EtcdCluster, world: World) -> Step | None:
    return _add(cluster, world, range(cluster.spec.replicas), f"scaling {len(world.voters)} → {cluster.spec.replicas}")


def _add(cluster: EtcdCluster, world: World, wanted: Sequence[int], why: str) -> Step | None:
    for ordinal in wanted:
        place = world.places.get(ordinal)
        if place is not None and place.member is not None:
            continue
        if others := _unhealthy(cluster, world):
            return Deferred(f"{why} waits until all members are healthy: {others}")
        if world.alarms:
            return Deferred(f"{why} waits until the alarm {world.alarms[0].kind} is over")
        if place is not None and place.claim is not None and place.claim.metadata.deletion_timestamp is not None:
            return Waiting(f"{why} waits until the old volume of {_called(cluster, place)} is gone")
        return AddLearner(f"{why}: adding {names.member(cluster.metadata.name, ordinal)} as a learner", ordinal)
    return None


def _is_outdated(world: World, place: Place) -> bool:
    owner = world.stateful_set
    if place.pod is None or owner is None or owner.status.observed_generation != owner.metadata.generation:
        return False
    return place.pod.metadata.labels.get("controller-revision-hash") != owner.status.update_revision


def _outdated(cluster: EtcdCluster, world: World, *, snapshots: Sequence[str]) -> Step | None:
    """Members whose pods are of an older template: one at a time, the leader last."""
    if refused := upgrade_refusal(cluster):
        return Deferred(refused)
    outdated = [each for each in world.voters if _is_outdated(world, each)]
    if not outdated:
        return _going_up(cluster, world)
    upgrade = bool(cluster.status.version) and cluster.status.version != cluster.spec.version
    why = f"upgrading {cluster.status.version} → {cluster.spec.version}" if upgrade else "restarting members one by one"
    up_to_date = [each for each in world.unhealthy if each not in outdated]
    if up_to_date:
        trouble = ", ".join(f"{_called(cluster, each)} ({each.silence or 'it is behind'})" for each in up_to_date)
        return Deferred(f"{why} waits until the restarted member is healthy: {trouble}")
    broken = [each for each in outdated if not world.healthy(each)]
    if broken:
        return _restart(cluster, broken[-1], why)
    # A member that takes part is not Ready before its next probe: until then clients have one address less.
    if unready := [_called(cluster, each) for each in world.voters if each not in outdated and not each.ready]:
        return Waiting(f"{why} waits until {unready[0]} is Ready")
    if upgrade and (name := snapshot_before(cluster)) not in snapshots:
        return TakeSnapshot(f"{why}: taking a snapshot first", name)
    followers = [each for each in outdated if each.member != world.leader]
    if followers:
        return _restart(cluster, followers[-1], why)
    heirs = [each for each in world.voters if each not in outdated]
    if heirs:
        return _hand_over(cluster, world, heirs, why)
    return _restart(cluster, outdated[0], why)


def _going_up(cluster: EtcdCluster, world: World) -> Step | None:
    """A member that was restarted, for which the others wait no more: all pods are new, not all are healthy."""
    old = [each for each in world.voters if each.answer and each.answer.version != cluster.spec.version]
    if old:
        return Waiting(f"{_called(cluster, old[0])} is being upgraded to {cluster.spec.version}")
    return None


def _restart(cluster: EtcdCluster, place: Place, why: str) -> Step:
    if place.pod is not None and place.pod.metadata.deletion_timestamp is not None:
        return Waiting(f"{why}: {_called(cluster, place)} is stopping")
    return Restart(f"{why}: restarting {_called(cluster, place)}", place)


def snapshot_before(cluster: EtcdCluster) -> str:
    """The name of the snapshot that is taken before an upgrade."""
    old, new = (each.replace(".", "-") for each in (cluster.status.version, cluster.spec.version))
    return f"{cluster.metadata.name}-{old}-to-{new}"


def _space(cluster: EtcdCluster, world: World) -> Step | None:
    full = [each for each in world.alarms if each.kind == NO_SPACE]
    if not full or any(_is_outdated(world, each) for each in world.voters):
        return None  # with other settings there may be space: the quota may have been raised because of this
    if others := _unhealthy(cluster, world):
        return Deferred(f"making space waits until all members are healthy: {others}")
    return FreeSpace("the space quota is used up: compacting, and giving back empty pages", full)


def _fragmented(cluster: EtcdCluster, world: World) -> Step | None:
    if world.unhealthy or world.learners:
        return None
    followers_first = sorted(world.voters, key=lambda each: each.member == world.leader)
    for place in followers_first:
        answer = place.answer
        if answer is not None and answer.size > WORTH_IT and answer.in_use < answer.size * (1 - FRAGMENTED):
            return Defragment(f"giving back empty pages of {_called(cluster, place)}", place)
    return None


def _unready(cluster: EtcdCluster, world: World) -> Step | None:
    """Members that take part, and whom clients are not sent to yet: their pods' next probe is still to come."""
    unready = [_called(cluster, each) for each in world.voters if world.healthy(each) and not each.ready]
    return Waiting(f"clients are sent to {', '.join(unready)} in a moment") if unready else None
