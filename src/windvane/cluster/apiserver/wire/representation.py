"""How objects are shown: whole, as a table for people, or as metadata alone; one, a list, or a stream of changes."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from windvane.api import codec
from windvane.api.status import APIStatus
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.columns.tables import IncludeObject, table
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.reading import Change, Listed
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.wire.negotiate import Wanted, write
from windvane.cluster.apiserver.wire.stored import show, unpack

Wire = dict[str, Any]
META = "meta.k8s.io/v1"


class View:
    """Shows objects of one type in one representation."""

    def __init__(
        self, type_: ResourceType, wanted: Wanted, rules: Rules, include_object: IncludeObject = "Metadata"
    ) -> None:
        self._type = type_
        self._rules = rules
        self._wanted = wanted
        self._include_object = include_object

    def one(self, value: bytes) -> bytes:
        """One object."""
        value = self._rules.filled(self._type, value)
        if self._wanted == Wanted():
            return show(self._type, value)
        return write(self._shaped(unpack(self._type, value)), self._wanted.media_type)

    def many(self, listed: Listed) -> bytes:
        """A page of a list."""
        meta: Wire = {"resourceVersion": str(listed.revision)}
        if listed.continue_:
            meta["continue"] = listed.continue_
        if listed.remaining is not None:
            meta["remainingItemCount"] = listed.remaining
        kind = self._type.kind
        if self._wanted == Wanted():
            head = msgspec.json.encode({"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": meta})
            # The real server leaves the kind out of the items of built-in lists, and so do we.
            values = [self._rules.filled(self._type, entry.value) for entry in listed.entries]
            items = [show(self._type, value) for value in values] if self._type.custom else values
            return b"".join((head[:-1], b',"items":[', b",".join(items), b"]}"))
        wires = [unpack(self._type, self._rules.filled(self._type, entry.value)) for entry in listed.entries]
        return write(self._shaped_list(wires, meta), self._wanted.media_type)

    async def stream(self, changes: AsyncGenerator[Change]) -> AsyncGenerator[bytes]:
        """Watch events, one a line. A failure on the way is the last of them."""
        first = True
        try:
            async for change in changes:
                yield self._event(change, headers=first)
                first = first and change.type == "BOOKMARK"
        except Failure as failure:
            yield msgspec.json.encode({"type": "ERROR", "object": codec.to_wire(failure.status)}) + b"\n"
        finally:
            await changes.aclose()

    def _event(self, change: Change, *, headers: bool) -> bytes:
        if change.type == "BOOKMARK":
            shown = msgspec.json.encode(self._bookmark(change))
        elif self._wanted.shape == "Table":
            wire = unpack(self._type, change.value)
            shown = msgspec.json.encode(
                table(self._type, [wire], list_meta={}, include_object=self._include_object, no_headers=not headers)
            )
        else:
            shown = View(self._type, Wanted("application/json", self._wanted.shape), self._rules).one(change.value)
        return b'{"type":"' + change.type.encode() + b'","object":' + shown + b"}\n"

    def _bookmark(self, change: Change) -> Wire:
        metadata: Wire = {"resourceVersion": str(change.revision)}
        if change.initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        kind = self._type.kind
        if self._wanted.shape == "PartialObjectMetadata":
            return {"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": metadata}
        return {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata}

    def _shaped(self, wire: Wire) -> Wire:
        match self._wanted.shape:
            case "Table":
                meta = {"resourceVersion": wire["metadata"].get("resourceVersion", "")}
                return table(self._type, [wire], list_meta=meta, include_object=self._include_object)
            case "PartialObjectMetadata" | "PartialObjectMetadataList":
                return {"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": wire["metadata"]}
        return wire

    def _shaped_list(self, wires: Sequence[Wire], meta: Wire) -> Wire:
        match self._wanted.shape:
            case "Table":
                return table(self._type, wires, list_meta=meta, include_object=self._include_object)
            case "PartialObjectMetadata" | "PartialObjectMetadataList":
                items = [self._shaped(wire) for wire in wires]
                return {"kind": "PartialObjectMetadataList", "apiVersion": META, "metadata": meta, "items": items}
        kind = self._type.kind
        return {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": meta, "items": list(wires)}


def status_bytes(status: APIStatus, wanted: Wanted | None = None) -> bytes:
    """An error, or a success without an object, in the form that was asked for."""
    return write(codec.to_wire(status), (wanted or Wanted()).media_type)
