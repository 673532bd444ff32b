"""Metadata alone is also answered in protobuf. What the real server sends is, byte for byte, what we write."""

from typing import Any

from conformance.objects import config_map
from conformance.requests import Raw
from conformance.streaming import MARKED
from windvane.cluster.apiserver.encoding.protobuf_metadata import write_event, write_metadata

SHAPE = "as={};g=meta.k8s.io;v=v1"
PROTOBUF = "application/vnd.kubernetes.protobuf"
# As Go's metadata client asks.
ONE, MANY = (
    f"{PROTOBUF};{SHAPE},application/json;{SHAPE},application/json".replace("{}", shape)
    for shape in ("PartialObjectMetadata", "PartialObjectMetadataList")
)
JSON_ONE, JSON_MANY = (each.partition(",")[2] for each in (ONE, MANY))
OWNER: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


async def made(raw: Raw, name: str = "a") -> str:
    """The version of a new ConfigMap, as soon as the server has it in memory.

    A real one that is asked for any other version waits for three seconds at most, and then tells of an error.
    """
    thing = await raw.ok("POST configmaps", config_map(name))
    await raw.remembered(f"configmaps/{name}")
    return str(thing["metadata"]["resourceVersion"])


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
    _, _, since = [await made(raw, name) for name in ("a", "b", "c")]
    page = f"GET configmaps?limit=2&resourceVersion={since}&resourceVersionMatch=Exact"
    answer = await raw(page, accept=MANY)
    assert answer.content_type == PROTOBUF
    assert answer.body == write_metadata(await raw.ok(page, accept=JSON_MANY))


async def test_an_empty_list(raw: Raw) -> None:
    since = await made(raw)
    none = f"GET configmaps?labelSelector=no%3Done&resourceVersion={since}&resourceVersionMatch=Exact"
    listed = await raw.ok(none, accept=JSON_MANY)
    assert (await raw(none, accept=MANY)).body == write_metadata(listed)


async def test_a_watch(raw: Raw) -> None:
    since = await made(raw)
    expected = write_event("ADDED", await raw.ok("GET configmaps/a", accept=JSON_ONE))
    async with raw.watch("configmaps", accept=ONE, resourceVersion=since, **MARKED) as events:
        assert events.headers["Content-Type"] == f"{PROTOBUF};stream=watch"
        assert await events.read(len(expected)) == expected


async def test_changes_in_a_watch(raw: Raw) -> None:
    since = await made(raw)
    expected = b""
    for value in ("b", "c"):
        await raw.ok("PATCH configmaps/a", {"data": {"a": value}}, patch="merge")
        expected += write_event("MODIFIED", await raw.ok("GET configmaps/a", accept=JSON_ONE))
    async with raw.watch("configmaps", accept=ONE, resourceVersion=since) as events:
        assert await events.read(len(expected)) == expected
