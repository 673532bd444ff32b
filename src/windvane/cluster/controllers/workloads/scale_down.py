"""Which pods go first when there are too many: those whose loss hurts least.

In this order, each rule only where those before it see no difference: without a node before with one; pending before
unknown before running; not ready before ready; lower deletion cost; more of its kin on the same node; ready for a
shorter time; more restarts; newer. Times are compared by their order of magnitude only: a Deployment whose pods are a
week old should not always lose its newest, which may be all that a zone has.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cmp_to_key
from typing import TypeVar

from windvane.cluster.controllers.workloads.pod_state import DELETION_COST, is_active, is_ready, ready_since
from windvane.k8s.core import Pod

ComparedT = TypeVar("ComparedT", int, str, tuple[int, int])

PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def pods_to_delete(pods: Sequence[Pod], count: int, kin: Iterable[Pod], now: datetime) -> list[Pod]:
    """The first `count` of these pods to go; `kin` are those of all ReplicaSets of the same Deployment."""
    if count >= len(pods):
        return list(pods)
    on_node = Counter(each.spec.node_name for each in kin if is_active(each))

    def before(one: Pod, other: Pod) -> int:
        for a, b in zip(_standing(one, on_node), _standing(other, on_node), strict=True):
            if a != b:
                return -1 if a < b else 1
        return (
            _younger(ready_since(one), ready_since(other), one, other, now)
            or _compare(_restarts(other), _restarts(one))
            or _younger(one.metadata.creation_timestamp, other.metadata.creation_timestamp, one, other, now)
        )

    return sorted(pods, key=cmp_to_key(before))[:count]


def deletion_cost(pod: Pod) -> int:
    """What its owner says about how sorry it would be; 0 if it says nothing that makes sense."""
    text = pod.metadata.annotations.get(DELETION_COST, "")
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or (digits.startswith("0") and text != "0" and text == digits):
        return 0
    cost = int(text)
    return cost if -(2**31) <= cost < 2**31 else 0


def _standing(pod: Pod, on_node: Counter[str | None]) -> tuple[int, ...]:
    """What can be said without looking at times; the least goes first."""
    return (
        1 if pod.spec.node_name else 0,
        PHASES.get(pod.status.phase or "", 0),
        1 if is_ready(pod) else 0,
        deletion_cost(pod),
        -on_node[pod.spec.node_name],
    )


def _younger(a: datetime | None, b: datetime | None, one: Pod, other: Pod, now: datetime) -> int:
    if a == b:
        return 0
    if a is None or b is None:
        return -1 if a is None else 1
    return _compare(_magnitude(now, a), _magnitude(now, b)) or _compare(one.metadata.uid, other.metadata.uid)


def _magnitude(now: datetime, since: datetime) -> int:
    nanoseconds = (now - since).total_seconds() * 1e9
    return int(math.log2(nanoseconds)) if nanoseconds > 0 else -1


def _restarts(pod: Pod) -> tuple[int, int]:
    """The most often that one of its containers was restarted, and one of its sidecars."""
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    return (
        max((each.restart_count for each in pod.status.container_statuses), default=0),
        max((each.restart_count for each in pod.status.init_container_statuses if each.name in sidecars), default=0),
    )


def _compare(a: ComparedT, b: ComparedT) -> int:
    return -1 if a < b else 1 if a > b else 0
