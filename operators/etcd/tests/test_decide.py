"""What is done next about a cluster, for each thing that can be the matter with it."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import pytest

from etcd_operator import steps
from etcd_operator.api import EtcdClusterStatus, Snapshot
from etcd_operator.children import EXISTING, NEW, NOBODY
from etcd_operator.decide import decide, joining, pods_wanted, snapshot_before
from etcd_operator.etcd import Alarm, Member
from etcd_operator.steps import Step
from etcd_operator.world import Place, World
from worlds import (
    NOW,
    OLD,
    answer,
    claim,
    cluster,
    down,
    identity,
    joined,
    learner,
    pod,
    shown,
    stateful_set,
    url,
    voter,
    world,
)

THREE = world(voter(0), voter(1), voter(2))
EMPTY_HANDED = '{"level":"fatal","msg":"discovery failed","error":"couldn\'t find local name \\"prod-1\\""}'
PERMANENTLY = '{"level":"warn","msg":"server error","error":"the member has been permanently removed from the cluster"}'
DAMAGED = '{"level":"fatal","msg":"failed to read WAL, cannot be repaired","error":"walpb: crc mismatch"}'
UNREADABLE = [
    f'{{"level":"fatal","msg":"discovery failed","error":"{each}"}}'
    for each in (
        "walpb: crc mismatch",
        "wal: max entry size limit exceeded",
        "proto: integer overflow",
        "proto: illegal wireType 7",
        "proto: Record: illegal tag 0 (wire type 0)",
        "proto: wrong wireType = 2 for field Type",
    )
]
"""What etcd 3.4 and 3.5 were heard to say with a log that was overwritten in its middle."""


def outdated(*, leader: int, old: set[int], unhealthy: Collection[int] = ()) -> World:
    """Three members of which some have pods of an older template."""
    places = []
    for ordinal in range(3):
        made = (down if ordinal in unhealthy else voter)(ordinal, leader=leader)
        places.append(replace(made, pod=pod(ordinal, template=OLD)) if ordinal in old else made)
    return world(*places, leader=leader, stateful_set=stateful_set(3))


def upgrade(seen: World) -> Step:
    asked = cluster(version="3.5.1", status=EtcdClusterStatus(cluster_id="c1", version="3.4.23"))
    return decide(asked, seen, snapshots=[snapshot_before(asked)])


# Nothing to do


def test_three_healthy_members_are_left_alone() -> None:
    assert isinstance(decide(cluster(replicas=3), THREE), steps.Settled)


def test_all_is_not_as_asked_for_before_clients_are_sent_to_every_member() -> None:
    unready = voter(1)
    assert unready.pod is not None
    unready.pod.status.conditions = []
    step = decide(cluster(), world(voter(0), unready, voter(2)))
    assert isinstance(step, steps.Waiting)
    assert "prod-1" in step.words


def test_without_a_leader_nothing_is_done_about_members() -> None:
    lost = world(voter(0), down(1), down(2), leader=None)
    assert isinstance(decide(cluster(replicas=3), lost), steps.Waiting)


# Growing


def test_a_cluster_grows_by_one_learner() -> None:
    step = decide(cluster(replicas=3), world(voter(0)))
    assert isinstance(step, steps.AddLearner)
    assert step.ordinal == 1


def test_never_is_there_a_second_learner() -> None:
    step = decide(cluster(replicas=5), world(voter(0), voter(1), learner(2)))
    assert isinstance(step, steps.Waiting)


def test_a_learner_that_has_caught_up_gets_its_vote() -> None:
    step = decide(cluster(replicas=2), world(voter(0), joined(1)))
    assert isinstance(step, steps.Promote)
    assert step.member.id == identity(1)


def test_a_learner_whose_volume_is_not_marked_yet_gets_no_vote() -> None:
    unmarked = replace(joined(1), claim=claim(1))
    assert isinstance(decide(cluster(replicas=2), world(voter(0), unmarked)), steps.Waiting)


def test_a_learner_that_is_far_behind_gets_no_vote() -> None:
    behind = replace(joined(1), answer=answer(1, learner=True, index=1))
    ahead = voter(0, answer=answer(0, index=100_000))
    assert isinstance(decide(cluster(replicas=2), world(ahead, behind)), steps.Waiting)


def test_growing_waits_while_a_member_is_down_and_says_for_whom() -> None:
    step = decide(cluster(replicas=5), world(voter(0), voter(1), down(2)))
    assert isinstance(step, steps.Deferred)
    assert step.words == "scaling 3 → 5 waits until all members are healthy: prod-2 (connection refused)"


def test_growing_waits_while_there_is_an_alarm() -> None:
    step = decide(cluster(replicas=2), world(voter(0), alarms=[Alarm(identity(0), "CORRUPT")]))
    assert step == steps.Deferred("scaling 1 → 2 waits until the alarm CORRUPT is over")


def test_nobody_is_added_where_the_old_volume_is_still_going() -> None:
    leaving = Place(1, claim=claim(1, data_of="gone", deleting=True))
    assert isinstance(decide(cluster(replicas=2), world(voter(0), leaving)), steps.Waiting)


def test_the_pod_of_an_empty_place_does_not_keep_a_claim_that_was_deleted() -> None:
    """Or all wait for each other: the claim for its pod, and the next member for its volume."""
    hanging = Place(1, pod=pod(1, restarts=5, waiting="CrashLoopBackOff"), claim=claim(1, deleting=True))
    step = decide(cluster(replicas=3), world(voter(0), hanging, voter(2)))
    assert isinstance(step, steps.Vacate)


def test_a_learner_that_gave_up_before_it_was_told_of_is_started_again() -> None:
    crashed = learner(1, pod=pod(1, restarts=5, waiting="CrashLoopBackOff"), claim=claim(1), last_words=EMPTY_HANDED)
    step = decide(cluster(replicas=2), world(voter(0), crashed))
    assert isinstance(step, steps.Restart)
    assert step.place.ordinal == 1


# Shrinking


def test_a_cluster_shrinks_from_its_end() -> None:
    step = decide(cluster(replicas=1), THREE)
    assert isinstance(step, steps.Remove)
    assert step.member.id == identity(2)


def test_leadership_moves_before_the_leader_is_removed() -> None:
    led_by_last = world(*(voter(each, leader=2) for each in range(3)), leader=2)
    step = decide(cluster(replicas=1), led_by_last)
    assert isinstance(step, steps.MoveLeadership)
    assert step.to.id == identity(0)


def test_shrinking_waits_while_another_member_is_down() -> None:
    step = decide(cluster(replicas=1), world(voter(0), down(1), voter(2)))
    assert isinstance(step, steps.Deferred)


def test_the_volume_of_a_member_that_left_is_deleted() -> None:
    left = Place(1, pod=pod(1), claim=claim(1, data_of=identity(1)))
    step = decide(cluster(replicas=1), world(voter(0), left))
    assert isinstance(step, steps.Vacate)
    assert step.place.ordinal == 1


def test_a_learner_that_is_no_longer_wanted_is_removed_at_once() -> None:
    step = decide(cluster(replicas=1), world(voter(0), learner(1)))
    assert isinstance(step, steps.Remove)


def test_where_a_member_that_stays_is_missing_it_comes_before_others_go() -> None:
    """0 was lost while 5 → 1: without this, 1 is the last one, leads, and can hand over to nobody."""
    step = decide(cluster(replicas=1), world(voter(1, leader=1), leader=1))
    assert isinstance(step, steps.AddLearner)
    assert step.ordinal == 0


def test_leadership_moves_to_one_that_goes_too_if_none_stays_yet() -> None:
    led_by_last = world(*(voter(each, leader=4) for each in (1, 3, 4)), leader=4)
    step = decide(cluster(replicas=1), led_by_last)
    assert isinstance(step, steps.MoveLeadership)
    assert step.to.id == identity(1)


def test_the_volume_of_an_empty_place_below_the_last_member_is_left_for_its_pod() -> None:
    """The StatefulSet has a pod there, and would make both again, for ever."""
    empty = Place(2, pod=pod(2), claim=claim(2))
    step = decide(cluster(replicas=2), world(voter(0), voter(1), empty, voter(4)))
    assert isinstance(step, steps.Remove)
    assert step.member.id == identity(4)


# Replacing


def test_a_lost_pod_is_no_reason_to_remove_its_member() -> None:
    step = decide(cluster(replicas=3), world(voter(0), voter(1), down(2, pod=None)))
    assert not isinstance(step, steps.Remove)


def test_a_lost_pod_never_makes_the_statefulset_smaller() -> None:
    assert pods_wanted(cluster(replicas=3), world(voter(0), voter(1), down(2, pod=None))) == 3


@pytest.mark.parametrize(
    ("matter", "why"),
    [
        ({"claim": None}, "its volume is gone"),
        ({"claim": claim(1, data_of=identity(1), phase="Lost")}, "its volume is lost"),
        ({"claim": claim(1)}, "its volume is another one, without its data"),
        ({"last_words": EMPTY_HANDED}, "its volume is empty"),
        *(({"last_words": words}, "its data is damaged") for words in (DAMAGED, *UNREADABLE)),
        ({"last_words": PERMANENTLY}, "its data is that of a member that was removed"),
    ],
)
def test_a_member_whose_data_is_gone_leaves_at_once(matter: dict[str, object], why: str) -> None:
    step = decide(cluster(replicas=3), world(voter(0), down(1, **matter), voter(2)))
    assert step == steps.Remove(f"replacing prod-1: {why}", Member(identity(1), "prod-1", url(1), learner=False))


def test_a_member_that_is_away_for_a_while_is_waited_for() -> None:
    status = EtcdClusterStatus(cluster_id="c1", version="3.5.1", members=[shown(1, away=NOW - timedelta(minutes=4))])
    step = decide(cluster(replicas=3, status=status), world(voter(0), down(1), voter(2)))
    assert isinstance(step, steps.Settled)


def test_a_member_that_is_away_too_long_leaves() -> None:
    status = EtcdClusterStatus(cluster_id="c1", version="3.5.1", members=[shown(1, away=NOW - timedelta(minutes=6))])
    step = decide(cluster(replicas=3, status=status), world(voter(0), down(1), voter(2)))
    assert isinstance(step, steps.Remove)


def test_a_member_that_only_the_operator_can_not_reach_stays() -> None:
    """Since when it was away may have been written long ago, by an operator that then was away itself."""
    status = EtcdClusterStatus(cluster_id="c1", version="3.5.1", members=[shown(1, away=NOW - timedelta(hours=6))])
    slow = down(1, pod=pod(1, ready=True))
    assert isinstance(decide(cluster(status=status), world(voter(0), slow, voter(2))), steps.Settled)


def test_a_member_whose_image_can_not_be_pulled_is_not_replaced() -> None:
    status = EtcdClusterStatus(cluster_id="c1", version="3.5.1", members=[shown(1, away=NOW - timedelta(hours=6))])
    stuck = down(1, pod=pod(1, waiting="ImagePullBackOff"))
    assert not isinstance(decide(cluster(status=status), world(voter(0), stuck, voter(2))), steps.Remove)


def test_the_place_of_a_member_that_left_is_taken_by_a_new_one_before_any_other_is_added() -> None:
    emptied = Place(1, pod=pod(1), claim=claim(1))
    step = decide(cluster(replicas=5), world(voter(0), emptied, voter(2)))
    assert isinstance(step, steps.AddLearner)
    assert step.ordinal == 1


def test_a_new_member_never_starts_on_the_data_of_one_that_left() -> None:
    taken = learner(1, pod=pod(1), claim=claim(1, data_of="gone"))
    step = decide(cluster(replicas=2), world(voter(0), taken))
    assert isinstance(step, steps.Vacate)


@pytest.mark.parametrize("words", [PERMANENTLY, DAMAGED])
def test_data_that_nobody_was_seen_with_and_that_is_no_use_goes(words: str) -> None:
    taken = learner(1, pod=pod(1, restarts=1), claim=claim(1), last_words=words)
    step = decide(cluster(replicas=2), world(voter(0), taken))
    assert isinstance(step, steps.Vacate)


def test_a_phantom_of_an_add_that_timed_out_is_taken_for_the_member_it_is() -> None:
    """It is in the list, without a name: its place is told by its peer URL, and it is not added again."""
    step = decide(cluster(replicas=2), world(voter(0), learner(1)))
    assert isinstance(step, steps.Waiting)
    assert pods_wanted(cluster(replicas=2), world(voter(0), learner(1))) == 2


def test_a_member_that_has_no_place_is_removed() -> None:
    stranger = Member("ffff", "", "http://elsewhere:2380", learner=True)
    step = decide(cluster(replicas=1), world(voter(0), strangers=[stranger]))
    assert isinstance(step, steps.Remove)
    assert step.member == stranger


def test_a_member_whose_claim_was_deleted_is_replaced_while_it_still_works() -> None:
    doomed = voter(1, claim=claim(1, data_of=identity(1), deleting=True))
    step = decide(cluster(replicas=3), world(voter(0), doomed, voter(2)))
    assert isinstance(step, steps.Remove)
    assert step.member.id == identity(1)


def test_a_leader_whose_claim_was_deleted_hands_over_first() -> None:
    doomed = voter(0, claim=claim(0, data_of=identity(0), deleting=True))
    step = decide(cluster(replicas=3), world(doomed, voter(1), voter(2)))
    assert isinstance(step, steps.MoveLeadership)


def test_a_learner_whose_claim_was_deleted_gets_no_vote() -> None:
    """The cluster would count on a member that is gone with its pod."""
    doomed = replace(joined(1), claim=claim(1, data_of=identity(1), deleting=True))
    step = decide(cluster(replicas=2), world(voter(0), doomed))
    assert isinstance(step, steps.Remove)


def test_the_only_member_is_not_restarted_once_its_claim_was_deleted() -> None:
    doomed = voter(0, claim=claim(0, data_of=identity(0), deleting=True), pod=pod(0, template=OLD))
    step = decide(cluster(replicas=1), world(doomed, stateful_set=stateful_set(1)))
    assert isinstance(step, steps.Deferred)
    assert "take a backup" in step.words


def test_the_only_member_gets_company_once_its_claim_was_deleted_if_more_are_asked_for() -> None:
    doomed = voter(0, claim=claim(0, data_of=identity(0), deleting=True), pod=pod(0, template=OLD))
    step = decide(cluster(replicas=3), world(doomed, stateful_set=stateful_set(1)))
    assert isinstance(step, steps.AddLearner)


# Who may begin with an empty volume


def test_a_new_cluster_begins_with_its_first_member_alone() -> None:
    told = joining(cluster(replicas=3, status=EtcdClusterStatus()), World({}, NOW))
    assert (told.state, told.initial_cluster) == (NEW, f"prod-0={url(0)}")


def test_new_is_said_only_until_a_cluster_id_is_known() -> None:
    told = joining(cluster(), world(voter(0), leader=None))
    assert (told.state, told.initial_cluster) == (EXISTING, NOBODY)


def test_new_is_not_said_where_volumes_of_an_earlier_life_are() -> None:
    told = joining(cluster(status=EtcdClusterStatus()), world(voter(0), leader=None))
    assert (told.state, told.initial_cluster) == (EXISTING, NOBODY)


def test_after_a_restore_nobody_may_begin_with_an_empty_directory() -> None:
    """Or another cluster, with nothing in it, would be made beside the one that was restored."""
    status = EtcdClusterStatus(restored_from=Snapshot(name="prod-2", taken=NOW, volume_claim="data-prod-2"))
    assert joining(cluster(status=status), World({}, NOW)).initial_cluster == NOBODY


def test_one_that_was_made_of_what_a_member_had_left_begins_in_its_place() -> None:
    status = EtcdClusterStatus(restored_from=Snapshot(name="prod-2", taken=NOW, volume_claim="data-prod-2"))
    assert pods_wanted(cluster(status=status), World({}, NOW)) == 3
    status = EtcdClusterStatus(restored_from=Snapshot(name="nightly", taken=NOW, volume_claim="prod-backups"))
    assert pods_wanted(cluster(status=status), World({}, NOW)) == 1


def test_only_the_learner_finds_its_name_and_all_peers_are_listed() -> None:
    told = joining(cluster(), world(voter(0), voter(1), learner(2)))
    assert told.state == EXISTING
    assert told.initial_cluster == f"other-0={url(0)},other-1={url(1)},prod-2={url(2)}"


def test_a_voter_that_lost_its_disk_does_not_find_its_name() -> None:
    told = joining(cluster(), world(voter(0), down(1, claim=claim(1)), voter(2)))
    assert told.initial_cluster == NOBODY


def test_a_learner_whose_data_is_known_can_not_begin_again() -> None:
    assert joining(cluster(), world(voter(0), joined(1))).initial_cluster == NOBODY


# How many pods there are


def test_there_are_as_many_pods_as_members_not_as_asked_for() -> None:
    assert pods_wanted(cluster(replicas=5), world(voter(0), voter(1))) == 2


def test_without_a_leader_there_are_never_fewer_pods_than_members_were() -> None:
    status = EtcdClusterStatus(cluster_id="c1", members=[shown(each) for each in range(3)])
    assert pods_wanted(cluster(replicas=1, status=status), World({}, NOW)) == 3


def test_retained_volumes_get_their_pods_back() -> None:
    earlier = world(*(voter(each) for each in range(3)), leader=None)
    assert pods_wanted(cluster(replicas=1, status=EtcdClusterStatus()), earlier) == 3


# Upgrades and restarts


def test_a_new_version_is_an_upgrade_though_the_size_stays() -> None:
    step = upgrade(outdated(leader=0, old={0, 1, 2}))
    assert isinstance(step, steps.Restart)
    assert step.words == "upgrading 3.4.23 → 3.5.1: restarting prod-2"


def test_a_snapshot_is_taken_before_the_first_member_is_upgraded() -> None:
    asked = cluster(version="3.5.1", status=EtcdClusterStatus(cluster_id="c1", version="3.4.23"))
    step = decide(asked, outdated(leader=0, old={0, 1, 2}))
    assert isinstance(step, steps.TakeSnapshot)
    assert step.name == "prod-3-4-23-to-3-5-1"


def test_the_next_member_waits_until_the_upgraded_one_is_healthy() -> None:
    step = upgrade(outdated(leader=0, old={0, 1}, unhealthy={2}))
    assert isinstance(step, steps.Deferred)
    assert "prod-2 (connection refused)" in step.words


def test_the_next_member_waits_until_clients_are_sent_to_the_upgraded_one() -> None:
    seen = outdated(leader=0, old={0, 1})
    unready = replace(seen.places[2], pod=pod(2, ready=False))
    step = upgrade(replace(seen, places={**seen.places, 2: unready}))
    assert isinstance(step, steps.Waiting)
    assert step.words == "upgrading 3.4.23 → 3.5.1 waits until prod-2 is Ready"


def test_the_leader_is_upgraded_last_and_hands_over_first() -> None:
    step = upgrade(outdated(leader=0, old={0}))
    assert isinstance(step, steps.MoveLeadership)


def test_an_old_member_that_is_broken_is_upgraded_first() -> None:
    step = upgrade(outdated(leader=0, old={0, 1, 2}, unhealthy={1}))
    assert isinstance(step, steps.Restart)
    assert step.place.ordinal == 1


def test_no_pod_is_judged_before_the_statefulset_was_seen_to() -> None:
    seen = outdated(leader=0, old={0, 1, 2})
    unseen = replace(seen, stateful_set=stateful_set(3, observed=0))
    assert not isinstance(upgrade(unseen), steps.Restart)


@pytest.mark.parametrize(
    ("runs", "asked", "reason"), [("3.5.1", "3.4.23", "is older than 3.5.1"), ("3.4.23", "3.6.0", "skips a minor")]
)
def test_a_version_that_can_not_follow_is_not_tried(runs: str, asked: str, reason: str) -> None:
    refused = cluster(version=asked, status=EtcdClusterStatus(cluster_id="c1", version=runs))
    step = decide(refused, outdated(leader=0, old={0, 1, 2}))
    assert isinstance(step, steps.Deferred)
    assert reason in step.words


# Space


def test_a_full_cluster_gets_space_again() -> None:
    alarm = Alarm(identity(1), "NOSPACE")
    step = decide(cluster(), replace(THREE, alarms=[alarm]))
    assert isinstance(step, steps.FreeSpace)
    assert step.alarms == [alarm]


def test_a_full_cluster_gets_space_before_a_member_is_replaced_which_waits_for_that() -> None:
    step = decide(cluster(replicas=3), world(voter(0), voter(2), alarms=[Alarm(identity(0), "NOSPACE")]))
    assert isinstance(step, steps.FreeSpace)


def test_a_full_cluster_whose_quota_was_raised_is_restarted_first() -> None:
    full = replace(outdated(leader=0, old={0, 1, 2}), alarms=[Alarm(identity(0), "NOSPACE")])
    same_version = cluster(status=EtcdClusterStatus(cluster_id="c1", version=cluster().spec.version))
    assert isinstance(decide(same_version, full), steps.Restart)


def test_followers_are_defragmented_before_the_leader() -> None:
    huge = {"size": 1024**3, "in_use": 1024**2}
    places = [voter(each, answer=answer(each, **huge)) for each in range(3)]
    step = decide(cluster(), world(*places))
    assert isinstance(step, steps.Defragment)
    assert step.place.ordinal == 1


def test_nothing_is_defragmented_while_a_member_is_down() -> None:
    huge = voter(0, answer=answer(0, size=1024**3, in_use=1024**2))
    assert isinstance(decide(cluster(), world(huge, voter(1), down(2))), steps.Settled)
