"""How far and how fast an autoscaler goes: given what it recommended and did before."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api import codec
from windvane.cluster.controllers.autoscaler.behavior import (
    LONGEST,
    Moments,
    ScaleHistory,
    fastest_down,
    fastest_up,
    limit,
)
from windvane.k8s.autoscaling import HorizontalPodAutoscalerSpec, HPAScalingRules

NOW = 100_000.0


def spec(lowest: int = 1, highest: int = 100, behavior: dict[str, Any] | None = None) -> HorizontalPodAutoscalerSpec:
    wire: dict[str, Any] = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}}
    wire |= {"minReplicas": lowest, "maxReplicas": highest}
    return codec.from_wire(wire | ({} if behavior is None else {"behavior": behavior}), HorizontalPodAutoscalerSpec)


def ago(*moments: tuple[float, int]) -> Moments:
    return tuple((NOW - seconds, number) for seconds, number in moments)


def rules(*policies: tuple[str, int, int], **more: Any) -> HPAScalingRules:
    listed = [{"type": kind, "value": value, "periodSeconds": period} for kind, value, period in policies]
    return codec.from_wire({"policies": listed, **more}, HPAScalingRules)


# Without a behavior


@pytest.mark.parametrize(
    ("current", "wanted", "replicas", "reason"),
    [
        (3, 5, 5, "DesiredWithinRange"),
        (3, 7, 6, "ScaleUpLimit"),
        (1, 7, 4, "ScaleUpLimit"),  # four are always allowed
        (8, 17, 12, "TooManyReplicas"),
        (6, 12, 12, "DesiredWithinRange"),
        (6, 1, 2, "TooFewReplicas"),
        (6, 0, 2, "TooFewReplicas"),
        (6, 3, 3, "DesiredWithinRange"),
    ],
)
def test_bounds_and_twice_as_many_at_a_time(current: int, wanted: int, replicas: int, reason: str) -> None:
    found = limit(current, wanted, spec(2, 12), ScaleHistory(), NOW)
    assert (found.replicas, found.why[0]) == (replicas, reason)
    assert found.limits == (replicas != wanted)
    assert found.able[0] == "ReadyForNewScale"


@pytest.mark.parametrize(
    ("recommended", "replicas", "able"),
    [
        (ago((301, 9)), 3, "ReadyForNewScale"),
        (ago((300, 9)), 9, "ScaleDownStabilized"),
        (ago((10, 5), (200, 7), (400, 9)), 7, "ScaleDownStabilized"),
        (ago((10, 2)), 3, "ReadyForNewScale"),
    ],
)
def test_the_highest_of_five_minutes_holds(recommended: Moments, replicas: int, able: str) -> None:
    found = limit(9, 3, spec(), ScaleHistory(recommended), NOW)
    assert (found.replicas, found.able[0]) == (replicas, able)


# With one

BOTH = {"scaleUp": {"stabilizationWindowSeconds": 60}, "scaleDown": {"stabilizationWindowSeconds": 120}}


@pytest.mark.parametrize(
    ("current", "wanted", "recommended", "replicas", "able"),
    [
        (4, 8, ago((30, 6)), 6, "ScaleUpStabilized"),
        (4, 8, ago((30, 2)), 4, "ScaleUpStabilized"),
        (4, 8, ago((60, 6)), 8, "ReadyForNewScale"),
        (8, 2, ago((100, 5), (130, 7)), 5, "ScaleDownStabilized"),
        (8, 2, ago((10, 20)), 8, "ScaleDownStabilized"),
        (8, 2, (), 2, "ReadyForNewScale"),
    ],
)
def test_each_direction_has_its_calm(current: int, wanted: int, recommended: Moments, replicas: int, able: str) -> None:
    found = limit(current, wanted, spec(behavior=BOTH), ScaleHistory(recommended), NOW)
    assert (found.replicas, found.able[0]) == (replicas, able)


def test_five_minutes_are_the_calm_of_whoever_says_nothing() -> None:
    behavior: dict[str, Any] = {"scaleUp": {}, "scaleDown": {}}
    assert limit(8, 2, spec(behavior=behavior), ScaleHistory(ago((299, 8))), NOW).replicas == 8
    assert limit(8, 2, spec(behavior=behavior), ScaleHistory(ago((300, 8))), NOW).replicas == 2


@pytest.mark.parametrize(
    ("policies", "select", "added", "removed", "allowed"),
    [
        ([("Pods", 4, 60)], "Max", (), (), 14),
        ([("Pods", 4, 60)], "Max", ((30, 3),), (), 11),
        ([("Pods", 4, 60)], "Max", ((60, 3),), (), 14),
        ([("Pods", 4, 60)], "Max", ((30, 3),), ((20, 5),), 16),
        ([("Percent", 25, 60)], "Max", (), (), 13),
        ([("Percent", 1, 60)], "Max", (), (), 11),
        ([("Pods", 4, 60), ("Percent", 100, 60)], "Max", (), (), 20),
        ([("Pods", 4, 60), ("Percent", 100, 60)], "Min", (), (), 14),
        ([("Pods", 4, 60)], "Disabled", (), (), 10),
    ],
)
def test_how_fast_it_grows(policies: Any, select: str, added: Any, removed: Any, allowed: int) -> None:
    history = ScaleHistory((), ago(*added), ago(*removed))
    assert fastest_up(10, rules(*policies, selectPolicy=select), history, NOW) == allowed


@pytest.mark.parametrize(
    ("policies", "select", "removed", "allowed"),
    [
        ([("Pods", 4, 60)], "Max", (), 6),
        ([("Pods", 4, 60)], "Max", ((30, 3),), 9),
        ([("Percent", 25, 60)], "Max", (), 7),
        ([("Percent", 100, 60)], "Max", (), 0),
        ([("Pods", 4, 60), ("Percent", 10, 60)], "Max", (), 6),
        ([("Pods", 4, 60), ("Percent", 10, 60)], "Min", (), 9),
        ([("Pods", 4, 60)], "Disabled", (), 10),
    ],
)
def test_how_fast_it_shrinks(policies: Any, select: str, removed: Any, allowed: int) -> None:
    history = ScaleHistory((), (), ago(*removed))
    assert fastest_down(10, rules(*policies, selectPolicy=select), history, NOW) == allowed


def test_who_added_more_than_is_allowed_now_stays() -> None:
    behavior = {"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}
    found = limit(10, 20, spec(behavior=behavior), ScaleHistory((), ago((10, 5))), NOW)
    assert (found.replicas, found.limits, found.why[0]) == (10, True, "ScaleUpLimit")


def test_what_is_older_than_any_window_is_forgotten() -> None:
    history = ScaleHistory(ago((LONGEST + 1, 3), (10, 4)), ago((LONGEST + 1, 3)), ago((LONGEST + 1, 3)))
    history = history.recommending(5, NOW).scaled(1, 3, NOW).scaled(3, 2, NOW)
    assert history == ScaleHistory((*ago((10, 4)), (NOW, 5)), ((NOW, 2),), ((NOW, 1),))


# Whatever it is asked

moments = st.lists(st.tuples(st.floats(0, 4000), st.integers(0, 30)), max_size=6).map(lambda each: ago(*each))
policy = st.tuples(st.sampled_from(["Pods", "Percent"]), st.integers(1, 200), st.integers(1, 1800))
scaling_rules = st.fixed_dictionaries(
    {
        "stabilizationWindowSeconds": st.integers(0, 3600),
        "selectPolicy": st.sampled_from(["Max", "Min", "Disabled"]),
        "policies": st.lists(policy, min_size=1, max_size=3).map(
            lambda each: [dict(zip(("type", "value", "periodSeconds"), one, strict=True)) for one in each]
        ),
    }
)
behaviors = st.none() | st.fixed_dictionaries({"scaleUp": scaling_rules, "scaleDown": scaling_rules})
histories = st.builds(ScaleHistory, moments, moments, moments)


@given(st.integers(2, 40), st.integers(0, 200), behaviors, histories)
def test_it_stays_within_its_bounds_and_goes_only_where_it_was_asked_to_lately(
    current: int, wanted: int, behavior: Any, history: ScaleHistory
) -> None:
    found = limit(current, wanted, spec(2, 40, behavior), history, NOW)
    assert 2 <= found.replicas <= 40
    asked = [wanted, *(number for _, number in history.recommended)]
    if found.replicas > current:
        assert max(asked) > current
    if found.replicas < current:
        assert wanted < current
    assert found.limits or found.replicas in (current, wanted, *asked)
