"""DaemonSets: which nodes have a pod, how a new template reaches them, and what is said of it."""

from typing import Any

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import LABELS, daemonset, node, pod, template
from windvane import ambient
from windvane.cluster.controllers.daemonset.plan import node_of
from windvane.k8s.apps import ControllerRevision, DaemonSet, DaemonSetStatus
from windvane.k8s.core import Event, Node, Pod

HASH = "controller-revision-hash"


def rolling(unavailable: int | str = 1, surge: int | str = 0) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge}}


async def pods(cluster: Cluster) -> list[Pod]:
    return [each for each in await cluster.list(Pod) if each.metadata.deletion_timestamp is None]


async def where(cluster: Cluster) -> list[str]:
    return sorted(node_of(each) or "" for each in await pods(cluster))


async def images(cluster: Cluster) -> dict[str, str]:
    """By node."""
    return {node_of(each) or "": each.spec.containers[0].image or "" for each in await pods(cluster)}


async def status(cluster: Cluster) -> DaemonSetStatus:
    return (await cluster.admin.get(DaemonSet, "web", namespace="default")).status


async def events(cluster: Cluster, reason: str) -> list[str]:
    return [each.message or "" for each in await cluster.list(Event) if each.reason == reason]


async def all_ready(cluster: Cluster) -> None:
    await cluster.settled()
    for _ in range(30):
        waiting = [each for each in await pods(cluster) if each.status.phase == "Pending"]
        if not waiting:
            return
        await cluster.make_ready(*waiting)
        await cluster.settled()


async def nodes(cluster: Cluster, *names: str) -> None:
    for name in names:
        await cluster.admin.create(node(name))


async def started(cluster: Cluster, *names: str, **spec: Any) -> None:
    await nodes(cluster, *names)
    await cluster.admin.create(daemonset(**spec))
    await all_ready(cluster)


async def set_image(cluster: Cluster, image: str) -> None:
    await cluster.admin.patch(DaemonSet, "web", {"spec": {"template": template(image)}})
    await cluster.settled()


async def end(cluster: Cluster, which: Pod, phase: str) -> None:
    await cluster.admin.patch(Pod, which.metadata.name, {"status": {"phase": phase}}, subresource="status")
    await cluster.settled()


# Where pods are


async def test_there_is_a_pod_on_each_node(cluster: Cluster) -> None:
    await started(cluster, "a", "b", "c")
    assert await where(cluster) == ["a", "b", "c"]


async def test_a_pod_is_meant_for_its_node_and_leaves_the_rest_to_the_scheduler(cluster: Cluster) -> None:
    await nodes(cluster, "a")
    made = await cluster.admin.create(daemonset())
    await cluster.settled()
    [only] = await pods(cluster)
    assert only.spec.node_name is None
    assert only.spec.affinity is not None
    assert only.spec.affinity.node_affinity is not None
    required = only.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert required is not None
    [term] = required.node_selector_terms
    [match] = term.match_fields
    assert (match.key, match.operator, match.values) == ("metadata.name", "In", ["a"])
    assert [each.uid for each in only.metadata.owner_references] == [made.metadata.uid]
    assert only.metadata.labels["pod-template-generation"] == "1"


async def test_daemon_pods_tolerate_what_can_be_wrong_with_a_node(cluster: Cluster) -> None:
    await started(cluster, "a")
    [only] = await pods(cluster)
    tolerated = {(each.key, each.operator, each.effect) for each in only.spec.tolerations}
    assert tolerated == {
        ("node.kubernetes.io/not-ready", "Exists", "NoExecute"),
        ("node.kubernetes.io/unreachable", "Exists", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "Exists", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "Exists", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "Exists", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "Exists", "NoSchedule"),
    }


async def test_a_new_node_gets_a_pod(cluster: Cluster) -> None:
    await started(cluster, "a")
    await nodes(cluster, "b")
    await cluster.settled()
    assert await where(cluster) == ["a", "b"]


async def test_a_pod_that_was_deleted_comes_back(cluster: Cluster) -> None:
    await started(cluster, "a")
    [one] = await pods(cluster)
    await cluster.admin.delete(Pod, one.metadata.name, grace_period=0)
    await cluster.settled()
    [again] = await pods(cluster)
    assert again.metadata.name != one.metadata.name


async def test_a_pod_is_not_replaced_before_it_has_gone(cluster: Cluster) -> None:
    await started(cluster, "a")
    [one] = await pods(cluster)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"finalizers": ["a.io/b"]}})
    await cluster.admin.delete(Pod, one.metadata.name, grace_period=0)
    await cluster.settled()
    assert await pods(cluster) == []
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"finalizers": None}})
    await cluster.settled()
    assert await where(cluster) == ["a"]


async def test_only_nodes_that_the_template_selects_have_pods(cluster: Cluster) -> None:
    await cluster.admin.create(node("a", disk="ssd"))
    await cluster.admin.create(node("b"))
    chosen = template()
    chosen["spec"]["nodeSelector"] = {"disk": "ssd"}
    await cluster.admin.create(daemonset(template=chosen))
    await cluster.settled()
    assert await where(cluster) == ["a"]


async def test_only_nodes_that_the_affinity_requires_have_pods(cluster: Cluster) -> None:
    await cluster.admin.create(node("a", zone="1"))
    await cluster.admin.create(node("b", zone="2"))
    chosen = template()
    expression = {"key": "zone", "operator": "In", "values": ["2"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    chosen["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    await cluster.admin.create(daemonset(template=chosen))
    await cluster.settled()
    assert await where(cluster) == ["b"]


async def test_a_node_that_is_labelled_gets_a_pod_and_loses_it_with_the_label(cluster: Cluster) -> None:
    await nodes(cluster, "a")
    chosen = template()
    chosen["spec"]["nodeSelector"] = {"disk": "ssd"}
    await cluster.admin.create(daemonset(template=chosen))
    await cluster.settled()
    assert await where(cluster) == []
    assert (await status(cluster)).desired_number_scheduled == 0
    await cluster.admin.patch(Node, "a", {"metadata": {"labels": {"disk": "ssd"}}})
    await all_ready(cluster)
    assert await where(cluster) == ["a"]
    await cluster.admin.patch(Node, "a", {"metadata": {"labels": {"disk": None}}})
    await cluster.settled()
    assert await where(cluster) == []


async def test_a_taint_keeps_pods_off_a_node(cluster: Cluster) -> None:
    await cluster.admin.create(node("a", "gpu:NoSchedule"))
    await cluster.admin.create(node("b"))
    await cluster.admin.create(daemonset())
    await cluster.settled()
    assert await where(cluster) == ["b"]


async def test_a_tolerated_taint_does_not(cluster: Cluster) -> None:
    await cluster.admin.create(node("a", "gpu:NoSchedule", "node.kubernetes.io/disk-pressure:NoSchedule"))
    tolerant = template()
    tolerant["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    await cluster.admin.create(daemonset(template=tolerant))
    await cluster.settled()
    assert await where(cluster) == ["a"]


async def test_a_taint_that_keeps_new_pods_off_leaves_the_one_that_is_there(cluster: Cluster) -> None:
    await started(cluster, "a")
    await cluster.admin.patch(Node, "a", {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}})
    await cluster.settled()
    assert await where(cluster) == ["a"]
    found = await status(cluster)
    assert (found.desired_number_scheduled, found.number_misscheduled) == (0, 1)


async def test_a_taint_that_drives_pods_away_takes_the_one_that_is_there(cluster: Cluster) -> None:
    await started(cluster, "a")
    await cluster.admin.patch(Node, "a", {"spec": {"taints": [{"key": "gpu", "effect": "NoExecute"}]}})
    await cluster.settled()
    assert await where(cluster) == []


async def test_a_pod_for_a_node_that_is_gone_goes_if_it_never_got_there(cluster: Cluster) -> None:
    await started(cluster, "a", "b")
    await cluster.admin.delete(Node, "a")
    await cluster.settled()
    assert await where(cluster) == ["b"]


async def test_of_several_pods_on_a_node_the_oldest_stays(cluster: Cluster) -> None:
    await started(cluster, "a")
    [first] = await pods(cluster)
    await ambient.sleep(5)
    second = pod("second")
    second.spec.affinity = first.spec.affinity
    await cluster.admin.create(second)
    await cluster.settled()
    assert [each.metadata.name for each in await pods(cluster)] == [first.metadata.name]


async def test_an_orphan_that_matches_is_adopted(cluster: Cluster) -> None:
    await nodes(cluster, "a")
    stray = pod("stray")
    stray.spec.node_name = "a"
    await cluster.admin.create(stray)
    made = await cluster.admin.create(daemonset(updateStrategy={"type": "OnDelete"}))
    await cluster.settled()
    [only] = await pods(cluster)
    assert only.metadata.name == "stray"
    assert [each.uid for each in only.metadata.owner_references] == [made.metadata.uid]


async def test_a_pod_whose_labels_no_longer_match_is_released_and_replaced(cluster: Cluster) -> None:
    await started(cluster, "a")
    [one] = await pods(cluster)
    await cluster.admin.patch(Pod, one.metadata.name, {"metadata": {"labels": {"app": "quarantine"}}})
    await cluster.settled()
    assert await where(cluster) == ["a", "a"]
    released = await cluster.admin.get(Pod, one.metadata.name, namespace="default")
    assert released.metadata.owner_references == []


# Pods that end


async def test_a_failed_pod_is_replaced_and_told(cluster: Cluster) -> None:
    await started(cluster, "a")
    [one] = await pods(cluster)
    await end(cluster, one, "Failed")
    [again] = await pods(cluster)
    assert again.metadata.name != one.metadata.name
    words = f"Found failed daemon pod default/{one.metadata.name} on node a, will try to kill it"
    assert await events(cluster, "FailedDaemonPod") == [words]


async def test_pods_that_fail_again_and_again_are_replaced_later_and_later(cluster: Cluster) -> None:
    await started(cluster, "a")
    waits = []
    for _ in range(6):
        [one] = await pods(cluster)
        began = ambient.monotonic()
        await cluster.admin.patch(Pod, one.metadata.name, {"status": {"phase": "Failed"}}, subresource="status")
        while one.metadata.name in [each.metadata.name for each in await pods(cluster)] or not await pods(cluster):
            await ambient.sleep(0.1)
        waits.append(round(ambient.monotonic() - began))
    assert waits == [0, 1, 2, 4, 8, 16]


async def test_a_pod_that_has_done_its_work_is_replaced_and_told(cluster: Cluster) -> None:
    await started(cluster, "a")
    [one] = await pods(cluster)
    await end(cluster, one, "Succeeded")
    [again] = await pods(cluster)
    assert again.metadata.name != one.metadata.name
    words = f"Found succeeded daemon pod default/{one.metadata.name} on node a, will try to delete it"
    assert await events(cluster, "SucceededDaemonPod") == [words]


# Status


async def test_its_status_counts_nodes(cluster: Cluster) -> None:
    await nodes(cluster, "a", "b", "c")
    await cluster.admin.create(daemonset())
    await cluster.settled()
    await cluster.make_ready(*(await pods(cluster))[:2])
    await cluster.settled()
    found = await status(cluster)
    assert (found.desired_number_scheduled, found.current_number_scheduled, found.updated_number_scheduled) == (3, 3, 3)
    assert (found.number_ready, found.number_available, found.number_unavailable) == (2, 2, 1)
    assert (found.number_misscheduled, found.observed_generation) == (0, 1)


async def test_a_pod_is_available_only_after_min_ready_seconds(cluster: Cluster) -> None:
    await started(cluster, "a", minReadySeconds=30)
    assert (await status(cluster)).number_available is None
    await ambient.sleep(31)
    assert (await status(cluster)).number_available == 1


async def test_without_nodes_there_is_nothing_to_do_and_that_is_said(cluster: Cluster) -> None:
    await cluster.admin.create(daemonset())
    await cluster.settled()
    found = await status(cluster)
    assert (found.desired_number_scheduled, found.observed_generation) == (0, 1)


async def test_nothing_is_written_once_all_is_well(cluster: Cluster) -> None:
    await started(cluster, "a", "b")
    await ambient.sleep(120)  # until it has been said of the nodes, which nobody plays, that they are silent
    await cluster.settled()
    revision = cluster.server.store.revision
    await ambient.sleep(3600)
    assert cluster.server.store.revision == revision


async def test_pods_that_the_server_refuses_are_told(cluster: Cluster) -> None:
    await nodes(cluster, "a")
    bad = template()
    bad["spec"]["priorityClassName"] = "none-such"
    await cluster.admin.create(daemonset(template=bad))
    await cluster.settled()
    assert any("none-such" in each for each in await events(cluster, "FailedCreate"))
    assert (await status(cluster)).desired_number_scheduled == 1


# Updates


async def test_a_new_template_reaches_one_node_after_the_other(cluster: Cluster) -> None:
    await started(cluster, "a", "b", "c", updateStrategy=rolling(1))
    await set_image(cluster, "web:2")
    assert sorted((await images(cluster)).values()) == ["web:1", "web:1", "web:2"]
    assert (await status(cluster)).updated_number_scheduled == 1
    await all_ready(cluster)
    assert set((await images(cluster)).values()) == {"web:2"}
    found = await status(cluster)
    assert (found.updated_number_scheduled, found.number_available, found.observed_generation) == (3, 3, 2)


async def test_as_many_nodes_at_once_as_may_be_unavailable(cluster: Cluster) -> None:
    await started(cluster, "a", "b", "c", "d", updateStrategy=rolling("50%"))
    await set_image(cluster, "web:2")
    assert sorted((await images(cluster)).values()) == ["web:1", "web:1", "web:2", "web:2"]


async def test_pods_that_are_of_no_use_are_replaced_first_and_do_not_count(cluster: Cluster) -> None:
    await started(cluster, "a", "b", updateStrategy=rolling(1))
    await set_image(cluster, "broken")
    stuck = {each for each, image in (await images(cluster)).items() if image == "broken"}
    await set_image(cluster, "web:3")
    assert {each for each, image in (await images(cluster)).items() if image == "web:3"} == stuck
    assert len(stuck) == 1


async def test_with_a_surge_the_old_pod_stays_until_the_new_one_is_available(cluster: Cluster) -> None:
    await started(cluster, "a", "b", updateStrategy=rolling(0, surge=1))
    await set_image(cluster, "web:2")
    assert sorted(each.spec.containers[0].image or "" for each in await pods(cluster)) == ["web:1", "web:1", "web:2"]
    await all_ready(cluster)
    assert await images(cluster) == {"a": "web:2", "b": "web:2"}
    assert await where(cluster) == ["a", "b"]


async def test_on_delete_replaces_only_what_somebody_deletes(cluster: Cluster) -> None:
    await started(cluster, "a", "b", updateStrategy={"type": "OnDelete"})
    await set_image(cluster, "web:2")
    assert await images(cluster) == {"a": "web:1", "b": "web:1"}
    [one] = [each for each in await pods(cluster) if node_of(each) == "a"]
    await cluster.admin.delete(Pod, one.metadata.name, grace_period=0)
    await cluster.settled()
    assert await images(cluster) == {"a": "web:2", "b": "web:1"}


async def test_a_new_node_gets_the_new_template_during_an_update(cluster: Cluster) -> None:
    await started(cluster, "a", "b", updateStrategy=rolling(1))
    await set_image(cluster, "web:2")
    await nodes(cluster, "c")
    await cluster.settled()
    assert (await images(cluster))["c"] == "web:2"


# Revisions


async def test_each_template_is_a_revision(cluster: Cluster) -> None:
    await started(cluster, "a")
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    found = sorted(await cluster.list(ControllerRevision), key=lambda each: each.revision)
    assert [each.revision for each in found] == [1, 2]
    [only] = await pods(cluster)
    assert only.metadata.labels[HASH] == found[1].metadata.labels[HASH]
    assert found[1].metadata.labels.items() >= LABELS.items()
    assert found[1].metadata.owner_references[0].kind == "DaemonSet"


async def test_going_back_gives_the_old_revision_the_next_number(cluster: Cluster) -> None:
    await started(cluster, "a")
    [first] = await cluster.list(ControllerRevision)
    await set_image(cluster, "web:2")
    await all_ready(cluster)
    await cluster.admin.patch(DaemonSet, "web", first.data or {}, type="strategic")
    await all_ready(cluster)
    numbers = {each.metadata.name: each.revision for each in await cluster.list(ControllerRevision)}
    assert sorted(numbers.values()) == [2, 3]
    assert numbers[first.metadata.name] == 3
    assert await images(cluster) == {"a": "web:1"}


async def test_only_so_many_old_revisions_are_kept(cluster: Cluster) -> None:
    await started(cluster, "a", revisionHistoryLimit=1)
    for number in range(2, 5):
        await set_image(cluster, f"web:{number}")
        await all_ready(cluster)
    assert sorted(each.revision for each in await cluster.list(ControllerRevision)) == [3, 4]


async def test_revisions_that_pods_are_made_from_are_kept(cluster: Cluster) -> None:
    await started(cluster, "a", revisionHistoryLimit=0, updateStrategy={"type": "OnDelete"})
    await set_image(cluster, "web:2")
    await set_image(cluster, "web:3")
    assert sorted(each.revision for each in await cluster.list(ControllerRevision)) == [1, 3]


async def test_a_name_that_is_taken_makes_it_choose_another_hash(cluster: Cluster) -> None:
    await started(cluster, "a")
    [first] = await cluster.list(ControllerRevision)
    await cluster.admin.patch(ControllerRevision, first.metadata.name, {"metadata": {"labels": {"app": "other"}}})
    await all_ready(cluster)
    assert (await status(cluster)).collision_count == 1
    assert len(await cluster.list(ControllerRevision)) == 2
