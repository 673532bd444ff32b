"""Resizes of pods that run: whether the node has room for what a pod now asks for, and which of it has been given.

    spec.containers[].resources                              what is asked for
      → granted, if the node has room; else it waits         status.containerStatuses[].allocatedResources
      → given to the instance of the container that runs     status.containerStatuses[].resources

While a pod waits, everything about it goes by what was granted before: `as_granted` is the pod with that.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from windvane import Quantity, to_wire
from windvane.cluster.node.pod.record import PodRecord
from windvane.cluster.pod_resources import add, of_pod
from windvane.k8s.core import Container, Pod, ResourceRequirements

RESIZABLE = ("cpu", "memory")
NOTHING = Quantity(0)
POD = ""
"""Stands for the pod itself where containers are known by name."""


def asked_for(pod: Pod) -> dict[str, ResourceRequirements]:
    """What a pod asks for: each of its containers, and the pod as a whole."""
    stated = {each.name: each.resources or ResourceRequirements() for each in _resizable(pod)}
    return stated | {POD: pod.spec.resources or ResourceRequirements()}


def as_granted(pod: Pod, record: PodRecord) -> Pod:
    """The pod with the resources that it was granted, which are not those that it asks for while that has to wait."""
    if not asks_for_others(pod, record):
        return pod
    pod = deepcopy(pod)
    for container in _resizable(pod):
        container.resources = record.granted.get(container.name, container.resources)
    if pod.spec.resources is not None:
        pod.spec.resources = record.granted.get(POD, pod.spec.resources)
    return pod


def asks_for_others(pod: Pod, record: PodRecord) -> bool:
    """Whether a pod asks for other resources than it was granted."""
    return any(differing(record.granted.get(name, asked), asked) for name, asked in asked_for(pod).items())


def differing(one: ResourceRequirements | None, other: ResourceRequirements | None) -> set[str]:
    """The resources of which there are other amounts in one than in the other, of those that can be resized."""
    one, other = one or ResourceRequirements(), other or ResourceRequirements()
    return {
        name
        for name in RESIZABLE
        if one.requests.get(name) != other.requests.get(name) or one.limits.get(name) != other.limits.get(name)
    }


def needs_restart(container: Container, changed: Iterable[str]) -> bool:
    """Whether a container has to be started anew to have other amounts of these resources."""
    policies = {each.resource_name: each.restart_policy for each in container.resize_policy}
    return any(policies.get(name) == "RestartContainer" for name in changed)


def lacking(pod: Pod, others: Iterable[Pod], has: Mapping[str, Quantity]) -> str:
    """Why a node that has this much has no room for a pod beside the others, in a kubelet's words; empty if it has."""
    wants = _requests(pod)
    used: dict[str, Quantity] = {}
    for each in others:
        add(used, _requests(each))
    for name, number in (("cpu", Quantity.milli), ("memory", int)):
        asked, taken, there = (each.get(name, NOTHING) for each in (wants, used, has))
        if asked > there - taken:
            amounts = f"requested: {number(asked)}, used: {number(taken)}, capacity: {number(there)}"
            return f"Node didn't have enough resource: {name}, {amounts}"
    return ""


def under_way(pod: Pod, record: PodRecord) -> bool:
    """Whether a container that runs does not have yet what was granted to it. Others will, once they do."""
    for container in _resizable(pod):
        run = record.of(container.name).run
        if run is not None and (differing(run.given, container.resources) if run.running else run.replaced):
            return True
    return False


def described(what: str, pod: Pod, generation: int | None, error: str = "") -> str:
    """What an Event says of a resize, as a kubelet does: with the resources that the pod asks for."""
    said: dict[str, Any] = {}
    if pod.spec.init_containers:
        said["initContainers"] = [_described(each) for each in pod.spec.init_containers]
    said["containers"] = [_described(each) for each in pod.spec.containers]
    said["generation"] = generation or 0
    if error:
        said["error"] = error
    return f"Pod resize {what}: {json.dumps(said, separators=(',', ':'), ensure_ascii=False)}"


def _described(container: Container) -> dict[str, Any]:
    stated = to_wire(container.resources or ResourceRequirements())
    ordered = {field: dict(sorted(stated[field].items())) for field in ("limits", "requests") if stated.get(field)}
    return {"name": container.name, "resources": ordered}


def whole(pod: Pod) -> ResourceRequirements:
    """What a pod asks for as a whole, and may have."""
    spec = to_wire(pod.spec)
    requests, limits = dict(of_pod(spec, "requests")), dict(of_pod(spec, "limits"))
    return ResourceRequirements(requests=requests, limits=limits)


def _requests(pod: Pod) -> dict[str, Quantity]:
    wants = whole(pod).requests
    add(wants, pod.spec.overhead)
    return wants


def _resizable(pod: Pod) -> Iterator[Container]:
    yield from pod.spec.init_containers
    yield from pod.spec.containers
