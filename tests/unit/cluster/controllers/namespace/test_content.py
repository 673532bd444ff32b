"""How the conditions of a namespace say what is left in it."""

from datetime import UTC, datetime, timedelta

import pytest

from windvane.api.kind import Kind
from windvane.cluster.controllers.namespace.content import NamespaceContent, conditions, grace_of
from windvane.cluster.controllers.namespace.controller import next_look
from windvane.k8s.core import NamespaceCondition, Pod, PodSpec, PodStatus

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PODS = Kind(group="", version="v1", name="Pod", plural="pods")
JOBS = Kind(group="batch", version="v1", name="Job", plural="jobs")


def by_type(found: list[NamespaceCondition]) -> dict[str, tuple[str, str | None, str | None]]:
    return {each.type: (each.status, each.reason, each.message) for each in found}


def test_an_empty_namespace_has_nothing_wrong_with_it() -> None:
    assert by_type(conditions([], NamespaceContent(), NOW)) == {
        "NamespaceDeletionDiscoveryFailure": (
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": ("False", "ContentRemoved", "All content successfully removed"),
        "NamespaceFinalizersRemaining": (
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    }


def test_what_remains_is_counted_by_kind() -> None:
    content = NamespaceContent()
    content.add(PODS, [[], []], namespace="web", grace=30)
    content.add(JOBS, [["example.com/wait"]], namespace="web", grace=0)
    assert by_type(conditions([], content, NOW))["NamespaceContentRemaining"] == (
        "True",
        "SomeResourcesRemain",
        "Some resources are remaining: jobs.batch has 1 resource instances, pods. has 2 resource instances",
    )


def test_finalizers_are_counted_over_all_kinds() -> None:
    content = NamespaceContent()
    content.add(PODS, [["b", "a"], ["b"]], namespace="web", grace=0)
    content.add(JOBS, [["b"]], namespace="web", grace=0)
    assert by_type(conditions([], content, NOW))["NamespaceFinalizersRemaining"] == (
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: a in 1 resource instances, b in 3 resource instances",
    )


def test_what_remains_without_a_finalizer_or_a_grace_period_is_a_failure() -> None:
    content = NamespaceContent()
    content.add(JOBS, [[]], namespace="web", grace=0)
    words = "unexpected items still remain in namespace: web for gvr: batch/v1, Resource=jobs"
    assert by_type(conditions([], content, NOW))["NamespaceDeletionContentFailure"] == (
        "True",
        "ContentDeletionFailed",
        f"Failed to delete all resource types, 1 remaining: {words}",
    )


def test_without_discovery_nobody_knows() -> None:
    content = NamespaceContent(undiscovered="the server is busy")
    assert by_type(conditions([], content, NOW))["NamespaceDeletionDiscoveryFailure"] == (
        "True",
        "DiscoveryFailed",
        "the server is busy",
    )


def test_a_condition_knows_since_when_it_is_so() -> None:
    before = conditions([], NamespaceContent(undiscovered="busy"), NOW)
    later = NOW + timedelta(minutes=1)
    after = conditions(before, NamespaceContent(undiscovered="still busy"), later)
    assert {each.last_transition_time for each in after} == {NOW}


def test_a_condition_that_changes_is_so_since_now() -> None:
    before = conditions([], NamespaceContent(undiscovered="busy"), NOW)
    later = NOW + timedelta(minutes=1)
    after = {each.type: each.last_transition_time for each in conditions(before, NamespaceContent(), later)}
    assert after["NamespaceDeletionDiscoveryFailure"] == later
    assert after["NamespaceContentRemaining"] == NOW


def test_conditions_of_others_stay() -> None:
    other = NamespaceCondition(type="Haunted", status="True")
    assert conditions([other], NamespaceContent(), NOW)[0] == other


def test_content_takes_as_long_as_its_slowest_part() -> None:
    content = NamespaceContent()
    content.add(JOBS, [["example.com/wait"]], namespace="web", grace=0)
    assert content.seconds == 15
    content.add(PODS, [[]], namespace="web", grace=30)
    assert content.seconds == 30


def pod(grace: int | None, phase: str = "Running") -> Pod:
    return Pod(spec=PodSpec(termination_grace_period_seconds=grace, containers=[]), status=PodStatus(phase=phase))


def test_pods_may_take_as_long_as_the_most_patient_of_them() -> None:
    assert grace_of([pod(5), pod(30), pod(None)], waited=0) == 30


def test_pods_that_have_ended_take_no_time() -> None:
    assert grace_of([pod(30, "Succeeded"), pod(5), pod(60, "Failed")], waited=0) == 5


def test_pods_that_had_their_time_get_no_more() -> None:
    assert grace_of([pod(30)], waited=30) == 0


@pytest.mark.parametrize(
    ("estimate", "waited", "seconds"),
    [(15, 0.0, 1.0), (15, 6.0, 3.0), (15, 600.0, 8.5), (30, 20.0, 10.0), (1, 9.0, 1.5)],
)
def test_looks_become_rarer_but_no_rarer_than_the_estimate_says(estimate: int, waited: float, seconds: float) -> None:
    assert next_look(estimate, waited) == seconds
