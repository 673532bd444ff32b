"""Watches: what happened since a version, in order, as it happens."""

import pytest

from conformance.crds import gadget
from conformance.objects import config_map
from conformance.requests import Raw, Refused
from conformance.streaming import MARKED, STREAMED, first_change, first_event, streaming

FUTURE = 10**12


def labeled(name: str, app: str) -> dict[str, object]:
    return config_map(name, metadata={"labels": {"app": app}})


async def version(raw: Raw) -> str:
    """The version of now."""
    found: str = (await raw.ok("GET configmaps"))["metadata"]["resourceVersion"]
    return found


async def test_every_change_is_an_event(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw)) as events:
        assert events.code == 200
        made = await raw.ok("POST configmaps", config_map())
        changed = await raw.ok("PATCH configmaps/a", {"data": {"k": "v"}}, patch="merge")
        await raw.ok("DELETE configmaps/a")
        assert await events.next() == ("ADDED", made)
        assert await events.next() == ("MODIFIED", changed)
        kind, last = await events.next()
        assert kind == "DELETED"
        assert last["data"] == {"k": "v"}


async def test_a_deleted_event_has_the_version_of_the_deletion(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    async with raw.watch("configmaps", resourceVersion=made["metadata"]["resourceVersion"]) as events:
        await raw.ok("DELETE configmaps/a")
        _, last = await events.next()
        assert int(last["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
        assert "deletionTimestamp" not in last["metadata"]


async def test_the_stream_is_json_lines_in_chunks(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw), timeoutSeconds="1") as events:
        assert events.headers["Content-Type"] == "application/json"
        assert events.headers["Transfer-Encoding"] == "chunked"


async def test_the_past_is_told_from_the_version_on(raw: Raw) -> None:
    since = await version(raw)
    await raw.ok("POST configmaps", config_map("a"))
    await raw.ok("PATCH configmaps/a", {"data": {"k": "v"}}, patch="merge")
    async with raw.watch("configmaps", resourceVersion=since) as events:
        assert await events.changes(2) == [("ADDED", "a"), ("MODIFIED", "a")]


async def test_the_version_itself_is_not_told_again(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map("a"))
    async with raw.watch("configmaps", resourceVersion=made["metadata"]["resourceVersion"]) as events:
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_without_a_version_what_is_there_comes_first(raw: Raw) -> None:
    for name in "ba":
        await raw.ok("POST configmaps", config_map(name))
    async with streaming(raw, "configmaps") as ((kind, thing), events):
        found = [(kind, thing["metadata"]["name"]), *await events.changes(1)]
        assert sorted(found) == [("ADDED", "a"), ("ADDED", "b")]
        await raw.ok("DELETE configmaps/a")
        assert await events.changes(1) == [("DELETED", "a")]


async def test_with_version_zero_what_is_there_comes_first(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.ok("GET configmaps")  # from here on, the server's cache has it
    async with raw.watch("configmaps", resourceVersion="0") as events:
        assert await events.changes(1) == [("ADDED", "a")]


async def test_an_update_that_changes_nothing_is_no_event(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    async with raw.watch("configmaps", resourceVersion=made["metadata"]["resourceVersion"]) as events:
        await raw.ok("PUT configmaps/a", made)
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_a_dry_run_is_no_event(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw)) as events:
        await raw.ok("POST configmaps?dryRun=All", config_map("a"))
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_other_namespaces_are_not_told(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw)) as events:
        await raw.ok("POST /api/v1/namespaces/default/configmaps", {"metadata": {"generateName": "x-"}})
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_all_namespaces_can_be_watched(raw: Raw) -> None:
    since = await version(raw)
    async with raw.watch(
        "/api/v1/configmaps", resourceVersion=since, fieldSelector="metadata.name=" + raw.namespace
    ) as events:
        await raw.ok("POST configmaps", config_map(raw.namespace))
        assert await events.changes(1) == [("ADDED", raw.namespace)]


async def test_what_starts_to_match_is_added_and_what_stops_is_deleted(raw: Raw) -> None:
    await raw.ok("POST configmaps", labeled("a", "db"))
    async with raw.watch("configmaps", resourceVersion=await version(raw), labelSelector="app=web") as events:
        await raw.ok("PATCH configmaps/a", {"metadata": {"labels": {"app": "web"}}}, patch="merge")
        await raw.ok("PATCH configmaps/a", {"data": {"k": "v"}}, patch="merge")
        left = await raw.ok("PATCH configmaps/a", {"metadata": {"labels": {"app": "db"}}}, patch="merge")
        await raw.ok("DELETE configmaps/a")
        await raw.ok("POST configmaps", labeled("b", "web"))
        assert (await events.next())[0] == "ADDED"
        assert (await events.next())[0] == "MODIFIED"
        kind, last = await events.next()
        assert kind == "DELETED"
        # As it last matched, but with the version in which it stopped.
        assert last["metadata"]["labels"] == {"app": "web"}
        assert last["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]
        assert await events.changes(1) == [("ADDED", "b")]


async def test_what_started_to_match_in_the_past_is_added(raw: Raw) -> None:
    await raw.ok("POST configmaps", labeled("a", "db"))
    since = await version(raw)
    await raw.ok("PATCH configmaps/a", {"metadata": {"labels": {"app": "web"}}}, patch="merge")
    async with raw.watch("configmaps", resourceVersion=since, labelSelector="app=web") as events:
        assert await events.changes(1) == [("ADDED", "a")]


async def test_what_never_matched_is_never_told(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw), labelSelector="app=web") as events:
        await raw.ok("POST configmaps", labeled("a", "db"))
        await raw.ok("DELETE configmaps/a")
        await raw.ok("POST configmaps", labeled("b", "web"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_one_name_can_be_watched(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw), fieldSelector="metadata.name=b") as events:
        await raw.ok("POST configmaps", config_map("a"))
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_a_custom_field_that_stops_matching_is_deleted(raw: Raw, crds: None) -> None:
    made = await raw.ok("POST gadgets", gadget(color="green"))
    since = made["metadata"]["resourceVersion"]
    async with raw.watch("gadgets", resourceVersion=since, fieldSelector="spec.color=green") as events:
        await raw.ok("PATCH gadgets/g", {"spec": {"color": "red"}}, patch="merge")
        kind, last = await events.next()
        assert (kind, last["spec"]["color"]) == ("DELETED", "green")


async def test_one_object_at_its_own_path_is_only_shown(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    assert (await raw.ok("GET configmaps/a?watch=true"))["kind"] == "ConfigMap"


async def test_one_object_is_watched_at_the_old_path(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map("a"))
    since = made["metadata"]["resourceVersion"]
    async with raw.watch("/api/v1/watch/namespaces/{ns}/configmaps/a", resourceVersion=since) as events:
        await raw.ok("POST configmaps", config_map("b"))
        await raw.ok("DELETE configmaps/a")
        assert await events.changes(1) == [("DELETED", "a")]


async def test_anything_but_false_and_zero_is_a_watch(raw: Raw) -> None:
    for no in ("false", "0", "False"):
        assert (await raw.ok(f"GET configmaps?watch={no}"))["kind"] == "ConfigMapList"
    await raw.ok("POST configmaps", config_map("a"))
    for yes in ("true", "1", "maybe", ""):
        assert await first_change(raw, "configmaps", watch=yes) == ("ADDED", "a")


async def test_the_old_watch_paths_still_work(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    assert await first_change(raw, "/api/v1/watch/namespaces/{ns}/configmaps") == ("ADDED", "a")


async def test_an_object_that_waits_for_finalizers_is_modified_first(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["example.com/x"]}))
    async with raw.watch("configmaps", resourceVersion=made["metadata"]["resourceVersion"]) as events:
        await raw.ok("DELETE configmaps/a")
        kind, leaving = await events.next()
        assert kind == "MODIFIED"
        assert "deletionTimestamp" in leaving["metadata"]
        await raw.ok("PATCH configmaps/a", {"metadata": {"finalizers": None}}, patch="merge")
        kind, gone = await events.next()
        assert kind == "DELETED"
        assert "deletionTimestamp" in gone["metadata"]


async def test_deletecollection_is_one_event_for_each(raw: Raw) -> None:
    for name in "ab":
        await raw.ok("POST configmaps", config_map(name))
    async with raw.watch("configmaps", resourceVersion=await version(raw)) as events:
        await raw.ok("DELETE configmaps")
        assert sorted(await events.changes(2)) == [("DELETED", "a"), ("DELETED", "b")]


async def test_a_watch_ends_when_it_was_asked_to(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=await version(raw), timeoutSeconds="1") as events:
        assert await events.next_or_end() is None


async def test_the_list_is_streamed_and_its_end_marked(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    async with streaming(raw, "configmaps", **MARKED) as (first, events):
        assert first == ("ADDED", made)
        kind, mark = await events.next()
        assert kind == "BOOKMARK"
        assert (mark["kind"], mark["apiVersion"]) == ("ConfigMap", "v1")
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert int(mark["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
        assert set(mark["metadata"]) == {"resourceVersion", "annotations"}
        await raw.ok("DELETE configmaps/a")
        assert await events.changes(1) == [("DELETED", "a")]


async def test_an_empty_list_is_streamed_as_its_end(raw: Raw) -> None:
    assert (await first_event(raw, "configmaps", **MARKED))[0] == "BOOKMARK"


async def test_a_streamed_list_of_custom_objects_is_marked_with_their_kind(raw: Raw, crds: None) -> None:
    kind, mark = await first_event(raw, "gadgets", **MARKED)
    assert (kind, mark["kind"], mark["apiVersion"]) == ("BOOKMARK", "Gadget", "conformance.windvane.dev/v1")


async def test_without_bookmarks_a_streamed_list_has_no_mark(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    async with streaming(raw, "configmaps", **STREAMED) as ((kind, thing), events):
        assert (kind, thing["metadata"]["name"]) == ("ADDED", "a")
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_without_initial_events_only_changes_come(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    async with raw.watch(
        "configmaps", sendInitialEvents="false", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true"
    ) as events:
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_a_version_of_the_future_is_waited_for(raw: Raw) -> None:
    async with raw.watch("configmaps", resourceVersion=str(FUTURE), timeoutSeconds="1") as events:
        assert events.code == 200
        assert await events.next_or_end() is None


async def test_an_old_path_for_watching_a_custom_kind(raw: Raw, crds: None) -> None:
    await raw.ok("POST gadgets", gadget())
    place = "/apis/conformance.windvane.dev/v1/watch/namespaces/{ns}/gadgets"
    assert await first_change(raw, place) == ("ADDED", "g")


async def test_an_old_path_for_watching_all_namespaces(raw: Raw) -> None:
    since = await version(raw)
    async with raw.watch("/api/v1/watch/configmaps", resourceVersion=since) as events:
        await raw.ok("POST configmaps", config_map("one"))
        while (await events.next())[1]["metadata"]["namespace"] != raw.namespace:
            pass


async def test_an_old_path_for_watching_one_namespace_itself(raw: Raw) -> None:
    assert await first_change(raw, f"/api/v1/watch/namespaces/{raw.namespace}") == ("ADDED", raw.namespace)


async def test_an_old_path_can_only_be_watched(raw: Raw) -> None:
    for request in (
        "POST /api/v1/watch/namespaces/{ns}/configmaps",
        "DELETE /api/v1/watch/namespaces/{ns}/configmaps/a",
    ):
        assert (await raw(request, config_map())).refusal == Refused(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""
        )


async def test_an_object_is_not_watched_by_its_own_path(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    assert (await raw.ok("GET configmaps/a?watch=true"))["kind"] == "ConfigMap"


@pytest.mark.parametrize("switch", ["true", "1", "yes", ""])
@pytest.mark.parametrize("since", ["", "0"])
async def test_a_bookmark_ends_what_was_there_before(raw: Raw, switch: str, since: str) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.remembered("configmaps/a")  # else a real server may tell of it after the bookmark
    asked = {"allowWatchBookmarks": switch, "resourceVersion": since}
    async with streaming(raw, "configmaps", **asked) as ((first, thing), events):
        assert (first, thing["metadata"]["name"]) == ("ADDED", "a")
        kind, seen = await events.next()
    assert (kind, seen["metadata"]["annotations"]) == ("BOOKMARK", {"k8s.io/initial-events-end": "true"})


@pytest.mark.parametrize("switch", ["false", "FALSE", "0"])
async def test_bookmarks_can_be_switched_off(raw: Raw, switch: str) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    async with streaming(raw, "configmaps", allowWatchBookmarks=switch) as ((kind, thing), events):
        assert (kind, thing["metadata"]["name"]) == ("ADDED", "a")
        await raw.ok("POST configmaps", config_map("b"))
        assert await events.changes(1) == [("ADDED", "b")]


async def test_initial_events_can_be_asked_for_with_a_number(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    assert await first_change(raw, "configmaps", **{**STREAMED, "sendInitialEvents": "1"}) == ("ADDED", "a")


@pytest.mark.parametrize("watch", ["0", "false", "False"])
async def test_a_list_is_not_watched(raw: Raw, watch: str) -> None:
    assert (await raw.ok(f"GET configmaps?watch={watch}"))["kind"] == "ConfigMapList"
