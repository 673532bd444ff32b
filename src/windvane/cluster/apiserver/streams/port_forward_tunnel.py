"""`kubectl port-forward`: any number of connections to a pod's ports, as streams of SPDY in a WebSocket.

Each connection has a number and two streams, which begin with headers that say so: on `data` go the bytes, and on
`error` the server reports what went wrong. Either side closes its half of a stream when it is done.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from windvane.client.transport import WebSocket
from windvane.cluster.apiserver.streams.dialer import Dial
from windvane.cluster.apiserver.streams.remote_command import PIECE
from windvane.cluster.apiserver.streams.spdy import (
    CANCEL,
    REFUSED_STREAM,
    Data,
    Decoder,
    Encoder,
    Frame,
    GoAway,
    Ping,
    Reset,
    SPDYError,
    SynStream,
)

log = logging.getLogger(__name__)

PROTOCOL = "SPDY/3.1+portforward.k8s.io"
MOST = 1000
"""How many connections may be open at once."""
WAITING = 64
"""How many pieces may wait for a pod that is slow to read."""


@dataclass
class Connection:
    """One connection to a port."""

    number: str
    port: int
    streams: dict[str, int] = field(default_factory=dict)
    """By their type: `data` and `error`."""
    waiting: "asyncio.Queue[bytes]" = field(default_factory=lambda: asyncio.Queue(WAITING))
    """What the client has sent; the empty piece is its end."""
    carrying: "asyncio.Task[None] | None" = None


class PortForwardTunnel:
    """Copies data between a client and the ports of a pod."""

    protocols = (PROTOCOL,)

    def __init__(self, dial: Dial) -> None:
        self._dial = dial

    async def hold(self, socket: WebSocket) -> None:
        """Copy data until the client goes."""
        tunnel = _Tunnel(socket, self._dial)
        decoder = Decoder()
        try:
            async for message in socket.messages():
                for frame in decoder.feed(message):
                    if isinstance(frame, GoAway):
                        return
                    await tunnel.take(frame)
        except SPDYError as error:
            log.info("a port-forward was ended, because what came is not SPDY: %s", error)
        finally:
            await tunnel.close()


class _Tunnel:
    """The connections of one client."""

    def __init__(self, socket: WebSocket, dial: Dial) -> None:
        self._socket = socket
        self._dial = dial
        self._encoder = Encoder()
        self._connections: dict[str, Connection] = {}
        self._by_stream: dict[int, Connection] = {}

    async def take(self, frame: Frame) -> None:
        match frame:
            case Ping(number):
                await self._socket.send(self._encoder.ping(number))
            case SynStream(stream, headers, _):
                await self._open(stream, headers)
            case Data(stream, data, over):
                if (connection := self._by_stream.get(stream)) and connection.streams.get("data") == stream:
                    if data:
                        await connection.waiting.put(data)
                    if over:
                        await connection.waiting.put(b"")
            case Reset(stream):
                if (connection := self._by_stream.get(stream)) and connection.streams.get("data") == stream:
                    self._forget(connection)

    async def close(self) -> None:
        tasks = [each.carrying for each in self._connections.values() if each.carrying is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _open(self, stream: int, headers: Mapping[str, str]) -> None:
        number, kind, port = headers.get("requestid", ""), headers.get("streamtype", ""), headers.get("port", "")
        makes_sense = kind in ("data", "error") and port.isdecimal() and 0 < int(port) < 65536
        if not makes_sense or (number not in self._connections and len(self._connections) >= MOST):
            await self._socket.send(self._encoder.reset(stream, REFUSED_STREAM))
            return
        connection = self._connections.setdefault(number, Connection(number, int(port)))
        connection.streams[kind] = stream
        self._by_stream[stream] = connection
        await self._socket.send(self._encoder.reply(stream))
        if len(connection.streams) == 2 and connection.carrying is None:
            connection.carrying = asyncio.get_running_loop().create_task(self._carry(connection))

    async def _carry(self, connection: Connection) -> None:
        problem = ""
        data, error = connection.streams["data"], connection.streams["error"]
        try:
            reader, writer = await self._dial(connection.port)
            sending = asyncio.get_running_loop().create_task(_send(connection.waiting, writer))
            try:
                while piece := await reader.read(PIECE):
                    await self._socket.send(self._encoder.data(data, piece))
            finally:
                sending.cancel()
                writer.close()
        except OSError as failed:
            problem = str(failed)
        with suppress(ConnectionError):
            if problem:
                await self._socket.send(self._encoder.data(error, problem.encode()))
                await self._socket.send(self._encoder.reset(data, CANCEL))
            else:
                await self._socket.send(self._encoder.data(data, b"", over=True))
            await self._socket.send(self._encoder.data(error, b"", over=True))
        connection.carrying = None
        self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        if connection.carrying is not None:
            connection.carrying.cancel()
        while not connection.waiting.empty():
            connection.waiting.get_nowait()  # frees the reader, which may be blocked here
        self._connections.pop(connection.number, None)
        for stream in connection.streams.values():
            self._by_stream.pop(stream, None)


async def _send(waiting: "asyncio.Queue[bytes]", writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):  # the task that reads from the port reports it
        while piece := await waiting.get():
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
        return
    while await waiting.get():
        pass  # dropped: the port is closed, but the client must not be blocked
