"""What an autoscaler does about its target's scale, and how its status and Events explain that."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from windvane.cluster.controllers.autoscaler.behavior import ScaleHistory, limit, lowest_of
from windvane.cluster.controllers.autoscaler.metric_proposals import Situation, propose
from windvane.k8s.autoscaling import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerStatus,
    MetricStatus,
)

ABLE_TO_SCALE = "AbleToScale"
SCALING_ACTIVE = "ScalingActive"
SCALING_LIMITED = "ScalingLimited"
UNABLE = "the HPA was unable to compute the replica count"


class HPACondition(NamedTuple):
    """What is to be said of an autoscaler."""

    type: str
    holds: bool
    reason: str
    message: str


class ScaleEvent(NamedTuple):
    """An Event."""

    reason: str
    message: str
    type: Literal["Normal", "Warning"] = "Warning"


@dataclass(frozen=True)
class ScaleDecision:
    """What is to be done."""

    replicas: int | None
    """How many there should be; None if that is not known."""
    history: ScaleHistory
    why: str = ""
    metrics: list[MetricStatus] = field(default_factory=list)
    conditions: Sequence[HPACondition] = ()
    events: Sequence[ScaleEvent] = ()


class InvalidTarget(NamedTuple):
    """It is not clear which pods are meant."""

    event: str
    reason: str
    words: str
    message: str


def judge(
    hpa: HorizontalPodAutoscaler,
    situation: Situation,
    history: ScaleHistory,
    clock: float,
    misdirected: InvalidTarget | None = None,
) -> ScaleDecision:
    """How many replicas the target should have. `clock` is the time by which the history goes."""
    current, spec = situation.current, hpa.spec
    if not history.recommended:
        history = history.recommending(current, clock)
    if current == 0:
        words = "scaling is disabled since the replica count of the target is zero"
        return ScaleDecision(0, history, conditions=[HPACondition(SCALING_ACTIVE, False, "ScalingDisabled", words)])
    if current > spec.max_replicas:
        return ScaleDecision(spec.max_replicas, history, "Current number of replicas above Spec.MaxReplicas")
    if current < lowest_of(spec):
        return ScaleDecision(lowest_of(spec), history, "Current number of replicas below Spec.MinReplicas")
    if misdirected is not None:
        wrong = misdirected
        return ScaleDecision(
            None,
            history,
            conditions=[HPACondition(SCALING_ACTIVE, False, wrong.reason, wrong.message)],
            events=[ScaleEvent(wrong.event, wrong.words), ScaleEvent("FailedComputeMetricsReplicas", wrong.words)],
        )
    return _by_metrics(hpa, situation, history, clock)


def _by_metrics(
    hpa: HorizontalPodAutoscaler, situation: Situation, history: ScaleHistory, clock: float
) -> ScaleDecision:
    outcome = propose(hpa, situation)
    events = [ScaleEvent(each.reason, each.why) for each in outcome.refusals]
    if outcome.best is None:
        first = outcome.refusals[0]
        return ScaleDecision(
            None,
            history,
            metrics=outcome.statuses,
            conditions=[HPACondition(SCALING_ACTIVE, False, first.reason, f"{UNABLE}: {first.why}")],
            events=[*events, ScaleEvent("FailedComputeMetricsReplicas", outcome.error)],
        )
    current, wanted, metric = situation.current, outcome.best.replicas, outcome.best.metric
    limited = limit(current, wanted, hpa.spec, history, clock)
    found = f"the HPA was able to successfully calculate a replica count from {metric}"
    return ScaleDecision(
        limited.replicas,
        history.recommending(wanted, clock),
        f"{metric} above target" if wanted > current else "All metrics below target" if wanted < current else "",
        outcome.statuses,
        [
            HPACondition(SCALING_ACTIVE, True, "ValidMetricFound", found),
            HPACondition(ABLE_TO_SCALE, True, *limited.able),
            HPACondition(SCALING_LIMITED, limited.limits, *limited.why),
        ],
        events,
    )


def say(status: HorizontalPodAutoscalerStatus, condition: HPACondition, now: datetime) -> None:
    """Put a condition among those of an autoscaler."""
    holds = "True" if condition.holds else "False"
    was = next((each for each in status.conditions if each.type == condition.type), None)
    since = was.last_transition_time if was is not None and was.status == holds else now.replace(microsecond=0)
    made = HorizontalPodAutoscalerCondition(
        type=condition.type,
        status=holds,
        reason=condition.reason,
        message=condition.message,
        last_transition_time=since,
    )
    if was is None:
        status.conditions = [*status.conditions, made]
    else:
        status.conditions = [made if each is was else each for each in status.conditions]
