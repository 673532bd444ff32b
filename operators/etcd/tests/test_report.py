"""What the status says, and in which words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from etcd_operator.api import EtcdCluster, EtcdClusterStatus, Snapshot
from etcd_operator.api import Member as Shown
from etcd_operator.decide import decide
from etcd_operator.etcd import Alarm
from etcd_operator.report import available, degraded, describe, progressing, quorum_comes_back, recovery_source
from etcd_operator.steps import Deferred, Restart, Settled
from etcd_operator.world import BLINK, Place, World
from worlds import NOW, OLD, answer, claim, cluster, down, identity, joined, pod, shown, stateful_set, voter, world

THREE = world(voter(0), voter(1), voter(2))
MEBIBYTE = 1024 * 1024


def lost(**but: object) -> EtcdClusterStatus:
    """The status of three members of which a quorum is needed."""
    return EtcdClusterStatus(cluster_id="c1", members=[shown(each) for each in range(3)], **but)  # type: ignore[arg-type]


def test_each_member_is_told() -> None:
    there = cluster()
    describe(there, THREE)
    told = [(each.name, each.id, each.role, each.version, each.healthy) for each in there.status.members]
    assert told == [
        ("prod-0", identity(0), "Leader", "3.5.1", True),
        ("prod-1", identity(1), "Follower", "3.5.1", True),
        ("prod-2", identity(2), "Follower", "3.5.1", True),
    ]
    assert (there.status.ready, there.status.leader, there.status.quorum) == ("3/3", "prod-0", "Healthy")


def test_a_learner_is_told_as_one() -> None:
    there = cluster(replicas=2)
    describe(there, world(voter(0), joined(1)))
    assert there.status.members[1].role == "Learner"


def test_it_is_told_since_when_a_member_is_away() -> None:
    there = cluster()
    describe(there, world(voter(0), voter(1), down(2)))
    assert there.status.members[2].since == NOW
    later = replace(world(voter(0), voter(1), down(2)), now=NOW + timedelta(minutes=3))
    describe(there, later)
    assert there.status.members[2].since == NOW
    assert there.status.members[2].message == "connection refused"


def test_a_new_member_in_the_same_place_has_all_its_time_before_it() -> None:
    there = cluster(status=EtcdClusterStatus(cluster_id="c1", members=[shown(1, away=NOW - timedelta(hours=1))]))
    successor = down(1, member=replace(voter(1).member, id="bbbb"))  # type: ignore[type-var]
    describe(there, world(voter(0), successor))
    assert there.status.members[1].since == NOW


MOMENT = timedelta(seconds=3)
AWAY = NOW - timedelta(minutes=4)


def seen(there: World, after: timedelta = MOMENT) -> World:
    """The same, by an operator that last looked so long before."""
    return replace(there, last_look=there.now - after)


def away(ordinal: int, there: EtcdCluster) -> datetime | None:
    """Since when a member is said to be away."""
    return there.status.members[ordinal].away_since


def led(**but: object) -> EtcdClusterStatus:
    """The status of three members of whom the last has not followed the first for a while."""
    members = [shown(0, role="Leader"), shown(1), shown(2, away=AWAY)]
    return EtcdClusterStatus(cluster_id="c1", leader="prod-0", members=members, **but)  # type: ignore[arg-type]


def test_how_long_a_member_is_away_counts_while_there_is_a_leader_to_follow() -> None:
    there = cluster(status=led())
    describe(there, seen(world(voter(0), voter(1), down(2))))
    assert away(2, there) == AWAY


def test_time_without_a_leader_counts_against_nobody_when_there_is_one_again() -> None:
    """Two of three were frozen for long, and have just gone on: whoever does not follow at once has all its time."""
    status = EtcdClusterStatus(cluster_id="c1", members=[shown(each, away=AWAY) for each in range(3)])
    there = cluster(status=status)
    astray = voter(2, answer=replace(answer(2), leader=""))
    describe(there, seen(world(voter(0), voter(1), astray)))
    assert [away(each, there) for each in range(3)] == [None, None, NOW]
    assert there.status.members[2].since == AWAY  # it has not been healthy all the while, and that is said


def test_without_a_leader_only_who_does_not_answer_is_away_and_that_begins_anew() -> None:
    there = cluster(status=led())
    describe(there, seen(world(voter(0), down(1), down(2), leader=None)))
    assert [away(each, there) for each in range(3)] == [None, NOW, NOW]


def test_one_that_follows_and_has_much_to_catch_up_with_is_not_away() -> None:
    there = cluster(status=led())
    far = voter(2, answer=answer(2, index=1))
    describe(there, seen(world(voter(0, answer=answer(0, index=100_000)), voter(1), far)))
    assert (there.status.members[2].healthy, away(2, there)) == (False, None)


@pytest.mark.parametrize("last_look", [None, NOW - timedelta(hours=1), NOW + timedelta(hours=1)])
def test_time_in_which_nobody_looked_does_not_count(last_look: datetime | None) -> None:
    """The operator has just begun, has slept for an hour, or its clock was set."""
    there = cluster(status=led())
    describe(there, replace(world(voter(0), voter(1), down(2)), last_look=last_look))
    assert away(2, there) == NOW


def test_of_a_pause_no_more_counts_than_may_be_between_two_looks() -> None:
    there = cluster(status=led())
    describe(there, seen(world(voter(0), voter(1), down(2)), after=BLINK + timedelta(seconds=45)))
    assert away(2, there) == AWAY + timedelta(seconds=45)


def test_another_leader_is_one_that_nobody_has_followed_yet() -> None:
    there = cluster(status=led())
    describe(there, seen(world(voter(0, leader=1), voter(1, leader=1), down(2), leader=1)))
    assert away(2, there) == NOW


@pytest.mark.parametrize(
    "place",
    [
        down(2, pod=pod(2, waiting="ImagePullBackOff", ready=False)),
        down(2, pod=pod(2, template=OLD, ready=False)),
        down(2, pod=pod(2)),
        down(2, pod=None),
        down(2, last_words='{"level":"fatal","error":"open /data/member/wal/0-0.wal: permission denied"}'),
    ],
    ids=["without an image", "about to be restarted", "Ready", "without a pod", "may not use its volume"],
)
def test_who_could_not_follow_is_not_away_and_has_all_its_time_afterwards(place: Place) -> None:
    there = cluster(status=led())
    describe(there, seen(replace(world(voter(0), voter(1), place), stateful_set=stateful_set(3))))
    assert (there.status.members[2].healthy, away(2, there)) == (False, None)


def test_one_failure_more_than_may_be_is_announced() -> None:
    there = cluster()
    describe(there, world(voter(0), voter(1), down(2)))
    assert there.status.quorum == "AtRisk"


def test_a_lost_quorum_is_not_called_running() -> None:
    there = cluster(status=lost())
    without = world(voter(0), down(1), down(2), leader=None)
    describe(there, without)
    assert (there.status.quorum, there.status.leader, there.status.ready) == ("Lost", "", "0/3")
    said = available(there, without)
    assert (said.holds, said.reason) == (False, "QuorumLost")
    assert "2 of 3 members are needed, and these don't answer: prod-1 (connection refused)" in said.message


def test_those_that_were_members_are_shown_when_nobody_can_say_who_they_are() -> None:
    there = cluster(status=lost())
    describe(there, World({0: voter(0, member=None)}, NOW))
    assert [each.id for each in there.status.members] == [identity(0), identity(1), identity(2)]


def test_what_a_recovery_would_cost_is_said_with_the_command_for_it() -> None:
    taken = Snapshot(name="prod-1", taken=datetime(2025, 12, 31, 2, 0, tzinfo=UTC), volume_claim="b", revision=42)
    said = available(cluster(status=lost(last_backup=taken)), world(down(0), down(1), down(2), leader=None))
    assert "gives up what was written after 2025-12-31 02:00 UTC (snapshot prod-1, revision 42)" in said.message
    assert '-p \'{"spec":{"recovery":{"giveUp":"c1"}}}\'' in said.message


def test_it_is_said_if_there_is_nothing_to_recover_from() -> None:
    said = available(cluster(status=lost()), world(down(0), down(1), down(2), leader=None))
    assert "There is no member that answers, and no snapshot to recover from" in said.message


def test_a_member_that_is_left_comes_before_a_snapshot_and_what_it_does_not_have_is_the_cost() -> None:
    taken = Snapshot(name="prod-1", taken=datetime(2025, 12, 31, 2, 0, tzinfo=UTC), volume_claim="b", revision=42)
    there = cluster(status=lost(last_backup=taken))
    said = available(there, world(down(0), voter(1, answer=answer(1, revision=99)), down(2), leader=None))
    assert "this gives up what prod-1 does not have (it is at revision 99; others may have" in said.message
    assert '-p \'{"spec":{"recovery":{"giveUp":"c1","source":"Member"}}}\'' in said.message


def test_a_pod_of_a_member_that_was_removed_is_not_waited_for() -> None:
    status = EtcdClusterStatus(cluster_id="c1", members=[shown(0), shown(1), Shown(name="prod-2")])
    said = available(cluster(status=status), world(voter(0), down(1), down(2), leader=None))
    assert "2 of 2 members are needed, and these don't answer: prod-1 (connection refused)." in said.message


LATE = voter(1, answer=answer(1, revision=99, index=100))
LEFT = world(voter(0, answer=answer(0, revision=98)), LATE, down(2), leader=None)
STRANGER = voter(0, claim=claim(0, data_of="ffff"), answer=answer(0, id="ffff"))
SAVED = Snapshot(name="nightly", taken=NOW, volume_claim="prod-backups", revision=42)


@pytest.mark.parametrize(
    ("seen", "last", "asked", "source"),
    [
        (LEFT, SAVED, None, ("prod-1", "data-prod-1", 99)),
        (LEFT, None, None, ("prod-1", "data-prod-1", 99)),
        (LEFT, SAVED, "Snapshot", ("nightly", "prod-backups", 42)),
        (LEFT, msgspec.structs.replace(SAVED, revision=100), None, ("nightly", "prod-backups", 100)),
        (LEFT, msgspec.structs.replace(SAVED, revision=100), "Member", ("prod-1", "data-prod-1", 99)),
        (world(down(0), down(1), leader=None), SAVED, None, ("nightly", "prod-backups", 42)),
        (world(down(0), down(1), leader=None), SAVED, "Member", None),
        (world(voter(0, claim=claim(0, data_of=identity(0), deleting=True)), leader=None), None, None, None),
        (world(voter(0, claim=claim(0, data_of="ffff")), leader=None), None, None, None),
        (world(STRANGER, leader=None), None, None, None),
    ],
    ids=[
        "the member that has most",
        "and without a snapshot",
        "a snapshot if that is asked for",
        "or if it has more",
        "but not if a member is asked for",
        "a snapshot if nobody answers",
        "and not if a member is asked for",
        "no volume that goes with its pod",
        "no volume with data of another",
        "nobody who was no member",
    ],
)
def test_what_a_lost_cluster_is_made_anew_from(
    seen: World, last: Snapshot | None, asked: str | None, source: tuple[str, str, int] | None
) -> None:
    recovery = {"giveUp": "c1"} | ({"source": asked} if asked else {})
    found = recovery_source(cluster(status=lost(last_backup=last), recovery=recovery), seen)
    assert (found and (found.name, found.volume_claim, found.revision)) == source


def test_a_snapshot_from_before_an_earlier_recovery_does_not_have_more_whatever_its_revision() -> None:
    further = msgspec.structs.replace(SAVED, revision=5000, taken=NOW - timedelta(hours=1))
    began = Snapshot(name="prod-1", taken=NOW - timedelta(minutes=30), volume_claim="data-prod-1", revision=60)
    found = recovery_source(cluster(status=lost(last_backup=further, restored_from=began)), LEFT)
    assert found is not None
    assert found.name == "prod-1"


def test_an_election_is_no_loss_of_quorum() -> None:
    said = available(cluster(status=lost()), world(voter(0), voter(1), down(2), leader=None))
    assert said.reason == "NoLeader"


def test_a_learner_is_no_voter_when_nobody_leads() -> None:
    """Or two of three voters that elect a leader would be told to be too few of four."""
    there = cluster()
    describe(there, world(voter(0), voter(1), down(2), joined(3)))
    electing = world(voter(0), voter(1), down(2), replace(joined(3), answer=None), leader=None)
    for _ in range(2):
        describe(there, electing)
    assert there.status.quorum == "Electing"
    assert there.status.members[3].role == "Learner"


def test_members_that_are_only_away_may_come_back() -> None:
    assert quorum_comes_back(cluster(status=lost()), world(voter(0), down(1), down(2), leader=None))


def test_a_quorum_of_members_without_data_does_not_come_back() -> None:
    empty = {"last_words": "couldn't find local name"}
    gone = world(voter(0), down(1, **empty), down(2, claim=None), leader=None)
    assert not quorum_comes_back(cluster(status=lost()), gone)
    one = world(voter(0), down(1), down(2, claim=None), leader=None)
    assert quorum_comes_back(cluster(status=lost()), one)


def test_a_quorum_that_is_away_for_long_is_not_hoped_for_any_more() -> None:
    since = NOW - timedelta(minutes=6)
    status = EtcdClusterStatus(cluster_id="c1", members=[shown(0), shown(1, away=since), shown(2, away=since)])
    assert not quorum_comes_back(cluster(status=status), world(voter(0), down(1), down(2), leader=None))


def test_an_even_number_of_members_is_warned_of() -> None:
    said = available(cluster(replicas=2), world(voter(0), voter(1)))
    assert said.holds
    assert said.message.endswith("; an even number of members survives no more failures than 1 would")


def test_the_version_is_the_oldest_that_runs() -> None:
    there = cluster(version="3.5.1", status=EtcdClusterStatus(cluster_id="c1"))
    describe(there, world(voter(0), voter(1, answer=answer(1, version="3.4.23"))))
    assert there.status.version == "3.4.23"


def test_the_version_is_not_told_anew_while_a_member_is_silent() -> None:
    there = cluster(version="3.5.1", status=EtcdClusterStatus(cluster_id="c1", version="3.4.23"))
    describe(there, world(voter(0), voter(1), down(2)))
    assert there.status.version == "3.4.23"


def test_a_database_that_grows_a_little_is_no_news() -> None:
    there = cluster(replicas=1)
    describe(there, world(voter(0, answer=answer(0, size=100 * MEBIBYTE))))
    describe(there, world(voter(0, answer=answer(0, size=105 * MEBIBYTE))))
    assert there.status.members[0].database_size == "100Mi"
    describe(there, world(voter(0, answer=answer(0, size=120 * MEBIBYTE))))
    assert there.status.members[0].database_size == "120Mi"


def test_a_second_look_at_the_same_changes_nothing() -> None:
    there = cluster()
    describe(there, THREE)
    before = there.status.members
    describe(there, replace(THREE, now=NOW + timedelta(hours=1)))
    assert there.status.members == before


def test_an_alarm_and_a_silent_member_are_degraded_states() -> None:
    assert degraded(replace(THREE, alarms=[Alarm(identity(0), "NOSPACE")])).reason == "Alarm"
    said = degraded(world(voter(0), voter(1), down(2, claim=claim(2))))
    assert (said.reason, said.message) == ("MemberUnhealthy", "prod-2: its volume is another one, without its data")
    assert not degraded(THREE).holds


def test_what_is_deferred_is_said_with_its_reason() -> None:
    said = progressing(Deferred("scaling 3 → 5 waits"))
    assert (said.holds, said.reason, said.message) == (False, "Deferred", "scaling 3 → 5 waits")


def test_a_step_is_named_while_it_is_taken() -> None:
    said = progressing(Restart("restarting prod-2", voter(2)))
    assert (said.holds, said.reason) == (True, "Restart")
    assert progressing(Settled("as asked for")).reason == "Settled"


def test_a_place_that_a_lost_node_holds_is_no_health_and_the_remedy_is_said() -> None:
    """Two voters of three that are wanted: the third was removed, and its pod never goes."""
    gone = Place(2, pod=pod(2, deleting=True), claim=claim(2, data_of="ffff", deleting=True))
    assert gone.pod is not None
    gone.pod.spec.node_name = "n3"
    there, later = cluster(), replace(world(voter(0), voter(1), gone), now=NOW + timedelta(minutes=2))
    describe(there, later)
    assert there.status.quorum == "AtRisk"
    said = degraded(later)
    assert (said.holds, said.reason) == (True, "PodStuck")
    assert "kubectl taint node n3 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" in said.message
    step = decide(there, later)
    assert isinstance(step, Deferred)
    assert "n3" in step.words


def test_a_pod_that_has_still_time_to_stop_is_no_news() -> None:
    going = Place(2, pod=pod(2, deleting=True), claim=claim(2, data_of="ffff", deleting=True))
    assert not degraded(world(voter(0), voter(1), going)).holds
