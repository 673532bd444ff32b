"""The programs that the demo runs: each writes into a log, and none is left when the demo ends, however it ends."""

import asyncio
import ctypes
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1


class Program:
    """A program that runs."""

    def __init__(self, process: Process, log: Path) -> None:
        self.log = log
        self._process = process
        self._copying = asyncio.get_running_loop().create_task(self._copy())
        self._words = asyncio.Condition()

    @classmethod
    async def start(cls, command: Sequence[str], log: Path, *, environment: Mapping[str, str]) -> "Program":
        """Start a program. What it says is added to the log."""
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,  # Ctrl-C is for us: there is an order in which they stop
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )
        return cls(process, log)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def words(self) -> str:
        """What it has said."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    async def said(self, text: str) -> str:
        """Wait until it has said something; all that it has said until then."""
        async with self._words:
            await self._words.wait_for(lambda: text in self.words)
        return self.words

    async def ended(self) -> str:
        """Wait until it ends by itself; how it did, in words."""
        code = await self._process.wait()
        await self._copying
        return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"

    async def stop(self) -> None:
        """Ask it to end, and return when it has."""
        if self._process.returncode is None:
            self._process.terminate()
        await self.ended()

    def kill(self) -> None:
        """End it at once."""
        if self._process.returncode is None:
            self._process.kill()

    async def _copy(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - for mypy: it is a PIPE
        with self.log.open("ab") as file:
            while some := await self._process.stdout.read(65536):
                file.write(some)
                file.flush()
                async with self._words:
                    self._words.notify_all()


def _end_with_parent() -> None:
    """Have the kernel send SIGTERM when the demo dies, even if it was killed and could do nothing about it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
