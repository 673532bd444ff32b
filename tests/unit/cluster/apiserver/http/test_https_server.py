"""The API server over HTTPS: real sockets on loopback, with a stand-in for the server behind them."""

import asyncio
import gzip
import hashlib
import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from unit.cluster.apiserver.http.standin import StandIn, Stream
from windvane.certificates import Authority, Pair
from windvane.client.config import load_config
from windvane.client.errors import Interrupted, Untrusted
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.audit import AuditLog
from windvane.cluster.apiserver.http.https_server import HTTPSServer, Timeouts, serve
from windvane.cluster.certificate_requests import Request as CertificateRequest
from windvane.cluster.certificate_requests import certify
from windvane.cluster.pki import PKI, open_pki

MIB = 1024 * 1024
PATIENCE = 60.0
"""How many seconds something may take that must happen, on whatever machine."""
TOKENS = {"secret": User("jane", ("editors",), "u-1")}
ADMIN = User("kubernetes-admin", ("system:masters", "system:authenticated"))


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> PKI:
    return open_pki(tmp_path_factory.mktemp("pki"))


@dataclass(frozen=True)
class Got:
    """What came back over a raw connection."""

    code: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> str:
        """What the Status in the body says."""
        status = json.loads(self.body)
        assert (status["kind"], status["code"]) == ("Status", self.code)
        return str(status["message"])


@dataclass(frozen=True)
class Wire:
    """A connection on which a test writes bytes of its own."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, head: str, body: bytes = b"") -> None:
        """Send a request's head, line by line, and its body."""
        self.writer.write(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        await self.writer.drain()

    async def receive(self) -> Got:
        """Read one answer that has a Content-Length, or ends with the connection."""
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines)}
        size = headers.get("content-length")
        body = await (self.reader.read() if size is None else self.reader.readexactly(int(size)))
        return Got(int(first.split()[1]), headers, body)


def trusting(pki: PKI, *, certificate: bool = True) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(pki.ca_certificate))
    if certificate:
        context.load_cert_chain(pki.directory / "admin.crt", pki.directory / "admin.key")
    return context


@asynccontextmanager
async def connected(serving: HTTPSServer, context: ssl.SSLContext) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection(serving.host, serving.port, ssl=context)
    try:
        yield Wire(reader, writer)
    finally:
        writer.transport.abort()


async def ask(
    handler: StandIn,
    pki: PKI,
    head: str,
    body: bytes = b"",
    *,
    certificate: bool = True,
    timeouts: Timeouts | None = None,
) -> Got:
    """Serve, ask once, and stop."""
    async with serve(handler, pki=pki, tokens=TOKENS, timeouts=timeouts or Timeouts()) as serving:
        return await ask_serving(serving, trusting(pki, certificate=certificate), head, body)


async def ask_serving(serving: HTTPSServer, context: ssl.SSLContext, head: str, body: bytes = b"") -> Got:
    async with connected(serving, context) as wire:
        await wire.send(head, body)
        return await wire.receive()


def get(path: str = "/api", *headers: str, method: str = "GET") -> str:
    return "\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers])


@asynccontextmanager
async def transport(serving: HTTPSServer, pki: PKI, directory: Path) -> AsyncIterator[HTTPTransport]:
    """windvane's own client, with the cluster's own kubeconfig."""
    file = directory / "kubeconfig"
    file.write_text(pki.kubeconfig(serving.url))
    client = HTTPTransport(load_config(kubeconfig=file))
    try:
        yield client
    finally:
        await client.close()


# Who asks


async def test_a_client_certificate_says_who_asks(pki: PKI) -> None:
    handler = StandIn()
    assert (await ask(handler, pki, get())).code == 200
    assert [(user.name, user.groups) for user in handler.users] == [(ADMIN.name, ADMIN.groups)]


async def test_each_organization_in_a_certificate_is_a_group(pki: PKI, tmp_path: Path) -> None:
    authority = Authority.read(Pair((pki.directory / "ca.key").read_bytes(), pki.ca_certificate.read_bytes()))
    pair = authority.client("zoë", "a", "b")
    (tmp_path / "pair").write_bytes(pair.key + pair.public)
    context = trusting(pki, certificate=False)
    context.load_cert_chain(tmp_path / "pair")
    handler = StandIn()
    async with serve(handler, pki=pki, tokens={}) as serving, connected(serving, context) as wire:
        await wire.send(get())
        await wire.receive()
    assert [(user.name, user.groups) for user in handler.users] == [("zoë", ("a", "b", "system:authenticated"))]


async def test_who_was_certified_under_two_names_is_the_last_one_as_their_signer_saw(pki: PKI, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.NameAttribute(NameOID.COMMON_NAME, each) for each in ("kubernetes-admin", "jane")]
    asked = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(names)).sign(key, hashes.SHA256())
    request = CertificateRequest(asked)
    assert request.common_name == "jane"
    signed = certify(pki.authority(), request, ["client auth"], timedelta(hours=1))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "pair").write_bytes(private + signed)
    context = trusting(pki, certificate=False)
    context.load_cert_chain(tmp_path / "pair")
    handler = StandIn()
    async with serve(handler, pki=pki, tokens={}) as serving:
        await ask_serving(serving, context, get())
    assert [user.name for user in handler.users] == ["jane"]


async def test_a_certificate_is_told_from_others_by_its_digest(pki: PKI) -> None:
    handler = StandIn()
    await ask(handler, pki, get())
    certificate = ssl.PEM_cert_to_DER_cert((pki.directory / "admin.crt").read_text())
    digest = hashlib.sha256(certificate).hexdigest()
    assert dict(handler.users[0].extra) == {"authentication.kubernetes.io/credential-id": (f"X509SHA256={digest}",)}


async def test_a_certificate_of_another_authority_does_not_get_in(pki: PKI, tmp_path: Path) -> None:
    stranger = open_pki(tmp_path)
    context = ssl.create_default_context(cafile=str(pki.ca_certificate))
    context.load_cert_chain(stranger.directory / "admin.crt", stranger.directory / "admin.key")
    handler = StandIn()
    async with serve(handler, pki=pki, tokens={}) as serving:
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await ask_serving(serving, context, get())
    assert handler.asked == []


async def test_a_servers_certificate_is_no_clients(pki: PKI) -> None:
    context = trusting(pki, certificate=False)
    context.load_cert_chain(pki.server_certificate, pki.server_key)
    async with serve(StandIn(), pki=pki, tokens={}) as serving:
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await ask_serving(serving, context, get())


async def test_a_bearer_token_says_who_asks(pki: PKI) -> None:
    handler = StandIn()
    await ask(handler, pki, get("/api", "Authorization: Bearer secret"), certificate=False)
    assert handler.users == [User("jane", ("editors", "system:authenticated"), "u-1")]


@pytest.mark.parametrize("path", ["/api", "/healthz"])
async def test_a_wrong_token_is_refused_everywhere(pki: PKI, path: str) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get(path, "Authorization: Bearer secre"), certificate=False)
    assert json.loads(got.body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }
    assert handler.asked == []


@pytest.mark.parametrize("header", ["Accept: */*", "Authorization: Basic c2VjcmV0", "Authorization: Bearer "])
async def test_nobody_in_particular_is_refused(pki: PKI, header: str) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get("/api", header), certificate=False)
    assert (got.code, got.message, handler.asked) == (401, "Unauthorized", [])


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz?verbose"])
async def test_anybody_may_ask_for_health(pki: PKI, path: str) -> None:
    handler = StandIn()
    assert (await ask(handler, pki, get(path), certificate=False)).code == 200
    assert handler.users == [User("system:anonymous", ("system:unauthenticated",))]


async def test_the_kubeconfig_is_all_that_a_client_needs(pki: PKI, tmp_path: Path) -> None:
    handler = StandIn(Answer(body=b'{"major":"1"}'))
    async with (
        serve(handler, pki=pki, tokens={}) as serving,
        transport(serving, pki, tmp_path) as client,
        client.open(Request("GET", "/version")) as response,
    ):
        assert await response.read() == b'{"major":"1"}'
    assert [(user.name, user.groups) for user in handler.users] == [(ADMIN.name, ADMIN.groups)]


async def test_a_client_with_another_authority_does_not_trust_the_server(pki: PKI, tmp_path: Path) -> None:
    stranger = open_pki(tmp_path / "pki")
    async with (
        serve(StandIn(), pki=pki, tokens={}) as serving,
        transport(serving, stranger, tmp_path) as client,
    ):
        with pytest.raises(Untrusted):
            async with client.open(Request("GET", "/version")):
                pass


# Web pages, and the network


async def test_a_request_from_a_web_page_is_refused(pki: PKI) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get("/healthz", "Origin: https://evil.example"))
    assert (got.code, handler.asked) == (403, [])
    assert "Origin" in got.message
    assert not [name for name in got.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:443", "127.0.0.2", "", "[::2]:1", "localhost.evil"])
async def test_a_host_that_we_are_not_is_refused(pki: PKI, host: str) -> None:
    handler = StandIn()
    got = await ask(handler, pki, f"GET /healthz HTTP/1.1\nHost: {host}")
    assert (got.code, handler.asked) == (403, [])
    assert "localhost" in got.message


@pytest.mark.parametrize("host", ["127.0.0.1:6443", "LOCALHOST", "[::1]:6443", "kubernetes.default.svc"])
async def test_the_names_in_the_certificate_are_ours(pki: PKI, host: str) -> None:
    assert (await ask(StandIn(), pki, f"GET /healthz HTTP/1.1\nHost: {host}")).code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com"])
async def test_other_machines_are_kept_out(pki: PKI, host: str) -> None:
    with pytest.raises(ValueError, match=r"can be reached from other machines.*127\.0\.0\.1"):
        async with serve(StandIn(), pki=pki, tokens={}, host=host):
            pass


async def test_a_port_that_is_taken_is_an_error(pki: PKI) -> None:
    async with serve(StandIn(), pki=pki, tokens={}) as serving:
        with pytest.raises(OSError, match="in use"):
            async with serve(StandIn(), pki=pki, tokens={}, port=serving.port):
                pass


# Malformed requests


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/../pods",
        "/api/v1/namespaces/./pods",
        "/api/v1/namespaces/%2e%2e/pods",
        "/api/v1/namespaces/%2E./pods",
        "/api/v1/namespaces/a%2fb/pods",
        "/api/v1/namespaces/a%2Fb/pods",
        "/api/v1/namespaces//pods",
        "//api",
        "/api/v1/namespaces/a%00/pods",
        "/api/v1/namespaces/a%0d%0ab/pods",
        "/api/v1/namespaces/a\\b/pods",
        "/api/v1/namespaces/a%5cb/pods",
        "/api/v1/namespaces/%ff/pods",
        "/api/v1/namespaces/%/pods",
        "/api/v1/namespaces/%zz/pods",
        "/api/v1/namespaces/%ed%a0%80/pods",
        "api",
        "*",
        "https://127.0.0.1/api",
    ],
)
async def test_a_path_that_no_object_has_is_refused(pki: PKI, path: str) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get(path, "Connection: close"))
    assert (got.code, handler.asked) == (400, [])
    assert got.body


@pytest.mark.parametrize(
    "head",
    [
        "GET /api HTTP/1.1",
        "GET /api HTTP/1.1\nHost: 127.0.0.1\nHost: 127.0.0.1",
        "GET /api HTTP/1.1\nHost: 127.0.0.1\nHost: evil.example",
        "POST /api HTTP/1.1\nHost: 127.0.0.1\nContent-Length: 3\nTransfer-Encoding: chunked",
        "POST /api HTTP/1.1\nHost: 127.0.0.1\nContent-Length: 3\nContent-Length: 4",
        "POST /api HTTP/1.1\nHost: 127.0.0.1\nContent-Length: -1",
        "POST /api HTTP/1.1\nHost: 127.0.0.1\nContent-Length: +3",
        "GET /api HTTP/1.1\nHost: 127.0.0.1\nX: a\0b",
        "GET /api HTTP/1.1\nHost: 127.0.0.1\nX : a",
        "GET /api HTTP/1.1\nHost: 127.0.0.1\n folded: a",
        "GET /a\0b HTTP/1.1\nHost: 127.0.0.1",
        "GET /api HTTP/9.9\nHost: 127.0.0.1",
        "G<T /api HTTP/1.1\nHost: 127.0.0.1",
        f"GET /{'a' * (MIB + 1)} HTTP/1.1\nHost: 127.0.0.1",
        f"GET /api HTTP/1.1\nHost: 127.0.0.1\nX: {'a' * MIB}",
        "GET /api HTTP/1.1\nHost: 127.0.0.1\n" + "\n".join(f"X-{number}: a" for number in range(1000)),
    ],
)
async def test_what_is_not_quite_http_is_refused(pki: PKI, head: str, caplog: pytest.LogCaptureFixture) -> None:
    handler = StandIn()
    got = await ask(handler, pki, head, timeouts=Timeouts(refused=PATIENCE))
    assert (got.code, handler.asked) == (400, [])
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_who_goes_on_sending_a_head_that_was_refused_reads_why(pki: PKI) -> None:
    def send_all_then_read(serving: HTTPSServer) -> bytes:
        """As most clients do. `asyncio`'s notices an answer while it still sends."""
        with (
            socket.create_connection((serving.host, serving.port), timeout=PATIENCE) as connection,
            trusting(pki).wrap_socket(connection, server_hostname=serving.host) as wire,
        ):
            wire.sendall(f"{get('/api', 'X: ')}{'a' * 16 * MIB}\n\n".replace("\n", "\r\n").encode())
            return wire.recv(MIB)

    async with serve(StandIn(), pki=pki, tokens={}, timeouts=Timeouts(refused=PATIENCE)) as serving:
        answer = await asyncio.to_thread(send_all_then_read, serving)
    assert answer.split()[1] == b"400"


async def test_who_was_refused_and_stays_is_hung_up_on(pki: PKI) -> None:
    async with (
        serve(StandIn(), pki=pki, tokens={}, timeouts=Timeouts(refused=0.1)) as serving,
        connected(serving, trusting(pki)) as wire,
    ):
        await wire.send(get("/a\0b"))
        assert (await wire.receive()).code == 400
        assert await asyncio.wait_for(wire.reader.read(), PATIENCE) == b""


async def test_who_was_refused_and_stays_does_not_keep_the_server_from_stopping(pki: PKI) -> None:
    timeouts = Timeouts(refused=10 * PATIENCE, shutdown=10 * PATIENCE)
    async with asyncio.timeout(PATIENCE):
        serving_block = serve(StandIn(), pki=pki, tokens={}, timeouts=timeouts)
        serving = await serving_block.__aenter__()
        async with connected(serving, trusting(pki)) as wire:
            await wire.send(get("/a\0b"))
            assert (await wire.receive()).code == 400
            await serving_block.__aexit__(None, None, None)


@pytest.mark.parametrize("body", [b"zz\r\nabc", b"3\r\nabcd\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n"])
async def test_a_body_that_is_not_chunked_as_it_says_is_refused(pki: PKI, body: bytes) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get("/api", "Transfer-Encoding: chunked", method="POST"), body)
    assert (got.code, handler.asked) == (400, [])


async def test_an_escaped_path_and_a_query_arrive_as_they_were_sent(pki: PKI) -> None:
    handler = StandIn()
    await ask(handler, pki, get("/apis/a%25b/%C3%A9?labelSelector=a%3Db%2Cc&watch&limit=1&limit=2&x=a+b"))
    (asked,) = handler.asked
    assert asked.path == "/apis/a%25b/%C3%A9"
    assert asked.query == [("labelSelector", "a=b,c"), ("watch", ""), ("limit", "1"), ("limit", "2"), ("x", "a b")]


async def test_a_query_that_is_not_text_arrives_as_text(pki: PKI) -> None:
    handler = StandIn()
    await ask(handler, pki, get("/api?a=%ff&b=%ed%a0%80"))
    assert [value.encode() for _, value in handler.asked[0].query] == ["�".encode(), "���".encode()]


async def test_a_query_that_is_not_escaped_is_refused(pki: PKI) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get("/api?a=\xff"))
    assert (got.code, handler.asked) == (400, [])


async def test_a_query_has_an_end(pki: PKI) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get("/api?" + "a&" * 1001))
    assert (got.code, got.message, handler.asked) == (400, "the query has more than 1000 parameters", [])


async def test_headers_are_found_in_any_case_and_more_than_once(pki: PKI) -> None:
    handler = StandIn()
    await ask(handler, pki, get("/api", "ACCEPT: text/plain", "impersonate-group: a", "Impersonate-Group: b"))
    headers = handler.asked[0].headers
    assert headers["Accept"] == "text/plain"
    assert [value for key, value in headers.items() if key.lower() == "impersonate-group"] == ["a", "b"]


# Bodies


async def test_a_body_arrives_whole(pki: PKI) -> None:
    handler = StandIn()
    body = bytes(range(256)) * 4096 * 3
    assert len(body) == 3 * MIB
    await ask(handler, pki, get("/api", f"Content-Length: {len(body)}", method="PUT"), body)
    assert handler.asked[0].body == body


async def test_no_body_is_none(pki: PKI) -> None:
    handler = StandIn()
    await ask(handler, pki, get())
    assert handler.asked[0].body is None


async def test_a_body_that_says_it_is_too_large_is_not_read(pki: PKI) -> None:
    handler = StandIn()
    got = await ask(handler, pki, get("/api", f"Content-Length: {3 * MIB + 1}", method="POST"))
    assert (got.code, handler.asked) == (413, [])
    assert got.message == "Request entity too large: limit is 3145728"
    assert json.loads(got.body)["reason"] == "RequestEntityTooLarge"


async def test_a_body_that_turns_out_to_be_too_large_is_cut_off(pki: PKI) -> None:
    handler = StandIn()
    chunk = b"100000\r\n" + b" " * MIB + b"\r\n"
    got = await ask(handler, pki, get("/api", "Transfer-Encoding: chunked", method="POST"), chunk * 3 + b"1\r\n ")
    assert (got.code, got.headers["connection"], handler.asked) == (413, "close", [])


async def test_a_compressed_body_is_refused(pki: PKI) -> None:
    handler = StandIn()
    bomb = gzip.compress(bytes(10 * MIB))
    head = get("/api", "Content-Encoding: gzip", f"Content-Length: {len(bomb)}", method="POST")
    got = await ask(handler, pki, head, bomb)
    assert (got.code, handler.asked) == (415, [])


async def test_who_leaves_in_the_middle_of_a_body_is_forgotten(pki: PKI, caplog: pytest.LogCaptureFixture) -> None:
    handler = StandIn()
    async with serve(handler, pki=pki, tokens={}) as serving:
        async with connected(serving, trusting(pki)) as wire:
            await wire.send(get("/api", "Content-Length: 10", method="POST"), b"12345")
        assert (await ask_serving(serving, trusting(pki), get("/other"))).code == 200
    assert [asked.path for asked in handler.asked] == ["/other"]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_who_waits_for_permission_to_send_a_body_gets_it(pki: PKI) -> None:
    handler = StandIn()
    async with serve(handler, pki=pki, tokens={}) as serving, connected(serving, trusting(pki)) as wire:
        await wire.send(get("/api", "Expect: 100-continue", "Content-Length: 3", method="POST"))
        assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        wire.writer.write(b"abc")
        assert (await wire.receive()).code == 200
    assert handler.asked[0].body == b"abc"


async def test_who_is_refused_need_not_send_a_body(pki: PKI) -> None:
    head = get("/api", "Expect: 100-continue", "Content-Length: 3", method="POST")
    assert (await ask(StandIn(), pki, head, certificate=False)).code == 401


# Answers


async def test_a_large_answer_is_compressed_for_who_accepts_that(pki: PKI) -> None:
    body = b"x" * (128 * 1024 + 1)
    got = await ask(StandIn(Answer(body=body)), pki, get("/api", "Accept-Encoding: deflate, gzip"))
    assert (got.headers["content-encoding"], got.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(got.body) == body


@pytest.mark.parametrize(("size", "accepted"), [(128 * 1024, "gzip"), (MIB, "identity"), (MIB, "br")])
async def test_other_answers_are_not(pki: PKI, size: int, accepted: str) -> None:
    got = await ask(StandIn(Answer(body=b"x" * size)), pki, get("/api", f"Accept-Encoding: {accepted}"))
    assert "content-encoding" not in got.headers
    assert len(got.body) == size


async def test_an_answer_has_the_code_type_and_headers_that_it_was_given(pki: PKI) -> None:
    answer = Answer(409, b"no", "text/plain", [("Warning", '299 - "a"'), ("Retry-After", "1")])
    got = await ask(StandIn(answer), pki, get())
    assert (got.code, got.body) == (409, b"no")
    assert (got.headers["content-type"], got.headers["warning"]) == ("text/plain", '299 - "a"')
    assert (got.headers["retry-after"], got.headers["cache-control"]) == ("1", "no-cache, private")


async def test_an_answer_that_may_be_kept_says_only_that(pki: PKI) -> None:
    got = await ask(StandIn(Answer(headers=[("Cache-Control", "public, immutable")])), pki, get())
    assert got.headers["cache-control"] == "public, immutable"


async def test_every_answer_has_an_audit_id_of_its_own(pki: PKI) -> None:
    got = [await ask(StandIn(), pki, get()) for _ in range(2)]
    assert got[0].headers["audit-id"] != got[1].headers["audit-id"]


async def test_a_very_large_answer_arrives_whole(pki: PKI) -> None:
    body = bytes(range(256)) * 4096 * 20 + b"end"
    got = await ask(StandIn(Answer(body=body)), pki, get())
    assert got.body == body


async def test_head_is_get_without_the_body(pki: PKI) -> None:
    async with (
        serve(StandIn(Answer(body=b"12345")), pki=pki, tokens={}) as serving,
        connected(serving, trusting(pki)) as wire,
    ):
        await wire.send(get(method="HEAD"))
        head = await wire.reader.readuntil(b"\r\n\r\n")
        assert b"Content-Length: 5\r\n" in head
        await wire.send(get())
        assert (await wire.receive()).body == b"12345"


async def test_head_of_a_watch_is_over_at_once(pki: PKI) -> None:
    stream = Stream(b"never read")
    got = await ask(StandIn(stream.answer()), pki, get("/api", "Connection: close", method="HEAD"))
    assert (got.code, got.body) == (200, b"")


async def test_one_connection_serves_many_requests(pki: PKI) -> None:
    handler = StandIn()
    async with serve(handler, pki=pki, tokens={}) as serving, connected(serving, trusting(pki)) as wire:
        for number in range(3):
            await wire.send(get(f"/{number}"))
            assert (await wire.receive()).code == 200
    assert [asked.path for asked in handler.asked] == ["/0", "/1", "/2"]


async def test_a_bug_in_the_server_is_an_answer(pki: PKI, caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> Answer:
        raise ZeroDivisionError("a bug")

    got = await ask(StandIn(broken), pki, get())
    assert (got.code, got.message) == (500, "Internal error occurred: a bug")
    assert "GET /api failed" in caplog.text


# Streams


async def test_a_stream_arrives_part_by_part(pki: PKI, tmp_path: Path) -> None:
    stream = Stream()
    async with (
        serve(StandIn(stream.answer()), pki=pki, tokens={}) as serving,
        transport(serving, pki, tmp_path) as client,
        client.open(Request("GET", "/watch")) as response,  # which returns before there is any part
    ):
        chunks = response.chunks()
        for part in (b"one", b"two"):
            stream.queue.put_nowait(part)
            assert await anext(chunks) == part
        stream.queue.put_nowait(None)
        assert [chunk async for chunk in chunks] == []


async def test_a_stream_is_closed_when_its_reader_goes(pki: PKI) -> None:
    stream = Stream(b"one")
    async with serve(StandIn(stream.answer()), pki=pki, tokens={}) as serving:
        async with connected(serving, trusting(pki)) as wire:
            await wire.send(get())
            await wire.reader.readuntil(b"one")
        await asyncio.wait_for(stream.closed.wait(), PATIENCE)


async def test_streams_end_well_when_the_server_stops(pki: PKI, tmp_path: Path) -> None:
    stream = Stream(b"one")
    serving_block = serve(StandIn(stream.answer()), pki=pki, tokens={})
    serving = await serving_block.__aenter__()
    async with transport(serving, pki, tmp_path) as client, client.open(Request("GET", "/watch")) as response:
        chunks = response.chunks()
        assert await anext(chunks) == b"one"
        await asyncio.wait_for(serving_block.__aexit__(None, None, None), PATIENCE)
        assert [chunk async for chunk in chunks] == []
    assert stream.closed.is_set()


async def test_a_stream_that_fails_breaks_off(pki: PKI, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stream = Stream(b"one")
    async with (
        serve(StandIn(stream.answer()), pki=pki, tokens={}) as serving,
        transport(serving, pki, tmp_path) as client,
        client.open(Request("GET", "/watch")) as response,
    ):
        chunks = response.chunks()
        assert await anext(chunks) == b"one"
        stream.queue.put_nowait(ValueError("a bug"))
        with pytest.raises(Interrupted):
            await anext(chunks)
    assert "the stream failed" in caplog.text


async def test_who_speaks_http_1_0_gets_a_stream_that_ends_with_the_connection(pki: PKI) -> None:
    stream = Stream(b"one", b"two", None)
    got = await ask(StandIn(stream.answer()), pki, "GET /watch HTTP/1.0\nHost: localhost")
    assert (got.code, got.body) == (200, b"onetwo")


# Timeouts


async def test_who_does_not_read_a_watch_is_cut(pki: PKI) -> None:
    stream = Stream()
    async with (
        serve(StandIn(stream.answer()), pki=pki, tokens={}, timeouts=Timeouts(reader=0.1)) as serving,
        connected(serving, trusting(pki)) as wire,
    ):
        wire.writer.transport.pause_reading()  # type: ignore[attr-defined] # it is a transport that reads, too
        await wire.send(get())
        for _ in range(64):
            stream.queue.put_nowait(bytes(MIB))
        await asyncio.wait_for(stream.closed.wait(), PATIENCE)


async def test_who_does_not_read_an_answer_is_cut(pki: PKI, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    cut = asyncio.Event()

    def listen(record: logging.LogRecord) -> bool:
        if "does not read" in record.getMessage():
            cut.set()
        return True

    caplog.handler.addFilter(listen)
    async with (
        serve(StandIn(Answer(body=bytes(64 * MIB))), pki=pki, tokens={}, timeouts=Timeouts(reader=0.1)) as serving,
        connected(serving, trusting(pki)) as wire,
    ):
        wire.writer.transport.pause_reading()  # type: ignore[attr-defined] # it is a transport that reads, too
        await wire.send(get())
        await asyncio.wait_for(cut.wait(), PATIENCE)
        wire.writer.transport.resume_reading()  # type: ignore[attr-defined]
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await wire.receive()


async def test_a_body_that_does_not_come_is_not_waited_for(pki: PKI) -> None:
    handler = StandIn()
    head = get("/api", "Content-Length: 10", method="POST")
    got = await ask(handler, pki, head, b"12345", timeouts=Timeouts(body=0.1))
    assert (got.code, handler.asked) == (408, [])
    assert got.message == "the body did not arrive within 0.1 s"


@pytest.mark.parametrize("beginning", [b"", b"GET /api HTTP/1.1\r\nHost: local"])
async def test_a_head_that_does_not_come_is_not_waited_for(pki: PKI, beginning: bytes) -> None:
    async with (
        serve(StandIn(), pki=pki, tokens={}, timeouts=Timeouts(head=0.1)) as serving,
        connected(serving, trusting(pki)) as wire,
    ):
        wire.writer.write(beginning)
        assert await asyncio.wait_for(wire.reader.read(), PATIENCE) == b""


# Stopping


async def test_a_write_under_way_goes_on_when_its_asker_has_gone(pki: PKI) -> None:
    begun, finish, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slowly() -> Answer:
        begun.set()
        await finish.wait()
        done.set()
        return Answer(201)

    async with serve(StandIn(slowly), pki=pki, tokens={}) as serving:
        async with connected(serving, trusting(pki)) as wire:
            await wire.send(get(method="POST"))
            await begun.wait()
        async with connected(serving, trusting(pki)) as other:
            await other.send(get("/healthz", "Origin: x"))
            await other.receive()  # by now the server has seen that the first one left
        finish.set()
        await asyncio.wait_for(done.wait(), PATIENCE)


async def test_a_request_under_way_is_finished_when_the_server_stops(pki: PKI) -> None:
    begun, finish = asyncio.Event(), asyncio.Event()

    async def slowly() -> Answer:
        begun.set()
        await finish.wait()
        return Answer(201)

    serving_block = serve(StandIn(slowly), pki=pki, tokens={}, timeouts=Timeouts(shutdown=PATIENCE))
    serving = await serving_block.__aenter__()
    async with connected(serving, trusting(pki)) as wire:
        await wire.send(get(method="POST"))
        await begun.wait()
        stopping = asyncio.get_running_loop().create_task(serving_block.__aexit__(None, None, None))
        with pytest.raises(ConnectionError):
            await ask_until_refused(serving, pki)
        finish.set()
        assert (await wire.receive()).code == 201
        await stopping


async def ask_until_refused(serving: HTTPSServer, pki: PKI) -> None:
    while True:
        async with connected(serving, trusting(pki)):
            pass


async def test_a_request_that_hangs_does_not_keep_the_server_from_stopping(pki: PKI) -> None:
    begun = asyncio.Event()

    async def never() -> Answer:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with (
        asyncio.timeout(PATIENCE),
        serve(StandIn(never), pki=pki, tokens={}, timeouts=Timeouts(shutdown=0.1)) as serving,
        connected(serving, trusting(pki)) as wire,
    ):
        await wire.send(get())
        await begun.wait()


async def test_who_does_not_say_goodbye_does_not_keep_the_server_from_stopping(pki: PKI) -> None:
    timeouts = Timeouts(shutdown=0.1)
    async with asyncio.timeout(PATIENCE), serve(StandIn(), pki=pki, tokens={}, timeouts=timeouts) as serving:
        _, writer = await asyncio.open_connection(serving.host, serving.port, ssl=trusting(pki))
        writer.transport.pause_reading()  # type: ignore[attr-defined] # so that it never sees that we close
    writer.transport.abort()


async def test_whom_nobody_knows_is_in_the_audit_log(pki: PKI, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    async with serve(StandIn(), pki=pki, tokens={}, audit_log=log) as serving:
        request = get("/api/v1/pods?limit=1", "Authorization: Bearer hidden-token", "Audit-Id: mine")
        answer = await ask_serving(serving, trusting(pki, certificate=False), request)
    log.close()
    assert answer.code == 401
    text = (tmp_path / "audit.log").read_text()
    assert "hidden-token" not in text
    event = json.loads(text)
    assert event["stage"] == "ResponseStarted"
    assert event["user"] == {}
    assert (event["auditID"], event["requestURI"]) == ("mine", "/api/v1/pods?limit=1")
    assert event["sourceIPs"] == ["127.0.0.1"]
    assert event["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


# How much at once


async def test_too_many_requests_are_told_to_come_back(pki: PKI) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slowly() -> Answer:
        asked.set()
        await go_on.wait()
        return Answer(body=b"{}")

    async with serve(StandIn(slowly), pki=pki, tokens={}, most_in_flight=1) as serving:
        first = asyncio.ensure_future(ask_serving(serving, trusting(pki), get()))
        await asked.wait()
        second = await ask_serving(serving, trusting(pki), get())
        assert (second.code, second.body) == (429, b"Too many requests, please try again later.\n")
        assert second.headers["retry-after"] == "1"
        go_on.set()
        assert (await first).code == 200
        assert (await ask_serving(serving, trusting(pki), get())).code == 200


async def test_watches_do_not_count(pki: PKI) -> None:
    stream = Stream(b"one")
    answers = [stream.answer(), Answer(body=b"{}")]

    async def next_answer() -> Answer:
        return answers.pop(0)

    async with (
        serve(StandIn(next_answer), pki=pki, tokens={}, most_in_flight=1) as serving,
        connected(serving, trusting(pki)) as watching,
    ):
        await watching.send(get())
        await watching.reader.readuntil(b"one")
        assert (await ask_serving(serving, trusting(pki), get())).code == 200
        await stream.queue.put(None)


async def test_no_token_is_in_the_log(pki: PKI, caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> Answer:
        raise RuntimeError("broken")

    tokens = {"right-token": User("jane")}
    caplog.set_level(logging.DEBUG)
    async with serve(StandIn(broken), pki=pki, tokens=tokens) as serving:
        context = trusting(pki, certificate=False)
        for token in ("right-token", "wrong-token"):
            await ask_serving(serving, context, get("/api", f"Authorization: Bearer {token}"))
    assert "broken" in caplog.text
    assert "-token" not in caplog.text
    for secret in ("ca.key", "server.key", "admin.key", "sa.key"):
        assert (pki.directory / secret).read_text().splitlines()[1] not in caplog.text
