"""Rules of built-in kinds are told word for word as the real server tells them."""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy

import pytest

from builtin_cases import (
    ABSENT,
    CREATES,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    STATUSES,
    STRATEGIES,
    UPDATES,
    Answer,
    Case,
    Json,
    answers,
    but,
    made,
    without_uids,
)
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.schema.go_decoder import examine
from windvane.cluster.apiserver.schema.scheme import class_for

ANSWERS = answers()
ENVELOPE = ("apiVersion", "kind", "metadata")
SHOWS_DIFFERENCE = ("Forbidden: pod updates", "Forbidden: spec.persistentvolumesource")
DECODED = [case for case in CREATES if not isinstance(ANSWERS[case.name], str)]


def told(causes: Iterable[StatusCause]) -> list[list[str]]:
    said: list[list[str]] = without_uids([[cause.reason, cause.field, cause.message] for cause in causes])
    return said


def comparable(answer: Answer) -> list[list[str]]:
    """Causes without repetitions, and without what shows Go's internal types, which we don't have."""
    told_once: list[list[str]] = []
    for reason, field, message in answer if isinstance(answer, list) else []:
        shown = message.split("\n")[0] if message.startswith(SHOWS_DIFFERENCE) else message
        hidden = field == "spec.template" or (field == "spec" and message.endswith("}: field is immutable"))
        shown = re.sub(r"\{.*\}", "{…}", shown) if hidden else shown
        if [reason, field, shown] not in told_once:
            told_once.append([reason, field, shown])
    return told_once


@pytest.mark.parametrize("case", DECODED, ids=lambda case: case.name[:100])
def test_a_new_object_is_judged_as_the_real_server_judges_it(case: Case) -> None:
    recorded = ANSWERS[case.name]
    assert told(case.strategy.problems_of_new(made(case))) == (recorded if isinstance(recorded, list) else [])


@pytest.mark.parametrize("case", UPDATES, ids=lambda case: case.name[:100])
def test_a_change_is_judged_as_the_real_server_judges_it(case: Case) -> None:
    old = made(case)
    obj = but(old, case.change or {})
    case.strategy.apply_defaults(obj)
    case.strategy.prepare_for_update(obj, old, "")
    assert comparable(told(case.strategy.problems_of_change(obj, old))) == comparable(ANSWERS[case.name])


@pytest.mark.parametrize("case", STATUSES, ids=lambda case: case.name[:100])
def test_a_status_is_judged_as_the_real_server_judges_it(case: Case) -> None:
    old = made(case)
    obj = but(old, case.change or {})
    case.strategy.apply_defaults(obj)
    assert comparable(told(case.strategy.problems_of_part("status", obj, old))) == comparable(ANSWERS[case.name])


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=lambda strategy: str(strategy.kind))
def test_an_object_with_nothing_in_it_is_refused(strategy: BuiltinStrategy) -> None:
    obj: Json = {"apiVersion": strategy.kind.api_version, "kind": strategy.kind.name, "metadata": {"uid": "UID"}}
    strategy.apply_defaults(obj)
    strategy.prepare_for_create(obj)
    assert told(strategy.problems_of_new(obj))[0][1] == "metadata.name"
    strategy.problems_of_change(obj, deepcopy(obj))


def holes(value: object, path: str = "") -> Iterator[Json]:
    """Every change that takes one thing out of a manifest, or empties it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        here = f"{path}{key}"
        if isinstance(value, dict):
            yield {here: ABSENT}
        yield {here: type(each)()}
        yield from holes(each, f"{here}.")


@pytest.mark.parametrize("case", [case for case in DECODED if ":" not in case.name], ids=lambda case: case.name)
def test_no_hole_in_an_object_is_too_deep(case: Case) -> None:
    content = {field: value for field, value in case.manifest.items() if field not in ENVELOPE}
    for change in holes(content):
        manifest = but(case.manifest, change)
        if examine(
            class_for(case.kind.group, case.kind.api_version, case.kind.name), manifest, case.kind.version
        ).problem:
            continue
        obj = made(Case("", manifest))
        case.strategy.problems_of_new(obj)
        case.strategy.problems_of_change(obj, deepcopy(obj))


def test_a_finished_job_stays_finished() -> None:
    true = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    times = {"status.startTime": "2026-01-01T00:00:00Z", "status.completionTime": "2026-01-01T00:00:00Z"}
    old = but(made(Case("", JOB)), times | {"status.conditions": true})
    messages = [
        cause.message
        for cause in STRATEGIES["batch/v1", "Job"].problems_of_part("status", but(old, {"status.conditions": []}), old)
    ]
    assert "Invalid value: cannot disable the terminal Complete=True condition" in messages


def test_numbers_without_end_are_refused_and_not_computed() -> None:
    many = "9" * 5000
    deployment = made(Case("", but(DEPLOYMENT, {"spec.strategy.rollingUpdate.maxUnavailable": f"{many}%"})))
    cron_job = made(Case("", but(CRON_JOB, {"spec.schedule": f"{many} * * * *"})))
    STRATEGIES["apps/v1", "Deployment"].problems_of_new(deployment)
    (cause,) = STRATEGIES["batch/v1", "CronJob"].problems_of_new(cron_job)
    assert cause.message.endswith("value out of range")
