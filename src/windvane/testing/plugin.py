"""The pytest plugin: clusters for tests, virtual time for those that use it, and what happened in tests that failed.

pytest finds it by its entry point, wherever windvane is installed. Tests that have no cluster are as they were.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

try:
    import pytest_asyncio
    import time_machine
except ImportError as error:
    MISSING = f"the fixtures of windvane need what comes with `pip install 'windvane[test]'` ({error})"
else:
    MISSING = ""
    del time_machine  # `clock` imports it: this is only to know that it is there

if TYPE_CHECKING:
    from windvane.client.config import ClientConfig
    from windvane.testing.clock import Clock
    from windvane.testing.cluster import Cluster
    from windvane.testing.real_cluster import Choice

LoopFactory = Callable[[], asyncio.AbstractEventLoop]
CLOCK = "_windvane_clock"
CHOICE = "_windvane_choice"
VIRTUAL, PROCESS, REAL, ANY = "cluster", "process_cluster", "real_cluster", "any_cluster"
NOT_ASYNC = (
    "a test with a cluster must be an `async def`, which pytest-asyncio 1.4 or newer runs: write "
    'asyncio_mode = "auto" into the configuration of pytest'
)
NOT_TWO = (
    "a test has one cluster, and one kind of time: leave out `cluster`; or write the test for `any_cluster`, and it is "
    "run on each kind"
)
NOT_ITS_OWN = (
    "a test with a cluster has an event loop of its own, and this one shares one with others: write "
    '@pytest.mark.asyncio(loop_scope="function") before it, or pytestmark = pytest.mark.asyncio(loop_scope="function") '
    "for all tests of a module"
)
OPTIONS = {
    "kubeconfig": ("FILE", "the kubeconfig that names the cluster for real_cluster, if not the usual one"),
    "context": ("NAME", "the context in it, if not the one that is allowed"),
    "allow": ("CONTEXT", "tests with real_cluster may use the cluster of this context: install CRDs, make namespaces"),
    "webhook-url": ("URL", "how that cluster reaches webhooks in this process: https://HOST:PORT"),
}
_clock: "pytest.StashKey[Clock]" = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """How a real cluster is chosen; WINDVANE_TEST_KUBECONFIG and so on in the environment say the same."""
    group = parser.getgroup("windvane", "tests of operators")
    for name, (metavar, words) in OPTIONS.items():
        group.addoption(f"--windvane-{name}", metavar=metavar, help=words)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Generator[None, Mapping[str, LoopFactory] | None, Mapping[str, LoopFactory]]:
    """Which event loop a test has: one with virtual time if it has a `cluster`, and otherwise what others say."""
    found = (yield) or {"asyncio": asyncio.new_event_loop}
    names = getattr(item, "fixturenames", ())
    if MISSING or CLOCK not in names:
        return found
    virtual = _clock_of(config).loop
    if ANY not in names:
        return {"virtual": virtual}
    usual = next(iter(found.values()))
    # One for each kind of cluster: that has the test run on each.
    return {VIRTUAL: virtual, PROCESS: partial(_usual, usual, PROCESS), REAL: partial(_usual, usual, REAL)}


def _usual(factory: LoopFactory, kind: str) -> asyncio.AbstractEventLoop:
    del kind  # by which two of these are told apart
    return factory()


def _clock_of(config: pytest.Config) -> "Clock":
    from windvane.testing.clock import Clock

    return config.stash.setdefault(_clock, Clock())


def _kind(item: pytest.Item) -> str:
    """On which kind of cluster a test with `any_cluster` runs this time."""
    for value in (
        item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    ):
        if isinstance(value, partial) and value.func is _usual:
            return str(value.args[1])
    return VIRTUAL


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have a test that failed tell what happened in its cluster."""
    report = yield
    if report.failed and report.when == "call" and (cluster := _cluster_of(item)) is not None:
        report.sections.append(("what the operators did", cluster.story() or "no operator has done a pass"))
    return report


def _cluster_of(item: pytest.Item) -> "Cluster | None":
    had: dict[str, Any] = getattr(item, "funcargs", {})
    return next((had[name] for name in (ANY, REAL, PROCESS, VIRTUAL) if hasattr(had.get(name), "story")), None)


@pytest.fixture(name=CLOCK)
def _shown(request: pytest.FixtureRequest) -> Iterator[None]:
    if MISSING:
        pytest.fail(MISSING, pytrace=False)
    if _clock not in request.config.stash:
        pytest.fail(NOT_ASYNC, pytrace=False)
    if ANY in request.fixturenames and _kind(request.node) != VIRTUAL:
        yield
        return
    with request.config.stash[_clock].shown():
        yield


def pytest_itemcollected(item: pytest.Item) -> None:
    """Have `-k real_cluster` choose the tests that use one, whatever they are called."""
    names = getattr(item, "fixturenames", ())
    item.extra_keyword_matches.update(each for each in (PROCESS, REAL) if each in names)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test for which there is no cluster: here, because what is skipped at one place is told in one line."""
    names = getattr(item, "fixturenames", ())
    if not MISSING and any(each in names for each in (PROCESS, REAL)) and not pytest_asyncio.is_async_test(item):
        pytest.fail(NOT_ASYNC, pytrace=False)
    if not MISSING and any(each in names for each in (CLOCK, PROCESS, REAL)) and _shares_a_loop(item):
        pytest.fail(NOT_ITS_OWN, pytrace=False)
    if not MISSING and CHOICE in names and (ANY not in names or _kind(item) == REAL):
        from windvane.testing.real_cluster import NotGiven

        try:
            _choice(item.config).check_given()
        except NotGiven as error:
            words = str(error)
        else:
            return
        pytest.skip(words)


def _shares_a_loop(item: pytest.Item) -> bool:
    """Whether the test's loop is another than that of its cluster, as settings of the project may have it."""
    mark = item.get_closest_marker("asyncio")
    if mark is None:
        return False  # it has no loop, as `_shown` says
    default = item.config.getini("asyncio_default_test_loop_scope")
    return bool((mark.kwargs.get("loop_scope") or mark.kwargs.get("scope") or default) != "function")


def _choice(config: pytest.Config) -> "Choice":
    from windvane.testing.real_cluster import Choice

    options = {name.replace("-", "_"): config.getoption(f"--windvane-{name}") for name in OPTIONS}
    return Choice.of(options, os.environ)


@pytest.fixture(name=CHOICE, scope="session")
def _chosen(pytestconfig: pytest.Config) -> "Iterator[_Chosen]":
    """The real cluster, if one is chosen; at the end, all that tests have made there is gone."""
    if MISSING:
        pytest.fail(MISSING, pytrace=False)
    from windvane.testing.real_cluster import wait_gone

    chosen = _Chosen(_choice(pytestconfig))
    yield chosen
    if chosen.left and (still := asyncio.run(wait_gone(chosen.config, chosen.left))):
        pytest.fail("namespaces of tests are still there; kubectl delete them. " + "; ".join(still), pytrace=False)


class _Chosen:
    """Which cluster was chosen, and which namespaces of tests are about to go there."""

    def __init__(self, choice: "Choice") -> None:
        self.choice = choice
        self.left: list[str] = []

    @property
    def config(self) -> "ClientConfig":
        """How to reach it; the test fails if it is not to be used."""
        from windvane.client.kubeconfig import ConfigError
        from windvane.testing.real_cluster import NotAllowed

        try:
            return self.choice.config()
        except (NotAllowed, ConfigError) as error:
            words = str(error)
        pytest.fail(words, pytrace=False)


def _has_virtual_time() -> bool:
    from windvane.sim.time import VirtualLoop

    return isinstance(asyncio.get_running_loop(), VirtualLoop)


@asynccontextmanager
async def _virtual() -> "AsyncIterator[Cluster]":
    from windvane.testing.virtual_cluster import VirtualCluster

    if not _has_virtual_time():
        pytest.fail(NOT_ASYNC, pytrace=False)
    async with VirtualCluster() as cluster:
        yield cluster


@asynccontextmanager
async def _process() -> "AsyncIterator[Cluster]":
    from windvane.testing.process_cluster import ProcessCluster

    if _has_virtual_time():
        pytest.fail(NOT_TWO, pytrace=False)
    async with ProcessCluster() as cluster:
        yield cluster


@asynccontextmanager
async def _real(chosen: _Chosen) -> "AsyncIterator[Cluster]":
    from windvane.client.errors import ClientError
    from windvane.testing.real_cluster import RealCluster

    if _has_virtual_time():
        pytest.fail(NOT_TWO, pytrace=False)
    real = RealCluster(chosen.config, webhook_url=chosen.choice.webhook_url, left=chosen.left)
    words = ""
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(real)
        except ClientError as error:  # it can't be reached, or one may not make a namespace there
            words = f"real_cluster can't be used: {error}"
        if words:
            pytest.fail(words, pytrace=False)
        yield real


async def _cluster(_windvane_clock: None) -> "AsyncIterator[Cluster]":
    """A cluster of this test's own, in virtual time: see `windvane.testing.VirtualCluster`."""
    async with _virtual() as cluster:
        yield cluster


async def _process_cluster() -> "AsyncIterator[Cluster]":
    """A cluster of this test's own whose pods are processes, in real time: see `windvane.testing.ProcessCluster`."""
    async with _process() as cluster:
        yield cluster


async def _real_cluster(_windvane_choice: _Chosen) -> "AsyncIterator[Cluster]":
    """A namespace of this test's own in the cluster that was chosen: see `windvane.testing.RealCluster`."""
    async with _real(_windvane_choice) as cluster:
        yield cluster


async def _any_cluster(
    request: pytest.FixtureRequest, _windvane_clock: None, _windvane_choice: _Chosen
) -> "AsyncIterator[Cluster]":
    """Each kind of cluster in turn: a test that has this runs three times."""
    kind = _kind(request.node)
    made = _virtual() if kind == VIRTUAL else _process() if kind == PROCESS else _real(_windvane_choice)
    async with made as cluster:
        yield cluster


def _no_cluster(_windvane_clock: None) -> None:
    """Needs `pip install 'windvane[test]'`."""


def _fixture(function: Callable[..., Any], name: str) -> Any:
    if MISSING:
        return pytest.fixture(_no_cluster, name=name)
    # With a scope of its own for the loop: the test has one of its own, too.
    return pytest_asyncio.fixture(function, name=name, loop_scope="function")


cluster = _fixture(_cluster, VIRTUAL)
process_cluster = _fixture(_process_cluster, PROCESS)
real_cluster = _fixture(_real_cluster, REAL)
any_cluster = _fixture(_any_cluster, ANY)
