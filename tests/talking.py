"""Servers of tests that speak no HTTP, or bad HTTP; no connection outlives them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from windvane import ambient

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


@asynccontextmanager
async def talking(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server on 127.0.0.1 that says what it likes.

    With the block all its connections end, also one of a moment ago: what is still open when the loop of a test is
    closed is found by a collection of garbage, during whatever test that happens in.
    """
    talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks[asyncio.get_running_loop().create_task(talk(reader, writer))] = writer

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await _moments()  # until whoever the loop has let in is talked to
        for task, writer in talks.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*talks, return_exceptions=True)
        await _moments()  # until the loop has let go of the connections


async def _moments() -> None:
    for _ in range(3):
        await ambient.sleep(0)


async def request(reader: asyncio.StreamReader) -> bytes:
    """A whole HTTP request: who is hung up on while still writing may tell of that instead."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:] if line)
    return head + await reader.readexactly(int(fields.get(b"content-length", 0)))
