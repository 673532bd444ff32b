"""What etcd says of its members, looked at again and again: no two learners, one change at a time, who led when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import NamedTuple

from scenarios.gateway import LOST, Gateway, Member, Refused
from windvane import ambient

PACE = 0.05
NEAR = 1.0
"""Two looks that are further apart can't tell whether changes came one by one."""


class Look(NamedTuple):
    """What was so at a moment."""

    when: float
    members: list[Member]
    leader: str
    """The id of the member that led."""


class Membership:
    """A record of looks at the members."""

    def __init__(self, gateway: Gateway) -> None:
        self.looks: list[Look] = []
        self._gateway = gateway

    @asynccontextmanager
    async def watched(self) -> AsyncIterator["Membership"]:
        """Look for as long as the block lasts, and complain at its end about what must not be."""

        async def watch() -> None:
            while True:
                try:
                    await self.look()
                except (*LOST, Refused):
                    pass  # nobody answers, or there is no majority: what it was is seen when there is one
                await ambient.sleep(PACE)

        task = asyncio.create_task(watch())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.wait([task])
        assert faults(self.looks) == []

    async def look(self) -> Look:
        """What is so now."""
        members = await self._gateway.members()
        leader = (await self._gateway.ask("maintenance/status")).get("leader", "0")
        look = Look(ambient.monotonic(), members, f"{int(leader):x}")
        if not self.looks or self.looks[-1][1:] != look[1:] or look.when - self.looks[-1].when > NEAR / 2:
            self.looks.append(look)
        return look

    def ids(self) -> set[str]:
        """All members that ever were."""
        return {member.id for look in self.looks for member in look.members}


def faults(looks: list[Look]) -> list[str]:
    """What must not be."""
    found = []
    for look in looks:
        if len([member for member in look.members if member.learner]) > 1:
            found.append(f"two learners: {look.members}")
        if len([member for member in look.members if not member.name]) > 1:
            found.append(f"two members that never started: {look.members}")
    for before, after in pairwise(looks):
        changed = voters(before) ^ voters(after)
        if len(changed) > 1 and after.when - before.when < NEAR:
            found.append(f"more than one vote changed at once: {changed}")
    return found


def voters(look: Look) -> set[str]:
    """Who had a vote."""
    return {member.id for member in look.members if not member.learner}


def removed_while_leading(looks: list[Look]) -> list[str]:
    """Which members were removed while they led, as far as can be seen."""
    return [before.leader for before, after in pairwise(looks) if before.leader in voters(before) - voters(after)]
