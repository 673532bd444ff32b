"""A command in a container: a process whose stdin, stdout and stderr travel as channels of one WebSocket.

Every message begins with one byte that names its channel. We offer two versions of this protocol, newest first:

- `v5.channel.k8s.io`, Kubernetes 1.30 and later. The API server answers it itself and speaks SPDY to the kubelet; from
  1.36 on it passes it to kubelets that declare `ExtendWebSocketsToKubelet`. It can say that stdin has ended.
- `v4.channel.k8s.io`, for API servers that don't know v5 and pass the connection on to the node as it is. It has no
  way to end stdin, so `close_stdin` and `run(input=...)` refuse: a command that reads to the end would never get there.

The user needs the verb `get` on `pods/exec`, and since Kubernetes 1.35 also `create`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from windvane.api import codec
from windvane.api.status import APIStatus
from windvane.client.errors import ClientError, Interrupted, Unreadable, error_from_status
from windvane.client.transport import WebSocket

V5 = "v5.channel.k8s.io"
V4 = "v4.channel.k8s.io"
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
LARGEST_MESSAGE = 64 * 1024
"""Stdin is sent in pieces: servers refuse messages above 32 MiB, and a piece is all that waits for a slow reader."""

Stream = Literal["stdout", "stderr"]
STREAMS: dict[int, Stream] = {STDOUT: "stdout", STDERR: "stderr"}


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command wrote, and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int


class Process:
    """A command that runs in a container. Its output waits there until it is read."""

    def __init__(self, socket: WebSocket, request: str, *, stdin: bool, tty: bool) -> None:
        if socket.protocol not in (V5, V4):
            raise Unreadable(f"{request}: the server chose the protocol {socket.protocol!r}; we speak {V5} and {V4}")
        self._socket = socket
        self._messages = socket.messages()
        self._request = request
        self._stdin = stdin
        self._tty = tty
        self._reading = False
        self._status: APIStatus | None = None

    async def write(self, data: bytes) -> None:
        """Write to stdin; waits while the command is slow to read."""
        self._check_stdin()
        for start in range(0, len(data), LARGEST_MESSAGE):
            await self._socket.send(bytes([STDIN]) + data[start : start + LARGEST_MESSAGE])

    async def close_stdin(self) -> None:
        """Let the command see the end of its input."""
        self._check_stdin()
        self._check_stdin_can_end()
        await self._socket.send(bytes([CLOSE, STDIN]))
        self._stdin = False

    async def resize(self, width: int, height: int) -> None:
        """Tell the command's terminal how many columns and lines it has."""
        if not self._tty:
            raise ValueError("this command has no terminal to resize: start it with exec(..., tty=True)")
        await self._socket.send(bytes([RESIZE]) + codec.encode({"Width": width, "Height": height}))

    async def output(self) -> AsyncGenerator[tuple[Stream, bytes]]:
        """What the command writes, as it arrives; with a terminal, all of it is stdout.

        Ends when the command does. An `APIError` says why a command could not run, or was lost.
        """
        while self._status is None:
            chunk = await self._next()
            if chunk is not None:
                yield chunk
        exit_code_of(self._status)

    async def wait(self) -> int:
        """The exit code. Output that was not read so far is thrown away."""
        while self._status is None:
            await self._next()
        return exit_code_of(self._status)

    def _check_stdin_can_end(self) -> None:
        """Refuse where the server has no way to tell the command that its input has ended."""
        if self._socket.protocol != V5:
            raise ClientError(
                f"{self._request}: this server speaks only {self._socket.protocol}, which can't end stdin (Kubernetes "
                "1.30 and later can): use a command that knows how much to read, such as head -c 100"
            )

    async def _next(self) -> tuple[Stream, bytes] | None:
        """One piece of output, or None for a message that is something else."""
        if self._reading:
            raise RuntimeError("two tasks read the output of one command: let one of them, and call wait() after it")
        self._reading = True
        try:
            message = await anext(self._messages, None)
        finally:
            self._reading = False
        if message is None:
            raise Interrupted(f"{self._request}: the connection ended before the command did; it may still be running")
        if len(message) < 2:  # each connection begins with an empty message, which says that it is open
            return None
        channel, data = message[0], message[1:]
        if channel == STATUS:
            self._status = read_status(data, self._request)
        return (STREAMS[channel], data) if channel in STREAMS else None

    def _check_stdin(self) -> None:
        if not self._stdin:
            raise ValueError("this command has no stdin, or it is closed: start it with exec(..., stdin=True)")


async def collect(process: Process, input: bytes | None) -> ExecResult:  # noqa: A002 - subprocess.run's word for it
    """Feed a command its whole input and take all of its output, both at once, so that neither waits for the other."""
    if input is not None:
        process._check_stdin_can_end()
    feeding = asyncio.create_task(_feed(process, input))
    written: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
    try:
        async for stream, data in process.output():
            written[stream] += data
        exit_code = await process.wait()
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
    return ExecResult(bytes(written["stdout"]), bytes(written["stderr"]), exit_code)


async def _feed(process: Process, data: bytes | None) -> None:
    if data is None:
        return
    try:
        await process.write(data)
        await process.close_stdin()
    except Interrupted:
        # Many commands end before they have read all their input. If it was the connection that broke instead, then
        # the reader of the output sees it too, and says so.
        pass


def exec_query(command: Sequence[str], *, container: str, stdin: bool, tty: bool) -> list[tuple[str, str]]:
    """The query that starts `command`."""
    if isinstance(command, str) or not command:
        raise ValueError(f'a command is a list of words: ["sh", "-c", "echo hi"], not {command!r}')
    query = [("command", word) for word in command]
    if container:
        query.append(("container", container))
    # A terminal has one screen: the command's stderr comes out of its stdout.
    streams = {"stdin": stdin, "stdout": True, "stderr": not tty, "tty": tty}
    return query + [(name, "true") for name, wanted in streams.items() if wanted]


def read_status(data: bytes, request: str) -> APIStatus:
    """The message with which a server says how a command ended."""
    try:
        return codec.decode(data, APIStatus)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        excerpt = data[:200].decode(errors="replace")
        raise Unreadable(f"{request}: not a Status: {error}: {excerpt}") from error


def exit_code_of(status: APIStatus) -> int:
    """The exit code that a `Status` holds; if it reports another failure, that is raised."""
    if status.status == "Success":
        return 0
    for cause in status.details.causes if status.details else ():
        if cause.reason == "ExitCode" and cause.message.isdecimal():
            return int(cause.message)
    raise error_from_status(status)
