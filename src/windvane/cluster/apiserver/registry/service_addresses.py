"""Addresses for Services: each gets one of its own, and node ports if its type has them."""

from ipaddress import IPv4Network, ip_address

import msgspec

from windvane.api.json_value import Wire
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.failure import failure
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

SERVICES = "/services"
NETWORK = "10.0.0.0/16"
"""Where the Services of a new cluster have their addresses unless it is told otherwise."""
FIRST_NODE_PORT, LAST_NODE_PORT = 30000, 32767


class ServiceAddresses:
    """Knows which addresses and ports are taken: by Services that are stored, and by those that are about to be."""

    def __init__(self, store: Store, network: IPv4Network) -> None:
        self._store = store
        self._network = network
        self._last_address = 10  # the first few are for the services that every cluster has
        self._last_port = FIRST_NODE_PORT - 1

    def assign(self, wire: Wire) -> list[StatusCause]:
        """Fill in the addresses and ports that a Service leaves to us; what is wrong with those it names."""
        spec = wire.get("spec", {})
        if spec.get("type") == "ExternalName":
            return []
        taken_ips, taken_ports = self._taken(wire["metadata"].get("uid", ""))
        address = spec.get("clusterIP") or ""
        if address and address != "None":
            if problem := _address_problem(address, self._network, taken_ips):
                return [problem]
        elif not address:
            spec["clusterIP"] = address = self._free_address(taken_ips)
        spec["clusterIPs"] = [address]
        balanced = spec.get("type") == "LoadBalancer"
        if balanced or spec.get("type") == "NodePort":
            leave_out = balanced and spec.get("allocateLoadBalancerNodePorts") is False
            if problem := self._assign_ports(spec.get("ports") or [], taken_ports, leave_out=leave_out):
                return [problem]
        if balanced and spec.get("externalTrafficPolicy") == "Local" and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = self._free_port(taken_ports)
        return []

    def _assign_ports(self, ports: list[Wire], taken: set[int], *, leave_out: bool) -> StatusCause | None:
        """One number on the nodes for each port; the same port in two protocols, as DNS has, shares one."""
        given: dict[int, int] = {}
        for index, port in enumerate(ports):
            known = given.get(port["port"])
            stated = port.get("nodePort") or known
            if not stated:
                named = (each.get("nodePort") for each in ports if each["port"] == port["port"])
                stated = next((each for each in named if each), 0)
            if not stated and leave_out:
                continue
            if stated and stated != known and (why := _port_problem(stated, taken)):
                message = f"Invalid value: {stated}: {why}"
                return StatusCause(reason="FieldValueInvalid", message=message, field=f"spec.ports[{index}].nodePort")
            port["nodePort"] = stated or self._free_port(taken)
            taken.add(port["nodePort"])
            given.setdefault(port["port"], port["nodePort"])
        return None

    def _taken(self, own_uid: str) -> tuple[set[str], set[int]]:
        addresses: set[str] = set()
        ports: set[int] = set()
        for entry in self._store.entries_ahead(SERVICES):
            service = msgspec.json.decode(entry.value)
            if service["metadata"]["uid"] != own_uid:
                spec = service.get("spec", {})
                addresses.update(spec.get("clusterIPs", ()))
                ports.update(port.get("nodePort", 0) for port in spec.get("ports", ()))
                ports.add(spec.get("healthCheckNodePort", 0))
        return addresses, ports

    # Round and round, so that what became free is not used again at once: a client may still think of the old owner.
    def _free_address(self, taken: set[str]) -> str:
        for _ in range(self._network.num_addresses):
            self._last_address = self._last_address % (self._network.num_addresses - 2) + 1
            address = str(self._network[self._last_address])
            if address not in taken:
                return address
        raise failure(500, "InternalError", "Internal error occurred: failed to allocate a serviceIP: range is full")

    def _free_port(self, taken: set[int]) -> int:
        for _ in range(FIRST_NODE_PORT, LAST_NODE_PORT + 1):
            self._last_port = self._last_port + 1 if self._last_port < LAST_NODE_PORT else FIRST_NODE_PORT
            if self._last_port not in taken:
                return self._last_port
        raise failure(500, "InternalError", "Internal error occurred: failed to allocate a nodePort: range is full")


def network_of(store: Store) -> IPv4Network:
    """Where Services have their addresses unless told otherwise: where those in the store have theirs."""
    entry = store.get(Key(SERVICES, "default", "kubernetes"))
    if entry is None:
        return IPv4Network(NETWORK)
    return IPv4Network(f"{msgspec.json.decode(entry.value)['spec']['clusterIP']}/16", strict=False)


def _port_problem(port: int, taken: set[int]) -> str:
    if not FIRST_NODE_PORT <= port <= LAST_NODE_PORT:
        allowed = f"{FIRST_NODE_PORT}-{LAST_NODE_PORT}"
        return f"provided port is not in the valid range. The range of valid ports is {allowed}"
    return "provided port is already allocated" if port in taken else ""


def _address_problem(address: str, network: IPv4Network, taken: set[str]) -> StatusCause | None:
    try:
        inside = ip_address(address) in network
    except ValueError:
        return None  # validation says so, in its own words
    if not inside:
        why = f"failed to allocate IP {address}: the provided network does not match the current range"
    elif address in taken:
        why = f"failed to allocate IP {address}: provided IP is already allocated"
    else:
        return None
    message = f'Invalid value: ["{address}"]: {why}'
    return StatusCause(reason="FieldValueInvalid", message=message, field="spec.clusterIPs")
