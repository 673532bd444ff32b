"""What the server checks when a CustomResourceDefinition is created or changed.

The server keeps a CRD in an older form, and its messages speak of that one: what all versions have in common, as
what a single version has always is, is found at `spec.validation`, `spec.subresources` and so on, and not in
`spec.versions`.
"""

import re
from collections.abc import Mapping
from typing import Any

from windvane.api.names import service_name_problems, subdomain_problems
from windvane.api.openapi.check import unrecognized_formats
from windvane.api.openapi.internal import internal_versions
from windvane.api.status import StatusCause
from windvane.api.wording import invalid, quoted, required, unsupported
from windvane.cluster.apiserver.registry.apiextensions.definition.conversion import conversion_causes
from windvane.cluster.apiserver.registry.apiextensions.definition.version import deprecation_causes, part_causes

Wire = Mapping[str, Any]

APPROVAL = "api-approved.kubernetes.io"
_SHARED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def check_definition(crd: Wire, old: Wire | None = None) -> list[StatusCause]:
    """What is wrong with a CRD that is to be created, or to replace `old`; its metadata is checked but for its name."""
    spec: Wire = crd.get("spec") or {}
    names: Wire = spec.get("names") or {}
    found: list[StatusCause] = []
    name = (crd.get("metadata") or {}).get("name") or ""
    if old is None and name != f"{names.get('plural') or ''}.{spec.get('group') or ''}":
        found.append(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    found += _spec_causes(spec, _unchanged_schemas(spec, (old or {}).get("spec") or {}))
    found += conversion_causes(spec, old)
    if old is not None:
        found += _changed(crd, old)
    found += _stored_version_causes(crd, spec)
    found += _approval_causes(crd, spec, old)
    if spec.get("preserveUnknownFields") is True and not (old and (old.get("spec") or {}).get("preserveUnknownFields")):
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        found.append(invalid("spec.preserveUnknownFields", True, why))
    return found


def definition_warnings(crd: Wire, old: Wire | None = None) -> list[str]:
    """What the server warns of when it takes a CRD: formats that it doesn't know, if `old` doesn't have them too."""
    before = set(_formats(old)) if old is not None else set()
    return [f"unrecognized format {quoted(name)}" for name in _formats(crd) if name not in before]


def _formats(crd: Wire) -> list[str]:
    versions = (crd.get("spec") or {}).get("versions") or ()
    schemas = [(each.get("schema") or {}).get("openAPIV3Schema") or {} for each in versions]
    return list(dict.fromkeys(name for schema in schemas for name in unrecognized_formats(schema)))


def _unchanged_schemas(spec: Wire, before: Wire) -> set[str]:
    """The versions whose schemas are as they were."""
    known = [(each.get("name"), each.get("schema")) for each in before.get("versions") or ()]
    versions = spec.get("versions") or ()
    return {each.get("name", "") for each in versions if (each.get("name"), each.get("schema")) in known}


def _spec_causes(spec: Wire, unchanged: set[str]) -> list[StatusCause]:
    found = _group_causes(spec.get("group") or "")
    found += _one_of("spec.scope", spec.get("scope") or "", ("Cluster", "Namespaced"))
    versions: list[dict[str, Any]] = spec.get("versions") or []
    shared = {name for name in _SHARED if all(each.get(name) == versions[0].get(name) for each in versions)}
    if "schema" not in shared or not versions or not (versions[0].get("schema") or {}).get("openAPIV3Schema"):
        for index, version in enumerate(versions):
            if not (version.get("schema") or {}).get("openAPIV3Schema"):
                found.append(required(f"spec.versions[{index}].schema.openAPIV3Schema"))
    if spec.get("preserveUnknownFields") is True and any(_has_default(each.get("schema")) for each in versions):
        why = "must be false in order to use defaults in the schema"
        found.append(invalid("spec.preserveUnknownFields", True, why))
    has_status = any("status" in (each.get("subresources") or {}) for each in versions)
    for index, version in enumerate(versions):
        here = f"spec.versions[{index}]"
        if problems := service_name_problems(version.get("name") or ""):
            found.append(invalid(f"{here}.name", version.get("name") or "", ",".join(problems)))
        found += deprecation_causes(version, here)
        own = {key: value for key, value in version.items() if key not in shared}
        subresources = own if "subresources" not in shared else version
        found += part_causes(
            own,
            {key: f"{here}.{key}" for key in _SHARED},
            "status" in (subresources.get("subresources") or {}),
            version,
            is_unchanged=version.get("name") in unchanged,
        )
    bare = [{key: each[key] for key in each if key not in shared} for each in versions]
    if len({version.get("name") for version in versions}) < len(versions):
        found.append(invalid("spec.versions", internal_versions(bare), "must contain unique version names"))
    if sum(version.get("storage") is True for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        found.append(invalid("spec.versions", internal_versions(bare) if "versions" in spec else None, why))
    if versions and (problems := service_name_problems(versions[0].get("name") or "")) and versions[0].get("name"):
        found.append(invalid("spec.version", versions[0]["name"], ",".join(problems)))
    found += _name_causes(spec.get("names") or {})
    if versions:
        common = {key: value for key, value in versions[0].items() if key in shared}
        paths = {key: f"spec.{place}" for key, place in _SHARED.items()}
        is_unchanged = versions[0].get("name") in unchanged
        found += part_causes(common, paths, has_status, versions[0], is_unchanged=is_unchanged)
    return found


def _group_causes(group: str) -> list[StatusCause]:
    if not group:
        return [required("spec.group")]
    if problems := subdomain_problems(group):
        return [invalid("spec.group", group, ",".join(problems))]
    return [] if "." in group else [invalid("spec.group", group, "should be a domain with at least one dot")]


def _one_of(field: str, value: str, supported: tuple[str, ...]) -> list[StatusCause]:
    if not value:
        return [required(field)]
    return [] if value in supported else [unsupported(field, value, supported)]


def _has_default(of: Any) -> bool:
    if isinstance(of, dict):
        return of.get("default") is not None or any(_has_default(each) for each in of.values())
    return isinstance(of, list) and any(_has_default(each) for each in of)


def _name_causes(names: Wire) -> list[StatusCause]:
    kind = names.get("kind") or ""
    complete = {
        "plural": names.get("plural") or "",
        "singular": names.get("singular") or kind.lower(),
        "kind": kind,
        "listKind": names.get("listKind") or (f"{kind}List" if kind else ""),
    }
    found = [required(f"spec.names.{name}") for name, value in complete.items() if not value]
    for name, value in complete.items():
        mixed = name in ("kind", "listKind")
        if value and (problems := service_name_problems(value.lower() if mixed else value)):
            why = "may have mixed case, but should otherwise match: " if mixed else ""
            found.append(invalid(f"spec.names.{name}", value, why + ",".join(problems)))
    found += _each_name("shortNames", names)
    if kind and kind == complete["listKind"]:
        found.append(invalid("spec.names.listKind", kind, "kind and listKind may not be the same"))
    return found + _each_name("categories", names)


def _each_name(what: str, names: Wire) -> list[StatusCause]:
    return [
        invalid(f"spec.names.{what}[{index}]", name, ",".join(problems))
        for index, name in enumerate(names.get(what) or ())
        if (problems := service_name_problems(name))
    ]


def _changed(crd: Wire, old: Wire) -> list[StatusCause]:
    """What may not change: where the objects are stored depends on it."""
    spec, before = crd.get("spec") or {}, old.get("spec") or {}
    conditions = (old.get("status") or {}).get("conditions") or ()
    established = any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
    paths = ("scope", "names.kind", "group", "names.plural") if established else ("group", "names.plural")
    return [
        invalid(f"spec.{path}", _at(spec, path), "field is immutable")
        for path in paths
        if _at(spec, path) != _at(before, path)
    ]


def _at(spec: Wire, path: str) -> Any:
    outer, _, inner = path.rpartition(".")
    return ((spec.get(outer) or {}) if outer else spec).get(inner) or ""


def _stored_version_causes(crd: Wire, spec: Wire) -> list[StatusCause]:
    versions = spec.get("versions") or []
    stored = list((crd.get("status") or {}).get("storedVersions") or ())
    storage = next((each.get("name") or "" for each in versions if each.get("storage")), None)
    if storage is not None and storage not in stored:
        stored.append(storage)
    field = "status.storedVersions"
    if not stored:
        return [invalid(field, None, "must have at least one stored version")]
    known = [version.get("name") for version in versions]
    others = [each.get("name") for each in versions if each.get("storage") and each.get("name") not in stored]
    found = [invalid(field, stored, f"must have the storage version {name}") for name in others]
    for index, name in enumerate(stored):
        if name not in known:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            found.append(invalid(f"{field}[{index}]", name, why))
    return found


def _approval_causes(crd: Wire, spec: Wire, old: Wire | None) -> list[StatusCause]:
    """Groups under k8s.io belong to the Kubernetes community, which must approve them."""
    if not re.search(r"(^|\.)(k8s|kubernetes)\.io$", spec.get("group") or ""):
        return []
    stated, before = (
        ((each or {}).get("metadata") or {}).get("annotations", {}).get(APPROVAL, "") for each in (crd, old)
    )
    if (old is not None and stated == before) or stated.startswith("unapproved"):
        return []
    field, rule = f"metadata.annotations[{APPROVAL}]", f'protected groups must have approval annotation "{APPROVAL}"'
    see = "see https://github.com/kubernetes/enhancements/pull/1111"
    if not stated:
        return [required(field, f"{rule}, {see}")]
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/]", stated):
        return []
    return [invalid(field, stated, f'{rule} with either a URL or a reason starting with "unapproved", {see}')]
