"""A stand-in for a kubelet older than 1.36, of which an API server asks `exec` over SPDY.

The API server takes our WebSocket, opens SPDY streams to the node, and translates. Only as much of SPDY/3.1 is here as
that needs. Streams are told apart by the order in which the API server opens them (status, stdin, stdout, stderr), so
their headers, which are compressed with a dictionary of SPDY's own, need not be read.
"""

import asyncio
import json
import ssl
import struct
import zlib
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

from reference.certificates import Authority
from talking import talking

SYN_STREAM, SYN_REPLY, PING = 1, 2, 6
CONTROL, FINISH = 0x8003, 1
CHUNK = 32 * 1024


class SPDYKubelet:
    """Serves `exec` on loopback, from `async with` on, by running real processes."""

    port: int

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._serving = AsyncExitStack()

    async def __aenter__(self) -> Self:
        certificate, key = Authority(self._directory).issue_server("kubelet", "127.0.0.1")
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate, key)
        self.port = await self._serving.enter_async_context(talking(_serve, tls))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._serving.aclose()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    method, target, _ = (await reader.readline()).decode().split()
    headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    assert (method, "upgrade: spdy/3.1" in headers) == ("POST", True), headers
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
        b"X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n"
    )
    await _Session(reader, writer).run(parse_qs(urlsplit(target).query))
    writer.close()


class _Session:
    """One SPDY connection, which is one command."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._compressor = zlib.compressobj()  # one for all headers of a connection
        self._streams: list[int] = []

    async def run(self, query: dict[str, list[str]]) -> None:
        """Run the command that the query holds."""
        names = ["status", *(name for name in ("input", "output", "error") if name in query)]
        while len(self._streams) < len(names):
            await self._frame()
        streams = dict(zip(names, self._streams, strict=True))
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*query["command"], stdin=pipe, stdout=pipe, stderr=pipe)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        listening = asyncio.create_task(self._listen(streams.get("input"), process.stdin))
        await asyncio.gather(
            self._copy(process.stdout, streams["output"]),
            self._copy(process.stderr, streams["error"]),
        )
        await self._send(streams["status"], json.dumps(_status(await process.wait())).encode(), finish=True)
        await listening

    async def _listen(self, stdin: int | None, pipe: asyncio.StreamWriter) -> None:
        try:
            while True:
                stream, data, finished = await self._frame()
                if stream == stdin and data and not pipe.is_closing():
                    pipe.write(data)
                if stream == stdin and finished:
                    pipe.close()
        except asyncio.IncompleteReadError:
            pass  # the API server has closed the connection

    async def _copy(self, pipe: asyncio.StreamReader, stream: int) -> None:
        while data := await pipe.read(CHUNK):
            await self._send(stream, data)
        await self._send(stream, b"", finish=True)

    async def _frame(self) -> tuple[int | None, bytes, bool]:
        """Read one frame: the stream, data and end of a data frame. Others are dealt with here."""
        head, flags, high, length = struct.unpack("!IBBH", await self._reader.readexactly(8))
        data = await self._reader.readexactly(length + (high << 16))
        if head >> 16 != CONTROL:
            return head, data, bool(flags & FINISH)
        kind = head & 0xFFFF
        if kind == SYN_STREAM:
            self._streams.append(struct.unpack_from("!I", data)[0])
            no_headers = self._compressor.compress(struct.pack("!I", 0)) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
            await self._write(CONTROL << 16 | SYN_REPLY, 0, data[:4] + no_headers)
        elif kind == PING:
            await self._write(CONTROL << 16 | PING, 0, data)
        return None, b"", False

    async def _send(self, stream: int, data: bytes, *, finish: bool = False) -> None:
        await self._write(stream, FINISH if finish else 0, data)

    async def _write(self, head: int, flags: int, data: bytes) -> None:
        self._writer.write(struct.pack("!IBBH", head, flags, len(data) >> 16, len(data) & 0xFFFF) + data)
        await self._writer.drain()


def _status(code: int) -> dict[str, object]:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    details = {"causes": [{"reason": "ExitCode", "message": str(code)}]}
    message = f"command terminated with non-zero exit code: exit status {code}"
    return {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "message": message, "details": details}
