"""What is concluded from what members say, and from what they said last."""

from dataclasses import replace

import pytest

from etcd_operator.world import BEHIND, World, agreed_leader, last_words, quorum
from worlds import NOW, answer, claim, down, identity, joined, learner, pod, voter, world

FATAL = b'{"level":"fatal","msg":"discovery failed","error":"couldn\'t find local name"}'
REMOVED = b'{"level":"warn","msg":"server error","error":"the member has been permanently removed from the cluster"}'


@pytest.mark.parametrize(("voters", "needed"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (9, 5)])
def test_a_quorum_is_more_than_half(voters: int, needed: int) -> None:
    assert quorum(voters) == needed


def test_the_leader_is_whom_all_follow() -> None:
    assert agreed_leader([answer(0, leader=1), answer(1, leader=1), answer(2, leader=1)]) == identity(1)


def test_who_is_still_in_an_older_term_is_not_asked() -> None:
    assert agreed_leader([answer(0, leader=0, term=1), answer(1, leader=2, term=2)]) == identity(2)


def test_nobody_leads_if_they_do_not_agree() -> None:
    assert agreed_leader([answer(0, leader=0), answer(1, leader=1)]) == ""


def test_what_a_learner_believes_does_not_count() -> None:
    assert agreed_leader([answer(0, learner=True)]) == ""


def test_nobody_leads_if_nobody_answers() -> None:
    assert agreed_leader([]) == ""


def test_the_last_words_are_those_of_a_fatal_line() -> None:
    assert last_words([b'{"level":"info","msg":"hello"}', FATAL]) == FATAL.decode()


def test_a_removed_member_goes_with_a_warning_only() -> None:
    assert "permanently removed" in last_words([b'{"level":"info","msg":"stopped"}', REMOVED])


def test_a_panic_is_a_last_word_too() -> None:
    assert last_words([b"panic: freepages: failed to get all reachable pages (page 2: multiple references)"])


def test_a_log_that_is_no_text_is_no_trouble() -> None:
    assert last_words([b"\xff\xfe"]) == ""


def test_a_member_that_follows_is_healthy() -> None:
    there = world(voter(0), voter(1))
    assert there.healthy(there.places[1])


def test_one_that_is_far_behind_is_not() -> None:
    late = voter(1, answer=answer(1, index=1))
    there = world(voter(0, answer=answer(0, index=BEHIND + 2)), late)
    assert not there.healthy(late)


def test_one_that_follows_nobody_is_not() -> None:
    astray = voter(1, answer=replace(answer(1), leader=""))
    assert not world(voter(0), astray).healthy(astray)


def test_whoever_answers_in_the_place_of_another_is_not_healthy() -> None:
    other = voter(1, answer=answer(1, id="ffff"))
    assert not world(voter(0), other).healthy(other)


def test_without_a_leader_nobody_is_healthy() -> None:
    there = World({0: voter(0)}, NOW)
    assert not there.healthy(there.places[0])


def test_it_is_known_how_many_more_may_fail() -> None:
    assert world(voter(0), voter(1), voter(2)).spare() == 1
    assert world(voter(0), voter(1), down(2)).spare() == 0
    assert world(voter(0), voter(1)).spare() == 0


def test_a_learner_counts_for_no_quorum() -> None:
    there = world(voter(0), joined(1))
    assert [each.ordinal for each in there.voters] == [0]
    assert [each.ordinal for each in there.learners] == [1]


def test_a_member_that_answers_has_lost_nothing() -> None:
    assert voter(0, claim=None).lost() == ""


def test_one_that_never_ran_has_nothing_to_lose() -> None:
    assert learner(1, claim=claim(1), last_words=FATAL.decode()).lost() == ""


def test_one_that_is_only_away_has_lost_nothing() -> None:
    assert down(1).lost() == ""


@pytest.mark.parametrize("why", ["permission denied", "no space left on device"])
def test_data_that_can_not_be_used_now_is_not_damaged(why: str) -> None:
    said = '{{"level":"fatal","error":"open /var/lib/etcd/data/member/wal/0-0.wal: {}"}}'
    assert down(1, last_words=said.format(why)).lost() == ""
    assert down(1, last_words=said.format("crc mismatch")).lost() == "its data is damaged"


def test_a_voter_on_a_volume_of_another_has_lost_its_data() -> None:
    assert down(1, claim=claim(1, data_of="ffff")).lost() == "its volume is another one, without its data"


def test_a_pod_that_can_not_start_says_why() -> None:
    assert down(1, pod=pod(1, waiting="ImagePullBackOff")).stuck == "ImagePullBackOff"
    assert down(1, pod=pod(1, waiting="ContainerCreating")).stuck == ""


def test_what_was_wrong_before_a_member_began_again_is_over() -> None:
    """One that failed before it was let in, and has worked since, may be slow to answer once."""
    assert down(1, pod=pod(1, restarts=3, waiting="CrashLoopBackOff")).has_failed
    assert not down(1, pod=pod(1, restarts=3)).has_failed


def test_a_member_is_doomed_once_its_claim_was_deleted() -> None:
    assert voter(1, claim=claim(1, deleting=True)).doomed
    assert not voter(1).doomed
