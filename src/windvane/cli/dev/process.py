"""A child process of `windvane dev`: what it says, line by line, and how it ended."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

CHUNK = 65536
LONGEST = 1024 * 1024
"""A line that is longer is told in parts."""
KILLED = "killed by"
DRAINED_WITHIN = 1.0
"""Seconds in which what a process has said before it ended is read. Something that it started may hold its output."""


class Child:
    """A process in a session of its own: Ctrl-C comes to us alone, and we end our children in their order."""

    def __init__(
        self, process: asyncio.subprocess.Process, heard: Callable[[str], None], complained: Callable[[str], None]
    ) -> None:
        self._process = process
        loop = asyncio.get_running_loop()
        self._reading = [
            loop.create_task(_read(output, told))
            for output, told in ((process.stdout, heard), (process.stderr, complained))
            if output is not None
        ]

    @classmethod
    async def start(
        cls,
        module: str,
        *arguments: str,
        heard: Callable[[str], None],
        complained: Callable[[str], None] | None = None,
        directory: Path,
        environment: Mapping[str, str] | None = None,
    ) -> "Child":
        """Run a module in the Python that we are. `heard` is called with each line that it writes.

        For those on standard error it is `complained`, if that is given.
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "windvane.cli.dev.child", str(os.getpid()), module, *arguments),
            stdin=asyncio.subprocess.PIPE,  # which ends when we do
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE if complained else asyncio.subprocess.STDOUT,
            cwd=directory,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
            start_new_session=True,
        )
        return cls(process, heard, complained or heard)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.returncode is None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.runs:
            self._process.send_signal(number)

    async def ended(self) -> str:
        """Wait for its end; how it ended, in words: `exit code 1`, `killed by SIGKILL`."""
        code = await self._process.wait()
        await asyncio.wait(self._reading, timeout=DRAINED_WITHIN)
        for each in self._reading:
            each.cancel()
        return f"{KILLED} {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    async def stop(self, within: float) -> bool:
        """Ask it to end, and wait; kill it if it doesn't. Whether it ended by itself."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(within):
                await self._process.wait()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            await self._process.wait()
            return False
        return True


async def _read(output: asyncio.StreamReader, told: Callable[[str], None]) -> None:
    rest = b""
    while chunk := await output.read(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST:
            lines, rest = [*lines, rest], b""
        for line in lines:
            told(line.decode(errors="replace"))
    if rest:
        told(rest.decode(errors="replace"))
