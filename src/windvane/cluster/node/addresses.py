"""Addresses for pods: each gets one that no other has, and one that was given back comes last again."""

from ipaddress import IPv4Address, IPv4Network

SIMULATED = "10.244.0.0/16"
"""Where nothing real listens, any private network does."""


class Addresses:
    """The addresses of one network, handed out one after the other."""

    def __init__(self, network: str = SIMULATED) -> None:
        self._network = IPv4Network(network)
        self._taken: set[str] = set()
        self._last = 0

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
