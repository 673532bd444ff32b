"""Objects of built-in kinds are completed exactly as the real server completes them."""

from copy import deepcopy

import pytest

from builtin_cases import CREATES, POD, STATUSES, UPDATES, Case, answers, bare, but, made, without_uids
from windvane.cluster.apiserver.registry.core.pod.defaults import pull_policy

ANSWERS = answers()
ACCEPTED = [case for case in CREATES if isinstance(ANSWERS[case.name], dict)]
CHANGED = [case for case in (*UPDATES, *STATUSES) if isinstance(ANSWERS[case.name], dict)]


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.name[:100])
def test_an_object_is_completed_as_the_real_server_does_it(case: Case) -> None:
    assert bare(made(case)) == ANSWERS[case.name]


@pytest.mark.parametrize("case", CHANGED, ids=lambda case: case.name[:100])
def test_a_changed_object_is_completed_as_the_real_server_does_it(case: Case) -> None:
    old = made(case)
    obj = but(old, case.change or {})
    case.strategy.apply_defaults(obj)
    case.strategy.prepare_for_update(obj, old, "")
    assert without_uids(bare(obj)) == ANSWERS[case.name]


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.name[:100])
def test_a_complete_object_has_nothing_to_fill_in(case: Case) -> None:
    obj = made(case)
    again = deepcopy(obj)
    case.strategy.apply_defaults(again)
    assert again == obj


def test_null_in_a_list_is_an_empty_thing() -> None:
    case = Case("", but(POD, {"spec.containers.1": None, "spec.containers.0.args": ["a", None]}))
    first, second = made(case)["spec"]["containers"]
    assert first["args"] == ["a", ""]
    assert second["imagePullPolicy"] == "Always"


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:" + "a" * 64, "IfNotPresent"),
        ("", "Always"),
    ],
)
def test_what_may_change_under_its_name_is_always_pulled(image: str, policy: str) -> None:
    assert pull_policy(image) == policy
