"""Events are in two API groups and are the same objects: what is written through one is read through the other."""

from typing import Any

from conformance.cases import Case, each, part
from conformance.requests import Raw, Refused, Shows

CORE = "/api/v1/namespaces/{ns}/events"
NEWER = "/apis/events.k8s.io/v1/namespaces/{ns}/events"
WHEN = "2026-01-01T00:00:00.123456Z"

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
NEW: dict[str, Any] = {
    "metadata": {"name": "new"},
    "eventTime": WHEN,
    "regarding": {"kind": "Pod", "namespace": "{ns}", "name": "p"},
    "note": "hello",
    "reason": "Because",
    "action": "Do",
    "type": "Warning",
    "reportingController": "example.com/me",
    "reportingInstance": "me-1",
}
BOTH = [(f"POST {CORE}", OLD), (f"POST {NEWER}", NEW)]

SEEN = [
    Case("an event of the core group is seen through the newer one", f"GET {NEWER}/old", None,
         Shows(200, {
             "kind": "Event", "apiVersion": "events.k8s.io/v1",
             "regarding": {"kind": "Pod", "namespace": "{ns}", "name": "p"}, "note": "hello", "reason": "Because",
             "deprecatedSource": {"component": "me", "host": "here"}, "deprecatedCount": 3,
             "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": "2026-01-01T00:00:01Z",
             "type": "Normal", "eventTime": None, "reportingController": None, "reportingInstance": None,
             "involvedObject": None, "message": None, "source": None, "count": None,
         }), before=BOTH),
    Case("an event of the newer group is seen through the core one", f"GET {CORE}/new", None,
         Shows(200, {
             "kind": "Event", "apiVersion": "v1", "involvedObject": {"kind": "Pod", "namespace": "{ns}", "name": "p"},
             "message": "hello", "reason": "Because", "source": {}, "firstTimestamp": None, "lastTimestamp": None,
             "type": "Warning", "eventTime": WHEN, "action": "Do", "reportingComponent": "example.com/me",
             "reportingInstance": "me-1", "regarding": None, "note": None, "deprecatedSource": None,
         }), before=BOTH),
    Case("an event of the newer group says what it does not have", f"GET {NEWER}/new", None,
         Shows(200, {"deprecatedSource": {}, "deprecatedFirstTimestamp": None, "series": None}), before=BOTH),
    Case("both groups list the same events", f"GET {NEWER}", None,
         Shows(200, {"kind": "EventList", "items": [
             {"kind": None, "metadata": {"name": "new"}, "note": "hello", "message": None},
             {"kind": None, "metadata": {"name": "old"}, "note": "hello", "message": None}]}), before=BOTH),
    Case("the newer group selects by its own names", f"GET {NEWER}?fieldSelector=regarding.name=p,type=Normal", None,
         Shows(200, {"items": [{"metadata": {"name": "old"}}]}), before=BOTH),
    Case("the core group selects by its own names", f"GET {CORE}?fieldSelector=involvedObject.name=p,type=Warning",
         None, Shows(200, {"items": [{"metadata": {"name": "new"}}]}), before=BOTH),
    Case("the core group selects by source", f"GET {CORE}?fieldSelector=source=me", None,
         Shows(200, {"items": [{"metadata": {"name": "old"}}]}), before=BOTH),
    Case("who reports is a source, too", f"GET {CORE}?fieldSelector=source=example.com/me", None,
         Shows(200, {"items": [{"metadata": {"name": "new"}}]}), before=BOTH),
    Case("the newer group selects by who reports", f"GET {NEWER}?fieldSelector=reportingController=example.com/me",
         None, Shows(200, {"items": [{"metadata": {"name": "new"}}]}), before=BOTH),
    Case("the newer group does not know the names of the core one", f"GET {NEWER}?fieldSelector=involvedObject.name=p",
         None, Refused(400, "BadRequest", "field label not supported: involvedObject.name")),
    Case("a name is taken in both groups", f"POST {NEWER}", {**NEW, "metadata": {"name": "old"}},
         Refused(409, "AlreadyExists", 'events.events.k8s.io "old" already exists', "events.events.k8s.io old"),
         before=BOTH),
    Case("a series goes on through the newer group", f"PATCH {NEWER}/new",
         {"series": {"count": 2, "lastObservedTime": WHEN}},
         Shows(200, {"note": "hello", "series": {"count": 2, "lastObservedTime": WHEN}}), before=BOTH, patch="merge"),
    Case("the note stays what it is", f"PATCH {NEWER}/new", {"note": "other"},
         Refused(422, "Invalid", 'Event "new" is invalid: message: Invalid value: "other": field is immutable',
                 "Event new", ["FieldValueInvalid message"]), before=BOTH, patch="merge"),
    Case("through the core group it may change", f"PATCH {CORE}/new", {"message": "other"},
         Shows(200, {"message": "other"}), before=BOTH, patch="merge"),
    Case("the newer group asks when and how bad", f"POST {NEWER}",
         {"metadata": {"name": "bad"}, "regarding": {"namespace": "{ns}"}, "deprecatedCount": 1},
         Refused(422, "Invalid",
                 'Event "bad" is invalid: [eventTime: Required value, type: Invalid value: "": has invalid value: , '
                 'count: Invalid value: "": needs to be unset]',
                 "Event bad", ["FieldValueRequired eventTime", "FieldValueInvalid type", "FieldValueInvalid count"])),
    Case("the newer group asks who and what", f"POST {NEWER}",
         {"metadata": {"name": "bad"}, "regarding": {"namespace": "{ns}"}, "type": "Normal", "eventTime": WHEN},
         Refused(422, "Invalid",
                 'Event "bad" is invalid: [reportingController: Required value, reportingController: Invalid value: '
                 '"": name part must be non-empty, reportingController: Invalid value: "": name part must consist of '
                 "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
                 "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), reportingInstance: Required value, action: Required "
                 "value, reason: Required value]",
                 "Event bad",
                 ["FieldValueRequired reportingController", "FieldValueInvalid reportingController",
                  "FieldValueInvalid reportingController", "FieldValueRequired reportingInstance",
                  "FieldValueRequired action", "FieldValueRequired reason"])),
    Case("a series has at least two", f"POST {NEWER}", {**NEW, "series": {"count": 1, "lastObservedTime": WHEN}},
         Refused(422, "Invalid",
                 'Event "new" is invalid: series.count: Invalid value: "": should be at least 2', "Event new",
                 ["FieldValueInvalid series.count"])),
    Case("an event is where its object is", f"POST {CORE}", {**OLD, "involvedObject": {"namespace": "elsewhere"}},
         Refused(422, "Invalid",
                 'Event "old" is invalid: involvedObject.namespace: Invalid value: "elsewhere": does not match '
                 "event.namespace",
                 "Event old", ["FieldValueInvalid involvedObject.namespace"])),
]  # fmt: skip


@each(SEEN)
async def test_events(raw: Raw, case: Case) -> None:
    await case.check(raw)


async def test_a_change_through_one_group_is_seen_by_a_watch_of_the_other(raw: Raw) -> None:
    # Without a version, a watch of the real server may begin after all of it.
    since = (await raw.ok(f"GET {NEWER}"))["metadata"]["resourceVersion"]
    async with raw.watch(NEWER, resourceVersion=since) as events:
        await raw.ok(f"POST {CORE}", OLD)
        await raw.ok(f"PATCH {CORE}/old", {"message": "other"}, patch="merge")
        await raw.ok(f"DELETE {CORE}/old")
        seen = [await events.next() for _ in range(3)]
    assert [kind for kind, _ in seen] == ["ADDED", "MODIFIED", "DELETED"]
    want = {"kind": "Event", "apiVersion": "events.k8s.io/v1", "note": "other", "message": None}
    assert part(seen[1][1], want) == want


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
