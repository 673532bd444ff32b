"""Rules for what a cluster is run with: nodes, priorities, leases, events."""

from typing import Any

from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.builtin.addresses import cidr
from windvane.cluster.apiserver.builtin.metadata import finalizer_name, qualified_name
from windvane.cluster.apiserver.builtin.pods import taint_effect
from windvane.cluster.apiserver.builtin.problems import Problems

Json = dict[str, Any]

HIGHEST_PRIORITY = 1_000_000_000
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def namespace(obj: Json, problems: Problems) -> None:
    """Check the finalizers that a namespace has beside those in its metadata."""
    for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
        qualified_name(finalizer, "spec.finalizers", problems)
        finalizer_name(finalizer, "spec.finalizers", problems)


def namespace_finalizers(obj: Json, problems: Problems) -> None:
    """The same where they are written alone; there, the server says which one it means."""
    for index, finalizer in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
        qualified_name(finalizer, f"spec.finalizers[{index}]", problems)
        finalizer_name(finalizer, f"spec.finalizers[{index}]", problems)


def namespace_status(obj: Json, _: Json, problems: Problems) -> None:
    """Check that a namespace's phase follows from whether it is being deleted."""
    leaving = "deletionTimestamp" in obj["metadata"]
    phase = (obj.get("status") or {}).get("phase", "")
    wanted, when = ("Terminating", "is not empty") if leaving else ("Active", "is empty")
    if phase != wanted:
        problems.invalid("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` {when}")


def lease(obj: Json, problems: Problems) -> None:
    """Check a Lease."""
    spec = obj["spec"]
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        problems.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    problems.not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


def priority_class(obj: Json, problems: Problems) -> None:
    """Check a new PriorityClass."""
    value, name = obj.get("value", 0), obj["metadata"].get("name", "")
    if name.startswith("system-"):
        if why := _system_priority_problem(obj, name):
            rule = "priority class names with 'system-' prefix are reserved for system use only. error: "
            problems.forbidden("metadata.name", f"{rule}{why}")
    elif value > HIGHEST_PRIORITY:
        rule = f"maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}"
        problems.forbidden("value", rule)
    _preemption(obj, problems)


def _system_priority_problem(obj: Json, name: str) -> str:
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if obj.get("value", 0) != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""


def changed_priority_class(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a priority stays what it is, for the pods that have it."""
    if obj.get("value", 0) != old.get("value", 0):
        problems.forbidden("value", "may not be changed in an update.")
    problems.immutable("preemptionPolicy", obj.get("preemptionPolicy"), old.get("preemptionPolicy"))


def runtime_class(obj: Json, problems: Problems) -> None:
    """Check a RuntimeClass."""
    if not obj.get("handler"):
        problems.required("handler")


def changed_runtime_class(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a RuntimeClass keeps its handler."""
    problems.immutable("handler", obj.get("handler"), old.get("handler"))


def node(obj: Json, problems: Problems) -> None:
    """Check a Node."""
    spec = obj.get("spec", {})
    for index, taint in enumerate(spec.get("taints") or ()):
        path, key = f"metadata.taints[{index}]", taint.get("key", "")
        problems.all_invalid(f"{path}.key", key, label_key_problems(key))
        taint_effect(taint.get("effect", ""), f"{path}.effect", problems)
    for index, part in enumerate(spec.get("podCIDRs") or [each for each in [spec.get("podCIDR")] if each]):
        cidr(part, f"spec.podCIDRs[{index}]", problems)


def _preemption(obj: Json, problems: Problems) -> None:
    policies = ("PreemptLowerPriority", "Never")
    if obj["preemptionPolicy"] not in policies:
        problems.unsupported("preemptionPolicy", obj["preemptionPolicy"], policies)
