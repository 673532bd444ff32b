"""The pytest plugin: `cluster`, virtual time for the tests that use it, and the passes of operators in failed tests.

pytest finds it by its entry point, wherever windvane is installed. Tests that have no `cluster` are as they were.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

try:
    import pytest_asyncio
    import time_machine
except ImportError as error:
    MISSING = f"the fixture `cluster` needs what comes with `pip install 'windvane[test]'` ({error})"
else:
    MISSING = ""
    del time_machine  # `clock` imports it: this is only to know that it is there

if TYPE_CHECKING:
    from windvane.testing.clock import Clock
    from windvane.testing.cluster import Cluster

LoopFactory = Callable[[], asyncio.AbstractEventLoop]
CLOCK = "_windvane_clock"
NOT_ASYNC = (
    "a test with a `cluster` must be an `async def`, which pytest-asyncio 1.4 or newer runs: write "
    'asyncio_mode = "auto" into the configuration of pytest'
)
_clock: "pytest.StashKey[Clock]" = pytest.StashKey()


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Generator[None, Mapping[str, LoopFactory] | None, Mapping[str, LoopFactory]]:
    """Which event loop a test has: one with virtual time if it has a cluster, and otherwise what others say."""
    found = yield
    if not _has_cluster(item) or MISSING:
        return found or {"asyncio": asyncio.new_event_loop}
    from windvane.testing.clock import Clock

    return {"virtual": config.stash.setdefault(_clock, Clock()).loop}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have a test that failed tell what operators did."""
    report = yield
    if report.failed and report.when == "call" and _has_cluster(item):
        cluster: Cluster = item.funcargs["cluster"]  # type: ignore[attr-defined]  # it is a function
        report.sections.append(("what the operators did", cluster.story() or "no operator has done a pass"))
    return report


def _has_cluster(item: pytest.Item) -> bool:
    return CLOCK in getattr(item, "fixturenames", ())


@pytest.fixture(name=CLOCK)
def _shown(pytestconfig: pytest.Config) -> Iterator[None]:
    if MISSING:
        pytest.fail(MISSING, pytrace=False)
    if _clock not in pytestconfig.stash:
        pytest.fail(NOT_ASYNC, pytrace=False)
    with pytestconfig.stash[_clock].shown():
        yield


async def _cluster(_windvane_clock: None) -> "AsyncIterator[Cluster]":
    """A cluster of this test's own, in virtual time: see `windvane.testing.Cluster`."""
    from windvane.sim.time import VirtualLoop
    from windvane.testing.virtual import VirtualCluster

    if not isinstance(asyncio.get_running_loop(), VirtualLoop):
        pytest.fail(NOT_ASYNC, pytrace=False)
    async with VirtualCluster() as cluster:
        yield cluster


def _no_cluster(_windvane_clock: None) -> None:
    """Needs `pip install 'windvane[test]'`."""


# With a scope of its own for the loop: the test has one of its own, too.
cluster = (
    pytest.fixture(_no_cluster, name="cluster")
    if MISSING
    else pytest_asyncio.fixture(_cluster, name="cluster", loop_scope="function")
)
