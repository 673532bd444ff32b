"""Rules for Service."""

import ipaddress
from typing import Any

from windvane.api.names import label_problems, port_number_problems, subdomain_problems
from windvane.cluster.apiserver.builtin.addresses import cidr
from windvane.cluster.apiserver.builtin.containers import PROTOCOLS
from windvane.cluster.apiserver.builtin.metadata import labels, qualified_name
from windvane.cluster.apiserver.builtin.pods import ip_address
from windvane.cluster.apiserver.builtin.probes import port_or_name
from windvane.cluster.apiserver.builtin.problems import Problems

Json = dict[str, Any]

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
DAY = 86400


def service(obj: Json, problems: Problems) -> None:
    """Check a Service."""
    spec = obj["spec"]
    headless = spec.get("clusterIP") == "None"
    ports = spec.get("ports") or []
    if not ports and not headless and spec["type"] != "ExternalName":
        problems.required("spec.ports")
    if spec["type"] == "NodePort" and headless:
        problems.invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for NodePort services")
    elif spec["type"] == "LoadBalancer" and headless:
        problems.invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services")
    elif spec["type"] == "ExternalName":
        _external_name(spec, problems)
    names: set[str] = set()
    for index, port in enumerate(ports):
        _port(port, len(ports) > 1, names, f"spec.ports[{index}]", problems)
    labels(spec.get("selector"), "spec.selector", problems)
    _affinity(spec, problems)
    _cluster_ips(spec, problems)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        _outside_address(address, f"spec.externalIPs[{index}]", problems)
    if spec["type"] not in TYPES:
        problems.unsupported("spec.type", spec["type"], TYPES)
    if spec["type"] == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                problems.forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    _distinct_ports(ports, problems)
    for index, network in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        cidr(network.strip(), f"spec.LoadBalancerSourceRanges[{index}]", problems)
    if spec["type"] != "LoadBalancer":
        if spec.get("loadBalancerSourceRanges"):
            problems.forbidden("spec.LoadBalancerSourceRanges", ONLY_BALANCED)
        for field in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if field in spec:
                problems.forbidden(f"spec.{field}", ONLY_BALANCED)
    _traffic(spec, problems)


def changed_service(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a Service keeps its address."""
    spec, before = obj["spec"], old["spec"]
    if "ExternalName" in (spec["type"], before["type"]):
        return
    now, was = _addresses(spec), _addresses(before)
    if was and not now:
        problems.invalid("spec.clusterIPs[0]", None, "primary clusterIP can not be unset")
    elif was and now[0] != was[0]:
        problems.invalid("spec.clusterIPs[0]", now, "may not change once set")


def _addresses(spec: Json) -> list[str]:
    """A Service's addresses; `clusterIP` is the old name of the first."""
    addresses = list(spec.get("clusterIPs") or ())
    if first := spec.get("clusterIP"):
        addresses[:1] = [first]
    return addresses


def _external_name(spec: Json, problems: Problems) -> None:
    if _addresses(spec):
        problems.forbidden("spec.clusterIPs", "may not be set for ExternalName services")
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        problems.required("spec.externalName")
    else:
        problems.all_invalid("spec.externalName", name, subdomain_problems(name))


def _port(port: Json, needs_name: bool, names: set[str], path: str, problems: Problems) -> None:
    name = port.get("name")
    if not name and needs_name:
        problems.required(f"{path}.name")
    elif name:
        problems.all_invalid(f"{path}.name", name, label_problems(name))
        if name in names:
            problems.duplicate(f"{path}.name", name)
        names.add(name)
    number = port.get("port", 0)
    problems.all_invalid(f"{path}.port", number, port_number_problems(number))
    problems.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    port_or_name(port.get("targetPort", 0), f"{path}.targetPort", problems)
    if protocol := port.get("appProtocol"):
        qualified_name(protocol, f"{path}.appProtocol", problems)


def _affinity(spec: Json, problems: Problems) -> None:
    problems.one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    if spec["sessionAffinity"] == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= DAY:
            path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            problems.invalid(path, seconds, f"must be greater than 0 and less than {DAY}")


def _cluster_ips(spec: Json, problems: Problems) -> None:
    if spec["type"] == "ExternalName":
        return
    if spec.get("clusterIPs") and not spec.get("clusterIP"):
        problems.invalid("spec.clusterIPs", spec["clusterIPs"], "must be empty when `clusterIP` is not specified")
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in ("IPv4", "IPv6"):
            problems.unsupported(f"spec.ipFamilies[{index}]", family, ("IPv4", "IPv6"))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in FAMILY_POLICIES:
        problems.unsupported("spec.ipFamilyPolicy", policy, FAMILY_POLICIES)
    for index, address in enumerate(_addresses(spec)):
        if address != "None":
            ip_address(address, f"spec.clusterIPs[{index}]", problems)


def _outside_address(address: str, path: str, problems: Problems) -> None:
    before = len(problems)
    ip_address(address, path, problems)
    if len(problems) == before:
        outside_node(address, path, problems)


def outside_node(address: str, path: str, problems: Problems) -> None:
    """Check that an address can belong to something that others can reach."""
    found = ipaddress.ip_address(address)
    if found.is_unspecified:
        problems.invalid(path, address, f"may not be unspecified ({address})")
    if found.is_loopback:
        problems.invalid(path, address, LOOPBACK)
    if found.is_link_local:
        problems.invalid(path, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if found.is_multicast and (found.version == 4 and found.packed[:3] == b"\xe0\x00\x00"):
        problems.invalid(path, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def _distinct_ports(ports: list[Json], problems: Problems) -> None:
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        protocol, number = port.get("protocol", ""), port.get("port", 0)
        if (protocol, number) in seen:
            shown = {
                "Name": "",
                "Protocol": protocol,
                "AppProtocol": None,
                "Port": number,
                "TargetPort": 0,
                "NodePort": 0,
            }
            problems.duplicate(f"spec.ports[{index}]", shown)
        seen.add((protocol, number))


def _traffic(spec: Json, problems: Problems) -> None:
    policy = spec.get("externalTrafficPolicy")
    outside = spec["type"] in ("NodePort", "LoadBalancer") or (spec["type"] == "ClusterIP" and spec.get("externalIPs"))
    if not outside:
        if policy:
            path = "spec.externalTrafficPolicy"
            problems.invalid(path, policy, "may only be set for externally-accessible services")
    else:
        problems.one_of("spec.externalTrafficPolicy", policy, ("Cluster", "Local"))
    inside = spec.get("internalTrafficPolicy")
    if inside is not None and inside not in ("Cluster", "Local"):
        problems.unsupported("spec.internalTrafficPolicy", inside, ("Cluster", "Local"))
