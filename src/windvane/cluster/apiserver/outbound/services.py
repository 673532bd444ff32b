"""Resolves a Service to one of its ready endpoints, or else to its own address."""

from typing import NamedTuple

from msgspec import Struct, json

from windvane import ambient
from windvane.api.wording import quoted
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

SERVICES = "/services"
SLICES = "discovery.k8s.io/endpointslices"
OF_SERVICE = "kubernetes.io/service-name"


class Address(NamedTuple):
    """A host, by name or number, and a port."""

    host: str
    port: int


class ServiceUnreachable(OSError):
    """A Service can't be reached; the message is the real server's."""


class _Port(Struct, frozen=True):
    port: int | None = None
    name: str = ""


class _ServiceSpec(Struct, frozen=True, rename={"cluster_ip": "clusterIP", "external_name": "externalName"}):
    type: str = "ClusterIP"
    cluster_ip: str = ""
    external_name: str = ""
    ports: tuple[_Port, ...] = ()


class _Service(Struct, frozen=True):
    spec: _ServiceSpec


class _Metadata(Struct, frozen=True):
    labels: dict[str, str] | None = None


class _Conditions(Struct, frozen=True):
    ready: bool | None = None


class _Endpoint(Struct, frozen=True):
    addresses: tuple[str, ...] = ()
    conditions: _Conditions = _Conditions()


class _Slice(Struct, frozen=True):
    metadata: _Metadata
    endpoints: tuple[_Endpoint, ...] | None = None
    ports: tuple[_Port, ...] | None = None


_service_decoder = json.Decoder(_Service)
_slice_decoder = json.Decoder(_Slice)


def address_of(store: Store, namespace: str, name: str, port: int) -> Address:
    """The address for a port of a Service; `ServiceUnreachable` if there is none."""
    entry = store.get(Key(SERVICES, namespace, name))
    if entry is None:
        raise ServiceUnreachable(f"service {quoted(name)} not found")
    spec = _service_decoder.decode(entry.value).spec
    if spec.type == "ExternalName":
        return Address(spec.external_name, port)
    spec_port = next((each for each in spec.ports if each.port == port), None)
    if spec_port is None:
        raise ServiceUnreachable(f"no service port {port} found for service {quoted(name)}")
    if ready := _ready(store, namespace, name, spec_port.name):
        ambient.shuffle(ready)
        return ready[0]
    if spec.cluster_ip in ("", "None"):
        raise ServiceUnreachable(f"cannot route to service with ClusterIP {quoted(spec.cluster_ip)}")
    return Address(spec.cluster_ip, port)


def _ready(store: Store, namespace: str, name: str, port: str) -> list[Address]:
    """The addresses of the ready endpoints for the port of that name."""
    slices = (_slice_decoder.decode(entry.value) for entry in store.entries(SLICES, namespace))
    return [
        Address(address, served.port)
        for each in slices
        if (each.metadata.labels or {}).get(OF_SERVICE) == name
        for served in each.ports or ()
        if served.name == port and served.port
        for endpoint in each.endpoints or ()
        if endpoint.conditions.ready is not False
        for address in endpoint.addresses[:1]
    ]
