"""The strategy of Service."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import label_problems, port_number_problems, subdomain_problems
from windvane.api.status import StatusCause
from windvane.api.wording import invalid
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, labels, read, wide
from windvane.cluster.apiserver.failure import invalid as invalid_object
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.containers import PROTOCOLS
from windvane.cluster.apiserver.registry.core.pod.probes import port_or_name
from windvane.cluster.apiserver.registry.core.pod.validation import ip_address
from windvane.cluster.apiserver.registry.defaults import fill, fill_path, fill_zero
from windvane.cluster.apiserver.registry.service_addresses import ServiceAddresses
from windvane.cluster.apiserver.registry.validation.address import (
    address_warnings,
    cidr,
    network_warnings,
    outside_node,
)
from windvane.cluster.apiserver.registry.validation.object_meta import labels as validate_labels
from windvane.cluster.apiserver.registry.validation.object_meta import qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
DAY = 86400
HINTS = "service.kubernetes.io/topology-aware-hints"


def _cluster_ip(service: Wire) -> str:
    addresses = items(service, "spec.clusterIPs")
    return str(addresses[0]) if addresses else "<none>"


def _external_ip(service: Wire) -> str:
    external = items(service, "spec.externalIPs")
    match read(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or "<none>"
        case "LoadBalancer":
            given = balanced(service)
            return ",".join([*([given] if given else []), *external]) or "<pending>"
        case "ExternalName":
            return read(service, "spec.externalName") or ""
    return "<unknown>"


class ServiceStrategy(BuiltinStrategy):
    model = core.Service
    allow_create_on_update = True
    returned_when_deleted = True
    name_problems = staticmethod(label_problems)
    selectable_fields = ("spec.clusterIP", "spec.type")
    defaults = {"spec.sessionAffinity": "None", "spec.type": "ClusterIP", "status.loadBalancer": {}}
    columns = (
        NAME,
        Column("Type", field("spec.type")),
        Column("Cluster-IP", _cluster_ip),
        Column("External-IP", _external_ip),
        Column("Port(s)", lambda service: ",".join(map(_column_port, items(service, "spec.ports"))) or "<none>"),
        AGE,
        wide("Selector", labels("spec.selector")),
    )
    column_fields = {
        "Type": "core.v1.ServiceSpec.type",
        "Cluster-IP": "core.v1.ServiceSpec.clusterIP",
        "External-IP": "core.v1.ServiceSpec.externalIPs",
        "Port(s)": "core.v1.ServiceSpec.ports",
        "Selector": "core.v1.ServiceSpec.selector",
    }

    def set_defaults(self, obj: Wire) -> None:
        spec = obj["spec"]
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif spec["sessionAffinity"] == "ClientIP":
            fill_path(spec, "sessionAffinityConfig.clientIP.timeoutSeconds", 10800)
        for port in spec.get("ports") or ():
            fill(port, "protocol", "TCP")
            fill_zero(port, "targetPort", port.get("port", 0))
        outside = spec["type"] in ("NodePort", "LoadBalancer")
        if outside or (spec["type"] == "ClusterIP" and spec.get("externalIPs")):
            fill(spec, "externalTrafficPolicy", "Cluster")
        if outside or spec["type"] == "ClusterIP":
            fill(spec, "internalTrafficPolicy", "Cluster")
        if spec["type"] == "LoadBalancer":
            fill(spec, "allocateLoadBalancerNodePorts", True)
            for ingress in obj["status"]["loadBalancer"].get("ingress") or ():
                if ingress.get("ip"):
                    fill(ingress, "ipMode", "VIP")

    def prepare_for_create(self, obj: Wire) -> None:
        """Set the IP families, but not yet the addresses, which are allocated later."""
        spec = obj["spec"]
        if spec["type"] == "ExternalName":
            return
        if address := spec.get("clusterIP"):
            spec.setdefault("clusterIPs", [address])
        choose_families(spec, {})

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        """Remove what the old type had and the new one lacks; keep other addresses if the client states none."""
        _drop_lost_fields(obj["spec"], old["spec"])
        _keep_addresses(obj.get("spec", {}), old.get("spec", {}))

    def allocate(self, wire: Wire, current: Wire | None, addresses: ServiceAddresses) -> list[StatusCause]:
        """Allocate cluster IPs and node ports."""
        if current is not None and (causes := choose_families(wire["spec"], current["spec"])):
            raise invalid_object(self.kind, wire["metadata"].get("name", ""), causes)
        return addresses.assign(wire)

    def validate(self, obj: Wire, problems: Problems) -> None:
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
        validate_labels(spec.get("selector"), "spec.selector", problems)
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
            for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
                if name in spec:
                    problems.forbidden(f"spec.{name}", ONLY_BALANCED)
        _traffic(spec, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        spec, before = obj["spec"], old["spec"]
        if "ExternalName" in (spec["type"], before["type"]):
            return
        now, was = _addresses(spec), _addresses(before)
        if was and not now:
            problems.invalid("spec.clusterIPs[0]", None, "primary clusterIP can not be unset")
        elif was and now[0] != was[0]:
            problems.invalid("spec.clusterIPs[0]", now, "may not change once set")

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
        if HINTS in annotations:
            yield f"annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        for index, address in enumerate(spec.get("clusterIPs") or ()):
            yield from address_warnings(f"spec.clusterIPs[{index}]", address)
        external, headless = (
            spec.get("externalIPs") or [],
            spec["type"] == "ClusterIP" and spec.get("clusterIP") == "None",
        )
        if headless:
            if spec.get("loadBalancerIP"):
                yield "spec.loadBalancerIP is ignored for headless services"
            if external:
                yield "spec.externalIPs is ignored for headless services"
            if spec.get("sessionAffinity") != "None":
                yield "spec.SessionAffinity is ignored for headless services"
        for index, address in enumerate(external):
            yield from address_warnings(f"spec.externalIPs[{index}]", address)
        if external and not headless and spec["type"] != "ExternalName":
            yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
        yield from address_warnings("spec.loadBalancerIP", spec.get("loadBalancerIP", ""))
        for index, network in enumerate(spec.get("loadBalancerSourceRanges") or ()):
            yield from network_warnings(f"spec.loadBalancerSourceRanges[{index}]", network)
        if spec["type"] == "ExternalName" and external:
            yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
        if spec["type"] != "ExternalName" and spec.get("externalName"):
            yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
        if spec.get("trafficDistribution") == "PreferClose":
            yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def balanced(thing: Wire) -> str:
    """The addresses that a load balancer gave, in order."""
    points = items(thing, "status.loadBalancer.ingress")
    return ",".join(sorted({address for point in points if (address := point.get("ip") or point.get("hostname"))}))


def _column_port(port: Wire) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


def choose_families(spec: Wire, before: Wire) -> list[StatusCause]:
    """Say of which families a Service's addresses are, in place, or what is wrong with those it states.

    This is a cluster of IPv4 alone.
    """
    if spec["type"] == "ExternalName":
        return []
    # A Service without address and selector may stand for endpoints outside of this cluster.
    anything = spec.get("clusterIP") == "None" and not spec.get("selector")
    usual = "RequireDualStack" if anything else "SingleStack"
    policy = spec.setdefault("ipFamilyPolicy", before.get("ipFamilyPolicy", usual))
    stated, had = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
    families = spec["ipFamilies"] = stated or ["IPv4"]
    if policy == "SingleStack":
        if families == had:
            del families[1:]
        return []
    if len(stated) == 1 and len(had) == 2:
        return [invalid("spec.ipFamilyPolicy", policy, "must be 'SingleStack' to release the secondary IP family")]
    if anything and len(families) == 1:
        families.append("IPv6" if families == ["IPv4"] else "IPv4")
    return []


def _drop_lost_fields(spec: Wire, before: Wire) -> None:
    """Remove what the old type had and the new one lacks."""
    lost = []
    if before["type"] != "ExternalName" and spec["type"] == "ExternalName":
        lost += ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]
    if before["type"] == "LoadBalancer" and spec["type"] != "LoadBalancer":
        lost += ["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]
    open_types = ("NodePort", "LoadBalancer")
    if _is_external(before) and not _is_external(spec):
        lost.append("externalTrafficPolicy")
    if before["type"] in open_types and spec["type"] not in open_types and _node_ports(spec) <= _node_ports(before):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    for name in lost:
        if spec.get(name) == before.get(name):
            spec.pop(name, None)


def _keep_addresses(spec: Wire, before: Wire) -> None:
    if spec.get("type") == "ExternalName" or before.get("type") == "ExternalName":
        return
    for name in ("clusterIP", "clusterIPs"):
        if not spec.get(name) and name in before:
            spec[name] = before[name]
    ports = {(port.get("port"), port.get("protocol")): port for port in before.get("ports", ())}
    for port in spec.get("ports", ()):
        known = ports.get((port.get("port"), port.get("protocol")), {})
        if not port.get("nodePort") and known.get("nodePort") and spec.get("type") in ("NodePort", "LoadBalancer"):
            port["nodePort"] = known["nodePort"]


def _is_external(spec: Wire) -> bool:
    """Whether a Service can be reached from outside."""
    kind = spec["type"]
    return kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def _node_ports(spec: Wire) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _addresses(spec: Wire) -> list[str]:
    """A Service's addresses; `clusterIP` is the old name of the first."""
    addresses = list(spec.get("clusterIPs") or ())
    if first := spec.get("clusterIP"):
        addresses[:1] = [first]
    return addresses


def _external_name(spec: Wire, problems: Problems) -> None:
    if _addresses(spec):
        problems.forbidden("spec.clusterIPs", "may not be set for ExternalName services")
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        problems.required("spec.externalName")
    else:
        problems.all_invalid("spec.externalName", name, subdomain_problems(name))


def _port(port: Wire, needs_name: bool, names: set[str], path: str, problems: Problems) -> None:
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


def _affinity(spec: Wire, problems: Problems) -> None:
    problems.one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    if spec["sessionAffinity"] == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= DAY:
            path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            problems.invalid(path, seconds, f"must be greater than 0 and less than {DAY}")


def _cluster_ips(spec: Wire, problems: Problems) -> None:
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


def _distinct_ports(ports: list[Wire], problems: Problems) -> None:
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


def _traffic(spec: Wire, problems: Problems) -> None:
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
