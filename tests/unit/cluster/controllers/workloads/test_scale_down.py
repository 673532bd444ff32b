"""Which pods go first when there are too many."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from windvane.api import codec
from windvane.cluster.controllers.workloads.pod_state import essence
from windvane.cluster.controllers.workloads.scale_down import deletion_cost, pods_to_delete
from windvane.k8s.core import Pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pod(
    name: str,
    *,
    node: str = "a",
    phase: str = "Running",
    ready: float | None = 1000,
    age: float = 2000,
    cost: str | None = None,
    restarts: int = 0,
) -> Pod:
    """A pod that is ready for so many seconds, and made so many seconds ago."""
    made, since = NOW - timedelta(seconds=age), NOW - timedelta(seconds=ready or 0)
    status: dict[str, Any] = {
        "phase": phase,
        "containerStatuses": [{"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": restarts}],
    }
    if ready is not None:
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since.isoformat()}]
    annotations = {} if cost is None else {"controller.kubernetes.io/pod-deletion-cost": cost}
    metadata = {"name": name, "uid": name, "creationTimestamp": made.isoformat(), "annotations": annotations}
    spec = {"containers": [{"name": "c"}], "nodeName": node}
    return codec.from_wire({"metadata": metadata, "spec": spec, "status": status}, Pod)


GOES, STAYS = "z-goes", "a-stays"  # where nothing else tells them apart, the lesser uid would go

RULES = {
    "without a node before with one": ({"node": "", "ready": 1000}, {"node": "a", "ready": None, "phase": "Pending"}),
    "pending before running": ({"phase": "Pending"}, {"phase": "Running", "ready": None}),
    "unknown before running": ({"phase": "Unknown"}, {"phase": "Running", "ready": None}),
    "pending before unknown": ({"phase": "Pending"}, {"phase": "Unknown", "ready": None}),
    "not ready before ready": ({"ready": None, "cost": "100"}, {"cost": "-5"}),
    "lower cost before higher": ({"cost": "-1"}, {"cost": "1", "ready": 1}),
    "no cost is nought": ({}, {"cost": "1", "ready": 1}),
    "ready for less long": ({"ready": 10}, {"ready": 1000, "restarts": 7}),
    "more restarts": ({"restarts": 3}, {"restarts": 1, "age": 2}),
    "newer": ({"age": 1500, "ready": None}, {"age": 90000, "ready": None}),
}


@pytest.mark.parametrize(("goes", "stays"), RULES.values(), ids=RULES.keys())
def test_the_one_whose_loss_hurts_least_goes_first(goes: dict[str, Any], stays: dict[str, Any]) -> None:
    both = [pod(STAYS, **stays), pod(GOES, **goes)]
    assert [each.metadata.name for each in pods_to_delete(both, 1, [], NOW)] == [GOES]
    assert [each.metadata.name for each in pods_to_delete([*map(essence, both)], 1, [], NOW)] == [GOES]


def test_of_those_with_as_much_kin_on_their_node_as_others_have_one_goes_where_there_is_most() -> None:
    crowded, lonely = pod(GOES, node="full"), pod(STAYS, node="empty", ready=1)
    kin = [crowded, lonely, pod("x", node="full"), pod("y", node="full", ready=None)]
    assert pods_to_delete([lonely, crowded], 1, kin, NOW) == [crowded]


def test_finished_kin_makes_no_crowd() -> None:
    one, other = pod(GOES, node="full"), pod(STAYS, node="empty", ready=1)
    kin = [one, other, pod("x", node="full", phase="Succeeded")]
    assert pods_to_delete([one, other], 1, kin, NOW) == [other]


def test_times_of_one_order_of_magnitude_are_the_same_and_the_uid_decides() -> None:
    older, newer = pod("a", ready=1000), pod("b", ready=900)
    assert pods_to_delete([newer, older], 1, [], NOW) == [older]


def test_all_go_if_all_are_too_many() -> None:
    both = [pod("a"), pod("b")]
    assert pods_to_delete(both, 2, [], NOW) == both


@pytest.mark.parametrize(
    ("text", "cost"),
    {
        "5": 5,
        "-5": -5,
        "0": 0,
        "+5": 0,
        "05": 0,
        "-05": -5,
        "": 0,
        "x": 0,
        "2147483648": 0,
        "-2147483648": -(2**31),
    }.items(),
)
def test_a_deletion_cost_that_makes_no_sense_is_nought(text: str, cost: int) -> None:
    assert deletion_cost(pod("a", cost=text)) == cost
