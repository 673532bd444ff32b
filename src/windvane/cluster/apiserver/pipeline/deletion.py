"""The steps of a deletion: an object is removed at once, or marked with a `deletionTimestamp` until nothing holds it.

Three things can hold an object: finalizers, a grace period (pods only) and, for a namespace or a CRD, its contents.
After `MARK_THEN_GO`, `next_step` is called again: watches of a pod see that it is marked, and then that it is gone.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from windvane import ambient
from windvane.api.json_value import Wire, json_copy
from windvane.api.time import format_time, parse_time
from windvane.cluster.apiserver.failure import conflict, forbidden
from windvane.cluster.apiserver.registry.resource_type import ResourceType

FOR_DEPENDENTS = {"Orphan": "orphan", "Foreground": "foregroundDeletion"}


@dataclass(frozen=True, slots=True)
class Deletion:
    """How an object is to be deleted."""

    uid: str = ""
    resource_version: str = ""
    propagation: str = ""
    grace: int | None = None
    dry_run: bool = False


class Next(Enum):
    """The next thing to do with the object."""

    WAIT = auto()
    MARK = auto()
    MARK_THEN_GO = auto()
    GO = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a deletion."""

    next: Next
    wire: Wire
    """The object as it is to be stored, or as it was when it went."""
    granted: int | None = None
    """The grace period in seconds; None if it was set before, or does not matter."""


def options_of(how: Deletion) -> Wire:
    """The same as DeleteOptions."""
    preconditions = {"uid": how.uid, "resourceVersion": how.resource_version}
    stated = {
        "gracePeriodSeconds": how.grace,
        "preconditions": {name: value for name, value in preconditions.items() if value} or None,
        "propagationPolicy": how.propagation or None,
        "dryRun": ["All"] if how.dry_run else None,
    }
    kept = {name: value for name, value in stated.items() if value is not None}
    return {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", **kept}


def next_step(type_: ResourceType, current: Wire, how: Deletion) -> Step:
    """The next step of deleting an object; a `Failure` if it may not be deleted."""
    if type_.strategy.is_container:
        return _step_of_container(type_, current, how)
    return _step(type_, current, how)


def _step(type_: ResourceType, current: Wire, how: Deletion) -> Step:
    _check_preconditions(type_, how, current)
    wire = json_copy(current)
    metadata = wire["metadata"]
    graceful, granted = False, None
    requested = None if how.grace is None else 1 if how.grace < 0 else how.grace
    if (period := type_.strategy.grace_period(current, requested)) is not None:
        left = metadata.get("deletionGracePeriodSeconds") or 0
        if "deletionTimestamp" not in metadata:
            granted = period
            _begin_grace(metadata, granted)
            graceful = True
        elif left and (requested is None or requested >= left):
            return Step(Next.WAIT, current)  # a grace period can only become shorter
        elif left and requested is not None:
            _shorten_grace(metadata, left, requested)
            graceful = True
    _set_finalizers(type_, metadata, how.propagation)
    if not graceful and not metadata.get("finalizers"):
        return Step(Next.GO, current)
    if not graceful:
        _mark(metadata)
    held = metadata.get("finalizers") or metadata["deletionGracePeriodSeconds"]
    return Step(Next.MARK if held else Next.MARK_THEN_GO, wire, granted)


def _step_of_container(type_: ResourceType, current: Wire, how: Deletion) -> Step:
    """A namespace or a CRD is always marked first: the controller that empties it must see that it is being deleted."""
    name = current["metadata"]["name"]
    for word, stated, found in (
        ("UID", how.uid, current["metadata"]["uid"]),
        ("ResourceVersion", how.resource_version, current["metadata"]["resourceVersion"]),
    ):
        if stated and stated != found:
            why = f"Precondition failed: {word} in precondition: {stated}, {word} in object meta: {found}"
            raise conflict(type_.kind, name, why)
    if "deletionTimestamp" in current["metadata"]:
        if type_.strategy.spec_finalizers and current.get("spec", {}).get("finalizers"):
            return Step(Next.WAIT, current)
        return _step(type_, current, how)
    if why := type_.strategy.refuses_deletion(name):
        raise forbidden(type_.kind, name, why)
    wire = json_copy(current)
    wire["metadata"]["deletionTimestamp"] = format_time(ambient.now())
    if type_.strategy.spec_finalizers:
        _set_finalizers(type_, wire["metadata"], how.propagation)
    type_.strategy.begin_termination(wire)
    return Step(Next.MARK, wire)


def _check_preconditions(type_: ResourceType, how: Deletion, current: Wire) -> None:
    there = current["metadata"]
    for word, stated, found, explanation in (
        ("UID", how.uid, there["uid"], "deleted and then recreated"),
        ("ResourceVersion", how.resource_version, there["resourceVersion"], "modified"),
    ):
        if stated and stated != found:
            why = (
                f"the {word} in the precondition ({stated}) does not match the {word} in record ({found}). "
                f"The object might have been {explanation}"
            )
            refusal = conflict(type_.kind, there["name"], why)
            # Only here does the real server name the kind and not the resource.
            resource = ".".join(part for part in (type_.kind.name, type_.kind.group) if part)
            refusal.status.message = f'Operation cannot be fulfilled on {resource} "{there["name"]}": {why}'
            if refusal.status.details is not None:
                refusal.status.details.kind = type_.kind.name
            raise refusal


def _begin_grace(metadata: Wire, period: int) -> None:
    metadata["deletionTimestamp"] = format_time(ambient.now() + timedelta(seconds=period))
    metadata["deletionGracePeriodSeconds"] = period
    if metadata.get("generation"):
        metadata["generation"] += 1


def _shorten_grace(metadata: Wire, left: int, period: int) -> None:
    """The pod ends as if it had been given this grace period at first, but not in the past."""
    ends = parse_time(metadata["deletionTimestamp"]) + timedelta(seconds=period - left)
    if ends < (now := ambient.now()):
        ends, period = now, min(period, 1)
    metadata["deletionTimestamp"] = format_time(ends)
    metadata["deletionGracePeriodSeconds"] = period


def _mark(metadata: Wire) -> None:
    """Mark an object as being deleted, without a grace period."""
    now = ambient.now()
    if "deletionTimestamp" not in metadata and metadata.get("generation"):
        metadata["generation"] += 1
    if "deletionTimestamp" not in metadata or parse_time(metadata["deletionTimestamp"]) > now:
        metadata["deletionTimestamp"] = format_time(now)
    metadata["deletionGracePeriodSeconds"] = 0


def _set_finalizers(type_: ResourceType, metadata: Wire, propagation: str) -> None:
    """Orphaning and foreground deletion are finalizers, which the garbage collector removes when it is done.

    If the client states no propagation policy, an object that has one of them keeps it.
    """
    before = metadata.get("finalizers") or []
    wanted = FOR_DEPENDENTS.get(propagation, "")
    if not propagation:
        there = [each for each in before if each in FOR_DEPENDENTS.values()]
        wanted = there[0] if there else FOR_DEPENDENTS.get(type_.strategy.default_propagation, "")
    if not type_.strategy.can_have_dependents:
        wanted = ""
    after = [each for each in before if each not in FOR_DEPENDENTS.values()] + ([wanted] if wanted else [])
    if set(after) == set(before):
        return
    metadata.pop("finalizers", None)
    if after:
        metadata["finalizers"] = after
