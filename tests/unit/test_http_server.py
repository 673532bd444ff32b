"""The HTTP server: it knows its connections, drops them if need be, and in the end none is left."""

import asyncio
import logging
import socket
from contextlib import AsyncExitStack

import pytest
from aiohttp import ClientSession, web
from aiohttp.http_exceptions import BadStatusLine

from windvane import ambient
from windvane.http_server import BodyError, HTTPServer, body_within, listen, protocol_log

HERE = "127.0.0.1"
GIVE_UP = 20.0


async def hello(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello")


async def test_it_answers_at_the_port_that_it_gives() -> None:
    async with (
        listen(HTTPServer(hello), HERE, 0, shutdown=1) as port,
        ClientSession() as session,
        session.get(f"http://{HERE}:{port}/") as answer,
    ):
        assert await answer.text() == "hello"


async def test_a_port_that_is_taken_is_an_error() -> None:
    async with listen(HTTPServer(hello), HERE, 0, shutdown=1) as port:
        with pytest.raises(OSError, match="address already in use"):
            async with listen(HTTPServer(hello), HERE, port, shutdown=1):
                pass


async def test_no_connection_is_left_in_the_end() -> None:
    server = HTTPServer(hello)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(listen(server, HERE, 0, shutdown=0.1))
        reader, writer = await asyncio.open_connection(HERE, port)
        while not server.open:
            await ambient.sleep(0)
        await stack.aclose()
        assert not server.open
        assert await asyncio.wait_for(reader.read(), GIVE_UP) == b""
        writer.close()


async def test_a_client_that_does_not_read_does_not_keep_it_from_stopping() -> None:
    asked = asyncio.Event()

    async def much(_: web.BaseRequest) -> web.Response:
        asked.set()
        return web.Response(body=bytes(64 * 1024 * 1024))

    server = HTTPServer(much)
    async with asyncio.timeout(GIVE_UP), AsyncExitStack() as stack:
        port = await stack.enter_async_context(listen(server, HERE, 0, shutdown=0.1))
        loop = asyncio.get_running_loop()
        with socket.create_connection((HERE, port)) as deaf:
            await loop.run_in_executor(None, deaf.sendall, b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            await asked.wait()
            await stack.aclose()
    assert not server.open


async def test_what_is_being_answered_is_finished_first() -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: web.BaseRequest) -> web.Response:
        asked.set()
        await go_on.wait()
        return web.Response(text="late")

    async with AsyncExitStack() as stack, ClientSession() as session:
        port = await stack.enter_async_context(listen(HTTPServer(slow), HERE, 0, shutdown=GIVE_UP))
        asking = asyncio.ensure_future(session.get(f"http://{HERE}:{port}/"))
        await asked.wait()
        ending = asyncio.ensure_future(stack.aclose())
        await ambient.sleep(0)
        go_on.set()
        async with await asking as answer:
            assert await answer.text() == "late"
        await ending


async def test_dropped_connections_end_at_once_with_what_is_being_answered() -> None:
    asked, dropped = asyncio.Event(), asyncio.Event()

    async def endless(_: web.BaseRequest) -> web.Response:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            dropped.set()
        raise AssertionError("unreachable")

    server = HTTPServer(endless, handler_cancellation=True)
    async with listen(server, HERE, 0, shutdown=GIVE_UP) as port:
        reader, writer = await asyncio.open_connection(HERE, port)
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        await asked.wait()
        server.drop_all()
        assert await asyncio.wait_for(reader.read(), GIVE_UP) == b""
        await asyncio.wait_for(dropped.wait(), GIVE_UP)
        await asyncio.wait_for(server.all_closed(), GIVE_UP)
        writer.close()


async def test_a_body_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(BodyError, match=r"the body did not arrive within 0 s") as caught:
        async with body_within(0):
            await asyncio.Event().wait()
    assert caught.value.code == 408


async def test_a_body_that_is_not_what_its_headers_say_is_an_error() -> None:
    with pytest.raises(BodyError, match=r"the body is not what its headers say: too short") as caught:
        async with body_within(GIVE_UP):
            raise web.RequestPayloadError("too short")
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("error", "logged"),
    [(BadStatusLine("x"), False), (ConnectionResetError(), False), (ValueError("a bug"), True)],
    ids=["no HTTP", "gone", "a bug"],
)
def test_only_mistakes_of_the_server_are_logged(
    error: Exception, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    log = protocol_log("windvane.test_http_server")
    with caplog.at_level(logging.ERROR):
        log.error("Error handling request", exc_info=error)
    assert bool(caplog.records) is logged
