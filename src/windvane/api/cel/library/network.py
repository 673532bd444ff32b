"""IP addresses and networks: `cidr('10.0.0.0/8').containsIP(self.address)`."""

import ipaddress
import re
from typing import Any

from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.types import BOOL, INT, STRING, opaque
from windvane.api.cel.values import CelError, Opaque, no_overload
from windvane.api.wording import quoted

IP, CIDR = opaque("net.IP"), opaque("net.CIDR")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressError(ValueError):
    """A text that is no address, in Go's words."""


class Ip(Opaque):
    """An address."""

    __slots__ = ("address",)
    type_name = "net.IP"

    def __init__(self, address: Address) -> None:
        self.address = address

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.address.max_prefixlen // 8

    def same(self, other: Any) -> bool:
        return bool(self.address == other.address)


class Cidr(Opaque):
    """An address and how many of its bits are the network's; the others need not be zero."""

    __slots__ = ("address", "bits")
    type_name = "net.CIDR"

    def __init__(self, address: Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    @property
    def size(self) -> int:
        """How many bytes of it are the network's."""
        return -(-self.bits // 8)

    def same(self, other: Any) -> bool:
        return bool(self.address == other.address and self.bits == other.bits)

    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """All addresses that share the bits."""
        return ipaddress.ip_network((self.address, self.bits), strict=False)


def _parse(text: str) -> Address:
    for character in text:
        if character == ".":
            return _parse_v4(text)
        if character == ":":
            return _parse_v6(text)
        if character == "%":
            raise _bad(text, "missing IPv6 address")
    raise _bad(text, "unable to parse IP")


def _bad(text: str, why: str, at: str = "") -> AddressError:
    return AddressError(f"ParseAddr({quoted(text)}): {why}{f' (at {quoted(at)})' if at else ''}")


def _parse_v4(text: str) -> ipaddress.IPv4Address:
    fields = text.split(".")
    place = 0
    for index, field in enumerate(fields):
        odd = re.search("[^0-9]", field)
        if odd:
            raise _bad(text, "unexpected character", text[place + odd.start() :])
        if not field:
            raise _bad(
                text,
                "IPv4 field must have at least one digit",
                text[place:] if index < len(fields) - 1 else text[place - 1 :],
            )
        if len(field) > 1 and field[0] == "0":
            raise _bad(text, "IPv4 field has octet with leading zero")
        if len(field) > 3 or int(field) > 255:
            raise _bad(text, "IPv4 field has value >255")
        if index == 4:
            raise _bad(text, "IPv4 address too long")
        place += len(field) + 1
    if len(fields) < 4:
        raise _bad(text, "IPv4 address too short")
    return ipaddress.IPv4Address(text)


def _parse_v6(text: str) -> ipaddress.IPv6Address:
    address, percent, zone = text.partition("%")
    if percent and not zone:
        raise _bad(text, "zone must be a non-empty string")
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        raise _bad(text, *_problem_v6(address)) from None
    return ipaddress.IPv6Address(text) if percent else parsed


def _problem_v6(address: str) -> tuple[str, str]:
    rest = address
    groups = 0
    if rest.startswith("::"):
        rest = rest[2:]
    elif rest.startswith(":"):
        return "each colon-separated field must have at least one digit", rest
    shortened = address.startswith("::")
    while rest:
        digits = re.match("[0-9a-fA-F]*", rest)
        length = len(digits[0]) if digits else 0
        if length > 4:
            return "each group must have 4 or less digits", rest
        if length == 0:
            return "each colon-separated field must have at least one digit", rest
        groups += 1
        rest = rest[length:]
        if not rest:
            break
        if rest[0] != ":":
            return "unexpected character, want colon", rest
        if len(rest) == 1:
            return "colon must be followed by more characters", rest
        rest = rest[1:]
        if rest.startswith(":"):
            if shortened:
                return "multiple :: in address", rest
            shortened = True
            rest = rest[1:]
        if groups == 8 and rest:
            return "trailing garbage after address", rest
    return "address string too short", ""


def parse_ip(text: str) -> Address:
    """An address without a zone; what IPv6 has for IPv4 addresses is refused."""
    try:
        address = _parse(text)
    except AddressError as error:
        raise AddressError(f"IP Address {quoted(text)} parse error during conversion from string: {error}") from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise AddressError(f"IP address {quoted(text)} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise AddressError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address


def parse_cidr(text: str) -> Cidr:
    """A network such as `10.0.0.0/8`."""
    try:
        address, bits = _split(text)
    except AddressError as error:
        why = f"network address parse error during conversion from string: netip.ParsePrefix({quoted(text)}): {error}"
        raise AddressError(why) from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise AddressError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return Cidr(address, bits)


def _split(text: str) -> tuple[Address, int]:
    before, slash, bits = text.rpartition("/")
    if not slash:
        raise AddressError("no '/'")
    address = _parse(before)
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise AddressError("IPv6 zones cannot be present in a prefix")
    if len(bits) > 1 and (bits[0] < "1" or bits[0] > "9"):
        raise AddressError(f"bad bits after slash: {quoted(bits)}")
    if not re.fullmatch("[0-9]{1,9}", bits):
        raise AddressError(f"bad bits after slash: {quoted(bits)}")
    if int(bits) > address.max_prefixlen:
        raise AddressError("prefix length out of range")
    return address, int(bits)


def shown_ip(address: Address) -> str:
    """The canonical text of an address."""
    return str(address)


def _ip(text: str) -> Ip:
    try:
        return Ip(parse_ip(text))
    except AddressError as error:
        raise CelError(str(error)) from None


def _cidr(text: str) -> Cidr:
    try:
        return parse_cidr(text)
    except AddressError as error:
        raise CelError(f"network address parse error during conversion from string: {error}") from None


def _is_ip(text: str) -> bool:
    try:
        parse_ip(text)
    except AddressError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        parse_cidr(text)
    except AddressError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return shown_ip(_ip(text).address) == text


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return ip.address.version == cidr.address.version and ip.address in cidr.network()


def _contains_ip_text(cidr: Cidr, text: str) -> bool:
    if not _is_ip(text):
        raise no_overload()  # not what is wrong, but what the server says
    return _contains_ip(cidr, _ip(text))


def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    if cidr.address.version != other.address.version or cidr.bits > other.bits:
        return False
    return other.address in cidr.network()


def _is_global_unicast(ip: Ip) -> bool:
    address = ip.address
    local = address.is_unspecified or address.is_loopback or address.is_multicast or _is_link_local(ip)
    return not local and address != ipaddress.IPv4Address("255.255.255.255")


def _is_link_local(ip: Ip) -> bool:
    return ip.address.is_link_local


def _is_link_local_multicast(ip: Ip) -> bool:
    if ip.address.version == 4:
        return ip.address in ipaddress.ip_network("224.0.0.0/24")
    return ip.address.packed[0] == 0xFF and ip.address.packed[1] & 0x0F == 2


def _masked(cidr: Cidr) -> Cidr:
    return Cidr(cidr.network().network_address, cidr.bits)


FUNCTIONS: Functions = {
    "ip": (plain("string_to_ip", [STRING], IP, _ip), member("cidr_ip", [CIDR], IP, lambda cidr: Ip(cidr.address))),
    "family": (member("ip_family", [IP], INT, lambda ip: ip.address.version),),
    "ip.isCanonical": (plain("ip_is_canonical", [STRING], BOOL, _is_canonical),),
    "isIP": (plain("is_ip", [STRING], BOOL, _is_ip),),
    "isUnspecified": (member("ip_is_unspecified", [IP], BOOL, lambda ip: ip.address.is_unspecified),),
    "isLoopback": (member("ip_is_loopback", [IP], BOOL, lambda ip: ip.address.is_loopback),),
    "isLinkLocalMulticast": (member("ip_is_link_local_multicast", [IP], BOOL, _is_link_local_multicast),),
    "isLinkLocalUnicast": (member("ip_is_link_local_unicast", [IP], BOOL, _is_link_local),),
    "isGlobalUnicast": (member("ip_is_global_unicast", [IP], BOOL, _is_global_unicast),),
    "string": (
        plain("ip_to_string", [IP], STRING, lambda ip: shown_ip(ip.address)),
        plain("cidr_to_string", [CIDR], STRING, lambda cidr: f"{shown_ip(cidr.address)}/{cidr.bits}"),
    ),
    "cidr": (plain("string_to_cidr", [STRING], CIDR, _cidr),),
    "isCIDR": (plain("is_cidr", [STRING], BOOL, _is_cidr),),
    "containsIP": (
        member("cidr_contains_ip_string", [CIDR, STRING], BOOL, _contains_ip_text),
        member("cidr_contains_ip_ip", [CIDR, IP], BOOL, _contains_ip),
    ),
    "containsCIDR": (
        member("cidr_contains_cidr_string", [CIDR, STRING], BOOL, lambda one, text: _contains_cidr(one, _cidr(text))),
        member("cidr_contains_cidr", [CIDR, CIDR], BOOL, _contains_cidr),
    ),
    "prefixLength": (member("cidr_prefix_length", [CIDR], INT, lambda cidr: cidr.bits),),
    "masked": (member("cidr_masked", [CIDR], CIDR, _masked),),
}
