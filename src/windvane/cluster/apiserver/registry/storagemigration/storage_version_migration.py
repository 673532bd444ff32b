"""The strategy of StorageVersionMigration."""

from windvane.api.json_value import Wire
from windvane.api.names import service_name_problems, subdomain_problems
from windvane.cluster.apiserver.columns.column import NAME, Column, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import storagemigration

BOTH = "Both success and failed conditions cannot be true at the same time"


def _resource(migration: Wire) -> str:
    resource = read(migration, "spec.resource") or {}
    return ".".join(filter(None, (resource.get("resource"), resource.get("group"))))


def _end(migration: Wire) -> str:
    reached = [each["type"] for each in items(migration, "status.conditions") if each.get("status") == "True"]
    return next((each for each in reversed(reached) if each in ("Running", "Failed", "Succeeded")), "Unknown")


class StorageVersionMigrationStatusStrategy(StatusOnlyStrategy):
    keeps_metadata = ("annotations", "finalizers", "labels", "ownerReferences")

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        status, before = (each.get("status") or {} for each in (obj, old))
        version, conditions = status.get("resourceVersion") or "", status.get("conditions") or []
        if version and not (version.isdecimal() and version.isascii() and version[0] != "0"):
            problems.invalid("status.resourceVersion", version, f"resource version is not well formed: {version}")
        if before.get("resourceVersion") and before["resourceVersion"] != version:
            problems.invalid("status.resourceVersion", version, "field is immutable")
        if _is(status, "Succeeded") and _is(status, "Failed"):
            problems.invalid("status.conditions", conditions, BOTH)
        for type_, word in (("Succeeded", "Success"), ("Failed", "Failed")):
            if _is(before, type_) and not _is(status, type_):
                rule = f"{word} condition cannot be set to false once it is true"
                problems.invalid("status.conditions", conditions, rule)


class StorageVersionMigrationStrategy(BuiltinStrategy):
    model = storagemigration.StorageVersionMigration
    is_optional = True
    allow_unconditional_update = False
    defaults = {"status": {}}
    columns = (NAME, Column("Resource", _resource), Column("Status", _end))
    status = StorageVersionMigrationStatusStrategy()

    def validate(self, obj: Wire, problems: Problems) -> None:
        resource = (obj.get("spec") or {}).get("resource") or {}
        name, group = resource.get("resource") or "", resource.get("group") or ""
        if not name:
            problems.required("spec.resource.resource", "resource is required to be set")
        elif found := service_name_problems(name):
            problems.invalid("spec.resource.resource", name, ",".join(found))
        if group and (found := subdomain_problems(group)):
            problems.invalid("spec.resource.group", group, ",".join(found))

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        if (spec := obj.get("spec")) != old.get("spec"):
            problems.invalid("spec", _internal(spec or {}), "field is immutable")


def _internal(spec: Wire) -> Wire:
    return {"Resource": spec.get("resource")}


def _is(status: Wire, type_: str) -> bool:
    return any((each.get("type"), each.get("status")) == (type_, "True") for each in status.get("conditions") or ())
