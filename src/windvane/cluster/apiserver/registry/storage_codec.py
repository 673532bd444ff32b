"""Objects as the store keeps them.

Of built-in kinds that is JSON without apiVersion and kind, which depend on the version they are asked in. Custom ones
begin with both, because one version may be quite another than the next, and the one that is stored may change.
"""

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
    """The bytes to store; the record's number becomes the object's resourceVersion.

    A custom object is in the version that it says: see `conversion.conversions`.
    """
    metadata = {**wire["metadata"], "resourceVersion": str(revision)}
    if type_.strategy.is_unstructured:
        return msgspec.json.encode(headed({**wire, "metadata": metadata}))
    rest = {key: value for key, value in wire.items() if key not in ("apiVersion", "kind", "metadata")}
    return msgspec.json.encode(type_.strategy.to_storage({"metadata": metadata, **rest}))


def headed(wire: Wire) -> Wire:
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
    wire: Wire = type_.strategy.from_storage(msgspec.json.decode(value))
    head = {"apiVersion": type_.kind.api_version, "kind": type_.kind.name}
    return {**head, **wire, **head} if type_.strategy.is_unstructured else {**head, **wire}


def show(type_: ResourceType, value: bytes) -> bytes:
    """The same as bytes, without reading them if they are stored as they are shown."""
    if type_.strategy.is_unstructured:
        return value if value.startswith(type_.head) else type_.head + _without_head(value)
    head = msgspec.json.encode({"kind": type_.kind.name, "apiVersion": type_.kind.api_version})
    return head[:-1] + b"," + show_item(type_, value)[1:]


def show_item(type_: ResourceType, value: bytes) -> bytes:
    """The same without apiVersion and kind, as the items of lists of built-in kinds are."""
    if type_.strategy.stored_kind == type_.kind:
        return value
    return msgspec.json.encode(type_.strategy.from_storage(msgspec.json.decode(value)))


def _without_head(value: bytes) -> bytes:
    return value[value.index(_METADATA) + 1 :] if value.startswith(_API_VERSION) else value[1:]


class _Labels(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct):
    metadata: _Labels = _Labels()


_head_decoder = msgspec.json.Decoder(_Head)


def labels_of(value: bytes) -> dict[str, str]:
    """An object's labels, without reading the rest of it."""
    return _head_decoder.decode(value).metadata.labels or {}
