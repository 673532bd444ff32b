"""A relay on loopback between the operator and the API server, whose connections can be cut, as a network would.

What goes through it is encrypted from end to end: it sees nothing, and needs no certificate.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

HOST = "127.0.0.1"
CHUNK = 65536


class Relay:
    """Listens on `port`, and leads to whatever port the server has."""

    def __init__(self, target: Callable[[], int]) -> None:
        self._target = target
        self._open: set[asyncio.WriteTransport] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve for the length of the block."""
        server = await asyncio.start_server(self._accept, HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            self.cut()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def cut(self) -> int:
        """Drop all connections at once; how many there were."""
        there = len(self._open) // 2
        for each in self._open:
            each.abort()
        return there

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._relay(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, to_server = await asyncio.open_connection(HOST, self._target())
        except OSError:
            writer.transport.abort()  # there is no server just now, which is what this looks like without a relay
            return
        both = {writer.transport, to_server.transport}
        self._open |= both
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(_pump(reader, to_server))
                pumps.create_task(_pump(there, writer))
        finally:
            self._open -= both
            for each in both:
                each.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
        if not target.is_closing():  # as it is once the connection was cut
            target.write_eof()
    except OSError:  # one side is gone; then the other is of no use
        target.transport.abort()
