"""Objects as the store keeps them: JSON without apiVersion and kind, which depend on the version they are asked in."""

from typing import Any

import msgspec

from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.store.record import Key

Wire = dict[str, Any]


def key_of(type_: ResourceType, namespace: str, name: str) -> Key:
    """Where an object is kept."""
    return Key(type_.collection, namespace, name)


def pack(type_: ResourceType, wire: Wire, revision: int) -> bytes:
    """The bytes to store; the record's number becomes the object's resourceVersion."""
    rest = {key: value for key, value in wire.items() if key not in ("apiVersion", "kind", "metadata")}
    metadata = {**wire["metadata"], "resourceVersion": str(revision)}
    return msgspec.json.encode(type_.to_storage({"metadata": metadata, **rest}))


def unpack(type_: ResourceType, value: bytes) -> Wire:
    """The object as its users see it, as plain JSON values."""
    wire: Wire = type_.from_storage(msgspec.json.decode(value))
    return {"apiVersion": type_.kind.api_version, "kind": type_.kind.name, **wire}


def show(type_: ResourceType, value: bytes) -> bytes:
    """The same as bytes, without reading them if they are stored as they are shown."""
    head = msgspec.json.encode({"kind": type_.kind.name, "apiVersion": type_.kind.api_version})
    return head[:-1] + b"," + show_item(type_, value)[1:]


def show_item(type_: ResourceType, value: bytes) -> bytes:
    """The same without apiVersion and kind, as the items of lists of built-in kinds are."""
    if type_.stored_kind == type_.kind:
        return value
    return msgspec.json.encode(type_.from_storage(msgspec.json.decode(value)))


class _Labels(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct):
    metadata: _Labels = _Labels()


_head_decoder = msgspec.json.Decoder(_Head)


def labels_of(value: bytes) -> dict[str, str]:
    """An object's labels, without reading the rest of it."""
    return _head_decoder.decode(value).metadata.labels or {}
