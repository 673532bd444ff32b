"""Webhooks of an operator in this process, asked by an API server over HTTPS: the embedded one, and the real one."""

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.embedded import embedded_server
from conformance.servers import Server, reference_server
from integration.test_run import Shell
from integration.webhook.declared import OPERATOR
from integration.webhook.world import World
from reference.conftest import need_reference
from windvane import Client, ObjectMeta, ambient
from windvane.k8s.core import Namespace


@pytest.fixture(scope="session", params=[pytest.param("reference", marks=pytest.mark.reference), "embedded"])
def api_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A running server, shared by the whole session: tests have groups and namespaces of their own."""
    if request.param == "embedded":
        with embedded_server() as embedded:
            yield embedded
        return
    need_reference()
    with reference_server() as running:
        yield running


@pytest.fixture
async def world(api_server: Server) -> AsyncIterator[World]:
    """An API server, with a namespace and a group that no other test uses."""
    word = ambient.token(8)
    async with Client.connect(kubeconfig=api_server.kubeconfig) as client:
        await client.create(Namespace(metadata=ObjectMeta(name=f"hooks-{word}")))
        client.namespace = f"hooks-{word}"
        world = World(client, f"o{word}", f"o{word}.windvane.dev")
        try:
            yield world
        finally:
            await world.clean_up()


@pytest.fixture
def shell(api_server: Server, world: World, tmp_path: Path) -> Iterator[Shell]:
    """Where `windvane run ./site.py:operator` can be typed."""
    (tmp_path / "site.py").write_text(OPERATOR.replace("GROUP", world.group).replace("NAME", world.operator.name))
    with ExitStack() as stack:
        yield Shell(tmp_path, api_server.kubeconfig, stack)


@pytest.fixture(autouse=True, scope="module")
def _collect() -> Iterator[None]:
    """What a module leaves behind is collected here, not in the tests of others."""
    yield
    gc.collect()
