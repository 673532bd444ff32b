"""Rules for what every object has: names by kind, labels, annotations, owners, finalizers; and for selectors."""

from collections.abc import Callable, Iterable, Mapping

from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.names import (
    annotation_key_problems,
    label_key_problems,
    label_problems,
    label_value_problems,
    subdomain_problems,
)
from windvane.cluster.apiserver.registry.validation.problems import Problems, same

Check = Callable[[str], list[str]]

ANNOTATIONS_LIMIT = 256 * 1024
KNOWN_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})

# The server itself keeps the time of creation as it is.
_FIXED = ("name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds")


def new_metadata(kind: Kind, obj: Wire, problems: Problems, check: Check = subdomain_problems) -> None:
    """Check the metadata of a new object; its name, which `check` is for, has been generated if that was asked for."""
    metadata, path = obj.get("metadata", {}), "metadata"
    if prefix := metadata.get("generateName"):
        # What comes after the prefix makes its end fine.
        whole = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        problems.all_invalid(f"{path}.generateName", prefix, check(whole))
    if name := metadata.get("name"):
        problems.all_invalid(f"{path}.name", name, check(name))
    _need_name(metadata, problems)
    namespace = metadata.get("namespace")
    if kind.namespaced and not namespace:
        problems.required(f"{path}.namespace")
    elif kind.namespaced:
        problems.all_invalid(f"{path}.namespace", namespace, label_problems(namespace))
    elif namespace:
        problems.forbidden(f"{path}.namespace", "not allowed on this type")
    metadata_of_any(obj, problems)


def changed_metadata(obj: Wire, old: Wire, problems: Problems) -> None:
    """Check the metadata of an object against what it was."""
    metadata, before, path = obj.get("metadata", {}), old.get("metadata", {}), "metadata"
    if before.get("deletionTimestamp"):
        new = sorted(set(metadata.get("finalizers") or ()) - set(before.get("finalizers") or ()))
        if new:
            listed = ", ".join(f'"{each}"' for each in new)
            rule = "no new finalizers can be added if the object is being deleted"
            problems.forbidden(f"{path}.finalizers", f"{rule}, found new finalizers []string{{{listed}}}")
    if not metadata.get("resourceVersion") and before.get("resourceVersion"):
        problems.invalid(f"{path}.resourceVersion", 0, "must be specified for an update")
    for field in _FIXED:
        if not same(metadata.get(field), before.get(field)):
            problems.invalid(f"{path}.{field}", metadata.get(field, ""), "field is immutable")
    _labels_and_owners(metadata, problems)


def labels(found: Mapping[str, str] | None, path: str, problems: Problems) -> None:
    """Check the keys and the values of labels."""
    for key, value in (found or {}).items():
        problems.all_invalid(path, key, label_key_problems(key))
        problems.all_invalid(path, value, label_value_problems(value))


def annotations(found: Mapping[str, str] | None, path: str, problems: Problems) -> None:
    """Check the keys of annotations, and their size together."""
    for key in found or {}:
        problems.all_invalid(path, key, annotation_key_problems(key))
    if sum(len(key.encode()) + len(value.encode()) for key, value in (found or {}).items()) > ANNOTATIONS_LIMIT:
        problems.too_long(path, ANNOTATIONS_LIMIT)


def label_selector(selector: Wire | None, path: str, problems: Problems) -> None:
    """Check a label selector in a spec."""
    if selector is None:
        return
    labels(selector.get("matchLabels"), f"{path}.matchLabels", problems)
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        _requirement(expression, f"{path}.matchExpressions[{index}]", problems)


def qualified_name(name: str, path: str, problems: Problems) -> None:
    """Check a name such as `example.com/gpu`, which looks like the key of a label."""
    problems.all_invalid(path, name, label_key_problems(name))


def _requirement(expression: Wire, path: str, problems: Problems) -> None:
    operator, values = expression.get("operator", ""), expression.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            problems.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            problems.forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    problems.all_invalid(f"{path}.key", expression.get("key", ""), label_key_problems(expression.get("key", "")))
    for index, value in enumerate(values):
        problems.all_invalid(f"{path}.values[{index}]", value, label_value_problems(value))


def metadata_by_itself(obj: Wire, problems: Problems) -> None:
    """Check the metadata of a changed object, whatever it was before."""
    _need_name(obj.get("metadata", {}), problems)
    metadata_of_any(obj, problems)


def _need_name(metadata: Wire, problems: Problems) -> None:
    if not metadata.get("name"):
        problems.required("metadata.name", "name or generateName is required")


def metadata_of_any(obj: Wire, problems: Problems) -> None:
    """Check what is the same for all kinds."""
    metadata = obj.get("metadata", {})
    _labels_and_owners(metadata, problems)
    finalizers: list[str] = metadata.get("finalizers") or []
    for finalizer in finalizers:
        qualified_name(finalizer, "metadata.finalizers", problems)
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        rule = "finalizer orphan and foregroundDeletion cannot be both set"
        problems.invalid("metadata.finalizers", finalizers, rule)


def known_finalizers(obj: Wire, problems: Problems) -> None:
    """Check that finalizers without a domain are Kubernetes' own."""
    for index, finalizer in enumerate(obj.get("metadata", {}).get("finalizers") or ()):
        finalizer_name(finalizer, f"metadata.finalizers[{index}]", problems)


def _labels_and_owners(metadata: Wire, problems: Problems) -> None:
    labels(metadata.get("labels"), "metadata.labels", problems)
    annotations(metadata.get("annotations"), "metadata.annotations", problems)
    _owners(metadata.get("ownerReferences") or [], "metadata.ownerReferences", problems)


def _owners(owners: list[Wire], path: str, problems: Problems) -> None:
    controller = ""
    for owner in owners:
        group_version = owner.get("apiVersion", "")
        if not group_version or group_version.endswith("/") or group_version.count("/") > 1:
            problems.invalid(f"{path}.apiVersion", group_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                problems.invalid(f"{path}.{field}", owner.get(field, ""), "must not be empty")
        if (group_version, owner.get("kind")) == ("v1", "Event"):
            shown = {field: owner.get(field, "") for field in ("apiVersion", "kind", "name", "uid")}
            problems.invalid(path, shown, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            name = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                found = f'Found "true" in references for {controller} and {name}'
                problems.invalid(path, owners, f"Only one reference can have Controller set to true. {found}")
            else:
                controller = name


def finalizer_name(finalizer: str, path: str, problems: Problems) -> None:
    """Check a finalizer's name: those without a domain are Kubernetes' own, and known."""
    if "/" not in finalizer and finalizer not in KNOWN_FINALIZERS:
        problems.invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def finalizer_warnings(finalizers: Iterable[str]) -> list[str]:
    """What custom objects are only warned of, if their finalizers are not named as others' must be."""
    found = []
    for finalizer in sorted(finalizers):
        messages = [*label_key_problems(finalizer)]
        if "/" not in finalizer and finalizer not in KNOWN_FINALIZERS:
            including = " including a path (/)" if "." in finalizer else ""
            others = "to avoid accidental conflicts with other finalizer writers"
            messages.append(f"prefer a domain-qualified finalizer name{including} {others}")
        found += [f'metadata.finalizers: "{finalizer}": {each}' for each in messages]
    return found
