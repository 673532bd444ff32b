"""WebSockets over HTTP: how they are refused, how they end, and how they are left."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import WSCloseCode, web
from aiohttp.test_utils import TestServer

from windvane.client.config import ClientConfig
from windvane.client.credentials import Anonymous, Credentials
from windvane.client.errors import APIError, Forbidden, Interrupted
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ANONYMOUS = Anonymous()
REQUEST = Request("GET", "/stream")


@asynccontextmanager
async def transport_to(handler: Handler, credentials: Credentials = ANONYMOUS) -> AsyncIterator[HTTPTransport]:
    app = web.Application()
    app.router.add_get("/stream", handler)
    async with TestServer(app) as server:
        transport = HTTPTransport(ClientConfig(server=str(server.make_url("")).rstrip("/"), credentials=credentials))
        try:
            yield transport
        finally:
            await transport.close()


async def accept(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(protocols=("chat",))
    await socket.prepare(request)
    return socket


async def test_messages_end_when_the_server_closes() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        socket = await accept(request)
        await socket.send_bytes(b"hello")
        await socket.close()
        return socket

    async with transport_to(handler) as transport, transport.websocket(REQUEST, ["chat"]) as socket:
        assert socket.protocol == "chat"
        assert [message async for message in socket.messages()] == [b"hello"]


async def test_a_connection_that_is_cut_is_no_end() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        socket = await accept(request)
        await socket.send_bytes(b"hel")
        assert request.transport is not None
        request.transport.close()
        return socket

    async with transport_to(handler) as transport, transport.websocket(REQUEST, ["chat"]) as socket:
        messages = socket.messages()
        assert await anext(messages) == b"hel"
        with pytest.raises(Interrupted, match="without a goodbye"):
            await anext(messages)


async def test_a_close_that_reports_an_error_is_no_end() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        socket = await accept(request)
        await socket.close(code=WSCloseCode.INTERNAL_ERROR, message=b"the node is gone")
        return socket

    async with transport_to(handler) as transport, transport.websocket(REQUEST, ["chat"]) as socket:
        with pytest.raises(Interrupted, match="1011: the node is gone"):
            await anext(socket.messages())


async def test_a_refusal_is_the_error_that_the_server_reports() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        # As an API server does: without an upgrade, it says that one is needed.
        if "Upgrade" not in request.headers:
            return web.json_response({"kind": "Status", "message": "Upgrade request required", "code": 400}, status=400)
        status = {"kind": "Status", "message": "the door is closed", "reason": "Forbidden", "code": 403}
        return web.json_response(status, status=403)

    async with transport_to(handler) as transport:
        with pytest.raises(Forbidden, match="the door is closed"):
            async with transport.websocket(REQUEST, ["chat"]):
                pass


async def test_a_refusal_in_plain_text_is_quoted() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=502, text="no such backend")

    async with transport_to(handler) as transport:
        with pytest.raises(APIError, match="GET /stream was answered with 502 Bad Gateway: no such backend"):
            async with transport.websocket(REQUEST, ["chat"]):
                pass


class Rotating(Anonymous):
    """Credentials that are new after they were refused."""

    token = "old"

    async def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def invalidate(self) -> bool:
        self.token = "new"
        return True


async def test_fresh_credentials_are_tried_when_old_ones_are_refused() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if request.headers["Authorization"] != "Bearer new":
            return web.json_response({"kind": "Status", "message": "Unauthorized", "code": 401}, status=401)
        socket = await accept(request)
        await socket.send_bytes(b"welcome")
        await socket.close()
        return socket

    async with transport_to(handler, Rotating()) as transport, transport.websocket(REQUEST, ["chat"]) as socket:
        assert [message async for message in socket.messages()] == [b"welcome"]


async def test_leaving_does_not_wait_for_a_server_that_talks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windvane.client.http.CLOSE_TIMEOUT", 0.1)
    gone = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        socket = await accept(request)
        try:
            while True:
                await socket.send_bytes(b"y\n" * 1000)  # and never reads that we have left
        finally:
            gone.set()

    async with transport_to(handler) as transport:
        async with asyncio.timeout(60):
            async with transport.websocket(REQUEST, ["chat"]) as socket:
                await anext(socket.messages())
            await gone.wait()
