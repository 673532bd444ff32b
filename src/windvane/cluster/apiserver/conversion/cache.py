"""Objects that a webhook has converted, for code that can't wait for one.

Field ownership is computed by pure functions, which may need an object in another version. If that is not in the cache,
`NotConvertedYet` says what is missing; the caller has it converted, and calls again.
"""

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.conversion.review import without_resource_version
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.resource_type import ResourceType, Versions


class NotConvertedYet(Exception):
    """An object is needed in a version that is not in the cache."""

    def __init__(self, versions: Versions, wire: Wire, version: str) -> None:
        super().__init__(f"an object is needed in version {version}")
        self.versions = versions
        self.wire = wire
        self.version = version


def from_cache(type_: ResourceType, wire: Wire, api_version: str) -> Wire:
    """An object in another version of its type; `NotConvertedYet` if the webhook must be called first."""
    versions, version = type_.versions, api_version.rpartition("/")[2]
    if versions is None or versions.webhook is None or version == type_.kind.version:
        return wire
    if not any(value for key, value in wire.items() if key not in ("apiVersion", "kind")):
        return {**wire, "apiVersion": api_version}  # an empty object needs no conversion
    stated = {**wire, "apiVersion": type_.kind.api_version, "kind": type_.kind.name}
    key = (key_of(stated), version)
    found = versions.converted.get(key)
    if found is None:
        raise NotConvertedYet(versions, stated, version)
    if isinstance(found, Failure):
        del versions.converted[key]  # the next call may succeed
        raise found
    converted: Wire = msgspec.json.decode(found)
    return converted


def key_of(wire: Wire) -> bytes:
    """The key of a converted object."""
    return msgspec.json.encode(without_resource_version(wire))
