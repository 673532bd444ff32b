"""Watches: changes as they happen, through time-outs and broken connections, until the past is forgotten.

A watch ends on its own in one case that a caller must handle: `Gone`, when the server no longer knows the version
to resume from. Then list again and watch from there; or watch with `initial=True` from the start.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

import msgspec

from windvane import ambient
from windvane.api import codec
from windvane.api.envelope import Item
from windvane.api.resource import Object
from windvane.api.status import APIStatus
from windvane.backoff import Backoff
from windvane.client.accept_header import for_list
from windvane.client.calls import Calls
from windvane.client.credentials import CredentialsError
from windvane.client.errors import (
    BadRequest,
    InternalError,
    Interrupted,
    Invalid,
    ServerTimeout,
    TooManyRequests,
    Unavailable,
    Unreachable,
    Unreadable,
    Untrusted,
    error_from_status,
)
from windvane.client.pager import Pager
from windvane.client.transport import Request

log = logging.getLogger(__name__)

ObjectT = TypeVar("ObjectT", bound=Object)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
LONGEST_WATCH = 600.0
"""The server is asked to end each watch after five to ten minutes, so that load spreads over its replicas again."""
GRACE = 15.0
"""How much later than that an end may come before the connection counts as dead."""
RETRY = Backoff(first=0.5, most=30.0)
LONGEST_LINE = 64 * 1024 * 1024
PAGE_SIZE = 500
STREAMING_LIST = (("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"))
# How servers say that they have no streaming lists: old ones with 400 or 422, new ones on an old etcd with 500.
NO_STREAMING = (Invalid, BadRequest, InternalError)
PASSING = (CredentialsError, Interrupted, Unreachable, Unavailable, TooManyRequests, InternalError, ServerTimeout)


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[ObjectT]):
    """One change. The object is decoded when `object` is asked for."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    item: Item[ObjectT]
    initial_end: bool = False
    """Set on one BOOKMARK of a watch with `initial=True`: all objects that were there have been sent."""

    @property
    def object(self) -> ObjectT:
        """The object after the change; for DELETED as it last was."""
        if self.type == "BOOKMARK":
            raise ValueError("a BOOKMARK has no object, only a version: event.item.meta.resource_version")
        return self.item.decode()


class _Frame(msgspec.Struct):
    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: msgspec.Raw


_frame_decoder = msgspec.json.Decoder(_Frame)


class WatchStream(Generic[ObjectT]):
    """One logical watch over as many connections as it takes."""

    def __init__(self, calls: Calls, request: Request, what: type[ObjectT], *, version: str, initial: bool) -> None:
        self._calls = calls
        self._request = request
        self._list_request = replace(request, headers=for_list(what))
        self._what = what
        self._version = version
        self._initial = initial

    async def events(self) -> AsyncGenerator[WatchEvent[ObjectT]]:
        """Events without end; `Gone` when there is no way to go on without missing some.

        Until an initial list is complete, a broken connection can't be resumed, only started again, and the caller
        must know: what it got so far may contain objects that are gone by then. So that error is raised.
        """
        if not self._initial and self._version in ("", "0"):
            self._version = await self._now()
        complete = not self._initial
        failures = 0
        while True:
            started = ambient.monotonic()
            received = False
            try:
                async with aclosing(self._connection([] if complete else STREAMING_LIST)) as events:
                    async for event in events:
                        complete = complete or event.initial_end
                        received = True
                        failures = 0
                        yield event
            except (*NO_STREAMING, *PASSING) as error:
                if not complete and not received and isinstance(error, NO_STREAMING):
                    log.debug("%s: no streaming lists on this server (%s); listing in pages", self._request, error)
                    async with aclosing(self._paged_list()) as events:
                        async for event in events:
                            yield event
                    complete = True
                    continue
                if not complete or not isinstance(error, PASSING) or isinstance(error, Untrusted):
                    raise
                log.info("%s: %s; resuming from version %s", self._request, error, self._version or "(none)")
                failures += 1
            else:
                if not complete:
                    raise Interrupted(f"{self._request}: the server ended the initial list early; start again")
                # A server that ends watches as soon as they start must not be asked in a tight loop.
                failures = failures + 1 if ambient.monotonic() - started < RETRY.first else 0
            if failures:
                await ambient.sleep(RETRY.delay(failures))

    async def _now(self) -> str:
        """The version of this moment.

        A watch without one would begin with what is there, in the order of names: where that breaks off, the last
        version seen says nothing about which objects are still to come, and some would never be.
        """
        async with aclosing(Pager(self._calls, self._list_request, self._what, 1).pages()) as pages:
            return (await anext(pages)).resource_version

    async def _paged_list(self) -> AsyncGenerator[WatchEvent[ObjectT]]:
        """What a streaming list would send, from a server that has none."""
        async with aclosing(Pager(self._calls, self._list_request, self._what, PAGE_SIZE).pages()) as pages:
            async for page in pages:
                for item in page.items:
                    yield WatchEvent("ADDED", item)
                self._version = page.resource_version
        bookmark = codec.encode({"metadata": {"resourceVersion": self._version}})
        yield WatchEvent("BOOKMARK", Item(bookmark, self._what), initial_end=True)

    async def _connection(self, extra: Sequence[tuple[str, str]]) -> AsyncGenerator[WatchEvent[ObjectT]]:
        """The events of one connection, from the last version seen."""
        seconds = int(ambient.jitter(LONGEST_WATCH))
        query = [
            *self._request.query,
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(seconds)),
            *extra,
        ]
        if self._version:
            query.append(("resourceVersion", self._version))
        request = replace(self._request, query=query, timeout=seconds + GRACE)
        async with self._calls.stream(request) as response, aclosing(lines(response.chunks())) as frames:
            async for frame in frames:
                event = read_event(frame, self._what)
                self._version = event.item.meta.resource_version or self._version
                yield event


async def lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The lines of a byte stream; `Interrupted` if it ends in the middle of one."""
    rest = bytearray()
    async for chunk in chunks:
        end, *more = chunk.split(b"\n")
        rest += end
        if more:
            *complete, tail = bytes(rest), *more
            for line in filter(None, complete):
                yield line
            rest[:] = tail
        if len(rest) > LONGEST_LINE:
            raise Unreadable(f"a watch event is longer than {LONGEST_LINE} bytes; this is no Kubernetes watch")
    if rest:
        raise Interrupted(f"the watch was cut off in the middle of an event, after {len(rest)} bytes of it")


def read_event(line: bytes, what: type[ObjectT]) -> WatchEvent[ObjectT]:
    """One event of a watch; an ERROR event is raised as the error that it reports."""
    try:
        frame = _frame_decoder.decode(line)
        if frame.type == "ERROR":
            raise error_from_status(codec.decode(frame.object, APIStatus))
        item = Item(bytes(frame.object), what)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        excerpt = line[:200].decode(errors="replace")
        raise Unreadable(f"not a watch event: {error}: {excerpt}") from error
    initial_end = frame.type == "BOOKMARK" and (item.meta.annotations or {}).get(INITIAL_EVENTS_END) == "true"
    return WatchEvent(frame.type, item, initial_end)
