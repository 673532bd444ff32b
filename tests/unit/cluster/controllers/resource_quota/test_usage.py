"""A kept count is what counting anew would give, and reads only what has changed."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.envelope import Item
from windvane.api.resource import Object
from windvane.cluster.controllers.resource_quota import usage
from windvane.cluster.controllers.resource_quota.usage import QuotaUsage
from windvane.cluster.quota import count
from windvane.k8s.core import Pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAYS: dict[str, Any] = {"hard": {"pods": "9", "count/pods": "9", "requests.cpu": "9", "secrets": "9"}}


def pod(name: str, version: int, cpu: int = 1, **metadata: Any) -> Item[Object]:
    containers = [{"name": "c", "resources": {"requests": {"cpu": f"{cpu}m"}}}]
    wire = {"metadata": {"name": name, "resourceVersion": str(version), **metadata}, "spec": {"containers": containers}}
    return Item(json.dumps(wire).encode(), Pod)


def used(tally: QuotaUsage, pods: Sequence[Item[Object]], now: datetime = NOW) -> dict[str, str]:
    return {name: str(amount) for name, amount in tally.count(pods, now).items()}


def test_what_comes_changes_and_goes_is_counted() -> None:
    tally = QuotaUsage(SAYS, "pods")
    assert used(tally, []) == {"pods": "0", "count/pods": "0", "requests.cpu": "0"}
    assert used(tally, [pod("a", 1), pod("b", 2, cpu=5)]) == {"pods": "2", "count/pods": "2", "requests.cpu": "6m"}
    assert used(tally, [pod("a", 3, cpu=2), pod("b", 2, cpu=5)])["requests.cpu"] == "7m"
    assert used(tally, [pod("a", 3, cpu=2)]) == {"pods": "1", "count/pods": "1", "requests.cpu": "2m"}


def test_what_stays_as_it_is_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noting(quota: Any, objects: Any, now: datetime) -> Any:
        read.extend(each["metadata"]["name"] for those in objects.values() for each in those)
        return count(quota, objects, now)

    monkeypatch.setattr(usage, "count", noting)
    tally = QuotaUsage(SAYS, "pods")
    used(tally, [pod("a", 1), pod("b", 2)])
    used(tally, [pod("a", 1), pod("b", 3)])
    assert read == ["a", "b", "b"]


def test_what_can_not_be_counted_leaves_the_count_as_it_was() -> None:
    tally = QuotaUsage(SAYS, "pods")
    used(tally, [pod("a", 1), pod("b", 2)])
    broken: Item[Object] = Item(b'{"metadata": {"name": "c"}, "spec": {"containers": 1}}', Pod)
    with pytest.raises(TypeError):
        used(tally, [pod("a", 3, cpu=7), broken])
    assert used(tally, [pod("b", 2)]) == {"pods": "1", "count/pods": "1", "requests.cpu": "1m"}


def test_a_pod_that_should_be_gone_counts_no_longer_though_it_stays_as_it_is() -> None:
    tally = QuotaUsage(SAYS, "pods")
    going = pod("a", 1, deletionTimestamp="2026-01-01T00:00:05Z", deletionGracePeriodSeconds=5)
    assert used(tally, [going])["pods"] == "1"
    assert used(tally, [going], NOW + timedelta(seconds=9))["pods"] == "1"
    assert used(tally, [going], NOW + timedelta(minutes=1)) == {"pods": "0", "count/pods": "1", "requests.cpu": "0"}


@given(st.lists(st.dictionaries(st.sampled_from("abcde"), st.integers(1, 4)), max_size=8))
def test_it_is_what_counting_anew_gives(states: list[dict[str, int]]) -> None:
    tally = QuotaUsage(SAYS, "pods")
    for state in states:
        there = [pod(name, cpu, cpu) for name, cpu in state.items()]
        anew = count({"spec": SAYS}, {"pods": [json.loads(item.raw) for item in there]}, NOW)
        assert tally.count(there, NOW) == anew
