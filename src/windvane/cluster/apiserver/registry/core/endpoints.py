"""The strategy of Endpoints."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import port_number_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, items, shortened
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.validation import ip_address
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.address import address_warnings, is_address, outside_node
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

MANAGED = {
    "Endpoints": ("endpoints.kubernetes.io/managed-by", ("endpoint-controller",)),
    "EndpointSlice": (
        "endpointslice.kubernetes.io/managed-by",
        ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"),
    ),
}


def _endpoints(endpoints: Wire) -> str:
    subsets = items(endpoints, "subsets")
    if not subsets:
        return "<none>"
    shown = []
    for subset in subsets:
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        ports = [port.get("port", 0) for port in subset.get("ports") or ()]
        if not ports:
            shown += addresses
        shown += [f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}" for port in ports for ip in addresses]
    return shortened(shown)


class EndpointsStrategy(BuiltinStrategy):
    model = core.Endpoints
    allow_create_on_update = True
    columns = (NAME, Column("Endpoints", _endpoints), AGE)
    column_fields = {"Endpoints": "core.v1.Endpoints.subsets"}

    def set_defaults(self, obj: Wire) -> None:
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                fill(port, "protocol", "TCP")

    def validate(self, obj: Wire, problems: Problems) -> None:
        for index, subset in enumerate(obj.get("subsets") or ()):
            here = f"subsets[{index}]"
            addresses = [*(subset.get("addresses") or ()), *(subset.get("notReadyAddresses") or ())]
            if not addresses:
                problems.required(here, "must specify `addresses` or `notReadyAddresses`")
            for field in ("addresses", "notReadyAddresses"):
                for number, address in enumerate(subset.get(field) or ()):
                    ip, path = address.get("ip", ""), f"{here}.{field}[{number}].ip"
                    ip_address(ip, path, problems)
                    if is_address(ip):
                        outside_node(ip, path, problems, may_be_loopback=self.loopback_endpoints)
                    else:
                        problems.invalid(path, ip, "must be a valid IP address")
            for number, port in enumerate(subset.get("ports") or ()):
                value = port.get("port", 0)
                problems.all_invalid(f"{here}.ports[{number}].port", value, port_number_problems(value))

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        for index, subset in enumerate(() if is_managed("Endpoints", obj) else obj.get("subsets") or ()):
            for kind in ("addresses", "notReadyAddresses"):
                for place, address in enumerate(subset.get(kind) or ()):
                    yield from address_warnings(f"subsets[{index}].{kind}[{place}].ip", address.get("ip", ""))


def is_managed(kind: str, obj: Wire) -> bool:
    """Whether a controller manages an object: then no client is warned."""
    label, controllers = MANAGED[kind]
    return (obj["metadata"].get("labels") or {}).get(label) in controllers
