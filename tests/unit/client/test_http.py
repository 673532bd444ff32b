"""The transport over HTTPS, against real servers on loopback: trust, identity, proxies, and how answers break."""

import asyncio
import gzip
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from talking import talking
from unit.client.certificates import LONG_AGO, Authority, Pair
from unit.client.fakes import Clock, config_map
from unit.client.servers import Handler, Proxy, Server, proxying, serving, silent
from windvane.client import http
from windvane.client.client import Client
from windvane.client.config import ClientConfig
from windvane.client.credentials import BearerToken, TokenFile
from windvane.client.errors import (
    APIError,
    ClientError,
    FateUnknown,
    Interrupted,
    Unauthorized,
    Unavailable,
    Unreachable,
    Untrusted,
)
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request
from windvane.k8s.core import ConfigMap

AUTHORITY = Authority()
HERE = AUTHORITY.sign("kube-apiserver", ["127.0.0.1", "kubernetes.example"])
GET = Request("GET", "/version")
PATIENCE = 120.0


async def ok(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(body=b"{}")


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncIterator[HTTPTransport]:
    """A transport that trusts our authority, unless the options say otherwise. Whatever hangs, fails."""
    transport = HTTPTransport(ClientConfig(**{"server": url, "ca": AUTHORITY.pem, "source": "the test"} | options))
    try:
        async with asyncio.timeout(PATIENCE):
            yield transport
    finally:
        await transport.close()


async def fetch(transport: HTTPTransport, request: Request = GET) -> bytes:
    async with transport.open(request) as response:
        return await response.read()


async def failure(transport: HTTPTransport, request: Request = GET) -> ClientError:
    with pytest.raises(ClientError) as caught:
        await fetch(transport, request)
    return caught.value


async def ask(handler: Handler, request: Request = GET, **options: Any) -> tuple[Server, bytes]:
    """The body of the answer to one request, and the server that gave it."""
    async with serving(handler, HERE) as server, connected(server.url, **options) as transport:
        return server, await fetch(transport, request)


# What is sent.


async def test_a_request_arrives_as_it_was_asked() -> None:
    async def echo(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=201, body=await request.read(), headers={"X-Answer": "yes"})

    async with serving(echo, HERE) as server, connected(f"{server.url}/prefix") as transport:
        request = Request("PATCH", "/api/v1/nodes/a:b%20c%2Cd", [("dryRun", "All")], {"Content-Type": "x/y"}, b"body")
        async with transport.open(request) as response:
            assert response.code == 201
            assert response.header("x-answer") == ["yes"]
            assert list(response.header("X-Other")) == []
            assert await response.read() == b"body"
    received = server.requests[0]
    assert received.method == "PATCH"
    assert received.raw_path == "/prefix/api/v1/nodes/a:b%20c%2Cd?dryRun=All"
    assert received.headers["Content-Type"] == "x/y"
    assert received.headers["User-Agent"].startswith("windvane/")


async def test_a_request_whose_guard_objects_is_not_carried_out_and_the_next_one_is() -> None:
    bodies: list[bytes] = []
    asked: list[str] = []

    async def keep(request: web.BaseRequest) -> web.StreamResponse:
        bodies.append(await request.read())
        return web.Response(body=b"{}")

    def object_() -> None:
        asked.append("guard")
        raise ClientError("not any more")

    async with serving(keep, HERE) as server, connected(server.url) as transport:
        with pytest.raises(ClientError, match=r"^not any more$"):
            await fetch(transport, Request("POST", "/x", body=b"late", guard=object_))
        await fetch(transport, Request("POST", "/x", body=b"fine", guard=lambda: asked.append("passed")))
    assert asked == ["guard", "passed"]
    assert bodies == [b"fine"]


async def test_a_query_arrives_whatever_characters_it_has() -> None:
    query = [("labelSelector", "app in (a,b),x!=y"), ("continue", "e+/=&;%41 é"), ("command", "sh"), ("command", "-c")]
    server, _ = await ask(ok, Request("GET", "/x", query))
    assert list(server.requests[0].query.items()) == query


async def test_all_values_of_a_header_are_told() -> None:
    async def warn(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(headers=[("Warning", '299 - "one"'), ("Warning", '299 - "two"')])

    async with serving(warn, HERE) as server, connected(server.url) as transport, transport.open(GET) as response:
        assert list(response.header("Warning")) == ['299 - "one"', '299 - "two"']


async def test_impersonation_is_told_in_headers() -> None:
    server, _ = await ask(
        ok,
        impersonate_user="ada",
        impersonate_uid="u-1",
        impersonate_groups=("devs", "ops"),
        impersonate_extra={"acme.io/Scope": ("a", "b")},
    )
    told = [(key, value) for key, value in server.requests[0].headers.items() if key.startswith("Impersonate")]
    assert sorted(told) == [
        ("Impersonate-Extra-acme.io%2FScope", "a"),
        ("Impersonate-Extra-acme.io%2FScope", "b"),
        ("Impersonate-Group", "devs"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-User", "ada"),
    ]


async def test_a_password_in_netrc_is_nobodys_business(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server, _ = await ask(ok)
    assert "Authorization" not in server.requests[0].headers


async def test_a_redirect_is_shown_and_not_followed() -> None:
    async def redirect(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with serving(redirect, HERE) as server, connected(server.url) as transport:
        async with transport.open(GET) as response:
            assert response.code == 307
        assert [request.path for request in server.requests] == ["/version"]


async def test_a_hundred_open_streams_leave_room_for_another_request() -> None:
    async def stream(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        if request.path == "/watch":
            await asyncio.Event().wait()
        return response

    async with serving(stream, HERE) as server, connected(server.url) as transport, AsyncExitStack() as streams:
        for _ in range(101):
            await streams.enter_async_context(transport.open(Request("GET", "/watch")))
        assert await fetch(transport) == b""


# Whom we trust.


async def test_a_server_with_our_authoritys_certificate_is_trusted() -> None:
    _, body = await ask(ok)
    assert body == b"{}"


async def test_a_certificate_of_another_authority_is_not_trusted_and_says_what_to_correct() -> None:
    async with serving(ok, HERE) as server, connected(server.url, ca=Authority().pem) as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert f"{server.url} (from the test)" in str(error)
    assert "not signed by the certificate authority in the configuration" in str(error)
    assert "correct certificate-authority" in str(error)
    assert server.requests == []


async def test_without_an_authority_the_systems_own_count() -> None:
    async with serving(ok, HERE) as server, connected(server.url, ca=None) as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert "not signed by an authority this system trusts" in str(error)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_certificate_for_another_name_points_to_tls_server_name(host: str) -> None:
    elsewhere = AUTHORITY.sign("kube-apiserver", ["10.0.0.1", "kubernetes.example"])
    async with serving(ok, elsewhere) as server, connected(f"https://{host}:{server.port}") as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert "is for another name" in str(error)
    assert "set tls-server-name" in str(error)


async def test_tls_server_name_is_the_name_that_the_certificate_must_have() -> None:
    elsewhere = AUTHORITY.sign("kube-apiserver", ["kubernetes.example"])
    async with serving(ok, elsewhere) as server:
        async with connected(server.url, tls_server_name="kubernetes.example") as transport:
            assert await fetch(transport) == b"{}"
        async with connected(server.url, tls_server_name="other.example") as transport:
            assert isinstance(await failure(transport), Untrusted)


async def test_an_expired_certificate_is_not_blamed_on_the_authority() -> None:
    expired = AUTHORITY.sign("kube-apiserver", ["127.0.0.1"], until=LONG_AGO)
    async with serving(ok, expired) as server, connected(server.url) as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert "certificate has expired" in str(error)
    assert "certificate-authority" not in str(error)


async def test_insecure_trusts_anybody() -> None:
    stranger = Authority().sign("stranger", ["10.0.0.1"])
    async with serving(ok, stranger) as server, connected(server.url, ca=None, insecure=True) as transport:
        assert await fetch(transport) == b"{}"


async def test_an_authority_without_key_identifiers_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    default = ssl.create_default_context

    def strict(**options: Any) -> ssl.SSLContext:
        """As in Python 3.13 and newer; what many clusters' authorities sign does not pass it."""
        context = default(**options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    _, body = await ask(ok)
    assert body == b"{}"


@pytest.mark.parametrize("ca", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", b"\xff"])
async def test_an_authority_that_is_none_is_not_replaced_by_the_systems_own(ca: bytes) -> None:
    async with connected("https://127.0.0.1:1", ca=ca) as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert "certificate authority from the test" in str(error)


async def test_a_server_that_speaks_no_tls_is_not_trusted() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # First all that the client has to say: who is hung up on while still writing may tell of that instead.
        await reader.readexactly(int.from_bytes((await reader.readexactly(5))[3:]))
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with talking(plain) as port, connected(f"https://127.0.0.1:{port}") as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert "the TLS handshake failed" in str(error)


async def test_a_server_without_tls_is_spoken_to_as_it_is() -> None:
    async with serving(ok, None) as server, connected(server.url, ca=None) as transport:
        assert await fetch(transport) == b"{}"


# Who we are.


class Certificates:
    """Credentials that are a client certificate, which the test renews."""

    def __init__(self, pair: Pair) -> None:
        self.generation = 0
        self._pair = pair

    def renew(self, pair: Pair) -> None:
        self.generation += 1
        self._pair = pair

    async def headers(self) -> Mapping[str, str]:
        return {}

    async def invalidate(self) -> bool:
        return False

    def client_certificate(self) -> tuple[bytes, bytes] | None:
        return self._pair


def bearer(*good: str) -> Handler:
    """A server that takes these tokens only."""

    async def check(request: web.BaseRequest) -> web.StreamResponse:
        accepted = request.headers.get("Authorization") in [f"Bearer {token}" for token in good]
        return web.Response(status=200 if accepted else 401, text=await request.text())

    return check


async def test_a_token_is_sent() -> None:
    _, body = await ask(bearer("t0p"), Request("POST", "/", body=b"mine"), credentials=BearerToken("t0p"))
    assert body == b"mine"


async def test_after_a_401_the_request_is_sent_whole_again_with_the_token_that_is_there_now(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")

    async def rotate(request: web.BaseRequest) -> web.StreamResponse:
        file.write_text("new")
        return await bearer("new")(request)

    server, body = await ask(rotate, Request("POST", "/", body=b"mine"), credentials=TokenFile(file))
    assert body == b"mine"
    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer old", "Bearer new"]


async def test_a_second_401_is_final(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("bad")
    async with serving(bearer("good"), HERE) as server, connected(server.url, credentials=TokenFile(file)) as transport:
        with pytest.raises(Unauthorized):
            await Client(transport).version()
    assert len(server.requests) == 2


async def test_a_token_that_cannot_change_is_not_sent_twice() -> None:
    async with (
        serving(bearer("good"), HERE) as server,
        connected(server.url, credentials=BearerToken("bad")) as transport,
    ):
        with pytest.raises(Unauthorized):
            await Client(transport).version()
    assert len(server.requests) == 1


async def test_a_client_certificate_is_presented() -> None:
    ada = AUTHORITY.sign("ada")
    async with (
        serving(ok, HERE, client_ca=AUTHORITY.pem) as server,
        connected(server.url, client_cert=ada.certificate, client_key=ada.key) as transport,
    ):
        await fetch(transport)
    assert server.peers == ["ada"]


async def test_a_certificate_that_does_not_fit_its_key_is_told_apart_from_the_servers() -> None:
    ada, bob = AUTHORITY.sign("ada"), AUTHORITY.sign("bob")
    async with connected("https://127.0.0.1:1", client_cert=ada.certificate, client_key=bob.key) as transport:
        error = await failure(transport)
    assert isinstance(error, Untrusted)
    assert "the client certificate and key from the test don't work" in str(error)


async def test_a_key_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ada, bob = AUTHORITY.sign("ada"), AUTHORITY.sign("bob")
    for key in (ada.key, bob.key):
        async with connected("https://127.0.0.1:1", client_cert=ada.certificate, client_key=key) as transport:
            await failure(transport)
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240 - nothing else runs here


async def test_a_renewed_certificate_is_for_new_requests_and_running_streams_go_on() -> None:
    renewed = asyncio.Event()

    async def stream(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"before")
        if request.path == "/watch":
            await renewed.wait()
            await response.write(b"after")
        return response

    credentials = Certificates(AUTHORITY.sign("ada-1"))
    async with (
        serving(stream, HERE, client_ca=AUTHORITY.pem) as server,
        connected(server.url, credentials=credentials) as transport,
    ):
        async with transport.open(Request("GET", "/watch")) as watch:
            chunks = aiter(watch.chunks())
            assert await anext(chunks) == b"before"
            old = transport._session
            credentials.renew(AUTHORITY.sign("ada-2"))
            await fetch(transport)
            renewed.set()
            assert [chunk async for chunk in chunks] == [b"after"]
            assert old is not None
            assert not old.closed
        assert old.closed  # by its last reader: a program that runs for a year renews often
        await fetch(transport)
    assert server.peers == ["ada-1", "ada-2", "ada-2"]


# No answer.


async def test_a_server_that_is_not_there_is_unreachable_by_name_and_origin() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # it does not listen, and nobody else can
        url = f"https://127.0.0.1:{held.getsockname()[1]}"
        async with connected(url) as transport:
            error = await failure(transport)
    assert type(error) is Unreachable
    assert f"{url} (from the test) can't be reached: Connect" in str(error)


async def test_a_server_that_takes_no_connection_in_time_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CONNECT_TIMEOUT", 0.05)
    async with silent() as port, connected(f"https://127.0.0.1:{port}") as transport:
        error = await failure(transport)
    assert type(error) is Unreachable
    assert "did not take the connection within" in str(error)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("kept_alive", [False, True])
async def test_a_request_whose_connection_breaks_is_interrupted_and_was_sent_once(
    method: str, kept_alive: bool
) -> None:
    async def hang_up(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/act":
            assert request.transport is not None
            request.transport.close()
        return web.Response()

    async with serving(hang_up, HERE) as server, connected(server.url) as transport:
        if kept_alive:
            await fetch(transport)
        error = await failure(transport, Request(method, "/act", body=None if method == "GET" else b"{}"))
    assert isinstance(error, Interrupted)
    assert f"{method} /act: the connection to {server.url} (from the test) broke" in str(error)
    assert [request.path for request in server.requests].count("/act") == 1


async def test_a_write_that_breaks_off_is_of_unknown_fate() -> None:
    async def hang_up(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    async with serving(hang_up, HERE) as server, connected(server.url) as transport:
        with pytest.raises(FateUnknown):
            await Client(transport).delete(ConfigMap, "settings")
    assert len(server.requests) == 1


async def test_no_answer_in_time_is_an_interruption() -> None:
    async def dawdle(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with serving(dawdle, HERE) as server, connected(server.url) as transport:
        error = await failure(transport, Request("GET", "/slow", timeout=0.05))
    assert isinstance(error, Interrupted)
    assert f"GET /slow: no answer from {server.url}" in str(error)


async def test_a_stream_that_does_not_begin_is_an_interruption_however_long_it_may_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def dawdle(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    monkeypatch.setattr(http, "HEAD_TIMEOUT", 0.05)
    async with serving(dawdle, HERE) as server, connected(server.url) as transport:
        for timeout in (600, None):
            error = await failure(transport, Request("GET", "/watch", timeout=timeout))
            assert isinstance(error, Interrupted)
            assert f"GET /watch: no answer from {server.url}" in str(error)


# Answers that break.


def halfway(end: Callable[[asyncio.Transport], None], *, chunked: bool = True) -> Handler:
    """A server that says half of what it wanted to say."""

    async def half(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={} if chunked else {"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        end(request.transport)
        return response

    return half


@pytest.mark.parametrize("end", [asyncio.Transport.close, asyncio.Transport.abort])
@pytest.mark.parametrize("chunked", [True, False])
async def test_an_answer_that_breaks_off_is_never_taken_for_whole(
    end: Callable[[asyncio.Transport], None], chunked: bool
) -> None:
    async with serving(halfway(end, chunked=chunked), HERE) as server, connected(server.url) as transport:
        assert isinstance(await failure(transport), Interrupted)


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_stream_that_breaks_off_gives_what_came_and_then_says_so(chunked: bool) -> None:
    handler = halfway(asyncio.Transport.close, chunked=chunked)
    async with serving(handler, HERE) as server, connected(server.url) as transport, transport.open(GET) as response:
        chunks = aiter(response.chunks())
        assert await anext(chunks) == b"half"
        with pytest.raises(Interrupted, match="GET /version: the answer broke off"):
            await anext(chunks)


async def test_a_stream_that_falls_silent_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stall(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"half")
        await asyncio.Event().wait()
        return response

    request = Request("GET", "/", timeout=PATIENCE / 2)
    async with serving(stall, HERE) as server, connected(server.url) as transport, transport.open(request) as response:
        chunks = aiter(response.chunks())
        assert await anext(chunks) == b"half"
        # The clock is put forward once it has begun: an answer that had to come within a moment may take longer to.
        loop, time = asyncio.get_running_loop(), asyncio.get_running_loop().time
        monkeypatch.setattr(loop, "time", lambda: time() + PATIENCE / 2)
        with pytest.raises(Interrupted):
            await anext(chunks)


async def test_a_watch_whose_connection_is_cut_within_an_event_gets_it_on_the_next(clock: Clock) -> None:
    events = [json.dumps({"type": "ADDED", "object": config_map(f"n{v}", str(v))}).encode() + b"\n" for v in (6, 7)]

    async def cut_once(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        if request.query["resourceVersion"] == "5":
            await response.write(events[0] + events[1][:-20])
            assert request.transport is not None
            request.transport.abort()
        else:
            await response.write(events[1])
        return response

    async with serving(cut_once, HERE) as server, connected(server.url) as transport:
        watch = Client(transport).watch(ConfigMap, resource_version="5")
        assert [(await anext(watch)).item.meta.name for _ in range(2)] == ["n6", "n7"]
        await watch.aclose()
    assert [request.query["resourceVersion"] for request in server.requests] == ["5", "6"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_the_words_of_a_proxy_in_between_are_shown(method: str) -> None:
    async def gateway(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=503, text="<html><h1>No server is available</h1></html>", content_type="text/html")

    async with serving(gateway, HERE) as server, connected(server.url) as transport:
        client = Client(transport)
        with pytest.raises(Unavailable, match=r"503 Service Unavailable: <html><h1>No server is available"):
            await (client.get(ConfigMap, "a") if method == "GET" else client.delete(ConfigMap, "a"))


# Large objects.


async def test_objects_of_three_mebibytes_are_read_by_get_list_and_watch() -> None:
    large = config_map("large", "6", blob="x" * 3 * 1024 * 1024)
    by_path: dict[str, object] = {
        "/api/v1/namespaces/web/configmaps/large": large,
        "/api/v1/configmaps": {"kind": "ConfigMapList", "items": [large, large]},
    }

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        content = {"type": "ADDED", "object": large} if "watch" in request.query else by_path[request.path]
        return web.Response(body=json.dumps(content).encode() + b"\n")

    async with serving(serve, HERE) as server, connected(server.url) as transport:
        client = Client(transport)
        assert len((await client.get(ConfigMap, "large", namespace="web")).data["blob"]) == 3 * 1024 * 1024
        assert [len(each.data["blob"]) for each in await client.list(ConfigMap)] == [3 * 1024 * 1024] * 2
        watch = client.watch(ConfigMap, resource_version="5")
        assert len((await anext(watch)).object.data["blob"]) == 3 * 1024 * 1024
        await watch.aclose()


async def test_a_body_of_three_mebibytes_arrives() -> None:
    async def measure(request: web.BaseRequest) -> web.StreamResponse:
        length = 0
        async for chunk in request.content.iter_any():
            length += len(chunk)
        return web.Response(text=str(length))

    _, body = await ask(measure, Request("PUT", "/", body=b"x" * 3 * 1024 * 1024))
    assert int(body) == 3 * 1024 * 1024


# Compression.


async def test_answers_are_compressed_on_the_way() -> None:
    async def compressed(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=gzip.compress(b"news" * 1000), headers={"Content-Encoding": "gzip"})

    server, body = await ask(compressed)
    assert body == b"news" * 1000
    assert server.requests[0].headers["Accept-Encoding"] == "gzip"


async def test_compression_can_be_switched_off() -> None:
    server, _ = await ask(ok, disable_compression=True)
    assert server.requests[0].headers["Accept-Encoding"] == "identity"


# Proxies.


@asynccontextmanager
async def behind_proxy(**options: Any) -> AsyncIterator[tuple[HTTPTransport, Proxy]]:
    """A transport to kubernetes.example, which only the proxy can find."""
    async with (
        serving(ok, HERE) as server,
        proxying(server) as proxy,
        connected("https://kubernetes.example:6443", **options) as transport,
    ):
        yield transport, proxy


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)


async def test_requests_go_through_the_proxy_that_the_configuration_names() -> None:
    async with (
        serving(ok, HERE) as server,
        proxying(server) as proxy,
        connected(server.url, proxy_url=proxy.url) as transport,
    ):
        assert await fetch(transport) == b"{}"
    assert proxy.heads[0].startswith(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n")


async def test_the_proxy_gets_the_password_in_its_url() -> None:
    async with serving(ok, HERE) as server, proxying(server) as proxy:
        url = f"http://ada:s3cret@127.0.0.1:{proxy.port}"
        async with connected("https://kubernetes.example", proxy_url=url) as transport:
            await fetch(transport)
    assert "Proxy-Authorization: Basic YWRhOnMzY3JldA==" in proxy.heads[0]
    assert "Authorization" not in server.requests[0].headers


async def test_the_proxy_never_sees_the_token() -> None:
    async with (
        serving(bearer("t0p"), HERE) as server,
        proxying(server) as proxy,
        connected("https://kubernetes.example", proxy_url=proxy.url, credentials=BearerToken("t0p")) as transport,
    ):
        await fetch(transport)
    assert "t0p" not in "".join(proxy.heads)
    assert "Bearer" not in "".join(proxy.heads)


async def test_a_proxy_that_refuses_is_named_without_its_password() -> None:
    async with serving(ok, HERE) as server, proxying(server, answer="403 Forbidden by policy") as proxy:
        url = f"http://ada:s3cret@127.0.0.1:{proxy.port}"
        async with connected("https://kubernetes.example", proxy_url=url) as transport:
            error = await failure(transport)
    assert type(error) is Unreachable
    assert f"the proxy http://127.0.0.1:{proxy.port} answered 403 Forbidden by policy" in str(error)
    assert "s3cret" not in str(error)
    assert server.requests == []


async def test_a_proxy_that_is_not_there_is_named_without_its_password() -> None:
    url = "http://ada:s3cret@127.0.0.1:1"
    async with connected("https://kubernetes.example", proxy_url=url) as transport:
        error = await failure(transport)
    assert type(error) is Unreachable
    assert "https://kubernetes.example (from the test): the proxy http://127.0.0.1:1 can't be reached" in str(error)
    assert "s3cret" not in str(error)


async def test_the_server_behind_a_proxy_must_prove_itself_too() -> None:
    async with (
        serving(ok, HERE) as server,
        proxying(server) as proxy,
        connected("https://other.example", proxy_url=proxy.url) as transport,
    ):
        error = await failure(transport)
        assert isinstance(error, Untrusted)
        assert "tls-server-name" in str(error)


async def test_tls_server_name_holds_behind_a_proxy() -> None:
    async with (
        serving(ok, HERE) as server,
        proxying(server) as proxy,
        connected("https://other.example", proxy_url=proxy.url, tls_server_name="kubernetes.example") as transport,
    ):
        assert await fetch(transport) == b"{}"


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
async def test_without_one_in_the_configuration_the_environments_proxy_is_used(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with behind_proxy() as (transport, proxy):
        monkeypatch.setenv(variable, proxy.url)
        assert await fetch(transport) == b"{}"
    assert proxy.heads[0].startswith("CONNECT kubernetes.example:6443")


async def test_the_environments_proxy_is_named_when_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    async with connected("https://kubernetes.example") as transport:
        error = await failure(transport)
    assert "the proxy http://127.0.0.1:1 can't be reached" in str(error)


async def test_a_server_on_this_machine_is_not_looked_for_behind_the_environments_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    _, body = await ask(ok)
    assert body == b"{}"


# Closing.


async def test_a_closed_transport_opens_no_new_connections() -> None:
    async with serving(ok, HERE) as server, connected(server.url) as transport:
        await fetch(transport)
        await transport.close()
        error = await failure(transport)
    assert "closed" in str(error)
    assert not isinstance(error, Unreachable | Interrupted | APIError)
    assert len(server.requests) == 1


@pytest.mark.parametrize("reading", [True, False])
async def test_a_watch_ends_when_its_client_is_closed(reading: bool, clock: Clock) -> None:
    async def quiet(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        if request.path != "/version":
            await response.write(json.dumps({"type": "ADDED", "object": config_map("a", "6")}).encode() + b"\n")
            await asyncio.Event().wait()
        return response

    async with serving(quiet, HERE) as server, connected(server.url) as transport:
        client = Client(transport)
        watch = client.watch(ConfigMap, resource_version="5")
        await anext(watch)
        waiting = asyncio.ensure_future(anext(watch))
        if reading:
            await fetch(transport)  # by the time this is answered, the watch has begun to read
        await client.close()
        with pytest.raises(ClientError, match="closed"):
            await waiting
    assert [request.path for request in server.requests].count("/api/v1/configmaps") == 1


@pytest.mark.parametrize("begun", [False, True])
async def test_a_request_that_was_given_up_leaves_no_connection_to_a_server_that_says_no_goodbye(
    begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or it would be found by a collection of garbage when its event loop has ended."""
    arrived = asyncio.Event()
    made: list[socket.socket] = []
    make = http._socket

    def note(address: Any) -> socket.socket:
        made.append(make(address))
        return made[-1]

    async def hold_back(request: web.BaseRequest) -> web.StreamResponse:
        connection: Any = request.transport
        response = web.StreamResponse()
        if begun:
            await response.prepare(request)
        connection.pause_reading()  # so it sees no goodbye, as on a machine that is busy with something else
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            connection.resume_reading()
        return response

    monkeypatch.setattr(http, "_socket", note)
    async with serving(hold_back, HERE) as server:
        async with connected(server.url) as transport:
            fetching = asyncio.get_running_loop().create_task(fetch(transport))
            await arrived.wait()
            fetching.cancel()
            await asyncio.wait([fetching])
        assert [each.fileno() for each in made] == [-1]
