"""A cluster that starts with another network for its Services: they move."""

from typing import Any

from windvane import Client, ObjectMeta
from windvane.api import codec
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.k8s.core import Service, ServiceSpec

ADMIN = User("admin", ("system:masters", "system:authenticated"))
HERE, THERE = "127.200.0.0/16", "127.201.0.0/16"


async def started(store: Store, network: str | None) -> Client:
    server = APIServer(store, service_network=network)
    await server.start()
    return Client(InProcessTransport(server.handle, ADMIN))


async def create(client: Client, name: str, **spec: Any) -> Service:
    wire = {"ports": [{"port": 80}], "selector": {"app": name}, **spec}
    meta = ObjectMeta(name=name, namespace="default")
    return await client.create(Service(metadata=meta, spec=codec.from_wire(wire, ServiceSpec)))


async def addresses(client: Client) -> dict[str, str]:
    return {each.metadata.name: each.spec.cluster_ip or "" for each in await client.list(Service)}


async def test_each_service_keeps_its_place_in_the_new_network() -> None:
    store = Store.open()
    client = await started(store, HERE)
    await create(client, "web")
    await create(client, "named", clusterIP="127.200.7.7")
    client = await started(store, THERE)
    assert await addresses(client) == {"kubernetes": "127.201.0.1", "web": "127.201.0.11", "named": "127.201.7.7"}
    assert (await client.get(Service, "web", namespace="default")).spec.cluster_ips == ["127.201.0.11"]


async def test_those_without_an_address_have_none_afterwards() -> None:
    store = Store.open()
    client = await started(store, HERE)
    await create(client, "headless", clusterIP="None")
    await create(client, "elsewhere", type="ExternalName", externalName="example.com", ports=None, selector=None)
    client = await started(store, THERE)
    assert await addresses(client) == {"kubernetes": "127.201.0.1", "headless": "None", "elsewhere": ""}


async def test_node_ports_stay() -> None:
    store = Store.open()
    before = await create(await started(store, HERE), "web", type="NodePort")
    after = await (await started(store, THERE)).get(Service, "web", namespace="default")
    assert [each.node_port for each in after.spec.ports] == [each.node_port for each in before.spec.ports]


async def test_what_has_moved_can_be_changed_and_others_get_other_addresses() -> None:
    store = Store.open()
    await create(await started(store, HERE), "web")
    client = await started(store, THERE)
    patch = {"spec": {"selector": {"app": "other"}}}
    changed = await client.patch(Service, "web", patch, type="merge", namespace="default")
    assert changed.spec.cluster_ip == "127.201.0.11"
    assert (await create(client, "new")).spec.cluster_ip == "127.201.0.12"


async def test_a_place_that_is_taken_is_not_given_twice() -> None:
    store = Store.open()
    await create(await started(store, HERE), "web", clusterIP="127.200.0.50")
    half = APIServer(store, service_network=THERE)  # as if moving had ended before its turn came
    client = Client(InProcessTransport(half.handle, ADMIN))
    await create(client, "other", clusterIP="127.201.0.50")
    after = await addresses(await started(store, THERE))
    assert after["other"] == "127.201.0.50"
    assert after["web"].startswith("127.201.")
    assert len(set(after.values())) == 3


async def test_nothing_is_written_if_all_are_there() -> None:
    store = Store.open()
    await create(await started(store, HERE), "web")
    before = store.revision
    await started(store, HERE)
    await started(store, None)  # who wants no network in particular leaves them alone
    assert store.revision == before
