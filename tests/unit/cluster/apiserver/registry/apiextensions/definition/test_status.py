"""CRDs across the death of a process: what it had begun is finished by the next one."""

from windvane import Client, ObjectMeta, Resource, Spec, Status, crd, object_to_wire
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.registry.apiextensions.definition.status import first_status
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.storage_codec import key_of, pack
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.k8s.apiextensions import CustomResourceDefinition

ADMIN = User("admin", ("system:masters",))
TYPE = next(each for each in builtin_types() if each.kind.name == "CustomResourceDefinition")


class Thing(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """Anything."""


async def store_with(definition: dict[str, object]) -> Store:
    store = Store.open()
    await store.commit(
        key_of(TYPE, "", "things.demo.windvane.dev"), 0, lambda revision: pack(TYPE, definition, revision)
    )
    return store


async def test_a_crd_that_was_stored_but_not_accepted_is_served_after_a_restart() -> None:
    definition = object_to_wire(crd(Thing))
    definition["metadata"]["uid"] = "1"
    first_status(definition)
    server = APIServer(await store_with(definition))
    await server.start()
    client = Client(InProcessTransport(server.handle, ADMIN))
    await client.create(Thing(metadata=ObjectMeta(name="a")))
    assert (await client.get(CustomResourceDefinition, "things.demo.windvane.dev")).status.accepted_names is not None
    await server.close()


async def test_a_crd_that_is_in_order_is_not_written_again_at_a_restart() -> None:
    store = Store.open()
    server = APIServer(store)
    await server.start()
    client = Client(InProcessTransport(server.handle, ADMIN))
    await client.create(crd(Thing))
    made = await client.get(CustomResourceDefinition, "things.demo.windvane.dev")
    again = APIServer(store)
    await again.start()
    there = await client.get(CustomResourceDefinition, "things.demo.windvane.dev")
    assert there.metadata.resource_version == made.metadata.resource_version
    await again.close()
