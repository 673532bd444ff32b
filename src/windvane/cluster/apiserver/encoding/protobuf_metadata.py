"""Writes metadata alone as protobuf: what Go's metadata client, and with it every Go controller of any kind, asks for.

That client compares and caches what it gets unchanged, and JSON has a kind in each item where protobuf has none. All
other requests for protobuf are answered in JSON, which those clients accept, too.

As Go does, what is no pointer there is written even if it is zero.
"""

import struct
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.encoding.protobuf import MAGIC
from windvane.cluster.apiserver.encoding.protobuf_parts import number, part, text


def write_metadata(document: Wire) -> bytes:
    """A PartialObjectMetadata, a PartialObjectMetadataList or a Status, in the envelope that says which."""
    kind = document["kind"]
    type_meta = text(1, document["apiVersion"]) + text(2, kind)
    return MAGIC + part(1, type_meta) + part(2, _MESSAGES[kind](document)) + text(3, "") + text(4, "")


def write_event(type_: str, document: Wire) -> bytes:
    """One event of a watch, after its length."""
    event = text(1, type_) + part(2, part(1, write_metadata(document)))
    return struct.pack(">I", len(event)) + event


def _partial(document: Wire) -> bytes:
    return part(1, _object_meta(document["metadata"]))


def _partial_list(document: Wire) -> bytes:
    return part(1, _list_meta(document["metadata"])) + _each(2, document["items"] or (), _partial)


def _status(document: Wire) -> bytes:
    said = text(2, document.get("status")) + text(3, document.get("message")) + text(4, document.get("reason"))
    return part(1, _list_meta(document.get("metadata") or {})) + said + number(6, document.get("code", 0))


def _list_meta(meta: Wire) -> bytes:
    said = text(1, meta.get("selfLink")) + text(2, meta.get("resourceVersion")) + text(3, meta.get("continue"))
    return said + number(4, meta.get("remainingItemCount"))


def _object_meta(meta: Wire) -> bytes:
    return b"".join(
        (
            text(1, meta.get("name")),
            text(2, meta.get("generateName")),
            text(3, meta.get("namespace")),
            text(4, meta.get("selfLink")),
            text(5, meta.get("uid")),
            text(6, meta.get("resourceVersion")),
            number(7, meta.get("generation", 0)),
            part(8, _time(meta.get("creationTimestamp"))),
            part(9, _time(meta["deletionTimestamp"])) if meta.get("deletionTimestamp") else b"",
            number(10, meta.get("deletionGracePeriodSeconds")),
            _map(11, meta.get("labels") or {}),
            _map(12, meta.get("annotations") or {}),
            _each(13, meta.get("ownerReferences") or (), _owner),
            *(text(14, finalizer) for finalizer in meta.get("finalizers") or ()),
            _each(17, meta.get("managedFields") or (), _manager),
        )
    )


def _owner(owner: Wire) -> bytes:
    said = text(1, owner.get("kind")) + text(3, owner.get("name")) + text(4, owner.get("uid"))
    flags = number(6, owner.get("controller")) + number(7, owner.get("blockOwnerDeletion"))
    return said + text(5, owner.get("apiVersion")) + flags


def _manager(entry: Wire) -> bytes:
    said = text(1, entry.get("manager")) + text(2, entry.get("operation")) + text(3, entry.get("apiVersion"))
    when = part(4, _time(entry["time"])) if entry.get("time") else b""
    fields = part(7, part(1, msgspec.json.encode(entry["fieldsV1"]))) if "fieldsV1" in entry else b""
    return said + when + text(6, entry.get("fieldsType")) + fields + text(8, entry.get("subresource"))


def _time(moment: str | None) -> bytes:
    return number(1, int(datetime.fromisoformat(moment).timestamp())) + number(2, 0) if moment else b""


def _map(place: int, items: Mapping[str, str]) -> bytes:
    return b"".join(part(place, text(1, key) + text(2, items[key])) for key in sorted(items))


def _each(place: int, items: Any, write: Callable[[Wire], bytes]) -> bytes:
    return b"".join(part(place, write(item)) for item in items)


_MESSAGES: Mapping[str, Callable[[Wire], bytes]] = {
    "PartialObjectMetadata": _partial,
    "PartialObjectMetadataList": _partial_list,
    "Status": _status,
}
