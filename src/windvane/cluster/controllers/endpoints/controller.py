"""Endpoints: what EndpointSlices say, in the older form of one object for each Service; and the way back.

A Service without a selector has the addresses that a user writes into an Endpoints object of its name; these are
copied to EndpointSlices, which is where traffic looks.
"""

from collections.abc import Iterable
from contextlib import suppress

from windvane import ClientError, Context, NotFound, Object, ObjectMeta, Operator, Watch
from windvane.cluster.controllers.endpoints.service_pods import (
    HEADLESS_LABEL,
    addresses,
    has_endpoints,
    hostname_in,
    is_headless,
    selected_pods,
    services_of_pod,
    target_port,
    what_matters,
)
from windvane.cluster.controllers.endpoints.slice_controller import carry_out, service_of_slice
from windvane.cluster.controllers.endpoints.slice_mirroring import is_to_be_mirrored, mirror, mirrored
from windvane.cluster.controllers.endpoints.slice_reconciler import SlicePlan
from windvane.cluster.controllers.endpoints.subsets import count, repack, truncate
from windvane.cluster.controllers.workloads.pod_control import is_namespace_terminating
from windvane.cluster.controllers.workloads.pod_state import is_ready
from windvane.k8s.core import EndpointAddress, EndpointPort, Endpoints, EndpointSubset, ObjectReference, Pod, Service
from windvane.k8s.discovery import EndpointSlice

NAME = "endpoint-controller"
MIRRORING = "endpointslicemirroring-controller"
MANAGED_BY = "endpoints.kubernetes.io/managed-by"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"


def add_to(operator: Operator) -> None:
    """Declare both controllers."""

    @operator.controller(
        Service,
        name=NAME,
        watches=[
            Watch(Pod, to=services_of_pod, seeing=what_matters),
            Watch(Endpoints, to=lambda each: each.metadata.name),
        ],
    )
    async def endpoints(service: Service, ctx: Context) -> None:
        if has_endpoints(service):
            await _write(stated(service, selected_pods(service, ctx)), ctx)

    @operator.controller(
        Endpoints,
        name=MIRRORING,
        watches=[Watch(Service, to=_same_name), Watch(EndpointSlice, to=service_of_slice)],
        events_from="endpoint-slice-mirroring-controller",
    )
    async def mirrors(endpoints: Endpoints, ctx: Context) -> None:
        there = mirrored(endpoints, ctx)
        service = ctx.get(Service, endpoints.metadata.name)
        if service is None and (there or endpoints.metadata.labels.get(MANAGED_BY) == NAME):
            with suppress(NotFound):  # its Service is gone; one that never had one is a user's own
                await ctx.client.delete(Endpoints, endpoints.metadata.name, uid=endpoints.metadata.uid)
        if service is None or service.spec.selector or not is_to_be_mirrored(endpoints):
            await carry_out(SlicePlan(delete=there), ctx)
        else:
            await carry_out(mirror(endpoints, there, ctx.event), ctx)


def _same_name(thing: Object) -> str:
    return thing.metadata.name


def stated(service: Service, pods: Iterable[Pod]) -> Endpoints:
    """The Endpoints object of a Service, as it should be."""
    family = next(iter(service.spec.ip_families), "IPv4")
    subsets = repack(each for pod in pods for each in _subsets(service, pod, family))
    labels = dict(service.metadata.labels) | {MANAGED_BY: NAME}
    labels.pop(HEADLESS_LABEL, None)
    if is_headless(service):
        labels[HEADLESS_LABEL] = ""
    meta = ObjectMeta(name=service.metadata.name, namespace=service.metadata.namespace, labels=labels)
    cut = truncate(subsets)
    if count(cut) < count(subsets):
        meta.annotations = {OVER_CAPACITY: "truncated"}
    return Endpoints(metadata=meta, subsets=cut)


def _subsets(service: Service, pod: Pod, family: str) -> Iterable[EndpointSubset]:
    """A subset for each port of a pod, with this pod alone."""
    unready_too = bool(service.spec.publish_not_ready_addresses)
    at = addresses(pod, family)[:1]
    if not at or (pod.metadata.deletion_timestamp is not None and not unready_too):
        return
    meta = pod.metadata
    address = EndpointAddress(
        ip=at[0],
        hostname=hostname_in(pod, service),
        node_name=pod.spec.node_name or "",
        target_ref=ObjectReference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid),
    )
    ready = unready_too or is_ready(pod)
    ports = [
        [EndpointPort(name=each.name, port=number, protocol=each.protocol, app_protocol=each.app_protocol)]
        for each in service.spec.ports
        if (number := target_port(pod, each)) is not None
    ]
    if not service.spec.ports and is_headless(service):
        ports = [[]]
    for several in ports:
        if ready:
            yield EndpointSubset(addresses=[address], ports=several)
        else:
            yield EndpointSubset(not_ready_addresses=[address], ports=several)


async def _write(wanted: Endpoints, ctx: Context) -> None:
    """Have it so. Annotations that others put there stay."""
    there = ctx.get(Endpoints, wanted.metadata.name)
    if there is None:
        try:
            await ctx.client.create(wanted)
        except ClientError as error:
            if not is_namespace_terminating(error):
                raise
        return
    annotations = {key: value for key, value in there.metadata.annotations.items() if key != OVER_CAPACITY}
    annotations |= wanted.metadata.annotations
    same = there.subsets == wanted.subsets and there.metadata.labels == wanted.metadata.labels
    if same and there.metadata.annotations == annotations:
        return
    there.subsets, there.metadata.labels, there.metadata.annotations = (
        wanted.subsets,
        wanted.metadata.labels,
        annotations,
    )
    await ctx.client.replace(there)
