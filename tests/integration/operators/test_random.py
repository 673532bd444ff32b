"""Random lives: people edit, things break, processes die; once the weather clears, the world is what the specs say.

What it should be is computed from the specs alone (`World.difference`). And it is come by with few writes: an operator
that is not disturbed writes what differs, once.
"""

import asyncio
import tempfile
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integration.operators.world import EmbeddedWorld, Replica, World
from integration.runtime.websites import Website, Websites
from windvane import APIStatus, NotFound, ambient
from windvane.client.transport import Request
from windvane.k8s.core import ConfigMap
from windvane.sim.time import VirtualLoop, VirtualTime

NAMES = ("blog", "shop")
ALIASES = ("a", "b", "c")
Happening = tuple[str, tuple[object, ...]]
"""A method of `Life`, and what it is called with."""


class Life:
    """Two names for Websites, one operator, and everything that can happen to them."""

    def __init__(self, world: World, *, finalizer: bool) -> None:
        self._world = world
        self._finalizer = finalizer
        self.replica = self._start()

    def _start(self) -> Replica:
        return Replica(self._world, Websites(finalizer=self._finalizer))

    # What people do

    async def write(self, name: str, page: str, aliases: list[str]) -> None:
        try:
            await self._world.edit(name, page=page, aliases=aliases)
        except NotFound:
            await self._world.create(name, page, aliases=aliases)

    async def delete(self, name: str) -> None:
        await _if_there(self._world.admin.delete(Website, name))

    async def delete_child(self, name: str) -> None:
        await _if_there(self._world.admin.delete(ConfigMap, name))

    async def deface(self, name: str) -> None:
        await _if_there(self._world.admin.patch(ConfigMap, name, {"data": {"page": "defaced", "alias": "defaced"}}))

    # What happens

    async def wait(self, seconds: float) -> None:
        await self._world.time.sleep(seconds)

    async def cut(self) -> None:
        self.replica.weather.cut()

    async def fall(self) -> None:
        self.replica.weather.fall()

    async def clear(self) -> None:
        self.replica.weather.clear()

    async def refuse(self, code: int) -> None:
        self.replica.weather.refuse = lambda _: APIStatus(status="Failure", code=code, message="not now")

    async def lose_answers(self) -> None:
        self.replica.weather.lose = lambda request: request.method != "GET"

    async def slow_down(self) -> None:
        self.replica.weather.delay = self._world.slow

    async def forget_history(self) -> None:
        await self._world.forget_history()

    async def miss(self, name: str) -> None:
        """A child is deleted while nobody can look, and the server forgets that it was ever there."""
        self.replica.weather.fall()
        await self.delete_child(name)
        await self._world.forget_history()
        self.replica.weather.clear()

    async def crash(self) -> None:
        self.replica.kill()
        self.replica = self._start()

    async def crash_at(self, number: int) -> None:
        """Die at one of the next writes, when it was done, and nobody knows."""
        replica = self.replica
        left = number

        def lose(request: Request) -> bool:
            nonlocal left
            left -= request.method != "GET"
            if left > 0 or replica.dead:
                return False
            replica.kill()
            return True

        replica.weather.lose = lose

    async def ends_well(self) -> None:
        """Once nothing is broken any more, all is as it should be, and stays so."""
        if self.replica.dead:
            self.replica = self._start()
        self.replica.weather.clear()
        await self._collect()
        before = len(self._world.operator_writes())
        await self._world.converges()
        await self._world.let_nothing_happen(600)
        assert await self._world.difference() == []
        # Each Website, its status and finalizer, its page and its aliases; and the same once more for a pass that was
        # under way. Events are few by themselves.
        about = [each for each in self._world.operator_writes()[before:] if each.resource != "events"]
        assert len(about) <= 2 * len(NAMES) * (4 + 2 * len(ALIASES)), about

    async def _collect(self) -> None:
        """What the garbage collector does, which is not there."""
        for name in NAMES:
            await self._world.until(lambda name=name: self._is_not_leaving(name))  # type: ignore[misc]
        owners = {each.metadata.uid for each in await self._world.admin.list(Website, namespace=self._world.namespace)}
        for name, child in (await self._world.children()).items():
            if not owners & {each.uid for each in child.metadata.owner_references}:
                await self.delete_child(name)

    async def _is_not_leaving(self, name: str) -> bool:
        try:
            return not (await self._world.admin.get(Website, name)).metadata.deletion_timestamp
        except NotFound:
            return True


async def _if_there(work: Awaitable[object]) -> None:
    with suppress(NotFound):
        await work


names = st.sampled_from(NAMES)
children = st.sampled_from([*NAMES, *(f"{name}-{alias}" for name in NAMES for alias in ALIASES)])
happenings: st.SearchStrategy[Happening] = st.one_of(
    st.tuples(
        st.just("write"),
        st.tuples(names, st.sampled_from(["one", "two"]), st.lists(st.sampled_from(ALIASES), unique=True)),
    ),
    st.tuples(st.just("delete"), st.tuples(names)),
    st.tuples(st.sampled_from(["delete_child", "deface", "miss"]), st.tuples(children)),
    st.tuples(st.just("wait"), st.tuples(st.sampled_from([0.01, 0.3, 3.0, 40.0]))),
    st.tuples(st.just("refuse"), st.tuples(st.sampled_from([410, 429, 500, 503]))),
    st.tuples(st.just("crash_at"), st.tuples(st.integers(1, 6))),
    st.tuples(
        st.sampled_from(["cut", "fall", "clear", "lose_answers", "slow_down", "forget_history", "crash"]),
        st.just(()),
    ),
)


async def live(world: World, what: list[Happening], *, finalizer: bool) -> None:
    life = Life(world, finalizer=finalizer)
    for name in NAMES:
        await world.create(name, "zero", aliases=list(ALIASES))
    await world.converges()
    for happening, details in what:
        await getattr(life, happening)(*details)
    await life.ends_well()


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(happenings, max_size=20), st.booleans())
def test_any_life_ends_well(what: list[Happening], finalizer: bool) -> None:
    async def whole() -> None:
        with tempfile.TemporaryDirectory() as directory:
            world = EmbeddedWorld(Path(directory) / "audit.log")
            try:
                await world.open()
                await live(world, what, finalizer=finalizer)
            finally:
                await world.close()

    with ambient.use(VirtualTime()), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(whole())


LIVES: list[list[Happening]] = [
    [
        ("write", ("blog", "one", ["a", "b"])),
        ("crash_at", (3,)),
        ("write", ("shop", "one", [])),
        ("wait", (0.3,)),
        ("crash", ()),
        ("write", ("blog", "two", ["b", "c"])),
        ("cut", ()),
        ("deface", ("blog-b",)),
        ("lose_answers", ()),
        ("delete_child", ("shop",)),
        ("wait", (0.3,)),
    ],
    [
        ("slow_down", ()),
        ("write", ("blog", "one", ["a"])),
        ("wait", (0.3,)),
        ("delete", ("blog",)),
        ("write", ("shop", "two", ["c"])),
        ("refuse", (500,)),
        ("crash", ()),
        ("fall", ()),
        ("write", ("shop", "one", ["a"])),
    ],
]


@pytest.mark.asyncio(loop_factories=["reference"])
@pytest.mark.parametrize("what", LIVES)
async def test_some_lives_end_well_on_the_real_server_too(world: World, what: list[Happening]) -> None:
    await live(world, what, finalizer=True)
