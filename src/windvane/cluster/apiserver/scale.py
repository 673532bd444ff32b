"""The scale subresource: one form for everything that has replicas, whatever its kind."""

from typing import Any

from windvane.api import codec
from windvane.api.meta import LabelSelector
from windvane.api.resource import object_from_wire
from windvane.api.selector import Selector
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.k8s.autoscaling import Scale

Wire = dict[str, Any]
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


def write_scale(type_: ResourceType, wire: Wire, scale: Wire) -> Wire:
    """The object with the replicas, and the precondition, that a Scale states."""
    wanted = object_from_wire({key: value for key, value in scale.items() if key != "status"}, Scale)
    *parents, last = _paths(type_)["specReplicasPath"].strip(".").split(".")
    here = wire
    for name in parents:
        here = here.setdefault(name, {})
    here[last] = wanted.spec.replicas or 0
    if version := wanted.metadata.resource_version:
        wire["metadata"]["resourceVersion"] = version
    return wire


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
