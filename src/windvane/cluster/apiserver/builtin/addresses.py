"""Addresses and networks: what is wrong with them, and what is only odd.

A network with bits beyond its length may be meant as an address, so it is refused. `fd00::0` and `fd00::` are one
address in two spellings: that is taken, with a warning.
"""

from ipaddress import ip_address, ip_interface, ip_network

from windvane.cluster.apiserver.builtin.problems import Problems

_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
CANONICAL = "should be in RFC 5952 canonical format"


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
