"""Applying when several do it at once."""

import asyncio

from windvane import Client, ObjectMeta
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


def managers(thing: ConfigMap) -> set[str]:
    return {entry.manager for entry in thing.metadata.managed_fields}


async def test_what_is_applied_at_the_same_moment_is_made_once_and_merged() -> None:
    api = await client()
    things = [ConfigMap(metadata=ObjectMeta(name="a"), data={f"key-{n}": "x"}) for n in range(8)]
    await asyncio.gather(*(api.apply(thing, field_manager=f"m{n}") for n, thing in enumerate(things)))
    merged = await api.get(ConfigMap, "a")
    assert len(merged.data) == 8
    assert managers(merged) == {f"m{n}" for n in range(8)}


async def test_an_apply_at_the_moment_of_a_deletion_makes_the_object_anew() -> None:
    api = await client()
    first = await api.create(ConfigMap(metadata=ObjectMeta(name="a")))
    thing = ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "v"})
    _, applied = await asyncio.gather(api.delete(ConfigMap, "a"), api.apply(thing, field_manager="me"))
    assert applied.metadata.uid != first.metadata.uid
    assert managers(applied) == {"me"}
