"""What pods use, as an autoscaler asks for it: from metrics.k8s.io, which the API server answers from the nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from windvane import APIError, Client, Duration, NotFound, Object, Quantity, Struct

FETCHING = "unable to fetch metrics from resource metrics API"


class ContainerMetrics(Struct):
    """What a container used."""

    name: str
    usage: dict[str, Quantity] = {}


class PodMetrics(Object, group="metrics.k8s.io", version="v1beta1", plural="pods", subresources=()):
    """What the containers of a pod used, over some time before a moment."""

    timestamp: datetime
    window: Duration
    containers: list[ContainerMetrics] = []


class MetricsUnavailable(Exception):
    """How many replicas are needed can't be told; the message says why, in Kubernetes' words."""


class MetricsSource(Protocol):
    """Where figures come from."""

    async def __call__(self, client: Client, namespace: str, selector: str) -> Sequence[PodMetrics]:
        """What the pods that a selector chooses used lately; `MetricsUnavailable` if that is not known."""
        ...


async def from_metrics_api(client: Client, namespace: str, selector: str) -> Sequence[PodMetrics]:
    """The figures that `kubectl top` shows."""
    try:
        return await client.list(PodMetrics, namespace=namespace, labels=selector)
    except NotFound as error:  # the group is not served: Go's client has these words for it
        raise MetricsUnavailable(
            f"{FETCHING}: the server could not find the requested resource (get pods.metrics.k8s.io)"
        ) from error
    except APIError as error:
        raise MetricsUnavailable(f"{FETCHING}: {error}") from error


@dataclass(frozen=True, slots=True)
class Sample:
    """How much of one resource a pod used, in thousandths, on average over a window before a moment."""

    milli: int
    at: datetime
    window: timedelta


def samples_of(metrics: Sequence[PodMetrics], resource: str, container: str = "") -> Mapping[str, Sample]:
    """By a pod's name, what all its containers used of a resource, or the one that is named.

    A pod of which not everything is known is not among them: part of a sum would look like idleness.
    """
    found = {}
    for pod in metrics:
        used = [each.usage.get(resource) for each in pod.containers if container in ("", each.name)]
        known = [each for each in used if each is not None]
        if used and len(known) == len(used):
            milli = sum(each.milli() for each in known)
            found[pod.metadata.name] = Sample(milli, pod.timestamp, pod.window)
    return found
