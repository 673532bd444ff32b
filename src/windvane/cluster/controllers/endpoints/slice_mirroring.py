"""EndpointSlices that mirror Endpoints objects written by users."""

from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address

from windvane import Context, ObjectMeta, owner_reference
from windvane.cluster.controllers.endpoints.slice_controller import (
    MANAGED_BY,
    SERVICE_NAME,
    slices_by_service,
)
from windvane.cluster.controllers.endpoints.slice_reconciler import PortGroup, SlicePlan, identity, ports_key
from windvane.cluster.controllers.endpoints.subsets import repack
from windvane.cluster.controllers.workloads.controller_refs import is_controlled_by
from windvane.k8s import core
from windvane.k8s.discovery import Endpoint, EndpointConditions, EndpointPort, EndpointSlice

OURS = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
NOT_COPIED = frozenset(
    {"endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration"}
)
PER_SUBSET = 1000
FAMILIES = ("IPv4", "IPv6")


def is_to_be_mirrored(endpoints: core.Endpoints) -> bool:
    """Whether it is for traffic at all: not if it says otherwise, nor if replicas elect a leader by it."""
    meta = endpoints.metadata
    return meta.labels.get(SKIP) != "true" and LEADER not in meta.annotations


def mirrored(endpoints: core.Endpoints, ctx: Context) -> list[EndpointSlice]:
    """The slices that were made of an Endpoints object before."""
    slices = ctx.find(slices_by_service, endpoints.metadata.name)
    return [
        each
        for each in slices
        if each.metadata.labels.get(MANAGED_BY) == OURS and each.metadata.deletion_timestamp is None
    ]


def mirror(endpoints: core.Endpoints, existing: Sequence[EndpointSlice], tell: Callable[..., None]) -> SlicePlan:
    """Decide what becomes of the slices; `tell` is told what is left out."""
    plan, stale = SlicePlan(), list(existing)
    skipped = 0
    for subset in repack(endpoints.subsets):
        skipped += max(len(subset.addresses) + len(subset.not_ready_addresses) - PER_SUBSET, 0)
        for family in FAMILIES:
            group = _group(subset, family)
            if not group.endpoints:
                continue
            wanted = _slice(endpoints, group, family)
            there = next((each for each in stale if _is_for(each, group, family)), None)
            if there is None:
                plan.create.append(wanted)
                continue
            stale.remove(there)
            if not _is_so(there, wanted, endpoints):
                plan.update.append(_over(there, wanted))
    for each in stale:
        if plan.create and each.address_type == plan.create[-1].address_type:
            plan.update.append(_over(each, plan.create.pop()))
        else:
            plan.delete.append(each)
    if skipped:
        words = f"A max of {PER_SUBSET} addresses can be mirrored to EndpointSlices per Endpoints subset. "
        tell("TooManyAddressesToMirror", f"{words}{skipped} addresses were skipped", type="Warning")
    return plan


def _group(subset: core.EndpointSubset, family: str) -> PortGroup:
    ports = [
        EndpointPort(name=each.name or "", port=each.port, protocol=each.protocol, app_protocol=each.app_protocol)
        for each in subset.ports
    ]
    group = PortGroup(ports)
    told = [(each, True) for each in subset.addresses] + [(each, False) for each in subset.not_ready_addresses]
    for address, ready in told[:PER_SUBSET]:
        if f"IPv{ip_address(address.ip).version}" == family:
            endpoint = _endpoint(address, ready)
            group.endpoints[identity(endpoint)] = endpoint
    return group


def _endpoint(address: core.EndpointAddress, ready: bool) -> Endpoint:
    return Endpoint(
        addresses=[str(ip_address(address.ip))],
        conditions=EndpointConditions(ready=ready),
        target_ref=address.target_ref,
        node_name=address.node_name,
        hostname=address.hostname,
    )


def _slice(endpoints: core.Endpoints, group: PortGroup, family: str) -> EndpointSlice:
    meta = endpoints.metadata
    made = ObjectMeta(
        generate_name=f"{meta.name}-",
        namespace=meta.namespace,
        labels=dict(meta.labels) | {SERVICE_NAME: meta.name, MANAGED_BY: OURS},
        annotations={key: value for key, value in meta.annotations.items() if key not in NOT_COPIED},
        owner_references=[owner_reference(endpoints)],
    )
    return EndpointSlice(
        metadata=made, address_type=family, ports=group.ports, endpoints=list(group.endpoints.values())
    )


def _is_for(each: EndpointSlice, group: PortGroup, family: str) -> bool:
    return each.address_type == family and ports_key(each.ports) == ports_key(group.ports)


def _is_so(there: EndpointSlice, wanted: EndpointSlice, endpoints: core.Endpoints) -> bool:
    return (
        _by_identity(there.endpoints) == _by_identity(wanted.endpoints)
        and there.metadata.labels == wanted.metadata.labels
        and there.metadata.annotations == wanted.metadata.annotations
        and is_controlled_by(there, endpoints)
    )


def _by_identity(endpoints: Iterable[Endpoint]) -> dict[tuple[object, ...], Endpoint]:
    return {identity(each): each for each in endpoints}


def _over(there: EndpointSlice, wanted: EndpointSlice) -> EndpointSlice:
    """What is wanted, written over what is there."""
    wanted.metadata.name, wanted.metadata.generate_name = there.metadata.name, ""
    wanted.metadata.resource_version = there.metadata.resource_version
    return wanted
