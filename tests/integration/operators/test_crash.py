"""A crash at any point of any pass: before a write is sent, and after it was done but before that was heard of.

The story has everything that a pass can write: a finalizer, new children, changed ones, one that is no longer wanted,
the status, and the end of the finalizer. First it is told undisturbed, to count the writes; then once for each crash.
"""

from collections.abc import Callable
from itertools import count
from typing import Literal

import pytest

from integration.operators.world import Replica, World, usurped
from integration.runtime.websites import Website, Websites
from windvane import APIStatus, NotFound
from windvane.client.errors import Unreachable
from windvane.client.transport import Request

WRITES = 10
"""How many there are in the story; a test says so if this is no longer true."""


class Life:
    """The operator over several processes: as soon as one has crashed, there is another."""

    def __init__(
        self, world: World, crash: Callable[[Replica], None] = lambda _: None, *, elected: bool = False
    ) -> None:
        self._world = world
        self._elected = elected
        self._numbers = count(1)
        self.retired: list[str] = []
        self.replica = self._start()
        crash(self.replica)

    def _start(self) -> Replica:
        websites = Websites(finalizer=True)
        websites.retired = self.retired
        return Replica(self._world, websites, who=f"process-{next(self._numbers)}", elected=self._elected)

    def go_on(self) -> None:
        """Start anew if it has crashed."""
        if self.replica.dead:
            self.replica = self._start()

    async def converges(self) -> None:
        """Wait until the world is as the specs say, through all crashes."""

        async def as_stated() -> bool:
            self.go_on()
            return not await self._world.difference()

        await self._world.until(as_stated)

    async def lets_go(self, name: str) -> None:
        """Wait until a deleted Website is gone."""

        async def gone() -> bool:
            self.go_on()
            try:
                await self._world.admin.get(Website, name)
            except NotFound:
                return True
            return False

        await self._world.until(gone)


async def story(world: World, life: Life) -> None:
    """What people do, and what must come of it each time."""
    await world.create(aliases=["a", "b"])
    await life.converges()
    assert sorted(await world.children()) == ["blog", "blog-a", "blog-b"]
    await world.edit(page="news", aliases=["b", "c"])
    await life.converges()
    assert sorted(await world.children()) == ["blog", "blog-b", "blog-c"]
    assert (await world.admin.get(Website, "blog")).metadata.finalizers == ["demo.windvane.dev/websites"]
    await world.admin.delete(Website, "blog")
    await life.lets_go("blog")
    assert life.retired


def writes(replica: Replica) -> list[Request]:
    """What it has written, but for Events: these are written beside the passes, whenever there is time."""
    return [each for each in replica.weather.asked if each.method != "GET" and not each.path.endswith("/events")]


def crash_before(number: int) -> Callable[[Replica], None]:
    """Die when about to send that write."""

    def arm(replica: Replica) -> None:
        def refuse(request: Request) -> APIStatus | None:
            if not replica.dead and len(writes(replica)) == number:
                replica.kill()
                raise Unreachable("this process is no more")
            return None

        replica.weather.refuse = refuse

    return arm


def crash_after(number: int) -> Callable[[Replica], None]:
    """Die when that write was done, and nobody knows."""

    def arm(replica: Replica) -> None:
        def lose(request: Request) -> bool:
            if request.method == "GET" or replica.dead or len(writes(replica)) != number:
                return False
            replica.kill()
            return True

        replica.weather.lose = lose

    return arm


async def test_the_story_has_so_many_writes(world: World) -> None:
    life = Life(world)
    await story(world, life)
    assert len(writes(life.replica)) == WRITES

    async def all_are_written_down() -> bool:
        return len(world.operator_writes()) >= WRITES

    await world.until(all_are_written_down)  # a real server shows a write before its audit log does
    assert [(each.verb, each.resource, each.name, each.subresource) for each in world.operator_writes()] == [
        ("patch", "websites", "blog", ""),  # the finalizer
        ("patch", "configmaps", "blog", ""),
        ("patch", "configmaps", "blog-a", ""),
        ("patch", "configmaps", "blog-b", ""),
        ("patch", "websites", "blog", "status"),
        ("patch", "configmaps", "blog", ""),
        ("patch", "configmaps", "blog-c", ""),
        ("delete", "configmaps", "blog-a", ""),
        ("patch", "websites", "blog", "status"),
        ("patch", "websites", "blog", ""),  # the finalizer goes
    ]


@pytest.mark.parametrize("number", range(1, WRITES + 1))
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_crash_at_any_write_is_made_up_for(
    world: World, number: int, moment: Literal["before", "after"]
) -> None:
    life = Life(world, {"before": crash_before, "after": crash_after}[moment](number))
    first = life.replica
    await story(world, life)
    await world.until(lambda: _dies(first))  # the server may show the last write before it answers who wrote it
    # What was done and not heard of is seen by the next process, and not done again.
    done = [each for each in world.operator_writes() if each.code < 300]
    assert len(done) <= WRITES


@pytest.mark.asyncio(loop_factories=["embedded"])  # where nobody has to wait until a dead leader's lease may be taken
@pytest.mark.parametrize("number", range(1, WRITES + 4))
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_crash_of_an_elected_leader_is_made_up_for_by_the_next(
    world: World, number: int, moment: Literal["before", "after"]
) -> None:
    crash = {"before": crash_before, "after": crash_after}[moment](number)  # the writes of its Lease count, too
    life = Life(world, crash, elected=True)
    first = life.replica
    await story(world, life)
    await world.until(lambda: _dies(first))  # if not in the story, then when it renews its lease
    assert usurped(world.writes()) == []


async def _dies(replica: Replica) -> bool:
    return replica.dead
