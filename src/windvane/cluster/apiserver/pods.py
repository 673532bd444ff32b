"""Two things that are done to pods by posting about them: binding to a node, and eviction."""

from typing import Any

import msgspec

from windvane import ambient
from windvane.api import codec
from windvane.api.meta import LabelSelector
from windvane.api.selector import Selector
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.time import format_time
from windvane.cluster.apiserver.builtin.problems import Problems
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.wire.stored import labels_of

Wire = dict[str, Any]
BUDGETS = "policy/poddisruptionbudgets"


def check_binding(binding: Wire) -> None:
    """Refuse a Binding that doesn't say to which node."""
    target = binding.get("target") or {}
    problems = Problems()
    if target.get("kind") not in (None, "", "Node"):
        problems.unsupported("target.kind", target["kind"], ["Node", "<empty>"])
    if not target.get("name"):
        problems.required("target.name")
    if problems:
        told = [f"{cause.field}: {cause.message}" for cause in problems]
        raise failure(500, "", told[0] if len(told) == 1 else f"[{', '.join(told)}]")


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
    """The refusal of a binding, which the real server words with the subresource."""
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return failure(409, "Conflict", message, StatusDetails(name=name, kind="pods/binding"))


def check_budgets(store: Store, pod_value: bytes, namespace: str) -> None:
    """Refuse an eviction that a disruption budget does not allow now."""
    pod = msgspec.json.decode(pod_value)
    phase = pod.get("status", {}).get("phase")
    if phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]:
        return
    labels = labels_of(pod_value)
    for entry in store.entries(BUDGETS, namespace):
        budget = msgspec.json.decode(entry.value)
        selector = budget.get("spec", {}).get("selector")
        chosen = None if selector is None else codec.from_wire(selector, LabelSelector)
        if not Selector.from_label_selector(chosen).matches(labels):
            continue
        name, status = budget["metadata"]["name"], budget.get("status", {})
        if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 1):
            why = f"The disruption budget {name} is still being processed by the server."
            raise _too_many_disruptions(why, retry_after=10)
        if status.get("disruptionsAllowed", 0) <= 0:
            healthy, needed = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
            why = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
            raise _too_many_disruptions(why)


def _too_many_disruptions(why: str, *, retry_after: int = 0) -> Failure:
    cause = StatusCause(reason="DisruptionBudget", message=why)
    details = StatusDetails(causes=[cause], retry_after_seconds=retry_after)
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return failure(429, "TooManyRequests", message, details)
