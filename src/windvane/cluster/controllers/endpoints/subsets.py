"""The subsets of an Endpoints object: addresses that serve the same ports are together, ready or not."""

from collections.abc import Iterable
from typing import TypeAlias

from windvane.k8s.core import EndpointAddress, EndpointPort, EndpointSubset

MOST = 1000
"""How many addresses an Endpoints object has at most."""

Key: TypeAlias = tuple[str, str]
PortKey: TypeAlias = tuple[str, str, int, str]


def repack(subsets: Iterable[EndpointSubset]) -> list[EndpointSubset]:
    """The same addresses and ports, each address once for each set of ports, in an order that is always the same."""
    addresses: dict[Key, EndpointAddress] = {}
    ports: dict[PortKey, EndpointPort] = {}
    serving: dict[PortKey | None, dict[Key, bool]] = {}
    for subset in subsets:
        told = [(each, True) for each in subset.addresses] + [(each, False) for each in subset.not_ready_addresses]
        ports |= {_port_key(each): each for each in subset.ports}
        keys: list[PortKey | None] = [_port_key(each) for each in subset.ports]
        for port_key in keys or [None]:
            there = serving.setdefault(port_key, {})
            for address, ready in told:
                key = _key(address)
                addresses.setdefault(key, address)
                there[key] = ready and there.get(key, True)  # not ready wins
    together: dict[tuple[tuple[Key, bool], ...], list[PortKey]] = {}
    for served, there in serving.items():
        of_same = together.setdefault(tuple(sorted(there.items())), [])
        if served is not None:
            of_same.append(served)
    return [
        EndpointSubset(
            addresses=[addresses[key] for key, ready in there if ready],
            not_ready_addresses=[addresses[key] for key, ready in there if not ready],
            ports=[ports[each] for each in sorted(of_same)],
        )
        for there, of_same in sorted(together.items(), key=lambda item: sorted(item[1]))
    ]


def truncate(subsets: list[EndpointSubset], most: int = MOST) -> list[EndpointSubset]:
    """Leave out addresses beyond the limit: first those that are not ready, from each subset its share."""
    ready = sum(len(each.addresses) for each in subsets)
    unready = sum(len(each.not_ready_addresses) for each in subsets)
    if ready + unready <= most:
        return subsets
    room = most if ready > most else most - ready
    left, truncated = room, []
    for each in subsets:
        if ready > most:
            share = min(-(-len(each.addresses) * room // ready), left)
            kept = EndpointSubset(addresses=each.addresses[:share], ports=each.ports)
            left -= len(kept.addresses)
        else:
            share = min(-(-len(each.not_ready_addresses) * room // unready), left)
            unready_kept = each.not_ready_addresses[:share]
            kept = EndpointSubset(addresses=each.addresses, not_ready_addresses=unready_kept, ports=each.ports)
            left -= len(unready_kept)
        truncated.append(kept)
    return truncated


def count(subsets: Iterable[EndpointSubset]) -> int:
    """How many addresses there are."""
    return sum(len(each.addresses) + len(each.not_ready_addresses) for each in subsets)


def _key(address: EndpointAddress) -> Key:
    return address.ip, (address.target_ref.uid or "") if address.target_ref is not None else ""


def _port_key(port: EndpointPort) -> PortKey:
    return port.name or "", port.protocol or "TCP", port.port, port.app_protocol or ""
