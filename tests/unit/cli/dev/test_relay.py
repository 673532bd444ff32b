"""The relay between the operator and the API server: it passes everything on, until it is cut."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from windvane.cli.dev.relay import HOST, Relay

LARGE = bytes(range(256)) * 4096


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """A server that sends everything back; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether nothing more comes: there was an end, or the connection was reset."""
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def test_everything_passes_in_both_directions_and_so_does_its_end() -> None:
    async with echo() as port:
        relay = Relay(lambda: port)
        async with relay.serving():
            reader, writer = await asyncio.open_connection(HOST, relay.port)
            writer.write(LARGE)
            writer.write_eof()
            assert await reader.read(-1) == LARGE
            writer.close()


async def test_connections_are_cut_and_new_ones_pass() -> None:
    async with echo() as port:
        relay = Relay(lambda: port)
        async with relay.serving():
            reader, writer = await asyncio.open_connection(HOST, relay.port)
            writer.write(b"a")
            assert await reader.readexactly(1) == b"a"
            assert relay.cut() == 1
            assert await ended(reader)
            writer.close()
            reader, writer = await asyncio.open_connection(HOST, relay.port)
            writer.write(b"b")
            assert await reader.readexactly(1) == b"b"
            writer.close()


async def test_without_a_server_a_connection_ends_at_once() -> None:
    async with echo() as port:
        pass
    relay = Relay(lambda: port)
    async with relay.serving():
        reader, writer = await asyncio.open_connection(HOST, relay.port)
        assert await ended(reader)
        writer.close()
