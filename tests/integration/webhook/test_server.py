"""The webhook server over real connections: to API servers it answers, to all others it says a few words."""

import asyncio
import io
import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest

from reference.certificates import Authority
from windvane import AdmissionRequest, Denied, Operator, Resource, Spec, Status, ambient
from windvane.certificates import Pair
from windvane.webhook import listener, server
from windvane.webhook.paths import CONVERT_PATH
from windvane.webhook.server import ADMISSION_LIMIT, Listening, Timeouts, listen
from windvane.webhook.tls import ServerTLS

VALIDATE = "/validate/demo.windvane.dev/v1/websites"
DEFAULT = "/default/demo.windvane.dev/v1/websites"
WITH_SILENCE, WITH_BODIES = Timeouts(idle=0.3, body=60.0, shutdown=5.0), Timeouts(idle=60.0, body=0.3, shutdown=5.0)
"""Servers that soon give up waiting for one thing, and not with another that a busy machine is slow at."""


class WebsiteSpec(Spec):
    region: str = ""
    hosts: list[str] = []


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


class WebsiteV2(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v2", kind="Website", stored=False):
    """A website."""


class Slow:
    """A function that judges when it is told to."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def check(self, site: Website, request: AdmissionRequest[Website]) -> None:
        if site.spec.region == "slow":
            self.begun.set()
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if site.spec.region == "nowhere":
            raise Denied("there is no such region", field="spec.region")


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def operator(slow: Slow) -> Operator:
    operator = Operator("website")
    operator.validate(Website)(slow.check)

    @operator.default(Website)
    def fill_in(site: Website) -> None:
        site.spec.region = site.spec.region or "eu"

    @operator.convert(Website, WebsiteV2)
    def up(old: Website) -> WebsiteV2:
        return WebsiteV2(spec=old.spec)

    @operator.convert(WebsiteV2, Website)
    def down(new: WebsiteV2) -> Website:
        return Website(spec=new.spec)

    return operator


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls(authority: Authority) -> ServerTLS:
    return showing(authority)


def showing(authority: Authority, client_ca: Path | None = None) -> ServerTLS:
    tls = ServerTLS(client_ca)
    tls.show(pair(authority, "webhook"))
    return tls


def pair(authority: Authority, name: str) -> Pair:
    certificate, key = authority.issue_server(name, "127.0.0.1")
    return Pair(key.read_bytes(), certificate.read_bytes())


class APIServer:
    """Asks as an API server does."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session = session
        self.port = port

    async def ask(self, path: str, region: str = "us", **spec: Any) -> dict[str, Any]:
        async with self.post(path, review(region=region, **spec)) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == "application/json"
            answer: dict[str, Any] = (await response.json())["response"]
            return answer

    def post(self, path: str, body: bytes | AsyncIterator[bytes], **headers: str) -> Any:
        sent: Any = io.BytesIO(body) if isinstance(body, bytes) else body
        headers = {"Content-Type": "application/json", **headers}
        return self.session.post(f"https://127.0.0.1:{self.port}{path}", data=sent, headers=headers)


def review(**spec: Any) -> bytes:
    thing = {"apiVersion": "demo.windvane.dev/v1", "kind": "Website", "metadata": {"name": "blog"}, "spec": spec}
    request = {
        "uid": "u-1",
        "resource": {"group": "demo.windvane.dev", "version": "v1", "resource": "websites"},
        "name": "blog",
        "operation": "CREATE",
        "object": thing,
        "oldObject": None,
    }
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()


@asynccontextmanager
async def client(
    authority: Authority, port: int, certificate: tuple[Path, Path] | None = None
) -> AsyncIterator[APIServer]:
    trusting = ssl.create_default_context(cafile=str(authority.file))
    if certificate:
        trusting.load_cert_chain(*certificate)
    made: list[socket.socket] = []

    def note(address: aiohttp.AddrInfoType) -> socket.socket:
        made.append(socket.socket(*address[:3]))
        return made[-1]

    connector = aiohttp.TCPConnector(ssl=trusting, socket_factory=note)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield APIServer(session, port)
    # A connection on which not all was said is closed politely, and may outlive the event loop and fail another test.
    for each in made:
        with suppress(OSError):  # it is closed already
            each.shutdown(socket.SHUT_RDWR)
    async with asyncio.timeout(60):
        while any(each.fileno() != -1 for each in made):
            await ambient.sleep(0)


@pytest.fixture
async def listening(operator: Operator, tls: ServerTLS) -> AsyncIterator[Listening]:
    async with listen(operator, tls, host="127.0.0.1", port=0) as listening:
        yield listening


@pytest.fixture
async def api_server(authority: Authority, listening: Listening) -> AsyncIterator[APIServer]:
    async with client(authority, listening.port) as api_server:
        yield api_server


async def test_objects_are_judged_filled_in_and_converted(api_server: APIServer) -> None:
    assert (await api_server.ask(VALIDATE))["allowed"]
    assert (await api_server.ask(VALIDATE, region="nowhere"))["status"]["code"] == 422
    assert "patch" in await api_server.ask(DEFAULT, region="")
    request = {
        "uid": "u-2",
        "desiredAPIVersion": "demo.windvane.dev/v2",
        "objects": [{"apiVersion": "demo.windvane.dev/v1", "kind": "Website", "metadata": {"name": "blog"}}],
    }
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    async with api_server.post("/convert", json.dumps(body).encode()) as response:
        (converted,) = (await response.json())["response"]["convertedObjects"]
    assert converted["apiVersion"] == "demo.windvane.dev/v2"


async def test_the_timeout_in_the_query_does_no_harm(api_server: APIServer) -> None:
    assert (await api_server.ask(f"{VALIDATE}?timeout=5s"))["allowed"]


async def test_two_objects_of_3_mib_are_taken(api_server: APIServer) -> None:
    thing = {"apiVersion": "demo.windvane.dev/v1", "kind": "Website", "spec": {"hosts": ["h" * 1000] * 3000}}
    whole = json.loads(review())
    whole["request"] |= {"operation": "UPDATE", "object": thing, "oldObject": thing}
    async with api_server.post(VALIDATE, json.dumps(whole).encode()) as response:
        assert (await response.json())["response"]["allowed"]


async def test_what_was_answered_is_counted(api_server: APIServer, listening: Listening) -> None:
    await api_server.ask(VALIDATE)
    await api_server.ask(VALIDATE, region="nowhere")
    async with api_server.post("/elsewhere", b"") as response:
        assert response.status == 404
    registry = CollectorRegistry()
    registry.register(listening.metrics)
    lines = generate_latest(registry).decode().splitlines()
    labels = 'webhook="validate.websites.demo.windvane.dev"'
    assert f'windvane_webhook_requests_total{{allowed="true",operation="CREATE",{labels}}} 1.0' in lines
    assert f'windvane_webhook_requests_total{{allowed="false",operation="CREATE",{labels}}} 1.0' in lines
    assert f"windvane_webhook_seconds_count{{{labels}}} 2.0" in lines
    assert 'windvane_webhook_refused_total{code="404"} 1.0' in lines


# What is no question of an API server


@pytest.mark.parametrize(
    ("path", "body", "headers", "code", "words"),
    [
        ("/", b"", {}, 404, f"there is no such webhook; there are: {DEFAULT}, {VALIDATE}, /convert"),
        (f"{VALIDATE}/", review(), {}, 404, "there is no such webhook"),
        ("/validate/../validate/demo.windvane.dev/v9/websites", review(), {}, 404, "there is no such webhook"),
        (VALIDATE, review(), {"Content-Type": "application/yaml"}, 415, "a review is application/json"),
        (VALIDATE, review(), {"Content-Encoding": "gzip"}, 415, "without a Content-Encoding"),
        (VALIDATE, b"", {}, 400, "this is no AdmissionReview"),
        (VALIDATE, b"\x80garbage", {}, 400, "this is no AdmissionReview"),
        (VALIDATE, review()[:-20], {}, 400, "this is no AdmissionReview"),
        (VALIDATE, b"[" * 1_000_000, {}, 400, "this is no AdmissionReview"),
        (VALIDATE, b" " * (ADMISSION_LIMIT + 1), {}, 413, "that is more than 32 MiB"),
        ("/convert", review(), {}, 400, "this is no ConversionReview"),
    ],
)
async def test_who_asks_wrongly_is_told(
    api_server: APIServer, path: str, body: bytes, headers: dict[str, str], code: int, words: str
) -> None:
    async with api_server.post(path, body, **headers) as response:
        assert response.status == code
        assert words in await response.text()
    assert (await api_server.ask(VALIDATE))["allowed"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
async def test_other_methods_are_refused(api_server: APIServer, method: str) -> None:
    url = f"https://127.0.0.1:{api_server.port}{VALIDATE}"
    async with api_server.session.request(method, url) as response:
        assert response.status == 405
        assert response.headers["Allow"] == "POST"


async def test_a_body_that_never_ends_is_refused(api_server: APIServer) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 100_000

    # Whether the answer is seen before the connection breaks is a matter of luck.
    with suppress(aiohttp.ClientError):
        async with api_server.post(VALIDATE, endless()) as response:
            assert response.status == 413
    assert (await api_server.ask(VALIDATE))["allowed"]


async def end(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        assert await reader.read() == b""


async def raw(port: int, tls: ssl.SSLContext | None, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    try:
        writer.write(sent)
        async with asyncio.timeout(60):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


async def test_plain_http_is_hung_up_on(
    api_server: APIServer, listening: Listening, caplog: pytest.LogCaptureFixture
) -> None:
    for sent in (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x00" * 1000, b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.port)
        writer.write(sent)
        writer.write_eof()
        try:
            async with asyncio.timeout(60):
                assert b"HTTP" not in await reader.read()
        except ConnectionError:
            pass
        writer.close()
    assert (await api_server.ask(VALIDATE))["allowed"]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_what_is_no_http_gets_an_answer_and_no_traceback(
    api_server: APIServer, listening: Listening, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.file))
    assert b"400" in await raw(listening.port, trusting, b"HELLO\r\n\r\n")
    assert (await api_server.ask(VALIDATE))["allowed"]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize(
    ("timeouts", "sent", "answer"),
    [
        (WITH_SILENCE, b"", b""),
        (WITH_SILENCE, b"POST /validate HTTP/1.1\r\nHo", b""),
        (
            WITH_BODIES,
            b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
            b" 408 ",
        ),
    ],
)
async def test_nobody_is_waited_for_without_end(
    operator: Operator, tls: ServerTLS, authority: Authority, timeouts: Timeouts, sent: bytes, answer: bytes
) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.file))
    async with listen(operator, tls, host="127.0.0.1", port=0, timeouts=timeouts) as listening:
        assert answer in await raw(listening.port, trusting, sent.replace(b"%s", VALIDATE.encode()))


async def test_connections_are_bounded_and_the_idle_ones_go_first(
    api_server: APIServer, listening: Listening, authority: Authority, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 3)
    asking = asyncio.get_running_loop().create_task(api_server.ask(VALIDATE, region="slow"))
    await slow.begun.wait()
    trusting = ssl.create_default_context(cafile=str(authority.file))
    held = [await asyncio.open_connection("127.0.0.1", listening.port, ssl=trusting) for _ in range(5)]
    async with asyncio.timeout(60):
        for reader, _ in held[:3]:
            await end(reader)
    assert not any(reader.at_eof() for reader, _ in held[3:])
    slow.go_on.set()
    assert (await asking)["allowed"]
    for _, writer in held:
        writer.transport.abort()


async def test_handshakes_are_bounded_and_the_longest_goes_first(
    api_server: APIServer, listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MOST_HANDSHAKES", 3)
    monkeypatch.setattr(listener, "HANDSHAKE", 600.0)
    # They connect, and say nothing.
    silent = [await asyncio.open_connection("127.0.0.1", listening.port) for _ in range(5)]
    async with asyncio.timeout(60):  # less than a handshake may take
        for reader, _ in silent[:2]:
            await end(reader)
    assert (await api_server.ask(VALIDATE))["allowed"]
    assert not silent[-1][0].at_eof()
    for _, writer in silent:
        writer.close()


async def test_many_that_come_at_once_are_bounded(
    api_server: APIServer, listening: Listening, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 3)
    assert (await api_server.ask(VALIDATE))["allowed"]  # it has a connection, and keeps it
    trusting = ssl.create_default_context(cafile=str(authority.file))
    opening = [asyncio.open_connection("127.0.0.1", listening.port, ssl=trusting) for _ in range(20)]
    held = await asyncio.gather(*opening)
    async with asyncio.timeout(60):
        for ended in asyncio.as_completed([end(reader) for reader, _ in held]):
            await ended
            if sum(reader.at_eof() or reader.exception() is not None for reader, _ in held) == 18:
                break
    assert (await api_server.ask(VALIDATE))["allowed"]
    for _, writer in held:
        writer.transport.abort()


async def test_no_more_are_let_in_while_all_are_busy(
    api_server: APIServer, listening: Listening, authority: Authority, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 1)
    asking = asyncio.get_running_loop().create_task(api_server.ask(VALIDATE, region="slow"))
    await slow.begun.wait()
    trusting = ssl.create_default_context(cafile=str(authority.file))
    assert await raw(listening.port, trusting, b"POST / HTTP/1.1\r\nHost: a\r\n\r\n") == b""
    slow.go_on.set()
    assert (await asking)["allowed"]


async def test_what_all_send_together_is_bounded(
    api_server: APIServer, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = len(review(region="slow"))
    monkeypatch.setattr(server, "LIMIT_FOR_ALL", one + 10)
    first = asyncio.get_running_loop().create_task(api_server.ask(VALIDATE, region="slow"))
    await slow.begun.wait()
    async with api_server.post(VALIDATE, review()) as response:
        assert response.status == 503
    slow.go_on.set()
    assert (await first)["allowed"]
    assert (await api_server.ask(VALIDATE))["allowed"]


# Who asks


@asynccontextmanager
async def asking_who(operator: Operator, authority: Authority, trusted: Authority) -> AsyncIterator[Listening]:
    """A server that answers only whom `trusted` vouches for."""
    async with listen(operator, showing(authority, trusted.file), host="127.0.0.1", port=0) as listening:
        yield listening


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    (tmp_path / "other").mkdir()
    return Authority(tmp_path / "other")


async def test_who_has_a_certificate_of_the_right_authority_is_answered(
    operator: Operator, authority: Authority, other: Authority
) -> None:
    shown = other.issue_client("kube-apiserver")
    async with (
        asking_who(operator, authority, trusted=other) as listening,
        client(authority, listening.port, shown) as api_server,
    ):
        assert (await api_server.ask(VALIDATE))["allowed"]


async def test_who_has_none_is_told_so_and_the_log_says_what_to_do(
    operator: Operator, authority: Authority, other: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        asking_who(operator, authority, trusted=other) as listening,
        client(authority, listening.port) as unknown,
    ):
        for _ in range(2):
            async with unknown.post(VALIDATE, review()) as response:
                assert response.status == 403
                assert response.headers["Connection"] == "close"
                assert await response.text() == f"{server.NO_CERTIFICATE}\n"
        assert listening.metrics.refused == {403: 2}
        assert not listening.metrics.answers
    (said,) = [record.message for record in caplog.records if "refused" in record.message]
    assert said.startswith("a client of the webhooks was refused: it has shown no certificate. An API server shows")
    assert "--admission-control-config-file" in said


async def test_who_has_one_of_another_authority_is_hung_up_on_and_the_log_says_why(
    operator: Operator, authority: Authority, other: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = authority.issue_client("stranger")
    async with asking_who(operator, authority, trusted=other) as listening:
        async with client(authority, listening.port, stranger) as unknown:
            with pytest.raises(aiohttp.ClientError):
                await unknown.ask(VALIDATE)
        assert not listening.metrics.answers
    assert "refused: its certificate is not accepted (self-signed certificate in certificate chain)" in caplog.text


async def test_conversions_are_for_anybody_because_no_api_server_shows_a_certificate_there(
    operator: Operator, authority: Authority, other: Authority
) -> None:
    request = {"uid": "u-1", "desiredAPIVersion": "demo.windvane.dev/v2", "objects": []}
    asked = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": request}
    async with (
        asking_who(operator, authority, trusted=other) as listening,
        client(authority, listening.port) as unknown,
        unknown.post(CONVERT_PATH, json.dumps(asked).encode()) as response,
    ):
        assert response.status == 200, await response.text()


async def test_authorities_that_come_and_go_are_noticed(
    operator: Operator, authority: Authority, other: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    file, before = other.file, other.file.read_bytes()
    shown = {one: one.issue_client("kube-apiserver") for one in (authority, other)}

    async with asking_who(operator, authority, trusted=other) as running:

        async def answered(one: Authority) -> bool:
            async with client(authority, running.port, shown[one]) as api_server:
                with suppress(aiohttp.ClientError):
                    return bool((await api_server.ask(VALIDATE))["allowed"])
            return False

        assert [await answered(authority), await answered(other)] == [False, True]
        file.write_bytes(before + authority.file.read_bytes())
        assert [await answered(authority), await answered(other)] == [True, True]
        file.write_bytes(authority.file.read_bytes())
        assert [await answered(authority), await answered(other)] == [True, False]
        for broken in (lambda: file.write_text("half a"), file.unlink):
            broken()
            assert [await answered(authority), await answered(other)] == [True, False], "as it was before"
        assert "judged by what was in --webhook-client-ca before" in caplog.text
        assert "there is no certificate in it" in caplog.text
        assert "No such file or directory" in caplog.text
        file.write_bytes(before)
        assert [await answered(authority), await answered(other)] == [False, True]


# Its life


async def test_when_the_api_server_gives_up_the_function_ends(api_server: APIServer, slow: Slow) -> None:
    asking = asyncio.get_running_loop().create_task(api_server.ask(VALIDATE, region="slow"))
    await slow.begun.wait()
    asking.cancel()
    async with asyncio.timeout(60):
        await slow.cancelled.wait()


async def test_requests_under_way_are_finished_when_it_stops(
    operator: Operator, tls: ServerTLS, authority: Authority, slow: Slow
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    ports: asyncio.Queue[int] = asyncio.Queue()

    async def serve() -> None:
        async with listen(operator, tls, host="127.0.0.1", port=0) as listening:
            ports.put_nowait(listening.port)
            await stop.wait()

    serving = loop.create_task(serve())
    port = await ports.get()
    async with client(authority, port) as api_server:
        asking = loop.create_task(api_server.ask(VALIDATE, region="slow"))
        await slow.begun.wait()
        stop.set()
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionError:
                break  # it has begun to stop
            writer.close()
        slow.go_on.set()
        assert (await asking)["allowed"]
    await serving


async def test_it_stops_at_once_if_nothing_is_under_way(
    operator: Operator, tls: ServerTLS, authority: Authority
) -> None:
    patient = Timeouts(shutdown=600.0)
    async with AsyncExitStack() as stack:
        listening = await stack.enter_async_context(listen(operator, tls, host="127.0.0.1", port=0, timeouts=patient))
        async with client(authority, listening.port) as api_server, asyncio.timeout(60):
            assert (await api_server.ask(VALIDATE))["allowed"]  # and it keeps the connection
            await stack.aclose()


async def test_who_was_refused_before_they_had_said_all_does_not_hold_it_up(
    operator: Operator, tls: ServerTLS, authority: Authority
) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.file))
    headers = b"Host: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    patient = Timeouts(shutdown=600.0)
    async with AsyncExitStack() as stack:
        listening = await stack.enter_async_context(listen(operator, tls, host="127.0.0.1", port=0, timeouts=patient))
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.port, ssl=trusting)
        async with asyncio.timeout(60):
            writer.write(b"POST /elsewhere HTTP/1.1\r\n" + headers)
            answer = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"{}       ")
            await stack.aclose()
        writer.transport.abort()
    assert b" 404 " in answer


async def test_who_asks_many_things_at_once_and_goes_does_not_hold_it_up_for_ever(
    operator: Operator, tls: ServerTLS, authority: Authority, slow: Slow
) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.file))
    sent = review(region="slow")
    headers = f"Host: a\r\nContent-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    hasty = Timeouts(shutdown=0.1)
    async with AsyncExitStack() as stack:
        listening = await stack.enter_async_context(listen(operator, tls, host="127.0.0.1", port=0, timeouts=hasty))
        _, writer = await asyncio.open_connection("127.0.0.1", listening.port, ssl=trusting)
        # More than aiohttp keeps until their turn comes: it reads no more before that, and so sees no end either.
        writer.write((f"POST {VALIDATE} HTTP/1.1\r\n{headers}".encode() + sent) * 60)
        writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
        async with asyncio.timeout(60):
            await slow.begun.wait()
            await stack.aclose()
        writer.transport.abort()
    assert slow.cancelled.is_set()


async def test_a_request_that_has_arrived_when_it_stops_is_answered(
    operator: Operator, tls: ServerTLS, authority: Authority
) -> None:
    trusting = ssl.create_default_context(cafile=str(authority.file))
    sent = review(region="us")
    headers = f"Host: x\r\nContent-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    request = f"POST {VALIDATE} HTTP/1.1\r\n{headers}".encode() + sent

    async with listen(operator, tls, host="127.0.0.1", port=0) as listening:

        def connect() -> ssl.SSLSocket:
            plain = socket.create_connection(("127.0.0.1", listening.port), timeout=30)
            return trusting.wrap_socket(plain, server_hostname="127.0.0.1")

        connection = await asyncio.to_thread(connect)
        await asyncio.to_thread(ask, connection, request)
        connection.sendall(request)  # and the event loop does not come to read it before the block ends
    with connection:
        answer = await asyncio.to_thread(connection.recv, 65536)
    assert b"Connection: close" in answer
    assert b'"allowed":true' in answer


async def test_a_request_that_was_read_when_it_stops_is_answered(
    listening: Listening, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = server._Connection.data_received
    stopping: list[server._Connection] = []

    def read_and_stop(connection: server._Connection, data: bytes) -> None:
        read(connection, data)
        stopping.append(connection)
        connection._manager.close_idle()  # type: ignore[union-attr]

    monkeypatch.setattr(server._Connection, "data_received", read_and_stop)
    async with client(authority, listening.port) as api_server:
        assert (await api_server.ask(VALIDATE))["allowed"]
    assert stopping


async def test_connections_that_were_lost_just_before_it_stops_do_no_harm(
    operator: Operator, tls: ServerTLS, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = server._Server.connection_made
    transports: list[asyncio.Transport] = []

    def note(self: server._Server, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        transports.append(transport)
        made(self, handler, transport)

    monkeypatch.setattr(server._Server, "connection_made", note)
    async with AsyncExitStack() as stack:
        listening = await stack.enter_async_context(listen(operator, tls, host="127.0.0.1", port=0))
        async with client(authority, listening.port) as api_server:
            assert (await api_server.ask(VALIDATE))["allowed"]
            # What is lost is closed by asyncio, then by aiohttp, and only after that taken from the server's list.
            for transport in transports:
                transport.close()
                transport.close()
            await stack.aclose()
    assert transports


def ask(connection: ssl.SSLSocket, request: bytes) -> None:
    connection.sendall(request)
    assert b'"allowed":true' in connection.recv(65536)


async def test_a_new_certificate_is_shown_to_new_connections(
    listening: Listening, tls: ServerTLS, authority: Authority
) -> None:
    async def shown(api_server: APIServer) -> bytes:
        assert (await api_server.ask(VALIDATE))["allowed"]
        trusting = ssl.create_default_context(cafile=str(authority.file))
        _, writer = await asyncio.open_connection("127.0.0.1", listening.port, ssl=trusting)
        certificate: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.transport.abort()
        return certificate

    async with client(authority, listening.port) as api_server:
        before = await shown(api_server)
        tls.show(pair(authority, "renewed"))
        assert await shown(api_server) != before
