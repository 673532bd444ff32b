"""Connections to the ports of a pod, over a WebSocket: `v4.channel.k8s.io`, with two channels for each port.

The ports are in the query. Of each, the first channel carries data and the second says what went wrong; the first
message of both repeats the port's number, in two bytes.
"""

import asyncio
import struct
from collections.abc import Sequence

from windvane.client.transport import WebSocket
from windvane.cluster.apiserver.streams.dialer import Dial, Streams
from windvane.cluster.apiserver.streams.remote_command import PIECE, V4


class PortForward:
    """Connects to each of the ports, and copies data in both directions."""

    protocols = (V4,)

    def __init__(self, dial: Dial, ports: Sequence[int]) -> None:
        self._dial = dial
        self._ports = ports

    async def hold(self, socket: WebSocket) -> None:
        """Copy data until the client or all ports have closed."""
        for number, port in enumerate(self._ports):
            for channel in (2 * number, 2 * number + 1):
                await socket.send(bytes([channel]) + struct.pack("<H", port))
        loop = asyncio.get_running_loop()
        waiting: dict[int, asyncio.Queue[bytes]] = {2 * number: asyncio.Queue(1) for number in range(len(self._ports))}
        hearing = loop.create_task(_hear(socket, waiting))
        carrying = [
            loop.create_task(self._carry_or_drop(socket, 2 * number, port, waiting))
            for number, port in enumerate(self._ports)
        ]
        everything = asyncio.gather(*carrying)
        try:
            await asyncio.wait((hearing, everything), return_when=asyncio.FIRST_COMPLETED)
        finally:
            hearing.cancel()
            everything.cancel()
            await asyncio.gather(hearing, *carrying, return_exceptions=True)

    async def _carry_or_drop(
        self, socket: WebSocket, channel: int, port: int, waiting: dict[int, asyncio.Queue[bytes]]
    ) -> None:
        queue = waiting[channel]
        try:
            await self._carry(socket, channel, port, queue)
        finally:
            del waiting[channel]
            while not queue.empty():
                queue.get_nowait()  # frees the reader, which may be blocked here: the other ports need it

    async def _carry(self, socket: WebSocket, channel: int, port: int, queue: asyncio.Queue[bytes]) -> None:
        try:
            streams = await self._dial(port)
        except OSError as error:
            await socket.send(bytes([channel + 1]) + str(error).encode())
            return
        sending = asyncio.get_running_loop().create_task(_send(streams, queue))
        reader, writer = streams
        try:
            while data := await reader.read(PIECE):
                await socket.send(bytes([channel]) + data)
        except ConnectionError as error:
            await socket.send(bytes([channel + 1]) + str(error).encode())
        finally:
            sending.cancel()
            writer.close()


async def _hear(socket: WebSocket, waiting: dict[int, asyncio.Queue[bytes]]) -> None:
    async for message in socket.messages():
        if len(message) > 1 and (queue := waiting.get(message[0])) is not None:
            await queue.put(message[1:])


async def _send(streams: Streams, queue: asyncio.Queue[bytes]) -> None:
    _, writer = streams
    while True:
        data = await queue.get()
        try:
            writer.write(data)
            await writer.drain()
        except ConnectionError:
            pass  # the task that reads from the port reports it; the rest of the data is dropped
