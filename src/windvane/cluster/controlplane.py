"""What makes an API server a cluster: the controllers, the scheduler and a node, at work in the same process.

They are clients of the API server as any operator is, and reach it by function calls. They begin when it can be used,
and stop before it does. One that fails is begun again; the API server and the others don't notice.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from windvane import ambient
from windvane.client.client import Client
from windvane.cluster.apiserver.answer import Handler, User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.controllers.manager import parts
from windvane.cluster.node import agent
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.simulated import Simulated

log = logging.getLogger(__name__)

MANAGER = User("system:kube-controller-manager", ("system:masters", "system:authenticated"))
NODE = "node-1"
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
FINISH_WITHIN = 5.0
"""How long, in seconds, passes that are under way may take when the cluster stops."""


@asynccontextmanager
async def cluster_at_work(handle: Handler, *, root_ca: str, volumes: Path | None = None) -> AsyncIterator[None]:
    """Have controllers, scheduler and node work, for the length of the block, on the API server that `handle` is.

    `root_ca` is the certificate that its clients trust, in PEM. In `volumes` are the directories that claims get.
    """
    working = asyncio.get_running_loop().create_task(_work(handle, root_ca, volumes))
    try:
        yield
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def _work(handle: Handler, root_ca: str, volumes: Path | None) -> None:
    client = Client(InProcessTransport(handle, MANAGER))

    async def run_node() -> None:
        await NodeAgent(client, NODE, Simulated()).run()

    loop = asyncio.get_running_loop()
    every = {**parts(client, root_ca=root_ca, volumes=volumes), agent.NAME: run_node}
    tasks = [loop.create_task(keep_running(name, run)) for name, run in every.items()]
    try:
        await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=FINISH_WITHIN)
        await client.close()  # whoever still waits for an answer gets an error instead
        await asyncio.gather(*tasks, return_exceptions=True)


async def keep_running(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Run something that should never end, and again whenever it does, after a pause that grows while it fails."""
    pause = FIRST_PAUSE
    while True:
        began = ambient.monotonic()
        try:
            await run()
            log.error("%s ended by itself: this is a bug in windvane; it begins again in %.0f s", name, pause)
        except Exception:
            log.exception("%s failed: this is a bug in windvane; it begins again in %.0f s", name, pause)
        await ambient.sleep(pause)
        well = ambient.monotonic() - began > 2 * LONGEST_PAUSE
        pause = FIRST_PAUSE if well else min(2 * pause, LONGEST_PAUSE)
