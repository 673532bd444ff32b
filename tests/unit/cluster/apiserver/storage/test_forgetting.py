"""The past can be asked for as long as it was there five minutes ago."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from windvane import ambient
from windvane.ambient import Reality
from windvane.cluster.apiserver.storage.compaction import INTERVAL, forget_with_time
from windvane.cluster.apiserver.storage.store import Expired, Key, Store


class Clock(Reality):
    """Time passes when `tick` says so, one interval at a time."""

    def __init__(self) -> None:
        self._asleep, self._over = asyncio.Event(), asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if not seconds:  # only letting others work
            return await super().sleep(0)
        assert seconds == INTERVAL
        self._asleep.set()
        await self._over.wait()
        return self._over.clear()

    async def tick(self) -> None:
        await self._asleep.wait()
        self._asleep.clear()
        self._over.set()
        await self._asleep.wait()


async def test_what_was_there_five_minutes_ago_is_forgotten() -> None:
    async with forgetting() as (store, clock):
        await write(store, 3)
        await clock.tick()
        await write(store, 2)
        await clock.tick()
        assert store.floor == 3
        with pytest.raises(Expired):
            store.watch("/pods", 2)


async def test_what_is_younger_is_remembered() -> None:
    async with forgetting() as (store, clock):
        await write(store, 3)
        await clock.tick()
        await write(store, 2)
        store.watch("/pods", 1).close()


async def test_nothing_is_forgotten_while_nothing_happens() -> None:
    async with forgetting() as (store, clock):
        await write(store, 3)
        for _ in range(3):
            await clock.tick()
        assert len(store.entries_at("/pods", "", 3)) == 3


@asynccontextmanager
async def forgetting() -> AsyncIterator[tuple[Store, Clock]]:
    clock, store = Clock(), Store.open()
    with ambient.use(clock):
        task = asyncio.create_task(forget_with_time(store))
        yield store, clock
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await store.close()


async def write(store: Store, count: int) -> None:
    for _ in range(count):
        await store.commit(Key("/pods", "default", str(store.revision)), 0, lambda revision: str(revision).encode())
