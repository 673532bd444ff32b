"""Objects as the store has them: their keys, their bytes, and what can be read from these without decoding them."""

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.storage.record import Key

_API_VERSION = b'{"apiVersion":"'
_METADATA = b',"metadata":'
_REVISION = b'"resourceVersion":"'


def key_of(type_: ResourceType, namespace: str, name: str) -> Key:
    """Where an object is kept."""
    return Key(type_.collection, namespace, name)


def pack(type_: ResourceType, wire: Wire, revision: int) -> bytes:
    """The bytes to store; the record's number becomes the object's resourceVersion."""
    return type_.strategy.encode({**wire, "metadata": {**wire["metadata"], "resourceVersion": str(revision)}})


def with_head_first(wire: Wire) -> Wire:
    """A custom object with its apiVersion, its kind and its metadata first."""
    return {"apiVersion": wire["apiVersion"], "kind": wire["kind"], "metadata": wire["metadata"], **wire}


def revision_of(value: bytes) -> int:
    """The record that wrote a stored object; 0 if that can't be seen at once."""
    start = value.find(_REVISION)
    if start < 0:
        return 0
    start += len(_REVISION)
    stated = value[start : value.index(b'"', start)]
    return int(stated) if stated.isdigit() else 0


def restamped(value: bytes, revision: int) -> bytes:
    """A stored object with the number of another record as its resourceVersion."""
    wire: Wire = msgspec.json.decode(value)
    wire["metadata"]["resourceVersion"] = str(revision)
    return msgspec.json.encode(wire)


def version_of(type_: ResourceType, value: bytes) -> str:
    """The version that a custom object is stored in."""
    if value.startswith(_API_VERSION):
        start = len(_API_VERSION)
        return value[start : value.index(b'"', start)].rpartition(b"/")[2].decode()
    return type_.versions.first if type_.versions is not None else type_.kind.version


def unpack(type_: ResourceType, value: bytes) -> Wire:
    """The object as its users see it, as plain JSON values."""
    return type_.strategy.decode_stored(value)


def without_head(value: bytes) -> bytes:
    """A stored custom object from its metadata on."""
    return value[value.index(_METADATA) + 1 :] if value.startswith(_API_VERSION) else value[1:]


class _Labels(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct):
    metadata: _Labels = _Labels()


_head_decoder = msgspec.json.Decoder(_Head)


def labels_of(value: bytes) -> dict[str, str]:
    """An object's labels, without reading the rest of it."""
    return _head_decoder.decode(value).metadata.labels or {}
