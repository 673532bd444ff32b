"""Columns of Ingresses, network policies, endpoint slices and addresses."""

from windvane.cluster.apiserver.columns.column import (
    AGE,
    NAME,
    Column,
    JSONObject,
    age,
    field,
    items,
    read,
    selector,
    shortened,
)
from windvane.cluster.apiserver.columns.core import balanced


def _hosts(ingress: JSONObject) -> str:
    rules = items(ingress, "spec.rules")
    shown: list[str] = []
    for rule in rules:
        if len(shown) == 3:
            # Counted by rules, with or without a host, as the real server does.
            return f"{','.join(shown)} + {len(rules) - 3} more..."
        if rule.get("host"):
            shown.append(rule["host"])
    return ",".join(shown) or "*"


INGRESS = (
    NAME,
    Column("Class", field("spec.ingressClassName", "<none>")),
    Column("Hosts", _hosts),
    Column("Address", balanced),
    Column("Ports", lambda ingress: "80, 443" if read(ingress, "spec.tls") else "80"),
    AGE,
)


def _class_name(ingress_class: JSONObject) -> str:
    annotations = read(ingress_class, "metadata.annotations") or {}
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    return str(read(ingress_class, "metadata.name")) + (" (default)" if default else "")


def _parameters(ingress_class: JSONObject) -> str:
    parameters = read(ingress_class, "spec.parameters")
    if parameters is None:
        return "<none>"
    group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") is not None else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


INGRESS_CLASS = (
    Column("Name", _class_name, format="name"),
    Column("Controller", field("spec.controller")),
    Column("Parameters", _parameters),
    AGE,
)

NETWORK_POLICY = (NAME, Column("Pod-Selector", selector("spec.podSelector")), AGE)


def _ports(endpoint_slice: JSONObject) -> str:
    ports = [
        str(port["port"]) if port.get("port") is not None else port.get("name", "*")
        for port in items(endpoint_slice, "ports")
    ]
    return shortened(ports) or "<unset>"


def _addresses(endpoint_slice: JSONObject) -> str:
    addresses = [
        address for endpoint in items(endpoint_slice, "endpoints") for address in endpoint.get("addresses") or ()
    ]
    return shortened(addresses) or "<unset>"


ENDPOINT_SLICE = (
    NAME,
    Column("AddressType", field("addressType")),
    Column("Ports", _ports),
    Column("Endpoints", _addresses),
    AGE,
)

SERVICE_CIDR = (NAME, Column("CIDRs", lambda cidr: ",".join(items(cidr, "spec.cidrs"))), AGE)


def _parent(address: JSONObject) -> str:
    parent = read(address, "spec.parentRef")
    if parent is None:
        return "<none>"
    group = f".{parent['group']}" if parent.get("group") else ""
    namespace = f"/{parent['namespace']}" if parent.get("namespace") else ""
    return f"{parent.get('resource', '')}{group}".lower() + f"{namespace}/{parent.get('name', '')}"


# The real server sends the age too, but no head for it.
IP_ADDRESS = (NAME, Column("ParentRef", _parent), Column("", age))
