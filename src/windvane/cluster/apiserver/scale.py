"""The scale subresource: one form for everything that has replicas, whatever its kind."""

from typing import Any

from windvane.api import codec
from windvane.api.meta import LabelSelector
from windvane.api.resource import kind_of, object_from_wire
from windvane.api.selector import Selector
from windvane.api.status import StatusCause, StatusDetails
from windvane.cluster.apiserver.builtin.metadata import metadata_of_any
from windvane.cluster.apiserver.builtin.problems import Problems
from windvane.cluster.apiserver.builtin.types import BuiltinType
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import Failure, failure, invalid
from windvane.k8s.autoscaling import Scale

Wire = dict[str, Any]
SCALE = BuiltinType(Scale)
"""What a Scale is, as if it had a place of its own."""
BUILT_IN = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def read_scale(type_: ResourceType, wire: Wire) -> Wire:
    """An object's Scale."""
    paths = _paths(type_)
    metadata = wire["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Wire = {"replicas": _get(wire, paths["statusReplicasPath"]) or 0}
    if selector := _selector(type_, wire, paths):
        status["selector"] = selector
    replicas = _get(wire, paths["specReplicasPath"])
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def check_scaled(type_: ResourceType, wire: Wire) -> None:
    """Refuse to show the Scale of a custom object that doesn't say how many it wants; it may get one."""
    path = _paths(type_)["specReplicasPath"]
    if type_.custom and _get(wire, path) is None:
        why = f'the spec replicas field "{path}" does not exist'
        details = StatusDetails(causes=[StatusCause(message=why)])
        raise failure(500, "InternalError", f"Internal error occurred: {why}", details)


def write_scale(type_: ResourceType, wire: Wire, scale: Wire) -> Wire:
    """The object with the replicas, and the precondition, that a Scale states."""
    wanted = object_from_wire({key: value for key, value in scale.items() if key != "status"}, Scale)
    replicas = wanted.spec.replicas or 0
    if not type_.custom:  # the rules of a custom object know about its scale
        _check(wire["metadata"]["name"], scale, replicas)
    *parents, last = _paths(type_)["specReplicasPath"].strip(".").split(".")
    here = wire
    for name in parents:
        here = here.setdefault(name, {})
    here[last] = replicas
    if version := wanted.metadata.resource_version:
        wire["metadata"]["resourceVersion"] = version
    return wire


def _check(name: str, scale: Wire, replicas: int) -> None:
    problems = Problems()
    metadata_of_any(scale, problems)
    problems.not_negative("spec.replicas", replicas)
    if problems:
        raise invalid(kind_of(Scale), name, problems)


def without_zero(scale: Wire) -> None:
    """To Go, zero replicas are the same as none: take them out."""
    if isinstance(spec := scale.get("spec"), dict) and not spec.get("replicas"):
        spec.pop("replicas", None)


def unconvertible(name: str) -> Failure:
    """The real server's answer to who applies a custom object's Scale that changes something."""
    why = "request to convert CR to an invalid group/version: autoscaling/v1"
    what = f"(/{name}; autoscaling/v1, Kind=Scale)"
    return failure(500, "", f"failed to convert new object {what} to proper version: {why}")


def _paths(type_: ResourceType) -> dict[str, str]:
    if type_.definition is None:
        return BUILT_IN
    paths: dict[str, str] = type_.definition["subresources"]["scale"]
    return paths


def _selector(type_: ResourceType, wire: Wire, paths: dict[str, str]) -> str:
    if path := paths.get("labelSelectorPath"):
        return _get(wire, path) or ""
    if type_.custom:
        return ""
    selector = wire.get("spec", {}).get("selector") or {}
    if type_.kind.name == "ReplicationController":
        return str(Selector.of(selector))
    return str(Selector.from_label_selector(codec.from_wire(selector, LabelSelector)))


def _get(wire: Wire, path: str) -> Any:
    here: Any = wire
    for name in path.strip(".").split("."):
        here = here.get(name) if isinstance(here, dict) else None
    return here
