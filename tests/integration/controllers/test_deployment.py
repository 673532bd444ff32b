"""Deployments: rollouts, scaling, pausing, going back, and what is said of all that."""

from typing import Any

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import LABELS, deployment, replicaset, template
from windvane import ambient
from windvane.k8s.apps import Deployment, DeploymentCondition, ReplicaSet
from windvane.k8s.core import Event, Pod

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
RECREATE = {"type": "Recreate"}


def rolling(surge: int | str, unavailable: int | str) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


async def the(cluster: Cluster) -> Deployment:
    return await cluster.admin.get(Deployment, "web", namespace="default")


async def sets(cluster: Cluster) -> dict[str, ReplicaSet]:
    """The ReplicaSets by their images."""
    found = await cluster.list(ReplicaSet)
    return {each.spec.template.spec.containers[0].image or "": each for each in found if each.spec.template}


async def sizes(cluster: Cluster) -> dict[str, int | None]:
    return {image: each.spec.replicas for image, each in (await sets(cluster)).items()}


async def pods(cluster: Cluster, image: str = "") -> list[Pod]:
    found = [each for each in await cluster.list(Pod) if each.metadata.deletion_timestamp is None]
    return [each for each in found if not image or each.spec.containers[0].image == image]


async def said(cluster: Cluster, what: str) -> DeploymentCondition:
    [found] = [each for each in (await the(cluster)).status.conditions if each.type == what]
    return found


async def scaled(cluster: Cluster) -> list[str]:
    return [each.message or "" for each in await cluster.list(Event) if each.reason == "ScalingReplicaSet"]


async def all_ready(cluster: Cluster) -> None:
    """Play the node until nothing happens any more: every pod becomes ready."""
    await cluster.settled()
    for _ in range(30):
        waiting = [each for each in await pods(cluster) if each.status.phase == "Pending"]
        if not waiting:
            return
        await cluster.make_ready(*waiting)
        await cluster.settled()


async def started(cluster: Cluster, replicas: int, **spec: Any) -> None:
    await cluster.admin.create(deployment(replicas, **spec))
    await all_ready(cluster)


async def set_image(cluster: Cluster, image: str) -> None:
    await cluster.admin.patch(Deployment, "web", {"spec": {"template": template(image)}})
    await cluster.settled()


async def change(cluster: Cluster, **spec: Any) -> None:
    await cluster.admin.patch(Deployment, "web", {"spec": spec})
    await cluster.settled()


# The first rollout


async def test_it_makes_a_replicaset_of_its_template(cluster: Cluster) -> None:
    made = await cluster.admin.create(deployment(3, minReadySeconds=5))
    await cluster.settled()
    [rs] = await cluster.list(ReplicaSet)
    word = rs.metadata.labels["pod-template-hash"]
    assert rs.metadata.name == f"web-{word}"
    assert rs.spec.selector.match_labels == rs.metadata.labels == LABELS | {"pod-template-hash": word}
    assert rs.spec.template is not None
    assert rs.spec.template.metadata is not None
    assert rs.spec.template.metadata.labels == rs.metadata.labels
    assert (rs.spec.replicas, rs.spec.min_ready_seconds) == (3, 5)
    assert [each.uid for each in rs.metadata.owner_references] == [made.metadata.uid]
    assert len(await pods(cluster)) == 3


async def test_its_status_counts_what_its_replicasets_have(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(3))
    await cluster.settled()
    status = (await the(cluster)).status
    assert (status.replicas, status.updated_replicas, status.unavailable_replicas) == (3, 3, 3)
    assert (status.ready_replicas, status.available_replicas, status.terminating_replicas) == (None, None, 0)
    await all_ready(cluster)
    status = (await the(cluster)).status
    assert (status.replicas, status.updated_replicas, status.unavailable_replicas) == (3, 3, None)
    assert (status.ready_replicas, status.available_replicas, status.observed_generation) == (3, 3, 1)


async def test_its_conditions_while_it_starts_and_afterwards(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(2))
    await cluster.settled()
    [rs] = await cluster.list(ReplicaSet)
    available, progressing = await said(cluster, "Available"), await said(cluster, "Progressing")
    assert (available.status, available.reason) == ("False", "MinimumReplicasUnavailable")
    assert available.message == "Deployment does not have minimum availability."
    assert (progressing.status, progressing.reason) == ("True", "ReplicaSetUpdated")
    assert progressing.message == f'ReplicaSet "{rs.metadata.name}" is progressing.'
    await all_ready(cluster)
    available, progressing = await said(cluster, "Available"), await said(cluster, "Progressing")
    assert (available.status, available.reason) == ("True", "MinimumReplicasAvailable")
    assert (progressing.status, progressing.reason) == ("True", "NewReplicaSetAvailable")
    assert progressing.message == f'ReplicaSet "{rs.metadata.name}" has successfully progressed.'


async def test_one_without_replicas_is_complete_at_once(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(0))
    await cluster.settled()
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"
    assert await scaled(cluster) == []


async def test_an_event_says_that_it_was_scaled_up(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(3))
    await cluster.settled()
    [rs] = await cluster.list(ReplicaSet)
    assert await scaled(cluster) == [f"Scaled up replica set {rs.metadata.name} from 0 to 3"]


async def test_nothing_is_written_once_all_is_well(cluster: Cluster) -> None:
    await started(cluster, 3)
    revision = cluster.server.store.revision
    await ambient.sleep(3600)
    assert cluster.server.store.revision == revision


async def test_a_deleted_replicaset_comes_back(cluster: Cluster) -> None:
    await started(cluster, 2)
    [rs] = await cluster.list(ReplicaSet)
    await cluster.admin.delete(ReplicaSet, rs.metadata.name, propagation="Orphan")
    await cluster.settled()
    [again] = [each for each in await cluster.list(ReplicaSet) if each.metadata.deletion_timestamp is None] or [rs]
    assert again.metadata.name == rs.metadata.name


async def test_a_replicaset_that_was_scaled_by_hand_is_put_right(cluster: Cluster) -> None:
    await started(cluster, 2)
    [rs] = await cluster.list(ReplicaSet)
    await cluster.admin.scale(ReplicaSet, rs.metadata.name, 7)
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 2}
    assert len(await pods(cluster)) == 2


# Rolling updates


async def test_a_rolling_update_surges_first(cluster: Cluster) -> None:
    await started(cluster, 10, strategy=rolling("25%", "25%"))
    await set_image(cluster, "web:2")
    # 3 more at first (25 % rounded up), 2 fewer old ones (rounded down), and 2 new ones in their place.
    assert await sizes(cluster) == {"web:1": 8, "web:2": 5}


async def test_a_rolling_update_waits_for_new_pods(cluster: Cluster) -> None:
    await started(cluster, 3, strategy=rolling(1, 0))
    await set_image(cluster, "web:2")
    assert await sizes(cluster) == {"web:1": 3, "web:2": 1}
    await cluster.make_ready(*await pods(cluster, "web:2"))
    await cluster.settled()
    assert await sizes(cluster) == {"web:1": 2, "web:2": 2}


async def test_a_rolling_update_without_surge_takes_old_pods_away_first(cluster: Cluster) -> None:
    await started(cluster, 3, strategy=rolling(0, 1))
    await set_image(cluster, "web:2")
    assert await sizes(cluster) == {"web:1": 2, "web:2": 1}


async def test_a_rolling_update_ends_with_new_pods_only(cluster: Cluster) -> None:
    await started(cluster, 5)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 0, "web:2": 5}
    assert {each.spec.containers[0].image for each in await pods(cluster)} == {"web:2"}
    status = (await the(cluster)).status
    assert (status.replicas, status.updated_replicas, status.available_replicas) == (5, 5, 5)
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"


async def test_events_tell_each_step_of_a_rollout(cluster: Cluster) -> None:
    await started(cluster, 1, strategy=rolling(1, 0))
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    names = {image: each.metadata.name for image, each in (await sets(cluster)).items()}
    assert sorted(await scaled(cluster)) == sorted(
        [
            f"Scaled up replica set {names['web:1']} from 0 to 1",
            f"Scaled up replica set {names['web:2']} from 0 to 1",
            f"Scaled down replica set {names['web:1']} from 1 to 0",
        ]
    )


async def test_old_pods_that_are_not_available_go_first_in_a_rollout(cluster: Cluster) -> None:
    await started(cluster, 4, strategy=rolling(0, 1))
    await set_image(cluster, "broken")
    await set_image(cluster, "web:3")
    assert await sizes(cluster) == {"web:1": 3, "broken": 0, "web:3": 1}


async def test_a_third_template_takes_over_in_the_middle_of_a_rollout(cluster: Cluster) -> None:
    await started(cluster, 4, strategy=rolling(1, 1))
    await set_image(cluster, "web:2")
    await set_image(cluster, "web:3")
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 0, "web:2": 0, "web:3": 4}


async def test_min_ready_seconds_slow_a_rollout_down(cluster: Cluster) -> None:
    await started(cluster, 1, strategy=rolling(1, 0), minReadySeconds=60)
    await ambient.sleep(60)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 1, "web:2": 1}
    await ambient.sleep(61)
    await cluster.settled()
    assert await sizes(cluster) == {"web:1": 0, "web:2": 1}


async def test_new_min_ready_seconds_reach_the_current_replicaset(cluster: Cluster) -> None:
    await started(cluster, 1)
    await change(cluster, minReadySeconds=7)
    [rs] = await cluster.list(ReplicaSet)
    assert rs.spec.min_ready_seconds == 7


async def test_a_change_of_nothing_but_replicas_is_no_rollout(cluster: Cluster) -> None:
    await started(cluster, 2)
    await change(cluster, replicas=4)
    assert await sizes(cluster) == {"web:1": 4}


# Recreate


async def test_recreate_makes_no_new_pod_before_the_last_old_one_has_gone(cluster: Cluster) -> None:
    await started(cluster, 2, strategy=RECREATE)
    old = await pods(cluster)
    for each in old:
        await cluster.admin.patch(Pod, each.metadata.name, {"metadata": {"finalizers": ["a.io/b"]}})
    await set_image(cluster, "web:2")
    assert await sizes(cluster) == {"web:1": 0}
    for each in old:
        await cluster.admin.delete(Pod, each.metadata.name, grace_period=0)
    await cluster.admin.patch(Pod, old[0].metadata.name, {"metadata": {"finalizers": None}})
    await cluster.settled()
    assert await sizes(cluster) == {"web:1": 0}
    await cluster.admin.patch(Pod, old[1].metadata.name, {"metadata": {"finalizers": None}})
    await cluster.settled()
    assert await sizes(cluster) == {"web:1": 0, "web:2": 2}


async def test_recreate_does_not_wait_for_pods_that_have_ended(cluster: Cluster) -> None:
    await started(cluster, 1, strategy=RECREATE)
    [old] = await pods(cluster)
    await cluster.admin.patch(Pod, old.metadata.name, {"status": {"phase": "Failed"}}, subresource="status")
    await all_ready(cluster)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 0, "web:2": 1}


async def test_recreate_can_go_back(cluster: Cluster) -> None:
    await started(cluster, 2, strategy=RECREATE)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    await set_image(cluster, "web:1")
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 2, "web:2": 0}


# Scaling


async def test_scaling_is_observed_and_told(cluster: Cluster) -> None:
    await started(cluster, 2)
    await cluster.admin.scale(Deployment, "web", 5)
    await cluster.settled()
    [rs] = await cluster.list(ReplicaSet)
    assert f"Scaled up replica set {rs.metadata.name} from 2 to 5" in await scaled(cluster)
    assert rs.metadata.annotations["deployment.kubernetes.io/desired-replicas"] == "5"
    assert rs.metadata.annotations["deployment.kubernetes.io/max-replicas"] == "7"
    assert (await the(cluster)).status.observed_generation == 2


async def test_scaling_to_nothing(cluster: Cluster) -> None:
    await started(cluster, 3)
    await change(cluster, replicas=0)
    assert await pods(cluster) == []
    status = (await the(cluster)).status
    assert (status.replicas, status.available_replicas, status.observed_generation) == (None, None, 2)


async def test_scaling_in_the_middle_of_a_rollout_keeps_the_shares(cluster: Cluster) -> None:
    await started(cluster, 10, strategy=rolling(3, 2))
    await set_image(cluster, "broken")
    assert await sizes(cluster) == {"web:1": 8, "broken": 5}
    await change(cluster, replicas=15)
    # 15 + 3 pods, of which 8/13 old and 5/13 new, as in Kubernetes' own documentation.
    assert await sizes(cluster) == {"web:1": 11, "broken": 7}


# Pausing


async def test_a_paused_deployment_does_not_roll_out(cluster: Cluster) -> None:
    await started(cluster, 2)
    await change(cluster, paused=True)
    paused = await said(cluster, "Progressing")
    assert (paused.status, paused.reason, paused.message) == ("Unknown", "DeploymentPaused", "Deployment is paused")
    await set_image(cluster, "web:2")
    assert await sizes(cluster) == {"web:1": 2}
    assert (await the(cluster)).status.updated_replicas is None


async def test_a_resumed_deployment_rolls_out_what_it_missed(cluster: Cluster) -> None:
    await started(cluster, 2)
    await change(cluster, paused=True)
    await set_image(cluster, "web:2")
    await change(cluster, paused=False)
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:1": 0, "web:2": 2}
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"


async def test_a_paused_deployment_can_be_scaled(cluster: Cluster) -> None:
    await started(cluster, 2)
    await change(cluster, paused=True, replicas=4)
    assert await sizes(cluster) == {"web:1": 4}


async def test_a_deployment_that_is_paused_from_the_start_makes_nothing(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(2, paused=True))
    await cluster.settled()
    assert await cluster.list(ReplicaSet) == []
    assert (await the(cluster)).status.observed_generation == 1


async def test_the_time_in_which_it_was_paused_does_not_count_against_the_deadline(cluster: Cluster) -> None:
    await cluster.admin.create(deployment(1, progressDeadlineSeconds=30))
    await cluster.settled()
    await change(cluster, paused=True)
    await ambient.sleep(300)
    await change(cluster, paused=False)
    resumed = await said(cluster, "Progressing")
    assert (resumed.status, resumed.reason) == ("Unknown", "DeploymentResumed")
    await ambient.sleep(32)
    assert (await said(cluster, "Progressing")).reason == "ProgressDeadlineExceeded"


# Revisions


async def test_revisions_are_numbered(cluster: Cluster) -> None:
    await started(cluster, 1)
    assert (await the(cluster)).metadata.annotations[REVISION] == "1"
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    assert (await the(cluster)).metadata.annotations[REVISION] == "2"
    numbers = {image: each.metadata.annotations[REVISION] for image, each in (await sets(cluster)).items()}
    assert numbers == {"web:1": "1", "web:2": "2"}


async def test_going_back_finds_the_old_replicaset_and_gives_it_the_next_number(cluster: Cluster) -> None:
    await started(cluster, 2)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    await set_image(cluster, "web:1")
    await all_ready(cluster)
    found = await sets(cluster)
    assert await sizes(cluster) == {"web:1": 2, "web:2": 0}
    assert found["web:1"].metadata.annotations[REVISION] == "3"
    assert found["web:1"].metadata.annotations[HISTORY] == "1"
    assert (await the(cluster)).metadata.annotations[REVISION] == "3"
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"


async def test_annotations_of_the_deployment_reach_the_current_replicaset(cluster: Cluster) -> None:
    await started(cluster, 1)
    cause = {"kubernetes.io/change-cause": "because"}
    await cluster.admin.patch(Deployment, "web", {"metadata": {"annotations": cause}})
    await cluster.settled()
    [rs] = await cluster.list(ReplicaSet)
    assert rs.metadata.annotations["kubernetes.io/change-cause"] == "because"


async def test_what_kubectl_applied_last_is_not_copied(cluster: Cluster) -> None:
    made = deployment(1)
    made.metadata.annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}
    await cluster.admin.create(made)
    await cluster.settled()
    [rs] = await cluster.list(ReplicaSet)
    assert rs.metadata.annotations.keys() & made.metadata.annotations.keys() == {"a"}


async def test_only_so_many_old_replicasets_are_kept(cluster: Cluster) -> None:
    await started(cluster, 1, revisionHistoryLimit=2)
    for number in range(2, 6):
        await set_image(cluster, f"web:{number}")
        await all_ready(cluster)
    assert await sizes(cluster) == {"web:3": 0, "web:4": 0, "web:5": 1}


async def test_no_old_replicaset_is_kept_if_none_should_be(cluster: Cluster) -> None:
    await started(cluster, 1, revisionHistoryLimit=0)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    assert await sizes(cluster) == {"web:2": 1}


# Progress


async def test_a_rollout_that_gets_nowhere_is_told_after_its_deadline(cluster: Cluster) -> None:
    await started(cluster, 2, progressDeadlineSeconds=60)
    await set_image(cluster, "broken")
    await ambient.sleep(50)
    assert (await said(cluster, "Progressing")).status == "True"
    await ambient.sleep(15)
    progressing = await said(cluster, "Progressing")
    name = (await sets(cluster))["broken"].metadata.name
    assert (progressing.status, progressing.reason) == ("False", "ProgressDeadlineExceeded")
    assert progressing.message == f'ReplicaSet "{name}" has timed out progressing.'


async def test_each_step_forward_gives_a_rollout_more_time(cluster: Cluster) -> None:
    await started(cluster, 2, progressDeadlineSeconds=60, strategy=rolling(1, 0))
    await set_image(cluster, "web:2")
    await ambient.sleep(50)
    await cluster.make_ready(*await pods(cluster, "web:2"))
    await ambient.sleep(50)
    assert (await said(cluster, "Progressing")).status == "True"
    await ambient.sleep(15)
    assert (await said(cluster, "Progressing")).reason == "ProgressDeadlineExceeded"


async def test_a_rollout_that_timed_out_and_succeeds_after_all_says_so(cluster: Cluster) -> None:
    await started(cluster, 1, progressDeadlineSeconds=60)
    await set_image(cluster, "web:2")
    await ambient.sleep(100)
    await all_ready(cluster)
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"


async def test_a_pod_that_fails_after_the_rollout_is_no_lack_of_progress(cluster: Cluster) -> None:
    await started(cluster, 1, progressDeadlineSeconds=10)
    [one] = await pods(cluster)
    unready = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    await cluster.admin.patch(Pod, one.metadata.name, unready, subresource="status")
    await ambient.sleep(100)
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"
    assert (await said(cluster, "Available")).status == "False"


async def test_what_a_replicaset_can_not_do_is_said_of_the_deployment(cluster: Cluster) -> None:
    bad = template()
    bad["spec"]["priorityClassName"] = "none-such"
    await cluster.admin.create(deployment(1, template=bad))
    await cluster.settled()
    failure = await said(cluster, "ReplicaFailure")
    assert (failure.status, failure.reason) == ("True", "FailedCreate")
    assert "none-such" in (failure.message or "")
    await set_image(cluster, "web:1")
    await change(cluster, template={"spec": {"priorityClassName": None}})
    await all_ready(cluster)
    assert not [each for each in (await the(cluster)).status.conditions if each.type == "ReplicaFailure"]


# Whose ReplicaSets are whose


async def test_a_replicaset_that_matches_and_that_nobody_owns_is_adopted(cluster: Cluster) -> None:
    stray = replicaset(1)
    stray.metadata.name, stray.metadata.labels = "stray", LABELS
    await cluster.admin.create(stray)
    made = await cluster.admin.create(deployment(2))
    await all_ready(cluster)
    [adopted] = await cluster.list(ReplicaSet)
    assert (adopted.metadata.name, adopted.spec.replicas) == ("stray", 2)
    assert [each.uid for each in adopted.metadata.owner_references] == [made.metadata.uid]
    assert (await said(cluster, "Progressing")).reason == "NewReplicaSetAvailable"


async def test_an_adopted_replicaset_of_another_template_is_rolled_over(cluster: Cluster) -> None:
    stray = replicaset(1, template=template("old"))
    stray.metadata.name, stray.metadata.labels = "stray", LABELS
    await cluster.admin.create(stray)
    await cluster.admin.create(deployment(2))
    await all_ready(cluster)
    assert await sizes(cluster) == {"old": 0, "web:1": 2}


async def test_a_replicaset_whose_labels_no_longer_match_is_released(cluster: Cluster) -> None:
    await started(cluster, 1)
    [rs] = await cluster.list(ReplicaSet)
    await cluster.admin.patch(ReplicaSet, rs.metadata.name, {"metadata": {"labels": {"app": "other"}}})
    await cluster.settled()
    released = await cluster.admin.get(ReplicaSet, rs.metadata.name, namespace="default")
    assert released.metadata.owner_references == []


async def test_a_name_that_is_taken_makes_it_choose_another_hash(cluster: Cluster) -> None:
    await started(cluster, 1)
    [first] = await cluster.list(ReplicaSet)
    await cluster.admin.patch(ReplicaSet, first.metadata.name, {"metadata": {"labels": {"app": "other"}}})
    await all_ready(cluster)
    assert (await the(cluster)).status.collision_count == 1
    [second] = [each for each in await cluster.list(ReplicaSet) if each.metadata.name != first.metadata.name]
    assert second.spec.replicas == 1


async def test_two_deployments_of_one_template_have_a_replicaset_each(cluster: Cluster) -> None:
    await started(cluster, 1)
    second = deployment(1)
    second.metadata.name = "again"
    await cluster.admin.create(second)
    await all_ready(cluster)
    assert sorted(each.metadata.name.split("-")[0] for each in await cluster.list(ReplicaSet)) == ["again", "web"]


async def test_one_that_is_being_deleted_does_nothing_more(cluster: Cluster) -> None:
    await started(cluster, 1)
    await cluster.admin.patch(Deployment, "web", {"metadata": {"finalizers": ["a.io/b"]}})
    await cluster.admin.delete(Deployment, "web", propagation="Orphan")
    await set_image(cluster, "web:2")
    assert await sizes(cluster) == {"web:1": 1}
    assert (await the(cluster)).status.observed_generation == (await the(cluster)).metadata.generation
