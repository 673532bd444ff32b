"""Watches what the operator says, in Events and in status, and tells it as it happens."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from etcd_demo import story
from etcd_demo.page import Page
from etcd_operator.api import EtcdCluster
from windvane import Client, Gone, Object
from windvane.k8s import events

ObjectT = TypeVar("ObjectT", bound=Object)
PAUSE = 1.0


async def tell(client: Client, page: Page) -> None:
    """Tell of everything that happens from now on, until cancelled."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_tell_clusters(client, page))
        tasks.create_task(_tell_events(client, page))


async def _tell_clusters(client: Client, page: Page) -> None:
    async for before, after in _changes(client, EtcdCluster):
        if after is not None:
            for line in story.of_cluster(before, after):
                page.told(after.metadata.name, line)
        elif before is not None:
            page.told(before.metadata.name, "is gone")


async def _tell_events(client: Client, page: Page) -> None:
    async for _, event in _changes(client, events.Event):
        if event is not None:
            for name, line in story.of_event(event):
                page.told(name, line)


async def _changes(client: Client, kind: type[ObjectT]) -> AsyncIterator[tuple[ObjectT | None, ObjectT | None]]:
    """Each change, as what was before and what is after. What is there at first is no change."""
    known: dict[str, ObjectT] = {}
    while True:
        beginning = True
        try:
            async for event in client.watch(kind, initial=True):
                if event.type == "BOOKMARK":
                    beginning = beginning and not event.initial_end
                    continue
                uid = event.item.meta.uid
                before = known.pop(uid, None)
                after = None if event.type == "DELETED" else event.object
                if after is not None:
                    known[uid] = after
                if before is not None or not beginning:
                    yield before, after
        except Gone:
            await asyncio.sleep(PAUSE)
