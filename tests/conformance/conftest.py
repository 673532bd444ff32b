"""Every test here runs on two servers with the same assertions: the embedded one, and the real kube-apiserver.

What the tests expect was recorded from the real one. It is the judge: where the embedded server differs, that is a bug
or is listed, with its reason, in docs/fidelity.md. What one request is answered stands in `recorded`, in the format of
`transcript.py`; stories with watches, other users or webhooks are tests in Python.
"""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from pytest_asyncio import is_async_test

from conformance.crds import serve_all
from conformance.embedded import embedded_server
from conformance.requests import Raw
from conformance.servers import Server, reference_server
from conformance.webhook_server import Webhooks, serving
from reference.conftest import why_not
from windvane import Client

HERE = Path(__file__).parent

# aiohttp may still be closing a TLS connection of a test's own client when the test's loop is gone. Python complains
# when it collects that connection, in whichever test then runs: see `_collect`.
LATE_GOODBYES = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def known_differences() -> dict[str, str]:
    """The tests that the embedded server fails for now, and why, from known.txt."""
    reason, found = "", {}
    for line in (HERE / "known.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line.removeprefix("# ")
        elif line:
            found[line] = reason
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = known_differences()
    for item in items:
        if item.path.parent == HERE or item.get_closest_marker("reference"):  # these run after ours, in one process
            item.add_marker(LATE_GOODBYES)
        # The tests of a module share a loop, for connections live in one: fixtures here must say `loop_scope`, too.
        if item.path.parent == HERE and is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
        if item.path.parent == HERE and (reason := known.get(item.nodeid.rpartition("/conformance/")[2])):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


BOTH = [pytest.param("reference", marks=pytest.mark.reference), "embedded"]


@pytest.fixture(scope="session", params=BOTH)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A running server, shared by the whole session: tests use names, or namespaces, of their own."""
    yield from _running(request.param, service_accounts=False)


@pytest.fixture(scope="module", params=BOTH)
def strict_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The same, where a pod must have a ServiceAccount that is there."""
    yield from _running(request.param, service_accounts=True)


@pytest.fixture(scope="module", params=BOTH)
def owner_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The same, where who names an owner needs rights to it."""
    yield from _running(request.param, service_accounts=False, plugins=("OwnerReferencesPermissionEnforcement",))


@pytest.fixture(scope="module", params=BOTH)
def migrating_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The same, where StorageVersionMigrations are served."""
    yield from _running(request.param, service_accounts=False, migrations=True)


def _running(
    name: str, *, service_accounts: bool, plugins: tuple[str, ...] = (), migrations: bool = False
) -> Iterator[Server]:
    if name == "embedded":
        with embedded_server(
            service_accounts=service_accounts, admission_plugins=plugins, migrations=migrations
        ) as embedded:
            yield embedded
        return
    reason = why_not()
    if reason is not None:
        if os.environ.get("WINDVANE_REQUIRE_REFERENCE") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with reference_server(
        service_accounts=service_accounts, admission_plugins=plugins, migrations=migrations
    ) as running:
        yield running


@pytest.fixture(autouse=True, scope="module")
def _collect() -> Iterator[None]:
    """What a module leaves behind is collected here, not in the tests of others."""
    yield
    gc.collect()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def connections() -> AsyncIterator[aiohttp.TCPConnector]:
    """The connections of a module's tests, for shaking hands takes longer than most requests."""
    connector = aiohttp.TCPConnector()
    yield connector
    await connector.close()


@pytest_asyncio.fixture(loop_scope="module")
async def client(server: Server) -> AsyncIterator[Client]:
    """A client of the server's administrator."""
    async with Client.connect(kubeconfig=server.kubeconfig) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def raw(server: Server, connections: aiohttp.TCPConnector) -> AsyncIterator[Raw]:
    """Sends literal requests, with `raw.namespace` a namespace that no other test uses.

    Nothing deletes the namespace: there is no controller here to empty it.
    """
    async with _in_new_namespace(server, connections) as raw:
        yield raw


@pytest_asyncio.fixture(loop_scope="module")
async def strict(strict_server: Server, connections: aiohttp.TCPConnector) -> AsyncIterator[Raw]:
    """The same at the strict server."""
    async with _in_new_namespace(strict_server, connections) as raw:
        yield raw


@pytest_asyncio.fixture(loop_scope="module")
async def owning(owner_server: Server, connections: aiohttp.TCPConnector) -> AsyncIterator[Raw]:
    """The same at the server where owners are guarded."""
    async with _in_new_namespace(owner_server, connections) as raw:
        yield raw


@pytest_asyncio.fixture(loop_scope="module")
async def migrating(migrating_server: Server, connections: aiohttp.TCPConnector) -> AsyncIterator[Raw]:
    """The same at the server where what is stored can be stored anew."""
    async with _in_new_namespace(migrating_server, connections) as raw:
        yield raw


@asynccontextmanager
async def _in_new_namespace(server: Server, connections: aiohttp.TCPConnector) -> AsyncIterator[Raw]:
    async with Raw(server.url, server.ca_file, server.token, connections) as raw:
        made = await raw.ok("POST /api/v1/namespaces", {"metadata": {"generateName": "test-"}})
        raw.namespace = made["metadata"]["name"]
        yield raw


@pytest.fixture
def namespace(raw: Raw) -> str:
    """A namespace that no other test uses."""
    return raw.namespace


@pytest_asyncio.fixture(loop_scope="module")
async def webhooks(raw: Raw, tmp_path: Path) -> AsyncIterator[Webhooks]:
    """Admission webhooks of the test's own."""
    async with serving(raw, tmp_path) as webhooks:
        yield webhooks


@pytest.fixture(scope="session")
def crds(server: Server) -> None:
    """The custom kinds of conformance.crds are served, and kubectl finds and explains them."""
    asyncio.run(serve_all(server))
