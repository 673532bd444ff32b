"""How endpoints are put into EndpointSlices: a hundred in each, with as few slices written as can be.

An endpoint stays in the slice that it is in. What comes new goes first into slices that have to be written anyway, then
into one that has room for all the rest, and only then into new ones. A slice is used again rather than deleted while
another is made. All endpoints of a slice have the same ports.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TypeAlias

from windvane.k8s.discovery import Endpoint, EndpointPort, EndpointSlice

PER_SLICE = 100

Identity: TypeAlias = tuple[object, ...]
"""What makes an endpoint the same one as before, whatever else of it has changed."""
Ports: TypeAlias = tuple[tuple[str, str, int, str], ...]


@dataclass
class PortGroup:
    """Endpoints that have the same ports."""

    ports: list[EndpointPort]
    endpoints: dict[Identity, Endpoint] = field(default_factory=dict)


@dataclass
class SlicePlan:
    """What is to be done about the slices of a Service."""

    create: list[EndpointSlice] = field(default_factory=list)
    update: list[EndpointSlice] = field(default_factory=list)
    delete: list[EndpointSlice] = field(default_factory=list)
    keep: list[EndpointSlice] = field(default_factory=list)


def identity(endpoint: Endpoint) -> Identity:
    """What makes this endpoint the same one as before."""
    target = endpoint.target_ref
    named = (target.namespace, target.name) if target is not None else ()
    return (*sorted(endpoint.addresses), endpoint.hostname or "", *named)


def ports_key(ports: Iterable[EndpointPort]) -> Ports:
    """The same for the same ports, in whatever order."""
    return tuple(
        sorted((each.name or "", each.protocol or "TCP", each.port or 0, each.app_protocol or "") for each in ports)
    )


def pack(
    groups: Mapping[Ports, PortGroup],
    existing: Sequence[EndpointSlice],
    empty: EndpointSlice,
    per_slice: int = PER_SLICE,
) -> SlicePlan:
    """Decide what becomes of a Service's slices of one address type.

    `empty` is what a new slice begins as; all slices have its labels. There is always one, even if nothing is in it.
    """
    plan = SlicePlan()
    by_ports: dict[Ports, list[EndpointSlice]] = {}
    for each in existing:
        by_ports.setdefault(ports_key(each.ports), []).append(each)
    for ports, group in groups.items():
        if group.endpoints:
            _pack_group(plan, group, by_ports.pop(ports, []), empty, per_slice)
    plan.delete += [each for several in by_ports.values() for each in several]
    if not plan.create and not plan.update and not plan.keep:
        _keep_one(plan, empty)
    _use_again(plan)
    return plan


def _pack_group(
    plan: SlicePlan, group: PortGroup, existing: Sequence[EndpointSlice], empty: EndpointSlice, per_slice: int
) -> None:
    wanted = dict(group.endpoints)
    changed: list[EndpointSlice] = []
    unchanged: list[EndpointSlice] = []
    for each in existing:
        there = [wanted.pop(identity(endpoint), None) for endpoint in each.endpoints]
        endpoints = [endpoint for endpoint in there if endpoint is not None]
        if endpoints == each.endpoints and each.metadata.labels == empty.metadata.labels:
            unchanged.append(each)
        elif endpoints or not each.endpoints:
            changed.append(_with(each, endpoints, empty))
        else:
            plan.delete.append(each)
    new = list(wanted.values())
    for each in sorted(changed, key=lambda one: -len(one.endpoints)):
        room = per_slice - len(each.endpoints)
        each.endpoints = [*each.endpoints, *new[:room]]
        del new[:room]
    while new:
        fitting = [each for each in unchanged if len(each.endpoints) + len(new) <= per_slice]
        if fitting:
            fullest = max(fitting, key=lambda one: len(one.endpoints))
            unchanged.remove(fullest)
            changed.append(_with(fullest, [*fullest.endpoints, *new], empty))
            break
        made = _with(empty, new[:per_slice], empty)
        made.ports = group.ports
        plan.create.append(made)
        del new[:per_slice]
    plan.update += changed
    plan.keep += unchanged


def _keep_one(plan: SlicePlan, empty: EndpointSlice) -> None:
    """A Service without endpoints has a slice that says so."""
    for each in plan.delete:
        if not each.ports and not each.endpoints and each.metadata.labels == empty.metadata.labels:
            plan.delete.remove(each)
            plan.keep.append(each)
            return
    plan.create.append(_with(empty, [], empty))


def _use_again(plan: SlicePlan) -> None:
    """Write over slices that would be deleted, instead of making new ones."""
    while plan.create and plan.delete:
        new, old = plan.create.pop(), plan.delete.pop(0)
        again = _with(old, new.endpoints, new)
        again.ports = new.ports
        plan.update.append(again)


def _with(each: EndpointSlice, endpoints: list[Endpoint], empty: EndpointSlice) -> EndpointSlice:
    """A copy of a slice that has other endpoints."""
    made = copy(each)
    made.metadata = copy(each.metadata)
    made.metadata.labels = dict(empty.metadata.labels)
    made.endpoints = endpoints
    return made
