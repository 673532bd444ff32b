"""Deleting: at once, with preconditions, with grace, and what holds an object back."""

from typing import Any

from conformance.objects import config_map, deployment, pod
from conformance.requests import Raw


def options(**rest: Any) -> dict[str, Any]:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **rest}


async def test_a_deleted_object_of_a_group_is_told_with_its_group(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    details = (await raw.ok("DELETE deployments/web"))["details"]
    assert details == {"name": "web", "group": "apps", "kind": "deployments", "uid": made["metadata"]["uid"]}


async def test_an_object_goes_when_the_last_finalizer_does(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x", "a.example/y"]}))
    leaving = await raw.ok("DELETE configmaps/a")
    first = await raw.ok("PATCH configmaps/a", {"metadata": {"finalizers": ["a.example/y"]}}, patch="merge")
    assert first["metadata"]["deletionTimestamp"] == leaving["metadata"]["deletionTimestamp"]
    await raw.ok("PATCH configmaps/a", {"metadata": {"finalizers": []}}, patch="merge")
    assert (await raw("GET configmaps/a")).code == 404


async def test_deleting_again_what_leaves_changes_nothing(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))
    leaving = await raw.ok("DELETE configmaps/a")
    assert await raw.ok("DELETE configmaps/a") == leaving


async def test_a_pod_with_grace_goes_with_a_second_deletion_without(raw: Raw) -> None:
    await raw.ok("POST pods", pod(nodeName="n1"))
    await raw.ok("DELETE pods/p")
    assert (await raw.ok("GET pods/p"))["metadata"]["deletionTimestamp"]
    await raw.ok("DELETE pods/p?gracePeriodSeconds=0")
    assert (await raw("GET pods/p")).code == 404


async def test_a_namesake_is_not_deleted_by_the_uid_of_the_one_before(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps/a")
    again = await raw.ok("POST configmaps", config_map())
    assert again["metadata"]["uid"] != made["metadata"]["uid"]
    wanted = options(preconditions={"uid": made["metadata"]["uid"]})
    assert (await raw("DELETE configmaps/a", wanted)).refusal.reason == "Conflict"


async def test_a_collection_page_is_deleted_with_a_limit(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))
    await raw.ok("DELETE configmaps?limit=2")
    assert [item["metadata"]["name"] for item in (await raw.ok("GET configmaps"))["items"]] == ["c"]
