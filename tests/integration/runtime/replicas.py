"""Several replicas of one sharded operator on one server, what can happen to them, and a log of what each wrote.

A replica can be paused as by SIGSTOP: none of its tasks runs, its timers go by, and the world goes on. Then it wakes up
in the middle of whatever it did.
"""

import asyncio
import contextvars
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import msgspec

from integration.runtime.websites import Website, Websites
from integration.runtime.world import ADMIN, World
from windvane import Client, ambient, kind_of
from windvane.client.transport import Request, Response, WebSocket
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.runtime.coordination.shard_assignment import shard_of
from windvane.runtime.informers.cache import Key
from windvane.sim.fault_injection import FaultyTransport, NetworkFaults

SHARDS = 16
RESOURCE = kind_of(Website).resource


class Entry(NamedTuple):
    """Something that the server was made to store."""

    version: int
    """Its resourceVersion: the order in which it happened."""
    at: float
    replica: str
    shard: int
    key: Key | None
    """What was written for; None if it was the shard's Lease."""
    holds: bool = False
    """Of a Lease: whether the replica took it; else it gave it back."""


def trespasses(log: Iterable[Entry]) -> list[str]:
    """Whatever a replica wrote for a shard that it did not hold by the server's own account at that moment."""
    holder: dict[int, str] = {}
    found = []
    for entry in sorted(log, key=lambda entry: entry.version):
        if entry.key is not None:
            if holder.get(entry.shard) != entry.replica:
                found.append(
                    f"{entry.at:.3f}: {entry.replica} wrote {'/'.join(entry.key)} in shard {entry.shard}, "
                    f"which {holder.get(entry.shard) or 'nobody'} held"
                )
        elif entry.holds:
            holder[entry.shard] = entry.replica
        else:
            holder.pop(entry.shard, None)
    return found


class Replica:
    """One process that runs the operator."""

    def __init__(self, cluster: "Cluster", name: str) -> None:
        self.name = name
        self.weather = NetworkFaults()
        self.websites = Websites()
        self.awake = asyncio.Event()
        self.awake.set()
        self.held_up: list[Callable[[], object]] = []
        transport = FaultyTransport(_Recorded(cluster, self), self.weather)
        self.stop = asyncio.Event()
        self.running = self.websites.operator.run(
            Client(transport), identity=name, shards=cluster.shards, stop=self.stop
        )
        context = contextvars.copy_context()
        context.run(_REPLICA.set, self)
        self.task = asyncio.get_running_loop().create_task(self._run(), context=context)

    async def _run(self) -> None:
        await self.running

    @property
    def shards(self) -> set[int]:
        """What it holds, by its own account."""
        assert self.running.shards is not None
        return self.running.shards.held

    def pause(self) -> None:
        """Nothing of it runs any more."""
        self.awake.clear()

    def wake(self) -> None:
        """It goes on where it was."""
        self.awake.set()
        held_up, self.held_up = self.held_up, []
        for callback in held_up:
            asyncio.get_running_loop().call_soon(callback)


class Cluster:
    """All replicas, and what they wrote."""

    def __init__(self, world: World, shards: int = SHARDS) -> None:
        self.world = world
        self.shards = shards
        self.log: list[Entry] = []
        self.replicas: list[Replica] = []
        _hold_up_who_is_paused(asyncio.get_running_loop())

    def start(self, *names: str) -> list[Replica]:
        """Start replicas."""
        started = [Replica(self, name) for name in names]
        self.replicas += started
        return started

    def shard(self, name: str) -> int:
        """The shard of a Website."""
        return shard_of(RESOURCE, ("default", name), self.shards)

    async def split(self, among: Sequence[Replica]) -> float:
        """Wait until these hold all shards between them, and as many each as should be; how long it took."""
        began = ambient.monotonic()
        await self.world.until(lambda: self._is_split(among))
        return ambient.monotonic() - began

    def _is_split(self, among: Sequence[Replica]) -> bool:
        part = -(-self.shards // len(among))
        held = [each.shards for each in among]
        return len(set().union(*held)) == self.shards and max(map(len, held)) <= part

    def writers(self, since: float = 0.0) -> dict[str, set[str]]:
        """Which replicas wrote for each Website."""
        found: dict[str, set[str]] = {}
        for entry in self.log:
            if entry.key is not None and entry.at >= since:
                found.setdefault(entry.key[1], set()).add(entry.replica)
        return found

    async def close(self) -> None:
        """End all replicas, whatever state they are in."""
        for replica in self.replicas:
            replica.wake()
            replica.task.cancel()
        await asyncio.gather(*(replica.task for replica in self.replicas), return_exceptions=True)


class _Recorded:
    """The server, as one replica reaches it."""

    def __init__(self, cluster: Cluster, replica: Replica) -> None:
        self._cluster = cluster
        self._replica = replica
        self._transport = InProcessTransport(cluster.world.server.handle, ADMIN)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        opened = self._transport.open(request)
        before = self._cluster.world.server.store.revision
        token = _REPLICA.set(None)  # the server's part of it goes on, whoever is paused
        try:
            response = await opened.__aenter__()
            if request.method != "GET" and response.code < 300:
                self._record(request, before, msgspec.json.decode(response._answer.body))
        finally:
            _REPLICA.reset(token)
        await self._replica.awake.wait()
        try:
            yield response
        finally:
            await opened.__aexit__(None, None, None)

    def _record(self, request: Request, before: int, answer: dict[str, Any]) -> None:
        now, name = ambient.monotonic(), self._replica.name
        version = int(answer.get("metadata", {}).get("resourceVersion") or 0)
        if version <= before:
            return  # nothing was stored: it was so already
        if found := re.search("/leases/websites-shard-([0-9]+)", request.path):
            holds = bool(answer["spec"].get("holderIdentity"))
            self._cluster.log.append(Entry(version, now, name, int(found[1]), None, holds))
        elif found := re.search("/(?:configmaps|websites)/([^/]+)", request.path):
            shard = self._cluster.shard(found[1])
            self._cluster.log.append(Entry(version, now, name, shard, ("default", found[1])))

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        await self._transport.close()


_REPLICA: contextvars.ContextVar[Replica | None] = contextvars.ContextVar("replica", default=None)


def _hold_up_who_is_paused(loop: Any) -> None:
    """Have the loop run nothing that belongs to a paused replica before it wakes up."""
    call_soon, call_at = loop.call_soon, loop.call_at

    def schedule(
        how: Callable[..., asyncio.Handle], callback: Callable[..., object], arguments: Any, context: Any
    ) -> asyncio.Handle:
        context = context or contextvars.copy_context()
        replica = context.get(_REPLICA)
        if replica is None:
            return how(callback, *arguments, context=context)

        def run() -> None:
            if not handle.cancelled():
                callback(*arguments)

        def run_or_wait() -> None:
            if replica.awake.is_set():
                callback(*arguments)
            else:
                replica.held_up.append(partial(context.run, run))

        handle = how(run_or_wait, context=context)
        return handle

    def soon(callback: Callable[..., object], *arguments: Any, context: Any = None) -> asyncio.Handle:
        return schedule(call_soon, callback, arguments, context)

    def at(when: float, callback: Callable[..., object], *arguments: Any, context: Any = None) -> asyncio.Handle:
        return schedule(partial(call_at, when), callback, arguments, context)

    loop.call_soon, loop.call_at = soon, at
