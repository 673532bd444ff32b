"""An object that its class can't read: stored by a former release, whose class took more."""

import asyncio
from typing import Any, Literal

from integration.operators.author import event
from integration.operators.world import World
from windvane import (
    After,
    Context,
    NotFound,
    ObjectMeta,
    Operator,
    Resource,
    Spec,
    Status,
    ambient,
    crd,
    dynamic,
    find_condition,
    kind_of,
)
from windvane.sim.fault_injection import NetworkFaults

GROUP = "unreadable.windvane.dev"


class FormerSpec(Spec):
    """What a plan was."""

    tier: str
    """How good it is."""
    seats: int = 1
    """For how many."""


class PlanSpec(Spec):
    """What a plan is in the new release: a tier is gone."""

    tier: Literal["free", "paid"]
    """How good it is."""
    seats: int = 1
    """For how many."""


class FormerPlan(Resource[FormerSpec, Status], group=GROUP, version="v1", kind="Plan"):
    """A plan, in the former release."""


class Plan(Resource[PlanSpec, Status], group=GROUP, version="v1"):
    """A plan."""


class Plans:
    """The operator of the new release."""

    def __init__(self, world: World) -> None:
        self.passes: list[str] = []
        self.retired: list[tuple[Any, int]] = []
        operator = Operator("plans")
        operator.controller(Plan)(self._reconcile)
        operator.finalizer(Plan)(self._retire)
        self.running = operator.run(world.client("plans", NetworkFaults()), namespaces=[world.namespace])
        with ambient.use(world.time):
            world.keep(asyncio.get_running_loop().create_task(self._run()))

    async def _run(self) -> None:
        await self.running

    async def _reconcile(self, plan: Plan, ctx: Context) -> After | None:
        self.passes.append(plan.spec.tier)
        return None

    async def _retire(self, plan: Plan, ctx: Context) -> None:
        self.retired.append((plan.spec.tier, plan.spec.seats))


async def stored(world: World, tier: str) -> None:
    """A plan as the former release left it: with a tier, the finalizer, and Ready."""
    await world.admin.apply(crd(FormerPlan), force=True)

    async def served() -> bool:
        try:
            await world.admin.list(FormerPlan, namespace=world.namespace)
        except NotFound:
            return False
        return True

    await world.until(served)
    meta = ObjectMeta(name="mine", namespace=world.namespace, finalizers=[f"{GROUP}/plans"])
    await world.admin.create(FormerPlan(metadata=meta, spec=FormerSpec(tier=tier, seats=7)))
    ready = {"type": "Ready", "status": "True", "reason": "Reconciled", "message": ""}
    status = {"conditions": [{**ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}], "observedGeneration": 1}
    await world.admin.patch(FormerPlan, "mine", {"status": status}, subresource="status")


async def said(world: World, reason: str) -> str:
    """What its condition Ready says, when it has that reason."""

    async def is_so() -> bool:
        found = find_condition((await world.admin.get(FormerPlan, "mine")).status.conditions, "Ready")
        return found is not None and found.reason == reason

    await world.until(is_so)
    ready = find_condition((await world.admin.get(FormerPlan, "mine")).status.conditions, "Ready")
    assert ready is not None
    return f"{ready.status}: {ready.message}"


async def test_it_says_so_in_its_conditions_with_the_field_and_goes_on_when_it_is_mended(world: World) -> None:
    await stored(world, "trial")
    plans = Plans(world)
    words = await said(world, "Unreadable")
    assert words == "False: spec.tier: Invalid enum value 'trial'; there is 'free', 'paid'"
    assert "spec.tier" in await event(world, "Unreadable")
    assert plans.passes == []
    await world.admin.patch(FormerPlan, "mine", {"spec": {"tier": "paid"}})
    assert await said(world, "Reconciled") == "True: "
    assert set(plans.passes) == {"paid"}
    await world.admin.delete(FormerPlan, "mine")
    await world.until(lambda: _gone(world))


async def test_it_can_be_deleted_and_its_finalizer_gets_it_as_it_is(world: World) -> None:
    await stored(world, "trial")
    plans = Plans(world)
    await said(world, "Unreadable")
    await world.admin.delete(FormerPlan, "mine")
    await world.until(lambda: _gone(world))
    assert plans.retired == [("trial", 7)], "what can't be read is the plain JSON value, the rest is typed"


async def _gone(world: World) -> bool:
    try:
        await world.admin.get(dynamic(kind_of(Plan)), "mine")
    except NotFound:
        return True
    return False
