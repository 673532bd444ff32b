"""Connections that are dropped: to peers that say no goodbye, and that must not outlive the event loop."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import aiohttp
import pytest
from aiohttp import web

from unit.client.certificates import Authority
from unit.client.servers import serving
from windvane import ambient
from windvane.connections import Connector, Sockets, shut_down


def plain(address: aiohttp.AddrInfoType) -> socket.socket:
    return socket.socket(address[0], address[1], address[2])


class Deaf:
    """A server that answers nothing, and no longer reads."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.transport
        assert connection is not None
        assert isinstance(connection, asyncio.Transport)
        connection.pause_reading()  # so it sees no goodbye
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            connection.resume_reading()
        return web.Response()


@asynccontextmanager
async def given_up(connector: Connector) -> AsyncIterator[None]:
    """A request over TLS that was sent, and then given up."""
    deaf = Deaf()
    async with (
        serving(deaf.answer, Authority().sign("deaf", ["127.0.0.1"])) as server,
        aiohttp.ClientSession(connector=connector) as session,
    ):
        asking = asyncio.ensure_future(session.get(server.url))
        await deaf.asked.wait()
        asking.cancel()
        await asyncio.wait([asking])
        yield


def unchecked() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def turns() -> None:
    for _ in range(5):
        await ambient.sleep(0)


def test_the_other_end_sees_the_end_of_what_is_shut_down() -> None:
    one, other = socket.socketpair()
    with closing(one), closing(other):
        assert shut_down(one)
        assert other.recv(1) == b""


def test_what_is_closed_or_not_connected_is_left_alone() -> None:
    with socket.socket() as connection:
        assert not shut_down(connection)
    assert not shut_down(connection)


async def test_a_client_drops_also_what_is_being_closed() -> None:
    made: list[socket.socket] = []

    def note(address: aiohttp.AddrInfoType) -> socket.socket:
        made.append(plain(address))
        return made[-1]

    sockets = Sockets(note)
    async with given_up(Connector(ssl=unchecked(), socket_factory=sockets.create)):
        await turns()
        assert [each.fileno() == -1 for each in made] == [False]
        await sockets.drop()
        assert [each.fileno() for each in made] == [-1]


async def test_a_connector_drops_the_connection_of_a_request_that_was_given_up() -> None:
    made: list[socket.socket] = []

    def note(address: aiohttp.AddrInfoType) -> socket.socket:
        made.append(plain(address))
        return made[-1]

    connector = Connector(ssl=unchecked(), socket_factory=note)
    async with given_up(connector):
        await turns()
        assert [each.fileno() == -1 for each in made] == [False]
        connector.drop_closed()
        await turns()
        assert [each.fileno() for each in made] == [-1]


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_connector_leaves_a_connection_that_is_kept(keeps: bool) -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.Response(headers={} if keeps else {"Connection": "close"})

    made: list[socket.socket] = []

    def note(address: aiohttp.AddrInfoType) -> socket.socket:
        made.append(plain(address))
        return made[-1]

    connector = Connector(socket_factory=note)
    async with serving(answer, None) as server, aiohttp.ClientSession(connector=connector) as session:
        for _ in range(2):
            async with session.get(server.url) as response:
                assert response.status == 200
            connector.drop_closed()
    assert len(made) == (1 if keeps else 2)
