"""StatefulSets: names, order, updates, and what they say of it."""

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.stateful import Db, template
from integration.controllers.workloads import LABELS, pod
from windvane import ambient
from windvane.k8s.apps import ControllerRevision, StatefulSet
from windvane.k8s.core import Event, Pod


@pytest.fixture
def db(cluster: Cluster) -> Db:
    return Db(cluster)


# Who they are


async def test_pods_are_numbered_from_zero(db: Db) -> None:
    await db.started(3)
    assert await db.names() == ["db-0", "db-1", "db-2"]


async def test_the_first_number_can_be_another(db: Db) -> None:
    await db.started(2, ordinals={"start": 5})
    assert await db.names() == ["db-5", "db-6"]


async def test_another_first_number_moves_the_pods(db: Db) -> None:
    await db.started(2)
    await db.patch({"ordinals": {"start": 1}})
    await db.all_ready()
    assert await db.names() == ["db-1", "db-2"]


async def test_a_pod_knows_who_it_is(db: Db) -> None:
    made = await db.create(1)
    [only] = await db.pods()
    [revision] = await db.revisions()
    assert only.metadata.labels == LABELS | {
        "apps.kubernetes.io/pod-index": "0",
        "statefulset.kubernetes.io/pod-name": "db-0",
        "controller-revision-hash": revision.metadata.name,
    }
    assert (only.spec.hostname, only.spec.subdomain) == ("db-0", "db")
    assert only.metadata.generate_name == "db-"
    [owner] = only.metadata.owner_references
    assert (owner.kind, owner.uid, owner.controller) == ("StatefulSet", made.metadata.uid, True)


async def test_a_set_without_a_service_has_pods_without_a_subdomain(db: Db) -> None:
    await db.create(1, serviceName=None)
    assert (await db.pod("db-0")).spec.subdomain is None


async def test_a_pod_that_lost_the_label_with_its_name_gets_it_back(db: Db) -> None:
    await db.started(1)
    label = {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}}
    await db.cluster.admin.patch(Pod, "db-0", label)
    await db.cluster.settled()
    assert (await db.pod("db-0")).metadata.labels["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert await db.events("SuccessfulUpdate") == ["Update Pod db-0 in StatefulSet db successful"]


# In order


async def test_a_pod_is_made_only_when_the_one_before_it_is_ready(db: Db) -> None:
    await db.create(3)
    assert await db.names() == ["db-0"]
    await db.ready("db-0")
    assert await db.names() == ["db-0", "db-1"]
    await db.ready("db-1")
    assert await db.names() == ["db-0", "db-1", "db-2"]


async def test_a_pod_is_made_only_when_the_one_before_it_was_ready_for_long_enough(db: Db) -> None:
    await db.create(2, minReadySeconds=30)
    await db.ready("db-0")
    assert await db.names() == ["db-0"]
    await ambient.sleep(30)
    await db.cluster.settled()
    assert await db.names() == ["db-0", "db-1"]


async def test_nothing_is_made_while_an_earlier_pod_is_not_ready(db: Db) -> None:
    await db.started(2)
    await db.phase("db-0", "Running")
    await db.scale(3)
    assert await db.names() == ["db-0", "db-1"]


async def test_a_gap_is_filled_before_anything_else_is_made(db: Db) -> None:
    await db.started(3)
    await db.scale(4)
    await db.delete("db-1")
    await db.let_go("db-1")
    assert await db.names() == ["db-0", "db-1", "db-2", "db-3"]
    await db.scale(5)
    await db.ready("db-3")
    assert "db-4" not in await db.names()
    await db.ready("db-1")
    assert "db-4" in await db.names()


async def test_scaling_down_deletes_the_last_pod_first_and_one_at_a_time(db: Db) -> None:
    await db.started(3)
    await db.scale(0)
    assert await db.names() == ["db-0", "db-1", "db-2-"]
    await db.let_go("db-2")
    assert await db.names() == ["db-0", "db-1-"]
    await db.let_go("db-1")
    assert await db.names() == ["db-0-"]
    await db.let_go("db-0")
    assert await db.names() == []


async def test_nothing_is_scaled_down_while_a_pod_that_stays_is_not_ready(db: Db) -> None:
    await db.started(3)
    await db.phase("db-0", "Running")
    await db.scale(1)
    assert await db.names() == ["db-0", "db-1", "db-2"]
    await db.ready("db-0")
    assert await db.names() == ["db-0", "db-1", "db-2-"]


async def test_a_pod_that_is_not_ready_is_scaled_down_if_it_is_the_only_one(db: Db) -> None:
    await db.started(3)
    await db.phase("db-2", "Running")
    await db.scale(1)
    assert await db.names() == ["db-0", "db-1", "db-2-"]


async def test_a_pod_that_is_not_ready_is_not_scaled_down_while_an_earlier_one_is_not(db: Db) -> None:
    await db.started(3)
    await db.phase("db-1", "Running")
    await db.phase("db-2", "Running")
    await db.scale(1)
    assert await db.names() == ["db-0", "db-1", "db-2"]


async def test_scaling_comes_before_updating(db: Db) -> None:
    await db.started(2)
    await db.patch({"template": template("db:2"), "replicas": 1})
    assert await db.names() == ["db-0", "db-1-"]
    await db.let_go("db-1")
    assert await db.names() == ["db-0-"]


# In parallel


async def test_in_parallel_all_pods_are_made_at_once(db: Db) -> None:
    await db.create(5, podManagementPolicy="Parallel")
    assert len(await db.names()) == 5


async def test_in_parallel_all_are_scaled_down_at_once_ready_or_not(db: Db) -> None:
    await db.started(4, podManagementPolicy="Parallel")
    await db.phase("db-0", "Running")
    await db.phase("db-2", "Running")
    await db.scale(1)
    assert await db.names() == ["db-0", "db-1-", "db-2-", "db-3-"]


async def test_in_parallel_updates_still_go_one_by_one(db: Db) -> None:
    await db.started(3, podManagementPolicy="Parallel")
    await db.image("db:2")
    assert await db.names() == ["db-0", "db-1", "db-2-"]
    await db.let_go("db-2")
    assert await db.names() == ["db-0", "db-1", "db-2"]
    await db.ready("db-2")
    assert await db.names() == ["db-0", "db-1-", "db-2"]


async def test_in_parallel_a_pod_that_cannot_be_made_does_not_keep_the_others_from_being_tried(db: Db) -> None:
    await db.cluster.admin.create(pod("db-1", {"app": "other"}))
    await db.create(2, podManagementPolicy="Parallel")
    assert (await db.pod("db-0")).metadata.owner_references


# What goes, comes back


async def test_a_deleted_pod_comes_back_under_its_name_once_it_is_gone(db: Db) -> None:
    await db.started(2)
    before = await db.pod("db-0")
    await db.delete("db-0")
    assert await db.names() == ["db-0-", "db-1"]
    await db.let_go("db-0")
    after = await db.pod("db-0")
    assert after.metadata.uid != before.metadata.uid


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
async def test_a_finished_pod_is_deleted_and_comes_back(db: Db, phase: str) -> None:
    await db.started(2)
    before = await db.pod("db-1")
    await db.phase("db-1", phase)
    assert (await db.pod("db-1")).metadata.uid != before.metadata.uid


async def test_in_parallel_a_failed_pod_comes_back_too(db: Db) -> None:
    await db.started(3, podManagementPolicy="Parallel")
    before = await db.pod("db-1")
    await db.phase("db-1", "Failed")
    assert (await db.pod("db-1")).metadata.uid != before.metadata.uid


async def test_the_others_wait_for_a_pod_that_is_going(db: Db) -> None:
    await db.started(2)
    await db.delete("db-0")
    await db.scale(3)
    assert await db.names() == ["db-0-", "db-1"]


# Whose they are


async def test_an_orphan_of_the_right_name_is_adopted(db: Db) -> None:
    stray = await db.cluster.admin.create(pod("db-0"))
    await db.create(1)
    adopted = await db.pod("db-0")
    assert adopted.metadata.uid == stray.metadata.uid
    assert [each.kind for each in adopted.metadata.owner_references] == ["StatefulSet"]


@pytest.mark.parametrize("name", ["other", "db-x", "db-01", "db2-0", "db-0-0"])
async def test_an_orphan_of_another_name_is_not_adopted(db: Db, name: str) -> None:
    await db.cluster.admin.create(pod(name))
    await db.create(1)
    assert (await db.pod(name)).metadata.owner_references == []


async def test_a_pod_whose_labels_no_longer_match_is_released(db: Db) -> None:
    await db.started(2)
    await db.cluster.admin.patch(Pod, "db-1", {"metadata": {"labels": {"app": "quarantine"}}})
    await db.cluster.settled()
    assert (await db.pod("db-1")).metadata.owner_references == []
    assert (await db.the()).status.replicas == 1


async def test_a_name_that_somebody_else_has_is_waited_for(db: Db) -> None:
    await db.cluster.admin.create(pod("db-0", {"app": "other"}))
    await db.create(1)
    await db.cluster.admin.delete(Pod, "db-0", grace_period=0)
    await ambient.sleep(60)
    assert (await db.pod("db-0")).metadata.labels["app"] == "web"
    assert await db.events("FailedCreate") == []


async def test_pods_of_an_earlier_set_are_adopted(db: Db) -> None:
    await db.started(2)
    before = [each.metadata.uid for each in await db.pods()]
    await db.cluster.admin.delete(StatefulSet, "db", propagation="Orphan")
    await db.cluster.settled()
    made = await db.create(2)
    assert [each.metadata.uid for each in await db.pods()] == before
    [revision] = await db.revisions()
    assert revision.metadata.owner_references[0].uid == made.metadata.uid


async def test_a_set_that_is_being_deleted_makes_nothing(db: Db) -> None:
    await db.started(2)
    await db.cluster.admin.patch(StatefulSet, "db", {"metadata": {"finalizers": ["a.io/b"]}})
    await db.cluster.admin.delete(StatefulSet, "db")
    await db.delete("db-1")
    await db.let_go("db-1")
    assert await db.names() == ["db-0"]
    assert (await db.the()).status.replicas == 1


# Updates


async def test_an_update_replaces_pods_from_the_last_and_waits_for_each(db: Db) -> None:
    await db.started(3)
    await db.image("db:2")
    assert await db.names() == ["db-0", "db-1", "db-2-"]
    await db.let_go("db-2")
    assert await db.images() == {"db-0": "1", "db-1": "1", "db-2": "2"}
    assert await db.names() == ["db-0", "db-1", "db-2"]
    await db.ready("db-2")
    assert await db.names() == ["db-0", "db-1-", "db-2"]
    await db.all_ready()
    assert await db.images() == {"db-0": "2", "db-1": "2", "db-2": "2"}


async def test_an_update_waits_until_a_pod_was_ready_for_long_enough(db: Db) -> None:
    await db.started(1)
    await db.patch({"minReadySeconds": 30, "replicas": 2})
    await ambient.sleep(40)
    await db.cluster.settled()
    await db.ready("db-1")
    await db.image("db:2")
    assert await db.names() == ["db-0", "db-1"]
    await ambient.sleep(30)
    await db.cluster.settled()
    assert await db.names() == ["db-0", "db-1-"]


async def test_an_update_does_not_begin_while_a_pod_is_not_ready(db: Db) -> None:
    await db.started(3)
    await db.phase("db-0", "Running")
    await db.image("db:2")
    assert await db.names() == ["db-0", "db-1", "db-2"]


async def test_pods_before_the_partition_are_not_updated(db: Db) -> None:
    await db.started(3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    await db.image("db:2")
    await db.all_ready()
    assert await db.images() == {"db-0": "1", "db-1": "1", "db-2": "2"}


async def test_a_pod_before_the_partition_comes_back_as_it_was(db: Db) -> None:
    await db.started(3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    await db.image("db:2")
    await db.all_ready()
    await db.delete("db-0")
    await db.all_ready()
    assert await db.images() == {"db-0": "1", "db-1": "1", "db-2": "2"}


async def test_lowering_the_partition_goes_on_with_the_update(db: Db) -> None:
    await db.started(3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 3}})
    await db.image("db:2")
    assert await db.images() == {"db-0": "1", "db-1": "1", "db-2": "1"}
    await db.patch({"updateStrategy": {"rollingUpdate": {"partition": 1}}})
    await db.all_ready()
    assert await db.images() == {"db-0": "1", "db-1": "2", "db-2": "2"}
    await db.patch({"updateStrategy": {"rollingUpdate": {"partition": 0}}})
    await db.all_ready()
    assert await db.images() == {"db-0": "2", "db-1": "2", "db-2": "2"}


async def test_the_partition_counts_pods_and_not_numbers(db: Db) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    await db.started(2, ordinals={"start": 7}, updateStrategy=strategy)
    await db.image("db:2")
    await db.all_ready()
    assert await db.images() == {"db-7": "1", "db-8": "2"}


async def test_on_delete_a_pod_is_updated_when_somebody_deletes_it(db: Db) -> None:
    await db.started(2, updateStrategy={"type": "OnDelete"})
    await db.image("db:2")
    assert await db.names() == ["db-0", "db-1"]
    await db.delete("db-0")
    await db.all_ready()
    assert await db.images() == {"db-0": "2", "db-1": "1"}


async def test_a_broken_update_stops_at_the_first_pod(db: Db) -> None:
    await db.started(3)
    await db.image("db:2")
    await db.let_go("db-2")
    await db.phase("db-2", "Running")
    assert await db.images() == {"db-0": "1", "db-1": "1", "db-2": "2"}


async def test_a_broken_update_that_is_taken_back_needs_the_broken_pod_to_be_deleted(db: Db) -> None:
    """As on Kubernetes: a pod that never becomes ready is waited for, also when its template is no longer wanted."""
    await db.started(2)
    await db.image("db:2")
    await db.let_go("db-1")
    await db.phase("db-1", "Running")
    await db.image("db:1")
    assert await db.names() == ["db-0", "db-1"]
    await db.delete("db-1")
    await db.all_ready()
    assert await db.images() == {"db-0": "1", "db-1": "1"}


async def test_changing_only_what_is_not_in_the_template_replaces_nothing(db: Db) -> None:
    await db.started(2)
    before = [each.metadata.uid for each in await db.pods()]
    await db.patch({"minReadySeconds": 5, "revisionHistoryLimit": 3})
    await ambient.sleep(10)
    assert [each.metadata.uid for each in await db.pods()] == before
    assert len(await db.revisions()) == 1


# Revisions


async def test_a_revision_holds_the_patch_that_brings_the_template_back(db: Db) -> None:
    made = await db.create(1)
    [revision] = await db.revisions()
    stored = (revision.data or {})["spec"]["template"]
    assert stored["$patch"] == "replace"
    assert stored["spec"]["containers"][0]["image"] == "db:1"
    assert stored["metadata"]["labels"] == LABELS
    assert revision.revision == 1
    word = revision.metadata.labels["controller.kubernetes.io/hash"]
    assert revision.metadata.name == f"db-{word}"
    assert LABELS.items() <= revision.metadata.labels.items()
    assert revision.metadata.owner_references[0].uid == made.metadata.uid


async def test_each_template_has_its_revision(db: Db) -> None:
    await db.started(1)
    await db.image("db:2")
    await db.image("db:3")
    assert [each.revision for each in await db.revisions()] == [1, 2, 3]


async def test_going_back_gives_the_old_revision_the_next_number(db: Db) -> None:
    await db.started(1)
    [first] = await db.revisions()
    await db.image("db:2")
    await db.image("db:1")
    revisions = await db.revisions()
    assert [each.revision for each in revisions] == [2, 3]
    assert revisions[-1].metadata.name == first.metadata.name


async def test_the_patch_of_a_revision_undoes_an_update(db: Db) -> None:
    await db.started(1)
    [first] = await db.revisions()
    await db.image("db:2")
    await db.all_ready()
    await db.cluster.admin.patch(StatefulSet, "db", first.data or {}, type="strategic")
    await db.cluster.settled()
    await db.all_ready()
    assert await db.images() == {"db-0": "1"}


async def test_old_revisions_beyond_the_limit_are_deleted(db: Db) -> None:
    await db.started(1, revisionHistoryLimit=2)
    for number in range(2, 7):
        await db.image(f"db:{number}")
        await db.all_ready()
    await db.cluster.settled()
    assert [each.revision for each in await db.revisions()] == [4, 5, 6]


async def test_revisions_that_pods_have_are_kept_beyond_the_limit(db: Db) -> None:
    await db.started(1, revisionHistoryLimit=0, updateStrategy={"type": "OnDelete"})
    await db.image("db:2")
    await db.image("db:3")
    assert [each.revision for each in await db.revisions()] == [1, 3]


async def test_a_name_that_another_revision_has_is_avoided(db: Db) -> None:
    await db.started(1)
    [first] = await db.revisions()
    await db.cluster.admin.delete(StatefulSet, "db", propagation="Orphan")
    await db.cluster.settled()
    await db.cluster.admin.delete(ControllerRevision, first.metadata.name)
    other = ControllerRevision(metadata=type(first.metadata)(name=first.metadata.name), data={"x": 1}, revision=1)
    await db.cluster.admin.create(other)
    await db.create(1)
    assert (await db.the()).status.collision_count == 1
    assert len(await db.revisions()) == 2


# Status


async def test_the_status_counts_pods_by_what_they_are(db: Db) -> None:
    await db.started(3)
    await db.scale(4)
    [revision] = await db.revisions()
    found = await db.the()
    status = found.status
    assert (status.replicas, status.ready_replicas, status.available_replicas) == (4, 3, 3)
    assert (status.current_replicas, status.updated_replicas, status.collision_count) == (4, 4, 0)
    assert status.current_revision == status.update_revision == revision.metadata.name
    assert status.observed_generation == found.metadata.generation == 2


async def test_during_an_update_the_status_tells_old_from_new(db: Db) -> None:
    await db.started(3)
    await db.image("db:2")
    await db.let_go("db-2")
    await db.ready("db-2")
    old, new = await db.revisions()
    status = (await db.the()).status
    assert (status.current_revision, status.update_revision) == (old.metadata.name, new.metadata.name)
    assert (status.current_replicas, status.updated_replicas) == (1, 1)  # db-1 is going


async def test_after_an_update_the_new_revision_is_the_current_one(db: Db) -> None:
    await db.started(2)
    await db.image("db:2")
    await db.all_ready()
    status = (await db.the()).status
    _, new = await db.revisions()
    assert status.current_revision == status.update_revision == new.metadata.name
    assert (status.current_replicas, status.updated_replicas) == (2, 2)


async def test_with_a_partition_the_old_revision_stays_the_current_one(db: Db) -> None:
    await db.started(2, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    await db.image("db:2")
    await db.all_ready()
    old, new = await db.revisions()
    status = (await db.the()).status
    assert (status.current_revision, status.update_revision) == (old.metadata.name, new.metadata.name)


async def test_a_pod_counts_as_available_once_it_was_ready_for_long_enough(db: Db) -> None:
    await db.create(1, minReadySeconds=30)
    await db.ready("db-0")
    status = (await db.the()).status
    assert (status.ready_replicas, status.available_replicas) == (1, 0)
    await ambient.sleep(30)
    await db.cluster.settled()
    assert (await db.the()).status.available_replicas == 1


async def test_a_set_of_none_says_so(db: Db) -> None:
    await db.create(0)
    status = (await db.the()).status
    assert (status.replicas, status.available_replicas, status.observed_generation) == (0, 0, 1)


async def test_events_tell_of_pods_that_were_made_and_deleted(db: Db) -> None:
    await db.started(1)
    await db.scale(0)
    assert await db.events("SuccessfulCreate") == ["Create Pod db-0 in StatefulSet db successful"]
    assert await db.events("SuccessfulDelete") == ["Delete Pod db-0 in StatefulSet db successful"]


async def test_an_event_tells_why_a_pod_cannot_be_made(db: Db) -> None:
    await db.create(1, template=template(priorityClassName="none-such"))
    [words] = set(await db.events("FailedCreate"))
    assert words.startswith("Create Pod db-0 in StatefulSet db failed error: ")
    assert "none-such" in words
    assert {each.reason for each in await db.cluster.list(Event)} == {"FailedCreate"}


async def test_what_could_not_be_made_is_made_once_it_can(db: Db) -> None:
    await db.create(1, template=template(priorityClassName="none-such"))
    await db.patch({"template": {"spec": {"priorityClassName": None, "priority": None}}})
    await ambient.sleep(10)
    assert await db.names() == ["db-0"]


async def test_nothing_is_written_once_all_is_well(db: Db) -> None:
    await db.started(3)
    revision = db.cluster.writes
    await ambient.sleep(3600)
    assert db.cluster.writes == revision
