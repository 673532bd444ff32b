"""The end of a namespace: what is in it goes, and then the namespace does."""

from collections.abc import Sequence
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.test_garbage_collector import Widget, belongs_to, config_map, crd, finalize, is_there, make
from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.resource import object_from_wire
from windvane.api.status import APIStatus
from windvane.client.errors import Forbidden, NotFound
from windvane.k8s.apps import Deployment
from windvane.k8s.core import (
    ConfigMap,
    Container,
    Namespace,
    NamespaceCondition,
    Node,
    Pod,
    PodSpec,
    Secret,
    Service,
    ServiceAccount,
    ServicePort,
    ServiceSpec,
)

WAIT = "example.com/wait"


@pytest.fixture
async def namespace(cluster: Cluster) -> Namespace:
    made = await cluster.admin.create(Namespace(metadata=ObjectMeta(name="old")))
    await cluster.settled()
    return made


async def make_pod(
    cluster: Cluster, name: str = "web", *, node: str = "", grace: int = 30, finalizers: Sequence[str] = ()
) -> Pod:
    spec = PodSpec(
        containers=[Container(name="web", image="web")],
        node_name=node or None,
        termination_grace_period_seconds=grace,
    )
    return await cluster.admin.create(
        Pod(metadata=ObjectMeta(name=name, namespace="old", finalizers=[*finalizers]), spec=spec)
    )


async def delete(cluster: Cluster, name: str = "old") -> None:
    await cluster.admin.delete(Namespace, name)
    await cluster.settled()


async def is_gone(cluster: Cluster, name: str = "old") -> bool:
    try:
        await cluster.admin.get(Namespace, name)
    except NotFound:
        return True
    return False


async def conditions(cluster: Cluster) -> dict[str, NamespaceCondition]:
    namespace = await cluster.admin.get(Namespace, "old")
    return {each.type: each for each in namespace.status.conditions}


async def test_an_empty_namespace_goes(cluster: Cluster, namespace: Namespace) -> None:
    await delete(cluster)
    assert await is_gone(cluster)


async def test_what_is_in_a_namespace_goes_with_it(cluster: Cluster, namespace: Namespace) -> None:
    meta = ObjectMeta(name="thing", namespace="old")
    things: list[Any] = [
        await make(cluster, "settings", namespace="old"),
        await cluster.admin.create(Secret(metadata=meta)),
        await cluster.admin.create(ServiceAccount(metadata=meta)),
        await cluster.admin.create(Service(metadata=meta, spec=ServiceSpec(ports=[ServicePort(port=80)]))),
        await make_pod(cluster),
    ]
    await delete(cluster)
    assert await is_gone(cluster)
    assert [await is_there(cluster, each) for each in things] == [False] * 5


async def test_the_account_and_the_certificate_do_not_come_back(cluster: Cluster, namespace: Namespace) -> None:
    await delete(cluster)
    await cluster.settled()
    assert [each for each in await cluster.admin.list(ServiceAccount) if each.metadata.namespace == "old"] == []


async def test_other_namespaces_keep_what_they_have(cluster: Cluster, namespace: Namespace) -> None:
    mine = await make(cluster, "settings")
    await delete(cluster)
    assert await is_there(cluster, mine)


async def test_objects_of_custom_kinds_go_too(cluster: Cluster, namespace: Namespace) -> None:
    await cluster.admin.create(crd("Widget", "widgets"))
    widget = await cluster.admin.create(Widget(metadata=ObjectMeta(name="wheel", namespace="old")))
    await delete(cluster)
    assert await is_gone(cluster)
    assert not await is_there(cluster, widget)


async def test_a_namespace_that_comes_again_is_empty(cluster: Cluster, namespace: Namespace) -> None:
    await make(cluster, "settings", namespace="old")
    await delete(cluster)
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="old")))
    await cluster.settled()
    names = [each.metadata.name for each in await cluster.admin.list(ConfigMap, namespace="old")]
    assert names == ["kube-root-ca.crt"]


async def test_a_thing_with_a_finalizer_holds_its_namespace(cluster: Cluster, namespace: Namespace) -> None:
    thing = await make(cluster, "slow", namespace="old", finalizers=[WAIT])
    await delete(cluster)
    assert not await is_gone(cluster)
    await finalize(cluster, thing)
    await ambient.sleep(30)
    assert await is_gone(cluster)


async def test_conditions_say_what_remains_and_what_holds_it(cluster: Cluster, namespace: Namespace) -> None:
    await make(cluster, "slow", namespace="old", finalizers=[WAIT])
    await delete(cluster)
    found = await conditions(cluster)
    assert found["NamespaceContentRemaining"].status == "True"
    assert found["NamespaceContentRemaining"].message == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    assert found["NamespaceFinalizersRemaining"].message == (
        f"Some content in the namespace has finalizers remaining: {WAIT} in 1 resource instances"
    )
    assert found["NamespaceDeletionContentFailure"].status == "False"
    assert found["NamespaceDeletionDiscoveryFailure"].status == "False"


async def test_the_rest_goes_though_one_thing_is_held(cluster: Cluster, namespace: Namespace) -> None:
    free = await make(cluster, "free", namespace="old")
    await make(cluster, "slow", namespace="old", finalizers=[WAIT])
    await delete(cluster)
    assert not await is_there(cluster, free)


async def test_pods_go_before_all_else(cluster: Cluster, namespace: Namespace) -> None:
    settings = await make(cluster, "settings", namespace="old")
    pod = await make_pod(cluster, finalizers=[WAIT])
    await delete(cluster)
    assert (await cluster.admin.get(Pod, "web", namespace="old")).metadata.deletion_timestamp
    assert await is_there(cluster, settings)
    await finalize(cluster, pod)
    await ambient.sleep(30)
    assert await is_gone(cluster)


async def test_a_pod_may_take_its_time_to_end(cluster: Cluster, namespace: Namespace) -> None:
    await cluster.admin.create(Node(metadata=ObjectMeta(name="somewhere")))
    await make_pod(cluster, node="somewhere", grace=60)
    await delete(cluster)
    await ambient.sleep(50)
    assert (await conditions(cluster))["NamespaceDeletionContentFailure"].status == "False"
    await cluster.admin.delete(Pod, "web", namespace="old", grace_period=0)
    await ambient.sleep(30)
    assert await is_gone(cluster)


async def test_a_pod_that_does_not_end_in_its_time_is_told(cluster: Cluster, namespace: Namespace) -> None:
    await cluster.admin.create(Node(metadata=ObjectMeta(name="somewhere")))
    await make_pod(cluster, node="somewhere", grace=60)
    await delete(cluster)
    await ambient.sleep(100)
    failure = (await conditions(cluster))["NamespaceDeletionContentFailure"]
    assert failure.message == (
        "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: old for gvr: "
        "/v1, Resource=pods"
    )


async def test_a_finalizer_of_somebody_else_on_the_namespace_holds_it(cluster: Cluster) -> None:
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="old", finalizers=[WAIT])))
    await cluster.settled()
    settings = await make(cluster, "settings", namespace="old")
    await delete(cluster)
    assert not await is_there(cluster, settings)
    there = await cluster.admin.get(Namespace, "old")
    assert (there.spec.finalizers, there.metadata.finalizers) == ([], [WAIT])
    await finalize(cluster, there)
    assert await is_gone(cluster)


async def test_nothing_new_comes_into_a_namespace_that_ends(cluster: Cluster, namespace: Namespace) -> None:
    await make(cluster, "slow", namespace="old", finalizers=[WAIT])
    await delete(cluster)
    with pytest.raises(Forbidden, match="because it is being terminated"):
        await make(cluster, "new", namespace="old")


async def test_a_deployment_does_not_make_new_pods_where_all_ends(cluster: Cluster, namespace: Namespace) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    wire = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "old"},
        "spec": spec,
    }
    await cluster.admin.create(object_from_wire(wire, Deployment))
    await cluster.settled()
    assert len(await cluster.admin.list(Pod, namespace="old")) == 2
    await delete(cluster)
    await ambient.sleep(60)
    assert await is_gone(cluster)


async def test_families_go_with_their_namespace(cluster: Cluster, namespace: Namespace) -> None:
    owner = await make(cluster, "owner", namespace="old")
    await make(cluster, "child", belongs_to(owner, blocks=True), namespace="old")
    await cluster.admin.delete(Namespace, "old", propagation="Foreground")
    await cluster.settled()
    await ambient.sleep(30)
    assert await is_gone(cluster)


async def test_while_discovery_fails_the_namespace_stays_and_says_so(cluster: Cluster, namespace: Namespace) -> None:
    busy = APIStatus(status="Failure", code=500, reason="InternalError", message="no idea")
    cluster.weather.refuse = lambda request: busy if request.path == "/apis" else None
    await delete(cluster)
    await ambient.sleep(60)
    failure = (await conditions(cluster))["NamespaceDeletionDiscoveryFailure"]
    assert (failure.status, failure.reason) == ("True", "DiscoveryFailed")
    assert "no idea" in (failure.message or "")
    cluster.weather.clear()
    await ambient.sleep(600)
    assert await is_gone(cluster)


async def test_what_can_not_be_deleted_is_told_and_tried_again(cluster: Cluster, namespace: Namespace) -> None:
    thing = await make(cluster, "precious", namespace="old")
    refusal = APIStatus(status="Failure", code=403, reason="Forbidden", message="not this one")
    cluster.weather.refuse = lambda request: (
        refusal if request.method == "DELETE" and request.path.endswith("precious") else None
    )
    await delete(cluster)
    await ambient.sleep(10)
    failure = (await conditions(cluster))["NamespaceDeletionContentFailure"]
    assert (failure.status, failure.reason) == ("True", "ContentDeletionFailed")
    assert await is_there(cluster, thing)
    cluster.weather.clear()
    await ambient.sleep(600)
    assert await is_gone(cluster)


async def test_a_namespace_that_was_ending_when_the_controllers_started_goes(cluster: Cluster) -> None:
    await cluster.admin.create(Namespace(metadata=ObjectMeta(name="old")))
    await cluster.admin.create(config_map("settings", namespace="old"))
    await cluster.admin.delete(Namespace, "old")  # all before anybody has seen any of it
    await cluster.settled()
    assert await is_gone(cluster)
