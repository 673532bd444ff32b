"""Commands that somebody runs in a container, with pipes or a terminal, and that end when that somebody is gone."""

import asyncio
import fcntl
import os
import pty
import signal
import struct
import termios
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from windvane.cluster.kubelet import Output, Wiring
from windvane.cluster.node.child import Child
from windvane.cluster.node.launching import Launched, begin_inside
from windvane.cluster.node.leftovers import descendants

PIECE = 64 * 1024
TERMINAL = {"TERM": "xterm"}


async def run_command(launched: Launched, command: Sequence[str], wiring: Wiring) -> "Command":
    """Run a command beside a container's program, in its surroundings."""
    if wiring.tty:
        return await _with_terminal(launched, command)
    null, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process, control = await begin_inside(
        launched,
        command,
        stdin=pipe if wiring.stdin else null,
        stdout=pipe if wiring.stdout else null,
        stderr=pipe if wiring.stderr else null,
    )
    return PipedCommand(process, control)


async def _with_terminal(launched: Launched, command: Sequence[str]) -> "TerminalCommand":
    ours, theirs = pty.openpty()
    try:
        if launched.spec.uid is not None:
            os.fchown(theirs, launched.spec.uid, -1)
        process, control = await begin_inside(
            launched, command, stdin=theirs, stdout=theirs, stderr=theirs, tty=True, variables=TERMINAL
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return TerminalCommand(process, control, ours)


class _Running:
    """What all commands have in common: they end, or are ended."""

    def __init__(self, process: Child, control: asyncio.StreamWriter) -> None:
        self._process = process
        self._control = control

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        return await self._process.wait()

    async def close(self) -> None:
        """End it, with all that it has started and not let go of."""
        self._control.close()
        if self._process.runs:
            _end(self._process.pid)  # not one await before this: whoever closes it may be cancelled meanwhile
        await self._process.close()


def _end(launcher: int) -> None:
    """Kill everything below a launcher, and what that has started since we looked, and the launcher."""
    with suppress(ProcessLookupError):
        os.kill(launcher, signal.SIGSTOP)  # so that it does not start the command just after we looked
    below = descendants(launcher)
    killed: set[int] = set()
    while found := {*below, *_of_sessions(below)} - killed:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
    with suppress(ProcessLookupError):
        os.kill(launcher, signal.SIGKILL)


def _of_sessions(leaders: Collection[int]) -> Iterator[int]:
    """The processes of the sessions that these lead: their children stay there, even when the parents are gone."""
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            with suppress(OSError):
                if int((place / "stat").read_text().rpartition(")")[2].split()[3]) in leaders:
                    yield int(place.name)


class PipedCommand(_Running):
    """A command whose input and output are pipes."""

    async def write(self, data: bytes) -> None:
        """Write to its stdin."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            with suppress(ConnectionError):  # it has closed its stdin, or ended: that is its right
                stdin.write(data)
                await stdin.drain()

    async def end_input(self) -> None:
        """Close its stdin."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def resize(self, width: int, height: int) -> None:
        """There is no terminal."""

    async def output(self) -> AsyncGenerator[tuple[Output, bytes]]:
        """What it writes."""
        streams: dict[Output, asyncio.StreamReader | None] = {
            "stdout": self._process.stdout,
            "stderr": self._process.stderr,
        }
        loop = asyncio.get_running_loop()
        reading: dict[asyncio.Task[bytes], tuple[Output, asyncio.StreamReader]] = {
            loop.create_task(stream.read(PIECE)): (name, stream) for name, stream in streams.items() if stream
        }
        try:
            while reading:
                done, _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    name, stream = reading.pop(task)
                    if data := task.result():
                        yield name, data
                        reading[loop.create_task(stream.read(PIECE))] = name, stream
        finally:
            for task in reading:
                task.cancel()


class TerminalCommand(_Running):
    """A command that has a terminal, whose other end we hold."""

    def __init__(self, process: Child, control: asyncio.StreamWriter, terminal: int) -> None:
        super().__init__(process, control)
        os.set_blocking(terminal, False)
        self._terminal = terminal
        self._closed = False

    async def write(self, data: bytes) -> None:
        """Type."""
        while data and not self._closed:
            try:
                data = data[os.write(self._terminal, data) :]
            except BlockingIOError:
                await self._ready(writing=True)
            except OSError:
                return  # nobody has the other end open any more

    async def end_input(self) -> None:
        """Type Ctrl-D, which is how a terminal says it."""
        await self.write(b"\x04")

    async def resize(self, width: int, height: int) -> None:
        """Change the size of the terminal."""
        if not self._closed and 0 < width < 65536 and 0 < height < 65536:
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    async def output(self) -> AsyncGenerator[tuple[Output, bytes]]:
        """What is on the screen."""
        while not self._closed:
            try:
                data = os.read(self._terminal, PIECE)
            except BlockingIOError:
                await self._ready(writing=False)
                continue
            except OSError:
                return  # how Linux says that the other end is closed
            if not data:
                return
            yield "stdout", data

    async def close(self) -> None:
        """End it, and close the terminal, at which whoever still has it open is told to hang up."""
        try:
            await super().close()
        finally:
            if not self._closed:
                self._closed = True
                os.close(self._terminal)

    async def _ready(self, *, writing: bool) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        add, remove = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
        add(self._terminal, ready.set)
        try:
            await ready.wait()
        finally:
            remove(self._terminal)


Command = PipedCommand | TerminalCommand
