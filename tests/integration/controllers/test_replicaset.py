"""ReplicaSets and ReplicationControllers: counting, adopting, releasing, and what they say of it."""

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import LABELS, pod, replicaset, replicationcontroller, template
from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.k8s.apps import ReplicaSet
from windvane.k8s.core import ConfigMap, Event, Pod, ReplicationController


async def pods(cluster: Cluster) -> list[Pod]:
    return [each for each in await cluster.list(Pod) if each.metadata.deletion_timestamp is None]


async def the(cluster: Cluster) -> ReplicaSet:
    return await cluster.admin.get(ReplicaSet, "web", namespace="default")


async def events(cluster: Cluster, reason: str) -> list[str]:
    return [each.message or "" for each in await cluster.list(Event) if each.reason == reason]


async def started(cluster: Cluster, replicas: int, **spec: object) -> list[Pod]:
    """A ReplicaSet whose pods are all ready."""
    await cluster.admin.create(replicaset(replicas, **spec))
    await cluster.settled()
    await cluster.make_ready(*await pods(cluster))
    await cluster.settled()
    return await pods(cluster)


async def test_there_are_as_many_pods_as_asked_for(cluster: Cluster) -> None:
    await cluster.admin.create(replicaset(5))
    await cluster.settled()
    assert len(await pods(cluster)) == 5


async def test_its_pods_are_as_the_template_says_and_are_owned_by_it(cluster: Cluster) -> None:
    made = await cluster.admin.create(replicaset(1))
    await cluster.settled()
    [only] = await pods(cluster)
    assert only.metadata.name.startswith("web-")
    assert only.metadata.generate_name == "web-"
    assert only.metadata.labels == LABELS
    assert only.spec.containers[0].image == "web:1"
    [owner] = only.metadata.owner_references
    assert (owner.kind, owner.uid, owner.controller, owner.block_owner_deletion) == (
        "ReplicaSet", made.metadata.uid, True, True,
    )  # fmt: skip


async def test_a_deleted_pod_is_replaced(cluster: Cluster) -> None:
    [one, *_] = await started(cluster, 3)
    await cluster.admin.delete(Pod, one.metadata.name, grace_period=0)
    await cluster.settled()
    left = await pods(cluster)
    assert len(left) == 3
    assert one.metadata.name not in [each.metadata.name for each in left]


async def test_a_pod_that_is_being_deleted_is_replaced_at_once(cluster: Cluster) -> None:
    [one] = await started(cluster, 1)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"finalizers": ["a.io/b"]}})
    await cluster.admin.delete(Pod, one.metadata.name, grace_period=0)
    await cluster.settled()
    assert len(await pods(cluster)) == 1
    assert len(await cluster.list(Pod)) == 2
    assert (await the(cluster)).status.terminating_replicas == 1


async def test_a_finished_pod_is_replaced_and_kept(cluster: Cluster) -> None:
    [one] = await started(cluster, 1)
    await cluster.admin.patch(Pod, one.metadata.name, {"status": {"phase": "Failed"}}, subresource="status")
    await cluster.settled()
    assert len(await cluster.list(Pod)) == 2
    assert (await the(cluster)).status.replicas == 1


async def test_scaling_up_keeps_the_pods_that_are_there(cluster: Cluster) -> None:
    before = {each.metadata.name for each in await started(cluster, 2)}
    await cluster.admin.scale(ReplicaSet, "web", 4)
    await cluster.settled()
    after = {each.metadata.name for each in await pods(cluster)}
    assert len(after) == 4
    assert before < after


async def test_scaling_to_nothing_deletes_all(cluster: Cluster) -> None:
    await started(cluster, 3)
    await cluster.admin.scale(ReplicaSet, "web", 0)
    await cluster.settled()
    assert await pods(cluster) == []
    assert (await the(cluster)).status.replicas == 0


async def test_scaling_down_deletes_what_is_not_ready_first(cluster: Cluster) -> None:
    await cluster.admin.create(replicaset(3))
    await cluster.settled()
    ready, *others = await pods(cluster)
    await cluster.make_ready(ready)
    await cluster.admin.scale(ReplicaSet, "web", 1)
    await cluster.settled()
    assert [each.metadata.name for each in await pods(cluster)] == [ready.metadata.name]
    assert len(others) == 2


async def test_scaling_down_spares_a_pod_with_a_high_deletion_cost(cluster: Cluster) -> None:
    dear, *_ = await started(cluster, 3)
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "100"}}}
    await cluster.admin.patch(Pod, dear.metadata.name, cost)
    await cluster.admin.scale(ReplicaSet, "web", 1)
    await cluster.settled()
    assert [each.metadata.name for each in await pods(cluster)] == [dear.metadata.name]


async def test_an_orphan_that_matches_is_adopted_and_counted(cluster: Cluster) -> None:
    await cluster.admin.create(pod("stray"))
    made = await cluster.admin.create(replicaset(2))
    await cluster.settled()
    there = await pods(cluster)
    assert len(there) == 2
    [stray] = [each for each in there if each.metadata.name == "stray"]
    assert [each.uid for each in stray.metadata.owner_references] == [made.metadata.uid]


async def test_an_orphan_that_comes_later_is_adopted_and_one_too_many_goes(cluster: Cluster) -> None:
    await started(cluster, 1)
    await cluster.admin.create(pod("stray"))
    await cluster.settled()
    [left] = await pods(cluster)
    assert left.metadata.name != "stray"  # it is not ready, so it is the one that goes


async def test_an_orphan_that_does_not_match_is_left_alone(cluster: Cluster) -> None:
    await cluster.admin.create(pod("other", {"app": "other"}))
    await cluster.admin.create(replicaset(1))
    await cluster.settled()
    assert len(await pods(cluster)) == 2
    other = await cluster.admin.get(Pod, "other", namespace="default")
    assert other.metadata.owner_references == []


async def test_a_pod_of_somebody_else_is_not_adopted(cluster: Cluster) -> None:
    await started(cluster, 1)
    second = replicaset(1)
    second.metadata.name = "again"
    await cluster.admin.create(second)
    await cluster.settled()
    assert sorted(each.metadata.generate_name for each in await pods(cluster)) == ["again-", "web-"]


async def test_a_pod_whose_labels_no_longer_match_is_released_and_replaced(cluster: Cluster) -> None:
    [one] = await started(cluster, 1)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"labels": {"app": "quarantine"}}})
    await cluster.settled()
    released = await cluster.admin.get(Pod, one.metadata.name, namespace="default")
    assert released.metadata.owner_references == []
    assert len(await pods(cluster)) == 2
    assert (await the(cluster)).status.replicas == 1


async def test_a_released_pod_whose_labels_match_again_is_adopted_again(cluster: Cluster) -> None:
    [one] = await started(cluster, 1)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"labels": {"app": "quarantine"}}})
    await cluster.settled()
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"labels": LABELS}})
    await cluster.settled()
    [left] = await pods(cluster)
    assert left.metadata.name == one.metadata.name  # it is ready, the one that replaced it is not


async def test_owners_other_than_the_controller_stay_when_a_pod_is_released(cluster: Cluster) -> None:
    [one] = await started(cluster, 1)
    other = await cluster.admin.create(ConfigMap(metadata=ObjectMeta(name="x")))
    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": other.metadata.uid}
    await cluster.admin.patch(
        Pod, one.metadata.name, {"metadata": {"ownerReferences": [second], "labels": {"app": "x"}}}, type="strategic"
    )
    await cluster.settled()
    released = await cluster.admin.get(Pod, one.metadata.name, namespace="default")
    assert [each.kind for each in released.metadata.owner_references] == ["ConfigMap"]


async def test_one_that_is_being_deleted_adopts_and_makes_nothing(cluster: Cluster) -> None:
    await started(cluster, 1)
    await cluster.admin.patch(ReplicaSet, "web", {"metadata": {"finalizers": ["a.io/b"]}})
    await cluster.admin.delete(ReplicaSet, "web", propagation="Orphan")
    await cluster.admin.scale(ReplicaSet, "web", 3)
    await cluster.admin.create(pod("stray"))
    await cluster.settled()
    stray = await cluster.admin.get(Pod, "stray", namespace="default")
    assert stray.metadata.owner_references == []
    assert len(await pods(cluster)) == 2


async def test_its_status_counts_pods_and_those_that_are_ready(cluster: Cluster) -> None:
    await cluster.admin.create(replicaset(3))
    await cluster.settled()
    await cluster.make_ready(*(await pods(cluster))[:2])
    await cluster.settled()
    status = (await the(cluster)).status
    assert (status.replicas, status.ready_replicas, status.available_replicas) == (3, 2, 2)
    assert (status.fully_labeled_replicas, status.terminating_replicas) == (3, 0)
    assert status.observed_generation == 1


async def test_a_count_of_nothing_is_said(cluster: Cluster) -> None:
    await cluster.admin.create(replicaset(0))
    await cluster.settled()
    status = (await the(cluster)).status
    assert (status.replicas, status.observed_generation, status.terminating_replicas) == (0, 1, 0)


async def test_a_pod_that_lacks_a_label_of_the_template_is_not_fully_labeled(cluster: Cluster) -> None:
    await cluster.admin.create(pod("stray"))
    await cluster.admin.create(replicaset(2, template=template(labels=LABELS | {"tier": "front"})))
    await cluster.settled()
    status = (await the(cluster)).status
    assert (status.replicas, status.fully_labeled_replicas) == (2, 1)


async def test_a_pod_is_available_only_after_min_ready_seconds(cluster: Cluster) -> None:
    await started(cluster, 1, minReadySeconds=30)
    status = (await the(cluster)).status
    assert (status.ready_replicas, status.available_replicas) == (1, None)
    await ambient.sleep(30)
    assert (await the(cluster)).status.available_replicas == 1


async def test_a_change_of_replicas_is_observed(cluster: Cluster) -> None:
    await started(cluster, 1)
    await cluster.admin.scale(ReplicaSet, "web", 2)
    await cluster.settled()
    found = await the(cluster)
    assert found.status.observed_generation == found.metadata.generation == 2


async def test_events_name_the_pods_that_were_made_and_deleted(cluster: Cluster) -> None:
    [one] = await started(cluster, 1)
    await cluster.admin.scale(ReplicaSet, "web", 0)
    await cluster.settled()
    assert await events(cluster, "SuccessfulCreate") == [f"Created pod: {one.metadata.name}"]
    assert await events(cluster, "SuccessfulDelete") == [f"Deleted pod: {one.metadata.name}"]


async def refused(cluster: Cluster, count: int) -> None:
    """A ReplicaSet whose pods the server does not take."""
    bad = template()
    bad["spec"]["priorityClassName"] = "none-such"
    await cluster.admin.create(replicaset(count, template=bad))
    await cluster.settled()


async def test_pods_that_the_server_refuses_are_a_condition_and_an_event(cluster: Cluster) -> None:
    await refused(cluster, 4)
    [failure] = (await the(cluster)).status.conditions
    assert (failure.type, failure.status, failure.reason) == ("ReplicaFailure", "True", "FailedCreate")
    assert "none-such" in (failure.message or "")
    assert f"Error creating: {failure.message}" in await events(cluster, "FailedCreate")


async def test_a_refusal_is_told_in_the_words_of_kubernetes_alone(cluster: Cluster) -> None:
    await refused(cluster, 1)
    assert {each.reason for each in await cluster.list(Event)} == {"FailedCreate"}


async def test_the_failure_goes_when_pods_can_be_made_again(cluster: Cluster) -> None:
    await refused(cluster, 2)
    spec = {"spec": {"template": {"spec": {"priorityClassName": None, "priority": None}}}}
    await cluster.admin.patch(ReplicaSet, "web", spec)
    await ambient.sleep(10)
    await cluster.settled()
    assert len(await pods(cluster)) == 2
    assert (await the(cluster)).status.conditions == []


async def test_nothing_is_written_once_all_is_well(cluster: Cluster) -> None:
    await started(cluster, 3)
    revision = cluster.server.store.revision
    await ambient.sleep(3600)
    assert cluster.server.store.revision == revision


async def test_eight_hundred_pods_are_made(cluster: Cluster) -> None:
    await cluster.admin.create(replicaset(800))
    await cluster.settled()
    assert (await the(cluster)).status.replicas == 800


@pytest.mark.parametrize("count", [1, 4])
async def test_a_replicationcontroller_keeps_its_pods_too(cluster: Cluster, count: int) -> None:
    await cluster.admin.create(replicationcontroller(count))
    await cluster.settled()
    there = await pods(cluster)
    await cluster.make_ready(*there)
    await cluster.settled()
    status = (await cluster.admin.get(ReplicationController, "web", namespace="default")).status
    assert (len(there), status.replicas, status.ready_replicas, status.available_replicas) == (count,) * 4
    assert there[0].metadata.owner_references[0].kind == "ReplicationController"


async def test_a_replicationcontroller_says_what_failed(cluster: Cluster) -> None:
    bad = template()
    bad["spec"]["priorityClassName"] = "none-such"
    await cluster.admin.create(replicationcontroller(1, template=bad))
    await cluster.settled()
    [failure] = (await cluster.admin.get(ReplicationController, "web", namespace="default")).status.conditions
    assert (failure.type, failure.reason) == ("ReplicaFailure", "FailedCreate")


async def test_a_replicationcontroller_releases_what_no_longer_matches(cluster: Cluster) -> None:
    await cluster.admin.create(replicationcontroller(1))
    await cluster.settled()
    [one] = await pods(cluster)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"labels": {"app": "quarantine"}}})
    await cluster.settled()
    released = await cluster.admin.get(Pod, one.metadata.name, namespace="default")
    assert released.metadata.owner_references == []
    assert len(await pods(cluster)) == 2
