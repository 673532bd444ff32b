"""A writer that remembers every key that was acknowledged, and a reader that misses none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

from scenarios.gateway import LOST, Gateway, Refused
from scenarios.waiting import until
from windvane import ambient

PACE, AGAIN = 0.01, 0.02
"""How many seconds there are between two keys, and between two tries."""
PREFIX = "written-"


class Writer:
    """Writes one new key after the other, each again and again until it is acknowledged, as a client does."""

    def __init__(self, gateway: Gateway) -> None:
        self.acknowledged: dict[str, float] = {}
        """Each key, and when its acknowledgement came."""
        self.retries = 0
        self.error = ""
        """What went wrong with the last try that failed."""
        self._gateway = gateway
        self._since = ambient.monotonic()
        self._until = 0.0

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["Writer"]:
        """Write for as long as the block lasts; the key under way is finished."""
        going = True

        async def write() -> None:
            self._since = ambient.monotonic()
            while going:
                key = f"{PREFIX}{len(self.acknowledged):07}"
                await self._write(key)
                self.acknowledged[key] = ambient.monotonic()
                await ambient.sleep(PACE)
            self._until = ambient.monotonic()

        task = asyncio.create_task(write())
        try:
            yield self
            going = False
            await asyncio.wait_for(task, 30)
        finally:
            task.cancel()

    async def _write(self, key: str) -> None:
        while True:
            try:
                await self._gateway.put(key, value_of(key))
                return
            except (*LOST, Refused) as error:
                self.retries += 1
                self.error = repr(error)
                await ambient.sleep(AGAIN)

    async def more(self, keys: int) -> None:
        """Wait until so many more keys are acknowledged."""
        wanted = len(self.acknowledged) + keys

        async def enough() -> bool:
            return len(self.acknowledged) >= wanted

        await until(f"{keys} more keys are acknowledged", enough, within=60, why=self.error)

    def longest_gap(self) -> float:
        """For how many seconds no key was acknowledged, at worst."""
        moments = [self._since, *self.acknowledged.values(), self._until or ambient.monotonic()]
        return max(later - earlier for earlier, later in pairwise(moments))

    async def missing(self, reader: Gateway) -> list[str]:
        """Which of the acknowledged keys are not there as they were written."""
        there = await reader.read(PREFIX)
        return [key for key in self.acknowledged if there.get(key) != value_of(key)]


def value_of(key: str) -> str:
    """What is written under a key."""
    return f"the value of {key}"
