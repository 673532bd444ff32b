"""The webhook server: answers an API server over HTTPS, and bears with all other clients.

The pod network is not trusted. What is no question of an API server gets a plain answer of a few words; no client can
hold a connection for ever, send without end, or have more connections than there are for all; and nothing that comes in
ends the process.
"""

import asyncio
import logging
import select
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from windvane import ambient
from windvane.http_server import BodyError, HTTPServer, body_within, protocol_log
from windvane.runtime.operator import Operator
from windvane.webhook.conversion import convert_review
from windvane.webhook.listener import accept_connections, bind
from windvane.webhook.metrics import WebhookMetrics
from windvane.webhook.paths import CONVERT_PATH, PROBE_PATH, default_path, validate_path, webhook_name
from windvane.webhook.review import BadReview, ReviewAnswer, default_review, probe_review, validate_review
from windvane.webhook.tls import ServerTLS

log = logging.getLogger(__name__)

MIB = 1024 * 1024
ADMISSION_LIMIT = 32 * MIB
"""An API server takes objects of 3 MiB, stores them up to half of that, and sends the old and the new one.

It writes each `<` in them as six characters. A review that were refused for its size would not be judged at all where
the policy is to ignore failures.
"""
CONVERSION_LIMIT = 128 * MIB
"""A whole list comes in one review."""
LIMIT_FOR_ALL = 256 * MIB
"""What bodies that are being read or answered may take together."""
MOST_CONNECTIONS = 500
"""Each takes about 300 kB. An API server has one for each question that it waits for, and some more."""
UNKNOWN_CLIENT = 403  # an API server passes on the words that come with this code
NO_CERTIFICATE = "no certificate was shown, and --webhook-client-ca of the operator asks for one"
LINGER = 0.3  # a body that was refused is still read for so long, or its sender might never read why


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """How long, in seconds, the server waits for the other end."""

    idle: float = 120.0
    """For the next request. An API server keeps a connection for 90: it should be the one to close it."""
    body: float = 10.0
    """For all of a body: no API server waits longer than 30 for the answer."""
    shutdown: float = 10.0
    """For requests that are under way when the server stops."""


TIMEOUTS = Timeouts()


@dataclass(frozen=True)
class Listening:
    """A server that listens."""

    port: int
    metrics: WebhookMetrics
    leave: Callable[[], None]
    """From now on, ask with each answer that the next question is put elsewhere: the server will stop soon.

    A connection that is closed while a question is on its way fails that question; one that the API server closes, as
    it is asked to, fails none.
    """


@asynccontextmanager
async def listen(
    operator: Operator,
    tls: ServerTLS,
    *,
    host: str = "0.0.0.0",  # noqa: S104
    port: int = 9443,
    timeouts: Timeouts = TIMEOUTS,
) -> AsyncIterator[Listening]:
    """Answer what an operator declares for the length of the block; then finish what is under way.

    `tls` has the server's certificate, and says whether clients need one, too. Port 0 is any free one.
    """
    operator.conversions.check(operator.kinds)
    handler = _ReviewHandler(operator, tls, timeouts)
    server = _Server(handler.answer, timeouts)
    sockets = await bind(host, port)
    try:
        async with accept_connections(sockets, tls, server):
            yield Listening(sockets[0].getsockname()[1], handler.metrics, handler.leave)
    finally:
        handler.leave()
        server.close_idle()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeouts.shutdown):
                await server.all_closed()
        server.drop_all()  # a client that still hasn't sent all, or waits for a function, has to go
        await server.shutdown(0.1)
        await server.all_closed()


class _Refused(Exception):
    """This is no question of an API server: the answer is a plain one."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code
        self.words = words


@dataclass(frozen=True)
class Webhook:
    """What is at a path."""

    name: str
    limit: int
    ask: Callable[[bytes], Awaitable[ReviewAnswer]]
    certificate_optional: bool = False
    """Whether it answers also clients that show no certificate, if all others have to show one."""


class _ReviewHandler:
    """Between HTTP requests and reviews."""

    def __init__(self, operator: Operator, tls: ServerTLS, timeouts: Timeouts) -> None:
        self.metrics = WebhookMetrics()
        self._tls = tls
        self._webhooks = webhooks_of(operator)
        self._timeouts = timeouts
        self._held = 0  # bytes, in all bodies that are being read or answered
        self._leaving = False

    def leave(self) -> None:
        """See `Listening`."""
        self._leaving = True

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, in whatever way."""
        response = await self._answer(request)
        # What is still to come of a body that was refused would pass for the next question when the server stops.
        if self._leaving or response.status == UNKNOWN_CLIENT or not request.content.at_eof():
            response.force_close()
        return response

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        body = bytearray()
        try:
            webhook = self._find(request)
            await self._receive(request, webhook.limit, body)
            return await self._ask(webhook, bytes(body))
        except _Refused as refused:
            self.metrics.refused[refused.code] += 1
            headers = {"Allow": "POST"} if refused.code == 405 else None
            return web.Response(status=refused.code, text=f"{refused.words}\n", headers=headers)
        finally:
            self._held -= len(body)

    def _find(self, request: web.BaseRequest) -> Webhook:
        webhook = self._webhooks.get(request.path)
        needs_no_certificate = not self._tls.asks or (webhook is not None and webhook.certificate_optional)
        if not needs_no_certificate and not _has_shown_a_certificate(request):
            self._tls.log_refusal("it has shown no certificate")
            raise _Refused(UNKNOWN_CLIENT, NO_CERTIFICATE)
        if webhook is None:
            raise _Refused(404, f"there is no such webhook; there are: {', '.join(self._webhooks)}")
        if request.method != "POST":
            raise _Refused(405, "an API server would send a review by POST")
        if request.content_type != "application/json":
            raise _Refused(415, "a review is application/json")
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise _Refused(415, "send it as it is, without a Content-Encoding")
        return webhook

    async def _receive(self, request: web.BaseRequest, limit: int, body: bytearray) -> None:
        too_long = _Refused(413, f"that is more than {limit // MIB} MiB")
        if (request.content_length or 0) > limit:
            raise too_long
        try:
            async with body_within(self._timeouts.body):
                while part := await request.content.readany():
                    if len(body) + len(part) > limit:
                        raise too_long
                    if self._held + len(part) > LIMIT_FOR_ALL:
                        raise _Refused(503, "too much is being answered just now: try again")
                    self._held += len(part)
                    body += part
        except BodyError as error:
            raise _Refused(error.code, str(error)) from None

    async def _ask(self, webhook: Webhook, body: bytes) -> web.Response:
        begun = ambient.monotonic()
        try:
            answer = await webhook.ask(body)
        except BadReview as error:
            raise _Refused(400, str(error)) from error
        except Exception as error:
            log.exception("%s could not be answered", webhook.name)
            raise _Refused(500, "this could not be answered; the log of the operator says why") from error
        self.metrics.add(webhook.name, answer.operation, ambient.monotonic() - begun, allowed=answer.allowed)
        return web.Response(body=answer.body, content_type="application/json")


def _has_shown_a_certificate(request: web.BaseRequest) -> bool:
    """Whether it has, and a good one: with any other, no client gets this far."""
    return request.transport is not None and bool(request.transport.get_extra_info("peercert"))


def webhooks_of(operator: Operator) -> dict[str, Webhook]:
    """What an operator answers, by path."""
    found = {}
    for hook in operator.defaulting.values():
        ask: Callable[[bytes], Awaitable[ReviewAnswer]] = partial(default_review, hook=hook)
        found[default_path(hook.kind)] = Webhook(webhook_name("default", hook.kind), ADMISSION_LIMIT, ask)
    for hook in operator.validating.values():
        ask = partial(validate_review, hook=hook)
        found[validate_path(hook.kind)] = Webhook(webhook_name("validate", hook.kind), ADMISSION_LIMIT, ask)
    if operator.conversions:
        ask = partial(convert_review, conversions=operator.conversions)
        # No API server ever shows a certificate here: only admission can be configured so.
        found[CONVERT_PATH] = Webhook("convert", CONVERSION_LIMIT, ask, certificate_optional=True)
    found[PROBE_PATH] = Webhook("probe", ADMISSION_LIMIT, probe_review)
    return found


class _Connection(web.RequestHandler):
    """One that says when something of a request has come: aiohttp takes a moment to begin with it."""

    __slots__ = ("_mark_unanswered",)

    def __init__(self, server: "_Server", loop: asyncio.AbstractEventLoop, **options: Any) -> None:
        super().__init__(server, loop=loop, **options)
        self._mark_unanswered = server.mark_unanswered

    def data_received(self, data: bytes) -> None:
        self._mark_unanswered(self)
        super().data_received(data)


class _Server(HTTPServer):
    """A server with no more than so many connections.

    For a new one, an idle one goes: first those that have never asked anything, then whichever is idle for longest. So
    the one that has asked last is the last one of those that are open.
    """

    def __init__(self, answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], timeouts: Timeouts) -> None:
        super().__init__(
            self._answer,
            connection=_Connection,
            handler_cancellation=True,  # when the API server waits no more, nor does anything for the function
            auto_decompress=False,
            keepalive_timeout=timeouts.idle,
            lingering_time=LINGER,
            logger=protocol_log(__name__),
        )
        self._ask = answer
        self._busy: set[web.RequestHandler] = set()
        self._unanswered: set[web.RequestHandler] = set()  # the busy ones, and those about to be
        self._known: set[web.RequestHandler] = set()  # those that have asked before

    def mark_unanswered(self, connection: web.RequestHandler) -> None:
        """Something was read that is to be answered."""
        self._unanswered.add(connection)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        self._busy.add(connection)
        try:
            return await self._ask(request)
        finally:
            self._busy.discard(connection)
            self._unanswered.discard(connection)
            if connection in self.open:
                self.open[connection] = self.open.pop(connection)
                self._known.add(connection)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.open) > MOST_CONNECTIONS:
            others = [connection for connection in self.open if connection not in self._busy | {handler}]
            goes = next((connection for connection in others if connection not in self._known), (*others, handler)[0])
            # Forgotten not when it is closed, but now: many may come before that.
            self.open.pop(goes).abort()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self._known.discard(handler)
        self._unanswered.discard(handler)

    def close_idle(self) -> None:
        """Close the connections on which nothing is asked.

        What has arrived, whether it was read or not, counts as asked: its sender saw an open connection, and would
        not ask again. On a busy machine that is long enough ago to matter.
        """
        for connection, transport in self.open.items():
            if connection in self._unanswered or transport.is_closing():
                continue  # and one that has been closed twice has nothing left to ask for its socket
            if not _has_arrived(transport):
                connection.close()
                transport.close()  # which aiohttp leaves to the end of a request, and there is none


def _has_arrived(transport: asyncio.Transport) -> bool:
    """Whether there is something to read that the event loop has not come to yet."""
    if (connection := transport.get_extra_info("socket")) is None:
        return False  # it has been closed at the other end, and the event loop is about to say so
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    return bool(arrived.poll(0))
