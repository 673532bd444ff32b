"""The strategy of PersistentVolumeClaim."""

import difflib
import json
from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.columns.column import AGE, NAME, Cell, Column, field, items, quantity, read, wide
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.persistent_volume import OLD_CLASS, USE_CLASS, modes, phase, storage_class
from windvane.cluster.apiserver.registry.core.pod.defaults import claim_spec as set_claim_defaults
from windvane.cluster.apiserver.registry.core.pod.volumes import claim_spec
from windvane.cluster.apiserver.registry.core.pod.warnings import claim_spec_warnings
from windvane.cluster.apiserver.registry.validation.problems import Problems, same
from windvane.cluster.apiserver.registry.validation.selector import shown_selector
from windvane.k8s import core

FIXED_CLAIM = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
SMALLER = "field can not be less than status.capacity"


class PersistentVolumeClaimStrategy(BuiltinStrategy):
    model = core.PersistentVolumeClaim
    returned_when_deleted = True
    checks_metadata_again = True
    defaults = {"spec": {}, "status.phase": "Pending"}
    columns = (
        NAME,
        Column("Status", phase),
        Column("Volume", field("spec.volumeName")),
        Column("Capacity", lambda claim: _if_bound(claim, quantity(read(claim, "status.capacity.storage")))),
        Column("Access Modes", lambda claim: _if_bound(claim, modes(items(claim, "status.accessModes")))),
        Column("StorageClass", storage_class),
        Column("VolumeAttributesClass", field("spec.volumeAttributesClassName", "<unset>")),
        AGE,
        wide("VolumeMode", field("spec.volumeMode", "<unset>")),
    )
    column_fields = {
        "Status": "core.v1.PersistentVolumeClaimStatus.phase",
        "Volume": "core.v1.PersistentVolumeClaimSpec.volumeName",
        "Capacity": "core.v1.PersistentVolumeClaimStatus.capacity",
        "Access Modes": "core.v1.PersistentVolumeClaimStatus.accessModes",
        "VolumeMode": "core.v1.PersistentVolumeClaimSpec.volumeMode",
    }

    def set_defaults(self, obj: Wire) -> None:
        """Copy `dataSource` to `dataSourceRef`, or back: they mean the same."""
        spec = obj["spec"]
        set_claim_defaults(spec)
        for one, other in (("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")):
            if one in spec and not spec[one].get("namespace"):
                spec[one].setdefault("apiGroup", None)
                spec.setdefault(other, dict(spec[one]))

    def prepare_for_create(self, obj: Wire) -> None:
        obj["status"] = {}

    def after_create(self, obj: Wire) -> None:
        """Set the phase, which is a default."""
        obj["status"]["phase"] = "Pending"

    def validate(self, obj: Wire, problems: Problems) -> None:
        claim_spec(obj["spec"], "spec", problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check that only the class, the volume and a larger size of a claim change."""
        super().validate_change(obj, old, problems)
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

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        if OLD_CLASS in (obj["metadata"].get("annotations") or {}):
            yield f"metadata.annotations[{OLD_CLASS}]: {USE_CLASS}"
        yield from claim_spec_warnings(obj["spec"], "spec")


def _if_bound(claim: Wire, cell: Cell) -> Cell:
    """A claim shows what it got only once it has a volume."""
    return cell if read(claim, "spec.volumeName") else ""


def _may_get_class(name: str | None, old: Wire) -> bool:
    """Whether a claim that names no class may come to name this one: any, or that which an annotation has named."""
    return name == (old["metadata"].get("annotations") or {}).get(OLD_CLASS, name)


def _room(spec: Wire, old: Wire, problems: Problems) -> None:
    """A claim may grow. It may shrink while it hasn't got what it asked for."""
    asked, had = (each["resources"]["requests"]["storage"] for each in (spec, old["spec"]))
    has = (old.get("status", {}).get("capacity") or {}).get("storage")
    if Quantity(asked) < Quantity(had) and (has is None or Quantity(asked) <= Quantity(has)):
        problems.forbidden("spec.resources.requests.storage", SMALLER)


def _go_claim(spec: Wire) -> Wire:
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


def _go_source(source: Wire | None) -> Wire | None:
    return source and {"APIGroup": source.get("apiGroup"), "Kind": source.get("kind"), "Name": source.get("name")}


def _difference(before: Wire, after: Wire) -> str:
    """What changed, as lines that were and lines that are."""
    one, other = (json.dumps(each, indent=1).splitlines() for each in (before, after))
    return "\n".join([*list(difflib.unified_diff(one, other, lineterm=""))[2:], ""])
