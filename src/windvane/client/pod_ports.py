"""Connections to a pod's port: bytes to it and from it, as channels of one WebSocket.

The protocol is `v4.channel.k8s.io`, with the port in the query: the API server passes the connection on to the node as
it is, and the container runtime there answers it. All versions of Kubernetes in use do that. The newer way, SPDY inside
a WebSocket (`SPDY/3.1+portforward.k8s.io`), is off in 1.30, and would bring a second multiplexing protocol for the one
thing that v4 lacks: it can't close one direction only. So a pod never sees that its peer has only stopped sending.

The user needs the verb `get` on `pods/portforward`, and since Kubernetes 1.35 also `create`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from windvane.api.status import APIStatus
from windvane.client.errors import APIError, ClientError, Interrupted, Unreadable
from windvane.client.transport import WebSocket

log = logging.getLogger(__name__)

V4 = "v4.channel.k8s.io"
DATA, ERROR = 0, 1
LARGEST_MESSAGE = 64 * 1024
LINGER = 5.0
"""How long a pod may go on answering a local program that has stopped sending."""


class Connection:
    """One connection to one port of a pod. Leaving its block closes it in both directions."""

    def __init__(self, socket: WebSocket, request: str) -> None:
        if socket.protocol != V4:
            raise Unreadable(f"{request}: the server chose the protocol {socket.protocol!r}; we speak {V4}")
        self._socket = socket
        self._messages = socket.messages()
        self._announced: set[int] = set()

    async def send(self, data: bytes) -> None:
        """Send to the port; waits while the pod is slow to read."""
        for start in range(0, len(data), LARGEST_MESSAGE):
            await self._socket.send(bytes([DATA]) + data[start : start + LARGEST_MESSAGE])

    async def received(self) -> AsyncGenerator[bytes]:
        """What the pod sends, until it closes; `APIError` if the port can't be reached or the connection breaks."""
        async for message in self._messages:
            if not message:
                continue
            channel, data = message[0], message[1:]
            if channel not in self._announced:
                self._announced.add(channel)  # the first message of each channel repeats the port's number
            elif channel == ERROR and data:
                raise APIError(APIStatus(status="Failure", message=data.decode(errors="replace")))
            elif channel == DATA and data:
                yield data


Connect = Callable[[], AbstractAsyncContextManager[Connection]]


@asynccontextmanager
async def listener(connect: Connect) -> AsyncIterator[tuple[str, int]]:
    """A free port on loopback; each connection to it becomes one of `connect`. All end with the block."""
    relays: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relay = asyncio.create_task(_relay(connect, reader, writer))
        relays.add(relay)
        relay.add_done_callback(relays.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()
        yield host, port
    finally:
        server.close()
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)


async def _relay(connect: Connect, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        async with connect() as connection:
            await _copy(connection, reader, writer)
    except (ClientError, OSError) as error:
        log.warning("a forwarded connection failed: %s", error)
    finally:
        writer.close()


async def _copy(connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy in both directions until the pod closes, or for a little while after the local program has."""
    sending = asyncio.create_task(_send(reader, connection))
    receiving = asyncio.create_task(_receive(connection, writer))
    try:
        await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
        # A local program that has only stopped sending still wants its answer. One that is gone looks the same, and the
        # pod will not hear of either, so this must be ended here.
        await asyncio.wait({receiving}, timeout=LINGER)
        if receiving.done():
            receiving.result()
    finally:
        sending.cancel()
        receiving.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)


async def _send(reader: asyncio.StreamReader, connection: Connection) -> None:
    try:
        while data := await reader.read(LARGEST_MESSAGE):
            await connection.send(data)
    except Interrupted:
        pass  # the receiving side sees it too, and knows more about it


async def _receive(connection: Connection, writer: asyncio.StreamWriter) -> None:
    async for data in connection.received():
        writer.write(data)
        await writer.drain()
