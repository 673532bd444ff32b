"""Addresses and networks: what is wrong with them, and what is only odd.

A network with bits beyond its length may be meant as an address, so it is refused. `fd00::0` and `fd00::` are one
address in two spellings: that is taken, with a warning.
"""

import ipaddress
from ipaddress import ip_address, ip_interface, ip_network

from windvane.cluster.apiserver.registry.validation.problems import Problems

_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
CANONICAL = "should be in RFC 5952 canonical format"
LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"


def address_warnings(path: str, value: str) -> list[str]:
    """What is odd about an IP address."""
    if ":" not in value or (plain := str(ip_address(value))) == value:
        return []
    return [f'{path}: IPv6 address "{value}" {CANONICAL} ("{plain}")']


def network_warnings(path: str, value: str) -> list[str]:
    """What is odd about a network such as fd00::/8."""
    if ":" not in value or (plain := str(ip_network(value, strict=False))) == value:
        return []
    return [f'{path}: IPv6 CIDR value "{value}" {CANONICAL} ("{plain}")']


def cidr(value: str, path: str, problems: Problems) -> None:
    """Check a range of addresses."""
    try:
        network = ip_network(value, strict=False)
    except ValueError:
        problems.invalid(path, value, _CIDR)
        return
    if "/" not in value:
        problems.invalid(path, value, _CIDR)
    elif ip_interface(value).ip != network.network_address:
        problems.invalid(path, value, "must not have bits set beyond the prefix length")


def is_address(text: str) -> bool:
    """Whether a text is an address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def outside_node(address: str, path: str, problems: Problems, *, may_be_loopback: bool = False) -> None:
    """Check that an address can belong to something that others can reach."""
    found = ipaddress.ip_address(address)
    if found.is_unspecified:
        problems.invalid(path, address, f"may not be unspecified ({address})")
    if found.is_loopback and not may_be_loopback:
        problems.invalid(path, address, LOOPBACK)
    if found.is_link_local:
        problems.invalid(path, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if found.is_multicast and (found.version == 4 and found.packed[:3] == b"\xe0\x00\x00"):
        problems.invalid(path, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
