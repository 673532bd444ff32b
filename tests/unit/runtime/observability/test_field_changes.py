"""Which fields a change changed, and which field manager made it."""

from typing import Any

import msgspec
import pytest

from windvane.runtime.observability.field_changes import FIELDS, NOTHING, field_change


def told(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return field_change(msgspec.json.encode(before), msgspec.json.encode(after)).fields


def ready(status: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": status}]}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a number": ({"spec": {"replicas": 3}}, {"spec": {"replicas": 5}}, ["spec.replicas 3 → 5"]),
    "a boolean that is new": ({"spec": {}}, {"spec": {"paused": True}}, ["spec.paused is true"]),
    "a text, which may be a password": ({"spec": {"url": "a"}}, {"spec": {"url": "b"}}, ["spec.url"]),
    "a Secret": ({"data": {"key": "YQ=="}}, {"data": {"key": "Yg=="}}, ["data.key"]),
    "what is gone": ({"spec": {"port": 80}}, {"spec": {}}, ["spec.port is gone"]),
    "a phase": ({"status": {"phase": "Pending"}}, {"status": {"phase": "Running"}}, ["status.phase Pending → Running"]),
    "a condition, by its type": (ready("False"), ready("True"), ["status.conditions[Ready].status False → True"]),
    "a phase that is no word": ({"status": {}}, {"status": {"phase": "x" * 61}}, ["status.phase"]),
    "a word that is not a status": ({"spec": {"phase": "a"}}, {"spec": {"phase": "b"}}, ["spec.phase"]),
    "labels": ({"metadata": {"labels": {"a": "1"}}}, {"metadata": {"labels": {}}}, ["metadata.labels.a is gone"]),
    "nothing but the version": ({"metadata": {"resourceVersion": "1"}}, {"metadata": {"resourceVersion": "2"}}, []),
    "a list that grew": ({"spec": {"args": ["a"]}}, {"spec": {"args": ["a", "b"]}}, ["spec.args[1]"]),
    "more than is told": ({"spec": {}}, {"spec": dict.fromkeys("abcde", 1)}, [f"spec.{it} is 1" for it in "abc"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_differs_is_told_and_nothing_that_may_be_secret(case: str) -> None:
    before, after, expected = CASES[case]
    assert told(before, after) == expected
    assert len(expected) <= FIELDS


def managed(*entries: tuple[str, str]) -> bytes:
    fields = [{"manager": manager, "time": time} for manager, time in entries]
    return msgspec.json.encode({"metadata": {"managedFields": fields}})


def test_the_field_manager_is_the_one_whose_entry_is_new() -> None:
    before = managed(("website", "2030-01-01T00:00:00Z"))
    after = managed(("website", "2030-01-01T00:00:00Z"), ("kubectl-edit", "2030-01-01T00:00:05Z"))
    assert field_change(before, after).manager == "kubectl-edit"
    assert field_change(b"", before).manager == "website"
    assert field_change(after, after).manager == ""


def owns(manager: str, time: str, *fields: str, subresource: str = "") -> dict[str, Any]:
    owned: dict[str, Any] = {f"f:{each}": {} for each in fields}
    return {"manager": manager, "time": time, "subresource": subresource, "fieldsV1": {"f:spec": owned}}


@pytest.mark.parametrize("other", [1, -1])
def test_who_takes_a_field_over_made_the_change_also_within_the_same_second(other: int) -> None:
    now = "2030-01-01T00:00:00Z"
    before = [owns("website", now, "replicas", "template"), owns("scaler", now)]
    after = [
        owns("website", now, "template"),
        owns("scaler", now, "replicas", subresource="scale"),
        owns("scaler", now),
    ]
    changed = [msgspec.json.encode({"metadata": {"managedFields": each[::other]}}) for each in (before, after)]
    assert field_change(changed[0], changed[1]).manager == "scaler"
    assert field_change(changed[1], changed[0]).manager == "website"


def test_an_object_that_cannot_be_read_is_no_reason_to_fail() -> None:
    deep = b'{"spec": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}"
    for raw in (b"{", b'{"metadata": 1}', b'{"metadata": {"managedFields": 1}}', b'{"a": "\xff"}', deep):
        assert field_change(b'{"spec": {}}', raw).manager == ""
    assert field_change(b"{}", b"{") == NOTHING
