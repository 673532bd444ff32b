"""What is asked of a test's API server: every write, with its client and its time, and every Event, is recorded."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import NamedTuple

import msgspec

from windvane import ambient
from windvane.api.envelope import EnvelopeMeta
from windvane.client.transport import Request, Response, Transport, WebSocket
from windvane.cluster.apiserver.answer import Answer, Handler, User
from windvane.runtime.writes.write_recorder import VERBS, ResourcePath, in_words, place_of

BEATS = ("leases", "events")
"""Kinds whose writes are no work: they say that a component is alive, or what happened."""
EVENTS = 200
"""How many Events are kept, the latest."""


def master(name: str) -> User:
    """A user who may do everything."""
    return User(name, ("system:masters", "system:authenticated"))


TEST = master("test")
"""The test itself."""


class LoggedWrite(NamedTuple):
    """One write."""

    at: float
    """When it was asked for, by the clock of `ambient.monotonic`."""
    user: str
    words: str
    """`apply deployments.apps blog`."""
    place: ResourcePath
    version: str
    """The resourceVersion that it brought; empty if the object went."""


class RequestLog:
    """Notes of what was written."""

    def __init__(self) -> None:
        self.writes: list[LoggedWrite] = []
        """All so far, but for Leases, Events, and what nodes say of themselves."""
        self.events: dict[str, tuple[float, bytes]] = {}
        """The latest Events by name, the oldest first: when each was written, and as what."""

        self.last = 0.0
        """When something was written last."""

    def record(self, request: Request, user: str, code: int, body: bytes, *, at: float) -> None:
        """Record a request that was sent `at` that time, and its answer, if it has written something."""
        if request.method not in VERBS or code >= 300 or ("dryRun", "All") in request.query:
            return
        place = place_of(request.path)
        if place is None:
            return
        there = _metadata_in(body)
        place = place._replace(name=place.name or there.name)
        if place.resource == "events":
            self.events.pop(place.name, None)
            self.events[place.name] = ambient.monotonic(), body
            if len(self.events) > EVENTS:
                del self.events[next(iter(self.events))]
        elif place.resource not in BEATS and not _is_beat(place, user):
            words = in_words(request, place, place.name)
            version = "" if request.method == "DELETE" else there.resource_version
            self.writes.append(LoggedWrite(at, user, words, place, version))
            self.last = ambient.monotonic()


class LoggedHandler:
    """An API server in this process all of whose clients' writes are recorded."""

    def __init__(self, handler: Handler, requests: RequestLog) -> None:
        self._handler = handler
        self._requests = requests

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        at = ambient.monotonic()
        answer = await self._handler(request, user)
        self._requests.record(request, user.name, answer.code, answer.body, at=at)
        return answer


class LoggedTransport:
    """Carries the requests of one client, `user`, and notes what it writes."""

    def __init__(self, transport: Transport, requests: RequestLog, user: str) -> None:
        self._transport = transport
        self._requests = requests
        self._user = user

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        at = ambient.monotonic()
        async with self._transport.open(request) as response:
            record = partial(self._requests.record, request, self._user, response.code, at=at)
            yield _RecordedResponse(response, record) if request.method in VERBS else response

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """See `Transport.websocket`."""
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


class _RecordedResponse:
    """An answer that is recorded when it is read."""

    def __init__(self, response: Response, record: Callable[[bytes], None]) -> None:
        self._response = response
        self._note = record
        self.code = response.code

    def header(self, name: str) -> Sequence[str]:
        return self._response.header(name)

    async def read(self) -> bytes:
        return b"".join([part async for part in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        parts = []
        async for part in self._response.chunks():
            parts.append(part)
            yield part
        self._note(b"".join(parts))


def _is_beat(place: ResourcePath, user: str) -> bool:
    return place.resource == "nodes" and user.startswith("system:node:")


class _Answered(msgspec.Struct):
    metadata: EnvelopeMeta = EnvelopeMeta()


def _metadata_in(body: bytes) -> EnvelopeMeta:
    """What the answer says of the object."""
    try:
        return msgspec.json.decode(body, type=_Answered).metadata
    except msgspec.DecodeError:
        return EnvelopeMeta()
