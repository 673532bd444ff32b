"""Every kind: tells of objects that are deleted and don't go, of whatever kind they are.

python examples/stuck_deletions.py

An operator declares the kinds that it sees. Here, which there are is known only at run time, so this is made of what
controllers are made of: informers say what changes, a queue says what to look at and when, a recorder writes Events.
"""

import asyncio
from functools import partial

from windvane import (
    Change,
    Client,
    ClientError,
    ConfigError,
    EventRecorder,
    Informer,
    Kind,
    Metadata,
    WorkQueue,
    dynamic,
    only_metadata,
)

PATIENCE = 5
"""How many seconds finalizers may take."""

Key = tuple[Kind, str, str]
"""A kind, a namespace and a name."""


class StuckDeletions:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.queue: WorkQueue[Key] = WorkQueue()
        self.recorder = EventRecorder(client, "stuck-deletions")
        self.informers: dict[Kind, Informer[Metadata]] = {}

    async def run(self) -> None:
        kinds: dict[str, Kind] = {}
        for kind in await self.client.discover(verbs=["list", "watch"]):
            kinds.setdefault(kind.resource, kind)  # the first is the version that the server prefers
        async with asyncio.TaskGroup() as group:
            group.create_task(self.recorder.run())
            for kind in kinds.values():
                informer = self.informers[kind] = Informer(self.client, only_metadata(dynamic(kind)))
                informer.subscribe(partial(self.changed, kind))
                group.create_task(informer.run())
            print(f"watching {len(kinds)} kinds", flush=True)
            while True:
                key = await self.queue.take()
                self.look(key)
                self.queue.done(key)

    def changed(self, kind: Kind, change: Change[Metadata]) -> None:
        if change.item.meta.deletion_timestamp is not None and not change.gone:
            self.queue.add((kind, *change.item.key), after=PATIENCE)

    def look(self, key: Key) -> None:
        kind, namespace, name = key
        found = self.informers[kind].get(name, namespace=namespace)
        if found is None or found.metadata.deletion_timestamp is None:
            return
        words = f"it is deleted, and waits for {', '.join(found.metadata.finalizers) or 'its end'}"
        print(f"{kind.resource} {namespace}/{name}: {words}", flush=True)
        self.recorder.event(found, "StuckDeletion", words, type="Warning")
        self.queue.add(key, after=60)


async def main() -> None:
    async with Client.connect() as client:
        await StuckDeletions(client).run()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (ClientError, ConfigError) as error:
        raise SystemExit(f"{error}") from None
    except KeyboardInterrupt:
        pass
