"""Tests of the runtime on an embedded API server in the same process, in virtual time: hours pass in milliseconds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from integration.runtime.world import World
from windvane import ambient
from windvane.sim.time import VirtualLoop, VirtualTime


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What pytest-asyncio makes its loops with."""
    return {"virtual": VirtualLoop}


@pytest.fixture(autouse=True)
def virtual_time() -> Iterator[None]:
    """The same time behind `ambient`."""
    with ambient.use(VirtualTime()):
        yield


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A cluster with nothing but its API server."""
    world = World()
    await world.server.start()
    yield world
    await world.close()
