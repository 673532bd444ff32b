"""A long life: what may happen to members happens, one thing after the other, and no acknowledged key is lost."""

import random

import pytest

from scenarios.machine import NAMESPACE
from scenarios.scene import Scene, identities
from windvane import ambient
from windvane.k8s import core

EVENTS = 12
LOSSES = ("wipe", "corrupt", "claim")
"""What takes a member's data: only while all members are well, for this is no scenario of lost quorums."""


@pytest.mark.parametrize("life", ["one", "another"])
async def test_26_a_dozen_things_happen_in_any_order(stage: Scene, life: str) -> None:
    chance = random.Random(life)
    await stage.create(replaceAfter="30s")
    await stage.settled()
    async with stage.under_load() as load:
        with stage.timed():
            for _ in range(EVENTS):
                event = chance.choice(["crash", "delete", "freeze", "scale", "scale", *LOSSES])
                if event in LOSSES or chance.random() < 0.5:
                    await stage.settled((await stage.cluster()).spec.replicas, within=240)
                await happens(stage, event, chance)
                await load.writer.more(20)
            await stage.settled((await stage.cluster()).spec.replicas, within=240)


async def happens(stage: Scene, event: str, chance: random.Random) -> None:
    """Something happens to a member, or a user wants another number of them."""
    machine, victim = stage.machine, chance.choice(sorted(identities(await stage.cluster())))
    match event:
        case "crash":
            await machine.crash(victim)
        case "delete":
            await machine.client.delete(core.Pod, victim, namespace=NAMESPACE)
        case "freeze":
            async with machine.frozen(victim):
                await ambient.sleep(chance.uniform(1, 8))
        case "wipe":
            await machine.wipe(victim)
        case "corrupt":
            await machine.corrupt(victim)
        case "claim":
            await machine.client.delete(core.PersistentVolumeClaim, f"data-{victim}", namespace=NAMESPACE)
            await machine.client.delete(core.Pod, victim, namespace=NAMESPACE)
        case "scale":
            await stage.change(replicas=chance.choice([3, 5]))
