"""The strategy of EndpointSlice."""

import ipaddress
from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import subdomain_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, shortened
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.endpoints import is_managed
from windvane.cluster.apiserver.registry.core.pod.validation import ip_address
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.address import address_warnings, is_address, outside_node
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import discovery


def _ports(endpoint_slice: Wire) -> str:
    ports = [
        str(port["port"]) if port.get("port") is not None else port.get("name", "*")
        for port in items(endpoint_slice, "ports")
    ]
    return shortened(ports) or "<unset>"


def _addresses(endpoint_slice: Wire) -> str:
    addresses = [
        address for endpoint in items(endpoint_slice, "endpoints") for address in endpoint.get("addresses") or ()
    ]
    return shortened(addresses) or "<unset>"


class EndpointSliceStrategy(BuiltinStrategy):
    model = discovery.EndpointSlice
    has_generation = True
    generation_metadata = "labels"  # which name the Service that it belongs to
    defaults = {"endpoints": None, "ports": None}
    columns = (
        NAME,
        Column("AddressType", field("addressType")),
        Column("Ports", _ports),
        Column("Endpoints", _addresses),
        AGE,
    )
    column_fields = {
        "AddressType": "discovery.v1.EndpointSlice.addressType",
        "Ports": "discovery.v1.EndpointSlice.ports",
        "Endpoints": "discovery.v1.EndpointSlice.endpoints",
    }

    def set_defaults(self, obj: Wire) -> None:
        for port in obj.get("ports") or ():
            port.setdefault("name", "")
            fill(port, "protocol", "TCP")
        for endpoint in obj.get("endpoints") or ():
            endpoint.setdefault("conditions", {})

    def validate(self, obj: Wire, problems: Problems) -> None:
        family = obj.get("addressType")
        problems.one_of("addressType", family, ("FQDN", "IPv4", "IPv6"))
        if family not in ("FQDN", "IPv4", "IPv6"):
            return
        for index, endpoint in enumerate(obj.get("endpoints") or ()):
            addresses = endpoint.get("addresses") or []
            if not addresses:
                problems.required(f"endpoints[{index}].addresses", "must contain at least 1 address")
            for number, address in enumerate(addresses):
                path = f"endpoints[{index}].addresses[{number}]"
                if family == "FQDN":
                    problems.all_invalid(path, address, subdomain_problems(address))
                    continue
                ip_address(address, path, problems)
                if is_address(address):
                    if f"IPv{ipaddress.ip_address(address).version}" != family:
                        problems.invalid(path, address, f"must be an {family} address")
                    outside_node(address, path, problems, may_be_loopback=self.loopback_endpoints)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        problems.immutable("addressType", obj.get("addressType"), old.get("addressType"))

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        if old is None and obj.get("addressType") == "FQDN":
            yield "spec.addressType: FQDN endpoints are deprecated"
        for index, endpoint in enumerate(() if is_managed("EndpointSlice", obj) else obj.get("endpoints") or ()):
            for place, address in enumerate(endpoint.get("addresses") or ()):
                yield from address_warnings(f"endpoints[{index}].addresses[{place}]", address)
