"""Every test here runs on two servers with the same assertions: the embedded one in virtual time, and the real one.

On the real server time is real, so nothing here counts seconds: tests wait for what they expect. Where a test needs
time to pass, `World` says how.
"""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from integration.operators.world import EmbeddedWorld, ReferenceWorld, World
from reference.conftest import why_not
from reference.controlplane import ReferenceControlPlane
from windvane import ambient
from windvane.sim.time import VirtualLoop, VirtualTime

HERE = Path(__file__).parent


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What pytest-asyncio makes its loops with, and so which server a test runs on."""
    return {"reference": asyncio.new_event_loop, "embedded": VirtualLoop}


# First, because `-m "not reference"` is carried out in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            # aiohttp may still be closing a TLS connection when its test's loop is gone, and Python complains in
            # whichever test then runs: see `_collect`.
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))
            if not _is_virtual(item):
                item.add_marker(pytest.mark.reference)


def _is_virtual(item: pytest.Item) -> bool:
    callspec = cast(pytest.Function, item).callspec if hasattr(item, "callspec") else None
    return callspec is None or callspec.params.get("_asyncio_loop_factory") is VirtualLoop


@pytest.fixture(autouse=True, scope="module")
def _collect() -> Iterator[None]:
    """What a module leaves behind is collected here, not in the tests of others."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def time(request: pytest.FixtureRequest) -> Iterator[None]:
    """Virtual time on the embedded server."""
    if _is_virtual(request.node):
        with ambient.use(VirtualTime()):
            yield
    else:
        yield


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ReferenceControlPlane]:
    """A real API server with an audit log, shared by all tests here: each has a namespace of its own."""
    reason = why_not()
    if reason is not None:
        if os.environ.get("WINDVANE_REQUIRE_REFERENCE") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with ReferenceControlPlane(audit=True) as running:
        yield running


@pytest.fixture
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A cluster with nothing but its API server, where Websites are served."""
    world = (
        EmbeddedWorld(tmp_path / "audit.log")
        if isinstance(asyncio.get_running_loop(), VirtualLoop)
        else ReferenceWorld(request.getfixturevalue("control_plane"))
    )
    try:
        await world.open()
        yield world
    finally:
        await world.close()
