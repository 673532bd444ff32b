"""An operator that runs in a test's cluster."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from windvane.api.resource import Object, kind_of
from windvane.client.client import Client
from windvane.runtime.controller import Controller
from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.history import Pass
from windvane.runtime.operator import Operator
from windvane.sim.fault_injection import FaultyTransport, NetworkFaults


class Webhooks(Protocol):
    """How an operator's webhooks end."""

    async def fall(self, operator: Operator) -> None:
        """Have nothing answer any more, as after a SIGKILL: the API server goes on to ask."""
        ...

    async def leave(self, operator: Operator, client: Client) -> None:
        """Have the API server ask no more."""
        ...


class Replica:
    """One process of an operator, as far as the cluster can tell. `Cluster.run` makes it."""

    def __init__(
        self, operator: Operator, client: Client, webhooks: Webhooks, admin: Client, *, namespaces: Sequence[str] = ()
    ) -> None:
        """Its own `client`; and that of the test, to tell the API server of its `webhooks`."""
        self.operator = operator
        self.weather = NetworkFaults()
        """Its network: `weather.fall()` cuts it off, `weather.clear()` has it back."""
        transport = FaultyTransport(client.calls.transport, self.weather)
        self.client = Client(transport, namespace=client.namespace, field_manager=operator.name)
        self._webhooks = webhooks
        self._admin = admin
        self._stop = asyncio.Event()
        self._told = False
        self.running: OperatorManager = operator.run(self.client, namespaces=namespaces, stop=self._stop)
        self._task = asyncio.get_running_loop().create_task(_wait(self.running))

    async def stop(self) -> None:
        """Stop it as SIGTERM does: passes that are under way finish."""
        self._stop.set()
        await self._task
        await self._webhooks.leave(self.operator, self._admin)

    async def kill(self) -> None:
        """End it as SIGKILL does, in the midst of whatever it does: nothing that it would still write gets through.

        Its webhooks answer no more, and the API server goes on to call them.
        """
        self.weather.fall()
        await self._webhooks.fall(self.operator)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def passes(self, thing: Object) -> list[Pass]:
        """The last ten passes over an object, oldest first: why each ran, what it wrote, and how it ended."""
        key = (thing.metadata.namespace if kind_of(thing).namespaced else "", thing.metadata.name)
        return [
            each
            for controller in self.controllers
            if controller.declaration.kind == kind_of(thing)
            for each in controller.history.of(key)
        ]

    @property
    def controllers(self) -> list[Controller]:
        """What works in it."""
        return self.running.controllers

    @property
    def busy(self) -> bool:
        """Whether a pass is due or under way."""
        return any(len(each.queue) or each.queue.working for each in self.controllers)

    @property
    def put_off(self) -> list[str]:
        """The objects whose passes come later and later, because each brings the next one."""
        return [
            f"{each.declaration.kind.name} {'/'.join(filter(None, key))}"
            for each in self.controllers
            for key in each.put_off
        ]

    @property
    def ended(self) -> bool:
        """Whether it runs no more."""
        return self._task.done()

    def check(self) -> None:
        """Raise what it ended with, if it failed; once, for a test that expects it has seen it then."""
        if self._task.done() and not self._task.cancelled() and not self._told:
            self._told = True
            self._task.result()


async def _wait(running: OperatorManager) -> None:
    await running
