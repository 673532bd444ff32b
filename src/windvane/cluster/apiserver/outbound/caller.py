"""Posts requests to webhooks over HTTPS; errors have the words of a real API server.

Connections are reused as long as the webhook's configuration stays the same. The address comes from the configuration
alone: proxies of the environment and redirects are ignored.
"""

import asyncio
import errno
import io
import os
import re
import socket
import ssl
from base64 import b64decode
from collections import Counter
from ipaddress import ip_address
from types import SimpleNamespace
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from yarl import URL

from windvane.api.wording import quoted
from windvane.cluster.apiserver.outbound.certificates import BadBundle, problem_of, trust
from windvane.cluster.apiserver.outbound.services import Address, ServiceUnreachable, address_of
from windvane.cluster.apiserver.storage.store import Store
from windvane.connections import Connector

MOST_SESSIONS = 200
LARGEST_REPLY = 256 * 1024 * 1024
"""In bytes, decompressed: a whole list may be converted at once, but small bodies may decompress to huge ones."""
HEADERS = {
    "Accept": "application/json, */*",
    "Accept-Encoding": "gzip",
    "Content-Type": "application/json",
    "User-Agent": "kube-apiserver-admission",
}
STOPPING = "the server is stopping"
NOT_TLS = frozenset({"HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER"})
_TRIED = re.compile(r"\('([^']+)', ([0-9]+)")


class ServiceReference(Struct, frozen=True):
    """A port of a Service, and the path to post to."""

    namespace: str = ""
    name: str = ""
    path: str = ""
    port: int = 443


class ClientConfig(Struct, frozen=True, rename={"ca_bundle": "caBundle"}):
    """The `clientConfig` of a webhook."""

    url: str = ""
    service: ServiceReference | None = None
    ca_bundle: str = ""
    """PEM in base64; without one, the system's roots are trusted."""


class Reply(NamedTuple):
    """The response of a webhook."""

    code: int
    content_type: str
    body: bytes


class CallFailed(Exception):
    """The call failed; the text is the real server's, after `failed to call webhook: `."""

    def __init__(self, words: str, code: int = 503) -> None:
        super().__init__(words)
        self.code = code
        """The status code of the response, or one that means that there was none."""


class InvalidClientConfig(Exception):
    """The configuration is unusable; the text is the real server's, after `could not get REST client: `."""


class Caller:
    """Calls webhooks. Belongs to one event loop; `close` it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sessions: dict[ClientConfig, aiohttp.ClientSession] = {}  # least recently used first
        self._under_way: Counter[ClientConfig] = Counter()
        self._closed = False

    async def post(self, config: ClientConfig, body: bytes, seconds: float) -> Reply:
        """The reply to a body of JSON; `CallFailed` if none comes within so many seconds."""
        if self._closed:  # the connection would never be closed
            raise CallFailed(STOPPING)
        url = url_of(config)
        query = f"?timeout={max(1, -int(-seconds // 1))}s"
        session = self._session(config)
        self._under_way[config] += 1
        try:
            await self._close_surplus()
            async with asyncio.timeout(seconds):
                return await _exchange(session, URL(url + query, encoded=True), body)
        except TimeoutError:
            problem = "context deadline exceeded"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, aiohttp.ClientPayloadError):
                words = "unexpected error when reading response body. Please retry. Original error: unexpected EOF"
                raise CallFailed(words) from error
            problem = await self._words(error, config, url)
        finally:
            self._under_way[config] -= 1
            self._under_way += Counter()  # drops the entries without calls
            # A webhook that timed out may not close TLS in time either.
            if isinstance(session.connector, Connector):
                session.connector.drop_closed()
        raise CallFailed(f"Post {quoted(url + query)}: {problem}")

    async def close(self) -> None:
        """Close all connections. Calls under way fail, and so do later ones."""
        self._closed = True
        while self._sessions:
            _, session = self._sessions.popitem()
            await session.close()

    def _session(self, config: ClientConfig) -> aiohttp.ClientSession:
        if (session := self._sessions.pop(config, None)) is None:
            session = self._opened(config)
        self._sessions[config] = session
        return session

    async def _close_surplus(self) -> None:
        """Close the least recently used connections, but not those in use: that would fail the call."""
        # One after the other: the task may be cancelled, and what is removed here must be closed.
        while len(self._sessions) > MOST_SESSIONS:
            idle = next((each for each in self._sessions if not self._under_way[each]), None)
            if idle is None:
                return
            await self._sessions.pop(idle).close()

    def _opened(self, config: ClientConfig) -> aiohttp.ClientSession:
        try:
            context = trust(b64decode(config.ca_bundle))
        except BadBundle as error:
            raise InvalidClientConfig(str(error)) from error
        resolver = _ServiceResolver(self._store, config.service) if config.service else None
        connector = Connector(ssl=context, resolver=resolver, use_dns_cache=False)
        return aiohttp.ClientSession(
            connector=connector,
            headers=HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            trace_configs=[_record_reuse()],
        )

    async def _words(self, error: Exception, config: ClientConfig, url: str) -> str:
        """Go's words for a failed request."""
        if isinstance(error, aiohttp.ServerDisconnectedError):
            return "EOF"
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            try:
                where = self._address(config, url)
            except ServiceUnreachable as gone:  # it was there when the call began
                return str(gone)
            name = urlsplit(url).hostname or ""
            return f"tls: failed to verify certificate: {await problem_of(*where, name, b64decode(config.ca_bundle))}"
        if isinstance(error, aiohttp.ClientConnectorError):
            return self._not_connected(error, config, url)
        if isinstance(error, OSError) and error.errno:
            return f"read: {os.strerror(error.errno).lower()}"
        if isinstance(error, aiohttp.ClientResponseError):
            return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
        return str(error) or type(error).__name__

    def _not_connected(self, error: aiohttp.ClientConnectorError, config: ClientConfig, url: str) -> str:
        reason = error.os_error
        if isinstance(reason, ServiceUnreachable):
            return str(reason)
        if isinstance(reason, ssl.SSLError):
            if reason.reason in NOT_TLS:
                return "http: server gave HTTP response to HTTPS client"
            return f"tls: {(reason.reason or 'handshake failure').lower().replace('_', ' ')}"
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            return f"dial tcp: lookup {error.host}: no such host"
        if reason.errno in (None, 0):
            return "EOF"
        if reason.errno == errno.ECONNRESET:
            return "read: connection reset by peer"
        tried = _TRIED.search(str(reason))
        host, port = tried.groups() if tried else self._address(config, url)
        return f"dial tcp {host}:{port}: connect: {os.strerror(reason.errno).lower()}"

    def _address(self, config: ClientConfig, url: str) -> Address:
        if config.service is not None:
            service = config.service
            return address_of(self._store, service.namespace, service.name, service.port)
        parts = urlsplit(url)
        return Address(parts.hostname or "", parts.port or 443)


def url_of(config: ClientConfig) -> str:
    """The URL to post to. As in Go's client, the path is cleaned, and always begins with a slash."""
    if config.service is not None:
        service = config.service
        return f"https://{service.name}.{service.namespace}.svc:{service.port}{_path(service.path)}"
    parts = urlsplit(config.url)
    return f"{parts.scheme}://{parts.netloc}{_path(unquote(parts.path))}"


def _path(path: str) -> str:
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(quote(step, safe="$&+,:;=@!'()*~"))
    return "/" + "/".join(steps)


async def _exchange(session: aiohttp.ClientSession, url: URL, body: bytes) -> Reply:
    """Post a body; retry on another connection if a reused one was closed meanwhile."""
    while not session.closed:
        trace = SimpleNamespace(reused=False)
        try:
            async with session.post(
                url, data=io.BytesIO(body), allow_redirects=False, trace_request_ctx=trace
            ) as response:
                content_type = response.headers.get("Content-Type", "application/json")
                return Reply(response.status, content_type, await _read(response))
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            if not trace.reused or isinstance(error, aiohttp.ClientConnectorError):
                raise
    raise CallFailed(STOPPING)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > LARGEST_REPLY:
            raise CallFailed(f"the response is larger than {LARGEST_REPLY} bytes")
    return bytes(body)


def _record_reuse() -> aiohttp.TraceConfig:
    """Records for each request whether it reused a connection."""

    async def reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.reused = True

    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(reused)
    return config


class _ServiceResolver(AbstractResolver):
    """Resolves the name of a Service when a connection is made."""

    def __init__(self, store: Store, service: ServiceReference) -> None:
        self._store = store
        self._service = service
        self._names = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The address of the Service, or of an endpoint of it."""
        there = address_of(self._store, self._service.namespace, self._service.name, port)
        try:
            found = ip_address(there.host)
        except ValueError:
            return await self._names.resolve(there.host, there.port, family)
        numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        version = socket.AF_INET if found.version == 4 else socket.AF_INET6
        return [
            ResolveResult(hostname=host, host=there.host, port=there.port, family=version, proto=0, flags=int(numeric))
        ]

    async def close(self) -> None:
        """There is nothing to close."""
        await self._names.close()
