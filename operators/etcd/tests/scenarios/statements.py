"""What the status of EtcdClusters has ever said: a person may look at any moment, and what is so must be shown then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from etcd_operator.api import EtcdCluster
from windvane import Client, Condition


class Statements:
    """All conditions that were ever stated."""

    def __init__(self) -> None:
        self.made: list[Condition] = []

    @asynccontextmanager
    async def heard(self, client: Client) -> AsyncIterator["Statements"]:
        """Listen for as long as the block lasts."""

        async def listen() -> None:
            async for event in client.watch(EtcdCluster, initial=True):
                if event.type in ("ADDED", "MODIFIED"):
                    self.made += [each for each in event.object.status.conditions if each not in self.made[-8:]]

        task = asyncio.create_task(listen())
        try:
            yield self
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.wait([task])

    def said(self, type: str, status: str, so: Callable[[Condition], object]) -> list[Condition]:  # noqa: A002 - its name
        """Which statements of a type were like this."""
        return [each for each in self.made if (each.type, each.status) == (type, status) and so(each)]
