"""When a pod counts, and since when it is available."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api import codec
from windvane.cluster.controllers.workloads.pod_state import (
    essence,
    is_active,
    is_available,
    is_terminating,
    seconds_until_available,
)
from windvane.k8s.core import Pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pod(phase: str = "Running", ready: str = "True", since: float | None = 0, deleted: bool = False) -> Pod:
    condition = {"type": "Ready", "status": ready}
    if since is not None:
        condition["lastTransitionTime"] = (NOW - timedelta(seconds=since)).isoformat()
    metadata = {"name": "x"} | ({"deletionTimestamp": NOW.isoformat()} if deleted else {})
    status = {"phase": phase, "conditions": [condition]}
    return codec.from_wire({"metadata": metadata, "spec": {"containers": []}, "status": status}, Pod)


@pytest.mark.parametrize(
    ("what", "active", "terminating"),
    [
        (pod("Pending"), True, False),
        (pod("Running"), True, False),
        (pod("Unknown"), True, False),
        (pod("Succeeded"), False, False),
        (pod("Failed"), False, False),
        (pod(deleted=True), False, True),
        (pod("Failed", deleted=True), False, False),
    ],
)
def test_what_counts(what: Pod, active: bool, terminating: bool) -> None:
    assert (is_active(what), is_terminating(what)) == (active, terminating)
    assert (is_active(essence(what)), is_terminating(essence(what))) == (active, terminating)


def test_a_ready_pod_is_available_at_once_if_no_time_is_asked_for() -> None:
    assert is_available(pod(since=None), 0, NOW)
    assert not is_available(pod(ready="False"), 0, NOW)


def test_a_pod_of_which_nobody_knows_since_when_it_is_ready_never_becomes_available() -> None:
    assert not is_available(pod(since=None), 1, NOW)
    assert seconds_until_available([pod(since=None)], 1, NOW) is None


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_pod_is_available_exactly_when_no_time_is_left(ready_for: int, min_ready: int) -> None:
    one = essence(pod(since=ready_for))
    assert is_available(one, min_ready, NOW) == (seconds_until_available([one], min_ready, NOW) is None)


def test_the_pod_that_becomes_available_next_counts() -> None:
    assert seconds_until_available([pod(since=5), pod(since=8), pod(since=20)], 10, NOW) == 2
