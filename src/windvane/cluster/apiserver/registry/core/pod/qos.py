"""The quality-of-service class of a pod."""

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity


def quality_of_service(spec: Wire) -> str:
    """How a pod's claim to resources is treated when they get scarce."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    holders = [spec] if spec.get("resources") is not None else containers
    requests = [_counted(holder, "requests") for holder in holders]
    limits = [_counted(holder, "limits") for holder in holders]
    if not any(requests) and not any(limits):
        return "BestEffort"
    complete = all(set(limit) == {"cpu", "memory"} for limit in limits)
    return "Guaranteed" if complete and requests == limits else "Burstable"


def _counted(holder: Wire, amounts: str) -> dict[str, Quantity]:
    found = (holder.get("resources") or {}).get(amounts) or {}
    counted = {name: Quantity.from_wire(found[name]) for name in ("cpu", "memory") if name in found}
    return {name: quantity for name, quantity in counted.items() if quantity > Quantity(0)}
