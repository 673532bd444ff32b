"""What the server itself says about a CRD: which of its names it may use, in which versions objects are stored, where
it stands between Established and Terminating."""

from collections.abc import Iterable

from windvane import ambient
from windvane.api.json_value import Wire, json_copy
from windvane.api.time import format_time
from windvane.cluster.apiserver.registry.apiextensions.definition.conversion import has_bad_bundle

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def first_status(wire: Wire) -> None:
    """Set the initial status of a new CRD."""
    wire["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    note_stored_version(wire)


def note_stored_version(wire: Wire) -> None:
    """Remember that there may be objects in the version that they are now stored in."""
    stored = next((each.get("name") for each in wire["spec"].get("versions") or () if each.get("storage")), None)
    known = wire["status"].get("storedVersions") or []
    if stored and stored not in known:
        wire["status"]["storedVersions"] = [*known, stored]


def accept_names(wire: Wire, others: Iterable[Wire]) -> Wire:
    """The CRD with those of its names that no other one of its group has; with all of them, it is established."""
    wire = json_copy(wire)
    resources, kinds = _taken(wire, others)
    wanted, status = wire["spec"]["names"], wire["status"]
    accepted = dict(status.get("acceptedNames") or {})
    accepted.pop("categories", None)
    conflicts: dict[str, str] = {}
    for field, taken in (
        ("plural", resources), ("singular", resources), ("shortNames", resources), ("kind", kinds), ("listKind", kinds),
    ):  # fmt: skip
        asked, before = ([] if each is None else each for each in (wanted.get(field), accepted.get(field)))
        words = asked if isinstance(asked, list) else [asked]
        mine = before if isinstance(before, list) else [before]
        used = [f'"{word}" is already in use' for word in words if word in taken and word not in mine]
        if used:
            told = used[0] if len(used) == 1 else f"[{', '.join(used)}]"
            conflicts[f"{field[0].upper()}{field[1:]}Conflict"] = told
        elif asked:
            accepted[field] = asked
        else:
            accepted.pop(field, None)
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    status["acceptedNames"] = accepted
    if conflicts:
        reason, message = list(conflicts.items())[-1]
        set_condition(wire, "NamesAccepted", "False", reason, message)
        if not is_true(wire, "Established"):
            set_condition(wire, "Established", "False", "NotAccepted", "not all names are accepted")
    else:
        set_condition(wire, "NamesAccepted", "True", "NoConflicts", "no conflicts found")
        if not is_true(wire, "Established") and has_bad_bundle(wire):
            message = "The conversion webhook CABundle is invalid"
            set_condition(wire, "Established", "False", "InvalidCABundle", message)
        elif not is_true(wire, "Established"):
            message = "the initial names have been accepted"
            set_condition(wire, "Established", "True", "InitialNamesAccepted", message)
    return wire


def begin_termination(wire: Wire) -> None:
    """Mark a CRD as terminating: it must stay until its objects are deleted."""
    finalizers = wire["metadata"].setdefault("finalizers", [])
    if CLEANUP not in finalizers:
        finalizers.append(CLEANUP)
    message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    set_condition(wire, "Terminating", "True", "InstanceDeletionPending", message)


def stop_termination(wire: Wire, why: str) -> Wire:
    """Say that the objects of a CRD can't be deleted for now."""
    wire = json_copy(wire)
    set_condition(wire, "Terminating", "True", "InstanceDeletionFailed", why)
    return wire


def end_termination(wire: Wire) -> Wire:
    """Let a CRD go whose objects are gone."""
    wire = json_copy(wire)
    wire["metadata"]["finalizers"] = [each for each in wire["metadata"].get("finalizers") or () if each != CLEANUP]
    if is_true(wire, "Established"):
        set_condition(wire, "Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
    else:
        set_condition(wire, "Terminating", "False", "NeverEstablished", "resource was never established")
    return wire


def is_true(wire: Wire, type_: str) -> bool:
    """Whether a CRD has a condition, and it is true."""
    conditions = (wire.get("status") or {}).get("conditions") or ()
    # Others may write conditions too, and nothing asks them for a type.
    return any(each.get("type") == type_ and each.get("status") == "True" for each in conditions)


def set_condition(wire: Wire, type_: str, value: str, reason: str, message: str) -> None:
    """Set a condition, which keeps the time of its last transition."""
    conditions = wire["status"].get("conditions") or []
    now = format_time(ambient.now())
    condition = {"type": type_, "status": value, "lastTransitionTime": now, "reason": reason, "message": message}
    for index, each in enumerate(conditions):
        if each.get("type") == type_:
            if each.get("status") == value:
                condition["lastTransitionTime"] = each.get("lastTransitionTime") or now
            conditions[index] = condition
            break
    else:
        conditions.append(condition)
    wire["status"]["conditions"] = conditions


def _taken(wire: Wire, others: Iterable[Wire]) -> tuple[set[str], set[str]]:
    """The words that other definitions of the same group use, for resources and for kinds."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        same = other["metadata"]["name"] == wire["metadata"]["name"]
        if same or other["spec"]["group"] != wire["spec"]["group"]:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", ""), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}
