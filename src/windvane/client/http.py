"""The transport over HTTPS, on aiohttp: TLS, proxies, credentials, and connections that notice when they die."""

import asyncio
import io
import logging
import os
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

import windvane
from windvane.client.config import ClientConfig
from windvane.client.errors import ClientError, Interrupted, Unauthorized, Unreachable, Untrusted, error_from_answer
from windvane.client.transport import Request

log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10.0
UPGRADE_TIMEOUT = 60.0
CLOSE_TIMEOUT = 5.0
NORMAL_CLOSE = (0, aiohttp.WSCloseCode.OK)  # 0 is aiohttp's word for a close without a code

# A peer that vanished (a crashed node, a cut cable) says nothing. The kernel asks it after 15 seconds of silence,
# every 5 seconds, and gives up after 3 unanswered questions: a dead watch is noticed within half a minute.
KEEPALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}

# OpenSSL's numbers (X509_V_ERR_...) for what can be wrong with a certificate that is from the right authority.
ANOTHER_NAME = (62, 64)  # host name, IP address
NOT_NOW = (9, 10)  # not yet valid, expired


class HTTPTransport:
    """Carries requests to the API server that a `ClientConfig` describes."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._session: aiohttp.ClientSession | None = None
        self._generation = 0
        self._retired: list[aiohttp.ClientSession] = []
        self._open: set[aiohttp.ClientResponse] = set()
        self._closed = False

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator["HTTPResponse"]:
        """See `Transport.open`."""
        async with self._answered(request) as answer:
            yield HTTPResponse(answer, request)

    @asynccontextmanager
    async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator["HTTPWebSocket"]:
        """See `Transport.websocket`."""
        stream = await self._upgraded(request, protocols)
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
            answer.close()  # aiohttp closes the connections of a session, but leaves those who read from them waiting
        for session in (self._session, *self._retired):
            if session is not None:
                await session.close()
        self._session = None
        self._retired.clear()

    @asynccontextmanager
    async def _answered(self, request: Request) -> AsyncIterator[aiohttp.ClientResponse]:
        fresh = False
        while True:
            session, headers = await self._ready()
            with _connection_errors(self._config, request):
                answer = await session.request(
                    request.method,
                    self._url(request),
                    headers=[*headers, *request.headers.items()],
                    data=None if request.body is None else io.BytesIO(request.body),  # in parts: it may be large
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_TIMEOUT, sock_read=request.timeout),
                    **self._options(),
                )
            async with answer:
                # A token may have rotated, or a plugin's credentials expired, since they were last fetched.
                if answer.status == 401 and not fresh and await self._config.credentials.invalidate():
                    fresh = True
                    continue
                self._open.add(answer)
                try:
                    yield answer
                finally:
                    self._open.discard(answer)
                return

    async def _upgraded(
        self, request: Request, protocols: Sequence[str], *, fresh: bool = False
    ) -> aiohttp.ClientWebSocketResponse:
        session, headers = await self._ready()
        try:
            with _connection_errors(self._config, request):
                stream: aiohttp.ClientWebSocketResponse = await session.ws_connect(
                    self._url(request),
                    protocols=protocols,
                    headers=[*headers, *request.headers.items()],
                    max_msg_size=0,
                    **self._options(),
                )
                return stream
        except Unauthorized:
            if fresh or not await self._config.credentials.invalidate():
                raise
            return await self._upgraded(request, protocols, fresh=True)

    async def _ready(self) -> tuple[aiohttp.ClientSession, list[tuple[str, str]]]:
        credentials = self._config.credentials
        headers = [*(await credentials.headers()).items(), *_impersonation(self._config)]
        if self._closed:
            raise ClientError(f"the client for {self._config.server} is closed")
        if self._session is not None and credentials.generation != self._generation:
            # Requests under way, most of all watches, keep the connections they have.
            self._retired = [session for session in self._retired if not session.closed]
            self._retired.append(self._session)
            self._session = None
        if self._session is None:
            self._generation = credentials.generation
            self._session = self._connect()
        return self._session, headers

    def _connect(self) -> aiohttp.ClientSession:
        # Compressed answers cost less to read even on loopback: a list shrinks tenfold, and there is less to decrypt.
        accept = "identity" if self._config.disable_compression else "gzip"
        return aiohttp.ClientSession(
            # No limit on connections: each watch holds one for as long as it lives, and a pool that is full of
            # watches would never let another request through.
            connector=aiohttp.TCPConnector(limit=0, ssl=_tls(self._config), socket_factory=_socket),
            headers={"Accept-Encoding": accept, "User-Agent": f"windvane/{windvane.__version__}"},
            # The next two are for WebSockets, which can't be opened with options of their own.
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_TIMEOUT, sock_read=UPGRADE_TIMEOUT),
            raise_for_status=_raise_refused_upgrade,
            middlewares=[_send_once],
        )

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if (proxy := _proxy(self._config)) is not None:
            options["proxy"] = proxy
        if self._config.tls_server_name is not None:
            options["server_hostname"] = self._config.tls_server_name
        return options

    def _url(self, request: Request) -> URL:
        # Encoded already: a second pass would change escaped names.
        return URL(self._config.server + request.path, encoded=True).with_query(list(request.query))


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
        raise Untrusted(f"{where}: {_certificate_words(error.certificate_error, config)}") from error
    except aiohttp.ClientConnectorSSLError as error:
        raise Untrusted(f"{where}: the TLS handshake failed: {error.os_error}") from error
    except aiohttp.ClientProxyConnectionError as error:
        raise Unreachable(f"{where}: {_proxy_name(config)} can't be reached: {error.os_error}") from error
    except aiohttp.ClientHttpProxyError as error:
        raise Unreachable(f"{where}: {_proxy_name(config)} answered {error.status} {error.message}") from error
    except aiohttp.ClientConnectorError as error:
        raise Unreachable(f"{where} can't be reached: {error.os_error.strerror or error.os_error}") from error
    except (aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError) as error:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            raise Unreachable(f"{where} did not take the connection within {CONNECT_TIMEOUT:.0f} s") from error
        raise Interrupted(f"{request}: no answer from {where} within {request.timeout:.0f} s") from error
    except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
        raise Interrupted(f"{request}: the connection to {where} broke: {_words(error)}") from error


@contextmanager
def _broken_answers(request: Request) -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
        raise Interrupted(f"{request}: the answer broke off: {_words(error)}") from error


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _certificate_words(error: Exception, config: ClientConfig) -> str:
    code = getattr(error, "verify_code", None)
    reason = getattr(error, "verify_message", error)
    if code in ANOTHER_NAME:
        return f"the server's certificate is for another name ({reason}); set tls-server-name to its name"
    if code in NOT_NOW:
        return f"the server's certificate is not valid now ({reason}); renew it, or correct this machine's clock"
    authority = "the certificate authority in the configuration" if config.ca else "an authority this system trusts"
    return f"the server's certificate is not signed by {authority} ({reason}); correct certificate-authority"


def _tls(config: ClientConfig) -> ssl.SSLContext | bool:
    if not config.server.startswith("https:"):
        return False
    try:
        # Without a text, Python would trust the system's authorities; "-" is one that has no certificate.
        cadata = None if config.ca is None else config.ca.decode("ascii", "ignore") or "-"
        context = ssl.create_default_context(cadata=cadata)
    except ssl.SSLError as error:
        problem = f"the certificate authority from {config.source} can't be read: {error}"
        raise Untrusted(f"{problem}; correct certificate-authority") from error
    # Python 3.13 and newer insist on extensions that the certificates of many clusters lack. kubectl does not.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.client_cert is not None and config.client_key is not None:
        certificate: tuple[bytes, bytes] | None = (config.client_cert, config.client_key)
    else:
        certificate = config.credentials.client_certificate()
    if certificate is not None:
        _load_certificate(context, *certificate, config.source)
    return context


def _load_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes, source: str) -> None:
    """OpenSSL reads certificates from files only: ours exists for a moment, for our eyes only."""
    descriptor, name = tempfile.mkstemp()  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(certificate + b"\n" + key)
        context.load_cert_chain(name)
    except ssl.SSLError as error:
        raise Untrusted(f"the client certificate and key from {source} don't work: {error}") from error
    finally:
        Path(name).unlink()


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


def _proxy(config: ClientConfig) -> str | None:
    return config.proxy_url or _environment_proxy(config.server)


def _proxy_name(config: ClientConfig) -> str:
    """The proxy as messages name it: without its password."""
    return f"the proxy {URL(_proxy(config) or '').with_user(None)}"


def _environment_proxy(server: str) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY mean for `server`, as kubectl understands them.

    aiohttp's own `trust_env` would look into ~/.netrc as well, and send the password that stands there.
    """
    parts = urlsplit(server)
    if _is_loopback(server) or proxy_bypass(parts.netloc) or _in_no_proxy_network(parts.hostname or ""):
        return None
    proxy = getproxies().get(parts.scheme)
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _in_no_proxy_network(host: str) -> bool:
    """Whether NO_PROXY has a network, such as 10.0.0.0/8, that `host` is an address in; Python itself knows names."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    for entry in getproxies().get("no", "").split(","):
        with suppress(ValueError):
            if address in ip_network(entry.strip(), strict=False):
                return True
    return False


def _is_loopback(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if (option := getattr(socket, name, None)) is not None:  # macOS and Windows have only some of them
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made
