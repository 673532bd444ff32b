"""A transport that records: what one pass wrote, and what the caches must have seen before the next one.

It does not matter by which verb something was written. Each answer says which object there is now, in which version; or
which one is no more.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from windvane.api.envelope import EnvelopeMeta
from windvane.api.partial import Metadata
from windvane.client.transport import Request, Response, Transport, WebSocket
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.informers.informer import Informer
from windvane.runtime.observability.field_changes import changed_fields
from windvane.runtime.observability.history import Write

VERBS = {"POST": "create", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


@dataclass(slots=True)
class Expectation:
    """Something that we wrote, and that a cache must have seen before the next pass may look into it."""

    informer: Informer[Any]
    key: Key
    version: str = ""
    gone_uid: str = ""

    def met(self) -> bool:
        """Whether the cache has seen it."""
        if not self.gone_uid:
            return self.informer.has_seen(self.key, self.version)
        item = self.informer.cache.get(self.key)
        return item is None or item.meta.uid != self.gone_uid or item.meta.deletion_timestamp is not None


@dataclass
class Writes:
    """What was written so far."""

    done: list[Write] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)


class RecordingTransport:
    """Carries requests over another transport, and records those that write."""

    def __init__(self, transport: Transport, informers: DeclaredInformers) -> None:
        self._transport = transport
        self._informers = informers
        self.writes = Writes()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        place = place_of(request.path) if request.method in VERBS else None
        # Looked up now: a watch may tell of the write before it is answered.
        before = self._known(place) if place is not None and request.method in ("PUT", "PATCH") else b""
        async with self._transport.open(request) as response:
            if place is None or response.code >= 300 or ("dryRun", "All") in request.query:
                yield response
            else:
                yield _RecordedResponse(response, self, request, place, before)

    def record(self, request: Request, place: "ResourcePath", before: bytes, answer: bytes) -> None:
        """Record what was answered to a request that writes; `before` is the object as it was known."""
        try:
            said = _decoder.decode(answer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # the client says what is wrong with it
        name = place.name or said.metadata.name
        key = (place.namespace, name)
        informers = self._informers.all_of(place.group, place.resource)
        fields = _written(changed_fields(before, answer), place, informers) if before else []
        self.writes.done.append(_write(request, place, name, said.metadata.resource_version, fields))
        for informer in informers:
            if request.method == "DELETE":
                uid = said.metadata.uid or (said.details.uid if said.details else "")
                if uid:
                    self.writes.expectations.append(Expectation(informer, key, gone_uid=uid))
            elif said.metadata.uid and said.metadata.resource_version:
                self.writes.expectations.append(Expectation(informer, key, said.metadata.resource_version))

    def _known(self, place: "ResourcePath") -> bytes:
        """An object as a cache has it, if one has all of it."""
        whole = (
            each for each in self._informers.all_of(place.group, place.resource) if not issubclass(each.what, Metadata)
        )
        known = (informer.cache.get((place.namespace, place.name)) for informer in whole)
        return next((item.raw for item in known if item is not None and item.raw), b"")

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """See `Transport.websocket`."""
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        """Nothing: the transport below is shared."""


class _RecordedResponse:
    """An answer that is recorded when it is read."""

    def __init__(
        self, response: Response, recording: RecordingTransport, request: Request, place: "ResourcePath", before: bytes
    ) -> None:
        self._response = response
        self._recording = recording
        self._request = request
        self._place = place
        self._before = before
        self.code = response.code

    def header(self, name: str) -> Sequence[str]:
        return self._response.header(name)

    async def read(self) -> bytes:
        body = await self._response.read()
        self._recording.record(self._request, self._place, self._before, body)
        return body

    def chunks(self) -> AsyncIterator[bytes]:
        return self._response.chunks()


class _Details(msgspec.Struct):
    uid: str = ""


class _Answer(msgspec.Struct):
    """An object, or the Status that tells that one was deleted."""

    metadata: EnvelopeMeta = EnvelopeMeta()
    details: _Details | None = None


_decoder = msgspec.json.Decoder(_Answer)


class ResourcePath(NamedTuple):
    """Where in the API something is."""

    group: str
    namespace: str
    resource: str
    name: str = ""
    subresource: str = ""


def place_of(path: str) -> ResourcePath | None:
    """Where in the API a path is; None if it is not that of an object or of a collection."""
    match path.strip("/").split("/"):
        case ["api", _, *rest]:
            group = ""
        case ["apis", group, _, *rest]:
            pass
        case _:
            return None
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    return ResourcePath(group, namespace, *rest) if 1 <= len(rest) <= 3 else None


def _write(request: Request, place: ResourcePath, name: str, version: str, fields: list[str]) -> Write:
    return Write(
        in_words(request, place, name),
        resource=".".join(filter(None, (place.resource, place.group))),
        subresource=place.subresource,
        namespace=place.namespace,
        name=name,
        version=version,
        fields=fields,
    )


def _written(fields: list[str], place: ResourcePath, informers: Sequence[Informer[Any]]) -> list[str]:
    """Those fields that a write can have changed. Others may have changed since the cache saw the object."""
    apart = any("status" in each.kind.subresources for each in informers)
    if not apart or place.subresource not in ("", "status"):
        return fields
    return [each for each in fields if each.startswith("status") == (place.subresource == "status")]


def in_words(request: Request, place: ResourcePath, name: str) -> str:
    """What a request writes: `apply deployments.apps blog`."""
    resource = ".".join(filter(None, (place.resource, place.group)))
    return f"{_verb(request)} {'/'.join(filter(None, (resource, place.subresource)))} {name}"


def _verb(request: Request) -> str:
    return "apply" if "apply-patch" in request.headers.get("Content-Type", "") else VERBS[request.method]
