"""Patches of three sorts: JSON patches, merge patches and, for built-in kinds, strategic merge patches."""

import re
from typing import Any

import pytest

from conformance.objects import config_map, deployment
from conformance.requests import Raw, Refused


async def test_a_patch_that_changes_nothing_keeps_the_version(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    assert await raw.ok("PATCH configmaps/a", {"data": {"k": "1"}}, patch="merge") == made


async def test_a_dry_run_of_a_patch_changes_nothing(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    tried = await raw.ok("PATCH configmaps/a?dryRun=All", {"data": {"k": "2"}}, patch="merge")
    assert tried["data"] == {"k": "2"}
    assert await raw.ok("GET configmaps/a") == made


async def test_a_patch_with_the_current_version_is_conditional(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    change = {"data": {"k": "v"}, "metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}}
    assert (await raw.ok("PATCH configmaps/a", change, patch="merge"))["data"] == {"k": "v"}
    assert (await raw("PATCH configmaps/a", {**change, "data": {"k": "w"}}, patch="merge")).code == 409


async def test_an_object_that_a_patch_leaves_without_finalizers_goes(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))
    await raw.ok("DELETE configmaps/a")
    last = await raw.ok("PATCH configmaps/a", [{"op": "remove", "path": "/metadata/finalizers"}], patch="json")
    assert "finalizers" not in last["metadata"]
    assert (await raw("GET configmaps/a")).code == 404


# Such an error quotes the whole patched object.
UNREADABLE = [
    (
        "configmaps/a",
        {"data": "x"},
        "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
    ),
    ("configmaps/a", {"kind": "Secret"}, "illegal base64 data at input byte 0"),
    (
        "configmaps/a",
        {"apiVersion": "v2"},
        'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
    ),
    (
        "deployments/web",
        {"spec": {"replicas": "x"}},
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    ("configmaps/a?fieldValidation=Strict", {"color": "red"}, 'strict decoding error: unknown field "color"'),
]


@pytest.mark.parametrize(("path", "change", "complaint"), UNREADABLE)
async def test_what_a_patch_makes_must_be_readable(raw: Raw, path: str, change: Any, complaint: str) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    await raw.ok("POST deployments", deployment())
    refusal = (await raw(f"PATCH {path}", change, patch="merge")).refusal
    shown = re.sub(r'"\{.*\}"', "OBJECT", refusal.message)
    assert shown == f' "" is invalid: patch: Invalid value: OBJECT: {complaint}'
    assert (refusal.code, refusal.reason, refusal.about) == (422, "Invalid", "")
    assert refusal.causes == ["FieldValueInvalid patch"]


async def test_more_than_ten_thousand_operations(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    operation = {"op": "test", "path": "/data/k", "value": "1"}
    await raw.ok("PATCH configmaps/a", [operation] * 10_000, patch="json")
    problem = "The allowed maximum operations in a JSON patch is 10000, got 10001"
    answer = await raw("PATCH configmaps/a", [operation] * 10_001, patch="json")
    assert answer.refusal == Refused(413, "RequestEntityTooLarge", f"Request entity too large: {problem}")
