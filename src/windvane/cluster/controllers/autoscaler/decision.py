"""What an autoscaler does about its target's scale, and how its status and Events explain that."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from windvane.cluster.controllers.autoscaler.behavior import History, limit, lowest_of
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


class Condition(NamedTuple):
    """What is to be said of an autoscaler."""

    type: str
    holds: bool
    reason: str
    message: str


class Said(NamedTuple):
    """An Event."""

    reason: str
    message: str
    type: Literal["Normal", "Warning"] = "Warning"


@dataclass(frozen=True)
class Verdict:
    """What is to be done."""

    replicas: int | None
    """How many there should be; None if nobody can tell."""
    history: History
    why: str = ""
    metrics: list[MetricStatus] = field(default_factory=list)
    conditions: Sequence[Condition] = ()
    events: Sequence[Said] = ()


class Misdirected(NamedTuple):
    """It is not clear which pods are meant."""

    event: str
    reason: str
    words: str
    message: str


def judge(
    hpa: HorizontalPodAutoscaler,
    situation: Situation,
    history: History,
    clock: float,
    misdirected: Misdirected | None = None,
) -> Verdict:
    """How many replicas the target should have. `clock` is the time by which the history goes."""
    current, spec = situation.current, hpa.spec
    if not history.recommended:
        history = history.recommending(current, clock)
    if current == 0:
        words = "scaling is disabled since the replica count of the target is zero"
        return Verdict(0, history, conditions=[Condition(SCALING_ACTIVE, False, "ScalingDisabled", words)])
    if current > spec.max_replicas:
        return Verdict(spec.max_replicas, history, "Current number of replicas above Spec.MaxReplicas")
    if current < lowest_of(spec):
        return Verdict(lowest_of(spec), history, "Current number of replicas below Spec.MinReplicas")
    if misdirected is not None:
        wrong = misdirected
        return Verdict(
            None,
            history,
            conditions=[Condition(SCALING_ACTIVE, False, wrong.reason, wrong.message)],
            events=[Said(wrong.event, wrong.words), Said("FailedComputeMetricsReplicas", wrong.words)],
        )
    return _by_metrics(hpa, situation, history, clock)


def _by_metrics(hpa: HorizontalPodAutoscaler, situation: Situation, history: History, clock: float) -> Verdict:
    outcome = propose(hpa, situation)
    events = [Said(each.reason, each.why) for each in outcome.refusals]
    if outcome.best is None:
        first = outcome.refusals[0]
        return Verdict(
            None,
            history,
            metrics=outcome.statuses,
            conditions=[Condition(SCALING_ACTIVE, False, first.reason, f"{UNABLE}: {first.why}")],
            events=[*events, Said("FailedComputeMetricsReplicas", outcome.error)],
        )
    current, wanted, metric = situation.current, outcome.best.replicas, outcome.best.metric
    limited = limit(current, wanted, hpa.spec, history, clock)
    found = f"the HPA was able to successfully calculate a replica count from {metric}"
    return Verdict(
        limited.replicas,
        history.recommending(wanted, clock),
        f"{metric} above target" if wanted > current else "All metrics below target" if wanted < current else "",
        outcome.statuses,
        [
            Condition(SCALING_ACTIVE, True, "ValidMetricFound", found),
            Condition(ABLE_TO_SCALE, True, *limited.able),
            Condition(SCALING_LIMITED, limited.limits, *limited.why),
        ],
        events,
    )


def say(status: HorizontalPodAutoscalerStatus, condition: Condition, now: datetime) -> None:
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
