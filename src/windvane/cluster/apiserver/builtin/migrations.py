"""StorageVersionMigrations: which resource is to be stored anew stays what it was, and so does how it ended."""

from typing import Any

from windvane.api.names import service_name_problems, subdomain_problems
from windvane.cluster.apiserver.builtin.problems import Problems

Json = dict[str, Any]
BOTH = "Both success and failed conditions cannot be true at the same time"


def migration(obj: Json, problems: Problems) -> None:
    """Check a migration."""
    resource = (obj.get("spec") or {}).get("resource") or {}
    name, group = resource.get("resource") or "", resource.get("group") or ""
    if not name:
        problems.required("spec.resource.resource", "resource is required to be set")
    elif found := service_name_problems(name):
        problems.invalid("spec.resource.resource", name, ",".join(found))
    if group and (found := subdomain_problems(group)):
        problems.invalid("spec.resource.group", group, ",".join(found))


def changed_migration(obj: Json, old: Json, problems: Problems) -> None:
    """Check what was changed."""
    if (spec := obj.get("spec")) != old.get("spec"):
        problems.invalid("spec", _internal(spec or {}), "field is immutable")


def migration_status(obj: Json, old: Json, problems: Problems) -> None:
    """Check how it is said to stand."""
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


def _internal(spec: Json) -> Json:
    return {"Resource": spec.get("resource")}


def _is(status: Json, type_: str) -> bool:
    return any((each.get("type"), each.get("status")) == (type_, "True") for each in status.get("conditions") or ())
