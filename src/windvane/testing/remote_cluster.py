"""A cluster outside of the test's process, in real time: what `process_cluster` and `real_cluster` have in common."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from windvane import ambient
from windvane.api.resource import Object
from windvane.client.client import Client
from windvane.client.config import ClientConfig
from windvane.client.http import HTTPTransport
from windvane.runtime.crds import install_crds
from windvane.runtime.operator import Operator
from windvane.testing.cluster import Cluster
from windvane.testing.foreign_kinds import serve_foreign
from windvane.testing.observer import ALWAYS, Observer
from windvane.testing.pods import Pods, Unsupported
from windvane.testing.replica import Replica
from windvane.testing.request_log import TEST, LoggedTransport
from windvane.testing.served_webhooks import ServedWebhooks

ObjectT = TypeVar("ObjectT", bound=Object)

QUIET = 1.0
"""A cluster in which nothing has changed for so many seconds is settled, if nothing is to be seen that is under way."""
LOOK = 0.1
MOST = 5


class RemoteCluster(Cluster):
    """See the module. `settled` waits until nothing has changed for a second.

    As long as something is visibly under way (a pod has yet to start or is not ready, an object is being deleted, a
    controller has not seen the latest change), nothing must have changed for `patience` seconds.
    """

    within = 120.0
    patience = 10.0

    def __init__(self, pods: Pods) -> None:
        super().__init__(pods)
        self._config: ClientConfig
        self._observer: Observer
        self._caught_up = 0  # the writes before this one have been seen by all
        self._webhook_url = ""

    async def _connect(self, config: ClientConfig, *, namespace: str, everywhere: bool) -> None:
        """Have the test's client, and begin to look at that namespace, or at all."""
        self._config = replace(config, namespace=namespace)
        self.namespace = namespace
        self._client = self._new_client(TEST.name)
        self._stack.push_async_callback(self._client.close)
        # Of its own: what it asks is none of the test's business.
        client = Client(HTTPTransport(self._config), namespace=namespace, field_manager=TEST.name)
        self._stack.push_async_callback(client.close)
        self._observer = Observer(client, ("" if everywhere else namespace,))
        self._stack.push_async_callback(self._observer.close)
        await self._observer.watch(ALWAYS)

    def _new_client(self, user: str) -> Client:
        transport = LoggedTransport(HTTPTransport(self._config), self._requests, user)
        return Client(transport, namespace=self.namespace, field_manager=user)

    @property
    def _only(self) -> str:
        """The namespace that operators are confined to; empty for none."""
        return ""

    async def _start(self, operator: Operator, admin: Client) -> Replica:
        client = self._new_client(operator.name)
        self._stack.push_async_callback(client.close)
        webhooks = ServedWebhooks(operator, url=self._webhook_url, only=self._only)
        self._stack.push_async_callback(webhooks.leave, operator, admin)
        await webhooks.serve(admin, self.namespace)
        await install_crds(admin, operator.kinds, conversion=webhooks.conversion)
        if not self._only:  # else the cluster has them, or has no use for the operator
            await serve_foreign(admin, operator.kinds)
        await self._observer.watch(operator.kinds)
        return Replica(operator, client, webhooks, admin, namespaces=[self._only] if self._only else ())

    async def apply(self, thing: ObjectT) -> ObjectT:
        """See `Cluster.apply`."""
        applied = await super().apply(thing)
        await self._observer.watch([type(thing)])
        return applied

    def _rest(self, began: float) -> float:
        writes = self._requests.writes
        if self._observer.is_behind(self.replicas, writes[self._caught_up :]):
            return LOOK
        self._caught_up = len(writes)
        quiet = self.patience if self._observer.under_way() else QUIET
        last = max(began, self._requests.last, self._observer.last)
        return min(last + quiet - ambient.monotonic(), LOOK)

    async def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Time is real here."""
        del seconds, minutes, hours, days
        raise Unsupported(
            "time is real on this cluster, and can't be advanced: make the delay a setting of the operator and wait "
            "for what comes of it with `await cluster.settled()`; or have this test on the fixture `cluster`"
        )

    @property
    def _said(self) -> Mapping[str, tuple[float, bytes]]:
        return self._observer.events

    def _under_way(self) -> str:
        return super()._under_way() + "".join(f"; {each}" for each in self._observer.under_way()[:MOST])
