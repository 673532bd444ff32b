"""`windvane plan` of a real cluster: its view makes the same of an operator's writes as the real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from integration.plan.shops import Shop, Shops, changes, planned, shop, state, told
from windvane import Client, ambient, object_to_wire
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


def of_the_shop(told: dict[tuple[str, str, str], Any]) -> dict[tuple[str, str, str], Any]:
    """Without what other tests have left behind on this server, which has no garbage collector; a plan has one."""
    return {place: fields for place, fields in told.items() if place[2].startswith("corner")}


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
        expected = of_the_shop(told(plan.all_changes, "shops"))
        if ("Shop", "corner") not in was:
            mine = expected.pop(("change", "Shop", "corner"))
            expected["create", "Shop", "corner"] |= mine
        expected.pop(("delete", "ConfigMap", "corner-bruges"), None)  # it loses its owner, and stays: see above
        assert of_the_shop(told(changes(was, await state(client)), "shops")) == expected
    unchanged, _ = await planned(Shops().operator, client, objects=[(Shop, "default", "corner")])
    assert unchanged.all_changes == []
