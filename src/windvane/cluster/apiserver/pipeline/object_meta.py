"""The metadata that the server itself sets: identity, versions, generations, deletion."""

from typing import Any

from windvane import ambient
from windvane.api.json_value import Wire, same_json
from windvane.api.names import generate_name
from windvane.api.time import format_time
from windvane.cluster.apiserver.failure import bad_request
from windvane.cluster.apiserver.registry.resource_type import ResourceType

REPEATED_OWNERS = (
    "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "
    "please fix your requests"
)


def check_placement(type_: ResourceType, wire: Wire, namespace: str) -> Wire:
    """Check the namespace of an object against the path; returns its metadata."""
    if wire.get("metadata") is None:
        wire["metadata"] = {}
    metadata: Wire = wire["metadata"]
    stated = metadata.get("namespace") or ""
    if not type_.kind.namespaced:
        metadata.pop("namespace", None)
        return metadata
    if stated and stated != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    metadata["namespace"] = namespace
    return metadata


def clear_system_fields(wire: Wire) -> None:
    """Remove from a new object what only the server may set."""
    for mine in ("selfLink", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        wire["metadata"].pop(mine, None)


def drop_status(type_: ResourceType, wire: Wire) -> None:
    """Remove the status of a new object."""
    if type_.strategy.has_status and not type_.strategy.keeps_status_of_new:
        wire.pop("status", None)


def keep_status(type_: ResourceType, wire: Wire, status: Any) -> None:
    """Restore the status from before admission, which may not set one."""
    drop_status(type_, wire)
    if type_.strategy.has_status and status is not None:
        wire["status"] = status


def is_terminating(wire: Wire) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in wire["metadata"]


def fill_system_fields(type_: ResourceType, wire: Wire) -> None:
    """Set the uid, creationTimestamp and generation of a new object."""
    clear_system_fields(wire)
    metadata = wire["metadata"]
    metadata["uid"] = ambient.uid()
    metadata["creationTimestamp"] = format_time(ambient.now())
    if type_.strategy.has_generation:
        metadata["generation"] = 1


def set_generated_name(wire: Wire) -> None:
    """Generate the name of an object with `generateName`."""
    metadata = wire["metadata"]
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generate_name(metadata["generateName"])


def drop_repeated_owners(wire: Wire, when: str = "") -> list[str]:
    """Remove duplicate owner references, with a warning."""
    owners = wire["metadata"].get("ownerReferences")
    if not isinstance(owners, list):
        return []
    unique: list[Any] = []
    repeated = []
    for owner in owners:
        if owner in unique:
            repeated.append(str(owner.get("uid", "")))
        else:
            unique.append(owner)
    if not repeated:
        return []
    wire["metadata"]["ownerReferences"] = unique
    there = f".metadata.ownerReferences contains duplicate entries{when}"
    return [f"{there}; {REPEATED_OWNERS}; duplicate UID(s) observed: {', '.join(repeated)}"]


def keep_identity(wire: Wire, current: Wire) -> None:
    """Fill in the identity that an update leaves out; validation refuses what it changes."""
    metadata, existing = wire["metadata"], current["metadata"]
    for name in ("uid", "deletionGracePeriodSeconds", "resourceVersion"):
        if metadata.get(name) in (None, "") and name in existing:
            metadata[name] = existing[name]
    for name in ("generation", "creationTimestamp", "selfLink"):
        metadata.pop(name, None)
        if name in existing:
            metadata[name] = existing[name]
    if "deletionTimestamp" in existing:
        metadata["deletionTimestamp"] = existing["deletionTimestamp"]


def count_generation(type_: ResourceType, wire: Wire, current: Wire, subresource: str) -> None:
    """Increment the generation if something changed that is neither metadata nor status."""
    strategy = type_.strategy
    if not strategy.has_generation or subresource == "status" or strategy.generation_is_constant:
        return
    ignored = {"metadata", "apiVersion", "kind"} | ({"status"} if strategy.has_status else set())
    before = {key: value for key, value in current.items() if key not in ignored}
    after = {key: value for key, value in wire.items() if key not in ignored}
    counted = strategy.generation_metadata
    noted = (wire["metadata"].get(counted) or {}) != (current["metadata"].get(counted) or {})
    if noted or not same_json(before, after):
        wire["metadata"]["generation"] = current["metadata"].get("generation", 0) + 1


def same(wire: Wire, current: Wire) -> bool:
    """Whether an update changes nothing but times in managedFields: it then makes no new version."""
    return same_json(_comparable(wire), _comparable(current))


def _comparable(wire: Wire) -> Wire:
    metadata = {**wire["metadata"]}
    metadata.pop("resourceVersion", None)
    if entries := metadata.get("managedFields"):
        metadata["managedFields"] = [{**entry, "time": None} for entry in entries]
    return {**wire, "metadata": metadata}
