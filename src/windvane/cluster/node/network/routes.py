"""Where connections to a Service go: the addresses that it is reached at, and the endpoints behind each port."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

from windvane.k8s.core import Service, ServicePort
from windvane.k8s.discovery import Endpoint, EndpointSlice

NODE_ADDRESS = "127.0.0.1"
"""Where node ports are."""
DEFAULT_AFFINITY = 10800


class Address(NamedTuple):
    """Where something listens."""

    host: str
    port: int


@dataclass(frozen=True)
class Route:
    """What is behind one port of a Service."""

    endpoints: tuple[Address, ...] = ()
    affinity: float = 0.0
    """For how many seconds a client that comes again is brought to the same endpoint."""


def routes(service: Service, slices: Iterable[EndpointSlice]) -> dict[Address, Route]:
    """For each address that a Service is to be reached at, what is behind it, if anything is."""
    slices = list(slices)
    hosts = [each for each in service.spec.cluster_ips if each != "None"]
    found: dict[Address, Route] = {}
    for port in service.spec.ports:
        if port.protocol != "TCP":
            continue
        route = Route(tuple(_behind(port, slices)), _affinity(service))
        if not route.endpoints:
            continue
        for host in hosts:
            found[Address(host, port.port)] = route
        if port.node_port:
            found[Address(NODE_ADDRESS, port.node_port)] = route
    return found


def unsupported_ports(service: Service) -> list[str]:
    """The ports of a Service that no connections can be brought to, as people call them."""
    return [f"{each.port}/{each.protocol}" for each in service.spec.ports if each.protocol != "TCP"]


def _behind(port: ServicePort, slices: Iterable[EndpointSlice]) -> list[Address]:
    """The ready endpoints of a port; if there is none, those that still serve while they are being stopped."""
    ready: set[Address] = set()
    going: set[Address] = set()
    for each in slices:
        numbers = [one.port for one in each.ports if (one.name or "") == (port.name or "") and one.port]
        for endpoint in each.endpoints:
            told = endpoint.conditions
            into = None
            if told is None or told.ready is not False:
                into = ready
            elif told.serving and told.terminating:
                into = going
            if into is not None and is_real(endpoint):
                into.update(Address(host, number) for host in endpoint.addresses for number in numbers if number)
    return sorted(ready or going)


def is_real(endpoint: Endpoint) -> bool:
    """Whether something can listen there. A simulated pod's address may be another host's: not to be called."""
    is_pod = endpoint.target_ref is not None and endpoint.target_ref.kind == "Pod"
    return not is_pod or all(ip_address(each).is_loopback for each in endpoint.addresses)


def _affinity(service: Service) -> float:
    if service.spec.session_affinity != "ClientIP":
        return 0.0
    config = service.spec.session_affinity_config
    told = config.client_ip.timeout_seconds if config is not None and config.client_ip is not None else None
    return float(told or DEFAULT_AFFINITY)


class Balancer:
    """Says which endpoint the next connection goes to: one after the other, or the one that the client had before."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self._next = 0
        self._had: dict[str, tuple[Address, float]] = {}
        """By client: its endpoint, and until when it is that client's."""

    def choose(self, client: str, now: float) -> list[Address]:
        """The endpoints to try, the best first. Where there is no answer, the next one is tried."""
        endpoints = self.route.endpoints
        if not endpoints:
            return []
        self._next %= len(endpoints)
        order = [*endpoints[self._next :], *endpoints[: self._next]]
        had, until = self._had.get(client, (None, 0.0))
        if self.route.affinity and had in order and now < until:
            order.remove(had)
            return [had, *order]
        self._next += 1
        return order

    def reached(self, client: str, endpoint: Address, now: float) -> None:
        """Remember where a client's connection went."""
        if not self.route.affinity:
            return
        self._had = {each: told for each, told in self._had.items() if now < told[1]}
        self._had[client] = (endpoint, now + self.route.affinity)
