"""How many replicas a metric asks for: given pods and what they use."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api import codec
from windvane.cluster.controllers.autoscaler.metrics import MetricsUnavailable, PodMetrics, Sample, samples_of
from windvane.cluster.controllers.autoscaler.replica_calculator import (
    AverageValue,
    PodUse,
    Target,
    Tolerance,
    Utilization,
    replicas_for,
    request_of,
)
from windvane.k8s.core import Pod

NOW = datetime(2030, 1, 1, tzinfo=UTC)
WINDOW = timedelta(seconds=30)


def pod(
    name: str,
    *,
    phase: str = "Running",
    ready: bool | None = True,
    started: float = 3600,
    changed: float = 3590,
    request: str = "1",
    **metadata: Any,
) -> Pod:
    """A pod that began `started` seconds ago, and whose readiness changed `changed` seconds ago."""
    conditions = []
    if ready is not None:
        since = codec.to_wire(NOW - timedelta(seconds=changed))
        conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": since}]
    began = codec.to_wire(NOW - timedelta(seconds=started))
    wire = {
        "metadata": {"name": name, **metadata},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": request, "memory": request}}}]},
        "status": {"phase": phase, "conditions": conditions, "startTime": began},
    }
    return codec.from_wire(wire, Pod)


def used(*milli: int | None) -> dict[str, Sample]:
    """What pods named 0, 1, ... use; None for one that nothing is known of."""
    return {str(name): Sample(each, NOW, WINDOW) for name, each in enumerate(milli) if each is not None}


def needed(
    target: Target,
    pods: list[Pod],
    samples: Mapping[str, Sample],
    *,
    current: int | None = None,
    resource: str = "cpu",
) -> int:
    current = len(pods) if current is None else current
    return replicas_for(current, target, pods, samples, resource=resource, tolerance=Tolerance(), now=NOW).replicas


def pods(count: int, **facts: Any) -> list[Pod]:
    return [pod(str(number), **facts) for number in range(count)]


def percent(target: int) -> Utilization:
    return Utilization(target, "cpu")


@pytest.mark.parametrize(
    ("target", "milli", "replicas"),
    [
        (30, (300, 500, 700), 5),  # 50 % on average, of 30
        (100, (1020, 1010, 1030), 3),  # hardly above
        (100, (990, 950, 980), 3),  # hardly below
        (100, (900, 850, 700), 3),
        (50, (100, 300, 500, 250, 250), 3),
        (50, (10, 10, 10), 1),
        (300, (8600, 8600, 8600), 9),  # a target of more than was requested
        (50, (550, 550), 2),  # exactly at the edge of what is tolerated
        (50, (560, 560), 3),
    ],
)
def test_utilization(target: int, milli: tuple[int, ...], replicas: int) -> None:
    assert needed(percent(target), pods(len(milli)), used(*milli)) == replicas


@pytest.mark.parametrize(
    ("target", "milli", "replicas"),
    [(15000, (20000, 10000, 30000), 4), (20000, (10000, 10000), 1), (10000, (10900, 10900), 2)],
)
def test_average_value(target: int, milli: tuple[int, ...], replicas: int) -> None:
    assert needed(AverageValue(target), pods(len(milli)), used(*milli), resource="memory") == replicas


def test_what_is_used_is_told_as_it_was_measured_not_as_it_was_guessed() -> None:
    found = replicas_for(3, percent(50), pods(3), used(900, 700, None), resource="cpu", tolerance=Tolerance(), now=NOW)
    assert found.use == PodUse(1.6, 800, 80)


# Of whom nothing is known


def test_who_is_not_known_counts_as_idle_when_more_are_needed() -> None:
    assert needed(percent(50), pods(3), used(1000, 1000, None)) == 4  # as many as without it would be six


def test_who_is_not_known_counts_as_busy_when_fewer_are_needed() -> None:
    assert needed(percent(50), pods(4), used(100, 100, 100, None)) == 3


def test_who_is_not_known_uses_the_target_if_that_is_more_than_all() -> None:
    assert needed(percent(200), pods(4), used(400, 400, 400, None)) == 2


def test_a_guess_does_not_turn_the_direction_around() -> None:
    assert needed(percent(50), pods(4), used(400, None, None, None)) == 4
    assert needed(percent(50), pods(4), used(700, None, None, None)) == 4


def test_a_guess_within_the_tolerance_changes_nothing() -> None:
    assert needed(percent(50), pods(2), used(1000, None)) == 2


def test_pods_that_wait_or_start_count_as_idle_when_more_are_needed_and_else_not_at_all() -> None:
    waiting = [*pods(2), pod("2", phase="Pending", ready=None)]
    assert needed(percent(50), waiting, used(1000, 1000)) == 4
    assert needed(percent(50), waiting, used(100, 100), current=3) == 1
    starting = [*pods(2), pod("2", ready=False, started=10, changed=10)]
    assert needed(percent(50), starting, used(1000, 1000, 5000)) == 4


@pytest.mark.parametrize(
    ("facts", "counts"),
    [
        ({"started": 100, "changed": 90}, True),  # ready for longer than a window
        ({"started": 100, "changed": 20}, False),  # ready, but the figures are of before, too
        ({"started": 100, "changed": 50, "ready": False}, False),
        ({"started": 400, "changed": 395, "ready": False}, False),  # never was ready
        ({"started": 400, "changed": 100, "ready": False}, True),  # was, and is busy with something
        ({"started": 400, "changed": 10}, True),
        ({"ready": None}, False),
    ],
)
def test_the_cpu_of_a_pod_counts_once_it_works(facts: dict[str, Any], counts: bool) -> None:
    both = [pod("0"), pod("1", **facts)]
    assert needed(percent(50), both, used(100, 900), current=2) == (2 if counts else 1)


def test_the_memory_of_a_pod_that_starts_counts() -> None:
    both = [pod("0"), pod("1", ready=False, started=10, changed=10)]
    assert needed(AverageValue(500), both, used(500, 1500), resource="memory") == 4


def test_pods_that_failed_or_are_going_do_not_count() -> None:
    gone = codec.to_wire(NOW)
    several = [pod("0"), pod("1", phase="Failed"), pod("2", deletionTimestamp=gone)]
    assert needed(percent(50), several, used(1000, 9000, 9000), current=1) == 2


# What can't be told


@pytest.mark.parametrize(
    ("several", "samples", "words"),
    [
        ([], used(1), "no pods returned by selector while calculating replica count"),
        (pods(1), {}, "did not receive metrics for targeted pods (pods might be unready)"),
        (pods(1, phase="Pending"), used(1), "did not receive metrics for targeted pods (pods might be unready)"),
        (pods(1), {"other": used(1)["0"]}, "no metrics returned matched known pods"),
    ],
)
def test_what_can_not_be_told(several: list[Pod], samples: dict[str, Sample], words: str) -> None:
    with pytest.raises(MetricsUnavailable) as refused:
        needed(percent(50), several, samples)
    assert str(refused.value) == words


def spec_pod(**spec: Any) -> Pod:
    return codec.from_wire({"metadata": {"name": "web"}, "spec": spec}, Pod)


def container(name: str, **requests: str) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests}}


def test_requests_are_of_all_containers_and_sidecars_but_not_of_what_only_prepares() -> None:
    several = spec_pod(
        containers=[container("a", cpu="1"), container("b", cpu="500m")],
        initContainers=[container("first", cpu="9"), {**container("side", cpu="250m"), "restartPolicy": "Always"}],
    )
    assert request_of(several, "cpu") == 1750
    assert request_of(several, "cpu", "b") == 500
    assert request_of(several, "cpu", "side") == 250


def test_a_pod_can_request_for_all_of_its_containers() -> None:
    whole = spec_pod(containers=[container("a", cpu="1"), {"name": "b"}], resources={"requests": {"cpu": "3"}})
    assert request_of(whole, "cpu") == 3000
    assert request_of(whole, "cpu", "a") == 1000
    with pytest.raises(MetricsUnavailable, match=r"^missing pod-level request for memory in Pod web$"):
        request_of(whole, "memory")


def test_what_is_not_requested_is_named() -> None:
    with pytest.raises(MetricsUnavailable, match=r"^missing request for cpu in container b of Pod web$"):
        request_of(spec_pod(containers=[container("a", cpu="1"), container("b", memory="1")]), "cpu")
    with pytest.raises(MetricsUnavailable, match=r"^container c not found in Pod web$"):
        request_of(spec_pod(containers=[container("a", cpu="1")]), "cpu", "c")


# Figures


def metrics(name: str, **containers: dict[str, str]) -> PodMetrics:
    wire = {
        "metadata": {"name": name},
        "timestamp": "2030-01-01T00:00:00Z",
        "window": "15.002s",
        "containers": [{"name": each, "usage": usage} for each, usage in containers.items()],
    }
    return codec.from_wire(wire, PodMetrics)


def test_figures_of_a_pod_are_those_of_all_its_containers_or_of_one() -> None:
    found = metrics("web", a={"cpu": "1500000n"}, b={"cpu": "250m"})
    assert samples_of([found], "cpu")["web"].milli == 252
    assert samples_of([found], "cpu", "b")["web"].milli == 250
    assert samples_of([found], "cpu", "c") == {}


def test_a_pod_of_which_a_part_is_unknown_is_unknown() -> None:
    assert samples_of([metrics("web", a={"cpu": "1"}, b={"memory": "1Ki"}), metrics("new")], "cpu") == {}


# Whatever the figures are

figures = st.lists(st.none() | st.integers(0, 5000), min_size=1, max_size=8)


@given(figures, st.integers(1, 200))
def test_more_use_never_asks_for_fewer(milli: list[int | None], target: int) -> None:
    if all(each is None for each in milli):
        return
    more = [each if each is None else 2 * each for each in milli]
    before = needed(percent(target), pods(len(milli)), used(*milli))
    assert needed(percent(target), pods(len(milli)), used(*more)) >= before


@given(figures, st.integers(1, 200))
def test_who_is_not_known_never_makes_the_change_larger(milli: list[int | None], target: int) -> None:
    known = [each for each in milli if each is not None]
    if not known:
        return
    with_guesses = needed(percent(target), pods(len(milli)), used(*milli))
    ratio = percent(target).measure(pods(len(known))).of({str(n): each for n, each in enumerate(known)}).ratio
    plain = ratio * len(milli)
    assert min(len(milli), plain) <= with_guesses <= max(len(milli), plain + 1)
