"""A stand-in for a node's kubelet: what the API server asks of one, answered with real processes and connections.

It has one pod with containers that are programs of this machine. `exec` runs a command beside them, as it would in a
container; a port of the pod is a port of this machine.

What is not like the real one: the kubelet passes `exec` and `portForward` on to the container runtime, with which it
speaks SPDY. Here WebSockets end, in the protocols that kubelet and runtimes have for them. A node that declares the
feature `ExtendWebSocketsToKubelet` gets them from the API server as the client sent them.
"""

import asyncio
import errno
import fcntl
import json
import os
import pty
import ssl
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from aiohttp import WSMsgType, web

from reference.certificates import Authority

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
CHUNK = 32 * 1024
STARTED = datetime(2026, 1, 1, tzinfo=UTC)


class Container:
    """A program that runs, and what it has written so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._lines: list[bytes] = []
        self._over = asyncio.Event()
        self._changed = asyncio.Condition()
        self._collecting = asyncio.create_task(self._collect())

    async def log(self, response: web.StreamResponse, *, tail: int | None, follow: bool, timestamps: bool) -> None:
        """Send the lines so far, or the last `tail` of them, and if asked to, those to come until the program ends."""
        sent = 0 if tail is None else max(0, len(self._lines) - tail)
        while True:
            over = self._over.is_set()
            lines = self._lines[sent:]
            if timestamps:
                lines = [_stamp(sent + n) + line for n, line in enumerate(lines)]
            await response.write(b"".join(lines))
            sent += len(lines)
            if over or not follow:
                return
            async with self._changed:
                while sent == len(self._lines) and not self._over.is_set():
                    await self._changed.wait()

    async def stop(self) -> None:
        """End the program."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._collecting

    async def ended(self) -> None:
        """Wait until the program has ended and its log is complete."""
        await self._collecting

    async def _collect(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            async with self._changed:
                self._lines.append(line)
                self._changed.notify_all()
        await self._process.wait()
        async with self._changed:
            self._over.set()
            self._changed.notify_all()


def _stamp(number: int) -> bytes:
    """A time for a line: one is written each second, no matter what the clock says."""
    return f"{STARTED + timedelta(seconds=number):%Y-%m-%dT%H:%M:%S.000000000Z} ".encode()


class Kubelet:
    """Serves on loopback, from `async with` on, what the API server asks of the node of one pod."""

    port: int

    def __init__(self, directory: Path, *, protocols: Sequence[str] = (V5, V4)) -> None:
        self._directory = directory
        self._protocols = protocols
        self._containers: dict[str, Container] = {}
        self.commands: list[asyncio.subprocess.Process] = []
        app = web.Application()
        app.on_response_prepare.append(_no_more_requests)
        app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", self._logs)
        app.router.add_get("/exec/{namespace}/{pod}/{container}", self._exec)
        app.router.add_get("/portForward/{namespace}/{pod}", self._port_forward)
        # A command that was left ends when the API server says so; cut off before, it would trouble another test.
        self._runner = web.AppRunner(app, shutdown_timeout=60)

    async def __aenter__(self) -> Self:
        certificate, key = Authority(self._directory).issue_server("kubelet", "127.0.0.1")
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate, key)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=tls).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        for container in self._containers.values():
            await container.stop()
        await self._runner.cleanup()

    async def start(self, container: str, *command: str) -> Container:
        """Start the program of a container."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
        self._containers[container] = Container(process)
        return self._containers[container]

    async def _logs(self, request: web.Request) -> web.StreamResponse:
        name, pod = request.match_info["container"], request.match_info["pod"]
        if name not in self._containers:
            return web.Response(status=404, text=f'container "{name}" in pod "{pod}" is not running')
        if "previous" in request.query:
            return web.Response(status=400, text=f'previous terminated container "{name}" in pod "{pod}" not found')
        response = web.StreamResponse(headers={"Content-Type": "text/plain", "Transfer-Encoding": "chunked"})
        await response.prepare(request)
        tail = request.query.get("tailLines")
        await self._containers[name].log(
            response,
            tail=None if tail is None else int(tail),
            follow="follow" in request.query,
            timestamps="timestamps" in request.query,
        )
        return response

    async def _exec(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=self._protocols, max_msg_size=0)
        await socket.prepare(request)
        await socket.send_bytes(bytes([STDOUT]))
        status = await self._run(socket, request.query.getall("command"), set(request.query))
        with suppress(ConnectionError):  # the client has left
            await socket.send_bytes(bytes([STATUS]) + json.dumps({"metadata": {}, **status}).encode())
        await socket.close()
        return socket

    async def _run(self, socket: web.WebSocketResponse, command: list[str], wanted: set[str]) -> dict[str, object]:
        terminal, theirs = pty.openpty() if "tty" in wanted else (None, asyncio.subprocess.PIPE)
        stdin = theirs if "input" in wanted or terminal is not None else asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(*command, stdin=stdin, stdout=theirs, stderr=theirs)
        except FileNotFoundError as error:
            message = f"error executing command in container: {error}"
            return {"status": "Failure", "reason": "InternalError", "message": message, "code": 500}
        self.commands.append(process)
        if terminal is not None:
            os.close(theirs)
        listening = asyncio.create_task(_listen(socket, process, terminal))
        if terminal is not None:
            await _copy(await _reader(terminal), socket, STDOUT)
        else:
            assert process.stdout is not None
            assert process.stderr is not None
            await asyncio.gather(_copy(process.stdout, socket, STDOUT), _copy(process.stderr, socket, STDERR))
        code = await process.wait()
        listening.cancel()
        if code == 0:
            return {"status": "Success"}
        details = {"causes": [{"reason": "ExitCode", "message": str(code)}]}
        message = f"command terminated with non-zero exit code: exit status {code}"
        return {"status": "Failure", "reason": "NonZeroExitCode", "message": message, "details": details}

    async def _port_forward(self, request: web.Request) -> web.StreamResponse:
        port = int(request.query["port"])
        socket = web.WebSocketResponse(protocols=(V4,), max_msg_size=0)
        await socket.prepare(request)
        for channel in (0, 1):
            await socket.send_bytes(struct.pack("<BH", channel, port))
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError as error:
            await socket.send_bytes(
                b"\x01" + f"error forwarding port {port} to pod: {os.strerror(error.errno or 0)}".encode()
            )
            await socket.close()
            return socket
        sending = asyncio.create_task(_send(socket, writer))
        try:
            await _copy(reader, socket, 0)
        finally:
            sending.cancel()
            writer.close()
        await socket.close()
        return socket


async def _no_more_requests(_: web.Request, response: web.StreamResponse) -> None:
    """One request per connection, so that none is still open when the stand-in ends."""
    response.force_close()


async def _listen(socket: web.WebSocketResponse, process: asyncio.subprocess.Process, terminal: int | None) -> None:
    """Do what the client says, and end the command if it leaves."""
    async for message in socket:
        assert message.type is WSMsgType.BINARY
        channel, data = message.data[0], message.data[1:]
        if channel == STDIN and terminal is not None:
            os.write(terminal, data)
        elif channel == STDIN and process.stdin is not None:
            with suppress(ConnectionError):
                process.stdin.write(data)
                await process.stdin.drain()
        elif channel == CLOSE and socket.ws_protocol == V5 and process.stdin is not None:
            process.stdin.close()
        elif channel == RESIZE and terminal is not None:
            size = json.loads(data)
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size["Height"], size["Width"], 0, 0))
    with suppress(ProcessLookupError):
        process.kill()


async def _copy(reader: asyncio.StreamReader, socket: web.WebSocketResponse, channel: int) -> None:
    try:
        while data := await reader.read(CHUNK):
            await socket.send_bytes(bytes([channel]) + data)
    except ConnectionError:
        pass  # the client has left
    except OSError as error:
        if error.errno != errno.EIO:  # how a terminal says that nobody has it open any more
            raise


async def _send(socket: web.WebSocketResponse, writer: asyncio.StreamWriter) -> None:
    async for message in socket:
        writer.write(message.data[1:])
        await writer.drain()
    writer.close()


async def _reader(terminal: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    pipe = os.fdopen(terminal, "rb", 0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
