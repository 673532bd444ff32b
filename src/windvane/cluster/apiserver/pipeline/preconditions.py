"""Preconditions: what a write says about the current object must hold, or nothing is written."""

from windvane.api.json_value import Wire
from windvane.api.status import StatusDetails
from windvane.api.wording import invalid
from windvane.cluster.apiserver.failure import MODIFIED, Failure, bad_request, conflict, failure
from windvane.cluster.apiserver.pipeline import object_meta as metadata
from windvane.cluster.apiserver.target import Target


def check_address(target: Target, wire: Wire) -> None:
    """A replacement must have a name, and it must be that of its path."""
    metadata.check_placement(target.type, wire, target.namespace)
    check_name(target, wire)


def check_name(target: Target, wire: Wire) -> None:
    """A write can't rename an object."""
    stated = wire["metadata"].get("name")
    if not stated:
        why = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if stated != target.name:
        raise bad_request(f"the name of the object ({stated}) does not match the name on the URL ({target.name})")


def check_uid(target: Target, wire: Wire, current: Wire) -> None:
    """A uid that is stated must be that of the current object."""
    stated, found = wire["metadata"].get("uid"), current["metadata"]["uid"]
    if stated and stated != found:
        raise unmet_precondition(target, "UID", stated, found)


def check_preconditions(target: Target, wire: Wire, current: Wire) -> None:
    """The same with a resourceVersion that is stated."""
    check_uid(target, wire, current)
    stated, found = wire["metadata"].get("resourceVersion"), current["metadata"]["resourceVersion"]
    if stated and stated != found:
        raise unmet_precondition(target, "ResourceVersion", stated, found)


def unmet_precondition(target: Target, word: str, stated: str, found: str) -> Failure:
    """The 409 for a precondition that does not hold."""
    kind = target.type.kind
    key = "/".join(
        part for part in ("/registry", target.type.strategy.storage_prefix, target.namespace, target.name) if part
    )
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {word} in precondition: {stated}, {word} in object meta: {found}"
    )
    return conflict(kind, target.name, why)


def check_identity(target: Target, wire: Wire, current: Wire) -> None:
    """Check the uid and resourceVersion of a replacement."""
    kind = target.type.kind
    check_uid(target, wire, current)
    if wire["metadata"].get("resourceVersion") not in (None, "", "0"):
        return
    if not target.type.strategy.allow_unconditional_update:
        cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, causes=[cause])
        problem = f"{cause.field}: {cause.message}"
        raise failure(422, "Invalid", f'{kind.resource} "{target.name}" is invalid: {problem}', details)


def check_version(target: Target, wire: Wire, current: Wire) -> None:
    """A resourceVersion that is stated must be the current one."""
    version = wire["metadata"].get("resourceVersion")
    if version in (None, "", "0", current["metadata"]["resourceVersion"]):
        return
    if not str(version).isdecimal():
        raise failure(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    raise conflict(target.type.kind, target.name, MODIFIED)
