"""The API server over HTTPS: authenticates each request, and refuses what is unsafe before the server sees it.

The checks, in this order: no web page sent it (Host, Origin), its path is safe, its user is known, and its body arrives
within the limits. Then the `Handler` answers it, and `response_writer` sends the answer.
"""

import asyncio
import ipaddress
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError

from windvane import ambient
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, Handler, User
from windvane.cluster.apiserver.audit import ID as AUDIT_ID
from windvane.cluster.apiserver.audit import AuditLog
from windvane.cluster.apiserver.authentication.authenticator import Authenticator, Tokens, certified
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, method_not_allowed
from windvane.cluster.apiserver.http.filters import check_path, check_size, enter, refusal
from windvane.cluster.apiserver.http.in_flight import MOST, InFlight, TooManyRequests, too_many_requests
from windvane.cluster.apiserver.http.response_writer import ResponseWriter, headers_of
from windvane.cluster.pki import PKI
from windvane.http_server import BodyError, HTTPServer, body_within, listen, protocol_log

WORD_FOR_METHOD = re.compile(r"b'[A-Z]+ /")  # of aiohttp's complaint, which shows the first line
LINE_LIMIT = 1024 * 1024  # selectors travel in the first line and may be long
HEADER_LIMIT = 64 * 1024
QUERY_LIMIT = 1000
BACKLOG = 1024  # a thousand watches may come back at once


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """How long, in seconds, the server waits for the other end."""

    head: float = 90.0
    """For the first line and the headers, or for the next request on a connection that is kept."""
    body: float = 30.0
    """For all of a body."""
    reader: float = 30.0
    """For the client to read what was sent, while nothing more fits on the way to it."""
    refused: float = 0.3
    """For the rest of a head or body that was refused: a client that is cut off while it sends might never read why."""
    shutdown: float = 5.0
    """For requests that are under way when the server stops, and then for the other end to hang up, too."""


TIMEOUTS = Timeouts()


@dataclass(frozen=True)
class HTTPSServer:
    """A server that listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Where it is."""
        return f"https://[{self.host}]:{self.port}" if ":" in self.host else f"https://{self.host}:{self.port}"


@asynccontextmanager
async def serve(
    handler: Handler,
    *,
    pki: PKI,
    tokens: Tokens,
    host: str = "127.0.0.1",
    port: int = 0,
    allow_remote: bool = False,
    audit_log: AuditLog | None = None,
    most_in_flight: int = MOST,
    timeouts: Timeouts = TIMEOUTS,
) -> AsyncIterator[HTTPSServer]:
    """Listen until the block ends; then streams end, and requests that are under way are finished.

    `tokens` maps bearer tokens to users. Requests of unknown users are recorded in the `audit_log` here, all others
    by the handler. A `host` that other machines can reach is refused unless `allow_remote`. `OSError` if the port is
    taken.
    """
    if not allow_remote and not _is_loopback(host):
        raise ValueError(
            f"{host} can be reached from other machines. The embedded API server is for this one: "
            "listen on 127.0.0.1, ::1 or localhost, or say allow_remote=True if you mean it."
        )
    writer = ResponseWriter(timeouts.reader)
    gate = Authenticator(tokens)
    requests = _RequestHandler(handler, gate, {*pki.names, host}, writer, timeouts, InFlight(most_in_flight), audit_log)
    server = _Server(
        requests,
        writer,
        auto_decompress=False,  # the real server takes no compressed bodies, and a bomb is not worth it
        keepalive_timeout=timeouts.head,
        lingering_time=timeouts.refused,
        logger=protocol_log(__name__),
        max_line_size=LINE_LIMIT,
        max_field_size=HEADER_LIMIT,
    )
    sweeper = asyncio.get_running_loop().create_task(writer.cut_slow_readers())
    try:
        async with listen(server, host, port, shutdown=timeouts.shutdown, tls=_tls(pki), backlog=BACKLOG) as bound:
            try:
                yield HTTPSServer(host, bound)
            finally:
                writer.end_streams()
    finally:
        sweeper.cancel()


class _Server(HTTPServer):
    """A server that tells streams when the client that reads them has gone.

    aiohttp would cancel the handler of each request whose client has gone. That is right for a stream, which might
    wait for its next change for ever, but a write that is under way must not stop half-way.
    """

    def __init__(self, requests: "_RequestHandler", writer: ResponseWriter, **options: Any) -> None:
        super().__init__(requests.answer, connection=_Connection, **options)
        self._requests = requests
        self._writer = writer

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self._requests.left(handler)
        self._writer.left(handler)


class _Connection(web.RequestHandler):
    """aiohttp's connection, which refuses a method that HTTP doesn't know as the server refuses any other.

    When a head was refused, the rest of it is still read, as aiohttp does with bodies: what arrives after TLS has said
    goodbye resets the connection, and the answer may be lost with it.
    """

    __slots__ = ("_over", "_refused")

    def __init__(self, server: _Server, loop: asyncio.AbstractEventLoop, **options: Any) -> None:
        super().__init__(server, loop=loop, **options)
        self._refused = False
        self._over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        """Parse what has come, unless the head before it made no sense."""
        if not self._refused:
            super().data_received(data)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the answer; returns when the connection may be closed."""
        finished = await super().finish_response(request, resp, start_time)
        if self._refused:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._lingering_time):
                    await self._over.wait()
        return finished

    def close(self) -> None:
        """Close it as soon as nothing is under way."""
        super().close()
        self._over.set()

    def connection_lost(self, exc: BaseException | None) -> None:
        """The connection was lost."""
        super().connection_lost(exc)
        self._over.set()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """What is answered when a request can't be read, or answering it failed."""
        self._refused = isinstance(exc, HttpProcessingError)
        if not isinstance(exc, BadHttpMethod) or not WORD_FOR_METHOD.search(exc.message):
            return super().handle_error(request, status, exc, message)
        answer = refusal(method_not_allowed())
        response = web.Response(status=answer.code, body=answer.body, headers=headers_of(request, answer))
        response.force_close()
        return response


class _RequestHandler:
    """Turns aiohttp's requests into ours, and answers them."""

    def __init__(
        self,
        handler: Handler,
        authenticator: Authenticator,
        names: set[str],
        writer: ResponseWriter,
        timeouts: Timeouts,
        in_flight: InFlight,
        audit_log: AuditLog | None,
    ) -> None:
        self._handler = handler
        self._authenticator = authenticator
        self._names = {name.lower() for name in names}
        self._writer = writer
        self._timeouts = timeouts
        self._in_flight = in_flight
        self._audit_log = audit_log
        self._certified: dict[web.RequestHandler, User | None] = {}  # a connection's certificate never changes

    def left(self, connection: web.RequestHandler) -> None:
        """The connection was lost."""
        self._certified.pop(connection, None)

    async def answer(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, and send the answer."""
        try:
            with self._in_flight.slot():
                answer = await self._answered(incoming)
        except TooManyRequests:
            answer = too_many_requests()
        return await self._writer.send(incoming, answer)

    async def _answered(self, incoming: web.BaseRequest) -> Answer:
        path, _, query = incoming.raw_path.partition("?")
        try:
            self._refuse_web_pages(incoming)
            check_path(path)
            user = self._user(incoming, path)
            body = await self._body(incoming)
            request = Request(incoming.method, path, _query(query), incoming.headers, body)
        except Failure as refused:
            answer = refusal(refused)
            id_ = incoming.headers.get(AUDIT_ID) or ambient.uid()
            answer.headers = [(AUDIT_ID, id_)]
            if refused.status.code == 401 and self._audit_log is not None:
                unauthenticated = Request(incoming.method, path, headers=incoming.headers)
                self._audit_log.unauthenticated(unauthenticated, incoming.raw_path, incoming.remote or "", id_)
            return answer
        return await enter(self._handler, request, user)

    def _refuse_web_pages(self, incoming: web.BaseRequest) -> None:
        """Refuse requests from a page in a browser, which may even have a DNS name that leads to 127.0.0.1."""
        if "Origin" in incoming.headers:
            raise failure(403, "Forbidden", "requests from web pages (with an Origin header) are refused")
        hosts = incoming.headers.getall("Host", [])
        if len(hosts) != 1:
            raise bad_request(f"a request needs one Host header; this one has {len(hosts)}")
        name = _host_name(hosts[0])
        if name not in self._names:
            known = ", ".join(sorted(self._names))
            raise failure(403, "Forbidden", f"this server is not {name[:100]!r}; it answers to: {known}")

    def _user(self, incoming: web.BaseRequest, path: str) -> User:
        connection = incoming.protocol
        if connection not in self._certified:
            wrapped = incoming.get_extra_info("ssl_object")
            encoded = wrapped.getpeercert(binary_form=True) if wrapped else None
            self._certified[connection] = certified(incoming.get_extra_info("peercert"), encoded)
        authorization = incoming.headers.get("Authorization", "")
        user = self._authenticator.user(self._certified[connection], authorization, path)
        return replace(user, address=incoming.remote or "")

    async def _body(self, incoming: web.BaseRequest) -> bytes | None:
        if not incoming.body_exists:
            return None
        if incoming.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise failure(415, "UnsupportedMediaType", "the body is compressed (Content-Encoding); send it as it is")
        check_size(incoming.content_length or 0)
        if incoming.headers.get("Expect", "").lower() == "100-continue":
            await incoming.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            incoming.writer.output_size = 0  # or aiohttp takes it for the beginning of the answer
        body = bytearray()
        try:
            if incoming.content.is_eof():
                return incoming.content.read_nowait()  # most come in one piece with their head
            async with body_within(self._timeouts.body):
                while part := await incoming.content.readany():
                    body += part
                    check_size(len(body))
        except BodyError as error:
            raise (failure(408, "Timeout", str(error)) if error.code == 408 else bad_request(str(error))) from None
        return bytes(body)


def _query(text: str) -> list[tuple[str, str]]:
    if not text:
        return []
    if not text.isascii():
        raise bad_request("the query has bytes that must be escaped, such as %C3%A9 for é")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=QUERY_LIMIT)
    except ValueError:
        raise bad_request(f"the query has more than {QUERY_LIMIT} parameters") from None


def _host_name(host: str) -> str:
    """`[::1]:6443`, `127.0.0.1:6443` or `localhost` without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tls(pki: PKI) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(pki.server_certificate, pki.server_key)
    context.load_verify_locations(pki.ca_certificate)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.set_alpn_protocols(["http/1.1"])
    return context
