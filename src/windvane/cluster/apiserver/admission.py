"""What the admission plugins that are on by default add to new objects."""

from typing import Any

from windvane.api.kind import Kind

Wire = dict[str, Any]
PATIENCE = 300
PROTECTED = {"PersistentVolumeClaim": "kubernetes.io/pvc-protection", "PersistentVolume": "kubernetes.io/pv-protection"}
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit(kind: Kind, wire: Wire) -> None:
    """Change a new object of a built-in kind as those plugins do."""
    if kind.resource == "pods":
        _tolerate(wire["spec"])
        wire["spec"].setdefault("priority", SYSTEM_PRIORITIES.get(wire["spec"].get("priorityClassName", ""), 0))
        wire["spec"].setdefault("preemptionPolicy", "PreemptLowerPriority")
    elif protection := PROTECTED.get(kind.name):
        finalizers = wire["metadata"].setdefault("finalizers", [])
        if protection not in finalizers:
            finalizers.append(protection)


def _tolerate(spec: Wire) -> None:
    """A pod stays on a node that is unreachable for a while, unless it says otherwise."""
    tolerations = spec.setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_covers(each, key) for each in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE})


def _covers(toleration: Wire, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")
