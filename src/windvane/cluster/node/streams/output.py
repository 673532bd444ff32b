"""The output of a container, for clients that follow it as it is written."""

import asyncio
from collections.abc import AsyncGenerator

from windvane.cluster.kubelet import Output

MOST = 4 * 1024 * 1024
"""How many bytes may wait for a listener. A container waits for no client: one that is slower is left behind."""


class OutputSubscriber:
    """Hears what a container says, from when it is there until either of them is over."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[tuple[Output, bytes] | None] = asyncio.Queue()
        self._waiting = 0

    def hear(self, stream: Output, data: bytes) -> None:
        """The container says something."""
        self._waiting += len(data)
        if self._waiting > MOST:
            self.over()
        else:
            self._heard.put_nowait((stream, data))

    def over(self) -> None:
        """There is nothing more to hear."""
        self._heard.put_nowait(None)

    async def output(self) -> AsyncGenerator[tuple[Output, bytes]]:
        """What was heard, and is."""
        while (heard := await self._heard.get()) is not None:
            self._waiting -= len(heard[1])
            yield heard
