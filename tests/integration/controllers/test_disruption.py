"""PodDisruptionBudgets: what is counted, what that allows, and that evictions keep to it."""

import asyncio
from typing import Any

import msgspec
import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import LABELS, deployment, pod, replicaset
from windvane import ambient
from windvane.api import codec
from windvane.client.errors import TooManyRequests
from windvane.client.transport import Request
from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.apps import DaemonSet, Deployment, ReplicaSet
from windvane.k8s.core import Event, Pod
from windvane.k8s.policy import PodDisruptionBudget


def budget(name: str = "web", **spec: Any) -> PodDisruptionBudget:
    spec = {"selector": {"matchLabels": LABELS}} | spec
    return codec.from_wire({"metadata": {"name": name}, "spec": spec}, PodDisruptionBudget)


async def the(cluster: Cluster, name: str = "web") -> PodDisruptionBudget:
    await cluster.settled()
    return await cluster.admin.get(PodDisruptionBudget, name, namespace="default")


async def counts(cluster: Cluster) -> tuple[int | None, ...]:
    """Expected, healthy, wanted, and allowed to leave."""
    status = (await the(cluster)).status
    return status.expected_pods, status.current_healthy, status.desired_healthy, status.disruptions_allowed


async def running(cluster: Cluster, replicas: int) -> list[Pod]:
    """A ReplicaSet with all its pods ready."""
    await cluster.admin.create(replicaset(replicas))
    return await ready(cluster)


async def ready(cluster: Cluster) -> list[Pod]:
    await cluster.settled()
    pods = [each for each in await cluster.list(Pod) if each.metadata.deletion_timestamp is None]
    await cluster.make_ready(*pods)
    await cluster.settled()
    return pods


@pytest.mark.parametrize(
    ("spec", "wanted", "allowed"),
    [
        ({"minAvailable": 2}, 2, 1),
        ({"minAvailable": 0}, 0, 3),
        ({"minAvailable": 5}, 5, 0),
        ({"minAvailable": "50%"}, 2, 1),
        ({"minAvailable": "100%"}, 3, 0),
        ({"maxUnavailable": 1}, 2, 1),
        ({"maxUnavailable": 0}, 3, 0),
        ({"maxUnavailable": 7}, 0, 3),
        ({"maxUnavailable": "50%"}, 1, 2),
        ({"maxUnavailable": "10%"}, 2, 1),
    ],
)
async def test_so_many_of_three_pods_may_leave(
    cluster: Cluster, spec: dict[str, Any], wanted: int, allowed: int
) -> None:
    await running(cluster, 3)
    await cluster.admin.create(budget(**spec))
    assert await counts(cluster) == (3, 3, wanted, allowed)


async def test_a_budget_that_allows_something_says_so(cluster: Cluster) -> None:
    await running(cluster, 2)
    await cluster.admin.create(budget(minAvailable=1))
    made = await the(cluster)
    [condition] = made.status.conditions
    assert (condition.type, condition.status, condition.reason) == ("DisruptionAllowed", "True", "SufficientPods")
    assert made.status.observed_generation == made.metadata.generation


async def test_a_budget_that_allows_nothing_says_so(cluster: Cluster) -> None:
    await running(cluster, 2)
    await cluster.admin.create(budget(minAvailable=2))
    [condition] = (await the(cluster)).status.conditions
    assert (condition.status, condition.reason) == ("False", "InsufficientPods")


async def test_pods_that_are_not_ready_are_expected_and_not_healthy(cluster: Cluster) -> None:
    await cluster.admin.create(replicaset(3))
    await cluster.settled()
    [one, *_] = await cluster.list(Pod)
    await cluster.make_ready(one)
    await cluster.admin.create(budget(maxUnavailable=1))
    assert await counts(cluster) == (3, 1, 2, 0)
    await ready(cluster)
    assert await counts(cluster) == (3, 3, 2, 1)


async def test_a_budget_without_pods_allows_nothing(cluster: Cluster) -> None:
    await cluster.admin.create(budget(minAvailable=0))
    assert await counts(cluster) == (0, 0, 0, 0)
    events = [each.message for each in await cluster.list(Event) if each.reason == "NoPods"]
    assert events == ["No matching pods found"]


async def test_a_budget_without_a_selector_is_about_no_pod(cluster: Cluster) -> None:
    await running(cluster, 2)
    await cluster.admin.create(budget(selector=None, minAvailable=1))
    assert await counts(cluster) == (0, 0, 1, 0)


async def test_an_empty_selector_is_about_all_pods(cluster: Cluster) -> None:
    await running(cluster, 2)
    await cluster.admin.create(budget(selector={}, minAvailable=1))
    assert await counts(cluster) == (2, 2, 1, 1)


async def test_the_deployment_says_how_many_pods_there_should_be(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(4))
    await ready(cluster)
    await cluster.admin.create(budget(maxUnavailable="25%"))
    assert await counts(cluster) == (4, 4, 3, 1)
    await cluster.admin.scale(Deployment, "web", 8)
    await ready(cluster)
    assert await counts(cluster) == (8, 8, 6, 2)


async def test_pods_that_nobody_looks_after_are_not_expected(cluster: Cluster) -> None:
    await cluster.admin.create(pod("a"))
    await cluster.admin.create(budget(maxUnavailable=1))
    assert (await counts(cluster))[0] == 0
    [event] = [each for each in await cluster.list(Event) if each.reason == "UnmanagedPods"]
    assert event.message is not None
    assert "MatchLabels:map[string]string{app: web,}" in event.message


async def test_pods_that_nobody_looks_after_count_for_a_plain_number(cluster: Cluster) -> None:
    await cluster.make_ready(await cluster.admin.create(pod("a")), await cluster.admin.create(pod("b")))
    await cluster.admin.create(budget(minAvailable=1))
    assert await counts(cluster) == (2, 2, 1, 1)


async def test_whatever_can_be_scaled_says_how_many_pods_there_should_be(cluster: Cluster) -> None:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": anything},
        "subresources": {"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
    }
    names = {"plural": "fleets", "singular": "fleet", "kind": "Fleet", "listKind": "FleetList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "fleets.example.com"}, "spec": spec}
    await cluster.admin.create(codec.from_wire(definition, CustomResourceDefinition))
    uid = await make_fleet(cluster)
    owner = {"apiVersion": "example.com/v1", "kind": "Fleet", "name": "f", "uid": uid, "controller": True}
    wire = {"metadata": {"name": "a", "labels": LABELS, "ownerReferences": [owner]}}
    wire["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    await cluster.make_ready(await cluster.admin.create(codec.from_wire(wire, Pod)))
    await cluster.admin.create(budget(maxUnavailable=1))
    assert await counts(cluster) == (5, 1, 4, 0)


async def make_fleet(cluster: Cluster) -> str:
    wire = {"apiVersion": "example.com/v1", "kind": "Fleet", "metadata": {"name": "f"}, "spec": {"size": 5}}
    path = "/apis/example.com/v1/namespaces/default/fleets"
    headers = {"Content-Type": "application/json"}
    made = await cluster.admin.calls.call(Request("POST", path, (), headers, msgspec.json.encode(wire)))
    return str(msgspec.json.decode(made)["metadata"]["uid"])


async def test_what_can_not_be_scaled_makes_the_budget_fail(cluster: Cluster) -> None:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": LABELS}, "template": template}
    made = await cluster.admin.create(codec.from_wire({"metadata": {"name": "d"}, "spec": spec}, DaemonSet))
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": made.metadata.uid, "controller": True}
    wire = {"metadata": {"name": "a", "labels": LABELS, "ownerReferences": [owner]}, "spec": template["spec"]}
    await cluster.admin.create(codec.from_wire(wire, Pod))
    await cluster.admin.create(budget(maxUnavailable=1))
    status = (await the(cluster)).status
    [condition] = status.conditions
    assert (condition.status, condition.reason) == ("False", "SyncFailed")
    assert condition.message == "daemonsets.apps does not implement the scale subresource"
    assert status.disruptions_allowed == 0


async def test_a_changed_spec_is_seen(cluster: Cluster) -> None:
    await running(cluster, 3)
    await cluster.admin.create(budget(minAvailable=3))
    assert await counts(cluster) == (3, 3, 3, 0)
    await cluster.admin.patch(PodDisruptionBudget, "web", {"spec": {"minAvailable": 1}})
    assert await counts(cluster) == (3, 3, 1, 2)


async def test_a_settled_budget_is_not_written(cluster: Cluster) -> None:
    [one, *_] = await running(cluster, 2)
    await cluster.admin.create(budget(minAvailable=1))
    before = await the(cluster)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"annotations": {"a": "b"}}})
    assert (await the(cluster)).metadata.resource_version == before.metadata.resource_version


# Evictions


async def test_no_more_pods_are_evicted_than_the_budget_allows(cluster: Cluster) -> None:
    pods = await running(cluster, 3)
    await cluster.admin.create(budget(minAvailable=2))
    assert (await counts(cluster))[-1] == 1
    await cluster.admin.evict(pods[0].metadata.name, namespace="default")
    with pytest.raises(TooManyRequests, match="disruption budget"):
        await cluster.admin.evict(pods[1].metadata.name, namespace="default")
    await ready(cluster)  # its replacement
    await cluster.admin.evict(pods[1].metadata.name, namespace="default")


async def test_evictions_at_once_do_not_exceed_the_budget(cluster: Cluster) -> None:
    pods = await running(cluster, 5)
    await cluster.admin.create(budget(minAvailable=3))
    await the(cluster)
    evictions = [cluster.admin.evict(each.metadata.name, namespace="default") for each in pods]
    answers = await asyncio.gather(*evictions, return_exceptions=True)
    assert sum(each is None for each in answers) == 2


async def test_an_evicted_pod_that_does_not_go_is_counted_again(cluster: Cluster) -> None:
    pods = await running(cluster, 2)
    await cluster.admin.create(budget(minAvailable=1))
    await the(cluster)
    noted = {pods[0].metadata.name: ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")}
    status = {"status": {"disruptedPods": noted, "disruptionsAllowed": 0}}
    await cluster.admin.patch(PodDisruptionBudget, "web", status, subresource="status")
    assert await counts(cluster) == (2, 1, 1, 0)
    await ambient.sleep(130)
    assert await counts(cluster) == (2, 2, 1, 1)
    assert (await the(cluster)).status.disrupted_pods == {}


async def test_a_pod_that_has_gone_is_not_noted_any_more(cluster: Cluster) -> None:
    pods = await running(cluster, 3)
    await cluster.admin.create(budget(minAvailable=1))
    await the(cluster)
    await cluster.admin.evict(pods[0].metadata.name, namespace="default")
    assert (await the(cluster)).status.disrupted_pods == {}
    await ready(cluster)
    assert await counts(cluster) == (3, 3, 1, 2)


async def test_a_replicaset_that_is_scaled_is_expected_to_have_more(cluster: Cluster) -> None:
    await running(cluster, 2)
    await cluster.admin.create(budget(maxUnavailable=1))
    assert (await counts(cluster))[0] == 2
    await cluster.admin.scale(ReplicaSet, "web", 3)
    assert (await counts(cluster))[0] == 3
