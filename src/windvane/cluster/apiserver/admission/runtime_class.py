"""The admission plugin RuntimeClass: pods get the overhead and the scheduling of their RuntimeClass."""

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import forbidden


class Rejected(Exception):
    """The pod can't run in its RuntimeClass; the message says why, in the words of the admission plugin."""


class RuntimeClass(StorePlugin):
    """Goes by the RuntimeClasses in the store."""

    name = "RuntimeClass"
    resources = frozenset({"pods"})
    operations = frozenset({"CREATE"})

    async def mutate(self, request: AdmissionRequest) -> None:
        if (pod := request.object) is None:
            return
        found = self.stored_object("node.k8s.io/runtimeclasses", pod["spec"].get("runtimeClassName", ""))
        try:
            settle(pod, found)
        except Rejected as rejected:
            raise forbidden(request.type.kind, called(pod), str(rejected)) from rejected


def settle(pod: Wire, runtime_class: Wire | None) -> None:
    """Set the overhead, node selector and tolerations of a new pod, or raise `Rejected`."""
    spec = pod["spec"]
    if name := spec.get("runtimeClassName"):
        if runtime_class is None:
            raise Rejected(f'pod rejected: RuntimeClass "{name}" not found')
        _overhead(spec, (runtime_class.get("overhead") or {}).get("podFixed"))
        _scheduling(spec, runtime_class.get("scheduling") or {})
    elif spec.get("overhead"):
        raise Rejected("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _overhead(spec: Wire, fixed: Wire | None) -> None:
    stated = spec.get("overhead")
    if fixed is None:
        if stated:
            raise Rejected("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
        return
    if stated and _amounts(stated) != _amounts(fixed):
        raise Rejected("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    spec["overhead"] = fixed


def _scheduling(spec: Wire, scheduling: Wire) -> None:
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.setdefault(key, value) != value:
            theirs = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}"
            raise Rejected(f"conflict: {theirs}; pod.spec.nodeSelector[{key}] = {selector[key]}")
    if selector:
        spec["nodeSelector"] = selector
    if scheduling.get("tolerations"):
        spec["tolerations"] = _merged([*(spec.get("tolerations") or ()), *scheduling["tolerations"]])


def _merged(tolerations: list[Wire]) -> list[Wire]:
    """The tolerations without those that others cover."""
    merged: list[Wire] = []
    for index, each in enumerate(tolerations):
        later = [other for other in tolerations[index + 1 :] if other != each]
        if not any(_covers(other, each) for other in (*merged, *later)):
            merged.append(each)
    return merged


def _covers(wide: Wire, narrow: Wire) -> bool:
    if wide == narrow:
        return True
    every_key = not wide.get("key") and wide.get("operator") == "Exists"
    if not every_key and wide.get("key") != narrow.get("key"):
        return False
    if wide.get("effect") and wide.get("effect") != narrow.get("effect"):
        return False
    if wide.get("effect") == "NoExecute" and (longest := wide.get("tolerationSeconds")) is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > longest:
            return False
    if wide.get("operator", "Equal") == "Equal":
        return narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", "")
    return bool(wide["operator"] == "Exists")


def _amounts(stated: Wire) -> dict[str, Quantity]:
    return {name: Quantity.from_wire(amount) for name, amount in stated.items()}
