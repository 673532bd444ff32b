"""EndpointSlices: which pods are behind a Service, how they are, and that nothing is written without need."""

import asyncio
from typing import Any

from integration.controllers.cluster import Cluster
from integration.controllers.services import NODE, node, running_pod, service, slices, tell, the_slice
from integration.controllers.workloads import LABELS
from windvane.api import codec
from windvane.k8s.core import Node, Pod, Service
from windvane.k8s.discovery import EndpointPort, EndpointSlice

MANAGED_BY = "endpointslice.kubernetes.io/managed-by"


def conditions(each: EndpointSlice) -> Any:
    [only] = each.endpoints
    assert only.conditions is not None
    return only.conditions.ready, only.conditions.serving, only.conditions.terminating


async def addresses(cluster: Cluster, name: str = "web") -> list[str]:
    await cluster.settled()
    return sorted(at for each in await slices(cluster, name) for one in each.endpoints for at in one.addresses)


async def test_a_service_without_pods_has_an_empty_slice(cluster: Cluster) -> None:
    made = await cluster.admin.create(service())
    only = await the_slice(cluster)
    assert only.metadata.name.startswith("web-")
    assert only.metadata.generate_name == "web-"
    assert only.metadata.labels == {
        "kubernetes.io/service-name": "web",
        MANAGED_BY: "endpointslice-controller.k8s.io",
    }
    assert (only.address_type, only.endpoints, only.ports) == ("IPv4", [], [])
    [owner] = only.metadata.owner_references
    assert (owner.kind, owner.uid, owner.controller) == ("Service", made.metadata.uid, True)


async def test_a_ready_pod_is_an_endpoint(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    made = await running_pod(cluster, "a")
    only = await the_slice(cluster)
    assert only.ports == [EndpointPort(name="http", port=8080, protocol="TCP")]
    [endpoint] = only.endpoints
    assert endpoint.addresses == ["10.1.0.1"]
    assert endpoint.node_name == NODE
    assert endpoint.target_ref is not None
    assert (endpoint.target_ref.kind, endpoint.target_ref.name) == ("Pod", "a")
    assert endpoint.target_ref.uid == made.metadata.uid
    assert conditions(only) == (True, True, False)


async def test_a_pod_that_is_not_ready_is_listed_as_such(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a", ready=False)
    assert conditions(await the_slice(cluster)) == (False, False, False)
    await tell(cluster, "a", "10.1.0.1", ready=True)
    assert conditions(await the_slice(cluster)) == (True, True, False)


async def test_publish_not_ready_addresses_calls_all_ready(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(publishNotReadyAddresses=True))
    await running_pod(cluster, "a", ready=False)
    assert conditions(await the_slice(cluster)) == (True, False, False)


async def test_a_terminating_pod_still_serves_and_is_not_ready(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    await cluster.admin.delete(Pod, "a", grace_period=30)
    assert conditions(await the_slice(cluster)) == (False, True, True)


async def test_a_pod_that_is_gone_is_no_endpoint(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    before = await the_slice(cluster)
    await cluster.admin.delete(Pod, "a", grace_period=0)
    after = await the_slice(cluster)
    assert after.endpoints == []
    assert after.metadata.name == before.metadata.name  # it is used again, not replaced


async def test_a_finished_pod_is_no_endpoint(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    await tell(cluster, "a", "10.1.0.1", ready=False, phase="Succeeded")
    assert await addresses(cluster) == []


async def test_a_pod_without_an_address_is_no_endpoint(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a", "10.1.0.1")
    await cluster.admin.create(
        codec.from_wire(
            {"metadata": {"name": "b", "labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, Pod
        )
    )
    assert await addresses(cluster) == ["10.1.0.1"]


async def test_pods_that_are_not_selected_are_no_endpoints(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a", labels={"app": "other"})
    assert await addresses(cluster) == []


async def test_a_pod_whose_labels_change_comes_and_goes(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await cluster.admin.create(service("other", selector={"app": "other"}))
    await running_pod(cluster, "a")
    assert await addresses(cluster) == ["10.1.0.1"]
    await cluster.admin.patch(Pod, "a", {"metadata": {"labels": {"app": "other"}}})
    assert await addresses(cluster) == []
    assert await addresses(cluster, "other") == ["10.1.0.1"]


async def test_a_selector_that_changes_finds_other_pods(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a", "10.1.0.1")
    await running_pod(cluster, "b", "10.1.0.2", labels={"app": "other", "tier": "x"})
    assert await addresses(cluster) == ["10.1.0.1"]
    await cluster.admin.patch(Service, "web", {"spec": {"selector": {"app": "other", "tier": "x"}}})
    assert await addresses(cluster) == ["10.1.0.2"]


async def test_all_labels_of_the_selector_count(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(selector=LABELS | {"tier": "front"}))
    await running_pod(cluster, "a", "10.1.0.1")
    await running_pod(cluster, "b", "10.1.0.2", labels=LABELS | {"tier": "front"})
    assert await addresses(cluster) == ["10.1.0.2"]


async def test_several_services_may_select_a_pod(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await cluster.admin.create(service("also"))
    await running_pod(cluster, "a")
    assert await addresses(cluster) == await addresses(cluster, "also") == ["10.1.0.1"]


async def test_a_named_target_port_is_looked_up_in_each_pod(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(ports=[{"name": "http", "port": 80, "targetPort": "web"}]))
    for name, ip, port in (("a", "10.1.0.1", 8080), ("b", "10.1.0.2", 9090)):
        container = {"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": port}]}
        await running_pod(cluster, name, ip, containers=[container])
    await cluster.settled()
    found = {each.ports[0].port: each.endpoints[0].addresses for each in await slices(cluster)}
    assert found == {8080: ["10.1.0.1"], 9090: ["10.1.0.2"]}


async def test_a_sidecar_may_have_the_named_port(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(ports=[{"port": 80, "targetPort": "web"}]))
    sidecar = {"name": "s", "image": "i", "restartPolicy": "Always", "ports": [{"name": "web", "containerPort": 7070}]}
    await running_pod(cluster, "a", initContainers=[sidecar])
    assert (await the_slice(cluster)).ports == [EndpointPort(name="", port=7070, protocol="TCP")]


async def test_a_pod_without_the_named_port_is_listed_without_it(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(ports=[{"name": "http", "port": 80, "targetPort": "web"}]))
    await running_pod(cluster, "a")
    only = await the_slice(cluster)
    assert only.ports == []
    assert [each.addresses for each in only.endpoints] == [["10.1.0.1"]]


async def test_a_changed_port_changes_the_slice_in_place(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    before = await the_slice(cluster)
    ports = [{"name": "http", "port": 80, "targetPort": 9090}]
    await cluster.admin.patch(Service, "web", {"spec": {"ports": ports}})
    after = await the_slice(cluster)
    assert after.ports == [EndpointPort(name="http", port=9090, protocol="TCP")]
    assert after.metadata.name == before.metadata.name


async def test_a_headless_service_has_a_label_that_says_so(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(clusterIP="None", ports=[]))
    await running_pod(cluster, "a")
    only = await the_slice(cluster)
    assert only.metadata.labels["service.kubernetes.io/headless"] == ""
    assert only.ports == []
    assert [each.addresses for each in only.endpoints] == [["10.1.0.1"]]


async def test_a_pod_with_the_service_as_subdomain_has_its_hostname(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service(clusterIP="None"))
    await cluster.admin.create(service("other", clusterIP="None"))
    await running_pod(cluster, "a", hostname="db-0", subdomain="web")
    assert [each.hostname for each in (await the_slice(cluster)).endpoints] == ["db-0"]
    assert [each.hostname for each in (await the_slice(cluster, "other")).endpoints] == [None]


async def test_labels_of_the_service_are_those_of_its_slices(cluster: Cluster) -> None:
    await cluster.admin.create(service(labels={"team": "a", "kubernetes.io/service-name": "lie"}))
    only = await the_slice(cluster)
    assert only.metadata.labels["team"] == "a"
    assert only.metadata.labels["kubernetes.io/service-name"] == "web"
    await cluster.admin.patch(Service, "web", {"metadata": {"labels": {"team": "b"}}})
    assert (await the_slice(cluster)).metadata.labels["team"] == "b"


async def test_the_zone_is_the_nodes(cluster: Cluster) -> None:
    await node(cluster, labels={"topology.kubernetes.io/zone": "north"})
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    assert [each.zone for each in (await the_slice(cluster)).endpoints] == ["north"]
    await cluster.admin.patch(Node, NODE, {"metadata": {"labels": {"topology.kubernetes.io/zone": "south"}}})
    assert [each.zone for each in (await the_slice(cluster)).endpoints] == ["south"]


async def test_a_pod_whose_node_is_gone_is_no_endpoint(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await cluster.admin.create(service("all", publishNotReadyAddresses=True))
    await running_pod(cluster, "a")
    assert await addresses(cluster) == ["10.1.0.1"]
    await cluster.admin.delete(Node, NODE)
    assert await addresses(cluster) == []
    assert await addresses(cluster, "all") == ["10.1.0.1"]


async def test_external_names_have_no_slices(cluster: Cluster) -> None:
    await cluster.admin.create(service(type="ExternalName", externalName="example.com"))
    await cluster.settled()
    assert await slices(cluster) == []


async def test_services_without_a_selector_are_left_alone(cluster: Cluster) -> None:
    await cluster.admin.create(service(selector=None))
    await cluster.settled()
    assert await slices(cluster) == []


async def test_slices_that_others_manage_are_left_alone(cluster: Cluster) -> None:
    labels = {"kubernetes.io/service-name": "web", MANAGED_BY: "somebody"}
    theirs = {"metadata": {"name": "theirs", "labels": labels}, "addressType": "IPv4", "endpoints": []}
    await cluster.admin.create(codec.from_wire(theirs, EndpointSlice))
    await cluster.admin.create(service())
    await cluster.settled()
    assert len(await slices(cluster)) == 2


async def test_a_deleted_slice_comes_back(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    only = await the_slice(cluster)
    await cluster.admin.delete(EndpointSlice, only.metadata.name)
    assert await addresses(cluster) == ["10.1.0.1"]


async def test_a_slice_that_somebody_changed_is_put_right(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    only = await the_slice(cluster)
    await cluster.admin.patch(EndpointSlice, only.metadata.name, {"endpoints": [{"addresses": ["10.9.9.9"]}]})
    assert await addresses(cluster) == ["10.1.0.1"]


async def test_slices_of_an_older_service_of_that_name_go(cluster: Cluster) -> None:
    await cluster.admin.create(service())
    before = await the_slice(cluster)
    await cluster.admin.delete(Service, "web")
    await cluster.admin.create(service())
    after = await the_slice(cluster)
    assert after.metadata.name != before.metadata.name


async def test_there_are_at_most_a_hundred_endpoints_in_a_slice(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    for number in range(103):
        await running_pod(cluster, f"p{number}", f"10.1.{number // 100}.{number % 100 + 1}")
    assert len(await addresses(cluster)) == 103
    assert sorted(len(each.endpoints) for each in await slices(cluster)) == [3, 100]


async def test_a_settled_world_sees_no_writes(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    await running_pod(cluster, "a")
    before = await the_slice(cluster)
    await cluster.admin.patch(Pod, "a", {"metadata": {"annotations": {"note": "nothing to see"}}})
    await cluster.admin.patch(Service, "web", {"metadata": {"annotations": {"note": "nothing to see"}}})
    after = await the_slice(cluster)
    assert after.metadata.resource_version == before.metadata.resource_version


async def test_many_changes_at_once_are_few_writes(cluster: Cluster) -> None:
    await node(cluster)
    await cluster.admin.create(service())
    for number in range(60):
        await running_pod(cluster, f"p{number}", f"10.1.0.{number + 1}", ready=False)
    before = await the_slice(cluster)
    told = (tell(cluster, f"p{number}", f"10.1.0.{number + 1}", ready=True) for number in range(60))
    await asyncio.gather(*told)
    after = await the_slice(cluster)
    assert all(each.conditions and each.conditions.ready for each in after.endpoints)
    assert before.metadata.generation
    assert after.metadata.generation
    assert after.metadata.generation - before.metadata.generation <= 10
