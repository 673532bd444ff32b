"""Informers for every kind that a server serves: kinds that come are watched from then on, those that go no longer.

Of each object only its identity, its owners and its finalizers are kept. What adds and removes kinds are objects as
well, so which kinds there are need not be asked again and again.
"""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from windvane import (
    Backoff,
    Change,
    Client,
    ClientError,
    Informer,
    Item,
    Kind,
    Metadata,
    ambient,
    dynamic,
    only_metadata,
)

VERBS = ("delete", "list", "watch")
DEFINING = frozenset({"customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io"})
"""The kinds whose objects add kinds, and remove them."""
LAG = 2.0
"""In how many seconds a server lists a kind that it has: some accept its definition, and list it a little later."""
RETRY = Backoff(first=1.0, most=30.0)

Tell: TypeAlias = Callable[[Kind, Change[Metadata]], None]


class ResourceMonitors:
    """All objects of a server, as far as can be known without reading them."""

    def __init__(self, client: Client, tell: Tell, *, without: frozenset[str] = frozenset()) -> None:
        """`tell` is told every change of every object, but for those of the resources `without`."""
        self._client = client
        self._tell = tell
        self._without = without
        self._informers: dict[Kind, Informer[Metadata]] = {}
        self._tasks: dict[Kind, asyncio.Task[None]] = {}
        self._served: dict[tuple[str, str], Kind] = {}
        self._listeners: list[Callable[[], None]] = []
        self._looked = asyncio.Event()
        self._look_again = asyncio.Event()
        self._look_again.set()

    @property
    def synced(self) -> bool:
        """Whether everything that is there has been read once."""
        return self._looked.is_set() and all(informer.synced for informer in self._informers.values())

    @property
    def problems(self) -> list[str]:
        """Which kinds can't be seen just now, and why."""
        return [informer.problem for informer in self._informers.values() if informer.problem]

    def served(self, api_version: str, name: str) -> Kind | None:
        """The kind that a reference names; None if the server has no such kind."""
        return self._served.get((api_version, name))

    def on_new_kinds(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever other kinds are served than before."""
        self._listeners.append(listener)

    async def run(self) -> None:
        """See everything until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._look_again.wait()
                self._look_again.clear()
                await self._look_until_answered(group)

    async def wait_synced(self) -> None:
        """Wait until everything that is there has been read once."""
        await self._looked.wait()
        await asyncio.gather(*(informer.wait_synced() for informer in self._informers.values()))

    async def _look_until_answered(self, group: asyncio.TaskGroup) -> None:
        failures = 0
        while True:
            try:
                await self._look(group)
            except ClientError:
                await ambient.sleep(RETRY.delay(failures))
                failures += 1
            else:
                return

    async def _look(self, group: asyncio.TaskGroup) -> None:
        """Find out which kinds there are, and watch exactly those, each in the version that the server prefers."""
        served = {(kind.api_version, kind.name): kind for kind in await self._client.discover()}
        preferred: dict[str, Kind] = {}
        for kind in await self._client.discover(verbs=VERBS):
            if kind.resource not in self._without:
                preferred.setdefault(kind.resource, kind)
        wanted = set(preferred.values())
        for kind in self._informers.keys() - wanted:
            await self._end(kind)
        for kind in wanted - self._informers.keys():
            self._begin(kind, group)
        self._looked.set()
        if served != self._served:
            self._served = served
            for listener in self._listeners:
                listener()

    def _begin(self, kind: Kind, group: asyncio.TaskGroup) -> None:
        informer = Informer(self._client, only_metadata(dynamic(kind)), keep=Item.bare)
        informer.subscribe(lambda change: self._changed(kind, change))
        self._informers[kind] = informer
        self._tasks[kind] = group.create_task(informer.run())

    async def _end(self, kind: Kind) -> None:
        task = self._tasks.pop(kind)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for item in self._informers.pop(kind).items():
            self._tell(kind, Change(item, item, gone=True))

    def _changed(self, kind: Kind, change: Change[Metadata]) -> None:
        if kind.resource in DEFINING and not change.initial:
            self._look_again.set()
            asyncio.get_running_loop().call_later(LAG, self._look_again.set)
        self._tell(kind, change)
