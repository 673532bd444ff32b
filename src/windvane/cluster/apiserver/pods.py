"""Two things that are done to pods by posting about them: binding to a node, and eviction."""

from typing import Any

import msgspec

from windvane import ambient
from windvane.api import codec
from windvane.api.meta import LabelSelector
from windvane.api.selector import Selector
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.time import format_time
from windvane.cluster.apiserver.failure import bad_request, failure
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.wire.stored import labels_of

Wire = dict[str, Any]
BUDGETS = "policy/poddisruptionbudgets"


def bind(pod: Wire, binding: Wire) -> Wire:
    """The pod, assigned to the node that a Binding names."""
    name = pod["metadata"]["name"]
    target = binding.get("target") or {}
    node = target.get("name", "")
    if not node:
        raise bad_request("target.name is required")
    if assigned := pod.get("spec", {}).get("nodeName"):
        refusal = conflict_of_binding(name, f'pod {name} is already assigned to node "{assigned}"')
        raise refusal
    pod["spec"]["nodeName"] = node
    pod["metadata"].setdefault("annotations", {}).update((binding.get("metadata") or {}).get("annotations") or {})
    if not pod["metadata"]["annotations"]:
        del pod["metadata"]["annotations"]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": format_time(ambient.now()),
    }
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    conditions[:] = [each for each in conditions if each["type"] != "PodScheduled"] + [scheduled]
    return pod


def conflict_of_binding(name: str, why: str) -> Exception:
    """The refusal of a second binding, which the real server words with the subresource."""
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


def _too_many_disruptions(why: str, *, retry_after: int = 0) -> Exception:
    cause = StatusCause(reason="DisruptionBudget", message=why)
    details = StatusDetails(causes=[cause], retry_after_seconds=retry_after)
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return failure(429, "TooManyRequests", message, details)
