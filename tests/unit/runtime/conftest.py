"""Tests of the runtime live in virtual time: no test waits, and every timer comes when it should."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

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
