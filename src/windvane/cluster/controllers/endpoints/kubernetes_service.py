"""Where the Service `kubernetes` leads: to the API server itself, so that pods reach https://kubernetes.default."""

from windvane import AlreadyExists, Context, Object, ObjectMeta, Operator, Watch
from windvane.cluster.controllers.endpoints.slice_controller import SERVICE_NAME, service_of_slice
from windvane.cluster.controllers.endpoints.slice_mirroring import SKIP
from windvane.k8s import core
from windvane.k8s.core import EndpointAddress, Endpoints, EndpointSubset, Service
from windvane.k8s.discovery import Endpoint, EndpointConditions, EndpointPort, EndpointSlice

NAME = "kubernetes"
ADDRESS = "127.0.0.1"


def add_to(operator: Operator, port: int) -> None:
    """Have the endpoint of the API server, which listens on that port, be known."""

    @operator.controller(
        Service,
        name="kubernetes-service-endpoint",
        watches=[Watch(EndpointSlice, to=service_of_slice), Watch(Endpoints, to=lambda each: each.metadata.name)],
    )
    async def publish(service: Service, ctx: Context) -> None:
        if (service.metadata.namespace, service.metadata.name) != ("default", NAME):
            return
        slice_, endpoints = api_slice(port), api_endpoints(port)
        there = ctx.get(EndpointSlice, NAME)
        if there is None or (there.endpoints, there.ports) != (slice_.endpoints, slice_.ports):
            await _write(slice_, there, ctx)
        known = ctx.get(Endpoints, NAME)
        if known is None or known.subsets != endpoints.subsets:
            await _write(endpoints, known, ctx)


def api_slice(port: int) -> EndpointSlice:
    """The EndpointSlice of the API server."""
    return EndpointSlice(
        metadata=ObjectMeta(name=NAME, namespace="default", labels={SERVICE_NAME: NAME}),
        address_type="IPv4",
        endpoints=[Endpoint(addresses=[ADDRESS], conditions=EndpointConditions(ready=True))],
        ports=[EndpointPort(name="https", port=port, protocol="TCP")],
    )


def api_endpoints(port: int) -> Endpoints:
    """The same in the older form."""
    ports = [core.EndpointPort(name="https", port=port, protocol="TCP")]
    subset = EndpointSubset(addresses=[EndpointAddress(ip=ADDRESS)], ports=ports)
    return Endpoints(metadata=ObjectMeta(name=NAME, namespace="default", labels={SKIP: "true"}), subsets=[subset])


async def _write(wanted: Object, there: Object | None, ctx: Context) -> None:
    if there is None:
        try:
            await ctx.client.create(wanted)
        except AlreadyExists:
            ctx.wait(f"{wanted.kind} {NAME} has just been made by another client", after=1)
    else:
        wanted.metadata.resource_version = there.metadata.resource_version
        await ctx.client.replace(wanted)
