"""How much a whole pod asks for, and may use, by what its containers say; for pods as plain JSON values."""

from collections.abc import Mapping
from typing import Any

from windvane.api.quantity import Quantity

Wire = dict[str, Any]
Amounts = Mapping[str, Quantity]


def amounts(holder: Wire, field: str) -> Amounts:
    """The `requests` or `limits` of whatever has resources: a container, a claim, or a pod itself."""
    return read_amounts((holder.get("resources") or {}).get(field))


def read_amounts(stated: Wire | None) -> Amounts:
    """Quantities by name, as they stand in JSON."""
    return {name: Quantity.from_wire(amount) for name, amount in (stated or {}).items()}


def is_of_whole_pods(name: str) -> bool:
    """Whether a pod can say how much of a resource it takes as a whole."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def of_pod(spec: Wire, field: str) -> Amounts:
    """What a whole pod takes: what it says itself, or else what its containers take."""
    own = amounts(spec, field)
    return {**of_containers(spec, field), **{name: own[name] for name in own if is_of_whole_pods(name)}}


def of_containers(spec: Wire, field: str) -> Amounts:
    """What the containers of a pod take: all of them at once, or the init container that takes more."""
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
    return total


def add(total: dict[str, Quantity], more: Amounts) -> None:
    """Add to `total` what is in `more`."""
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount
