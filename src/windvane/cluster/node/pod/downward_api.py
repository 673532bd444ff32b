"""The downward API: what a container may be told about its own pod, in variables and in files."""

import json
import re
from collections.abc import Mapping

from windvane import Quantity
from windvane.cluster.node.sources import MissingSource
from windvane.k8s.core import Container, ObjectFieldSelector, Pod, ResourceFieldSelector

_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")


def field(pod: Pod, address: str, host: str, selector: ObjectFieldSelector) -> str:
    """What `fieldRef` asks for."""
    path = selector.field_path
    if subscript := _SUBSCRIPT.fullmatch(path):
        found: str = getattr(pod.metadata, subscript[1]).get(subscript[2], "")
        return found
    match path:
        case "metadata.name":
            return pod.metadata.name
        case "metadata.namespace":
            return pod.metadata.namespace
        case "metadata.uid":
            return pod.metadata.uid
        case "metadata.labels":
            return _lines(pod.metadata.labels)
        case "metadata.annotations":
            return _lines(pod.metadata.annotations)
        case "spec.nodeName":
            return pod.spec.node_name or ""
        case "spec.serviceAccountName":
            return pod.spec.service_account_name or ""
        case "status.hostIP" | "status.hostIPs":
            return host
        case "status.podIP" | "status.podIPs":
            return address
    raise MissingSource("CreateContainerConfigError", f"unsupported fieldPath: {path}")


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={json.dumps(values[key], ensure_ascii=False)}" for key in sorted(values))


def resource(pod: Pod, container: Container, selector: ResourceFieldSelector, node: Mapping[str, Quantity]) -> str:
    """What `resourceFieldRef` asks for. Without a limit, that is all that the node has."""
    if selector.container_name:
        every = [*pod.spec.init_containers, *pod.spec.containers]
        container = next((each for each in every if each.name == selector.container_name), container)
    which, _, name = selector.resource.partition(".")
    given = container.resources
    limits = given.limits if given is not None else {}
    requests = given.requests if given is not None else {}
    amounts = limits if which == "limits" else {**limits, **requests}
    amount = amounts.get(name) or (node.get(name) if which == "limits" else None) or Quantity(0)
    divisor = selector.divisor or Quantity(1)
    # Rounded up: a container with half a CPU is told that there is one.
    return str(-(-amount.value // (divisor.value or 1)))
