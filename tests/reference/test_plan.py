"""`windvane plan` of a real cluster: its view makes the same of an operator's writes as the real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from integration.plan.shops import Shop, Shops, changes, planned, shop, state, told
from windvane import Client, ObjectMeta, ambient, object_to_wire, owner_reference
from windvane.k8s import core
from windvane.runtime.crds import install_crds

QUIET = 1.0
"""So many seconds without a pass, and an operator has nothing left to do."""


@asynccontextmanager
async def at_work(shops: Shops, client: Client) -> AsyncIterator[None]:
    """For the length of the block, the operator works, and at its end until it has nothing left to do for the shop."""
    running = shops.operator.run(Client(client.calls.transport, field_manager="shops"))
    ended: list[float] = []
    running.listeners.append(lambda _: ended.append(ambient.monotonic()))
    working = asyncio.ensure_future(running)
    try:
        yield
        while not await is_seen(client):
            assert not working.done()
            await ambient.sleep(0.05)
        while not ended or ambient.monotonic() < ended[-1] + QUIET:
            assert not working.done()
            await ambient.sleep(0.05)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def is_seen(client: Client) -> bool:
    """Whether the operator has had a pass over the shop as it is stated now."""
    there = await client.get(Shop, "corner", namespace="default")
    return there.status.observed_generation == there.metadata.generation


async def test_what_is_planned_on_a_real_server_is_what_then_happens(client: Client) -> None:
    await install_crds(client, Shops().operator.kinds)
    steps: list[dict[str, Any]] = [
        {"copies": 2, "towns": ["ghent", "bruges"], "motd": "hello"},
        {"copies": 3, "towns": ["ghent"], "motd": "good day"},
        {"mode": "wait"},
    ]
    for spec in steps:
        was = await state(client)
        stated = shop(**spec)
        plan, asked = await planned(Shops().operator, client, manifests=[object_to_wire(stated)])
        assert {each.method for each in asked} == {"GET"}
        judged, _ = await planned(Shops().operator, client, manifests=[object_to_wire(stated)], judged=True)
        assert judged.refusals == {}
        assert await state(client) == was
        async with at_work(Shops(), client):
            await client.apply(stated, force=True, field_manager="kubectl")
        expected = told(plan.all_changes, "shops")
        if ("Shop", "corner") not in was:
            mine = expected.pop(("change", "Shop", "corner"))
            expected["create", "Shop", "corner"] |= mine
        # There is no garbage collector here: what loses its owner stays.
        expected.pop(("delete", "ConfigMap", "corner-bruges"), None)
        assert told(changes(was, await state(client)), "shops") == expected
    unchanged, _ = await planned(Shops().operator, client, objects=[(Shop, "default", "corner")])
    assert unchanged.all_changes == []


async def test_what_others_have_deleted_is_not_in_the_plan(client: Client) -> None:
    await install_crds(client, Shops().operator.kinds)
    owner = await client.create(core.ConfigMap(metadata=ObjectMeta(name="leaving")), namespace="default")
    meta = ObjectMeta(name="its-child", owner_references=[owner_reference(owner)])
    await client.create(core.Secret(metadata=meta), namespace="default")
    await client.delete(core.ConfigMap, "leaving", namespace="default", propagation="Foreground")
    assert (await client.get(core.ConfigMap, "leaving", namespace="default")).metadata.deletion_timestamp is not None
    plan, _ = await planned(Shops().operator, client, everything=True)
    assert [each for each in plan.all_changes if each.name in ("leaving", "its-child")] == []
