"""How much a whole pod asks for, and may use, by what its containers say; for pods as plain JSON values."""

from collections.abc import Mapping
from typing import Any

from windvane.api.quantity import Quantity

Wire = dict[str, Any]
Amounts = Mapping[str, Quantity]
OF_WHOLE_PODS = ("cpu", "memory")


def amounts(holder: Wire, field: str) -> Amounts:
    """The `requests` or `limits` of whatever has resources: a container, a claim, or a pod itself."""
    return read_amounts((holder.get("resources") or {}).get(field))


def read_amounts(stated: Wire | None) -> Amounts:
    """Quantities by name, as they stand in JSON."""
    return {name: Quantity.from_wire(amount) for name, amount in (stated or {}).items()}


def of_containers(spec: Wire, field: str) -> Amounts:
    """What a whole pod takes: all containers at once, or the init container that takes more; or what it says itself."""
    total: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        add(total, amounts(container, field))
    beside: dict[str, Quantity] = {}  # init containers that go on beside the others
    most: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        its_own = amounts(container, field)
        if container.get("restartPolicy") == "Always":
            add(total, its_own)
            add(beside, its_own)
            now = beside
        else:
            now = dict(its_own)
            add(now, beside)
        for name, amount in now.items():
            most[name] = max(amount, most.get(name, amount))
    for name, amount in most.items():
        total[name] = max(amount, total.get(name, amount))
    return total | {name: amount for name, amount in amounts(spec, field).items() if name in OF_WHOLE_PODS}


def add(total: dict[str, Quantity], more: Amounts) -> None:
    """Add to `total` what is in `more`."""
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount
