"""`windvane cluster start` in a process of its own, which tests may kill."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from windvane import Client, ambient
from windvane.api.resource import Object
from windvane.client.errors import ClientError, Forbidden
from windvane.cluster.node.process.orphans import descendants, started

ObjectT = TypeVar("ObjectT", bound=Object)
PATIENCE = 120.0

Processes = dict[int, str | None]
"""Pids, each with the time when it was started: by then another process may have its pid."""


PATIENT = f"""
import sys
from windvane.cli import main
from windvane.cluster.node import agent
agent.LAST_MOMENT = {PATIENCE}
sys.exit(main())
"""
"""`windvane`, but its containers have as long to end with it as a busy machine may let them wait."""


@asynccontextmanager
async def cluster(
    home: Path, *, program: Sequence[str] = ("-m", "windvane.cli"), **options: Any
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Client]]:
    """`windvane cluster start`, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *program, "cluster", "start", "--data", str(home / "cluster"), "--host-paths"),
        env={**os.environ, "WINDVANE_HOME": str(home)},
        stdout=asyncio.subprocess.PIPE,
        **options,
    )
    assert process.stdout is not None
    assert b"ready" in await process.stdout.readline()
    try:
        async with Client.connect(kubeconfig=home / "cluster" / "kubeconfig") as client:
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def create(client: Client, wanted: Object) -> None:
    """Create something, as soon as the controllers have made an account for its pods."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await client.create(wanted)
                return
            except Forbidden:
                await ambient.sleep(0.05)


async def until(client: Client, kind: type[ObjectT], name: str, so: Callable[[Any], object]) -> Any:
    """An object, once something is true of it."""
    deadline = ambient.monotonic() + PATIENCE
    there: Any = None
    while True:
        try:
            there = await client.get(kind, name, namespace="default")
            if so(there):
                return there
        except ClientError:
            pass
        assert ambient.monotonic() < deadline, f"not so: {there}"
        await ambient.sleep(0.05)


def below(pid: int) -> Processes:
    """All processes below one."""
    return {each: started(each) for each in descendants(pid)}


async def so_many_below(pid: int, enough: int) -> Processes:
    """All processes below one, once there are so many: a container runs before its program has started others."""
    async with asyncio.timeout(PATIENCE):
        while len(found := below(pid)) < enough:
            await ambient.sleep(0.02)
    return found


async def gone(processes: Processes) -> None:
    """Wait until none of them is there."""
    deadline = ambient.monotonic() + PATIENCE
    while left := [pid for pid, since in processes.items() if since is not None and started(pid) == since]:
        assert ambient.monotonic() < deadline, f"still there: {left}"
        await ambient.sleep(0.02)
