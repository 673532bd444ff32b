"""What a pod asks for as a whole: how that follows from what its containers ask for, and the rules for it."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.containers import resources
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.pod_resources import amounts, is_of_whole_pods, of_containers

SUPPORTED = ("cpu", "hugepages-", "memory")


def fill_requests(spec: Wire) -> None:
    """A pod that has limits asks for what its containers ask for together, or else for all that it may use."""
    stated: Wire = spec.get("resources") or {}
    if not stated.get("limits") and not stated.get("requests"):
        return
    limits, requests = stated.get("limits") or {}, stated.get("requests") or {}
    for name, amount in of_containers(spec, "limits").items():
        if name.startswith("hugepages-") and name not in requests:
            limits.setdefault(name, str(amount))
    if not limits:
        return
    for name, amount in of_containers(spec, "requests").items():
        if is_of_whole_pods(name) and not name.startswith("hugepages-"):
            requests.setdefault(name, str(amount))
    for name, limit in limits.items():
        if is_of_whole_pods(name):
            requests.setdefault(name, limit)
    stated.update(limits=limits, requests=requests)


def pod_resources(spec: Wire, path: str, problems: Problems) -> None:
    """Check it: it must be enough for the containers, and none of them may use more."""
    if (stated := spec.get("resources")) is None:
        return
    path = f"{path}.resources"
    if (spec.get("os") or {}).get("name") == "windows":
        problems.forbidden(path, "may not be set for a windows pod")
        return
    if stated.get("claims"):
        problems.forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    resources(stated, path, problems, named=_resource_name)
    for field in ("requests", "limits"):
        own, together = amounts(spec, field), of_containers(spec, field)
        for name in own.keys() & together.keys():
            if (field == "requests" or name.startswith("hugepages-")) and together[name] > own[name]:
                why = f"must be greater than or equal to aggregate container {field} of {together[name]}"
                problems.invalid(f"{path}.{field}[{name}]", str(own[name]), why)
    most = amounts(spec, "limits")
    for index, container in enumerate(spec.get("containers") or ()):
        for name, limit in amounts(container, "limits").items():
            if name in most and limit > most[name]:
                why = f"must be less than or equal to pod limits of {most[name]}"
                problems.invalid(f"{path}.containers[{index}][{name}].limits", str(limit), why)


def _resource_name(name: str, path: str, problems: Problems) -> None:
    if not is_of_whole_pods(name):
        problems.unsupported(path, name, SUPPORTED)
