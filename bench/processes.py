"""Contenders as processes: the one in Go is built here, and all of them are started, watched from outside and ended."""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")


def controller_runtime() -> Path:
    """The contender in Go, built if it isn't yet, or is another one by now."""
    source = HERE / "controller_runtime"
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in sorted(source.iterdir())))
    caches = os.environ.get("WINDVANE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "windvane"
    program = Path(caches).expanduser().absolute() / "bench" / f"controller-runtime-{digest.hexdigest()[:12]}"
    if program.is_file():
        return program
    if (go := shutil.which("go")) is None:
        sys.exit("The contender of controller-runtime is built with Go: install it, and put `go` on the PATH.")
    print("Building the operator in Go; about three minutes, once.", file=sys.stderr, flush=True)
    subprocess.run(
        [go, "build", "-trimpath", "-o", str(program), "."],
        cwd=source,
        env=os.environ | {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
        check=True,
    )
    return program


class Running:
    """A contender at work, seen from outside."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def says(self, word: str) -> None:
        """Wait until it says that."""
        if self._process.stdout is None:
            raise AssertionError("it was started with a pipe")
        async for line in self._process.stdout:
            if line.decode().strip() == word:
                return
        sys.exit(f"an operator ended, with code {await self._process.wait()}, before it was {word}")

    def cpu(self) -> float:
        """CPU seconds since its start."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mb(self, what: str) -> float:
        """`VmRSS`, what is resident now, or `VmHWM`, the most that ever was."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


@asynccontextmanager
async def running(command: Sequence[str], kubeconfig: Path) -> AsyncIterator[Running]:
    """A contender's process, until the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
