"""`kubectl exec` and `attach` over a WebSocket: the first byte of a message says which stream it belongs to.

The protocols are Kubernetes' `v5.channel.k8s.io`, and `v4.channel.k8s.io`, which can't say that stdin has ended.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec

from windvane.api import codec
from windvane.api.status import APIStatus, StatusCause, StatusDetails
from windvane.client.transport import WebSocket
from windvane.cluster.kubelet import Output, Process, Unavailable, Wiring

log = logging.getLogger(__name__)

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
CHANNELS: dict[Output, int] = {"stdout": STDOUT, "stderr": STDERR}
PIECE = 32 * 1024


class Size(msgspec.Struct):
    """The size of the client's terminal."""

    width: int = msgspec.field(name="Width", default=0)
    height: int = msgspec.field(name="Height", default=0)


class RemoteCommand:
    """Starts a command when the WebSocket is open, and ends it when the client has gone."""

    protocols = (V5, V4)

    def __init__(self, start: Callable[[], Awaitable[Process]], wiring: Wiring) -> None:
        self._start = start
        self._wiring = wiring

    async def hold(self, socket: WebSocket) -> None:
        """Talk until the command has ended, or the client has gone."""
        try:
            process = await self._start()
        except Unavailable as error:
            await _send_status(socket, error_status(f"unable to upgrade connection: {error}"))
            return
        except OSError as error:
            log.warning("a command could not be started: %s", error)
            await _send_status(socket, error_status(f"error executing command in container: {error}"))
            return
        loop = asyncio.get_running_loop()
        reading = loop.create_task(self._read_input(socket, process))
        writing = loop.create_task(self._write_output(socket, process))
        try:
            await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        finally:
            reading.cancel()
            writing.cancel()
            try:
                await asyncio.gather(reading, writing, return_exceptions=True)
            finally:
                await process.close()

    async def _write_output(self, socket: WebSocket, process: Process) -> None:
        await socket.send(bytes([STDOUT]))  # says that the connection is open
        wanted = {"stdout": self._wiring.stdout, "stderr": self._wiring.stderr}
        async for stream, data in process.output():
            if wanted[stream]:
                for start in range(0, len(data), PIECE):
                    await socket.send(bytes([CHANNELS[stream]]) + data[start : start + PIECE])
        await _send_status(socket, exit_status(await process.wait()))

    async def _read_input(self, socket: WebSocket, process: Process) -> None:
        """Until the client goes."""
        async for message in socket.messages():
            match message[:1], message[1:]:
                case (b"\x00", data) if data and self._wiring.stdin:
                    await process.write(data)
                case (b"\x04", data):
                    await _resize(process, data)
                case (b"\xff", b"\x00") if socket.protocol == V5:
                    await process.end_input()


async def _resize(process: Process, data: bytes) -> None:
    try:
        size = msgspec.json.decode(data, type=Size)
    except msgspec.DecodeError:
        return  # as a kubelet does; a wrong size does no harm
    await process.resize(size.width, size.height)


async def _send_status(socket: WebSocket, status: APIStatus) -> None:
    await socket.send(bytes([STATUS]) + codec.encode(status))


def exit_status(code: int) -> APIStatus:
    """The status of a command that ended."""
    if code == 0:
        return APIStatus(status="Success")
    details = StatusDetails(causes=[StatusCause(reason="ExitCode", message=str(code))])
    words = f"command terminated with non-zero exit code: {code}"
    return APIStatus(status="Failure", reason="NonZeroExitCode", message=words, details=details)


def error_status(why: str) -> APIStatus:
    """The status of a command that could not be run."""
    details = StatusDetails(causes=[StatusCause(message=why)])
    words = f"Internal error occurred: {why}"
    return APIStatus(status="Failure", code=500, reason="InternalError", message=words, details=details)
