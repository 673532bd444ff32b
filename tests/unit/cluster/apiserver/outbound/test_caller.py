"""Calls of webhooks: over kept connections, to where a Service is right now. Their words have conformance tests."""

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reference.certificates import Authority
from talking import request
from windvane import ambient
from windvane.cluster.apiserver.outbound.caller import Caller, CallFailed, ClientConfig, ServiceReference, url_of
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store

GIVE_UP = 20.0


class Webhook:
    """Answers each request with the number of the connection that it came over."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._servers: list[asyncio.Server] = []
        self._writers: list[asyncio.StreamWriter] = []
        self.connections = 0
        self.per_connection = 1_000_000
        """After how many answers a connection is closed, without a word."""
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_answer.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        number = self.connections
        for _ in range(self.per_connection):
            try:
                await request(reader)
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            self.asked.set()
            await self.may_answer.wait()
            body = str(number).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
        writer.close()

    async def listen(self, *names: str, host: str = "127.0.0.1") -> int:
        """The port at which it answers, with a certificate for these names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self._authority.issue_server("webhook", *names))
        self._servers.append(await asyncio.start_server(self.serve, host, 0, ssl=context))
        port: int = self._servers[-1].sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for writer in self._writers:
            writer.transport.abort()
        for _ in range(3):
            await ambient.sleep(0)  # until the loop has let go of the connections


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def webhook(authority: Authority) -> AsyncIterator[Webhook]:
    webhook = Webhook(authority)
    yield webhook
    await webhook.close()


@pytest.fixture
def store() -> Store:
    return Store.open()


@pytest.fixture
async def caller(store: Store, webhook: Webhook) -> AsyncIterator[Caller]:
    caller = Caller(store)
    yield caller
    await caller.close()


def bundle(authority: Authority) -> str:
    return base64.b64encode(authority.file.read_bytes()).decode()


async def test_a_connection_is_kept_for_the_next_call(caller: Caller, authority: Authority, webhook: Webhook) -> None:
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    assert [(await caller.post(config, b"{}", 60)).body for _ in range(3)] == [b"1", b"1", b"1"]


async def test_a_kept_connection_that_was_closed_is_no_failure(
    caller: Caller, authority: Authority, webhook: Webhook
) -> None:
    webhook.per_connection = 1
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    assert [(await caller.post(config, b"{}", 60)).body for _ in range(3)] == [b"1", b"2", b"3"]


async def test_who_trusts_somebody_else_has_a_connection_of_their_own(
    caller: Caller, authority: Authority, webhook: Webhook
) -> None:
    """What one configuration may reach, another can't, though it is at the same place."""
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    await caller.post(config, b"{}", 60)
    with pytest.raises(CallFailed, match="unknown authority"):
        await caller.post(ClientConfig(url=config.url), b"{}", 60)


async def test_a_proxy_of_the_environment_is_not_asked(
    caller: Caller, authority: Authority, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    assert (await caller.post(config, b"{}", 60)).code == 200


async def test_who_is_still_being_asked_is_not_hung_up_on_for_others(
    caller: Caller, authority: Authority, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windvane.cluster.apiserver.outbound.caller.MOST_SESSIONS", 1)
    port = await webhook.listen("127.0.0.1")
    configs = [ClientConfig(url=f"https://127.0.0.1:{port}/{path}", ca_bundle=bundle(authority)) for path in "abc"]
    webhook.may_answer.clear()
    calls = []
    for config in configs:
        webhook.asked.clear()
        calls.append(asyncio.create_task(caller.post(config, b"{}", 60)))
        await webhook.asked.wait()
    webhook.may_answer.set()
    assert [reply.body for reply in await asyncio.gather(*calls)] == [b"1", b"2", b"3"]
    assert [(await caller.post(config, b"{}", 60)).body for config in reversed(configs)] == [b"3", b"4", b"5"]


async def test_a_reply_without_end_is_not_read_to_its_end(
    caller: Caller, authority: Authority, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    monkeypatch.setattr("windvane.cluster.apiserver.outbound.caller.LARGEST_REPLY", 1)
    assert (await caller.post(config, b"{}", 60)).body == b"1"
    monkeypatch.setattr("windvane.cluster.apiserver.outbound.caller.LARGEST_REPLY", 0)
    with pytest.raises(CallFailed, match="the response is larger than 0 bytes"):
        await caller.post(config, b"{}", 60)


async def test_whose_answer_nobody_waits_for_any_more_is_hung_up_on(caller: Caller, authority: Authority) -> None:
    """It can't be waited for to say goodbye: why should it be quicker with that?"""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue_server("webhook", "127.0.0.1"))

    def until_hung_up() -> None:
        listener.settimeout(GIVE_UP)
        connection, _ = listener.accept()
        connection.settimeout(GIVE_UP)
        with context.wrap_socket(connection, server_side=True) as shaken, socket.socket(fileno=shaken.detach()) as deaf:
            deaf.settimeout(GIVE_UP)
            deaf.recv(1)
            loop.call_soon_threadsafe(asked.set)
            with suppress(ConnectionResetError):
                while deaf.recv(4096):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        hung_up = asyncio.create_task(asyncio.to_thread(until_hung_up))
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        call = asyncio.create_task(caller.post(ClientConfig(url=url, ca_bundle=bundle(authority)), b"{}", 60))
        await asked.wait()
        call.cancel()
        await hung_up


async def test_a_closed_caller_calls_nobody(caller: Caller, authority: Authority, webhook: Webhook) -> None:
    """Nobody would close the connection."""
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    await caller.post(config, b"{}", 60)
    await caller.close()
    with pytest.raises(CallFailed, match="the server is stopping"):
        await caller.post(config, b"{}", 60)
    assert webhook.connections == 1


async def test_a_call_fails_when_its_caller_is_closed(caller: Caller, authority: Authority, webhook: Webhook) -> None:
    """Also one over a connection that was kept, which is otherwise tried again when that is lost."""
    port = await webhook.listen("127.0.0.1")
    config = ClientConfig(url=f"https://127.0.0.1:{port}/", ca_bundle=bundle(authority))
    await caller.post(config, b"{}", 60)
    webhook.asked.clear()
    webhook.may_answer.clear()
    call = asyncio.create_task(caller.post(config, b"{}", 60))
    await webhook.asked.wait()
    await caller.close()
    with pytest.raises(CallFailed, match="the server is stopping"):
        await call
    assert webhook.connections == 1
    webhook.may_answer.set()


# Services


async def put(store: Store, collection: str, name: str, wire: dict[str, Any]) -> None:
    value = msgspec.json.encode({"metadata": {"name": name, "namespace": "ns", **wire.pop("metadata", {})}, **wire})
    await store.commit(Key(collection, "ns", name), 0, lambda _: value)


async def put_slice(store: Store, name: str, port: int, *addresses: str, ready: bool = True) -> None:
    endpoints = [{"addresses": [each], "conditions": {"ready": ready}} for each in addresses]
    labels = {"kubernetes.io/service-name": "web"}
    ports = [{"name": "https", "port": port}]
    await put(
        store,
        "discovery.k8s.io/endpointslices",
        name,
        {"metadata": {"labels": labels}, "endpoints": endpoints, "ports": ports},
    )


async def in_store(store: Store, **spec: Any) -> None:
    ports = [{"name": "https", "port": 443, "targetPort": 8443}]
    await put(store, "/services", "web", {"spec": {"clusterIP": "127.0.0.9", "ports": ports, **spec}})


def behind(authority: Authority, **rest: Any) -> ClientConfig:
    return ClientConfig(service=ServiceReference("ns", "web", **rest), ca_bundle=bundle(authority))


async def test_a_service_is_reached_at_an_endpoint_that_is_ready(
    store: Store, caller: Caller, authority: Authority, webhook: Webhook
) -> None:
    port = await webhook.listen("web.ns.svc", host="127.0.0.5")
    await in_store(store)
    await put_slice(store, "web-1", port, "127.0.0.6", ready=False)
    await put_slice(store, "web-2", port, "127.0.0.5")
    assert (await caller.post(behind(authority), b"{}", 60)).code == 200


async def test_without_endpoints_it_is_at_its_own_address(
    store: Store, caller: Caller, authority: Authority, webhook: Webhook
) -> None:
    port = await webhook.listen("web.ns.svc", host="127.0.0.9")
    await in_store(store, ports=[{"port": port}])
    assert (await caller.post(behind(authority, port=port), b"{}", 60)).code == 200


async def test_a_service_that_moves_is_found_again(
    store: Store, caller: Caller, authority: Authority, webhook: Webhook
) -> None:
    webhook.per_connection = 1
    port = await webhook.listen("web.ns.svc", host="127.0.0.5")
    await in_store(store)
    await put_slice(store, "web-1", 1, "127.0.0.5")
    told = 'Post "https://web.ns.svc:443/\\?timeout=60s": dial tcp 127.0.0.5:1: connect: connection refused'
    with pytest.raises(CallFailed, match=told):
        await caller.post(behind(authority), b"{}", 60)
    key = Key("discovery.k8s.io/endpointslices", "ns", "web-1")
    entry = store.get(key)
    assert entry is not None
    await store.commit(key, entry.revision, lambda _: entry.value, delete=True)
    await put_slice(store, "web-2", port, "127.0.0.5")
    assert (await caller.post(behind(authority), b"{}", 60)).code == 200


@pytest.mark.parametrize(
    ("config", "url"),
    [
        (ClientConfig(url="https://x.dev"), "https://x.dev/"),
        (ClientConfig(url="https://x.dev:8443/a/./b/../c/"), "https://x.dev:8443/a/c"),
        (ClientConfig(service=ServiceReference("ns", "web")), "https://web.ns.svc:443/"),
        (ClientConfig(service=ServiceReference("ns", "web", "/a", 8443)), "https://web.ns.svc:8443/a"),
    ],
)
def test_where_questions_are_posted(config: ClientConfig, url: str) -> None:
    assert url_of(config) == url
