"""The admission plugin LimitRanger: pods and claims get the defaults of their namespace, and keep to its limits.

Checked are new pods and claims, pods that are resized and claims that grow, unless they are being deleted. Refusals
are in the words of the real server.
"""

from collections.abc import Callable, Iterator

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import forbidden
from windvane.cluster.pod_resources import Amounts, amounts, of_pod

COLLECTION = "/limitranges"
CONCERNED = frozenset(
    {
        ("pods", "CREATE", ""),
        ("pods", "UPDATE", "resize"),
        ("persistentvolumeclaims", "CREATE", ""),
        ("persistentvolumeclaims", "UPDATE", ""),
    }
)
TOLD = "kubernetes.io/limit-ranger"


def fill_in(pod: Wire, limit_range: Wire) -> None:
    """Fill in the range's defaults for the containers of a new pod, and list them in an annotation."""
    requests: Wire = {}
    limits: Wire = {}
    for item in _items(limit_range, "Container"):
        requests |= item.get("defaultRequest") or {}
        limits |= item.get("default") or {}
    notes: list[str] = []
    for field, word in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(field) or ():
            resources = container.setdefault("resources", {})
            for what, defaults in (("request", requests), ("limit", limits)):
                missing = sorted(set(defaults) - set(resources.get(f"{what}s") or ()))
                if missing:
                    resources[f"{what}s"] = {**(resources.get(f"{what}s") or {}), **{k: defaults[k] for k in missing}}
                    notes.append(f"{', '.join(missing)} {what} for {word} {container.get('name', '')}")
    if notes:
        metadata = pod["metadata"]
        told = f"LimitRanger plugin set: {'; '.join(notes)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), TOLD: told}


def problems_of_pod(pod: Wire, limit_range: Wire) -> list[str]:
    """How a pod violates a LimitRange."""
    spec = pod["spec"]
    found: list[str] = []
    for item in _items(limit_range, "Container", "Pod"):
        if item["type"] == "Pod":
            found += _problems(item, of_pod(spec, "requests"), of_pod(spec, "limits"))
            continue
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            found += _problems(item, amounts(container, "requests"), amounts(container, "limits"))
    return list(dict.fromkeys(found))


def problems_of_claim(claim: Wire, limit_range: Wire) -> list[str]:
    """How a PersistentVolumeClaim violates a LimitRange."""
    requests = amounts(claim["spec"], "requests")
    found: list[str] = []
    for item in _items(limit_range, "PersistentVolumeClaim"):
        found += [*_too_little(item, requests, {})]
        for name, most in _stated(item, "max"):
            told = f"maximum {name} usage per {item['type']} is {most}"
            if name not in requests:
                found.append(f"{told}.  No request is specified")
            elif _less(most, requests[name]):
                found.append(f"{told}, but request is {requests[name]}")
    return list(dict.fromkeys(found))


def _problems(item: Wire, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _too_little(item, requests, limits)
    yield from _too_much(item, requests, limits)
    yield from _too_different(item, requests, limits)


def _too_little(item: Wire, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in _stated(item, "min"):
        told = f"minimum {name} usage per {item['type']} is {least}"
        if name not in requests:
            yield f"{told}.  No request is specified"
        elif _less(requests[name], least):
            yield f"{told}, but request is {requests[name]}"
        elif name in limits and _less(limits[name], least):
            yield f"{told}, but limit is {limits[name]}"


def _too_much(item: Wire, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, most in _stated(item, "max"):
        told = f"maximum {name} usage per {item['type']} is {most}"
        if name not in limits:
            yield f"{told}.  No limit is specified"
        elif _less(most, limits[name]):
            yield f"{told}, but limit is {limits[name]}"
        elif name in requests and _less(most, requests[name]):
            yield f"{told}, but request is {requests[name]}"


def _too_different(item: Wire, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, most in _stated(item, "maxLimitRequestRatio"):
        told = f"{name} max limit to request ratio per {item['type']} is {most}"
        if not requests.get(name):
            yield f"{told}, but no request is specified or request is 0"
        elif not limits.get(name):
            yield f"{told}, but no limit is specified or limit is 0"
        elif (ratio := limits[name].milli() / requests[name].milli()) * 1000 > most.milli():
            yield f"{told}, but provided ratio is {ratio:f}"


def _less(one: Quantity, other: Quantity) -> bool:
    """Whether one is less by at least a thousandth: finer amounts are rounded up first."""
    return one.milli() < other.milli()


def _items(limit_range: Wire, *types: str) -> Iterator[Wire]:
    return (item for item in (limit_range.get("spec") or {}).get("limits") or () if item.get("type") in types)


def _stated(item: Wire, field: str) -> Iterator[tuple[str, Quantity]]:
    return ((name, Quantity.from_wire(amount)) for name, amount in (item.get(field) or {}).items())


PROBLEMS_OF: dict[str, Callable[[Wire, Wire], list[str]]] = {
    "pods": problems_of_pod,
    "persistentvolumeclaims": problems_of_claim,
}


class LimitRanger(StorePlugin):
    """Goes by the LimitRanges in the store."""

    name = "LimitRanger"
    resources = frozenset(PROBLEMS_OF)

    def handles(self, request: AdmissionRequest) -> bool:
        if (request.type.kind.resource, request.operation, request.subresource) not in CONCERNED:
            return False
        leaving = request.old is not None and "deletionTimestamp" in request.old["metadata"]
        return not leaving and self._store.count(COLLECTION, request.namespace) > 0

    async def mutate(self, request: AdmissionRequest) -> None:
        if request.type.kind.resource == "pods" and request.object is not None:
            for limit_range in self._limit_ranges(request):
                fill_in(request.object, limit_range)

    async def validate(self, request: AdmissionRequest) -> None:
        if request.object is None:
            return
        problems_of = PROBLEMS_OF[request.type.kind.resource]
        for limit_range in self._limit_ranges(request):
            if problems := problems_of(request.object, limit_range):
                told = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                raise forbidden(request.type.kind, called(request.object), told)

    def _limit_ranges(self, request: AdmissionRequest) -> list[Wire]:
        return self.stored_objects(COLLECTION, request.namespace)
