"""Starting a container with its launcher, and talking to it: signals go there, and its end comes back."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from windvane.cluster.node.logs.writer import Stream
from windvane.cluster.node.process.child import Child, start
from windvane.cluster.node.process.images import program_in
from windvane.cluster.node.process.terminal import Terminal

LAUNCHER = Path(__file__).with_name("launcher.py")
COMMAND = (sys.executable, "-I", "-S", str(LAUNCHER))
MOST_OUTPUT = 10 * 1024
"""How much of what a probe or a hook says is kept."""

LAST_WORDS = 10.0
"""How many seconds after its end what a container has said is waited for."""

Isolation = Literal["root", "user", "none"]


class StartError(Exception):
    """The program could not be started; the message says why."""


class Mount(msgspec.Struct, frozen=True):
    """A file or a directory of this machine, and where the container sees it."""

    source: str
    target: str
    read_only: bool = False
    part: str = ""
    """If only a part of it is meant: which. No link on the way there is followed."""

    @property
    def path(self) -> str:
        """Where it is on this machine."""
        return f"{self.source}/{self.part}" if self.part else self.source


class LaunchSpec(msgspec.Struct):
    """What the launcher has to know."""

    argv: Sequence[str]
    env: dict[str, str]
    directory: str
    """Where what the container writes to its own file system stays."""
    isolation: Isolation
    hostname: str
    cwd: str = ""
    mounts: list[Mount] = []
    uid: int | None = None
    gid: int | None = None
    groups: list[int] | None = None
    cgroups: list[str] = []
    tty: bool = False
    among: int = 0
    """A process of another container, if this one is to be among the processes of that."""
    programs: str = ""
    """A directory with programs that commands may name, wherever they say that these are."""


class _Inside(LaunchSpec):
    pid: int = 0


class Launched:
    """A container that runs."""

    def __init__(self, spec: LaunchSpec, process: Child, streams: "Streams", terminal: Terminal | None) -> None:
        self.spec = spec
        self.terminal = terminal
        """What it is shown on, if it asked for one."""
        self.process = process
        """Its launcher, whose stdin is its own."""
        self._reader, self._writer = streams
        self._output: list[asyncio.Task[None]] = []
        self.inner = 0
        """The first process of the container: whose namespaces are its own."""

    def listen(self, say: Callable[[Stream, bytes], None]) -> None:
        """Pass what it says to `say` from now on."""
        loop = asyncio.get_running_loop()
        if self.terminal is not None:
            self._output = [loop.create_task(_read_screen(self.terminal, say))]
            return
        streams: dict[Stream, asyncio.StreamReader | None]
        streams = {"stdout": self.process.stdout, "stderr": self.process.stderr}
        self._output = [loop.create_task(_read(each, name, say)) for name, each in streams.items() if each is not None]

    @property
    def pid(self) -> int:
        """The launcher's pid: everything of the container is below it."""
        return self.process.pid

    async def begun(self) -> None:
        """Wait until it runs; `StartError` if it can't."""
        word, _, rest = (await self._reader.readline()).decode().strip().partition(" ")
        if word != "started":
            await self.close()
            raise StartError(rest or "the launcher ended before it said anything")
        self.inner = int(rest)

    async def ended(self) -> int:
        """Wait until nothing of it runs any more; its exit code."""
        word, _, rest = (await self._reader.readline()).decode().strip().partition(" ")
        await self.close()
        return int(rest) if word == "exited" else 128 + signal.SIGKILL

    def send(self, number: int) -> None:
        """Send it a signal."""
        if not self._writer.is_closing():
            self._writer.write(b"%d\n" % number)

    async def close(self) -> None:
        """End all of it, at once, and wait until it has."""
        self._writer.close()  # at which the launcher kills everything below it
        await self.process.wait()
        _, unfinished = await asyncio.wait(self._output, timeout=LAST_WORDS)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        await self.process.close()
        if self.terminal is not None:
            self.terminal.close()


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def launch(spec: LaunchSpec, say: Callable[[Stream, bytes], None], *, stdin: bool = False) -> Launched:
    """Start a container, with a stdin or without. What it says is passed to `say`."""
    if spec.tty:
        with Terminal(spec.uid) as terminal:
            theirs = terminal.theirs
            process, streams = await _start("run", spec, stdin=theirs, stdout=theirs, stderr=theirs)
        launched = Launched(spec, process, streams, terminal)
    else:
        process, streams = await _start(
            "run", spec, stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL
        )
        launched = Launched(spec, process, streams, None)
    launched.listen(say)
    try:
        await launched.begun()
    except asyncio.CancelledError:
        await launched.close()
        raise
    return launched


async def run_inside(launched: Launched, argv: Sequence[str], timeout: float) -> tuple[int, str]:
    """Run a command beside a container: its exit code, and what it said. `TimeoutError` if it takes too long."""
    process, writer = await begin_inside(launched, argv)
    said: list[bytes] = []
    reading = [
        _read(stream, "stdout", lambda _, data: said.append(data) if sum(map(len, said)) < MOST_OUTPUT else None)
        for stream in (process.stdout, process.stderr)
        if stream is not None
    ]
    try:
        async with asyncio.timeout(timeout):
            await asyncio.gather(*reading)
            code = await process.wait()
    finally:
        writer.close()
        process.kill()
        await process.close()
    return code, b"".join(said)[:MOST_OUTPUT].decode(errors="replace")


async def begin_inside(
    launched: Launched,
    argv: Sequence[str],
    *,
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int = asyncio.subprocess.PIPE,
    stderr: int = asyncio.subprocess.PIPE,
    tty: bool = False,
    variables: Mapping[str, str] | None = None,
) -> tuple[Child, asyncio.StreamWriter]:
    """Start a command beside a container, and go on. With `tty`, its stdin is a terminal that is to be its own."""
    fields = {name: getattr(launched.spec, name) for name in launched.spec.__struct_fields__}
    env = {**launched.spec.env, **(variables or {})}
    argv = [program_in(launched.spec.programs, argv[0]), *argv[1:]]
    spec = _Inside(**{**fields, "argv": argv, "env": env, "pid": launched.inner, "tty": tty})
    process, (_, writer) = await _start("enter", spec, stdin=stdin, stdout=stdout, stderr=stderr)
    return process, writer


async def allowed_isolation(directory: Path) -> Isolation:
    """The best way to keep containers apart that this system allows."""
    command = (*COMMAND, "check", str(directory))
    process = await start(command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
    try:
        said = await process.stdout.read() if process.stdout is not None else b""
        await process.wait()
    finally:
        process.kill()  # if the answer is not waited for any more
        await process.close()
    match said.decode():
        case "root" | "user" as isolation:
            return isolation
    return "none"


async def _start(
    verb: str,
    spec: LaunchSpec,
    *,
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int = asyncio.subprocess.PIPE,
    stderr: int = asyncio.subprocess.PIPE,
) -> tuple[Child, Streams]:
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        command = (*COMMAND, verb, str(theirs.fileno()))
        try:
            process = await start(command, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=[theirs.fileno()])
        except BaseException:
            writer.close()
            raise
    writer.write(msgspec.json.encode(spec) + b"\n")
    return process, (reader, writer)


async def _read(stream: asyncio.StreamReader, name: Stream, say: Callable[[Stream, bytes], None]) -> None:
    while data := await stream.read(65536):
        say(name, data)


async def _read_screen(terminal: Terminal, say: Callable[[Stream, bytes], None]) -> None:
    while data := await terminal.read():
        say("stdout", data)
