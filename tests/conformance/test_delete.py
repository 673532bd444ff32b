"""Deleting: at once, with preconditions, with grace, and what holds an object back."""

from typing import Any

import pytest

from conformance.crds import gadget
from conformance.objects import config_map, deployment, pod
from conformance.requests import Raw, Refused


def options(**rest: Any) -> dict[str, Any]:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **rest}


async def test_a_deleted_object_is_told_in_a_status(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    assert await raw.ok("DELETE configmaps/a") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_deleted_object_of_a_group_is_told_with_its_group(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    details = (await raw.ok("DELETE deployments/web"))["details"]
    assert details == {"name": "web", "group": "apps", "kind": "deployments", "uid": made["metadata"]["uid"]}


async def test_a_precondition_on_the_uid_names_both(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    refusal = (await raw("DELETE configmaps/a", options(preconditions={"uid": "other"}))).refusal
    assert refusal == Refused(
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match '
        f"the UID in record ({made['metadata']['uid']}). The object might have been deleted and then recreated",
        "ConfigMap a",
    )


async def test_a_precondition_on_the_version_names_both(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    refusal = (await raw("DELETE configmaps/a", options(preconditions={"resourceVersion": "1"}))).refusal
    assert refusal == Refused(
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match '
        f"the ResourceVersion in record ({made['metadata']['resourceVersion']}). The object might have been modified",
        "ConfigMap a",
    )


async def test_preconditions_that_hold(raw: Raw) -> None:
    made = (await raw.ok("POST configmaps", config_map()))["metadata"]
    wanted = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    assert (await raw.ok("DELETE configmaps/a", options(preconditions=wanted)))["status"] == "Success"


async def test_a_dry_run_deletes_nothing(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps/a?dryRun=All")
    assert await raw.ok("GET configmaps/a") == made


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


async def test_foreground_and_then_background_drops_the_finalizer(raw: Raw) -> None:
    await raw.ok("POST deployments", deployment())
    await raw.ok("DELETE deployments/web?propagationPolicy=Foreground")
    await raw.ok("DELETE deployments/web?propagationPolicy=Background")
    assert (await raw("GET deployments/web")).code == 404


async def test_foreground_keeps_other_finalizers(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))
    leaving = await raw.ok("DELETE configmaps/a?propagationPolicy=Foreground")
    assert sorted(leaving["metadata"]["finalizers"]) == ["a.example/x", "foregroundDeletion"]


async def test_what_the_query_says_counts_only_without_a_body(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps/a?dryRun=All&propagationPolicy=Sometimes", {"propagationPolicy": "Background"})
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_deletion_moves_the_generation_of_what_has_one(raw: Raw, crds: None) -> None:
    await raw.ok("POST gadgets", {**gadget(), "metadata": {"name": "g", "finalizers": ["a.example/x"]}})
    leaving = await raw.ok("DELETE gadgets/g")
    assert leaving["metadata"]["generation"] == 2


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


@pytest.mark.parametrize("selector", ["labelSelector=app=x", "fieldSelector=metadata.name=a"])
async def test_a_collection_is_deleted_by_selector(raw: Raw, selector: str) -> None:
    await raw.ok("POST configmaps", config_map("a", metadata={"labels": {"app": "x"}}))
    await raw.ok("POST configmaps", config_map("b"))
    gone = await raw.ok(f"DELETE configmaps?{selector}")
    assert [item["metadata"]["name"] for item in gone["items"]] == ["a"]
    assert [item["metadata"]["name"] for item in (await raw.ok("GET configmaps"))["items"]] == ["b"]


async def test_a_collection_in_a_dry_run_stays(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps?dryRun=All")
    assert (await raw("GET configmaps/a")).code == 200


async def test_a_collection_keeps_what_finalizers_hold(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a", metadata={"finalizers": ["a.example/x"]}))
    await raw.ok("POST configmaps", config_map("b"))
    await raw.ok("DELETE configmaps")
    left = (await raw.ok("GET configmaps"))["items"]
    assert [item["metadata"]["name"] for item in left] == ["a"]
    assert left[0]["metadata"]["deletionTimestamp"]


async def test_a_collection_page_is_deleted_with_a_limit(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))
    await raw.ok("DELETE configmaps?limit=2")
    assert [item["metadata"]["name"] for item in (await raw.ok("GET configmaps"))["items"]] == ["c"]
