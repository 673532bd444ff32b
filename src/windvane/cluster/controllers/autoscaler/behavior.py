"""How far and how fast an autoscaler may go: its bounds, its rates, and the calm between two changes of mind.

The calm comes first: of what was recommended lately, it goes down to the highest only, and up to the lowest. Then come
the rates, which count what was added and removed lately, and the bounds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from windvane.k8s.autoscaling import HorizontalPodAutoscalerSpec, HPAScalingPolicy, HPAScalingRules

CALM = 300.0
"""For how many seconds a recommendation keeps it from going below, if its behavior says nothing."""
LONGEST = 3600.0
"""The longest window that an autoscaler may have, in seconds: what is older need not be remembered."""

Moments = tuple[tuple[float, int], ...]
"""When, by a clock that is never set, and how many."""

UP = HPAScalingRules(
    stabilization_window_seconds=0,
    select_policy="Max",
    policies=[
        HPAScalingPolicy(type="Pods", value=4, period_seconds=15),
        HPAScalingPolicy(type="Percent", value=100, period_seconds=15),
    ],
)
DOWN = HPAScalingRules(select_policy="Max", policies=[HPAScalingPolicy(type="Percent", value=100, period_seconds=15)])

DOWN_STABILIZED = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)
UP_STABILIZED = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
READY_FOR_NEW_SCALE = ("ReadyForNewScale", "recommended size matches current size")
WITHIN_RANGE = ("DesiredWithinRange", "the desired count is within the acceptable range")
TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
TOO_FAST_UP = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
TOO_FAST_DOWN = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")


@dataclass(frozen=True)
class ScaleHistory:
    """What an autoscaler recommended and did lately."""

    recommended: Moments = ()
    added: Moments = ()
    removed: Moments = ()

    def recommending(self, replicas: int, now: float) -> "ScaleHistory":
        """With one more recommendation."""
        return replace(self, recommended=(*_lately(self.recommended, now), (now, replicas)))

    def scaled(self, before: int, after: int, now: float) -> "ScaleHistory":
        """With one more change."""
        if after > before:
            return replace(self, added=(*_lately(self.added, now), (now, after - before)))
        return replace(self, removed=(*_lately(self.removed, now), (now, before - after)))

    def growth(self, seconds: float, now: float) -> int:
        """How many were added, less those that were removed, within that time."""
        return sum(_since(self.added, now - seconds)) - sum(_since(self.removed, now - seconds))


def _lately(moments: Moments, now: float) -> Moments:
    return tuple((at, number) for at, number in moments if at >= now - LONGEST)


def _since(moments: Moments, then: float) -> list[int]:
    return [number for at, number in moments if at > then]


class Limited(NamedTuple):
    """How many replicas there may be, and why not as many as were asked for."""

    replicas: int
    able: tuple[str, str]
    """Reason and message of AbleToScale: whether there is calm to be kept."""
    limits: bool
    """Whether the condition ScalingLimited is true: a bound or a rate is in the way."""
    why: tuple[str, str]
    """Reason and message of it."""


def limit(current: int, wanted: int, spec: HorizontalPodAutoscalerSpec, history: ScaleHistory, now: float) -> Limited:
    """How many replicas there may be, where so many are and so many are wanted."""
    if spec.behavior is None:
        recent = [number for at, number in history.recommended if at >= now - CALM]
        calm = max([wanted, *recent])
        stabilized = DOWN_STABILIZED
        replicas, why = _within(current, calm, lowest_of(spec), spec.max_replicas)
    else:
        up, down = spec.behavior.scale_up or UP, spec.behavior.scale_down or DOWN
        calm = _calm(current, wanted, up, down, history, now)
        stabilized = UP_STABILIZED if wanted >= current else DOWN_STABILIZED
        replicas, why = current, WITHIN_RANGE
        if calm > current:
            replicas, why = _up(current, calm, spec.max_replicas, up, history, now)
        elif calm < current:
            replicas, why = _down(current, calm, lowest_of(spec), down, history, now)
    return Limited(replicas, READY_FOR_NEW_SCALE if calm == wanted else stabilized, replicas != calm, why)


def lowest_of(spec: HorizontalPodAutoscalerSpec) -> int:
    """How many replicas there are at least."""
    return 1 if spec.min_replicas is None else spec.min_replicas


def _within(current: int, wanted: int, lowest: int, highest: int) -> tuple[int, tuple[str, str]]:
    """Bounds alone, and twice as many at a time: figures that are wrong must not do much harm."""
    fastest = max(2 * current, 4)
    if wanted < lowest:
        return lowest, TOO_FEW
    if wanted > min(fastest, highest):
        return min(fastest, highest), TOO_FAST_UP if highest > fastest else TOO_MANY
    return wanted, WITHIN_RANGE


def _calm(
    current: int, wanted: int, up: HPAScalingRules, down: HPAScalingRules, history: ScaleHistory, now: float
) -> int:
    up_window = up.stabilization_window_seconds or 0
    down_window = CALM if down.stabilization_window_seconds is None else down.stabilization_window_seconds
    lowest = min([wanted, *_since(history.recommended, now - up_window)])
    highest = max([wanted, *_since(history.recommended, now - down_window)])
    return min(max(current, lowest), highest)


def _up(
    current: int, wanted: int, highest: int, rules: HPAScalingRules, history: ScaleHistory, now: float
) -> tuple[int, tuple[str, str]]:
    # One that has just added more than the rules allow waits until that is a while ago.
    fastest = max(current, fastest_up(current, rules, history, now))
    if wanted > min(fastest, highest):
        return min(fastest, highest), TOO_FAST_UP if highest > fastest else TOO_MANY
    return wanted, WITHIN_RANGE


def _down(
    current: int, wanted: int, lowest: int, rules: HPAScalingRules, history: ScaleHistory, now: float
) -> tuple[int, tuple[str, str]]:
    fastest = min(current, fastest_down(current, rules, history, now))
    if wanted < max(fastest, lowest):
        return max(fastest, lowest), TOO_FAST_DOWN if lowest < fastest else TOO_FEW
    return wanted, WITHIN_RANGE


def fastest_up(current: int, rules: HPAScalingRules, history: ScaleHistory, now: float) -> int:
    """To how many the policies allow to go up now."""
    if rules.select_policy == "Disabled":
        return current
    allowed = []
    for policy in _policies(rules, UP):
        before = current - history.growth(policy.period_seconds, now)
        # Rounded up, else one of a few percent could never take the first step.
        share = math.ceil(before * (1 + policy.value / 100))
        allowed.append(before + policy.value if policy.type == "Pods" else share)
    return min(allowed) if rules.select_policy == "Min" else max(allowed)


def fastest_down(current: int, rules: HPAScalingRules, history: ScaleHistory, now: float) -> int:
    """To how many the policies allow to go down now."""
    if rules.select_policy == "Disabled":
        return current
    allowed = []
    for policy in _policies(rules, DOWN):
        before = current - history.growth(policy.period_seconds, now)
        share = int(before * (1 - policy.value / 100))
        allowed.append(before - policy.value if policy.type == "Pods" else share)
    return max(allowed) if rules.select_policy == "Min" else min(allowed)


def _policies(rules: HPAScalingRules, otherwise: HPAScalingRules) -> Sequence[HPAScalingPolicy]:
    return rules.policies or otherwise.policies
