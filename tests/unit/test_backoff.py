"""Backoff: how long to wait after how many failures, and what can't be one."""

from typing import Any

import pytest

from windvane import Backoff, Operator, ambient
from windvane.runtime.queue import WorkQueue
from windvane.sim.time import VirtualTime


class Still(VirtualTime):
    """Time without chance."""

    def jitter(self, seconds: float) -> float:
        return seconds


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        (Backoff(), [0.2, 0.4, 0.8, 1.6]),
        (Backoff(first=1, most=5, factor=3), [1, 3, 5, 5]),
        (Backoff(first=2, most=60, factor=1), [2, 2, 2, 2]),
        (Backoff(first=7, most=7), [7, 7, 7, 7]),
    ],
    ids=str,
)
async def test_each_pause_is_longer_than_the_last_up_to_the_limit(backoff: Backoff, delays: list[float]) -> None:
    with ambient.use(Still()):
        assert [backoff.delay(failures) for failures in range(4)] == pytest.approx(delays)
        queue: WorkQueue[str] = WorkQueue(retry=backoff)
        assert [queue.retry("a") for _ in range(4)] == pytest.approx(delays)
        queue.close()


def test_a_thousand_failures_are_no_longer_a_pause_than_the_limit() -> None:
    with ambient.use(Still()):
        assert Backoff().delay(1000) == 300.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"first": 0}, r"Backoff\(first=0\) would try again almost without a pause: write Backoff\(first=1"),
        ({"first": -1}, "without a pause"),
        ({"first": 1e-9, "most": 1e-9}, "without a pause"),
        ({"first": 10, "most": 5}, r"Backoff\(first=10, most=5\) has its limits swapped"),
        ({"factor": 0.5}, "would try faster and faster"),
        ({"first": "1s"}, r"Backoff\(first='1s'\) must be a number"),
        ({"most": float("inf")}, r"Backoff\(most=inf\) must be a number"),
        ({"most": None}, "must be a number"),
    ],
    ids=str,
)
def test_what_can_not_be_is_refused_with_what_to_write(given: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        Backoff(**given)


def test_a_number_is_no_backoff() -> None:
    from windvane.k8s.core import ConfigMap

    operator: Any = Operator("websites")
    with pytest.raises(TypeError, match=r"retry= takes a Backoff, not 5: write retry=Backoff\(first=1, most=60\)"):
        operator.controller(ConfigMap, retry=5)


def test_the_longest_pause_has_no_chance_in_it() -> None:
    assert [Backoff(first=10, most=60).longest(failures) for failures in range(5)] == [10, 20, 40, 60, 60]
