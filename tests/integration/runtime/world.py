"""A world for tests of the runtime: an API server in memory, a network with weather, and time that only they have."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from windvane import Client, ambient
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.registry.service_addresses import NETWORK
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.sim.fault_injection import FaultyTransport, NetworkFaults

ADMIN = User("admin", ("system:masters", "system:authenticated"))
PATIENCE = 600.0


class World:
    """An API server and whoever talks to it."""

    patience = PATIENCE

    def __init__(
        self, *, require_accounts: bool = False, service_network: str = NETWORK, migrations: bool = False
    ) -> None:
        self.migrations = migrations
        self.server = APIServer(
            Store.open(), require_accounts=require_accounts, service_network=service_network, migrations=migrations
        )
        self.weather = NetworkFaults()
        self._clients: list[Client] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.admin = self._client(NetworkFaults())
        """A client that no weather troubles: the test's own."""

    def client(self) -> Client:
        """A client in the weather: that of an operator."""
        return self._client(self.weather)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let something run until the test ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        return task

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is so; an error if it is not within ten minutes of virtual time."""
        deadline = ambient.monotonic() + self.patience
        while not condition():
            if ambient.monotonic() > deadline:
                raise AssertionError(f"not so within {self.patience:g} s")
            for task in self._tasks:
                if task.done() and not task.cancelled():
                    task.result()
            await ambient.sleep(0.05)

    async def forget_history(self) -> None:
        """Make the server forget all that happened: a watch that breaks now can't be resumed."""
        await self.server.store.compact(self.server.store.revision)

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for client in self._clients:
            await client.close()
        await self.server.close()

    def _client(self, weather: NetworkFaults) -> Client:
        client = Client(FaultyTransport(InProcessTransport(self.server.handle, ADMIN), weather))
        self._clients.append(client)
        return client
