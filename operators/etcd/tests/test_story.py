"""What `make run` tells: what has changed, in words, and nothing twice."""

from itertools import pairwise
from pathlib import Path

import pytest

from etcd_demo import story
from etcd_demo.machine import Trouble, held
from etcd_demo.suggestions import Running, first_of_all, suggestions
from etcd_operator.api import EtcdCluster, EtcdClusterSpec, Member
from windvane import Condition, ObjectMeta, Quantity
from windvane.k8s import core, events

RUNNING = Running(
    kubeconfig=Path("/home/me/kube config"),
    programs=Path("/opt/bin"),
    environment={},
    address="127.200.0.11:2379",
    replicas=3,
    leader="prod-etcd-0",
    process=4711,
    victim="prod-etcd-2",
    volume="/data/pvc-1",
    operator=4700,
)


def cluster(*members: Member, conditions: tuple[Condition, ...] = ()) -> EtcdCluster:
    made = EtcdCluster(
        metadata=ObjectMeta(name="prod-etcd"), spec=EtcdClusterSpec(version="3.5.1", storage_size=Quantity("1Gi"))
    )
    made.status.members = list(members)
    made.status.conditions = list(conditions)
    return made


def member(role: str = "Follower", *, healthy: bool = True, message: str = "", id: str = "a1") -> Member:  # noqa: A002
    return Member(name="prod-etcd-1", id=id, role=role, version="3.5.1", healthy=healthy, message=message)  # type: ignore[arg-type]


def test_a_member_comes_learns_and_gets_its_vote() -> None:
    coming, learning = member("Unknown", healthy=False, message="it has no pod"), member("Learner")
    lives = [cluster(), cluster(coming), cluster(learning), cluster(member()), cluster(member()), cluster()]
    told = [line for before, after in pairwise(lives) for line in story.of_cluster(before, after)]
    assert told == [
        "prod-etcd-1 is coming: it has no pod",
        "prod-etcd-1 is healthy: learner, etcd 3.5.1, id a1",
        "prod-etcd-1 is a follower now",
        "prod-etcd-1 is gone",
    ]


def test_a_member_that_fails_and_comes_back_is_told_of_once_each() -> None:
    down, further_down = (
        member(healthy=False, message="it is silent"),
        member(healthy=False, message="CrashLoopBackOff"),
    )
    assert list(story.of_cluster(cluster(member()), cluster(down))) == ["prod-etcd-1 is not well: it is silent"]
    assert list(story.of_cluster(cluster(down), cluster(further_down))) == []
    assert list(story.of_cluster(cluster(down), cluster(member("Leader")))) == [
        "prod-etcd-1 is healthy: leader, etcd 3.5.1, id a1"
    ]


def test_a_member_that_was_replaced_has_another_identity() -> None:
    told = list(story.of_cluster(cluster(member()), cluster(member("Learner", id="b2"))))
    assert told == [
        "prod-etcd-1 has another identity: a1 has left, b2 has come",
        "prod-etcd-1 is healthy: learner, etcd 3.5.1, id b2",
    ]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (
            ("Available", "False", "QuorumLost", "2 of 3 are needed"),
            ["Available is False (QuorumLost): 2 of 3 are needed"],
        ),
        (("Progressing", "False", "Deferred", "scaling waits"), ["deferred: scaling waits"]),
        (("Progressing", "True", "AddLearner", "adding"), []),  # there is an Event
        (
            ("Progressing", "True", "AddLearner", "adding: unhealthy cluster"),
            ["etcd takes no other member until the last one has been connected for five seconds"],
        ),
        (("Degraded", "True", "MemberUnhealthy", "a member is down"), []),  # the member is told of
        (("Degraded", "True", "Alarm", "no space"), ["Degraded is True (Alarm): no space"]),
        (("Ready", "True", "Ready", ""), ["everything is as asked for"]),
    ],
)
def test_conditions_are_told_when_they_change_unless_something_else_tells_it(
    condition: tuple[str, str, str, str], told: list[str]
) -> None:
    kind, status, reason, message = condition
    said = Condition(type=kind, status=status, reason=reason, message=message)  # type: ignore[arg-type]
    after = cluster(conditions=(said,))
    assert list(story.of_cluster(cluster(), after)) == told
    assert list(story.of_cluster(after, after)) == []


def test_events_of_other_objects_are_not_told() -> None:
    def event(kind: str, reason: str) -> events.Event:
        return events.Event(regarding=core.ObjectReference(kind=kind, name="x"), reason=reason, note="so it is")

    assert list(story.of_event(event("EtcdCluster", "MemberAdded"))) == [("x", "MemberAdded: so it is")]
    assert list(story.of_event(event("Pod", "Started"))) == []
    assert list(story.of_event(event("Service", "NotReachable"))) == [("x", "so it is")]


def test_what_is_suggested_can_be_pasted_into_a_shell() -> None:
    assert "export KUBECONFIG='/home/me/kube config'" in list(first_of_all(RUNNING))
    commands = [each for _, several in suggestions(RUNNING) for each in several]
    assert "kill -9 4711" in commands
    assert "rm -r /data/pvc-1/data; kubectl delete pod prod-etcd-2" in commands
    assert "kubectl scale etcdcluster prod-etcd --replicas=5" in commands


def test_every_file_that_is_suggested_is_there() -> None:
    root = Path(__file__).parents[3]
    files = {
        word
        for _, several in suggestions(RUNNING)
        for each in several
        for word in each.replace(")", " ").split()
        if word.startswith("operators/")
    }
    assert len(files) == 4
    assert [each for each in files if not (root / each).is_file()] == []


def test_a_place_is_held_by_one_run_at_a_time(tmp_path: Path) -> None:
    with held(tmp_path / "new"), pytest.raises(Trouble, match="runs already"), held(tmp_path / "new"):
        pass
    with held(tmp_path / "new"):
        pass


def test_a_place_that_can_not_be_made_is_told_of_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Trouble, match="WINDVANE_HOME"), held(tmp_path / "file" / "new"):
        pass
