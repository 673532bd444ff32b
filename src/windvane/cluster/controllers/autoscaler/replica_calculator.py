"""How many replicas one metric asks for: as many as bring the pods' use to its target, on average.

Figures are not to be had of every pod. What is not known is guessed so that it makes the change smaller: pods without
figures count as busy when there seem to be too many, and as idle when there seem to be too few, as do pods that have
just begun. And a guess never turns the direction around.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from windvane.cluster.controllers.autoscaler.metrics import MetricsUnavailable, Sample
from windvane.k8s.autoscaling import HorizontalPodAutoscalerBehavior
from windvane.k8s.core import Pod

CPU = "cpu"
INITIALIZING = timedelta(minutes=5)
"""So long after its start, a pod's use of CPU counts only while it is ready: starting is work that does not last."""
FIRST_READY = timedelta(seconds=30)
"""A pod that became unready within that time after its start never was ready."""
TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far from the target is near enough."""

    down: float = TOLERANCE
    up: float = TOLERANCE

    def covers(self, ratio: float) -> bool:
        """Whether nothing is to be changed because of it."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


def tolerance_of(behavior: HorizontalPodAutoscalerBehavior | None) -> Tolerance:
    """A tenth in either direction, unless its behavior says otherwise."""
    down, up = (behavior.scale_down, behavior.scale_up) if behavior is not None else (None, None)
    return Tolerance(
        float(down.tolerance) if down is not None and down.tolerance is not None else TOLERANCE,
        float(up.tolerance) if up is not None and up.tolerance is not None else TOLERANCE,
    )


class PodUse(NamedTuple):
    """How much some pods use."""

    ratio: float
    """Of what they should: 2.0 is twice as much."""
    average: int
    """Of one pod, in thousandths."""
    utilization: int | None = None
    """In percent of what the pods asked for."""


class Measure(Protocol):
    """How use is compared with a target."""

    def of(self, used: Mapping[str, int]) -> PodUse:
        """How much these pods use, given what each does, in thousandths."""
        ...

    def busy(self, pod: str) -> int:
        """What a pod that nothing is known of uses at most."""
        ...


class Target(Protocol):
    """What a metric's target is."""

    def measure(self, pods: Sequence[Pod]) -> Measure:
        """How the use of these pods is compared with it; `MetricsUnavailable` if that can't be done."""
        ...


@dataclass(frozen=True)
class AverageValue:
    """A target in thousandths of the resource itself, for each pod on average."""

    milli: int

    def measure(self, pods: Sequence[Pod]) -> "AverageValue":
        """See `Target`: it is the same for all pods."""
        del pods
        return self

    def of(self, used: Mapping[str, int]) -> PodUse:
        """See `Measure`."""
        average = sum(used.values()) // len(used)
        return PodUse(average / self.milli, average)

    def busy(self, pod: str) -> int:
        """As much as it should."""
        del pod
        return self.milli


@dataclass(frozen=True)
class Utilization:
    """A target in percent of what pods, or one container of each, request of the resource."""

    percent: int
    resource: str
    container: str = ""

    def measure(self, pods: Sequence[Pod]) -> "OfRequests":
        """See `Target`."""
        requests = {each.metadata.name: request_of(each, self.resource, self.container) for each in pods}
        return OfRequests(self.percent, requests)


@dataclass(frozen=True)
class OfRequests:
    """Compares what pods use with what they requested."""

    percent: int
    requests: Mapping[str, int]

    def of(self, used: Mapping[str, int]) -> PodUse:
        """See `Measure`."""
        known = {name: milli for name, milli in used.items() if name in self.requests}
        requested = sum(self.requests[name] for name in known)
        if requested == 0:
            raise MetricsUnavailable("no metrics returned matched known pods")
        utilization = sum(known.values()) * 100 // requested
        return PodUse(utilization / self.percent, sum(known.values()) // len(known), utilization)

    def busy(self, pod: str) -> int:
        """All that it requested, or more if that is the target."""
        return self.requests[pod] * max(100, self.percent) // 100


def request_of(pod: Pod, resource: str, container: str = "") -> int:
    """What a pod, or one of its containers, requests, in thousandths; `MetricsUnavailable` if it does not say."""
    name = pod.metadata.name
    for_all = pod.spec.resources.requests if pod.spec.resources is not None else {}
    if for_all and not container and resource in for_all:
        return for_all[resource].milli()
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    every = [each for each in (*pod.spec.containers, *sidecars) if container in ("", each.name)]
    if not every:
        raise MetricsUnavailable(f"container {container} not found in Pod {name}")
    total = 0
    for each in every:
        requests = each.resources.requests if each.resources is not None else {}
        if resource in requests:
            total += requests[resource].milli()
        elif not for_all or container:
            raise MetricsUnavailable(f"missing request for {resource} in container {each.name} of Pod {name}")
    if for_all and not container and total == 0:
        raise MetricsUnavailable(f"missing pod-level request for {resource} in Pod {name}")
    return total


class Groups(NamedTuple):
    """Pods by what their figures are worth."""

    ready: int
    """How many count as they are."""
    unready: set[str]
    """Pods that don't work yet."""
    missing: set[str]
    """Pods without a metric."""
    ignored: set[str]
    """Pods that work no more."""


def group(pods: Sequence[Pod], samples: Mapping[str, Sample], resource: str, now: datetime) -> Groups:
    """Tell pods apart by what their figures are worth."""
    groups = Groups(0, set(), set(), set())
    ready = 0
    for pod in pods:
        name = pod.metadata.name
        if pod.metadata.deletion_timestamp is not None or pod.status.phase == "Failed":
            groups.ignored.add(name)
        elif pod.status.phase == "Pending":
            groups.unready.add(name)
        elif name not in samples:
            groups.missing.add(name)
        elif resource == CPU and _begins(pod, samples[name], now):
            groups.unready.add(name)
        else:
            ready += 1
    return groups._replace(ready=ready)


def _begins(pod: Pod, sample: Sample, now: datetime) -> bool:
    """Whether what it uses of a CPU says nothing yet."""
    condition = next((each for each in pod.status.conditions if each.type == "Ready"), None)
    if condition is None or pod.status.start_time is None:
        return True
    started, since = pod.status.start_time, condition.last_transition_time or datetime.min.replace(tzinfo=now.tzinfo)
    unready = condition.status == "False"
    if started + INITIALIZING > now:
        return unready or sample.at < since + sample.window
    return unready and started + FIRST_READY > since


class Needed(NamedTuple):
    """How many replicas a metric asks for, and because of which use."""

    replicas: int
    use: PodUse


def replicas_for(
    current: int,
    target: Target,
    pods: Sequence[Pod],
    samples: Mapping[str, Sample],
    *,
    resource: str,
    tolerance: Tolerance,
    now: datetime,
) -> Needed:
    """How many replicas a metric asks for; `MetricsUnavailable` if that can't be told."""
    if not pods:
        raise MetricsUnavailable("no pods returned by selector while calculating replica count")
    groups = group(pods, samples, resource, now)
    used = {name: each.milli for name, each in samples.items() if name not in groups.ignored | groups.unready}
    if not used:
        raise MetricsUnavailable("did not receive metrics for targeted pods (pods might be unready)")
    measure = target.measure(pods)
    use = measure.of(used)
    guessed = _guesses(use.ratio, groups, measure)
    if not groups.missing and not guessed:
        return Needed(current if tolerance.covers(use.ratio) else math.ceil(use.ratio * groups.ready), use)
    used |= guessed
    ratio = measure.of(used).ratio
    replicas = math.ceil(ratio * len(used))
    turned = use.ratio < 1.0 < ratio or ratio < 1.0 < use.ratio
    against = (ratio < 1.0 and replicas > current) or (ratio > 1.0 and replicas < current)
    return Needed(current if tolerance.covers(ratio) or turned or against else replicas, use)


def _guesses(ratio: float, groups: Groups, measure: Measure) -> dict[str, int]:
    """What pods without a metric are taken to use, given what the others do."""
    if ratio > 1.0:
        return dict.fromkeys(groups.missing | groups.unready, 0)
    return {name: measure.busy(name) for name in groups.missing} if ratio < 1.0 else {}
