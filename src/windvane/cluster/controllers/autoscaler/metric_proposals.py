"""What each metric of an autoscaler proposes, or why it proposes nothing; and what follows from all of them.

The largest proposal wins. One metric that can't be had does not stop the others from adding replicas, but nothing is
removed while something is not known. For metrics other than those of pods' resources there is no source here, as on
any cluster on which none is installed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from windvane import LabelSelector, Quantity
from windvane.cluster.controllers.autoscaler.metrics import MetricsUnavailable, PodMetrics, samples_of
from windvane.cluster.controllers.autoscaler.replica_calculator import (
    AverageValue,
    Needed,
    Target,
    Utilization,
    replicas_for,
    tolerance_of,
)
from windvane.k8s.autoscaling import (
    ContainerResourceMetricStatus,
    ExternalMetricSource,
    HorizontalPodAutoscaler,
    MetricSpec,
    MetricStatus,
    MetricTarget,
    MetricValueStatus,
    ObjectMetricSource,
    ResourceMetricStatus,
)
from windvane.k8s.core import Pod

NO_CUSTOM_METRICS = (
    "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
)
NO_EXTERNAL_METRICS = (
    "unable to fetch metrics from external metrics API: the server could not find the requested resource"
)
MEMORY = "memory"


class Proposal(NamedTuple):
    """So many replicas, because of a metric."""

    replicas: int
    metric: str
    status: MetricStatus


class Refusal(NamedTuple):
    """A metric that proposes nothing."""

    reason: str
    why: str
    """For the users of the autoscaler."""
    error: str
    """The same, with what was attempted."""


class Outcome(NamedTuple):
    """What follows from all metrics."""

    best: Proposal | None
    """None if nothing can be decided."""
    statuses: list[MetricStatus]
    refusals: list[Refusal]

    @property
    def error(self) -> str:
        """How many metrics propose nothing, and why the first one does."""
        return (
            f"invalid metrics ({len(self.refusals)} invalid out of {len(self.statuses)}), "
            f"first error is: {self.refusals[0].error}"
        )


@dataclass(frozen=True)
class Situation:
    """What an autoscaler knows when it decides."""

    current: int
    """How many replicas the target's scale asks for."""
    pods: Sequence[Pod]
    usage: Sequence[PodMetrics] | MetricsUnavailable
    """What they use, or why that is not known."""
    now: datetime


def propose(hpa: HorizontalPodAutoscaler, situation: Situation) -> Outcome:
    """Ask every metric."""
    best: Proposal | None = None
    statuses, refusals = [], []
    for spec in hpa.spec.metrics:
        match _proposal(hpa, spec, situation):
            case Proposal() as proposal:
                statuses.append(proposal.status)
                if best is None or proposal.replicas > best.replicas:
                    best = proposal
            case Refusal() as refusal:
                statuses.append(MetricStatus(type=""))  # as Kubernetes writes it
                refusals.append(refusal)
    if best is not None and refusals and best.replicas < situation.current:
        best = None
    return Outcome(best, statuses, refusals)


def _proposal(hpa: HorizontalPodAutoscaler, spec: MetricSpec, situation: Situation) -> Proposal | Refusal:
    if spec.resource is not None and spec.type == "Resource":
        source = spec.resource
        try:
            needed = _needed(hpa, source.name, "", source.target, situation)
        except MetricsUnavailable as error:
            why = str(error)
            return Refusal("FailedGetResourceMetric", why, f"failed to get {source.name} resource metric value: {why}")
        current = _current(source.name, needed)
        status = MetricStatus(type=spec.type, resource=ResourceMetricStatus(name=source.name, current=current))
        return Proposal(needed.replicas, _metric(source.name, source.target, "resource"), status)
    if spec.container_resource is not None and spec.type == "ContainerResource":
        container = spec.container_resource
        try:
            needed = _needed(hpa, container.name, container.container, container.target, situation)
        except MetricsUnavailable as error:
            why = str(error)
            words = f"failed to get {container.container} container metric value: {why}"
            return Refusal("FailedGetContainerResourceMetric", why, words)
        of_container = ContainerResourceMetricStatus(
            name=container.name, container=container.container, current=_current(container.name, needed)
        )
        status = MetricStatus(type=spec.type, container_resource=of_container)
        return Proposal(needed.replicas, _metric(container.name, container.target, "container resource"), status)
    return _without_source(spec, hpa.metadata.namespace)


def _needed(
    hpa: HorizontalPodAutoscaler, resource: str, container: str, target: MetricTarget, situation: Situation
) -> Needed:
    """How many replicas a resource asks for; `MetricsUnavailable` in the words that the autoscaler's status has."""
    aim: Target
    if target.average_value is not None:
        aim, what = AverageValue(target.average_value.milli()), "usage"
    elif target.average_utilization is not None:
        aim, what = Utilization(target.average_utilization, resource, container), "utilization"
    else:
        neither = "neither an average utilization target nor an average value (usage) target was set"
        raise MetricsUnavailable(f"invalid resource metric source: {neither}")
    try:
        if isinstance(situation.usage, MetricsUnavailable):
            raise MetricsUnavailable(f"unable to get metrics for resource {resource}: {situation.usage}")
        if not situation.usage:
            words = "no metrics returned from resource metrics API"
            raise MetricsUnavailable(f"unable to get metrics for resource {resource}: {words}")
        return replicas_for(
            situation.current,
            aim,
            situation.pods,
            samples_of(situation.usage, resource, container),
            resource=resource,
            tolerance=tolerance_of(hpa.spec.behavior),
            now=situation.now,
        )
    except MetricsUnavailable as error:
        raise MetricsUnavailable(f"failed to get {resource} {what}: {error}") from error


def _metric(resource: str, target: MetricTarget, what: str) -> str:
    if target.average_value is not None:
        return f"{resource} resource"
    return f"{resource} {what} utilization (percentage of request)"


def _current(resource: str, needed: Needed) -> MetricValueStatus:
    average = Quantity(f"{needed.use.average}m")
    if resource == MEMORY:
        average = Quantity("1Ki") + average - Quantity("1Ki")  # to be shown in Ki and Mi where that is exact
    return MetricValueStatus(average_utilization=needed.use.utilization, average_value=average)


def _without_source(spec: MetricSpec, namespace: str) -> Refusal:
    """Of metrics that are not served, what Kubernetes says where that is so."""
    if spec.pods is not None and spec.type == "Pods":
        why = f"unable to get metric {spec.pods.metric.name}: {NO_CUSTOM_METRICS}"
        return Refusal("FailedGetPodsMetric", why, f"failed to get pods metric value: {why}")
    if spec.object is not None and spec.type == "Object":
        return _without_object(spec.object, namespace)
    if spec.external is not None and spec.type == "External":
        return _without_external(spec.external, namespace)
    why = f'unknown metric source type "{spec.type}"'
    return Refusal("InvalidMetricSourceType", why, why)


def _without_object(source: ObjectMetricSource, namespace: str) -> Refusal:
    metric, about = source.metric.name, source.described_object
    # The words stand in another order than they were meant to; this is how every cluster says it.
    why = f"unable to get metric {metric}: {about.kind} on {namespace} {about.name}/{NO_CUSTOM_METRICS}"
    per_pod = source.target.type == "AverageValue"
    error = f"failed to get {metric} object metric: {why}" if per_pod else why
    return Refusal("FailedGetObjectMetric", why, f"failed to get object metric value: {error}")


def _without_external(source: ExternalMetricSource, namespace: str) -> Refusal:
    metric = source.metric.name
    unserved = f"{NO_EXTERNAL_METRICS} (get {metric}.external.metrics.k8s.io)"
    why = f"unable to get external metric {namespace}/{metric}/{_as_go(source.metric.selector)}: {unserved}"
    per_pod = source.target.average_value is not None
    attempt = f"failed to get {metric} external metric" if per_pod else f"failed to get external metric {metric}"
    return Refusal("FailedGetExternalMetric", why, f"failed to get {metric} external metric value: {attempt}: {why}")


def _as_go(selector: LabelSelector | None) -> str:
    """A selector as Go prints one."""
    if selector is None:
        return "nil"
    labels = "".join(f"{name}: {value}," for name, value in sorted(selector.match_labels.items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values or ())}],}},"
        for each in selector.match_expressions
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
