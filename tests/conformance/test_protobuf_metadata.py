"""Metadata alone is also answered in protobuf. What the real server sends is, byte for byte, what we write."""

from typing import Any

from conformance.objects import config_map
from conformance.requests import Raw
from windvane.cluster.apiserver.wire.protobuf_metadata import write_event, write_metadata

SHAPE = "as={};g=meta.k8s.io;v=v1"
PROTOBUF = "application/vnd.kubernetes.protobuf"
# As Go's metadata client asks.
ONE, MANY = (
    f"{PROTOBUF};{SHAPE},application/json;{SHAPE},application/json".replace("{}", shape)
    for shape in ("PartialObjectMetadata", "PartialObjectMetadataList")
)
JSON_ONE, JSON_MANY = (each.partition(",")[2] for each in (ONE, MANY))
OWNER: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


async def test_one_object(raw: Raw) -> None:
    metadata = {
        "labels": {"b": "1", "a": ""},
        "annotations": {"long": "ü" * 300},
        "ownerReferences": [OWNER | {"controller": True}, OWNER | {"uid": "v", "blockOwnerDeletion": False}],
        "finalizers": ["example.com/a", "example.com/b"],
    }
    await raw.ok("POST configmaps", config_map(metadata=metadata))
    await raw.ok("DELETE configmaps/a")
    answer = await raw("GET configmaps/a", accept=ONE)
    assert answer.content_type == PROTOBUF
    assert answer.body == write_metadata(await raw.ok("GET configmaps/a", accept=JSON_ONE))


async def test_a_page_of_a_list(raw: Raw) -> None:
    for name in ("a", "b", "c"):
        await raw.ok("POST configmaps", config_map(name))
    since = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    page = f"GET configmaps?limit=2&resourceVersion={since}&resourceVersionMatch=Exact"
    answer = await raw(page, accept=MANY)
    assert answer.content_type == PROTOBUF
    assert answer.body == write_metadata(await raw.ok(page, accept=JSON_MANY))


async def test_an_empty_list(raw: Raw) -> None:
    since = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    none = f"GET configmaps?labelSelector=no%3Done&resourceVersion={since}&resourceVersionMatch=Exact"
    listed = await raw.ok(none, accept=JSON_MANY)
    assert (await raw(none, accept=MANY)).body == write_metadata(listed)


async def test_a_watch(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
    answer = await raw(f"GET configmaps?watch=true&{query}", accept=ONE)
    assert answer.content_type == f"{PROTOBUF};stream=watch"
    shown = await raw.ok("GET configmaps/a", accept=JSON_ONE)
    assert answer.body.startswith(write_event("ADDED", shown))


async def test_a_change_in_a_watch(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    since = made["metadata"]["resourceVersion"]
    await raw.ok("PATCH configmaps/a", {"data": {"a": "b"}}, patch="merge")
    answer = await raw(f"GET configmaps?watch=true&timeoutSeconds=1&resourceVersion={since}", accept=ONE)
    shown = await raw.ok("GET configmaps/a", accept=JSON_ONE)
    assert answer.body == write_event("MODIFIED", shown)
