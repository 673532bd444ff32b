"""Addresses for pods and networks for Services, of which no other cluster on this machine has the same.

Pods that really run have addresses of the loopback interface, 127.x.y.z: on every one of its sixteen million something
can listen, without any setting up. Each node has 127.x.0.0/16 for its pods, and each cluster one for its Services. So
that clusters on one machine don't share an x, a cluster that has one holds a socket with its name; the system gives
that name to one process only, and takes it back when it ends.
"""

import socket
import sys
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network
from zlib import crc32

SIMULATED = "10.244.0.0/16"
"""Where nothing real listens, any private network does."""
POD_BLOCKS = range(64, 128)
"""Which 127.x there are for the pods of a node."""
SERVICE_BLOCKS = range(192, 250)
"""Which there are for the Services of a cluster."""


class NetworkClaim:
    """A network that is ours alone, until it is closed."""

    def __init__(self, network: str, held: socket.socket | None) -> None:
        self.network = network
        self._held = held

    def close(self) -> None:
        """Let others have it."""
        if self._held is not None:
            self._held.close()


class Addresses:
    """The addresses of one network, handed out one after the other: one that was given back comes last again."""

    def __init__(self, network: str = SIMULATED, claim: NetworkClaim | None = None) -> None:
        self._network = IPv4Network(network)
        self._claim = claim
        self._taken: set[str] = set()
        self._last = 0

    def close(self) -> None:
        """Let others have the whole network."""
        if self._claim is not None:
            self._claim.close()

    def take(self) -> str:
        """One that is free."""
        usable = self._network.num_addresses - 2
        for _ in range(usable):
            self._last = self._last % usable + 1
            address = str(self._network.network_address + self._last)
            if address not in self._taken:
                self._taken.add(address)
                return address
        raise RuntimeError(f"all {usable} addresses of {self._network} are taken by pods: delete some")

    def keep(self, address: str) -> bool:
        """Take this very one, which a pod had before; whether that was possible."""
        if address in self._taken or IPv4Address(address) not in self._network:
            return False
        self._taken.add(address)
        return True

    def give_back(self, address: str) -> None:
        """Let others have it."""
        self._taken.discard(address)


def claim_loopback(cluster: str) -> Addresses:
    """A /16 of the loopback network that no other node here has; for the same `cluster` the same, if it is free."""
    claim = _claim(_in_turn(POD_BLOCKS, cluster))
    return Addresses(claim.network, claim)


def claim_for_services(cluster: str, had: str = "") -> NetworkClaim:
    """One that no other cluster here has for its Services: the one that it `had`, if that is free."""
    networks = _in_turn(SERVICE_BLOCKS, cluster)
    return _claim([*(each for each in networks if each == had), *networks])


def _in_turn(blocks: range, cluster: str) -> list[str]:
    """All of these networks, in an order of one's own."""
    first = crc32(cluster.encode()) % len(blocks)
    return [f"127.{block}.0.0/16" for block in (*blocks[first:], *blocks[:first])]


def _claim(networks: Iterable[str]) -> NetworkClaim:
    for network in networks:
        if sys.platform != "linux":  # where names like these are not to be had, chance must do
            return NetworkClaim(network, None)
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind(f"\0windvane/{network}")
        except OSError:
            held.close()
        else:
            return NetworkClaim(network, held)
    raise RuntimeError("all networks of the loopback interface are taken by other clusters: stop one of those")
