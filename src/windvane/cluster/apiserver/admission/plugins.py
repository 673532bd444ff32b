"""What the admission plugins that are on by default do: they add to objects, and they refuse some.

Admission comes before an object is checked by the rules of its kind; only what `check` looks at comes after.
"""

from typing import Any

import msgspec

from windvane.api.kind import Kind
from windvane.cluster.apiserver.access.pod_accounts import PodAccounts
from windvane.cluster.apiserver.admission import (
    certificate_subjects,
    claim_growth,
    default_classes,
    pod_growth,
    runtime_classes,
)
from windvane.cluster.apiserver.admission.topology_labels import NODES, TopologyLabels
from windvane.cluster.apiserver.failure import forbidden
from windvane.cluster.apiserver.metadata import called
from windvane.cluster.apiserver.store.record import Key
from windvane.cluster.apiserver.store.store import Store

Wire = dict[str, Any]
PATIENCE = 300
PROTECTED = {"PersistentVolumeClaim": "kubernetes.io/pvc-protection", "PersistentVolume": "kubernetes.io/pv-protection"}
RUNTIME_CLASSES = "node.k8s.io/runtimeclasses"
STORAGE_CLASSES = "storage.k8s.io/storageclasses"
INGRESS_CLASSES = "networking.k8s.io/ingressclasses"
PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses"
SIGNING_REQUESTS = "certificatesigningrequests.certificates.k8s.io"
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
COMPUTED = "must not be provided in pod spec; priority admission controller computed"


class Plugins:
    """Changes and judges objects of built-in kinds by what else is in the store."""

    def __init__(self, store: Store, accounts: PodAccounts) -> None:
        self._store = store
        self._accounts = accounts
        self._topology = TopologyLabels(store)

    async def wait(self, kind: Kind, wire: Wire) -> None:
        """Wait a moment for what a new object needs and somebody is about to make."""
        if kind.resource == "pods":
            await self._accounts.wait(wire)

    def admit_new(self, kind: Kind, wire: Wire) -> None:
        """Change a new object as the plugins do, or raise `Failure`."""
        if kind.resource == "pods":
            self._accounts.admit(wire)
            self._prioritise(kind, wire)
            _tolerate(wire["spec"])
            self._settle(kind, wire)
            self._topology.label(wire, wire["spec"].get("nodeName", ""))
        elif kind.resource == "nodes":
            _taint(wire.setdefault("spec", {}))
        elif kind.resource == "ingresses.networking.k8s.io":
            default_classes.fill_in_ingress(wire, self._all(INGRESS_CLASSES))
        elif kind.resource == "persistentvolumeclaims":
            default_classes.fill_in_claim(wire, self._all(STORAGE_CLASSES))
        if protection := PROTECTED.get(kind.name):
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
        """The same for a new object."""
        if kind.resource == SIGNING_REQUESTS and (why := certificate_subjects.refusal(wire)):
            raise forbidden(kind, called(wire), why)
        self.check(kind, wire)

    def check_change(self, kind: Kind, wire: Wire, current: Wire, subresource: str) -> None:
        """The same for a change."""
        if kind.resource == "persistentvolumeclaims" and not subresource:
            storage_class = self._one(STORAGE_CLASSES, claim_growth.class_of(wire))
            if why := claim_growth.refusal(wire, current, storage_class):
                raise forbidden(kind, wire["metadata"]["name"], why)
        elif kind.resource == "pods" and subresource == "resize" and wire["spec"] != current["spec"]:
            node = wire["spec"].get("nodeName")
            if node and (refusal := pod_growth.refusal(wire, self._one(NODES, node))):
                raise refusal
        self.check(kind, wire)

    def _all(self, collection: str) -> list[Wire]:
        return [msgspec.json.decode(entry.value) for entry in self._store.entries(collection)]

    def _one(self, collection: str, name: str) -> Wire | None:
        entry = self._store.get(Key(collection, "", name))
        found: Wire | None = msgspec.json.decode(entry.value) if entry else None
        return found

    def _settle(self, kind: Kind, pod: Wire) -> None:
        """A pod goes where its RuntimeClass is, and pays for it."""
        try:
            runtime_classes.settle(pod, self._one(RUNTIME_CLASSES, pod["spec"].get("runtimeClassName", "")))
        except runtime_classes.Rejected as rejected:
            raise forbidden(kind, called(pod), str(rejected)) from rejected

    def _prioritise(self, kind: Kind, pod: Wire) -> None:
        """A pod's priority is its class', or the default one's."""
        spec, pod_name = pod["spec"], called(pod)
        if name := spec.get("priorityClassName"):
            if (named := self._one(PRIORITY_CLASSES, name)) is None:
                raise forbidden(kind, pod_name, f"no PriorityClass with name {name} was found")
            chosen = named
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
        defaults = [each for each in self._all(PRIORITY_CLASSES) if each.get("globalDefault")]
        return min(defaults, key=lambda each: int(each.get("value", 0)), default=None)


def _taint(spec: Wire) -> None:
    """A new node gets no pods until it is known that it is ready: the plugin TaintNodesByCondition."""
    taints = spec.setdefault("taints", [])
    if not any(all(each.get(key) == value for key, value in NOT_READY.items()) for each in taints):
        taints.append(dict(NOT_READY))


def _tolerate(spec: Wire) -> None:
    """A pod stays on a node that is unreachable for a while, unless it says otherwise."""
    tolerations = spec.setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_covers(each, key) for each in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE})


def _covers(toleration: Wire, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")
