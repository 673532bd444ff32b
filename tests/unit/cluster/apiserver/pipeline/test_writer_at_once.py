"""Writing: what happens when several write at once."""

import asyncio

from windvane import Client, NotFound, ObjectMeta
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.k8s.core import ConfigMap

ADMIN = User("admin", ("system:masters",))


async def client() -> Client:
    server = APIServer(Store.open())
    await server.start()
    return Client(InProcessTransport(server.handle, ADMIN))


async def test_patches_at_the_same_moment_all_count() -> None:
    api = await client()
    await api.create(ConfigMap(metadata=ObjectMeta(name="a")))
    await asyncio.gather(*(api.patch(ConfigMap, "a", {"data": {f"key-{n}": "x"}}) for n in range(8)))
    assert len((await api.get(ConfigMap, "a")).data) == 8


async def test_a_patch_at_the_moment_of_a_deletion_finds_nothing() -> None:
    api = await client()
    await api.create(ConfigMap(metadata=ObjectMeta(name="a")))
    deleted, patched = await asyncio.gather(
        api.delete(ConfigMap, "a"), api.patch(ConfigMap, "a", {"data": {"x": "y"}}), return_exceptions=True
    )
    assert deleted is None
    assert isinstance(patched, NotFound)
