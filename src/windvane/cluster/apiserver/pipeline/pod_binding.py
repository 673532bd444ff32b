"""Bindings: a POST of a Binding assigns a pod to a node."""

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.status import StatusDetails
from windvane.api.time import format_time
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.registry.validation.problems import Problems


def check_binding(binding: Wire) -> None:
    """Refuse a Binding that names no node."""
    target = binding.get("target") or {}
    problems = Problems()
    if target.get("kind") not in (None, "", "Node"):
        problems.unsupported("target.kind", target["kind"], ["Node", "<empty>"])
    if not target.get("name"):
        problems.required("target.name")
    if problems:
        messages = [f"{cause.field}: {cause.message}" for cause in problems]
        raise failure(500, "", messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]")


def bind(pod: Wire, binding: Wire) -> Wire:
    """The pod, assigned to the node that a Binding names."""
    metadata, spec = pod["metadata"], pod["spec"]
    name = metadata["name"]
    if "deletionTimestamp" in metadata:
        raise _refused_binding(name, f"pod {name} is being deleted, cannot be assigned to a host")
    if assigned := spec.get("nodeName"):
        raise _refused_binding(name, f'pod {name} is already assigned to node "{assigned}"')
    if spec.get("schedulingGates"):
        raise _refused_binding(name, f"pod {name} has non-empty .spec.schedulingGates")
    spec["nodeName"] = binding["target"]["name"]
    for kind in ("annotations", "labels"):
        if added := (binding.get("metadata") or {}).get(kind):
            metadata.setdefault(kind, {}).update(added)
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": format_time(ambient.now()),
    }
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    conditions = status.setdefault("conditions", [])
    conditions[:] = [each for each in conditions if each["type"] != "PodScheduled"] + [scheduled]
    return pod


def _refused_binding(name: str, why: str) -> Failure:
    """The refusal of a binding, in the real server's words."""
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return failure(409, "Conflict", message, StatusDetails(name=name, kind="pods/binding"))
