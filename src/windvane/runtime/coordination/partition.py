"""Which part of all objects a controller works on: the whole, or the shards that this replica holds."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from windvane.api.kind import Kind
from windvane.client.client import Client
from windvane.runtime.informers.cache import Key


class Elsewhere(Exception):
    """Another replica works on that object, or will in a moment."""


class Partition(Protocol):
    """Which objects are this replica's to work on."""

    def has(self, kind: Kind, key: Key, /) -> bool:
        """Whether a pass over that object could begin now."""
        ...

    def turn(self, kind: Kind, key: Key, /) -> AbstractAsyncContextManager[Client]:
        """One pass over that object: gives what it may write with. `Elsewhere` if it is not ours, or ours no more."""
        ...


class WholePartition:
    """That of a replica that works alone: all objects."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def has(self, _kind: Kind, _key: Key, /) -> bool:
        """See `Partition.has`."""
        return True

    @asynccontextmanager
    async def turn(self, _kind: Kind, _key: Key, /) -> AsyncIterator[Client]:
        """See `Partition.turn`."""
        yield self._client
