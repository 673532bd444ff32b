"""What is still under way in a cluster, as far as its objects tell. No I/O."""

from collections.abc import Mapping, Sequence
from typing import Any

Wire = Mapping[str, Any]

COPIES = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
"""Kinds that ask for a number of pods in `spec.replicas`."""
FOR_EACH_NODE = "DaemonSet"
STARTING = ("", "ContainerCreating", "PodInitializing")
"""Why a container waits that will start by itself; any other reason says that it has failed to."""


def under_way(thing: Wire) -> str:
    """What of an object is still to come, in a few words; empty if nothing is, or nothing that can be seen."""
    meta, spec, status = thing["metadata"], thing.get("spec") or {}, thing.get("status") or {}
    name = f"{thing.get('kind', '')} {meta['name']}"
    if meta.get("deletionTimestamp"):
        return f"{name} is being deleted"
    if thing.get("kind") == "Pod":
        waits = _pod(spec, status)
        return f"{name} {waits}" if waits else ""
    seen, generation = status.get("observedGeneration"), meta.get("generation", 0)
    workload = thing.get("kind") in (*COPIES, FOR_EACH_NODE)
    if (seen is not None or workload) and (seen or 0) < generation:
        return f"the latest change of {name} has not been seen by its controller"
    if thing.get("kind") in COPIES:
        return _copies(name, spec.get("replicas", 1), status, "replicas", "readyReplicas")
    if thing.get("kind") == FOR_EACH_NODE:
        wanted = status.get("desiredNumberScheduled", 0)
        return _copies(name, wanted, status, "currentNumberScheduled", "numberReady")
    return ""


def _copies(name: str, wanted: int, status: Wire, there: str, ready: str) -> str:
    has, up = status.get(there, 0), status.get(ready, 0)
    if has != wanted:
        return f"{name} has {has} of {wanted} pods"
    return f"{name} has {up} of {wanted} pods ready" if up != wanted else ""


def _pod(spec: Wire, status: Wire) -> str:
    conditions = {each.get("type"): each for each in status.get("conditions") or ()}
    match status.get("phase"):
        case "Succeeded" | "Failed":
            return ""
        case "Running":
            return "" if conditions.get("Ready", {}).get("status") == "True" else "is not ready"
    if conditions.get("PodScheduled", {}).get("reason") == "Unschedulable" or spec.get("schedulingGates"):
        return ""
    reasons = [*_waiting(status.get("initContainerStatuses") or ()), *_waiting(status.get("containerStatuses") or ())]
    return "has yet to start" if all(each in STARTING for each in reasons) else ""


def _waiting(statuses: Sequence[Wire]) -> list[str]:
    states = [each.get("state") or {} for each in statuses]
    return [each["waiting"].get("reason", "") for each in states if "waiting" in each]
