"""The embedded cluster of `windvane dev`: a child process, which is started again if it is killed.

Its log of objects is durable, so nothing is lost. It takes the port that it had: every client finds it again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from windvane import ambient
from windvane.cli.command_error import PREFIX
from windvane.cli.dev.log_lines import keep_line
from windvane.cli.dev.process import Child
from windvane.cluster.instance import Instance, Process

READY = " is ready, with pid "
READY_WITHIN = 60.0
STOP_WITHIN = 30.0
OFTEN, WITHIN = 3, 60.0
"""A cluster that has ended so often within so many seconds will not stay."""
LAST = 20


class ClusterFailed(Exception):
    """There is no cluster, and there will be none; the message says why, and what to do."""


class ClusterProcess:
    """Keeps the process of a cluster."""

    def __init__(self, instance: Instance, arguments: Sequence[str], *, log: Path, note: Callable[..., None]) -> None:
        self.instance = instance
        self._arguments = arguments
        self._log = log
        self._note = note
        self._child: Child | None = None
        self._last: deque[str] = deque(maxlen=LAST)
        self._said_ready = asyncio.Event()
        self._ends: deque[float] = deque(maxlen=OFTEN)
        self._stopping = False

    @property
    def process(self) -> Process:
        """What it is, or was last."""
        if (process := self.instance.last_process()) is None:
            raise ClusterFailed(f"{self.instance.directory} was removed while its cluster runs")
        return process

    async def start(self) -> None:
        """Return when it is ready."""
        await self._start(self._arguments)

    async def keep(self) -> None:
        """Start it again whenever it has ended, until `stop`. `ClusterFailed` if that is of no use."""
        while self._child is not None:
            how = await self._child.ended()
            if self._stopping:
                return
            self._ends.append(ambient.monotonic())
            if len(self._ends) == OFTEN and self._ends[-1] - self._ends[0] < WITHIN:
                raise ClusterFailed(
                    f"the cluster has ended {OFTEN} times within {WITHIN:g} s (the last time: {how}): see "
                    f"{self._log}, and start windvane dev again"
                )
            self._note(f"the cluster has ended ({how}); it is started again, with all that was in it", problem=True)
            await self._start([*_without_port(self._arguments), "--port", str(self.process.port)])
            self._note("the cluster is back")

    async def stop(self) -> None:
        """End it for good."""
        self._stopping = True
        if self._child is not None and not await self._child.stop(STOP_WITHIN):
            self._note(f"the cluster had not stopped after {STOP_WITHIN:g} s, and was killed", problem=True)

    async def _start(self, arguments: Sequence[str]) -> None:
        self._said_ready.clear()
        self._last.clear()
        words = ("cluster", "start", "--name", self.instance.name, "--data", str(self.instance.directory))
        child = self._child = await Child.start(
            "windvane.cli", *words, *arguments, heard=self._heard, complained=self._complained, directory=Path.cwd()
        )
        ended = asyncio.ensure_future(child.ended())
        ready = asyncio.ensure_future(self._said_ready.wait())
        try:
            await asyncio.wait([ended, ready], timeout=READY_WITHIN, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                raise ClusterFailed(self._why(ended.result()))
            if not ready.done() or not await asyncio.to_thread(_is_ready, self.instance):
                await child.stop(STOP_WITHIN)
                raise ClusterFailed(f"the cluster was not ready within {READY_WITHIN:g} s; see {self._log}")
        finally:
            ended.cancel()
            ready.cancel()

    def _heard(self, line: str) -> None:
        self._last.append(line)
        keep_line(line, self._log)
        if READY in line:
            self._said_ready.set()

    def _complained(self, line: str) -> None:
        self._heard(line)
        if self._said_ready.is_set() and line.strip() and not self._stopping:
            self._note(f"the cluster says: {line.strip()}", problem=True)

    def _why(self, how: str) -> str:
        words = "\n".join(self._last).strip()
        if words.startswith(PREFIX):
            return words.removeprefix(PREFIX)  # it says itself what to do
        return f"the cluster has ended while it started ({how}). It said:\n{words or '(nothing)'}"


def _is_ready(instance: Instance) -> bool:
    from windvane.cluster.readiness import is_ready

    return is_ready(instance, within=READY_WITHIN)


def _without_port(arguments: Sequence[str]) -> list[str]:
    kept = list(arguments)
    if "--port" in kept:
        del kept[kept.index("--port") : kept.index("--port") + 2]
    return kept
