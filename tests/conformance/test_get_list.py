"""Reading one object and many: selectors, pages, and which moment the answer is about."""

import base64
import json
from typing import Any

import pytest

from conformance.objects import config_map
from conformance.requests import Raw


async def test_any_version_will_do(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.remembered("configmaps/a")
    assert (await raw.ok("GET configmaps/a?resourceVersion=0"))["metadata"]["name"] == "a"


async def test_one_object_by_field_across_namespaces(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    found = await raw.ok("GET /api/v1/configmaps?fieldSelector=metadata.namespace={ns}")
    assert names_of(found) == ["a"]


async def three(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))


async def test_pages_go_on_where_the_last_ended(raw: Raw) -> None:
    await three(raw)
    first = await raw.ok("GET configmaps?limit=2")
    assert names_of(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 1
    second = await raw.ok(f"GET configmaps?limit=2&continue={first['metadata']['continue']}")
    assert names_of(second) == ["c"]
    assert set(second["metadata"]) == {"resourceVersion"}


async def test_all_pages_are_of_one_moment(raw: Raw) -> None:
    await three(raw)
    first = await raw.ok("GET configmaps?limit=1")
    await raw.ok("DELETE configmaps/b")
    await raw.ok("POST configmaps", config_map("d"))
    rest = await raw.ok(f"GET configmaps?continue={first['metadata']['continue']}")
    assert names_of(rest) == ["b", "c"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_pages_with_a_selector_do_not_count_what_remains(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name, metadata={"labels": {"app": "x"}}))
    first = await raw.ok("GET configmaps?limit=1&labelSelector=app=x")
    assert set(first["metadata"]) == {"resourceVersion", "continue"}
    second = await raw.ok(f"GET configmaps?limit=5&labelSelector=app=x&continue={first['metadata']['continue']}")
    assert names_of(second) == ["b", "c"]


async def test_a_page_is_filled_with_what_matches(raw: Raw) -> None:
    for name, app in zip("abcd", "xyxy", strict=True):
        await raw.ok("POST configmaps", config_map(name, metadata={"labels": {"app": app}}))
    first = await raw.ok("GET configmaps?limit=2&labelSelector=app=y")
    assert names_of(first) == ["b", "d"]


async def test_a_continue_token_says_where_in_base64(raw: Raw) -> None:
    await three(raw)
    first = await raw.ok("GET configmaps?limit=1")
    token = first["metadata"]["continue"]
    read = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    version = int(first["metadata"]["resourceVersion"])
    assert read == {"v": "meta.k8s.io/v1", "rv": version, "start": "/a\u0000"}


async def test_a_list_may_be_of_an_exact_moment(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    then = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    await raw.ok("POST configmaps", config_map("b"))
    exact = await raw.ok(f"GET configmaps?resourceVersion={then}&resourceVersionMatch=Exact")
    assert names_of(exact) == ["a"]
    assert exact["metadata"]["resourceVersion"] == then


async def test_a_limited_list_at_a_version_is_of_that_exact_moment(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    then = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    await raw.ok("DELETE configmaps/a")
    assert names_of(await raw.ok(f"GET configmaps?resourceVersion={then}&limit=5")) == ["a"]


async def test_a_list_not_older_than_a_version_is_of_now(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    then = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    newest = (await raw.ok("POST configmaps", config_map("b")))["metadata"]["resourceVersion"]
    await raw.remembered("configmaps/b")  # a real server lists what it has in memory
    found = await raw.ok(f"GET configmaps?resourceVersion={then}&resourceVersionMatch=NotOlderThan")
    assert names_of(found) == ["a", "b"]
    assert int(found["metadata"]["resourceVersion"]) >= int(newest)


async def test_a_list_sees_what_was_just_written(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    found = await raw.ok("GET configmaps")
    assert int(found["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])


async def test_an_item_of_a_list_has_its_own_version(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map("a"))
    await raw.ok("POST configmaps", config_map("b"))
    found = await raw.ok("GET configmaps")
    assert found["items"][0]["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_all_namespaces_are_listed_in_the_order_of_their_paths(raw: Raw) -> None:
    other = await raw.ok("POST /api/v1/namespaces", {"metadata": {"name": raw.namespace + "-b"}})
    place = f"/apis/coordination.k8s.io/v1/namespaces/{other['metadata']['name']}/leases"
    await raw.ok(f"POST {place}", {"metadata": {"name": "a"}})
    await raw.ok("POST leases", {"metadata": {"name": "b"}})
    found = await raw.ok("GET /apis/coordination.k8s.io/v1/leases")
    # The separator counts: `x-b/a` comes before `x/b`.
    places = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found["items"]]
    assert places == sorted(places)
    assert {f"{raw.namespace}/b", f"{raw.namespace}-b/a"} <= set(places)


async def test_a_version_that_is_not_reached_within_three_seconds_is_a_timeout(raw: Raw) -> None:
    answer = await raw("GET configmaps?resourceVersion=9999999999999999999&resourceVersionMatch=NotOlderThan")
    refusal = answer.refusal
    known, _, current = refusal.message.rpartition(" ")
    assert current.isdecimal()
    assert known == "Timeout: Too large resource version: 9999999999999999999, current:"
    assert (refusal.code, refusal.reason, refusal.retry_after) == (504, "Timeout", 1)
    assert answer.json["details"]["causes"] == [
        {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    ]


def names_of(found: Any) -> list[str]:
    return [item["metadata"]["name"] for item in found["items"]]


@pytest.mark.parametrize(("value", "expected"), [("false", ["open"]), ("true", ["cordoned"])])
async def test_nodes_by_whether_pods_may_come(raw: Raw, value: str, expected: list[str]) -> None:
    label = raw.namespace
    for name, spec in (("open", {}), ("cordoned", {"unschedulable": True})):
        node = {"metadata": {"name": f"{label}-{name}", "labels": {"of": label}}, "spec": spec}
        await raw.ok("POST /api/v1/nodes", node)
    found = await raw.ok(f"GET /api/v1/nodes?labelSelector=of={label}&fieldSelector=spec.unschedulable={value}")
    assert [item["metadata"]["name"] for item in found["items"]] == [f"{label}-{each}" for each in expected]
