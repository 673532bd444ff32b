"""Connections that are dropped, not closed.

To close a connection, TLS says goodbye and waits for the other end to do the same: for up to half a minute, if that end
is not reading. What is still open when the event loop ends, nothing closes any more.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import aiohttp

TURNS = 20
"""Turns of the event loop in which it lets go of what was shut down. It takes three."""


def shut_down(connection: socket.socket) -> bool:
    """Have whatever reads from a connection see its end, and close it; whether there was a connection."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return False  # it is closed, or not connected yet
    return True


class Sockets:
    """The sockets of a client, from the first packet on: those in a handshake, in use, idle, and being closed."""

    def __init__(self, create: Callable[[aiohttp.AddrInfoType], socket.socket]) -> None:
        self._create = create
        self._sockets: WeakSet[socket.socket] = WeakSet()

    def create(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """Make one: the `socket_factory` of a connector."""
        made = self._create(address)
        self._sockets.add(made)
        return made

    async def drop(self) -> None:
        """Drop all connections; back when the event loop has let go of them. No time passes."""
        dropped = [each for each in self._sockets if shut_down(each)]
        for _ in range(TURNS):
            if all(each.fileno() == -1 for each in dropped):
                return
            await _turn()


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, which can drop the connections that aiohttp has closed, as those of requests given up.

    Any number of connections may be open at once.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(limit=0, **options)
        self._used: set[asyncio.Transport] = set()

    async def connect(self, *request: Any, **options: Any) -> aiohttp.connector.Connection:
        """A connection for a request: a new one, or one that was kept."""
        connection = await super().connect(*request, **options)
        if connection.transport is not None:
            self.drop_closed()
            self._used.add(connection.transport)
        return connection

    def drop_closed(self) -> None:
        """Drop the connections that were closed, and may be waiting for a goodbye."""
        closed = {each for each in self._used if each.is_closing()}
        self._used -= closed
        for each in closed:
            each.abort()


async def _turn() -> None:
    """Let the event loop turn once."""
    loop = asyncio.get_running_loop()
    turned = loop.create_future()
    loop.call_soon(turned.set_result, None)
    await turned
