"""ResourceQuotas: says in their status how much of them is used, by counting again whenever that may have changed.

The API server adds what is new to the same status, in the write that stores the object. So what is listed after a quota
was read has everything that was added to it, and if more is added before the count is written, that is a conflict: a
count never takes back what others have added.

Kinds are watched from the moment that a quota names them: without quotas, nothing is.
"""

import asyncio
import logging

import msgspec

from windvane import ambient
from windvane.api.envelope import Item
from windvane.api.kind import Kind
from windvane.api.partial import only_metadata
from windvane.api.resource import Object, dynamic, object_to_wire
from windvane.client.client import Client
from windvane.client.errors import APIError
from windvane.cluster.controllers.quota_tally import Tally
from windvane.cluster.quota import NOT_COUNTED, Wire, count, resource_counted_by
from windvane.k8s.core import ResourceQuota, ResourceQuotaStatus
from windvane.runtime.context import Context
from windvane.runtime.informers.cache import Change
from windvane.runtime.informers.declared_informers import informer_key
from windvane.runtime.informers.informer import Informer
from windvane.runtime.manager import OperatorManager
from windvane.runtime.operator import Operator
from windvane.runtime.outcome import After

log = logging.getLogger(__name__)

NAME = "resourcequota-controller"
VERBS = ("create", "delete", "list", "watch")
AGAIN = 300.0
"""After how many seconds everything is counted again: pods that should be gone are no longer counted some day."""
READ_WITHIN = 10.0
SOON = 20.0
"""After how many seconds, if something could not be read."""
READ = frozenset({"pods", "services", "persistentvolumeclaims"})
"""Of which objects are not all the same, and can change in what they use. All others are just counted."""


class QuotaController:
    """Counts on one server."""

    def __init__(self, client: Client) -> None:
        self._client = Client(client.calls.transport, field_manager=NAME)
        self._informers: dict[str, Informer[Object]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._tallies: dict[tuple[str, str], Tally] = {}  # by the uid of a quota and a resource
        operator = Operator(NAME)
        operator.controller(ResourceQuota)(self._count)
        self.running: OperatorManager = operator.run(self._client)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self.running
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _count(self, quota: ResourceQuota, ctx: Context) -> After:
        wanted = {resource_counted_by(name) for name in quota.spec.hard} - {"", *NOT_COUNTED}
        used = dict(quota.status.used)
        again = AGAIN
        for kind in await self._served(wanted):
            try:
                async with asyncio.timeout(READ_WITHIN):
                    await self._watch(kind)
                    page = await ctx.client.list(_class(kind), namespace=quota.metadata.namespace)
            except (TimeoutError, APIError) as error:
                # Objects that can't be read, for the webhook that converts them is down, must not keep others from
                # being counted: what has gone would never be given back.
                log.info("how many %s there are is not known: %s", kind.resource, str(error) or "they can't be listed")
                again = SOON
                continue
            used |= self._tally(quota, kind.resource).count(page.items, ambient.now())
        quota.status = ResourceQuotaStatus(
            hard=dict(quota.spec.hard), used={name: used[name] for name in quota.spec.hard if name in used}
        )
        return After(seconds=again)

    def _tally(self, quota: ResourceQuota, resource: str) -> Tally:
        """What was counted of a resource so far, if the quota still says the same."""
        there = {item.meta.uid for item in self.running.informers[informer_key(ResourceQuota)].cache.items()}
        self._tallies = {key: tally for key, tally in self._tallies.items() if key[0] in there}
        key, says = (quota.metadata.uid, resource), object_to_wire(quota)["spec"]
        known = self._tallies.get(key)
        if known is None or known.says != says:
            known = self._tallies[key] = Tally(says, resource)
        return known

    async def _served(self, resources: set[str]) -> list[Kind]:
        """Those of the resources that there are now. Of others nobody knows what is used."""
        found: dict[str, Kind] = {}
        for kind in await self._client.discover(verbs=VERBS):
            if kind.namespaced and kind.resource in resources:
                found.setdefault(kind.resource, kind)
        for resource in resources - found.keys():
            await self._forget(resource)
        return list(found.values())

    async def _watch(self, kind: Kind) -> None:
        """See to it that changes of a kind are noticed. Those before the end of this are not, so list afterwards."""
        resource = kind.resource
        if resource not in self._informers:
            informer: Informer[Object] = Informer(self._client, _class(kind))
            informer.subscribe(lambda change: self._changed(resource, change))
            self._informers[resource] = informer
            self._tasks[resource] = asyncio.get_running_loop().create_task(informer.run())
        await self._informers[resource].wait_synced()

    async def _forget(self, resource: str) -> None:
        self._informers.pop(resource, None)
        if task := self._tasks.pop(resource, None):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _changed(self, resource: str, change: Change[Object]) -> None:
        if change.initial:
            return
        namespace = change.item.meta.namespace
        came_or_went = change.before is None or change.gone
        for item in self.running.informers[informer_key(ResourceQuota)].cache.items(namespace):
            quota = msgspec.json.decode(item.raw)
            hard = (quota.get("spec") or {}).get("hard") or {}
            if not any(resource_counted_by(name) == resource for name in hard):
                continue
            if came_or_went or _share(quota, resource, change.before) != _share(quota, resource, change.item):
                self.running.ask(ResourceQuota, item.meta.name, namespace=namespace, why=f"{resource} changed")


def _class(kind: Kind) -> type[Object]:
    return dynamic(kind) if kind.resource in READ else only_metadata(dynamic(kind))


def _share(quota: Wire, resource: str, item: Item[Object] | None) -> object:
    """How much of a quota an object uses."""
    return item and count(quota, {resource: [msgspec.json.decode(item.raw)]}, ambient.now())
