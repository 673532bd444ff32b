"""Endpoints, the older form of EndpointSlices; and the way back, for those that are written by hand."""

from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.services import NODE, node, running_pod, service, slices, tell, the_endpoints, the_slice
from windvane.api import codec
from windvane.client.errors import NotFound
from windvane.k8s.core import EndpointPort, Endpoints, Event, Pod, Service
from windvane.k8s.discovery import EndpointSlice


def by_hand(name: str = "db", **metadata: Any) -> Endpoints:
    subset: dict[str, Any] = {"addresses": [{"ip": "192.0.2.1"}], "notReadyAddresses": [{"ip": "192.0.2.2"}]}
    subset["ports"] = [{"name": "sql", "port": 5432}]
    return codec.from_wire({"metadata": {"name": name, **metadata}, "subsets": [subset]}, Endpoints)


async def is_gone(cluster: Cluster, name: str) -> bool:
    await cluster.settled()
    try:
        await cluster.admin.get(Endpoints, name, namespace="default")
    except NotFound:
        return True
    return False


async def test_a_service_without_pods_has_endpoints_without_subsets(cluster: Cluster) -> None:
    await cluster.admin.create(service(labels={"team": "a"}))
    there = await the_endpoints(cluster)
    assert there.subsets == []
    assert there.metadata.labels == {"team": "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller"}


async def test_ready_and_unready_pods_are_told_apart(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    pod = await running_pod(cluster, "a", "10.1.0.1")
    await running_pod(cluster, "b", "10.1.0.2", ready=False)
    [subset] = (await the_endpoints(cluster)).subsets
    assert subset.ports == [EndpointPort(name="http", port=8080, protocol="TCP")]
    [address] = subset.addresses
    assert (address.ip, address.node_name) == ("10.1.0.1", NODE)
    assert address.target_ref is not None
    assert address.target_ref.uid == pod.metadata.uid
    assert [each.ip for each in subset.not_ready_addresses] == ["10.1.0.2"]


async def test_ports_that_the_same_pods_serve_are_one_subset(cluster: Cluster) -> None:
    await node(cluster)
    ports = [{"name": "a", "port": 80, "targetPort": 8080}, {"name": "b", "port": 81, "targetPort": 8081}]
    await cluster.admin.create(service(ports=ports))
    await running_pod(cluster, "a")
    [subset] = (await the_endpoints(cluster)).subsets
    assert [each.port for each in subset.ports] == [8080, 8081]


async def test_a_terminating_pod_is_left_out_unless_all_are_published(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await cluster.admin.create(service("all", publishNotReadyAddresses=True))
    await running_pod(cluster, "a")
    await cluster.admin.delete(Pod, "a", grace_period=30)
    assert (await the_endpoints(cluster)).subsets == []
    assert len((await the_endpoints(cluster, "all")).subsets) == 1


async def test_a_headless_service_without_ports_has_addresses_alone(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(clusterIP="None", ports=[]))
    await running_pod(cluster, "a", hostname="db-0", subdomain="web")
    there = await the_endpoints(cluster)
    assert there.metadata.labels["service.kubernetes.io/headless"] == ""
    [subset] = there.subsets
    assert (subset.ports, subset.addresses[0].hostname) == ([], "db-0")


async def test_what_others_note_on_endpoints_stays(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await the_endpoints(cluster)
    await cluster.admin.patch(Endpoints, "web", {"metadata": {"annotations": {"note": "mine"}}})
    await running_pod(cluster, "a")
    there = await the_endpoints(cluster)
    assert len(there.subsets) == 1
    assert there.metadata.annotations == {"note": "mine"}


async def test_endpoints_that_somebody_changed_are_put_right(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    await the_endpoints(cluster)
    await cluster.admin.patch(Endpoints, "web", {"subsets": []})
    assert len((await the_endpoints(cluster)).subsets) == 1


async def test_deleted_endpoints_come_back(cluster: Cluster) -> None:
    await cluster.admin.create(service())
    before = await the_endpoints(cluster)
    await cluster.admin.delete(Endpoints, "web")
    assert (await the_endpoints(cluster)).metadata.uid != before.metadata.uid


async def test_endpoints_go_with_their_service(cluster: Cluster) -> None:
    await cluster.admin.create(service())
    await the_endpoints(cluster)
    await cluster.admin.delete(Service, "web")
    assert await is_gone(cluster, "web")


async def test_endpoints_are_not_written_without_need(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    before = await the_endpoints(cluster)
    await cluster.admin.patch(Pod, "a", {"metadata": {"annotations": {"note": "nothing to see"}}})
    await tell(cluster, "a", "10.1.0.1", ready=True)
    assert (await the_endpoints(cluster)).metadata.resource_version == before.metadata.resource_version


async def test_endpoints_of_services_with_a_selector_are_not_mirrored(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    await cluster.settled()
    assert len(await slices(cluster)) == 1


# Written by hand


async def test_endpoints_written_by_hand_are_copied_to_a_slice(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None, ports=[{"name": "sql", "port": 5432}]))
    made = await cluster.admin.create(by_hand(labels={"team": "a"}, annotations={"note": "x"}))
    only = await the_slice(cluster, "db")
    assert only.metadata.generate_name == "db-"
    assert only.metadata.labels == {
        "team": "a",
        "kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert only.metadata.annotations == {"note": "x"}
    assert [each.port for each in only.ports] == [5432]
    assert {each.addresses[0]: each.conditions and each.conditions.ready for each in only.endpoints} == {
        "192.0.2.1": True,
        "192.0.2.2": False,
    }
    assert [each.uid for each in only.metadata.owner_references] == [made.metadata.uid]


async def test_a_changed_address_is_copied_to_the_same_slice(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    await cluster.admin.create(by_hand())
    before = await the_slice(cluster, "db")
    subsets = [{"addresses": [{"ip": "192.0.2.9"}], "ports": [{"port": 1}]}]
    await cluster.admin.patch(Endpoints, "db", {"subsets": subsets})
    after = await the_slice(cluster, "db")
    assert after.metadata.name == before.metadata.name
    assert [each.addresses for each in after.endpoints] == [["192.0.2.9"]]
    assert [each.port for each in after.ports] == [1]


async def test_both_address_families_have_a_slice(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    both = {"addresses": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}], "ports": [{"port": 1}]}
    await cluster.admin.create(codec.from_wire({"metadata": {"name": "db"}, "subsets": [both]}, Endpoints))
    await cluster.settled()
    assert {each.address_type for each in await slices(cluster, "db")} == {"IPv4", "IPv6"}


async def test_endpoints_without_a_service_are_somebodys_own(cluster: Cluster) -> None:
    await cluster.admin.create(by_hand())
    assert not await is_gone(cluster, "db")
    assert await slices(cluster, "db") == []


async def test_a_service_that_comes_later_has_them_copied(cluster: Cluster) -> None:
    await cluster.admin.create(by_hand())
    await cluster.settled()
    await cluster.admin.create(service("db", selector=None))
    assert len((await the_slice(cluster, "db")).endpoints) == 2


async def test_mirrored_endpoints_go_with_their_service(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    await cluster.admin.create(by_hand())
    await the_slice(cluster, "db")
    await cluster.admin.delete(Service, "db")
    assert await is_gone(cluster, "db")
    assert await slices(cluster, "db") == []


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}},
    ],
)
async def test_some_endpoints_are_not_for_traffic(cluster: Cluster, metadata: dict[str, Any]) -> None:
    await cluster.admin.create(service("db", selector=None))
    await cluster.admin.create(by_hand(**metadata))
    await cluster.settled()
    assert await slices(cluster, "db") == []


async def test_mirrored_slices_go_when_mirroring_is_declined(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    await cluster.admin.create(by_hand())
    await the_slice(cluster, "db")
    labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    await cluster.admin.patch(Endpoints, "db", {"metadata": {"labels": labels}})
    await cluster.settled()
    assert await slices(cluster, "db") == []


async def test_a_service_that_gets_a_selector_has_its_own_slices(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    await cluster.admin.create(by_hand())
    mirrored = await the_slice(cluster, "db")
    await cluster.admin.patch(Service, "db", {"spec": {"selector": {"app": "db"}}})
    only = await the_slice(cluster, "db")
    assert only.metadata.name != mirrored.metadata.name
    assert (await the_endpoints(cluster, "db")).subsets == []


async def test_a_mirrored_slice_that_was_deleted_comes_back(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    await cluster.admin.create(by_hand())
    only = await the_slice(cluster, "db")
    await cluster.admin.delete(EndpointSlice, only.metadata.name)
    assert len((await the_slice(cluster, "db")).endpoints) == 2


async def test_more_than_a_thousand_addresses_are_too_many_to_mirror(cluster: Cluster) -> None:
    await cluster.admin.create(service("db", selector=None))
    addresses = [{"ip": f"10.1.{number // 250}.{number % 250 + 1}"} for number in range(1003)]
    many = {"metadata": {"name": "db"}, "subsets": [{"addresses": addresses, "ports": [{"port": 1}]}]}
    await cluster.admin.create(codec.from_wire(many, Endpoints))
    assert len((await the_slice(cluster, "db")).endpoints) == 1000
    events = [each.message for each in await cluster.list(Event) if each.reason == "TooManyAddressesToMirror"]
    assert events == [
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 3 addresses were skipped"
    ]
