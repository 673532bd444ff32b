"""Indexed Jobs: one pod for each index, limits of failures for each, policies for failure and success."""

from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.test_job import (
    ON_A_NODE,
    active,
    change,
    conditions,
    events,
    fail_all,
    finish,
    remove,
    started,
    the,
)
from integration.controllers.workloads import job
from windvane import ambient
from windvane.cluster.controllers.job.pods import FAILURES, IGNORED_FAILURES, INDEX, index_of
from windvane.k8s.core import Pod

INDEXED = {"completionMode": "Indexed"}


async def indexed(cluster: Cluster, completions: int, parallelism: int | None = None, **spec: Any) -> dict[int, Pod]:
    await started(cluster, completions=completions, parallelism=parallelism or completions, **INDEXED, **spec)
    return await by_index(cluster)


async def by_index(cluster: Cluster) -> dict[int, Pod]:
    """The active pods by what they work on; none of which two work on."""
    running = await active(cluster)
    found = {index: each for each in running if (index := index_of(each)) is not None}
    assert len(found) == len(running)
    return found


async def later(cluster: Cluster, seconds: float) -> dict[int, Pod]:
    await ambient.sleep(seconds)
    await cluster.settled()
    return await by_index(cluster)


# Indexes


async def test_a_pod_knows_its_index(cluster: Cluster) -> None:
    running = await indexed(cluster, 3)
    assert sorted(running) == [0, 1, 2]
    two = running[2]
    assert two.metadata.generate_name == "work-2-"
    assert two.metadata.annotations[INDEX] == two.metadata.labels[INDEX] == "2"
    assert two.spec.hostname == "work-2"
    [variable] = two.spec.containers[0].env
    assert variable.name == "JOB_COMPLETION_INDEX"
    assert variable.value_from is not None
    assert variable.value_from.field_ref is not None
    assert variable.value_from.field_ref.field_path == f"metadata.labels['{INDEX}']"


async def test_a_variable_of_that_name_that_is_there_stays(cluster: Cluster) -> None:
    mine = {"name": "web", "image": "web:1", "env": [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]}
    running = await indexed(cluster, 1, pod={"containers": [mine]})
    [variable] = running[0].spec.containers[0].env
    assert variable.value == "mine"


async def test_the_lowest_indexes_come_first(cluster: Cluster) -> None:
    running = await indexed(cluster, 5, 2)
    assert sorted(running) == [0, 1]
    await finish(cluster, running[1])
    assert sorted(await by_index(cluster)) == [0, 2]


async def test_what_is_completed_is_written_as_intervals(cluster: Cluster) -> None:
    running = await indexed(cluster, 8)
    await finish(cluster, *(running[index] for index in (0, 2, 3, 4, 6, 7)))
    status = (await the(cluster)).status
    assert (status.completed_indexes, status.succeeded, status.active) == ("0,2-4,6,7", 6, 2)
    await finish(cluster, running[1], running[5])
    assert (await the(cluster)).status.completed_indexes == "0-7"
    assert "Complete" in await conditions(cluster)


async def test_an_index_that_failed_is_tried_again(cluster: Cluster) -> None:
    running = await indexed(cluster, 2)
    await finish(cluster, running[0], code=1)
    assert sorted(await later(cluster, 10)) == [0, 1]
    assert (await the(cluster)).status.failed == 1


async def test_an_index_that_two_work_on_is_left_to_one(cluster: Cluster) -> None:
    running = await indexed(cluster, 2)
    for index, its in running.items():
        other = job().spec.template.spec
        twin = Pod(metadata=its.metadata, spec=other)
        twin.metadata.name, twin.metadata.resource_version, twin.metadata.uid = f"twin-{index}", "", ""
        await cluster.admin.create(twin)
    await cluster.settled()
    assert sorted(await by_index(cluster)) == [0, 1]


async def test_completions_and_parallelism_grow_together(cluster: Cluster) -> None:
    await indexed(cluster, 2)
    await change(cluster, completions=4, parallelism=4)
    assert sorted(await by_index(cluster)) == [0, 1, 2, 3]


async def test_indexes_beyond_completions_are_given_up(cluster: Cluster) -> None:
    running = await indexed(cluster, 4)
    await finish(cluster, running[3])
    await change(cluster, completions=2, parallelism=2)
    assert sorted(await by_index(cluster)) == [0, 1]
    status = (await the(cluster)).status
    assert (status.completed_indexes, status.succeeded, status.failed) == (None, None, None)
    await finish(cluster, *(await by_index(cluster)).values())
    assert "Complete" in await conditions(cluster)


# A limit for each index


async def test_an_index_may_fail_as_often_as_its_limit_says(cluster: Cluster) -> None:
    running = await indexed(cluster, 2, backoffLimitPerIndex=1)
    assert running[0].metadata.annotations[FAILURES] == "0"
    await finish(cluster, running[0], code=1)
    again = await later(cluster, 10)
    assert again[0].metadata.annotations[FAILURES] == "1"
    await finish(cluster, again[0], code=1)
    status = (await the(cluster)).status
    assert (status.failed_indexes, status.failed) == ("0", 2)
    assert sorted(await later(cluster, 3600)) == [1]


async def test_a_job_with_failed_indexes_goes_on_to_its_end_and_has_failed(cluster: Cluster) -> None:
    running = await indexed(cluster, 3, backoffLimitPerIndex=0)
    await finish(cluster, running[1], code=1)
    assert "FailureTarget" not in await conditions(cluster)
    await finish(cluster, running[0], running[2])
    said = ("True", "FailedIndexes", "Job has failed indexes")
    assert await conditions(cluster) == {"FailureTarget": said, "Failed": said}
    status = (await the(cluster)).status
    assert (status.completed_indexes, status.failed_indexes) == ("0,2", "1")
    assert said[1:] in await events(cluster)


async def test_too_many_failed_indexes_end_the_job(cluster: Cluster) -> None:
    running = await indexed(cluster, 5, backoffLimitPerIndex=0, maxFailedIndexes=1)
    await finish(cluster, running[0], code=1)
    assert await conditions(cluster) == {}
    await finish(cluster, running[4], code=1)
    reason = "MaxFailedIndexesExceeded"
    message = "Job has exceeded the specified maximal number of failed indexes"
    assert (await conditions(cluster))["Failed"] == ("True", reason, message)
    assert await active(cluster) == []
    status = (await the(cluster)).status
    assert (status.failed_indexes, status.failed) == ("0,4", 5)


async def test_indexes_wait_each_for_itself(cluster: Cluster) -> None:
    running = await indexed(cluster, 2, backoffLimitPerIndex=9)
    await finish(cluster, running[0], code=1)
    again = await later(cluster, 10)
    await finish(cluster, again[0], running[1], code=1)
    assert sorted(await later(cluster, 8)) == [1]
    assert sorted(await later(cluster, 12)) == [0, 1]


async def test_a_failed_pod_is_held_until_another_knows_how_often_its_index_failed(cluster: Cluster) -> None:
    running = await indexed(cluster, 1, backoffLimitPerIndex=3)
    await cluster.finish(running[0], code=1)
    await remove(cluster, running[0])
    assert len(await cluster.list(Pod)) == 1
    again = await later(cluster, 10)
    assert again[0].metadata.annotations[FAILURES] == "1"
    assert len(await cluster.list(Pod)) == 1


# What special failures mean


def on_codes(action: str, *codes: int, operator: str = "In") -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": operator, "values": [*codes]}}


def policy(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"podFailurePolicy": {"rules": [*rules]}}


DISRUPTED = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


async def test_an_exit_code_can_end_the_job(cluster: Cluster) -> None:
    [one, _] = await started(cluster, parallelism=2, completions=2, **policy(on_codes("FailJob", 42)))
    await finish(cluster, one, code=42)
    message = (
        f"Container web for pod default/{one.metadata.name} failed with exit code 42 matching FailJob rule at index 0"
    )
    assert (await conditions(cluster))["Failed"] == ("True", "PodFailurePolicy", message)
    assert await active(cluster) == []
    assert ("PodFailurePolicy", message) in await events(cluster)


async def test_other_exit_codes_go_the_usual_way(cluster: Cluster) -> None:
    [one] = await started(cluster, **policy(on_codes("FailJob", 42)))
    await finish(cluster, one, code=1)
    assert await conditions(cluster) == {}
    assert (await the(cluster)).status.failed == 1


async def test_all_codes_but_some_can_be_meant(cluster: Cluster) -> None:
    [one] = await started(cluster, **policy(on_codes("FailJob", 1, 2, operator="NotIn")))
    await finish(cluster, one, code=3)
    assert (await conditions(cluster))["Failed"][1] == "PodFailurePolicy"


async def test_a_rule_can_be_for_one_container_only(cluster: Cluster) -> None:
    rule = on_codes("FailJob", 42)
    rule["onExitCodes"]["containerName"] = "sidecar"
    containers = [{"name": "web", "image": "web:1"}, {"name": "sidecar", "image": "web:1"}]
    [one] = await started(cluster, **policy(rule), pod={"containers": containers})
    await finish(cluster, one, code=42)
    assert await conditions(cluster) == {}


async def test_ignored_failures_are_not_counted(cluster: Cluster) -> None:
    await started(cluster, backoffLimit=0, **policy(on_codes("Ignore", 42)))
    for _ in range(3):
        await cluster.until_async(lambda: active(cluster))
        await finish(cluster, *await active(cluster), code=42)
    assert (await the(cluster)).status.failed is None
    assert await conditions(cluster) == {}
    assert all(each.metadata.finalizers == [] for each in await cluster.list(Pod))


async def test_disrupted_pods_can_be_ignored(cluster: Cluster) -> None:
    [one] = await started(cluster, backoffLimit=0, **policy(DISRUPTED))
    await finish(cluster, one, code=137, conditions=("DisruptionTarget",))
    assert (await the(cluster)).status.failed is None
    await cluster.until_async(lambda: active(cluster))


async def test_a_condition_can_end_the_job(cluster: Cluster) -> None:
    rule = {"action": "FailJob", "onPodConditions": [{"type": "ConfigIssue", "status": "True"}]}
    [one] = await started(cluster, **policy(rule))
    await finish(cluster, one, code=1, conditions=("ConfigIssue",))
    message = f"Pod default/{one.metadata.name} has condition ConfigIssue matching FailJob rule at index 0"
    assert (await conditions(cluster))["Failed"] == ("True", "PodFailurePolicy", message)


async def test_the_first_rule_that_applies_decides(cluster: Cluster) -> None:
    [one] = await started(cluster, backoffLimit=0, **policy(on_codes("Count", 42), on_codes("FailJob", 42)))
    await finish(cluster, one, code=42)
    assert (await conditions(cluster))["Failed"][1] == "BackoffLimitExceeded"


async def test_an_exit_code_can_end_an_index(cluster: Cluster) -> None:
    running = await indexed(cluster, 2, backoffLimitPerIndex=5, **policy(on_codes("FailIndex", 42)))
    await finish(cluster, running[0], code=42)
    assert (await the(cluster)).status.failed_indexes == "0"
    assert sorted(await later(cluster, 3600)) == [1]


async def test_ignored_failures_of_an_index_are_counted_apart(cluster: Cluster) -> None:
    running = await indexed(cluster, 1, backoffLimitPerIndex=0, **policy(on_codes("Ignore", 42)))
    await finish(cluster, running[0], code=42)
    again = await later(cluster, 10)
    assert again[0].metadata.annotations[FAILURES] == "0"
    assert again[0].metadata.annotations[IGNORED_FAILURES] == "1"
    assert (await the(cluster)).status.failed_indexes == ""


async def test_with_a_failure_policy_a_pod_is_judged_only_when_it_has_ended(cluster: Cluster) -> None:
    await cluster.have_node(ON_A_NODE["nodeName"])
    [one] = await started(cluster, **policy(on_codes("FailJob", 42)), pod=ON_A_NODE)
    await remove(cluster, one)
    await ambient.sleep(60)
    assert await active(cluster) == []
    await finish(cluster, one, code=42)
    assert (await conditions(cluster))["Failed"][1] == "PodFailurePolicy"


# When enough has succeeded


@pytest.mark.parametrize(
    ("rule", "enough", "number"),
    [
        ({"succeededIndexes": "0,2"}, (0, 2), 0),
        ({"succeededCount": 2}, (1, 3), 0),
        ({"succeededIndexes": "1-3", "succeededCount": 1}, (3,), 0),
    ],
)
async def test_some_successes_can_be_enough(
    cluster: Cluster, rule: dict[str, Any], enough: tuple[int, ...], number: int
) -> None:
    running = await indexed(cluster, 4, successPolicy={"rules": [rule]})
    for index in enough[:-1]:
        await finish(cluster, running[index])
    assert await conditions(cluster) == {}
    await finish(cluster, running[enough[-1]])
    said = ("True", "SuccessPolicy", f"Matched rules at index {number}")
    assert await conditions(cluster) == {"SuccessCriteriaMet": said, "Complete": said}


async def test_what_is_stopped_because_of_success_has_not_failed(cluster: Cluster) -> None:
    running = await indexed(cluster, 4, successPolicy={"rules": [{"succeededIndexes": "0"}]})
    await finish(cluster, running[0])
    assert await active(cluster) == []
    status = (await the(cluster)).status
    assert (status.succeeded, status.failed, status.active) == (1, None, None)
    assert [each.metadata.name for each in await cluster.list(Pod)] == [running[0].metadata.name]


async def test_a_job_that_met_its_criteria_is_complete_when_the_last_pod_has_ended(cluster: Cluster) -> None:
    running = await indexed(cluster, 2, successPolicy={"rules": [{"succeededIndexes": "0"}]}, pod=ON_A_NODE)
    await finish(cluster, running[0])
    assert set(await conditions(cluster)) == {"SuccessCriteriaMet"}
    await remove(cluster, running[1], grace_period=0)
    assert set(await conditions(cluster)) == {"SuccessCriteriaMet", "Complete"}


async def test_all_indexes_are_enough_even_if_no_rule_is_met(cluster: Cluster) -> None:
    running = await indexed(cluster, 2, successPolicy={"rules": [{"succeededCount": 2}]})
    await finish(cluster, *running.values())
    assert "Complete" in await conditions(cluster)


async def test_failures_go_before_success_policies(cluster: Cluster) -> None:
    await indexed(cluster, 2, backoffLimit=0, successPolicy={"rules": [{"succeededIndexes": "0"}]})
    await fail_all(cluster, 1)
    assert (await conditions(cluster))["Failed"][1] == "BackoffLimitExceeded"
