"""Addresses for pods: each gets one that no other has, and one that was given back comes last again.

Pods that really run have addresses of the loopback interface, 127.x.y.z: on every one of its sixteen million something
can listen, without any setting up. Each node has 127.x.0.0/16 for itself. So that clusters on one machine don't share
an x, who has one holds a socket with its name; the system gives that name to one process only, and takes it back when
it ends.
"""

import socket
import sys
from ipaddress import IPv4Address, IPv4Network
from zlib import crc32

SIMULATED = "10.244.0.0/16"
"""Where nothing real listens, any private network does."""
BLOCKS = range(64, 128)
"""Which 127.x there are to choose from. Services are above these."""


class Addresses:
    """The addresses of one network, handed out one after the other."""

    def __init__(self, network: str = SIMULATED, claim: socket.socket | None = None) -> None:
        self._network = IPv4Network(network)
        self._claim = claim
        self._taken: set[str] = set()
        self._last = 0

    def close(self) -> None:
        """Let others have the whole network."""
        if self._claim is not None:
            self._claim.close()

    def take(self) -> str:
        """One that nobody has."""
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


def claim_loopback(who: str) -> Addresses:
    """A /16 of the loopback network that no other node here has; for the same `who` the same, if it is free."""
    first = crc32(who.encode()) % len(BLOCKS)
    for block in (*BLOCKS[first:], *BLOCKS[:first]):
        network = f"127.{block}.0.0/16"
        if sys.platform != "linux":  # where names like these are not to be had, chance must do
            return Addresses(network)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0windvane/{network}")
        except OSError:
            claim.close()
        else:
            return Addresses(network, claim)
    raise RuntimeError(f"all {len(BLOCKS)} networks of the loopback interface are taken by other nodes: stop a cluster")
