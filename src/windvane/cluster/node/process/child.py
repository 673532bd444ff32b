"""A process that we started: what goes in and comes out of it, and its end, whatever still holds its pipes by then.

asyncio's own `Process.wait()` comes back only when all pipes are closed, too. Those stay open as long as anything that
the process has started holds them, and as long as what it wrote last is not read: to wait for that is to wait for ever.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, cast

LIMIT = 64 * 1024
"""How much of what it writes is taken before it is read."""


class Child:
    """A process of ours. Its streams are None where none were asked for."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, protocol: "_Protocol", stdin: asyncio.StreamWriter | None
    ) -> None:
        self.pid = transport.get_pid()
        self.stdin, self.stdout, self.stderr = stdin, protocol.stdout, protocol.stderr
        self._transport = transport
        self._exited = protocol.exited

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return not self._exited.done()

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        return await asyncio.shield(self._exited)

    async def write(self, data: bytes) -> None:
        """Write to its stdin, if it has one; what it does not want any more is dropped."""
        if self.stdin is not None and not self.stdin.is_closing():
            with suppress(ConnectionError):  # it has closed its stdin, or ended: that is its right
                self.stdin.write(data)
                await self.stdin.drain()

    def end_input(self) -> None:
        """Close its stdin, once what was written is there."""
        if self.stdin is not None:
            self.stdin.close()

    def kill(self) -> None:
        """End it, at once."""
        if self.runs:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # asyncio's own way would ask for its exit code, and then lose it

    async def close(self) -> None:
        """Wait until it has ended, and let go of its pipes, whatever is in them. It is about to end: that is awaited
        also by a caller that is cancelled meanwhile, or else the rest would not be done.
        """
        cancelled: asyncio.CancelledError | None = None
        while self.runs:
            try:
                await self.wait()
            except asyncio.CancelledError as error:
                cancelled = error
        if self.stdin is not None and not self.stdin.is_closing():
            self.stdin.transport.abort()
        self._transport.close()  # not before, for the same reason
        if cancelled is not None:
            raise cancelled


class _Protocol(SubprocessStreamProtocol):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(LIMIT, loop)
        self.exited: asyncio.Future[int] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It runs."""
        super().connection_made(transport)
        self._child = cast("asyncio.SubprocessTransport", transport)

    def process_exited(self) -> None:
        """It has ended; its pipes may be open."""
        code = self._child.get_returncode()
        super().process_exited()
        self.exited.set_result(signal.SIGKILL if code is None else code)


async def start(
    command: Sequence[str], *, stdin: int = DEVNULL, stdout: int, stderr: int, pass_fds: Sequence[int] = ()
) -> Child:
    """Start a process."""
    if stdin == PIPE:
        return await _start_with_pipe(command, stdout, stderr, pass_fds)
    return Child(*await _start(command, stdin, stdout, stderr, pass_fds), None)


async def _start_with_pipe(command: Sequence[str], stdout: int, stderr: int, pass_fds: Sequence[int]) -> Child:
    """With a pipe of ours: asyncio would take a socket, which can't be opened as /dev/stdin."""
    theirs, ours = os.pipe()
    try:
        writer = await _writer(os.fdopen(ours, "wb", 0))
        try:
            return Child(*await _start(command, theirs, stdout, stderr, pass_fds), writer)
        except BaseException:
            writer.transport.abort()
            raise
    finally:
        os.close(theirs)


async def _writer(pipe: IO[bytes]) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(), loop=loop), pipe
        )
    except BaseException:
        pipe.close()
        raise
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _start(
    command: Sequence[str], stdin: int, stdout: int, stderr: int, pass_fds: Sequence[int]
) -> tuple[asyncio.SubprocessTransport, "_Protocol"]:
    loop = asyncio.get_running_loop()
    return await loop.subprocess_exec(
        lambda: _Protocol(loop), *command, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=pass_fds
    )
