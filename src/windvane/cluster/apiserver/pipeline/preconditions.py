"""Which object a write means, and in which state: what it says about that must be so, or nothing is written."""

from windvane.api.json_value import Wire
from windvane.api.status import StatusDetails
from windvane.api.wording import invalid
from windvane.cluster.apiserver.failure import MODIFIED, Failure, bad_request, conflict, failure
from windvane.cluster.apiserver.pipeline import object_meta as metadata
from windvane.cluster.apiserver.target import Target


def check_address(target: Target, wire: Wire) -> None:
    """What is to replace something must say what, and be sent to its path."""
    metadata.check_placement(target.type, wire, target.namespace)
    check_name(target, wire)


def check_name(target: Target, wire: Wire) -> None:
    """An object can't be renamed by what is written to its path."""
    stated = wire["metadata"].get("name")
    if not stated:
        why = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if stated != target.name:
        raise bad_request(f"the name of the object ({stated}) does not match the name on the URL ({target.name})")


def check_uid(target: Target, wire: Wire, current: Wire) -> None:
    """Who states a uid means that object, and no later one of the same name."""
    stated, found = wire["metadata"].get("uid"), current["metadata"]["uid"]
    if stated and stated != found:
        raise unmet_precondition(target, "UID", stated, found)


def check_preconditions(target: Target, wire: Wire, current: Wire) -> None:
    """The same with a version: what is done depends on the object as it was then."""
    check_uid(target, wire, current)
    stated, found = wire["metadata"].get("resourceVersion"), current["metadata"]["resourceVersion"]
    if stated and stated != found:
        raise unmet_precondition(target, "ResourceVersion", stated, found)


def unmet_precondition(target: Target, word: str, stated: str, found: str) -> Failure:
    """The refusal of a change to an object that is not the one that was meant."""
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
    """What a whole new object says about which old one it replaces."""
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
    """A version that is stated means the object as it was then; it must not have changed since."""
    version = wire["metadata"].get("resourceVersion")
    if version in (None, "", "0", current["metadata"]["resourceVersion"]):
        return
    if not str(version).isdecimal():
        raise failure(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    raise conflict(target.type.kind, target.name, MODIFIED)
