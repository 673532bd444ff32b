"""Where the Service `kubernetes` leads: to the API server."""

from collections.abc import AsyncIterator

import pytest

from integration.runtime.world import World
from windvane.cluster.controllers.manager import controllers
from windvane.k8s.core import Endpoints
from windvane.k8s.discovery import EndpointSlice


class Local(World):
    """A cluster whose Services have addresses of the loopback interface."""

    def __init__(self) -> None:
        super().__init__(service_network="127.200.0.0/16")


@pytest.fixture
async def local() -> AsyncIterator[Local]:
    local = Local()
    await local.server.start()
    running = controllers(api_port=6443).run(local.client())

    async def work() -> None:
        await running

    local.start(work())
    yield local
    await local.close()


async def addresses(local: Local) -> list[tuple[list[str], int | None]]:
    found = await local.admin.list(EndpointSlice, namespace="default")
    return [(each.endpoints[0].addresses, each.ports[0].port) for each in found]


async def until_there(local: Local) -> None:
    found: list[EndpointSlice] = []

    async def look() -> None:
        while len(found) < 1 or not await local.admin.list(Endpoints, namespace="default"):
            found[:] = await local.admin.list(EndpointSlice, namespace="default")

    looking = local.start(look())
    await local.until(looking.done)


async def test_the_service_kubernetes_leads_to_the_api_server(local: Local) -> None:
    await until_there(local)
    assert await addresses(local) == [(["127.0.0.1"], 6443)]
    [endpoints] = await local.admin.list(Endpoints, namespace="default")
    assert endpoints.metadata.labels == {"endpointslice.kubernetes.io/skip-mirror": "true"}
    assert endpoints.subsets[0].addresses[0].ip == "127.0.0.1"


async def test_its_endpoint_comes_back(local: Local) -> None:
    await until_there(local)
    await local.admin.delete(EndpointSlice, "kubernetes", namespace="default")
    await until_there(local)
    assert await addresses(local) == [(["127.0.0.1"], 6443)]


async def test_an_endpoint_of_an_earlier_start_is_put_right(local: Local) -> None:
    await until_there(local)
    ports = [{"name": "https", "port": 1, "protocol": "TCP"}]
    await local.admin.patch(EndpointSlice, "kubernetes", {"ports": ports}, namespace="default")
    found: list[object] = []

    async def look() -> None:
        while await addresses(local) != [(["127.0.0.1"], 6443)]:
            pass
        found.append(True)

    local.start(look())
    await local.until(lambda: found)
