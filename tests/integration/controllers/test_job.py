"""Jobs: how many pods run and when, how they are counted, and how a Job ends."""

from datetime import timedelta
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import job, pod
from windvane import ambient
from windvane.cluster.controllers.job.pods import TRACKING
from windvane.k8s.batch import Job
from windvane.k8s.core import Event, Namespace, Pod

ON_A_NODE = {"nodeName": "node-1"}
"""Of pods that take time to be deleted: only their node knows when they have ended."""


async def pods(cluster: Cluster) -> list[Pod]:
    return [each for each in await cluster.list(Pod) if each.metadata.deletion_timestamp is None]


async def active(cluster: Cluster) -> list[Pod]:
    return [each for each in await pods(cluster) if each.status.phase not in ("Succeeded", "Failed")]


async def the(cluster: Cluster) -> Job:
    return await cluster.admin.get(Job, "work", namespace="default")


async def started(cluster: Cluster, **spec: Any) -> list[Pod]:
    await cluster.admin.create(job(**spec))
    await cluster.settled()
    return await active(cluster)


async def finish(cluster: Cluster, *which: Pod, code: int = 0, conditions: tuple[str, ...] = ()) -> None:
    await cluster.finish(*which, code=code, conditions=conditions)
    await cluster.settled()


async def fail_all(cluster: Cluster, times: int) -> None:
    """Let the pods fail that often, waiting for new ones in between."""
    for _ in range(times):
        await cluster.until_async(lambda: active(cluster))
        await finish(cluster, *await active(cluster), code=1)


async def change(cluster: Cluster, **spec: Any) -> None:
    await cluster.admin.patch(Job, "work", {"spec": spec})
    await cluster.settled()


async def remove(cluster: Cluster, which: Pod, grace_period: int | None = None) -> None:
    await cluster.admin.delete(Pod, which.metadata.name, grace_period=grace_period)
    await cluster.settled()


async def conditions(cluster: Cluster) -> dict[str, tuple[str, str | None, str | None]]:
    return {each.type: (each.status, each.reason, each.message) for each in (await the(cluster)).status.conditions}


async def events(cluster: Cluster) -> list[tuple[str | None, str | None]]:
    await cluster.settled()
    about = [each for each in await cluster.list(Event) if each.involved_object.kind == "Job"]
    return [(each.reason, each.message) for each in about]


# How many pods


async def test_a_job_that_says_nothing_else_runs_one_pod(cluster: Cluster) -> None:
    [only] = await started(cluster)
    assert only.metadata.generate_name == "work-"
    assert TRACKING in only.metadata.finalizers
    [owner] = only.metadata.owner_references
    assert (owner.kind, owner.name, owner.controller) == ("Job", "work", True)
    status = (await the(cluster)).status
    assert (status.active, status.ready, status.terminating) == (1, 0, 0)
    assert status.start_time is not None


async def test_its_end_is_written_down_in_two_conditions(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await finish(cluster, only)
    status = (await the(cluster)).status
    assert (status.succeeded, status.active, status.failed) == (1, None, None)
    assert [each.type for each in status.conditions] == ["SuccessCriteriaMet", "Complete"]
    reached = ("True", "CompletionsReached", "Reached expected number of succeeded pods")
    assert set((await conditions(cluster)).values()) == {reached}
    assert status.completion_time == status.conditions[-1].last_transition_time
    assert ("Completed", "Job completed") in await events(cluster)


async def test_its_pods_stay_and_are_held_no_longer(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await finish(cluster, only)
    [left] = await pods(cluster)
    assert left.metadata.finalizers == []
    assert (await the(cluster)).status.uncounted_terminated_pods is not None
    assert (await the(cluster)).status.uncounted_terminated_pods.succeeded == []  # type: ignore[union-attr]


async def test_no_more_pods_run_at_once_than_parallelism_says(cluster: Cluster) -> None:
    await started(cluster, completions=5, parallelism=2)
    seen = 0
    while running := await active(cluster):
        assert len(running) <= 2
        seen += len(running)
        await finish(cluster, *running)
    assert seen == 5
    assert (await the(cluster)).status.succeeded == 5


async def test_no_more_pods_are_made_than_are_needed(cluster: Cluster) -> None:
    running = await started(cluster, completions=3, parallelism=10)
    assert len(running) == 3
    await finish(cluster, running[0])
    assert len(await active(cluster)) == 2


async def test_more_parallelism_makes_more_pods_at_once(cluster: Cluster) -> None:
    before = await started(cluster, completions=5, parallelism=1)
    await change(cluster, parallelism=3)
    after = await active(cluster)
    assert len(after) == 3
    assert before[0].metadata.name in [each.metadata.name for each in after]


async def test_less_parallelism_removes_pods_which_are_not_failures(cluster: Cluster) -> None:
    await started(cluster, completions=5, parallelism=4)
    await change(cluster, parallelism=1)
    assert len(await active(cluster)) == 1
    assert (await the(cluster)).status.failed is None


async def test_parallelism_of_nothing_makes_a_job_wait(cluster: Cluster) -> None:
    assert await started(cluster, parallelism=0) == []
    assert await conditions(cluster) == {}


async def test_a_job_of_no_completions_is_complete_at_once(cluster: Cluster) -> None:
    assert await started(cluster, completions=0) == []
    assert "Complete" in await conditions(cluster)


async def test_without_a_number_one_success_ends_the_job_when_the_others_have_ended(cluster: Cluster) -> None:
    one, two, three = await started(cluster, parallelism=3)
    await finish(cluster, one)
    assert len(await active(cluster)) == 2
    assert "Complete" not in await conditions(cluster)
    await finish(cluster, two)
    await finish(cluster, three, code=1)
    assert "Complete" in await conditions(cluster)
    status = (await the(cluster)).status
    assert (status.succeeded, status.failed) == (2, 1)


async def test_a_hundred_pods_are_made_and_counted(cluster: Cluster) -> None:
    running = await started(cluster, completions=100, parallelism=100)
    assert len(running) == 100
    await finish(cluster, *running)
    assert (await the(cluster)).status.succeeded == 100


async def test_ready_pods_are_counted(cluster: Cluster) -> None:
    one, _ = await started(cluster, parallelism=2)
    await cluster.make_ready(one)
    await cluster.settled()
    status = (await the(cluster)).status
    assert (status.active, status.ready) == (2, 1)


async def test_each_pod_that_is_made_is_told_of(cluster: Cluster) -> None:
    [only] = await started(cluster)
    assert ("SuccessfulCreate", f"Created pod: {only.metadata.name}") in await events(cluster)


async def test_a_job_that_somebody_else_manages_is_left_alone(cluster: Cluster) -> None:
    assert await started(cluster, managedBy="example.com/queue") == []
    assert (await the(cluster)).status.start_time is None


# Failures


async def test_a_failed_pod_is_replaced_after_ten_seconds(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await finish(cluster, only, code=1)
    assert await active(cluster) == []
    status = (await the(cluster)).status
    assert (status.failed, status.active) == (1, None)
    await ambient.sleep(10)
    assert len(await active(cluster)) == 1


@pytest.mark.parametrize(("failures", "seconds"), [(2, 20), (3, 40), (4, 80), (8, 600)])
async def test_each_failure_doubles_the_time_up_to_ten_minutes(cluster: Cluster, failures: int, seconds: int) -> None:
    await started(cluster, backoffLimit=20)
    await fail_all(cluster, failures)
    await ambient.sleep(seconds - 3)
    assert await active(cluster) == []
    await ambient.sleep(5)
    assert len(await active(cluster)) == 1


async def test_a_success_makes_up_for_the_failures_before(cluster: Cluster) -> None:
    await started(cluster, backoffLimit=20, completions=3)
    await fail_all(cluster, 3)
    await cluster.until_async(lambda: active(cluster))
    await finish(cluster, *await active(cluster))
    assert len(await active(cluster)) == 1
    await finish(cluster, *await active(cluster), code=1)
    await ambient.sleep(10)
    assert len(await active(cluster)) == 1


async def test_the_time_to_wait_survives_a_restart_of_the_controller(cluster: Cluster) -> None:
    await started(cluster, backoffLimit=20)
    await fail_all(cluster, 4)
    await cluster.restart_controllers()
    await ambient.sleep(60)
    assert await active(cluster) == []
    await ambient.sleep(20)
    assert len(await active(cluster)) == 1


async def test_more_failures_than_the_limit_end_the_job(cluster: Cluster) -> None:
    await started(cluster, backoffLimit=2)
    await fail_all(cluster, 3)
    said = ("True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    assert await conditions(cluster) == {"FailureTarget": said, "Failed": said}
    status = (await the(cluster)).status
    assert (status.failed, status.completion_time) == (3, None)
    await ambient.sleep(3600)
    assert len(await cluster.list(Pod)) == 3
    assert said[1:] in await events(cluster)


async def test_a_failed_job_stops_what_still_runs(cluster: Cluster) -> None:
    one, _two = await started(cluster, backoffLimit=0, parallelism=2, completions=2)
    await finish(cluster, one, code=1)
    assert [each.metadata.name for each in await cluster.list(Pod)] == [one.metadata.name]
    status = (await the(cluster)).status
    assert (status.failed, status.active, status.terminating) == (2, None, 0)


async def test_a_job_is_not_finished_before_its_last_pod_has_ended(cluster: Cluster) -> None:
    one, two = await started(cluster, backoffLimit=0, parallelism=2, completions=2, pod=ON_A_NODE)
    await finish(cluster, one, code=1)
    assert "Failed" not in await conditions(cluster)
    assert "FailureTarget" in await conditions(cluster)
    assert (await the(cluster)).status.terminating == 1
    await remove(cluster, two, grace_period=0)
    assert "Failed" in await conditions(cluster)
    assert (await the(cluster)).status.terminating == 0


async def test_restarts_of_containers_count_towards_the_limit(cluster: Cluster) -> None:
    [only] = await started(cluster, backoffLimit=3, restartPolicy="OnFailure")
    for restarts in (2, 3):
        assert "FailureTarget" not in await conditions(cluster)
        container = {"name": "web", "image": "web:1", "imageID": "", "ready": False, "restartCount": restarts}
        status = {"phase": "Running", "containerStatuses": [container]}
        await cluster.admin.patch(Pod, only.metadata.name, {"status": status}, subresource="status")
        await cluster.settled()
    assert (await conditions(cluster))["Failed"][1] == "BackoffLimitExceeded"


async def test_a_pod_that_somebody_deletes_counts_as_failed(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await remove(cluster, only)
    assert (await the(cluster)).status.failed == 1
    assert await cluster.list(Pod) == []
    await ambient.sleep(10)
    assert len(await active(cluster)) == 1


async def test_a_pod_that_succeeded_counts_even_if_it_is_deleted_at_once(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await cluster.finish(only)
    await remove(cluster, only)
    status = (await the(cluster)).status
    assert (status.succeeded, status.failed) == (1, None)
    assert await cluster.list(Pod) == []


async def test_a_pod_that_is_being_deleted_is_replaced_at_once_if_nothing_else_is_said(cluster: Cluster) -> None:
    [only] = await started(cluster, pod=ON_A_NODE)
    await remove(cluster, only)
    await ambient.sleep(10)
    assert len(await active(cluster)) == 1
    status = (await the(cluster)).status
    assert (status.active, status.terminating, status.failed) == (1, 1, 1)


async def test_a_pod_that_is_being_deleted_is_replaced_when_it_has_ended_if_that_is_asked_for(cluster: Cluster) -> None:
    await cluster.have_node(ON_A_NODE["nodeName"])
    [only] = await started(cluster, podReplacementPolicy="Failed", pod=ON_A_NODE)
    await remove(cluster, only)
    await ambient.sleep(60)
    assert await active(cluster) == []
    status = (await the(cluster)).status
    assert (status.active, status.terminating, status.failed) == (None, 1, None)
    await finish(cluster, only, code=143)
    await ambient.sleep(10)
    assert len(await active(cluster)) == 1
    assert (await the(cluster)).status.failed == 1


# The deadline


async def test_a_job_that_takes_too_long_fails(cluster: Cluster) -> None:
    await started(cluster, activeDeadlineSeconds=60)
    await ambient.sleep(50)
    assert await conditions(cluster) == {}
    await ambient.sleep(10)
    await cluster.settled()
    said = ("True", "DeadlineExceeded", "Job was active longer than specified deadline")
    assert await conditions(cluster) == {"FailureTarget": said, "Failed": said}
    assert await cluster.list(Pod) == []
    assert said[1:] in await events(cluster)


async def test_a_deadline_that_is_added_later_counts_from_the_start(cluster: Cluster) -> None:
    await started(cluster)
    await ambient.sleep(100)
    await change(cluster, activeDeadlineSeconds=60)
    assert (await conditions(cluster))["Failed"][1] == "DeadlineExceeded"


# Suspending


async def test_a_suspended_job_has_no_pods_and_no_start(cluster: Cluster) -> None:
    assert await started(cluster, suspend=True) == []
    assert (await the(cluster)).status.start_time is None
    assert await conditions(cluster) == {"Suspended": ("True", "JobSuspended", "Job suspended")}
    assert ("Suspended", "Job suspended") in await events(cluster)


async def test_suspending_removes_pods_which_are_not_failures(cluster: Cluster) -> None:
    await started(cluster, parallelism=3)
    await change(cluster, suspend=True)
    assert await cluster.list(Pod) == []
    status = (await the(cluster)).status
    assert (status.active, status.failed, status.start_time) == (None, None, None)


async def test_resuming_begins_anew_and_says_so(cluster: Cluster) -> None:
    await started(cluster, suspend=True, activeDeadlineSeconds=60)
    await ambient.sleep(3600)
    await change(cluster, suspend=False)
    assert len(await active(cluster)) == 1
    began = (await the(cluster)).status.start_time
    assert began is not None
    assert ambient.now() - began < timedelta(seconds=30)
    assert await conditions(cluster) == {"Suspended": ("False", "JobResumed", "Job resumed")}
    assert ("Resumed", "Job resumed") in await events(cluster)


async def test_what_was_done_before_a_job_was_suspended_is_not_done_again(cluster: Cluster) -> None:
    one, _ = await started(cluster, completions=2, parallelism=2)
    await finish(cluster, one)
    await change(cluster, suspend=True)
    await change(cluster, suspend=False)
    await finish(cluster, *await active(cluster))
    assert (await the(cluster)).status.succeeded == 2
    assert "Complete" in await conditions(cluster)


# Whose pods


async def test_an_orphan_that_matches_is_adopted_and_counted(cluster: Cluster) -> None:
    orphan = pod("stray", {"mine": "yes"})
    orphan.spec.restart_policy = "Never"
    await cluster.admin.create(orphan)
    chosen = {"manualSelector": True, "selector": {"matchLabels": {"mine": "yes"}}}
    made = job(completions=1, **chosen)
    assert made.spec.template.metadata is not None
    made.spec.template.metadata.labels["mine"] = "yes"
    await cluster.admin.create(made)
    await cluster.settled()
    [only] = await pods(cluster)
    assert only.metadata.name == "stray"
    assert only.metadata.owner_references[0].name == "work"
    assert TRACKING in only.metadata.finalizers
    await finish(cluster, only)
    assert (await the(cluster)).status.succeeded == 1


async def test_a_pod_whose_labels_no_longer_match_is_let_go(cluster: Cluster) -> None:
    [only] = await started(cluster)
    labels = {"batch.kubernetes.io/controller-uid": None, "controller-uid": None}
    await cluster.admin.patch(Pod, only.metadata.name, {"metadata": {"labels": labels}})
    await cluster.settled()
    let_go = await cluster.admin.get(Pod, only.metadata.name)
    assert (let_go.metadata.owner_references, let_go.metadata.finalizers) == ([], [])
    assert len(await active(cluster)) == 2


async def test_the_pods_of_a_deleted_job_are_not_held(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await cluster.admin.delete(Job, "work", propagation="Orphan")
    await cluster.settled()
    assert (await cluster.admin.get(Pod, only.metadata.name)).metadata.finalizers == []


async def test_a_job_that_waits_for_its_pods_to_be_deleted_lets_them_go(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await cluster.admin.delete(Job, "work", propagation="Foreground")
    await cluster.admin.delete(Pod, only.metadata.name)
    await cluster.settled()
    assert await cluster.list(Pod) == []


async def test_the_pods_of_a_job_that_vanishes_while_nobody_looks_are_not_held(cluster: Cluster) -> None:
    [only] = await started(cluster)
    await cluster.admin.delete(Job, "work", propagation="Background")
    await cluster.restart_controllers()
    await cluster.settled()
    left = [each for each in await cluster.list(Pod) if each.metadata.name == only.metadata.name]
    assert all(each.metadata.finalizers == [] for each in left)


async def test_the_finalizer_is_left_on_pods_of_other_owners(cluster: Cluster) -> None:
    strange = pod("strange")
    strange.metadata.finalizers = [TRACKING]
    owner = {"apiVersion": "example.com/v1", "kind": "Job", "name": "other", "uid": "1", "controller": True}
    made = await cluster.admin.create(strange)
    await cluster.settled()
    assert (await cluster.admin.get(Pod, "strange")).metadata.finalizers == []
    patch = {"metadata": {"finalizers": [TRACKING], "ownerReferences": [owner]}}
    await cluster.admin.patch(Pod, made.metadata.name, patch)
    await cluster.settled()
    assert (await cluster.admin.get(Pod, "strange")).metadata.finalizers == [TRACKING]


async def test_nothing_is_made_in_a_namespace_that_is_on_its_way_out(cluster: Cluster) -> None:
    namespace = Namespace()
    namespace.metadata.name = "leaving"
    namespace.metadata.finalizers = ["a.io/b"]
    await cluster.admin.create(namespace)
    waiting = job(suspend=True)
    await cluster.admin.create(waiting, namespace="leaving")
    await cluster.admin.delete(Namespace, "leaving")
    await cluster.admin.patch(Job, "work", {"spec": {"suspend": False}}, namespace="leaving")
    await cluster.settled()
    about = [each.reason for each in await cluster.admin.list(Event, namespace="leaving")]
    assert "FailedCreate" not in about


async def test_the_server_is_asked_for_pods_once_and_from_then_on_the_cache_is_enough(cluster: Cluster) -> None:
    await started(cluster, completions=6, parallelism=2)
    while running := await active(cluster):
        await finish(cluster, *running)
    lists = [each for each in cluster.weather.asked if each.method == "GET" and each.path.endswith("default/pods")]
    assert len(lists) == 1
