"""The operator in a process of its own: killed at random moments, or at one that a scenario names, and begun again."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from scenarios.machine import WINDVANE
from scenarios.waiting import until
from windvane import ambient

SOURCE = Path(__file__).parents[2] / "src"
LATEST = 5.0
"""How many seconds an operator that is killed at random works, at most. On a busy machine it takes as long to start."""
WORKS = b" leads (lease "


class OperatorProcess:
    """`windvane run etcd_operator:operator`. One at a time, always with the same name, so that it need not wait for
    the lease of the one before."""

    def __init__(self, kubeconfig: Path, log: Path) -> None:
        self.kills = 0
        self.log = log
        self._kubeconfig = kubeconfig
        self._begins = 0
        """Where in the log its words begin."""
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Begin, if it doesn't run."""
        if self._process is not None:
            return
        with self.log.open("ab") as log:
            self._begins = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                *(*WINDVANE, "run", "etcd_operator:operator", "--install-crds", "--metrics-port", "none"),
                *("--identity", "operator", "--log-format", "console", "--kubeconfig", str(self._kubeconfig)),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(SOURCE), os.getenv("PYTHONPATH")]))},
                stdout=log,
                stderr=log,
            )

    async def works(self) -> bool:
        """Whether it has begun to work, by its log."""
        return WORKS in self.log.read_bytes()[self._begins :]

    async def kill(self) -> None:
        """kill -9; whatever it was about to do is not done."""
        if self._process is not None:
            self.kills += 1
            await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Stop it as a rollout would."""
        if self._process is not None:
            await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        assert process is not None
        assert process.returncode is None, f"the operator ended by itself, see {self.log}"
        process.send_signal(how)
        await process.wait()

    @asynccontextmanager
    async def killed_at_random(self, seed: str) -> AsyncIterator[None]:
        """Kill it every few seconds for as long as the block lasts, and start it again at once. It runs afterwards."""
        chance = random.Random(seed)

        async def play() -> None:
            while True:
                await until("the operator works", self.works, within=60)
                await ambient.sleep(chance.uniform(0, LATEST))
                await self.kill()
                await self.start()

        task = asyncio.create_task(play())
        try:
            yield
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.wait([task])
            await self.start()
