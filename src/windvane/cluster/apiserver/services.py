"""Addresses for Services: each gets one of its own, and node ports if its type has them."""

from ipaddress import ip_address, ip_network
from typing import Any

import msgspec

from windvane.api.status import StatusCause
from windvane.cluster.apiserver.failure import failure
from windvane.cluster.apiserver.store.store import Store

Wire = dict[str, Any]
SERVICES = "/services"
NETWORK = ip_network("10.0.0.0/16")
FIRST_NODE_PORT, LAST_NODE_PORT = 30000, 32767


class Addresses:
    """Knows which addresses are taken: those in the store, and those given out for writes that are under way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next = 10  # the first few are for the services that every cluster has

    def assign(self, wire: Wire) -> list[StatusCause]:
        """Fill in the addresses and ports that a Service leaves to us; what is wrong with those it names."""
        spec = wire.get("spec", {})
        if spec.get("type") == "ExternalName":
            return []
        taken_ips, taken_ports = self._taken(wire["metadata"].get("uid", ""))
        address = spec.get("clusterIP") or ""
        if address and address != "None":
            if problem := _address_problem(address, taken_ips):
                return [problem]
        elif not address:
            spec["clusterIP"] = address = self._free_address(taken_ips)
        spec["clusterIPs"] = [address]
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        if spec.get("type") in ("NodePort", "LoadBalancer"):
            for port in spec.get("ports", ()):
                if not port.get("nodePort"):
                    port["nodePort"] = _free_port(taken_ports)
                taken_ports.add(port["nodePort"])
        return []

    def _taken(self, own_uid: str) -> tuple[set[str], set[int]]:
        addresses: set[str] = set()
        ports: set[int] = set()
        for entry in self._store.entries(SERVICES):
            service = msgspec.json.decode(entry.value)
            if service["metadata"]["uid"] != own_uid:
                addresses.update(service.get("spec", {}).get("clusterIPs", ()))
                ports.update(port.get("nodePort", 0) for port in service.get("spec", {}).get("ports", ()))
        return addresses, ports

    def _free_address(self, taken: set[str]) -> str:
        # Round and round, so that an address is not used again right after it became free.
        for _ in range(NETWORK.num_addresses):
            self._next = self._next % (NETWORK.num_addresses - 2) + 1
            address = str(NETWORK[self._next])
            if address not in taken:
                return address
        raise failure(500, "InternalError", "Internal error occurred: failed to allocate a serviceIP: range is full")


def _free_port(taken: set[int]) -> int:
    for port in range(FIRST_NODE_PORT, LAST_NODE_PORT + 1):
        if port not in taken:
            return port
    raise failure(500, "InternalError", "Internal error occurred: failed to allocate a nodePort: range is full")


def _address_problem(address: str, taken: set[str]) -> StatusCause | None:
    try:
        inside = ip_address(address) in NETWORK
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
