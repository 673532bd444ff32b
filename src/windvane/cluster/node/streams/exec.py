"""Commands that a client runs in a container, with pipes or a terminal, and that end when the client is gone."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from windvane.cluster.kubelet import Output, Wiring
from windvane.cluster.node.process.child import Child
from windvane.cluster.node.process.launch import Launched, begin_inside
from windvane.cluster.node.process.orphans import descendants
from windvane.cluster.node.process.terminal import VARIABLES, Terminal

PIECE = 64 * 1024


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
    with Terminal(launched.spec.uid) as terminal:
        theirs = terminal.theirs
        process, control = await begin_inside(
            launched, command, stdin=theirs, stdout=theirs, stderr=theirs, tty=True, variables=VARIABLES
        )
    return TerminalCommand(process, control, terminal)


class _Command:
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
            _end(self._process.pid)  # not one await before this: the caller may be cancelled meanwhile
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


class PipedCommand(_Command):
    """A command whose input and output are pipes."""

    async def write(self, data: bytes) -> None:
        """Write to its stdin."""
        await self._process.write(data)

    async def end_input(self) -> None:
        """Close its stdin."""
        self._process.end_input()

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


class TerminalCommand(_Command):
    """A command that has a terminal, whose other end we hold."""

    def __init__(self, process: Child, control: asyncio.StreamWriter, terminal: Terminal) -> None:
        super().__init__(process, control)
        self._terminal = terminal

    async def write(self, data: bytes) -> None:
        """Type."""
        await self._terminal.write(data)

    async def end_input(self) -> None:
        """Type Ctrl-D, which is how a terminal says it."""
        await self.write(b"\x04")

    async def resize(self, width: int, height: int) -> None:
        """Change the size of the terminal."""
        self._terminal.resize(width, height)

    async def output(self) -> AsyncGenerator[tuple[Output, bytes]]:
        """What is on the screen."""
        while data := await self._terminal.read():
            yield "stdout", data

    async def close(self) -> None:
        """End it, and close the terminal."""
        try:
            await super().close()
        finally:
            self._terminal.close()


Command = PipedCommand | TerminalCommand
