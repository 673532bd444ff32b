"""Operators that a test writes as an author would: one function, and what it owns."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from integration.operators.world import OPERATOR, Replica, World
from integration.runtime.websites import Website, Websites
from windvane import Condition, Context, Object, Operator, Watch, find_condition
from windvane.k8s.core import ConfigMap, Event

Reconcile = Callable[[Website, Context], Coroutine[Any, Any, Any]]


class Author(Websites):
    """The operator of one function."""

    def __init__(
        self,
        reconcile: Reconcile,
        *,
        owns: Sequence[type[Object]] = (ConfigMap,),
        watches: Sequence[Watch[Any]] = (),
        finalize: Reconcile | None = None,
    ) -> None:
        super().__init__()
        self.operator = Operator(OPERATOR)
        self._body = reconcile
        self.operator.controller(Website, owns=owns, watches=watches)(self._pass)
        if finalize is not None:
            self.operator.finalizer(Website)(finalize)

    async def _pass(self, site: Website, ctx: Context) -> Any:
        self.passes[site.metadata.name] += 1
        return await self._body(site, ctx)


async def passed(world: World, replica: Replica, generation: int, name: str = "blog") -> None:
    """Wait until that generation of a Website has been seen, and nothing more is to be done."""

    async def is_so() -> bool:
        site = await world.admin.get(Website, name)
        [controller] = replica.running.controllers
        idle = len(controller.queue) == 0 and controller.queue.working == 0
        return site.status.observed_generation == generation and idle

    await world.until(is_so)


async def ready(world: World, name: str = "blog") -> Condition:
    """What the condition Ready of a Website says, once it says something."""
    site = await world.admin.get(Website, name)
    said = find_condition(site.status.conditions, "Ready")
    assert said is not None
    return said


async def event(world: World, reason: str) -> str:
    """The message of an Event with that reason, when there is one."""
    while True:
        async with asyncio.timeout(world.patience):
            for each in await world.admin.list(Event, namespace=world.namespace):
                if each.reason == reason:
                    return each.message or ""
        await world.time.sleep(0.1)
