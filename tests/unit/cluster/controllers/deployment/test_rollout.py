"""The arithmetic of rollouts: what always holds, and examples from Kubernetes' documentation."""

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windvane.api import codec
from windvane.cluster.controllers.deployment.rollout import (
    RolloutLimits,
    is_scaled,
    limits_of,
    recreated_sizes,
    replicas_of,
    rolling_sizes,
    scaled_sizes,
)
from windvane.k8s.apps import Deployment, ReplicaSet

TEMPLATE: dict[str, object] = {"spec": {"containers": []}}
SHARE = st.integers(0, 12) | st.integers(0, 100).map(lambda percent: f"{percent}%")


def deployment(
    replicas: int, surge: int | str = 0, unavailable: int | str = 0, kind: str = "RollingUpdate"
) -> Deployment:
    strategy = {"type": kind, "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    spec = {"replicas": replicas, "selector": {}, "template": TEMPLATE, "strategy": strategy}
    return codec.from_wire({"metadata": {"name": "web"}, "spec": spec}, Deployment)


def replicaset(name: str, size: int, available: int = 0, *, age: int = 0, **annotations: int) -> ReplicaSet:
    metadata = {
        "name": name,
        "creationTimestamp": f"2026-01-01T00:00:{59 - age:02}Z",
        "annotations": {f"deployment.kubernetes.io/{key}-replicas": str(value) for key, value in annotations.items()},
    }
    spec = {"replicas": size, "selector": {}, "template": TEMPLATE}
    return codec.from_wire({"metadata": metadata, "spec": spec, "status": {"availableReplicas": available}}, ReplicaSet)


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "limits"),
    [
        (10, "25%", "25%", RolloutLimits(3, 2)),
        (1, "25%", "25%", RolloutLimits(1, 0)),
        (3, 0, 0, RolloutLimits(0, 1)),
        (3, "0%", "30%", RolloutLimits(0, 1)),
        (3, 1, 5, RolloutLimits(1, 3)),
        (0, "25%", 1, RolloutLimits(0, 0)),
    ],
)
def test_surge_is_rounded_up_and_unavailable_down(
    replicas: int, surge: int | str, unavailable: int | str, limits: RolloutLimits
) -> None:
    assert limits_of(deployment(replicas, surge, unavailable)) == limits


# A rolling update, whatever happens in it


@dataclass
class Pods:
    """A ReplicaSet with its pods, of which some are ready, and what its status says of them, which may be outdated."""

    rs: ReplicaSet
    ready: int = 0
    waiting: int = 0

    def sync(self) -> None:
        """What the controller of ReplicaSets does."""
        surplus = self.ready + self.waiting - replicas_of(self.rs)
        unready = min(surplus, self.waiting)  # below 0, these are pods to be made
        self.waiting -= unready
        self.ready -= surplus - unready
        self.rs.status.available_replicas = self.ready

    def become_ready(self, count: int) -> None:
        count = min(count, self.waiting)
        self.ready += count
        self.waiting -= count


@dataclass
class Rollout:
    """A Deployment in the middle of being updated, played step by step."""

    deployment: Deployment
    sets: list[Pods] = field(default_factory=list)

    def step(self) -> None:
        """What the controller of Deployments does."""
        new, *old = [each.rs for each in self.sets]
        sizes = rolling_sizes(self.deployment, new, old)
        for each in self.sets:
            each.rs.spec.replicas = sizes.get(each.rs.metadata.name, each.rs.spec.replicas)

    def check(self) -> None:
        desired, limits = replicas_of(self.deployment), limits_of(self.deployment)
        assert sum(replicas_of(each.rs) for each in self.sets) <= desired + limits.surge
        assert sum(each.ready for each in self.sets) >= desired - limits.unavailable


@settings(max_examples=3 * settings().max_examples)
@given(st.integers(0, 12), SHARE, SHARE, st.data())
def test_a_rolling_update_keeps_its_limits_and_ends(
    desired: int, surge: int | str, unavailable: int | str, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, desired), "pods of the older of two old ReplicaSets")
    rollout = Rollout(deployment(desired, surge, unavailable))
    for name, size, age in (("new", 0, 0), ("old", desired - first, 1), ("older", first, 2)):
        rollout.sets.append(Pods(replicaset(name, size, size, age=age), ready=size))
    for action in data.draw(st.lists(st.integers(0, 6), max_size=40), "what happens"):
        if action == 0:
            rollout.step()
        elif action <= 3:
            rollout.sets[action - 1].sync()
        else:
            rollout.sets[action - 4].become_ready(data.draw(st.integers(1, 3)))
        rollout.check()
    for _ in range(4 * desired + 4):  # and now all is done by turns
        rollout.step()
        for each in rollout.sets:
            each.sync()
            each.become_ready(1)
            each.sync()
            rollout.check()
    assert [replicas_of(each.rs) for each in rollout.sets] == [desired, 0, 0]


def test_unavailable_old_pods_go_before_available_ones() -> None:
    old = [replicaset("good", 8, 8, age=2), replicaset("bad", 4, 0, age=1)]
    assert rolling_sizes(deployment(10, 2, 2), replicaset("new", 0), old) == {"bad": 0}


def test_a_rollout_does_not_touch_good_pods_while_new_ones_are_not_up() -> None:
    assert rolling_sizes(deployment(10, 3, 2), replicaset("new", 5, 0), [replicaset("old", 8, 8)]) == {}


def test_pods_that_are_about_to_go_do_not_count_as_available() -> None:
    assert rolling_sizes(deployment(10, 0, 2), replicaset("new", 2, 0), [replicaset("old", 8, 10)]) == {}


def test_a_new_replicaset_that_is_too_large_is_made_smaller() -> None:
    assert rolling_sizes(deployment(3, 1, 1), replicaset("new", 5, 5), []) == {"new": 3}


# Scaling


def test_a_scaled_deployment_is_told_by_what_its_replicasets_remember() -> None:
    assert is_scaled(deployment(5), [replicaset("a", 3, desired=3)])
    assert not is_scaled(deployment(5), [replicaset("a", 3, desired=5)])
    assert not is_scaled(deployment(5), [replicaset("a", 3)])
    assert not is_scaled(deployment(5), [replicaset("a", 0, desired=3)]), "one without pods says nothing"


def test_the_only_replicaset_with_pods_gets_all() -> None:
    old = [replicaset("old", 0, age=1), replicaset("older", 3, age=2)]
    assert scaled_sizes(deployment(7), replicaset("new", 0), old) == {"older": 7}


def test_without_any_pods_the_newest_gets_all() -> None:
    old = [replicaset("older", 0, age=2), replicaset("old", 0, age=1)]
    assert scaled_sizes(deployment(7), replicaset("new", 0), old) == {"new": 7}
    assert scaled_sizes(deployment(7), None, old) == {"old": 7}


def test_without_any_replicaset_there_is_nothing_to_scale() -> None:
    assert scaled_sizes(deployment(7), None, []) == {}


def test_old_replicasets_beside_a_new_one_that_is_complete_are_emptied() -> None:
    new = replicaset("new", 3, 3, desired=3)
    assert scaled_sizes(deployment(3), new, [replicaset("old", 2, 2)]) == {"old": 0}


@pytest.mark.parametrize(
    ("to", "expected"), [(15, {"old": 11, "new": 7}), (5, {"old": 5, "new": 3}), (0, {"old": 0, "new": 0})]
)
def test_replicasets_keep_their_shares(to: int, expected: dict[str, int]) -> None:
    old, new = replicaset("old", 8, age=1, max=13, desired=10), replicaset("new", 5, max=13, desired=10)
    assert scaled_sizes(deployment(to, 3, 2), new, [old]) == expected


def test_of_two_of_the_same_size_the_newer_grows_and_the_older_shrinks() -> None:
    old, new = replicaset("old", 5, age=1, max=10, desired=10), replicaset("new", 5, max=10, desired=10)
    assert scaled_sizes(deployment(11), new, [old]) == {"new": 6, "old": 5}
    assert scaled_sizes(deployment(9), new, [old]) == {"new": 5, "old": 4}


@given(st.integers(0, 40), SHARE, st.lists(st.integers(1, 20), min_size=2, max_size=4))
@example(1, 1, [1, 1, 1, 1])
def test_shares_add_up_to_what_there_may_be(desired: int, surge: int | str, now: list[int]) -> None:
    sets = [replicaset(str(age), size, age=age, max=sum(now)) for age, size in enumerate(now)]
    wanted = deployment(desired, surge, 1)
    sizes = scaled_sizes(wanted, sets[0], sets[1:])
    there_may_be = desired + limits_of(wanted).surge if desired else 0
    assert min(sizes.values()) >= 0
    # What rounding leaves over is taken from the largest; if that is not enough, the next pass sees to the rest.
    _, oldest = max((size, age) for age, size in enumerate(now))
    total = sum(sizes.values())
    assert total == there_may_be or (total > there_may_be and sizes[str(oldest)] == 0)


def test_with_recreate_several_replicasets_are_left_to_the_rollout() -> None:
    old, new = replicaset("old", 5, age=1), replicaset("new", 5)
    assert scaled_sizes(deployment(7, kind="Recreate"), new, [old]) == {}


# Recreation


def test_recreate_empties_the_old_then_waits_then_fills_the_new() -> None:
    wanted, old, new = deployment(3, kind="Recreate"), replicaset("old", 3, 3), replicaset("new", 0)
    assert recreated_sizes(wanted, new, [old], pods_run=True) == {"old": 0}
    old.spec.replicas = 0
    assert recreated_sizes(wanted, new, [old], pods_run=True) == {}
    assert recreated_sizes(wanted, new, [old], pods_run=False) == {"new": 3}
