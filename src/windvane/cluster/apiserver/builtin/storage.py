"""Rules for PersistentVolume, PersistentVolumeClaim and StorageClass."""

import difflib
import json
from typing import Any

from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.builtin.problems import Problems, same
from windvane.cluster.apiserver.builtin.volumes import PERSISTENT_SOURCES, claim_spec, persistent_volume_spec
from windvane.cluster.apiserver.builtin.workloads import shown_selector

Json = dict[str, Any]

FIXED_CLAIM = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
SMALLER = "field can not be less than status.capacity"


def claim(obj: Json, problems: Problems) -> None:
    """Check a claim for a volume."""
    claim_spec(obj["spec"], "spec", problems)


def changed_claim(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a claim stays as it is, but for the class and the volume it gets and for more room in that."""
    spec, before = obj["spec"], old["spec"]
    new, was = dict(spec), dict(before)
    if not before.get("volumeName"):
        new["volumeName"] = was.get("volumeName")
    if before.get("storageClassName") is None and _may_get_class(spec.get("storageClassName"), old):
        new["storageClassName"] = None
    bound = old.get("status", {}).get("phase") == "Bound"
    if bound:
        new["resources"] = (new.get("resources") or {}) | {"requests": (was.get("resources") or {}).get("requests")}
    if not same(new, was):
        problems.forbidden("spec", f"{FIXED_CLAIM}\n{_difference(_go_claim(was), _go_claim(new))}")
    elif bound:
        _room(spec, old, problems)
    problems.immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))


def persistent_volume(obj: Json, problems: Problems) -> None:
    """Check a persistent volume."""
    persistent_volume_spec(obj["spec"], "spec", problems)


def changed_persistent_volume(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a volume stays what it is, whoever uses it."""
    spec, before = obj["spec"], old["spec"]
    if any(not same(spec.get(source), before.get(source)) for source in PERSISTENT_SOURCES):
        rule = "spec.persistentvolumesource is immutable after creation"
        problems.forbidden("spec.persistentvolumesource", f"{rule}\n")
    problems.immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))


def storage_class(obj: Json, problems: Problems) -> None:
    """Check a StorageClass."""
    if not obj.get("provisioner"):
        problems.required("provisioner")
    if obj["reclaimPolicy"] not in ("Delete", "Retain"):
        problems.unsupported("reclaimPolicy", obj["reclaimPolicy"], ("Delete", "Retain"))
    modes = ("Immediate", "WaitForFirstConsumer")
    if obj["volumeBindingMode"] not in modes:
        problems.unsupported("volumeBindingMode", obj["volumeBindingMode"], modes)


def changed_storage_class(obj: Json, old: Json, problems: Problems) -> None:
    """Check that what volumes were made with stays."""
    for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        problems.immutable(field, obj.get(field), old.get(field))


def _may_get_class(name: str | None, old: Json) -> bool:
    """Whether a claim that names no class may come to name this one: any, or that which an annotation has named."""
    return name == (old["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION, name)


def _room(spec: Json, old: Json, problems: Problems) -> None:
    """A claim may grow. It may shrink while it hasn't got what it asked for."""
    asked, had = (each["resources"]["requests"]["storage"] for each in (spec, old["spec"]))
    has = (old.get("status", {}).get("capacity") or {}).get("storage")
    if Quantity(asked) < Quantity(had) and (has is None or Quantity(asked) <= Quantity(has)):
        problems.forbidden("spec.resources.requests.storage", SMALLER)


def _go_claim(spec: Json) -> Json:
    """The spec of a claim as Go's internal type shows it."""
    resources = spec.get("resources") or {}
    return {
        "AccessModes": spec.get("accessModes"),
        "Selector": shown_selector(spec.get("selector")),
        "Resources": {"Limits": resources.get("limits"), "Requests": resources.get("requests")},
        "VolumeName": spec.get("volumeName", "") or "",
        "StorageClassName": spec.get("storageClassName"),
        "VolumeMode": spec.get("volumeMode"),
        "DataSource": _go_source(spec.get("dataSource")),
        "DataSourceRef": _go_source(spec.get("dataSourceRef")),
        "VolumeAttributesClassName": spec.get("volumeAttributesClassName"),
    }


def _go_source(source: Json | None) -> Json | None:
    return source and {"APIGroup": source.get("apiGroup"), "Kind": source.get("kind"), "Name": source.get("name")}


def _difference(before: Json, after: Json) -> str:
    """What changed, as lines that were and lines that are."""
    one, other = (json.dumps(each, indent=1).splitlines() for each in (before, after))
    return "\n".join([*list(difflib.unified_diff(one, other, lineterm=""))[2:], ""])
