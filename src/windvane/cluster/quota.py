"""What objects use of a ResourceQuota: which kind each of its names counts, and how much one object is.

The API server, which refuses objects, and a controller, which counts them, both ask here, so that they agree.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from windvane.api.quantity import Quantity
from windvane.cluster.pod_resources import Amounts, add, amounts, of_pod, read_amounts

Wire = dict[str, Any]
ONE, NONE = Quantity(1), Quantity(0)
COMPUTE = ("cpu", "memory", "ephemeral-storage")
NOT_COUNTED = frozenset({"events", "events.events.k8s.io"})
BY_PLAIN_NAME = frozenset({"configmaps", "replicationcontrollers", "resourcequotas", "secrets"})
"""What was counted before there was `count/`, and still has a name of its own."""
OF_PODS = frozenset({"pods", *COMPUTE, *(f"{word}.{name}" for word in ("requests", "limits") for name in COMPUTE)})
OF_SERVICES = frozenset({"services", "services.nodeports", "services.loadbalancers"})
OF_CLAIMS = ("persistentvolumeclaims", "requests.storage")
OF_CLASS = ".storageclass.storage.k8s.io/"
MUST_BE_STATED = frozenset(OF_PODS - {"pods", *(name for name in OF_PODS if "ephemeral" in name)})
"""What every container of a pod has to ask for, if there is a quota of it."""


def resource_counted_by(name: str) -> str:
    """The resource, such as `pods` or `deployments.apps`, that a name in a quota counts; empty if it counts none."""
    if name.startswith("count/"):
        return name.removeprefix("count/")
    if name in OF_PODS or name.startswith(("hugepages-", "requests.hugepages-")):
        return "pods"
    if name in OF_SERVICES:
        return "services"
    if name in OF_CLAIMS or name.endswith(tuple(OF_CLASS + each for each in OF_CLAIMS)):
        return "persistentvolumeclaims"
    if name.startswith("requests.") and _is_extended(name):
        return "pods"
    return name if name in BY_PLAIN_NAME else ""


def usage(resource: str, wire: Wire, now: datetime) -> dict[str, Quantity]:
    """How much an object is, under each name that counts it."""
    counted = {f"count/{resource}": ONE}
    if resource == "pods":
        return counted | (_of_pod(wire) if _is_alive(wire, now) else {})
    if resource == "services":
        return counted | _of_service(wire["spec"])
    if resource == "persistentvolumeclaims":
        return counted | _of_claim(wire)
    return counted | ({resource: ONE} if resource in BY_PLAIN_NAME else {})


def is_in_scope(resource: str, wire: Wire, quota: Wire) -> bool:
    """Whether a quota is for such objects, by its scopes; one without scopes is for all."""
    return all(_matches(resource, wire, each) for each in _scopes(quota))


def may_change_usage(resource: str, subresource: str, wire: Wire, current: Wire | None) -> bool:
    """Whether an object that is written may use more than before. `current` is None if it is new."""
    if resource == "pods" and current is not None:
        return subresource == "resize" or (not subresource and _ends_by_itself(wire) != _ends_by_itself(current))
    if subresource:
        return False
    return current is None or resource in ("services", "persistentvolumeclaims")


def unstated(pod: Wire, names: Iterable[str]) -> str:
    """Which of these amounts, of which there is a quota, containers don't ask for; empty if they do."""
    spec = pod["spec"]
    if amounts(spec, "requests") or amounts(spec, "limits"):
        return ""
    missing: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        stated = _compute(amounts(container, "requests"), amounts(container, "limits"))
        for name in MUST_BE_STATED.intersection(names) - stated.keys():
            missing.setdefault(name, set()).add(container.get("name", ""))
    told = (f"{name} for: {','.join(sorted(scopes))}" for name, scopes in sorted(missing.items()))
    return f"must specify {'; '.join(told)}" if missing else ""


def count(quota: Wire, objects: Mapping[str, Iterable[Wire]], now: datetime) -> dict[str, Quantity]:
    """How much of a quota these objects use, which are given by resource; only names that count one of those."""
    hard = (quota.get("spec") or {}).get("hard") or {}
    total = {name: NONE for name in hard if resource_counted_by(name) in objects}
    for resource, each_of_them in objects.items():
        for wire in each_of_them:
            if is_in_scope(resource, wire, quota):
                used = usage(resource, wire, now)
                add(total, {name: amount for name, amount in used.items() if name in total})
    return total


# Pods


def _is_alive(pod: Wire, now: datetime) -> bool:
    """Whether a pod takes anything: not if it has ended, or should have long ago."""
    metadata = pod["metadata"]
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return False
    if "deletionTimestamp" not in metadata:
        return True
    grace = timedelta(seconds=metadata.get("deletionGracePeriodSeconds") or 0)
    return now <= datetime.fromisoformat(metadata["deletionTimestamp"]) + grace


def _of_pod(pod: Wire) -> dict[str, Quantity]:
    spec = pod["spec"]
    requests, limits = dict(of_pod(spec, "requests")), dict(of_pod(spec, "limits"))
    overhead = read_amounts(spec.get("overhead"))
    add(requests, overhead)
    add(limits, {name: amount for name, amount in overhead.items() if limits.get(name)})
    return _compute(requests, limits)


def _compute(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    used = {"pods": ONE}
    for name, amount in requests.items():
        if name in COMPUTE or name.startswith("hugepages-"):
            used |= {name: amount, f"requests.{name}": amount}
        elif _is_extended(name):
            used[f"requests.{name}"] = amount
    return used | {f"limits.{name}": limits[name] for name in COMPUTE if name in limits}


def _is_extended(name: str) -> bool:
    """Whether it is a resource that is not Kubernetes' own, such as a graphics card."""
    return "/" in name and "kubernetes.io/" not in name


# Services and claims


def _of_service(spec: Wire) -> dict[str, Quantity]:
    type_, ports = spec.get("type"), spec.get("ports") or ()
    balanced = type_ == "LoadBalancer"
    if balanced and spec.get("allocateLoadBalancerNodePorts") is False:
        ports = [port for port in ports if port.get("nodePort")]
    return {
        "services": ONE,
        "services.loadbalancers": ONE if balanced else NONE,
        "services.nodeports": Quantity(len(ports)) if balanced or type_ == "NodePort" else NONE,
    }


def _of_claim(claim: Wire) -> dict[str, Quantity]:
    used = {"persistentvolumeclaims": ONE}
    asked = amounts(claim["spec"], "requests").get("storage")
    given = read_amounts((claim.get("status") or {}).get("allocatedResources")).get("storage")
    if asked is not None:
        most = max(asked, given) if given is not None else asked
        used["requests.storage"] = most if most.value.denominator == 1 else Quantity(int(most))
    annotations = claim["metadata"].get("annotations") or {}
    class_ = annotations.get("volume.beta.kubernetes.io/storage-class") or claim["spec"].get("storageClassName")
    return used | ({f"{class_}{OF_CLASS}{name}": amount for name, amount in used.items()} if class_ else {})


# Scopes


def _scopes(quota: Wire) -> list[Wire]:
    spec = quota.get("spec") or {}
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return [*plain, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ())]


def _matches(resource: str, wire: Wire, scope: Wire) -> bool:
    name = scope["scopeName"]
    if resource == "persistentvolumeclaims" and name == "VolumeAttributesClass":
        return _selects(scope, _volume_classes(wire))
    if resource != "pods":
        return False
    if name == "PriorityClass":
        return _selects(scope, {wire["spec"].get("priorityClassName") or ""} - {""})
    best_effort = (wire.get("status") or {}).get("qosClass") == "BestEffort"
    return {
        "Terminating": _ends_by_itself(wire),
        "NotTerminating": not _ends_by_itself(wire),
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
        "CrossNamespacePodAffinity": _looks_elsewhere(wire["spec"].get("affinity") or {}),
    }.get(name, False)


def _selects(scope: Wire, names: set[str]) -> bool:
    values = set(scope.get("values") or ())
    match scope.get("operator"):
        case "Exists":
            return bool(names)
        case "DoesNotExist":
            return not names
        case "In":
            return bool(names & values)
        case _:  # NotIn
            return not names or bool(names - values)


def _ends_by_itself(pod: Wire) -> bool:
    seconds = pod["spec"].get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def _volume_classes(claim: Wire) -> set[str]:
    status = claim.get("status") or {}
    return {
        claim["spec"].get("volumeAttributesClassName") or "",
        status.get("currentVolumeAttributesClassName") or "",
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName") or "",
    } - {""}


def _looks_elsewhere(affinity: Wire) -> bool:
    """Whether it matters to a pod where pods of other namespaces are."""
    return any(
        term.get("namespaces") or term.get("namespaceSelector") is not None
        for way in ("podAffinity", "podAntiAffinity")
        for term in _terms(affinity.get(way) or {})
    )


def _terms(affinity: Wire) -> Iterable[Wire]:
    yield from affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    for weighted in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
        yield weighted["podAffinityTerm"]
