"""How objects are encoded: whole, as a Table or as PartialObjectMetadata; one, a list, or a stream of watch events."""

from collections.abc import AsyncGenerator, Sequence
from typing import cast, get_args

import msgspec

from windvane.api import codec
from windvane.api.json_value import Wire
from windvane.api.status import APIStatus
from windvane.api.wording import quoted
from windvane.cluster.apiserver.encoding.accept import MediaTypeOptions, finished, write
from windvane.cluster.apiserver.encoding.media_types import PROTOBUF
from windvane.cluster.apiserver.encoding.protobuf_metadata import write_event
from windvane.cluster.apiserver.failure import Failure, bad_request, failure
from windvane.cluster.apiserver.pipeline.reader import ListPage, WatchEvent
from windvane.cluster.apiserver.pipeline.table import IncludeObject, table
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import unpack


class View:
    """Encodes objects of one type in one representation."""

    def __init__(self, type_: ResourceType, options: MediaTypeOptions, include_object: str = "") -> None:
        self._type = type_
        self._options = options
        self._include_object = include_object

    def one(self, value: bytes) -> bytes:
        """One object, in the version of the type."""
        if self._is_plain:
            return finished(self._type.strategy.show(value), self._options)
        return self.made(unpack(self._type, value))

    def made(self, wire: Wire) -> bytes:
        """One object that is not stored, such as a Scale."""
        return write(self._shaped(wire), self._options)

    def many(self, listed: ListPage) -> bytes:
        """A page of a list."""
        meta: Wire = {"resourceVersion": str(listed.revision)}
        if listed.continue_:
            meta["continue"] = listed.continue_
        if listed.remaining is not None:
            meta["remainingItemCount"] = listed.remaining
        kind = self._type.kind
        if self._is_plain:
            head = msgspec.json.encode({"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": meta})
            items = [self._type.strategy.show_list_item(entry.value) for entry in listed.entries]
            return finished(b"".join((head[:-1], b',"items":[', b",".join(items), b"]}")), self._options)
        wires = [unpack(self._type, entry.value) for entry in listed.entries]
        return write(self._shaped_list(wires, meta), self._options)

    def stream(self, changes: AsyncGenerator[list[WatchEvent]]) -> AsyncGenerator[bytes]:
        """Watch events, one a line. A failure on the way is the last of them."""
        if self._options.shape == "Table":
            self._included()  # so that an error before the first event is an HTTP error
        return self._stream(changes)

    async def _stream(self, changes: AsyncGenerator[list[WatchEvent]]) -> AsyncGenerator[bytes]:
        first = True
        try:
            async for several in changes:
                if several:
                    yield b"".join(self._event(each, headers=first and each is several[0]) for each in several)
                    first = False
        except Failure as failure:
            yield self._written("ERROR", codec.to_wire(failure.status))
        finally:
            await changes.aclose()

    def _event(self, change: WatchEvent, *, headers: bool) -> bytes:
        if change.type == "BOOKMARK":
            wire = self._bookmark(change)
        elif self._options.shape:
            wire = unpack(self._type, change.value)
        else:
            shown = self._type.strategy.show(change.value)
            return b'{"type":"' + change.type.encode() + b'","object":' + shown + b"}\n"
        if self._options.shape == "Table":
            wire = self._table([wire], {"resourceVersion": wire["metadata"]["resourceVersion"]}, no_headers=not headers)
        else:
            wire = self._shaped(wire)
        return self._written(change.type, wire)

    def _written(self, type_: str, wire: Wire) -> bytes:
        if self._options.media_type == PROTOBUF:
            return write_event(type_, wire)
        return msgspec.json.encode({"type": type_, "object": wire}) + b"\n"

    def _bookmark(self, change: WatchEvent) -> Wire:
        metadata: Wire = {"resourceVersion": str(change.revision)}
        if change.initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        return {"kind": self._type.kind.name, "apiVersion": self._type.kind.api_version, "metadata": metadata}

    @property
    def _is_plain(self) -> bool:
        """Whether stored bytes can be sent as they are."""
        return self._options.media_type == "application/json" and not self._options.shape

    @property
    def _meta_version(self) -> str:
        return f"meta.k8s.io/{self._options.shape_version}"

    def _shaped(self, wire: Wire) -> Wire:
        match self._options.shape:
            case "Table":
                return self._table([wire], {"resourceVersion": wire["metadata"].get("resourceVersion", "")})
            case "PartialObjectMetadata":
                return self._metadata(wire)
            case "PartialObjectMetadataList":
                raise self._wrong_shape("not a list", "")
        return wire

    def _shaped_list(self, wires: Sequence[Wire], meta: Wire) -> Wire:
        match self._options.shape:
            case "Table":
                return self._table(wires, meta)
            case "PartialObjectMetadata":
                raise self._wrong_shape("a list", "List")
            case "PartialObjectMetadataList":
                items = [self._metadata(wire) for wire in wires] or None  # as Go encodes a nil slice
                head = {"kind": "PartialObjectMetadataList", "apiVersion": self._meta_version}
                return {**head, "metadata": meta, "items": items}
        kind = self._type.kind
        items = [self._type.strategy.list_item(wire) for wire in wires]
        return {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "metadata": meta, "items": items}

    def _metadata(self, wire: Wire) -> Wire:
        return {"kind": "PartialObjectMetadata", "apiVersion": self._meta_version, "metadata": wire["metadata"]}

    def _table(self, wires: Sequence[Wire], meta: Wire, *, no_headers: bool = False) -> Wire:
        return table(
            self._type,
            wires,
            list_meta=meta,
            include_object=self._included(),
            no_headers=no_headers,
            api_version=self._meta_version,
        )

    def _included(self) -> IncludeObject:
        if self._include_object not in ("", *get_args(IncludeObject)):
            why = "must be 'Metadata', 'Object', 'None', or empty"
            problem = f"includeObject: Invalid value: {quoted(self._include_object)}: {why}"
            raise bad_request(f"Unable to convert to Table as requested: {problem}")
        return cast(IncludeObject, self._include_object or "Metadata")

    def _wrong_shape(self, what: str, suffix: str) -> Failure:
        requested = self._options.shape
        is_what = f"{what} ({self._type.strategy.go_type}{suffix})"
        return failure(406, "NotAcceptable", f"you requested {requested}, but the requested object is {is_what}")


def status_bytes(status: APIStatus, options: MediaTypeOptions) -> bytes:
    """A Status in the requested media type."""
    return write({"kind": "Status", "apiVersion": "v1", **codec.to_wire(status)}, options)
