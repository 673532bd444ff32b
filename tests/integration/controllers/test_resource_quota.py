"""ResourceQuotas as a controller keeps them: what is used is known soon, and never less than there is."""

import asyncio
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import pod, replicaset
from windvane import ambient
from windvane.api import codec
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, dynamic
from windvane.api.status import APIStatus
from windvane.client.errors import Forbidden
from windvane.client.transport import Request
from windvane.cluster.controllers.resource_quota.controller import QuotaController
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.apps import ReplicaSet
from windvane.k8s.core import ConfigMap, PersistentVolumeClaim, Pod, ResourceQuota, Service


@pytest.fixture(autouse=True)
async def quotas(cluster: Cluster) -> QuotaController:
    """What keeps them."""
    controller = QuotaController(cluster.client())
    cluster.start(controller.run())
    return controller


def quota(name: str = "q", **spec: Any) -> ResourceQuota:
    return codec.from_wire({"metadata": {"name": name}, "spec": spec}, ResourceQuota)


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


async def used(cluster: Cluster, name: str = "q") -> dict[str, str]:
    status = (await cluster.admin.get(ResourceQuota, name, namespace="default")).status
    return {key: str(amount) for key, amount in status.used.items()}


async def until_used(cluster: Cluster, expected: dict[str, str], name: str = "q") -> None:
    """Wait until a quota says that so much is used."""
    deadline = ambient.monotonic() + 600
    while (found := await used(cluster, name)) != expected:
        assert ambient.monotonic() < deadline, f"{found} is used, not {expected}"
        await ambient.sleep(0.1)


async def test_what_is_there_already_is_counted(cluster: Cluster) -> None:
    for name in ("a", "b"):
        await cluster.admin.create(pod(name))
    await cluster.admin.create(quota(hard={"pods": "5", "count/secrets": "3"}))
    await until_used(cluster, {"pods": "2", "count/secrets": "0"})
    status = (await cluster.admin.get(ResourceQuota, "q")).status
    assert {key: str(amount) for key, amount in status.hard.items()} == {"pods": "5", "count/secrets": "3"}


async def test_only_its_own_namespace_counts(cluster: Cluster) -> None:
    await cluster.until_async(lambda: cluster.admin.list(ConfigMap, namespace="kube-system"))
    here = len(await cluster.list(ConfigMap))
    await cluster.admin.create(quota(hard={"configmaps": "9"}))
    await until_used(cluster, {"configmaps": str(here)})


async def test_what_is_gone_counts_no_longer(cluster: Cluster) -> None:
    await cluster.admin.create(pod("a"))
    await cluster.admin.create(quota(hard={"pods": "1"}))
    await until_used(cluster, {"pods": "1"})
    await cluster.admin.delete(Pod, "a", grace_period=0)
    await until_used(cluster, {"pods": "0"})


async def test_what_is_made_counts_at_once(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"pods": "5"}))
    await until_used(cluster, {"pods": "0"})
    await cluster.admin.create(pod("a"))
    assert await used(cluster) == {"pods": "1"}


async def test_a_pod_that_has_ended_is_only_an_object(cluster: Cluster) -> None:
    made = await cluster.admin.create(pod("a"))
    await cluster.admin.create(quota(hard={"pods": "5", "count/pods": "5"}))
    await until_used(cluster, {"pods": "1", "count/pods": "1"})
    await cluster.finish(made)
    await until_used(cluster, {"pods": "0", "count/pods": "1"})


async def test_a_pod_that_should_be_gone_and_is_not_counts_no_longer(cluster: Cluster) -> None:
    await cluster.admin.create(pod("stuck"))
    await cluster.admin.patch(Pod, "stuck", {"metadata": {"finalizers": ["example.com/held"]}})
    await cluster.admin.create(quota(hard={"pods": "5"}))
    await until_used(cluster, {"pods": "1"})
    await cluster.admin.delete(Pod, "stuck", grace_period=0)
    await until_used(cluster, {"pods": "0"})
    assert (await cluster.admin.get(Pod, "stuck")).metadata.finalizers


async def test_new_limits_are_noted_and_counted(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"pods": "5"}))
    await until_used(cluster, {"pods": "0"})
    await cluster.admin.patch(ResourceQuota, "q", {"spec": {"hard": {"pods": "7", "services": "1"}}})
    services = len(await cluster.list(Service))
    await until_used(cluster, {"pods": "0", "services": str(services)})
    assert str((await cluster.admin.get(ResourceQuota, "q")).status.hard["pods"]) == "7"


async def test_limits_that_are_taken_away_are_no_longer_in_the_status(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"pods": "5", "secrets": "1"}))
    await until_used(cluster, {"pods": "0", "secrets": "0"})
    await cluster.admin.patch(ResourceQuota, "q", {"spec": {"hard": {"secrets": None}}})
    await until_used(cluster, {"pods": "0"})


async def test_a_status_that_somebody_else_wrote_is_put_right(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"pods": "5"}))
    await until_used(cluster, {"pods": "0"})
    await cluster.admin.patch(ResourceQuota, "q", {"status": {"used": {"pods": "4"}}}, subresource="status")
    await until_used(cluster, {"pods": "0"})


async def test_scopes_choose_what_is_counted(cluster: Cluster) -> None:
    with_deadline = pod("a")
    with_deadline.spec.active_deadline_seconds = 600
    for each in (with_deadline, pod("b"), pod("c")):
        await cluster.admin.create(each)
    await cluster.admin.create(quota("ending", hard={"pods": "5"}, scopes=["Terminating"]))
    await cluster.admin.create(quota("staying", hard={"pods": "5"}, scopes=["NotTerminating"]))
    await until_used(cluster, {"pods": "1"}, "ending")
    await until_used(cluster, {"pods": "2"}, "staying")


async def test_claims_are_counted_by_what_they_ask_for(cluster: Cluster) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await cluster.admin.create(codec.from_wire({"metadata": {"name": "c"}, "spec": spec}, PersistentVolumeClaim))
    await cluster.admin.create(quota(hard={"requests.storage": "5Gi", "persistentvolumeclaims": "2"}))
    await until_used(cluster, {"requests.storage": "1Gi", "persistentvolumeclaims": "1"})
    await cluster.admin.delete(PersistentVolumeClaim, "c")
    await until_used(cluster, {"requests.storage": "0", "persistentvolumeclaims": "0"})


async def test_custom_objects_are_counted_from_when_there_are_any(cluster: Cluster) -> None:
    name = "count/toys.example.com"
    await cluster.admin.create(quota(hard={name: "1", "pods": "1"}))
    await until_used(cluster, {"pods": "0"})
    toys = await define_toys(cluster)
    await cluster.admin.patch(ResourceQuota, "q", {"metadata": {"labels": {"look": "again"}}})
    await until_used(cluster, {name: "0", "pods": "0"})
    await cluster.admin.create(toys(metadata=ObjectMeta(name="ball")))
    with pytest.raises(Forbidden, match="exceeded quota: q"):
        await cluster.admin.create(toys(metadata=ObjectMeta(name="doll")))
    await cluster.admin.delete(toys, "ball")
    await until_used(cluster, {name: "0", "pods": "0"})


async def test_a_kind_that_is_no_longer_there_stops_nothing_else(cluster: Cluster) -> None:
    await define_toys(cluster)
    await cluster.admin.create(quota(hard={"count/toys.example.com": "1", "pods": "1"}))
    await until_used(cluster, {"count/toys.example.com": "0", "pods": "0"})
    await cluster.admin.delete(CustomResourceDefinition, "toys.example.com")
    await cluster.settled()
    await cluster.admin.create(pod("a"))
    await cluster.admin.delete(Pod, "a", grace_period=0)
    await until_used(cluster, {"count/toys.example.com": "0", "pods": "0"})


@pytest.mark.parametrize("since", ["ever", "later"])
async def test_objects_that_can_not_be_read_do_not_keep_others_from_being_counted(cluster: Cluster, since: str) -> None:
    """As with a webhook that should convert them and is down."""
    toy = await define_toys(cluster)
    await cluster.admin.create(toy(metadata=ObjectMeta(name="ball")))
    failed = APIStatus(status="Failure", code=500, reason="InternalError", message="conversion webhook failed")

    def refuse(request: Request) -> APIStatus | None:
        return failed if request.method == "GET" and request.path.endswith("/toys") else None

    if since == "ever":
        cluster.weather.refuse = refuse
    await cluster.admin.create(quota(hard={"count/toys.example.com": "9", "pods": "1"}))
    await until_used(cluster, {"pods": "0"} if since == "ever" else {"count/toys.example.com": "1", "pods": "0"})
    cluster.weather.refuse = refuse
    for name in ("a", "b"):  # for which there is room only when the one before was given back
        await cluster.admin.create(pod(name))
        await cluster.admin.delete(Pod, name, grace_period=0)
        await cluster.until_async(lambda: is_used(cluster, "pods", "0"))
    cluster.weather.clear()
    await until_used(cluster, {"count/toys.example.com": "1", "pods": "0"})


async def is_used(cluster: Cluster, name: str, amount: str) -> bool:
    return (await used(cluster)).get(name) == amount


async def test_a_replica_set_has_as_many_pods_as_there_is_room_for(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"pods": "2"}))
    await until_used(cluster, {"pods": "0"})
    await cluster.admin.create(replicaset(4))
    await until_used(cluster, {"pods": "2"})

    async def told() -> object:
        conditions = (await cluster.admin.get(ReplicaSet, "web")).status.conditions
        failures = [each.message or "" for each in conditions if each.type == "ReplicaFailure"]
        return [each for each in failures if "exceeded quota" in each]

    await cluster.until_async(told)
    assert len(await cluster.list(Pod)) == 2


async def test_room_that_is_made_is_used(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"pods": "2"}))
    await until_used(cluster, {"pods": "0"})
    await cluster.admin.create(replicaset(3))
    await until_used(cluster, {"pods": "2"})
    await cluster.admin.patch(ResourceQuota, "q", {"spec": {"hard": {"pods": "3"}}})

    async def all_there() -> bool:
        return len(await cluster.list(Pod)) == 3

    await cluster.until_async(all_there)


async def test_however_many_come_at_once_no_more_get_in_than_there_is_room_for(cluster: Cluster) -> None:
    await cluster.admin.create(quota(hard={"configmaps": "10"}))
    there = len(await cluster.list(ConfigMap))
    await until_used(cluster, {"configmaps": str(there)})
    for turn in range(5):
        made = await asyncio.gather(
            *(cluster.admin.create(config_map(f"made-{turn}-{number}")) for number in range(20)), return_exceptions=True
        )
        assert all(isinstance(each, ConfigMap | Forbidden) for each in made)
        names = [each.metadata.name for each in await cluster.list(ConfigMap)]
        assert len(names) == 10
        await until_used(cluster, {"configmaps": "10"})
        for name in [name for name in names if name.startswith("made-")][:3]:
            await cluster.admin.delete(ConfigMap, name)
        await until_used(cluster, {"configmaps": "7"})


async def define_toys(cluster: Cluster) -> type[Dynamic]:
    """A custom kind, Toy, that can be used."""
    version = {
        "name": "v1", "served": True, "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }  # fmt: skip
    names = {"plural": "toys", "singular": "toy", "kind": "Toy"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "toys.example.com"}, "spec": spec}
    await cluster.admin.create(codec.from_wire(definition, CustomResourceDefinition))

    async def served() -> object:
        return [kind for kind in await cluster.admin.discover() if kind.name == "Toy"]

    await cluster.until_async(served)
    return dynamic(Kind(group="example.com", version="v1", name="Toy", plural="toys", namespaced=True))
