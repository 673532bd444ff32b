"""What the admission plugins that are on by default do: they add to objects, and they refuse some.

Admission comes before an object is checked by the rules of its kind; only what `check` looks at comes after.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from windvane.api.kind import Kind
from windvane.cluster.apiserver import limit_ranges, runtime_classes
from windvane.cluster.apiserver.access.pod_accounts import PodAccounts
from windvane.cluster.apiserver.failure import forbidden
from windvane.cluster.apiserver.store.record import Key
from windvane.cluster.apiserver.store.store import Store

Wire = dict[str, Any]
PATIENCE = 300
PROTECTED = {"PersistentVolumeClaim": "kubernetes.io/pvc-protection", "PersistentVolume": "kubernetes.io/pv-protection"}
LIMIT_RANGES = "/limitranges"
RUNTIME_CLASSES = "node.k8s.io/runtimeclasses"
PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses"
COMPUTED = "must not be provided in pod spec; priority admission controller computed"


class Admission:
    """Changes and judges objects of built-in kinds by what else is in the store."""

    def __init__(self, store: Store, accounts: PodAccounts) -> None:
        self._store = store
        self._accounts = accounts

    async def wait(self, kind: Kind, wire: Wire) -> None:
        """Wait a moment for what a new object needs and somebody is about to make."""
        if kind.resource == "pods":
            await self._accounts.wait(wire)

    def admit_new(self, kind: Kind, wire: Wire) -> None:
        """Change a new object as the plugins do, or raise `Failure`."""
        if kind.resource == "pods":
            for limit_range in self._limit_ranges(wire):
                limit_ranges.fill_in(wire, limit_range)
            self._accounts.admit(wire)
            self._prioritise(kind, wire)
            _tolerate(wire["spec"])
            self._settle(kind, wire)
        elif protection := PROTECTED.get(kind.name):
            finalizers = wire["metadata"].setdefault("finalizers", [])
            if protection not in finalizers:
                finalizers.append(protection)

    def admit_change(self, kind: Kind, wire: Wire, current: Wire) -> None:
        """The same for a change of an object."""
        if kind.resource != "pods":
            return
        for name in ("priority", "preemptionPolicy"):
            if name in current["spec"]:
                wire["spec"].setdefault(name, current["spec"][name])
        _tolerate(wire["spec"])

    def check(self, kind: Kind, wire: Wire) -> None:
        """Refuse an object that is valid by itself, but not beside others."""
        if kind.name != "PriorityClass" or not wire.get("globalDefault"):
            return
        name, default = wire["metadata"]["name"], self._default_class()
        if default is not None and default["metadata"]["name"] != name:
            other = default["metadata"]["name"]
            raise forbidden(
                kind, name, f"PriorityClass {other} is already marked as default. Only one default can exist"
            )

    def check_new(self, kind: Kind, wire: Wire) -> None:
        """The same for a new object, which also has to keep to the limits in its namespace."""
        if kind.resource == "pods":
            self._keep_to_limits(kind, wire, limit_ranges.problems_of_pod)
        elif kind.resource == "persistentvolumeclaims":
            self._keep_to_limits(kind, wire, limit_ranges.problems_of_claim)
        self.check(kind, wire)

    def _limit_ranges(self, wire: Wire) -> list[Wire]:
        entries = self._store.entries(LIMIT_RANGES, wire["metadata"].get("namespace", ""))
        return [msgspec.json.decode(entry.value) for entry in entries]

    def _keep_to_limits(self, kind: Kind, wire: Wire, problems_of: Callable[[Wire, Wire], list[str]]) -> None:
        for limit_range in self._limit_ranges(wire):
            if problems := problems_of(wire, limit_range):
                told = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                raise forbidden(kind, wire["metadata"].get("name", ""), told)

    def _settle(self, kind: Kind, pod: Wire) -> None:
        """A pod goes where its RuntimeClass is, and pays for it."""
        entry = self._store.get(Key(RUNTIME_CLASSES, "", pod["spec"].get("runtimeClassName", "")))
        try:
            runtime_classes.settle(pod, msgspec.json.decode(entry.value) if entry else None)
        except runtime_classes.Rejected as rejected:
            raise forbidden(kind, pod["metadata"].get("name", ""), str(rejected)) from rejected

    def _prioritise(self, kind: Kind, pod: Wire) -> None:
        """A pod's priority is its class', or the default one's."""
        spec, pod_name = pod["spec"], pod["metadata"].get("name", "")
        if name := spec.get("priorityClassName"):
            entry = self._store.get(Key(PRIORITY_CLASSES, "", name))
            if entry is None:
                raise forbidden(kind, pod_name, f"no PriorityClass with name {name} was found")
            chosen = msgspec.json.decode(entry.value)
        else:
            chosen = self._default_class() or {}
            if chosen:
                spec["priorityClassName"] = chosen["metadata"]["name"]
        priority, policy = chosen.get("value", 0), chosen.get("preemptionPolicy", "PreemptLowerPriority")
        for word, field, computed in (
            ("integer value of priority", "priority", priority),
            ("string value of PreemptionPolicy", "preemptionPolicy", policy),
        ):
            if spec.setdefault(field, computed) != computed:
                why = f"the {word} ({spec[field]}) {COMPUTED} {computed} from the given PriorityClass name"
                raise forbidden(kind, pod_name, why)

    def _default_class(self) -> Wire | None:
        classes = [msgspec.json.decode(entry.value) for entry in self._store.entries(PRIORITY_CLASSES)]
        defaults = [each for each in classes if each.get("globalDefault")]
        return min(defaults, key=lambda each: int(each.get("value", 0)), default=None)


def _tolerate(spec: Wire) -> None:
    """A pod stays on a node that is unreachable for a while, unless it says otherwise."""
    tolerations = spec.setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_covers(each, key) for each in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE})


def _covers(toleration: Wire, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")
