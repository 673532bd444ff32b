"""Takes connections for the webhook server, and has them finish a TLS handshake: in bounded time and in bounded number.

A handshake takes memory before the client has said who it is. So if there are too many of them, the one that has lasted
longest is ended: an API server needs milliseconds for its own.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from windvane.connections import shut_down
from windvane.webhook.tls import ServerTLS

log = logging.getLogger(__name__)

HANDSHAKE = 10.0
GOODBYE = 1.0
MOST_HANDSHAKES = 500
BACKLOG = 1024
PAUSE = 1.0


async def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at all addresses of a host; OSError if they can't."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            sockets.append(socket.create_server(address, family=family, backlog=BACKLOG))
            sockets[-1].setblocking(False)
    except OSError:
        _close(sockets)
        raise
    return sockets


@asynccontextmanager
async def accept_connections(
    sockets: list[socket.socket], tls: ServerTLS, protocol: Callable[[], asyncio.Protocol]
) -> AsyncIterator[None]:
    """Hand connections over to a `protocol` each, once they are encrypted; until the end of the block."""
    handshakes = _Handshakes(tls, protocol)
    for each in sockets:
        handshakes.accept_at(each)
    try:
        yield
    finally:
        for each in sockets:
            asyncio.get_running_loop().remove_reader(each)
        _close(sockets)
        await handshakes.end()


class _Handshakes:
    """Those that have begun, and not come to an end yet."""

    def __init__(self, tls: ServerTLS, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._tls = tls
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._begun: dict[asyncio.Task[None], socket.socket] = {}  # in this order

    def accept_at(self, listener: socket.socket) -> None:
        """Take all connections, until it is closed."""
        if listener.fileno() != -1:
            self._loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:  # too many open files, most likely
            log.warning("the webhook server can't take a connection: %s", error)
            self._loop.remove_reader(listener)
            self._loop.call_later(PAUSE, self.accept_at, listener)
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._shake_hands(connection))
        self._begun[task] = connection
        task.add_done_callback(lambda ended: self._begun.pop(ended, None))
        if len(self._begun) > MOST_HANDSHAKES:
            # Forgotten not when it has ended, but now: many may come before that.
            shut_down(self._begun.pop(next(iter(self._begun))))

    async def end(self) -> None:
        """End all of them."""
        for connection in self._begun.values():
            shut_down(connection)
        if self._begun:
            await asyncio.wait(self._begun)

    async def _shake_hands(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._protocol,
                connection,
                ssl=self._tls.context(),
                ssl_handshake_timeout=HANDSHAKE,
                ssl_shutdown_timeout=GOODBYE,
            )
        except ssl.SSLCertVerificationError as error:
            self._tls.log_refusal(f"its certificate is not accepted ({error.verify_message})")
        except OSError:
            pass  # which all else that can go wrong is: it concerns the other end


def _close(sockets: list[socket.socket]) -> None:
    for each in sockets:
        each.close()
