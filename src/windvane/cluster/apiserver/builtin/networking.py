"""Rules for what leads traffic to pods: Ingress, NetworkPolicy, Endpoints and EndpointSlice."""

import ipaddress
import re
from typing import Any

from windvane.api.names import label_problems, port_number_problems, subdomain_problems
from windvane.cluster.apiserver.builtin.addresses import cidr
from windvane.cluster.apiserver.builtin.metadata import label_selector
from windvane.cluster.apiserver.builtin.pods import ip_address
from windvane.cluster.apiserver.builtin.probes import port_or_name
from windvane.cluster.apiserver.builtin.problems import Problems
from windvane.cluster.apiserver.builtin.services import outside_node

Json = dict[str, Any]

PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_NOT_WILDCARD = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
    f"(e.g. '*.example.com', regex used for validation is '{_WILDCARD}')"
)
_BAD_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")


def ingress(obj: Json, problems: Problems) -> None:
    """Check an Ingress."""
    spec = obj["spec"]
    for index, tls in enumerate(spec.get("tls") or ()):
        here = f"spec.tls[{index}]"
        for number, host in enumerate(tls.get("hosts") or ()):
            problems.all_invalid(f"{here}.hosts[{number}]", host, _host_problems(host))
        if name := tls.get("secretName"):
            problems.all_invalid(f"{here}.secretName", name, subdomain_problems(name))
    if spec.get("defaultBackend") is not None:
        _backend(spec["defaultBackend"], "spec.defaultBackend", problems)
    rules = spec.get("rules") or []
    if not rules and spec.get("defaultBackend") is None:
        problems.invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    for index, rule in enumerate(rules):
        here = f"spec.rules[{index}]"
        if host := rule.get("host"):
            if _is_address(host):
                problems.invalid(f"{here}.host", host, "must be a DNS name, not an IP address")
            problems.all_invalid(f"{here}.host", host, [] if _is_address(host) else _host_problems(host))
        if (http := rule.get("http")) is not None:
            _paths(http.get("paths") or [], f"{here}.http.paths", problems)
    if name := spec.get("ingressClassName"):
        problems.all_invalid("spec.ingressClassName", name, subdomain_problems(name))


def ingress_class(obj: Json, problems: Problems) -> None:
    """Check an IngressClass."""
    controller = obj.get("spec", {}).get("controller", "")
    domain, slash, rest = controller.partition("/")
    if not slash or not domain or not rest:
        rule = 'must be a domain-prefixed path (such as "acme.io/foo")'
        problems.invalid("spec.controller", controller, rule)


def changed_ingress_class(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a class stays with its controller."""
    now, was = (each.get("spec", {}).get("controller") for each in (obj, old))
    problems.immutable("spec.controller", now, was)


def network_policy(obj: Json, problems: Problems) -> None:
    """Check a NetworkPolicy."""
    spec = obj["spec"]
    label_selector(spec.get("podSelector"), "spec.podSelector", problems)
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            here = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                _policy_port(port, f"{here}.ports[{number}]", problems)
            for number, peer in enumerate(rule.get(peers) or ()):
                _peer(peer, f"{here}.{peers}[{number}]", problems)
    types = spec.get("policyTypes") or []
    if len(types) > 2:
        problems.invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, sort in enumerate(types):
        if sort not in ("Ingress", "Egress"):
            problems.unsupported(f"spec.policyTypes[{index}]", sort, ("Ingress", "Egress"))


def endpoints(obj: Json, problems: Problems) -> None:
    """Check Endpoints."""
    for index, subset in enumerate(obj.get("subsets") or ()):
        here = f"subsets[{index}]"
        addresses = [*(subset.get("addresses") or ()), *(subset.get("notReadyAddresses") or ())]
        if not addresses:
            problems.required(here, "must specify `addresses` or `notReadyAddresses`")
        for field in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(field) or ()):
                ip, path = address.get("ip", ""), f"{here}.{field}[{number}].ip"
                ip_address(ip, path, problems)
                if _is_address(ip):
                    outside_node(ip, path, problems)
                else:
                    problems.invalid(path, ip, "must be a valid IP address")
        for number, port in enumerate(subset.get("ports") or ()):
            value = port.get("port", 0)
            problems.all_invalid(f"{here}.ports[{number}].port", value, port_number_problems(value))


def endpoint_slice(obj: Json, problems: Problems) -> None:
    """Check an EndpointSlice."""
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
            if _is_address(address):
                if f"IPv{ipaddress.ip_address(address).version}" != family:
                    problems.invalid(path, address, f"must be an {family} address")
                outside_node(address, path, problems)


def changed_endpoint_slice(obj: Json, old: Json, problems: Problems) -> None:
    """Check that the addresses stay of one family."""
    problems.immutable("addressType", obj.get("addressType"), old.get("addressType"))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _host_problems(host: str) -> list[str]:
    if "*" in host:
        return [] if re.fullmatch(_WILDCARD, host) else [_NOT_WILDCARD]
    return subdomain_problems(host)


def _paths(paths: list[Json], path: str, problems: Problems) -> None:
    if not paths:
        problems.required(path)
    for index, entry in enumerate(paths):
        here, value, sort = f"{path}[{index}]", entry.get("path", ""), entry.get("pathType")
        if sort is None:
            problems.required(f"{here}.pathType", "pathType must be specified")
        elif sort in ("Exact", "Prefix"):
            if not value.startswith("/"):
                problems.invalid(f"{here}.path", value, "must be an absolute path")
            for bad in _BAD_IN_PATHS if value else ():
                if bad in value:
                    problems.invalid(f"{here}.path", value, f"must not contain '{bad}'")
            for bad in ("/..", "/."):
                if value.endswith(bad):
                    problems.invalid(f"{here}.path", value, f"cannot end with '{bad}'")
        elif sort == "ImplementationSpecific":
            if value and not value.startswith("/"):
                problems.invalid(f"{here}.path", value, "must be an absolute path")
        else:
            problems.unsupported(f"{here}.pathType", sort, PATH_TYPES)
        _backend(entry.get("backend") or {}, f"{here}.backend", problems)


def _backend(backend: Json, path: str, problems: Problems) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        problems.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        for field in ("kind", "name"):
            if not resource.get(field):
                problems.required(f"{path}.resource.{field}")
    elif service is None:
        problems.invalid(path, "", "resource or service backend is required")
    else:
        _service_backend(service, path, problems)


def _service_backend(service: Json, path: str, problems: Problems) -> None:
    if not service.get("name"):
        problems.required(f"{path}.service.name")
    else:
        problems.all_invalid(f"{path}.service.name", service["name"], label_problems(service["name"]))
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        problems.invalid(path, "", "cannot set both port name & port number")
    elif port.get("name"):
        port_or_name(port["name"], f"{path}.service.port.name", problems)
    elif port.get("number"):
        port_or_name(port["number"], f"{path}.service.port.number", problems)
    else:
        problems.required(path, "port name or number is required")


def _policy_port(port: Json, path: str, problems: Problems) -> None:
    if port.get("protocol") not in ("TCP", "UDP", "SCTP"):
        problems.unsupported(f"{path}.protocol", port.get("protocol"), ("TCP", "UDP", "SCTP"))
    value, end = port.get("port"), port.get("endPort")
    if value is not None:
        port_or_name(value, f"{path}.port", problems)
        if isinstance(value, int) and end is not None:
            if end < value:
                problems.invalid(f"{path}.endPort", value, "must be greater than or equal to `port`")
            problems.all_invalid(f"{path}.endPort", end, port_number_problems(end))
        elif end is not None:
            problems.invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
    elif end is not None:
        problems.invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")


def _peer(peer: Json, path: str, problems: Problems) -> None:
    for selector in ("podSelector", "namespaceSelector"):
        label_selector(peer.get(selector), f"{path}.{selector}", problems)
    if (block := peer.get("ipBlock")) is not None:
        _block(block, f"{path}.ipBlock", problems)
        if len(peer) > 1:
            problems.forbidden(path, "may not specify both ipBlock and another peer")
    if not peer:
        problems.required(path, "must specify a peer")


def _block(block: Json, path: str, problems: Problems) -> None:
    if not block.get("cidr"):
        problems.required(f"{path}.cidr")
        return
    before = len(problems)
    cidr(block["cidr"], f"{path}.cidr", problems)
    if len(problems) > before:
        return
    whole = ipaddress.ip_network(block["cidr"], strict=False)
    for index, part in enumerate(block.get("except") or ()):
        here, known = f"{path}.except[{index}]", len(problems)
        cidr(part, here, problems)
        if len(problems) > known:
            continue
        inner = ipaddress.ip_network(part, strict=False)
        if inner.version != whole.version or not inner.subnet_of(whole) or inner == whole:  # type: ignore[arg-type]
            problems.invalid(here, part, "must be a strict subset of `cidr`")
