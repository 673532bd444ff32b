"""When a cluster is given up: with consent, and only if there is no hope."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn, cast

import pytest

from etcd_operator import restoring
from etcd_operator.api import EtcdCluster, EtcdClusterStatus, Snapshot
from etcd_operator.restoring import give_up
from etcd_operator.world import World
from windvane import Context
from worlds import NOW, cluster, down, shown, stateful_set, voter, world

TAKEN = Snapshot(name="prod-1", taken=NOW - timedelta(hours=1), volume_claim="prod-backups")
SURVIVED = world(voter(0), down(1, claim=None), down(2, claim=None), leader=None)
HOPELESS = world(*(down(each, claim=None) for each in range(3)), leader=None)
RESTARTING = world(voter(0), down(1), down(2), leader=None)


class Ended(Exception):
    """`ctx.wait`."""


class Pass:
    """What a pass is given, as far as this needs it."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def condition(self, type: str, holds: bool, message: str, *, reason: str) -> None:  # noqa: A002
        self.said[type] = message

    def event(self, reason: str, message: str, *, type: str = "Normal") -> None:  # noqa: A002
        self.said[reason] = message

    def wait(self, message: str, *, after: float) -> NoReturn:
        raise Ended(message)


def lost(consent: str = "c1", taken: Snapshot | None = TAKEN) -> EtcdCluster:
    status = EtcdClusterStatus(cluster_id="c1", members=[shown(each) for each in range(3)], last_backup=taken)
    spec: dict[str, Any] = {"recovery": {"giveUp": consent}} if consent else {}
    return cluster(status=status, **spec)


def ask(there: EtcdCluster, seen: World) -> dict[str, str]:
    given = Pass()
    give_up(there, seen, cast(Context, given))
    return given.said


def test_with_consent_a_cluster_that_lost_a_quorum_of_disks_is_given_up() -> None:
    there = lost()
    with pytest.raises(Ended):
        ask(there, HOPELESS)
    assert there.status.recovering == "c1"
    assert there.status.recovering_from == TAKEN


def test_a_member_that_is_left_is_named_before_anything_is_done() -> None:
    there = lost()
    with pytest.raises(Ended):
        ask(there, SURVIVED)
    assert there.status.recovering_from is not None
    assert (there.status.recovering_from.name, there.status.recovering_from.volume_claim) == ("prod-0", "data-prod-0")


@pytest.mark.parametrize("there", [lost(""), lost("abc"), lost(taken=None)], ids=["without", "of another", "no backup"])
def test_without_consent_or_a_snapshot_it_is_not(there: EtcdCluster) -> None:
    ask(there, HOPELESS)
    assert there.status.recovering == ""


def test_consent_that_was_left_over_does_no_harm_when_two_members_restart() -> None:
    there = lost()
    said = ask(there, RESTARTING)
    assert there.status.recovering == ""
    assert "once so many have lost their data, or have been away for 5m0s, that none can lead" in said["Available"]
    assert "made anew from prod-0, and lost is what prod-0 does not have" in said["Available"]


def test_nor_while_a_member_that_may_have_more_is_only_slow_to_answer() -> None:
    """The volumes of all but one are deleted: who answers a moment later must not have been the more advanced one."""
    there = lost()
    there.status.members = [shown(each) for each in range(5)]
    said = ask(there, world(voter(0), down(1), *(down(each, claim=None) for each in (2, 3, 4)), leader=None))
    assert there.status.recovering == ""
    assert "once prod-1 answers, or has been away for 5m0s" in said["Available"]


def test_nor_while_there_is_a_leader() -> None:
    there = lost()
    ask(there, world(voter(0), voter(1), voter(2)))
    assert there.status.recovering == ""


def test_nor_if_the_quorum_comes_back_before_anything_was_done() -> None:
    """The operator was killed between its decision and the first deed."""
    there = lost()
    there.status.recovering, there.status.recovering_from = "c1", TAKEN
    back = replace(world(voter(0), voter(1), down(2)), stateful_set=stateful_set(3))
    said = ask(there, back)
    assert "QuorumBack" in said
    assert restoring.under_way(there) == ""


def test_but_it_goes_on_once_members_are_being_stopped() -> None:
    there = lost()
    there.status.recovering = "c1"
    ask(there, world(voter(0), voter(1), down(2)))
    assert there.status.recovering == "c1"
