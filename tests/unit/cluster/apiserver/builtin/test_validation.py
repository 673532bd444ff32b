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
    KINDS,
    STATUSES,
    UPDATES,
    Answer,
    Case,
    Json,
    answers,
    but,
    made,
)
from windvane.api.kind import Kind
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.builtin.decode import examine
from windvane.cluster.apiserver.builtin.defaults import apply_defaults
from windvane.cluster.apiserver.builtin.prepare import prepare_create, prepare_update
from windvane.cluster.apiserver.builtin.scheme import class_for
from windvane.cluster.apiserver.builtin.validation import validate_create, validate_status_update, validate_update

ANSWERS = answers()
ENVELOPE = ("apiVersion", "kind", "metadata")
SHOWS_DIFFERENCE = ("Forbidden: pod updates", "Forbidden: spec.persistentvolumesource")
DECODED = [case for case in CREATES if not isinstance(ANSWERS[case.name], str)]


def told(causes: Iterable[StatusCause]) -> list[list[str]]:
    return [[cause.reason, cause.field, cause.message] for cause in causes]


def comparable(answer: Answer) -> list[list[str]]:
    """Causes without repetitions, and without what shows Go's internal types, which we don't have."""
    told_once: list[list[str]] = []
    for reason, field, message in answer if isinstance(answer, list) else []:
        shown = message.split("\n")[0] if message.startswith(SHOWS_DIFFERENCE) else message
        shown = re.sub(r"\{.*\}", "{…}", shown) if field == "spec.template" else shown
        if [reason, field, shown] not in told_once:
            told_once.append([reason, field, shown])
    return told_once


@pytest.mark.parametrize("case", DECODED, ids=lambda case: case.name[:100])
def test_a_new_object_is_judged_as_the_real_server_judges_it(case: Case) -> None:
    recorded = ANSWERS[case.name]
    assert told(validate_create(case.kind, made(case))) == (recorded if isinstance(recorded, list) else [])


@pytest.mark.parametrize("case", UPDATES, ids=lambda case: case.name[:100])
def test_a_change_is_judged_as_the_real_server_judges_it(case: Case) -> None:
    old = made(case)
    obj = but(old, case.change or {})
    apply_defaults(case.kind, obj)
    prepare_update(case.kind, obj, old)
    assert comparable(told(validate_update(case.kind, obj, old))) == comparable(ANSWERS[case.name])


@pytest.mark.parametrize("case", STATUSES, ids=lambda case: case.name[:100])
def test_a_status_is_judged_as_the_real_server_judges_it(case: Case) -> None:
    old = made(case)
    obj = but(old, case.change or {})
    apply_defaults(case.kind, obj)
    assert comparable(told(validate_status_update(case.kind, obj, old))) == comparable(ANSWERS[case.name])


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_an_object_with_nothing_in_it_is_refused(kind: Kind) -> None:
    obj: Json = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"uid": "UID"}}
    apply_defaults(kind, obj)
    prepare_create(kind, obj)
    assert told(validate_create(kind, obj))[0][1] == "metadata.name"
    validate_update(kind, obj, deepcopy(obj))


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
        validate_create(case.kind, obj)
        validate_update(case.kind, obj, deepcopy(obj))


def test_a_finished_job_stays_finished() -> None:
    true = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    times = {"status.startTime": "2026-01-01T00:00:00Z", "status.completionTime": "2026-01-01T00:00:00Z"}
    old = but(made(Case("", JOB)), times | {"status.conditions": true})
    messages = [
        cause.message
        for cause in validate_status_update(KINDS["batch/v1", "Job"], but(old, {"status.conditions": []}), old)
    ]
    assert "Invalid value: cannot disable the terminal Complete=True condition" in messages


def test_numbers_without_end_are_refused_and_not_computed() -> None:
    many = "9" * 5000
    deployment = made(Case("", but(DEPLOYMENT, {"spec.strategy.rollingUpdate.maxUnavailable": f"{many}%"})))
    cron_job = made(Case("", but(CRON_JOB, {"spec.schedule": f"{many} * * * *"})))
    validate_create(KINDS["apps/v1", "Deployment"], deployment)
    (cause,) = validate_create(KINDS["batch/v1", "CronJob"], cron_job)
    assert cause.message.endswith("value out of range")
