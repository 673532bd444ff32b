"""EndpointSlices: the addresses of the pods behind each Service, for proxies and ingress controllers."""

from collections.abc import Iterable
from contextlib import suppress

from windvane import ClientError, Context, Index, NotFound, ObjectMeta, Operator, Watch, index, owner_reference
from windvane.cluster.controllers.endpoints.service_pods import (
    HEADLESS_LABEL,
    addresses,
    has_endpoints,
    hostname_in,
    is_headless,
    selected_pods,
    services_of_pod,
    services_on_node,
    target_port,
    what_matters,
    zone_of,
)
from windvane.cluster.controllers.endpoints.slice_reconciler import (
    PortGroup,
    Ports,
    SlicePlan,
    identity,
    pack,
    ports_key,
)
from windvane.cluster.controllers.workloads.controller_refs import is_controlled_by
from windvane.cluster.controllers.workloads.pod_control import is_namespace_terminating
from windvane.cluster.controllers.workloads.pod_state import is_ready
from windvane.k8s.core import Node, ObjectReference, Pod, Service
from windvane.k8s.discovery import Endpoint, EndpointConditions, EndpointPort, EndpointSlice

NAME = "endpointslice-controller"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
OURS = "endpointslice-controller.k8s.io"
RESERVED = frozenset({SERVICE_NAME, MANAGED_BY, HEADLESS_LABEL})


def service_of_slice(each: EndpointSlice) -> str | None:
    """The Service whose endpoints are in a slice."""
    return each.metadata.labels.get(SERVICE_NAME)


slices_by_service: Index[EndpointSlice] = index(EndpointSlice, by=service_of_slice)


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(
        Service,
        name=NAME,
        watches=[
            Watch(Pod, to=services_of_pod, seeing=what_matters),
            Watch(Node, to=services_on_node, seeing=zone_of),
            Watch(EndpointSlice, to=service_of_slice),
        ],
    )
    async def endpointslices(service: Service, ctx: Context) -> None:
        if has_endpoints(service):
            await reconcile(service, ctx)


async def reconcile(service: Service, ctx: Context) -> None:
    """One pass: have the slices say which pods there are."""
    mine = [
        each
        for each in ctx.find(slices_by_service, service.metadata.name)
        if each.metadata.labels.get(MANAGED_BY) == OURS and each.metadata.deletion_timestamp is None
    ]
    families = service.spec.ip_families or ["IPv4"]
    owned = [each for each in mine if is_controlled_by(each, service) and each.address_type in families]
    plan = SlicePlan(delete=[each for each in mine if each not in owned])  # left by another Service of this name
    pods = selected_pods(service, ctx)
    zones = _zones(pods, ctx)
    for family in families:
        groups = group(service, pods, zones, family)
        of_family = [each for each in owned if each.address_type == family]
        packed = pack(groups, of_family, empty_slice(service, family))
        plan.create += packed.create
        plan.update += packed.update
        plan.delete += packed.delete
    await carry_out(plan, ctx)


def group(service: Service, pods: Iterable[Pod], zones: dict[str, str | None], family: str) -> dict[Ports, PortGroup]:
    """The endpoints of a Service in one address family, by the ports that they have.

    `zones` says of each node that there is in which zone it is. A pod whose node is gone takes no traffic, unless the
    Service asks for all pods, ready or not.
    """
    groups: dict[Ports, PortGroup] = {}
    for pod in pods:
        node = pod.spec.node_name or ""
        if node not in zones and not service.spec.publish_not_ready_addresses:
            continue
        ports = endpoint_ports(service, pod)
        endpoint = endpoint_of(pod, service, zones.get(node), family)
        if endpoint.addresses:
            into = groups.setdefault(ports_key(ports), PortGroup(ports))
            into.endpoints[identity(endpoint)] = endpoint
    return groups


def endpoint_of(pod: Pod, service: Service, zone: str | None, family: str) -> Endpoint:
    """What a slice says of a pod."""
    serving, terminating = is_ready(pod), pod.metadata.deletion_timestamp is not None
    ready = bool(service.spec.publish_not_ready_addresses) or (serving and not terminating)
    meta = pod.metadata
    return Endpoint(
        addresses=addresses(pod, family),
        conditions=EndpointConditions(ready=ready, serving=serving, terminating=terminating),
        target_ref=ObjectReference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid),
        node_name=pod.spec.node_name or None,
        zone=zone,
        hostname=hostname_in(pod, service),
    )


def endpoint_ports(service: Service, pod: Pod) -> list[EndpointPort]:
    """The ports of a Service, as numbers that a pod listens on. Those that it doesn't have are left out."""
    return [
        EndpointPort(name=each.name or "", port=number, protocol=each.protocol, app_protocol=each.app_protocol)
        for each in service.spec.ports
        if (number := target_port(pod, each)) is not None
    ]


def empty_slice(service: Service, family: str) -> EndpointSlice:
    """A new slice, with the labels that its Service has."""
    labels = {key: value for key, value in service.metadata.labels.items() if key not in RESERVED}
    labels |= {SERVICE_NAME: service.metadata.name, MANAGED_BY: OURS}
    if is_headless(service):
        labels[HEADLESS_LABEL] = ""
    meta = ObjectMeta(
        generate_name=f"{service.metadata.name}-",
        namespace=service.metadata.namespace,
        labels=labels,
        owner_references=[owner_reference(service)],
    )
    return EndpointSlice(metadata=meta, address_type=family)


async def carry_out(plan: SlicePlan, ctx: Context) -> None:
    """Write what was decided. In a namespace that is being deleted nothing can be made, and no Event says so."""
    for each in plan.create:
        try:
            await ctx.client.create(each)
        except ClientError as error:
            if is_namespace_terminating(error):
                return
            raise
    for each in plan.update:
        await ctx.client.replace(each)
    for each in plan.delete:
        with suppress(NotFound):
            await ctx.client.delete(EndpointSlice, each.metadata.name, uid=each.metadata.uid)


def _zones(pods: Iterable[Pod], ctx: Context) -> dict[str, str | None]:
    """The zone of each node that there is, of those that these pods are on."""
    nodes = (ctx.get(Node, name) for name in {each.spec.node_name for each in pods} if name)
    return {node.metadata.name: zone_of(node) for node in nodes if node is not None}
