"""What is known about objects in other versions, for code that can't wait for a webhook.

Who owns which field is found out by pure functions, and they may need an object as another version has it. If nobody
has asked the webhook for that yet, `NotConvertedYet` says what is missing; whoever called them asks, and calls again.
"""

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.conversion.review import without_resource_version
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.resource_type import ResourceType, Versions


class NotConvertedYet(Exception):
    """A merge needs an object in another version, which nobody has asked the webhook for yet."""

    def __init__(self, versions: Versions, wire: Wire, version: str) -> None:
        super().__init__(f"an object is needed in version {version}")
        self.versions = versions
        self.wire = wire
        self.version = version


def from_cache(type_: ResourceType, wire: Wire, api_version: str) -> Wire:
    """An object of that type in another version of it; `NotConvertedYet` if the webhook must be asked first."""
    versions, version = type_.versions, api_version.rpartition("/")[2]
    if versions is None or versions.webhook is None or version == type_.kind.version:
        return wire
    if not any(value for key, value in wire.items() if key not in ("apiVersion", "kind")):
        return {**wire, "apiVersion": api_version}  # there is nothing yet that could be converted
    stated = {**wire, "apiVersion": type_.kind.api_version, "kind": type_.kind.name}
    key = (key_of(stated), version)
    found = versions.converted.get(key)
    if found is None:
        raise NotConvertedYet(versions, stated, version)
    if isinstance(found, Failure):
        del versions.converted[key]  # the next one to ask may have more luck
        raise found
    converted: Wire = msgspec.json.decode(found)
    return converted


def key_of(wire: Wire) -> bytes:
    """What a converted object is remembered under."""
    return msgspec.json.encode(without_resource_version(wire))
