"""The strategy of NetworkPolicy."""

import ipaddress
from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import port_number_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, selector
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.probes import port_or_name
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.address import cidr, network_warnings
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import networking


class NetworkPolicyStrategy(BuiltinStrategy):
    model = networking.NetworkPolicy
    has_generation = True
    defaults = {"spec.podSelector": {}}
    columns = (NAME, Column("Pod-Selector", selector("spec.podSelector")), AGE)
    column_fields = {"Pod-Selector": "networking.v1.NetworkPolicySpec.podSelector"}

    def set_defaults(self, obj: Wire) -> None:
        spec = obj["spec"]
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        for rule in [*(spec.get("ingress") or ()), *(spec.get("egress") or ())]:
            for port in rule.get("ports") or ():
                fill(port, "protocol", "TCP")

    def validate(self, obj: Wire, problems: Problems) -> None:
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

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for index, rule in enumerate(obj["spec"].get(direction) or ()):
                for place, peer in enumerate(rule.get(peers) or ()):
                    block, path = peer.get("ipBlock") or {}, f"spec.{direction}[{index}].{peers}[{place}].ipBlock"
                    yield from network_warnings(f"{path}.cidr", block.get("cidr", ""))
                    for at, network in enumerate(block.get("except") or ()):
                        yield from network_warnings(f"{path}.except[{at}]", network)


def _policy_port(port: Wire, path: str, problems: Problems) -> None:
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


def _peer(peer: Wire, path: str, problems: Problems) -> None:
    for name in ("podSelector", "namespaceSelector"):
        label_selector(peer.get(name), f"{path}.{name}", problems)
    if (block := peer.get("ipBlock")) is not None:
        _block(block, f"{path}.ipBlock", problems)
        if len(peer) > 1:
            problems.forbidden(path, "may not specify both ipBlock and another peer")
    if not peer:
        problems.required(path, "must specify a peer")


def _block(block: Wire, path: str, problems: Problems) -> None:
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
