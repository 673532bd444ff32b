"""Writes metadata alone as protobuf: what Go's metadata client, and with it every Go controller of any kind, asks for.

That client compares and caches what it gets as it is, and JSON has a kind in each item where protobuf has none. All
else that is asked for in protobuf is answered in JSON, which those clients ask for too.

As Go does, what is no pointer there is written even if it is zero.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from windvane.cluster.apiserver.wire.protobuf import MAGIC

Wire = dict[str, Any]


def write_metadata(document: Wire) -> bytes:
    """A PartialObjectMetadata, a PartialObjectMetadataList or a Status, in the envelope that says which."""
    kind = document["kind"]
    type_meta = _text(1, document["apiVersion"]) + _text(2, kind)
    return MAGIC + _part(1, type_meta) + _part(2, _MESSAGES[kind](document)) + _text(3, "") + _text(4, "")


def write_event(type_: str, document: Wire) -> bytes:
    """One event of a watch, after its length."""
    event = _text(1, type_) + _part(2, _part(1, write_metadata(document)))
    return struct.pack(">I", len(event)) + event


def _partial(document: Wire) -> bytes:
    return _part(1, _object_meta(document["metadata"]))


def _partial_list(document: Wire) -> bytes:
    return _part(1, _list_meta(document["metadata"])) + _each(2, document["items"] or (), _partial)


def _status(document: Wire) -> bytes:
    said = _text(2, document.get("status")) + _text(3, document.get("message")) + _text(4, document.get("reason"))
    return _part(1, _list_meta(document.get("metadata") or {})) + said + _number(6, document.get("code", 0))


def _list_meta(meta: Wire) -> bytes:
    said = _text(1, meta.get("selfLink")) + _text(2, meta.get("resourceVersion")) + _text(3, meta.get("continue"))
    return said + _number(4, meta.get("remainingItemCount"))


def _object_meta(meta: Wire) -> bytes:
    return b"".join(
        (
            _text(1, meta.get("name")),
            _text(2, meta.get("generateName")),
            _text(3, meta.get("namespace")),
            _text(4, meta.get("selfLink")),
            _text(5, meta.get("uid")),
            _text(6, meta.get("resourceVersion")),
            _number(7, meta.get("generation", 0)),
            _part(8, _time(meta.get("creationTimestamp"))),
            _part(9, _time(meta["deletionTimestamp"])) if meta.get("deletionTimestamp") else b"",
            _number(10, meta.get("deletionGracePeriodSeconds")),
            _map(11, meta.get("labels") or {}),
            _map(12, meta.get("annotations") or {}),
            _each(13, meta.get("ownerReferences") or (), _owner),
            *(_text(14, finalizer) for finalizer in meta.get("finalizers") or ()),
            _each(17, meta.get("managedFields") or (), _manager),
        )
    )


def _owner(owner: Wire) -> bytes:
    said = _text(1, owner.get("kind")) + _text(3, owner.get("name")) + _text(4, owner.get("uid"))
    flags = _number(6, owner.get("controller")) + _number(7, owner.get("blockOwnerDeletion"))
    return said + _text(5, owner.get("apiVersion")) + flags


def _manager(entry: Wire) -> bytes:
    said = _text(1, entry.get("manager")) + _text(2, entry.get("operation")) + _text(3, entry.get("apiVersion"))
    when = _part(4, _time(entry["time"])) if entry.get("time") else b""
    fields = _part(7, _part(1, msgspec.json.encode(entry["fieldsV1"]))) if "fieldsV1" in entry else b""
    return said + when + _text(6, entry.get("fieldsType")) + fields + _text(8, entry.get("subresource"))


def _time(text: str | None) -> bytes:
    return _number(1, int(datetime.fromisoformat(text).timestamp())) + _number(2, 0) if text else b""


def _map(number: int, items: Mapping[str, str]) -> bytes:
    return b"".join(_part(number, _text(1, key) + _text(2, items[key])) for key in sorted(items))


def _each(number: int, items: Any, write: Callable[[Wire], bytes]) -> bytes:
    return b"".join(_part(number, write(item)) for item in items)


def _text(number: int, text: str | None) -> bytes:
    return _part(number, (text or "").encode())


def _part(number: int, content: bytes) -> bytes:
    return bytes(_varint(number << 3 | 2)) + bytes(_varint(len(content))) + content


def _number(number: int, value: int | None) -> bytes:
    return b"" if value is None else bytes(_varint(number << 3)) + bytes(_varint(int(value)))


def _varint(value: int) -> Iterator[int]:
    value &= 2**64 - 1
    while value >= 128:
        yield value & 127 | 128
        value >>= 7
    yield value


_MESSAGES: Mapping[str, Callable[[Wire], bytes]] = {
    "PartialObjectMetadata": _partial,
    "PartialObjectMetadataList": _partial_list,
    "Status": _status,
}
