"""RuntimeClasses: a pod that names one must find it, costs what it costs to run in it, and goes where it is."""

from typing import Any

from windvane.api.quantity import Quantity

Wire = dict[str, Any]


class Rejected(Exception):
    """The pod can't run in its RuntimeClass; the message says why, in the words of the admission plugin."""


def settle(pod: Wire, runtime_class: Wire | None) -> None:
    """Give a new pod what its RuntimeClass says about overhead and nodes, or raise `Rejected`."""
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
    """The tolerations without those that others make superfluous."""
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
