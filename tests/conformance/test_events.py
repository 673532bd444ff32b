"""Events are in two API groups and are the same objects: what is written through one is read through the other."""

from typing import Any

from conformance.requests import Raw

CORE = "/api/v1/namespaces/{ns}/events"
NEWER = "/apis/events.k8s.io/v1/namespaces/{ns}/events"

OLD: dict[str, Any] = {
    "metadata": {"name": "old"},
    "involvedObject": {"kind": "Pod", "namespace": "{ns}", "name": "p"},
    "reason": "Because",
    "message": "hello",
    "source": {"component": "me", "host": "here"},
    "firstTimestamp": "2026-01-01T00:00:00Z",
    "lastTimestamp": "2026-01-01T00:00:01Z",
    "count": 3,
    "type": "Normal",
}


async def test_a_change_through_one_group_is_seen_by_a_watch_of_the_other(raw: Raw) -> None:
    # Without a version, a watch of the real server may begin after all of it.
    since = (await raw.ok(f"GET {NEWER}"))["metadata"]["resourceVersion"]
    async with raw.watch(NEWER, resourceVersion=since) as events:
        await raw.ok(f"POST {CORE}", OLD)
        await raw.ok(f"PATCH {CORE}/old", {"message": "other"}, patch="merge")
        await raw.ok(f"DELETE {CORE}/old")
        seen = [await events.next() for _ in range(3)]
    assert [kind for kind, _ in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert (seen[1][1]["apiVersion"], seen[1][1]["note"]) == ("events.k8s.io/v1", "other")
    assert "message" not in seen[1][1]


async def test_an_event_that_is_deleted_through_one_group_is_gone_from_both(raw: Raw) -> None:
    await raw.ok(f"POST {CORE}", OLD)
    await raw.ok(f"DELETE {NEWER}/old")
    assert (await raw(f"GET {CORE}/old")).code == 404


async def test_the_table_of_an_event_is_the_same_in_both_groups(raw: Raw) -> None:
    await raw.ok(f"POST {CORE}", OLD)
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    tables = [await raw.ok(f"GET {path}", accept=table) for path in (CORE, NEWER)]
    cells = [table["rows"][0]["cells"][1:] for table in tables]
    assert cells[0][:6] == ["Normal", "Because", "pod/p", "", "me, here", "hello"]
    assert [shown[:6] for shown in cells] == [cells[0][:6]] * 2
