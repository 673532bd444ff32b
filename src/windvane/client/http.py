"""The transport over HTTPS, on aiohttp: TLS, proxies, credentials, and connections that notice when they die."""

import asyncio
import io
import logging
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import quote

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from yarl import URL

import windvane
from windvane.client.config import ClientConfig
from windvane.client.errors import ClientError, Interrupted, Unauthorized, Unreachable, Untrusted, error_from_answer
from windvane.client.proxies import proxy_for, proxy_name
from windvane.client.tls import certificate_problem, tls_context
from windvane.client.transport import Request
from windvane.connections import Sockets

log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10.0
HEAD_TIMEOUT = 60.0
CLOSE_TIMEOUT = 5.0
NORMAL_CLOSE = (0, aiohttp.WSCloseCode.OK)  # 0 is aiohttp's word for a close without a code

# A peer that vanished (a crashed node, a cut cable) says nothing. The kernel asks it after 15 seconds of silence,
# every 5 seconds, and gives up after 3 unanswered questions: a dead watch is noticed within half a minute.
KEEPALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}


class HTTPTransport:
    """Carries requests to the API server that a `ClientConfig` describes."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._options: dict[str, Any] = {}
        self._session: aiohttp.ClientSession | None = None
        self._generation = 0
        self._users: Counter[aiohttp.ClientSession] = Counter()
        self._open: set[aiohttp.ClientResponse] = set()
        self._sockets = Sockets(_socket)
        self._closed = False

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator["HTTPResponse"]:
        """See `Transport.open`."""
        async with AsyncExitStack() as stack:
            answer = await self._answered(request, stack)
            # A token may have rotated, or a plugin's credentials expired, since they were last fetched.
            if answer.status == 401 and await self._config.credentials.invalidate():
                await stack.aclose()
                answer = await self._answered(request, stack)
            self._open.add(answer)
            try:
                yield HTTPResponse(answer, request)
            finally:
                self._open.discard(answer)
                _hang_up(answer)

    @asynccontextmanager
    async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator["HTTPWebSocket"]:
        """See `Transport.websocket`."""
        async with AsyncExitStack() as stack:
            try:
                stream = await self._upgraded(request, protocols, stack)
            except Unauthorized:
                if not await self._config.credentials.invalidate():
                    raise
                stream = await self._upgraded(request, protocols, stack)
            try:
                yield HTTPWebSocket(stream)
            finally:
                # A server that is busy talking, or waits for a slow program, may never read that we leave.
                with suppress(TimeoutError):
                    async with asyncio.timeout(CLOSE_TIMEOUT):
                        await stream.close()

    async def close(self) -> None:
        """Drop all connections. What comes later fails: a watch that is still being read must not open a new one."""
        self._closed = True
        for answer in self._open:
            _hang_up(answer)
            answer.close()  # aiohttp closes the connections of a session, but leaves what reads from them waiting
        for session in {self._session, *self._users}:
            if session is not None:
                await session.close()
        self._session = None
        # And what aiohttp has closed before: a request that was given up, an answer that was not read to its end.
        await self._sockets.drop()

    async def _answered(self, request: Request, stack: AsyncExitStack) -> aiohttp.ClientResponse:
        session = await stack.enter_async_context(self._borrowed())
        with _connection_errors(self._config, request):
            # A stream may be silent for long, but it begins at once. Behind a load balancer this is all that tells a
            # dead server from one that has nothing to say: the balancer's own connection is alive and well.
            async with asyncio.timeout(_head_timeout(request)):
                answer = await session.request(
                    request.method,
                    self._url(request),
                    headers=[*await self._headers(), *request.headers.items()],
                    data=None if request.body is None else _Body(request.body, request.guard),
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_TIMEOUT, sock_read=request.timeout),
                    **self._options,
                )
        return await stack.enter_async_context(answer)

    async def _upgraded(
        self, request: Request, protocols: Sequence[str], stack: AsyncExitStack
    ) -> aiohttp.ClientWebSocketResponse:
        session = await stack.enter_async_context(self._borrowed())
        with _connection_errors(self._config, request):
            stream: aiohttp.ClientWebSocketResponse = await session.ws_connect(
                self._url(request),
                protocols=protocols,
                headers=[*await self._headers(), *request.headers.items()],
                max_msg_size=0,
                **self._options,
            )
            return stream

    async def _headers(self) -> list[tuple[str, str]]:
        return [*(await self._config.credentials.headers()).items(), *_impersonation(self._config)]

    @asynccontextmanager
    async def _borrowed(self) -> AsyncIterator[aiohttp.ClientSession]:
        """The session for new requests.

        Connections keep the client certificate that they were opened with, so a new certificate means a new session.
        The old one is closed by the last request that uses it: a watch may go on for minutes.
        """
        await self._config.credentials.headers()  # after which the certificate is the current one
        if self._closed:
            raise ClientError(f"the client for {self._config.server} is closed")
        replaced = None
        if self._session is None or self._config.credentials.generation != self._generation:
            self._generation = self._config.credentials.generation
            replaced, self._session = self._session, self._connect()
        session = self._session
        self._users[session] += 1
        try:
            if replaced is not None and not self._users[replaced]:
                await replaced.close()
            yield session
        finally:
            self._users[session] -= 1
            if not self._users[session]:
                del self._users[session]
                if session is not self._session:
                    await session.close()

    def _connect(self) -> aiohttp.ClientSession:
        self._options = _options(self._config)
        # Compressed answers cost less to read even on loopback: a list shrinks tenfold, and there is less to decrypt.
        accept = "identity" if self._config.disable_compression else "gzip"
        return aiohttp.ClientSession(
            # No limit on connections: each watch holds one for as long as it lives, and a pool that is full of
            # watches would never let another request through.
            connector=aiohttp.TCPConnector(limit=0, ssl=tls_context(self._config), socket_factory=self._sockets.create),
            headers={"Accept-Encoding": accept, "User-Agent": f"windvane/{windvane.__version__}"},
            # The next two are for WebSockets, which can't be opened with options of their own.
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_TIMEOUT, sock_read=HEAD_TIMEOUT),
            raise_for_status=_raise_refused_upgrade,
            middlewares=[_send_once],
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def _url(self, request: Request) -> URL:
        # Encoded already: a second pass would change escaped names.
        return URL(self._config.server + request.path, encoded=True).with_query(list(request.query))


class _Body(aiohttp.BytesIOPayload):
    """A body that is sent in parts, as it may be large, and not at all if its guard objects.

    Between the decision to send a request and its first byte there may be a whole TLS handshake, and a pause of this
    process. A server does nothing before it has the body; so that is the moment to ask.
    """

    def __init__(self, body: bytes, guard: Callable[[], None] | None) -> None:
        super().__init__(io.BytesIO(body))
        self._guard = guard

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        if self._guard is not None:
            self._guard()
        await super().write_with_length(writer, content_length)


def _options(config: ClientConfig) -> dict[str, Any]:
    """How aiohttp is to reach the server: found out once per session, since looking for a proxy takes a while."""
    options: dict[str, Any] = {}
    if (proxy := proxy_for(config)) is not None:
        options["proxy"] = proxy
    if config.tls_server_name is not None:
        options["server_hostname"] = config.tls_server_name
    return options


def _head_timeout(request: Request) -> float:
    """In how many seconds an answer has to begin."""
    return min(request.timeout or HEAD_TIMEOUT, HEAD_TIMEOUT)


def _hang_up(answer: aiohttp.ClientResponse) -> None:
    """Drop the connection of a stream that is left before its end: a TLS goodbye may outlive the event loop."""
    if answer.connection is not None and answer.connection.transport is not None:
        answer.connection.transport.abort()


class HTTPResponse:
    """An answer of aiohttp's, as `Response`."""

    def __init__(self, answer: aiohttp.ClientResponse, request: Request) -> None:
        self._answer = answer
        self._request = request
        self.code = answer.status

    def header(self, name: str) -> Sequence[str]:
        """All values of a header."""
        return self._answer.headers.getall(name, ())

    async def read(self) -> bytes:
        """The whole body."""
        with _broken_answers(self._request):
            return await self._answer.read()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        with _broken_answers(self._request):
            async for chunk in self._answer.content.iter_any():
                yield chunk


class HTTPWebSocket:
    """A WebSocket of aiohttp's, as `WebSocket`."""

    def __init__(self, stream: aiohttp.ClientWebSocketResponse) -> None:
        self._stream = stream
        self.protocol = stream.protocol or ""

    async def send(self, message: bytes) -> None:
        """Send one binary message; `Interrupted` if the other side has gone."""
        try:
            await self._stream.send_bytes(message)
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Interrupted(f"the WebSocket closed while sending: {error}") from error

    async def messages(self) -> AsyncIterator[bytes]:
        """What the server sends, until it closes; `Interrupted` if the connection breaks instead."""
        while True:
            message = await self._stream.receive()
            if message.type is aiohttp.WSMsgType.BINARY:
                yield message.data
            elif message.type is aiohttp.WSMsgType.TEXT:
                yield message.data.encode()
            elif message.type is aiohttp.WSMsgType.CLOSE and message.data in NORMAL_CLOSE:
                return
            elif message.type is aiohttp.WSMsgType.CLOSE:
                raise Interrupted(f"the server closed the WebSocket with code {message.data}: {message.extra}")
            else:
                # aiohttp takes a connection that just ends for one that was closed.
                reason = self._stream.exception()
                raise Interrupted(f"the WebSocket ended without a goodbye{f': {reason}' if reason else ''}") from reason


async def _raise_refused_upgrade(answer: aiohttp.ClientResponse) -> None:
    """Raise what a refused WebSocket was refused with: aiohttp itself keeps the code but not the body, the reason."""
    if "Upgrade" in answer.request_info.headers and answer.status != 101:
        raise error_from_answer(answer.status, await answer.read(), f"{answer.method} {answer.url.raw_path}")


async def _send_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Hide from aiohttp how a connection broke: it would send all but POST and PATCH a second time, on its own.

    Whether that is safe is decided in `calls`. A PUT or DELETE may have happened, and is not repeated.
    """
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise  # nothing was sent
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(_words(error)) from error


@contextmanager
def _connection_errors(config: ClientConfig, request: Request) -> Iterator[None]:
    """Say in a person's words why there is no answer, and keep apart what was sent from what was not."""
    where = f"{config.server} (from {config.source})"
    try:
        yield
    except aiohttp.ClientConnectorCertificateError as error:
        raise Untrusted(f"{where}: {certificate_problem(error.certificate_error, config)}") from error
    except aiohttp.ClientConnectorSSLError as error:
        raise Untrusted(f"{where}: the TLS handshake failed: {error.os_error}") from error
    except aiohttp.ClientProxyConnectionError as error:
        raise Unreachable(f"{where}: {proxy_name(config)} can't be reached: {error.os_error}") from error
    except aiohttp.ClientHttpProxyError as error:
        raise Unreachable(f"{where}: {proxy_name(config)} answered {error.status} {error.message}") from error
    except aiohttp.ClientConnectorError as error:
        raise Unreachable(f"{where} can't be reached: {_reason(error.os_error)}") from error
    except (aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError) as error:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            raise Unreachable(f"{where} did not take the connection within {CONNECT_TIMEOUT:.0f} s") from error
        raise Interrupted(f"{request}: no answer from {where} in time: {_words(error)}") from error
    except TimeoutError as error:
        raise Interrupted(f"{request}: no answer from {where} within {_head_timeout(request):.0f} s") from error
    except (aiohttp.ClientError, ConnectionError) as error:
        if isinstance(error.__cause__, ClientError):
            raise error.__cause__ from None  # the request's guard objected, and aiohttp takes that for a broken pipe
        raise Interrupted(f"{request}: the connection to {where} broke: {_words(error)}") from error


@contextmanager
def _broken_answers(request: Request) -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
        raise Interrupted(f"{request}: the answer broke off: {_words(error)}") from error


def _reason(error: OSError) -> str:
    """The system's own words, such as "Connection refused": asyncio puts others in their place."""
    if isinstance(error, socket.gaierror) or error.errno is None:
        return error.strerror or str(error)
    return os.strerror(error.errno)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _impersonation(config: ClientConfig) -> Iterator[tuple[str, str]]:
    if config.impersonate_user is None:
        return
    yield "Impersonate-User", config.impersonate_user
    if config.impersonate_uid is not None:
        yield "Impersonate-Uid", config.impersonate_uid
    for group in config.impersonate_groups:
        yield "Impersonate-Group", group
    for key, values in config.impersonate_extra.items():
        for value in values:
            yield f"Impersonate-Extra-{quote(key, safe='')}", value


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if (option := getattr(socket, name, None)) is not None:  # macOS and Windows have only some of them
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made
