"""Custom objects in several versions, between which a webhook converts: reading, writing, storing, and its failures."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from conformance import policies
from conformance.conversion_server import (
    Answering,
    ConversionWebhook,
    Links,
    answering,
    changing,
    conversion_webhook,
    converted,
    failing,
    serve_links,
    until,
    until_gone_after_all,
)
from conformance.crds import CRDS, GROUP
from conformance.requests import Answer, Raw
from conformance.webhook_server import Webhooks, patched

Thing = dict[str, Any]
NO_WAY = failing("no way")


@pytest_asyncio.fixture(loop_scope="module")
async def webhook() -> AsyncIterator[ConversionWebhook]:
    async with conversion_webhook() as webhook:
        yield webhook


@pytest_asyncio.fixture(loop_scope="module")
async def links(raw: Raw, webhook: ConversionWebhook) -> Links:
    """Links that are stored in v1."""
    return await serve_links(raw, webhook)


def refused(answer: Answer, links: Links, why: str, version: str = "v1") -> None:
    """Check that a conversion of an object in that version was refused with these words."""
    status = answer.json
    assert (answer.code, status.get("reason"), status.get("details")) == (500, None, None)
    assert status["message"] == f"conversion webhook for {GROUP}/{version}, Kind={links.kind} {why}"


# Reading and writing in each version


async def test_what_is_created_in_one_version_is_read_in_the_other(raw: Raw, links: Links) -> None:
    made = await raw.ok(f"POST {links.at('v1beta1')}", links.v1beta1("a", address="x:7"))
    assert made["apiVersion"] == f"{GROUP}/v1beta1"
    assert made["spec"] == {"address": "x:7", "kind": "from-v1beta1"}
    got = await raw.ok(f"GET {links.at('v1', '/a')}")
    assert got["apiVersion"] == f"{GROUP}/v1"
    assert got["spec"] == {"host": "x", "port": 7, "kind": "from-v1beta1"}
    for field in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
        assert got["metadata"][field] == made["metadata"][field]


async def test_defaults_are_those_of_the_version_that_is_written(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    got = await raw.ok(f"GET {links.at('v1beta1', '/a')}")
    assert got["spec"] == {"address": "a:1", "kind": "from-v1"}


async def test_an_update_in_another_version_is_stored_in_the_first(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    got = await raw.ok(f"GET {links.at('v1beta1', '/a')}")
    got["spec"]["address"] = "b:2"
    changed = await raw.ok(f"PUT {links.at('v1beta1', '/a')}", got)
    assert changed["spec"]["address"] == "b:2"
    assert changed["metadata"]["generation"] == 2
    stored = await raw.ok(f"GET {links.at('v1', '/a')}")
    assert (stored["spec"]["host"], stored["spec"]["port"]) == ("b", 2)


async def test_a_patch_is_of_the_object_in_its_own_version(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    change = [{"op": "test", "path": "/spec/address", "value": "a:1"},
              {"op": "replace", "path": "/spec/address", "value": "c:3"}]  # fmt: skip
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}", change, patch="json")
    assert (await raw.ok(f"GET {links.at('v1', '/a')}"))["spec"]["port"] == 3


async def test_a_patch_in_another_version_that_changes_nothing_writes_nothing(raw: Raw, links: Links) -> None:
    made = await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    same = await raw.ok(f"PATCH {links.at('v1beta1', '/a')}", {"spec": {"address": "a:1"}}, patch="merge")
    assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_the_status_is_written_in_another_version(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    change = {"status": {"phase": "ok"}, "spec": {"address": "no"}}
    changed = await raw.ok(f"PATCH {links.at('v1beta1', '/a/status')}", change, patch="merge")
    assert (changed["status"], changed["spec"]["address"]) == ({"phase": "ok"}, "a:1")
    got = await raw.ok(f"GET {links.at('v1', '/a')}")
    assert (got["status"], got["spec"]["host"]) == ({"phase": "ok"}, "a")
    managers = [(each["apiVersion"], each["fieldsV1"]) for each in got["metadata"]["managedFields"]]
    assert (f"{GROUP}/v1beta1", {"f:status": {".": {}, "f:phase": {}}}) in managers
    assert (f"{GROUP}/v1", {"f:spec": {".": {}, "f:host": {}, "f:kind": {}, "f:port": {}}}) in managers


async def test_the_scale_is_written_in_another_version(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a", replicas=1))
    assert (await raw.ok(f"GET {links.at('v1beta1', '/a/scale')}"))["spec"] == {"replicas": 1}
    await raw.ok(f"PATCH {links.at('v1beta1', '/a/scale')}", {"spec": {"replicas": 4}}, patch="merge")
    assert (await raw.ok(f"GET {links.at('v1', '/a')}"))["spec"]["replicas"] == 4


async def test_a_dry_run_is_converted_and_stores_nothing(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    made = await raw.ok(f"POST {links.at('v1beta1')}?dryRun=All", links.v1beta1("a"))
    assert made["spec"]["address"] == "a:1"
    assert ("v1", ["a"]) in webhook.asked
    assert (await raw(f"GET {links.at('v1', '/a')}")).code == 404


async def test_a_deletion_in_another_version(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", {**links.v1("a"), "metadata": {"name": "a", "finalizers": ["x.dev/y"]}})
    marked = await raw.ok(f"DELETE {links.at('v1beta1', '/a')}")
    assert (marked["spec"]["address"], "deletionTimestamp" in marked["metadata"]) == ("a:1", True)
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}", {"metadata": {"finalizers": None}}, patch="merge")
    assert (await raw(f"GET {links.at('v1', '/a')}")).code == 404


# Lists and watches


async def test_a_list_shows_all_objects_in_its_version(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a", port=1))
    await raw.ok(f"POST {links.at('v1beta1')}", links.v1beta1("b", address="a:2"))
    older = await raw.ok(f"GET {links.at('v1beta1')}")
    assert older["apiVersion"] == f"{GROUP}/v1beta1"
    assert [each["spec"]["address"] for each in older["items"]] == ["a:1", "a:2"]
    newer = await raw.ok(f"GET {links.at('v1')}")
    assert [each["spec"]["port"] for each in newer["items"]] == [1, 2]


async def test_a_page_of_a_list_in_another_version(raw: Raw, links: Links) -> None:
    for name in ("a", "b", "c"):
        await raw.ok(f"POST {links.at('v1')}", links.v1(name))
    first = await raw.ok(f"GET {links.at('v1beta1')}?limit=2")
    assert [each["spec"]["address"] for each in first["items"]] == ["a:1", "a:1"]
    second = await raw.ok(f"GET {links.at('v1beta1')}?limit=2&continue={first['metadata']['continue']}")
    assert [each["metadata"]["name"] for each in second["items"]] == ["c"]


async def test_a_watch_shows_changes_in_its_version(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    await until(lambda: _listed(raw, links, 1))
    async with raw.watch(links.at("v1beta1"), resourceVersion="0") as events:
        kind, link = await events.next()
        assert (kind, link["apiVersion"], link["spec"]["address"]) == ("ADDED", f"{GROUP}/v1beta1", "a:1")
        await raw.ok(f"PATCH {links.at('v1', '/a')}", {"spec": {"port": 2}}, patch="merge")
        kind, link = await events.next()
        assert (kind, link["spec"]["address"]) == ("MODIFIED", "a:2")
        await raw.ok(f"DELETE {links.at('v1', '/a')}")
        kind, link = await events.next()
        assert (kind, link["spec"]["address"]) == ("DELETED", "a:2")


async def test_labels_that_a_conversion_gives_select(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    webhook.answer = changing(lambda link: link["metadata"].update(labels={"old": "yes"}))
    async with raw.watch(links.at("v1beta1"), labelSelector="old") as events:
        await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
        kind, link = await events.next()
        assert (kind, link["metadata"]["labels"]) == ("ADDED", {"old": "yes"})
    listed = await raw.ok(f"GET {links.at('v1beta1')}?labelSelector=old")
    assert [each["metadata"]["name"] for each in listed["items"]] == ["a"]
    assert (await raw.ok(f"GET {links.at('v1')}?labelSelector=old"))["items"] == []


async def test_a_watch_waits_for_a_conversion_that_fails(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    await until(lambda: _listed(raw, links, 1))
    async with raw.watch(links.at("v1beta1"), resourceVersion="0") as events:
        await events.next()
        webhook.answer = NO_WAY
        webhook.reviews.clear()
        await raw.ok(f"POST {links.at('v1')}", links.v1("b"))
        await until(lambda: _asked_twice(webhook))
        webhook.answer = converted
        kind, link = await events.next()
        assert (kind, link["metadata"]["name"], link["spec"]["address"]) == ("ADDED", "b", "a:1")


async def test_a_watch_ends_when_the_definition_changes(raw: Raw, links: Links) -> None:
    path = f"{CRDS}/{links.crd['metadata']['name']}"
    async with raw.watch(links.at("v1")) as events:
        await raw.ok(f"PATCH {path}", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
        await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
        assert (await events.next())[0] == "ADDED"
        await raw.ok(f"PATCH {path}", {"spec": {"names": {"categories": ["all"]}}}, patch="merge")
        assert await events.next_or_end() is None


async def _listed(raw: Raw, links: Links, number: int) -> bool:
    """Whether so many can be listed from what a real server keeps in memory, which follows with some delay."""
    answer = await raw(f"GET {links.at('v1beta1')}?resourceVersion=0")
    return answer.code == 200 and len(answer.json["items"]) == number


async def _asked_twice(webhook: ConversionWebhook) -> bool:
    return webhook.asked.count(("v1beta1", ["b"])) > 1


# What the webhook is asked


async def test_what_a_review_says(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    await raw.ok(f"GET {links.at('v1beta1', '/a')}")
    review = webhook.reviews[-1]
    assert (review["kind"], review["apiVersion"]) == ("ConversionReview", "apiextensions.k8s.io/v1")
    assert review["request"]["desiredAPIVersion"] == f"{GROUP}/v1beta1"
    (link,) = review["request"]["objects"]
    assert (link["apiVersion"], link["kind"]) == (f"{GROUP}/v1", links.kind)
    assert link["spec"] == {"host": "a", "port": 1, "kind": "from-v1"}
    assert "resourceVersion" not in link["metadata"]
    assert {"name", "namespace", "uid", "managedFields", "creationTimestamp"} <= set(link["metadata"])
    assert review["response"] == {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}


async def test_nobody_is_asked_about_an_object_in_the_version_that_it_is_stored_in(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    webhook.answer = NO_WAY
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    await raw.ok(f"PATCH {links.at('v1', '/a')}", {"spec": {"port": 2}}, patch="merge")
    await raw.ok(f"GET {links.at('v1')}")
    await raw.ok(f"DELETE {links.at('v1', '/a')}")


async def test_a_review_in_the_older_version(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    change = {"spec": {"conversion": {"webhook": {"conversionReviewVersions": ["v9", "v1beta1", "v1"]}}}}
    await raw.ok(f"PATCH {CRDS}/{links.crd['metadata']['name']}", change, patch="merge")

    async def is_older() -> bool:
        await raw.ok(f"GET {links.at('v1beta1', '/a')}")
        return bool(webhook.reviews[-1]["apiVersion"] == "apiextensions.k8s.io/v1beta1")

    await until(is_older)
    webhook.answer = lambda _: b"{}"
    refused(await raw(f"GET {links.at('v1beta1', '/a')}"), links, "failed: no response provided")


# A webhook that fails


async def test_everything_fails_that_needs_a_conversion(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = NO_WAY
    refused(await raw(f"GET {links.at('v1beta1', '/a')}"), links, "failed: no way")
    refused(await raw(f"GET {links.at('v1beta1', '/a/scale')}"), links, "failed: no way")
    refused(await raw(f"DELETE {links.at('v1beta1', '/a')}"), links, "failed: no way")
    refused(await raw(f"POST {links.at('v1beta1')}", links.v1beta1("b")), links, "failed: no way", "v1beta1")
    refused(await raw(f"POST {links.at('v1beta1')}", links.v1beta1("a")), links, "failed: no way", "v1beta1")
    change = await raw(f"PATCH {links.at('v1beta1', '/a')}", {"spec": {"address": "b:5"}}, patch="merge")
    assert (change.code, change.json["message"].endswith("failed: no way")) == (500, True)
    assert (await raw(f"GET {links.at('v1beta1', '/missing')}")).code == 404


async def test_a_list_fails_that_needs_a_conversion(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"GET {links.at('v1beta1')}")
    webhook.answer = NO_WAY
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    refused(await raw(f"GET {links.at('v1beta1')}"), links, "failed: no way")
    refused(await raw(f"DELETE {links.at('v1beta1')}"), links, "failed: no way")


async def test_a_webhook_that_is_not_there(raw: Raw) -> None:
    webhook = ConversionWebhook()  # at a port that nobody is given by chance
    links = await serve_links(raw, webhook)
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    place = webhook.url.removeprefix("https://").removesuffix("/convert")
    problem = f"dial tcp {place}: connect: connection refused"
    why = f'failed: Post "{webhook.url}?timeout=30s": {problem}'
    refused(await raw(f"GET {links.at('v1beta1', '/a')}"), links, why)


def _with(change: Callable[[Thing], object]) -> Answering:
    return changing(change)


BAD_KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
NO_STRUCT = (
    "failed: couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct "
    r'{{ APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }}'
)
SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'
INTO_RESPONSE = "Go struct field ConversionReview.response of type v1.ConversionResponse"
BAD_ANSWERS: dict[str, tuple[Answering, str]] = {
    "garbage": (lambda _: b"garbage", NO_STRUCT.format("string")),
    "a list": (lambda _: b"[]", NO_STRUCT.format("array")),
    "nothing": (lambda _: b"", "failed: 0-length response with status code: 200 and content type: application/json"),
    "another kind": (
        lambda _: {"kind": "X", "apiVersion": "v1"}, f'failed: no kind "X" is registered for version "v1" {SCHEME}'
    ),
    "another group": (
        lambda review: {**converted(review), "apiVersion": "x/v1"},
        f'failed: no kind "ConversionReview" is registered for version "x/v1" {SCHEME}',
    ),
    "another version": (
        lambda review: {**converted(review), "apiVersion": "apiextensions.k8s.io/v1beta1"},
        "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
    ),
    "no response": (
        lambda _: {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"}, "failed: no response provided"
    ),
    "a response that is none": (
        lambda review: {**answering(review), "response": 5},
        f"failed: json: cannot unmarshal number into {INTO_RESPONSE}",
    ),
    "no result": (
        lambda review: answering(review, result={}), "failed: response.result.status was '', not 'Success'"
    ),
    "a failure without a word": (
        lambda review: answering(review, result={"status": "Failure"}),
        "failed: response.result.status was 'Failure', not 'Success'",
    ),
    "no objects": (lambda review: answering(review, convertedObjects=[]), "returned 0 objects, expected 1"),
    "too many objects": (
        lambda review: answering(review, convertedObjects=converted(review)["response"]["convertedObjects"] * 2),
        "returned 2 objects, expected 1",
    ),
    "another name": (
        _with(lambda link: link["metadata"].update(name="z")),
        "returned invalid object: must have the same name: a != z",
    ),
    "no metadata": (
        _with(lambda link: link.pop("metadata")), "returned invalid object: must have the same name: a != "
    ),
    "another kind of object": (
        _with(lambda link: link.update(kind="Z")),
        "returned invalid object at index 0: invalid kind (expected {kind}, received Z)",
    ),
    "an object in another version": (
        _with(lambda link: link.update(apiVersion="x/y")),
        f"returned invalid object at index 0: invalid groupVersion (expected {GROUP}/v1beta1, received x/y)",
    ),
    "labels that are text": (
        _with(lambda link: link["metadata"].update(labels="a")),
        "returned invalid metadata: invalid metadata.labels of type string in converted object",
    ),
    "a label that is a number": (
        _with(lambda link: link["metadata"].update(labels={"a": 1})),
        "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
    ),
    "a label that can't be": (
        _with(lambda link: link["metadata"].update(labels={"a b": "c"})),
        f'returned invalid metadata: metadata.labels: Invalid value: "a b": {BAD_KEY}',
    ),
    "an annotation that can't be": (
        _with(lambda link: link["metadata"].update(annotations={"a b": "c"})),
        f'returned invalid metadata: metadata.annotation: Invalid value: "a b": {BAD_KEY}',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_ANSWERS)
async def test_answers_that_are_not_taken(raw: Raw, links: Links, webhook: ConversionWebhook, name: str) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer, why = BAD_ANSWERS[name]
    refused(await raw(f"GET {links.at('v1beta1', '/a')}"), links, why.replace("{kind}", links.kind))


async def test_answers_for_others_are_not_taken(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    made = await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = lambda review: answering(review, uid="x")
    answer = await raw(f"GET {links.at('v1beta1', '/a')}")
    # A real server also asks for itself, to have the new object in memory in both versions: then it is asked twice.
    uids = [each["request"]["uid"] for each in webhook.reviews]
    (uid,) = [each for each in uids if each in answer.json["message"]]
    refused(answer, links, f'failed: expected response.uid="{uid}", got "x"')
    webhook.answer = changing(lambda link: link["metadata"].update(uid="x"))
    why = f"returned invalid object: must have the same UID: {made['metadata']['uid']} != x"
    refused(await raw(f"GET {links.at('v1beta1', '/a')}"), links, why)


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ([None], "unexpected end of JSON input"),
        ([1], "json: cannot unmarshal number into Go value of type map[string]interface {}"),
    ],
    ids=["null", "number"],
)
async def test_what_is_no_object_is_not_taken(
    raw: Raw, links: Links, webhook: ConversionWebhook, objects: list[Any], why: str
) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = lambda review: answering(review, convertedObjects=objects)
    answer = await raw(f"GET {links.at('v1beta1', '/a')}")
    assert (answer.code, answer.json["message"]) == (500, why)


async def test_of_the_metadata_labels_and_annotations_may_change(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    made = await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    stated = {"labels": {"a": "b"}, "annotations": {"c": "d"}, "generation": 7, "finalizers": ["e.dev/f"]}
    webhook.answer = changing(lambda link: link["metadata"].update(stated))
    got = (await raw.ok(f"GET {links.at('v1beta1', '/a')}"))["metadata"]
    assert got == {**made["metadata"], "labels": {"a": "b"}, "annotations": {"c": "d"}}


async def test_what_a_version_does_not_know_is_pruned_and_what_is_wrong_is_shown(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = changing(lambda link: link["spec"].update(bogus=1, replicas="many"))
    got = await raw.ok(f"GET {links.at('v1beta1', '/a')}")
    assert got["spec"] == {"address": "a:1", "kind": "from-v1", "replicas": "many"}


# Who owns what, in several versions


def applied(links: Links, version: str, **spec: Any) -> Thing:
    return {"apiVersion": f"{GROUP}/{version}", "kind": links.kind, "metadata": {"name": "a"}, "spec": spec}


async def test_appliers_of_two_versions_are_in_conflict_about_what_is_the_same(raw: Raw, links: Links) -> None:
    older = applied(links, "v1beta1", address="a:1")
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}?fieldManager=old", older, patch="apply")
    newer = applied(links, "v1", port=2)
    answer = await raw(f"PATCH {links.at('v1', '/a')}?fieldManager=new", newer, patch="apply")
    assert answer.code == 409
    assert answer.json["message"] == 'Apply failed with 1 conflict: conflict with "old": .spec.address'
    forced = await raw.ok(f"PATCH {links.at('v1', '/a')}?fieldManager=new&force=true", newer, patch="apply")
    assert forced["spec"] == {"host": "a", "port": 2, "kind": "from-v1beta1"}
    owned = {each["manager"]: each["fieldsV1"] for each in forced["metadata"]["managedFields"]}
    assert owned == {"new": {"f:spec": {"f:port": {}}}}


async def test_appliers_of_two_versions_may_want_the_same(raw: Raw, links: Links) -> None:
    older = applied(links, "v1beta1", address="a:1", replicas=1)
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}?fieldManager=old", older, patch="apply")
    newer = applied(links, "v1", host="a", port=1)
    both = await raw.ok(f"PATCH {links.at('v1', '/a')}?fieldManager=new", newer, patch="apply")
    owned = {each["manager"]: (each["apiVersion"], each["fieldsV1"]) for each in both["metadata"]["managedFields"]}
    assert owned == {
        "old": (f"{GROUP}/v1beta1", {"f:spec": {"f:address": {}, "f:replicas": {}}}),
        "new": (f"{GROUP}/v1", {"f:spec": {"f:host": {}, "f:port": {}}}),
    }


async def test_an_applier_moves_to_another_version(raw: Raw, links: Links) -> None:
    older = applied(links, "v1beta1", address="a:1", replicas=1)
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}?fieldManager=me", older, patch="apply")
    newer = applied(links, "v1", host="a")
    moved = await raw.ok(f"PATCH {links.at('v1', '/a')}?fieldManager=me", newer, patch="apply")
    # Neither the port, which was part of the address, nor the replicas are stated any more.
    assert "replicas" not in moved["spec"]
    (entry,) = moved["metadata"]["managedFields"]
    assert (entry["apiVersion"], entry["fieldsV1"]) == (f"{GROUP}/v1", {"f:spec": {"f:host": {}}})


async def test_an_update_takes_a_field_from_an_owner_in_another_version(raw: Raw, links: Links) -> None:
    older = applied(links, "v1beta1", address="a:1", replicas=1)
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}?fieldManager=old", older, patch="apply")
    changed = await raw.ok(f"PATCH {links.at('v1', '/a')}", {"spec": {"port": 2}}, patch="merge")
    owned = {each["manager"]: each["fieldsV1"] for each in changed["metadata"]["managedFields"]}
    assert owned == {"old": {"f:spec": {"f:replicas": {}}}, "conformance": {"f:spec": {"f:port": {}}}}


async def test_an_apply_fails_while_others_can_not_be_compared_with(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    older = applied(links, "v1beta1", address="a:1")
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}?fieldManager=old", older, patch="apply")
    webhook.answer = NO_WAY
    newer = applied(links, "v1", port=2)
    applies = f"PATCH {links.at('v1', '/a')}?fieldManager=new&force=true"
    refused(await raw(applies, newer, patch="apply"), links, "failed: no way")
    webhook.answer = converted
    assert (await raw.ok(applies, newer, patch="apply"))["spec"]["port"] == 2


async def test_an_update_forgets_all_owners_if_they_can_not_be_compared_with(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    older = applied(links, "v1beta1", address="a:1")
    await raw.ok(f"PATCH {links.at('v1beta1', '/a')}?fieldManager=old", older, patch="apply")
    webhook.answer = NO_WAY
    changed = await raw.ok(f"PATCH {links.at('v1', '/a')}", {"spec": {"port": 2}}, patch="merge")
    assert "managedFields" not in changed["metadata"]


# The version that is stored


async def test_objects_stay_in_the_version_that_they_were_stored_in_until_they_are_written(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    made = await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    await links.store_in("v1beta1")
    webhook.answer = NO_WAY
    assert (await raw.ok(f"GET {links.at('v1', '/a')}"))["spec"]["port"] == 1
    refused(await raw(f"GET {links.at('v1beta1', '/a')}"), links, "failed: no way")
    webhook.answer = converted
    await until(lambda: _written_anew(raw, links, made["metadata"]["resourceVersion"]))
    webhook.answer = NO_WAY
    assert (await raw.ok(f"GET {links.at('v1beta1', '/a')}"))["spec"]["address"] == "a:1"
    refused(await raw(f"GET {links.at('v1', '/a')}"), links, "failed: no way", "v1beta1")
    crd = await raw.ok(f"GET {CRDS}/{links.crd['metadata']['name']}")
    assert crd["status"]["storedVersions"] == ["v1", "v1beta1"]


async def _written_anew(raw: Raw, links: Links, before: str) -> bool:
    """Whether a patch that changes nothing makes a new version: only then has the server seen the new CRD."""
    same = await raw.ok(f"PATCH {links.at('v1', '/a')}", {}, patch="merge")
    return bool(same["metadata"]["resourceVersion"] != before)


async def test_objects_of_mixed_stored_versions_are_listed(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    await links.store_in("v1beta1")

    async def is_seen() -> bool:
        made = await raw(f"POST {links.at('v1beta1')}?dryRun=All", links.v1beta1("dry"))
        return made.code == 201

    webhook.answer = NO_WAY  # what is stored in v1beta1 needs no conversion
    await until(is_seen)
    webhook.answer = converted
    await raw.ok(f"POST {links.at('v1beta1')}", links.v1beta1("b", address="b:2"))
    for version, field, expected in (("v1", "host", ["a", "b"]), ("v1beta1", "address", ["a:1", "b:2"])):
        await until(partial(_is_listed, raw, links, version))
        listed = await raw.ok(f"GET {links.at(version)}")
        assert [each["spec"][field] for each in listed["items"]] == expected


async def _is_listed(raw: Raw, links: Links, version: str) -> bool:
    """Whether lists work again: a real server reads all objects once more for each version of a changed CRD."""
    return (await raw(f"GET {links.at(version)}")).code == 200


async def test_without_a_webhook_versions_differ_in_what_they_know(raw: Raw, links: Links) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a", replicas=2))
    change = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    await raw.ok(f"PATCH {CRDS}/{links.crd['metadata']['name']}", change, patch="merge")

    async def is_pruned() -> bool:
        got = await raw.ok(f"GET {links.at('v1beta1', '/a')}")
        return bool(got["spec"] == {"kind": "from-v1", "replicas": 2})

    await until(is_pruned)
    await raw.ok(f"POST {links.at('v1beta1')}", links.v1beta1("b", replicas=3))
    assert (await raw.ok(f"GET {links.at('v1', '/b')}"))["spec"] == {"kind": "from-v1beta1", "replicas": 3}


# Admission in another version


def about(links: Links) -> Thing:
    """A rule that means new Links in v1, however they are written."""
    return {"apiGroups": [GROUP], "apiVersions": ["v1"], "resources": [links.plural], "operations": ["CREATE"]}


async def test_an_admission_webhook_sees_and_changes_objects_in_the_version_that_it_knows(
    raw: Raw, links: Links, webhooks: Webhooks
) -> None:
    says = patched({"op": "replace", "path": "/spec/port", "value": 2})
    await webhooks.install("Mutating", webhooks.webhook("h", says, rule=about(links)))
    made = await raw.ok(f"POST {links.at('v1beta1')}", links.v1beta1("a", address="x:1"))
    assert made["spec"] == {"address": "x:2", "kind": "from-v1beta1"}
    (request,) = webhooks.requests("h")
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v1", "v1beta1")
    assert request["object"]["apiVersion"] == f"{GROUP}/v1"
    assert request["object"]["spec"] == {"host": "x", "port": 1, "kind": "from-v1beta1"}


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
async def test_an_admission_webhook_is_not_asked_if_the_conversion_fails(
    raw: Raw, links: Links, webhooks: Webhooks, webhook: ConversionWebhook, kind: str
) -> None:
    await webhooks.install(kind, webhooks.webhook("h", rule=about(links), failurePolicy="Ignore"))
    webhook.answer = NO_WAY
    answer = await raw(f"POST {links.at('v1beta1')}", links.v1beta1("a"))
    again = "Internal error occurred: " if kind == "Mutating" else ""
    why = f"{again}conversion webhook for {GROUP}/v1beta1, Kind={links.kind} failed: no way"
    assert (answer.code, answer.json["reason"]) == (500, "InternalError")
    assert answer.json["message"] == f"Internal error occurred: {why}"
    assert answer.json["details"] == {"causes": [{"message": why}]}
    assert webhooks.requests("h") == []


# The end of a kind


async def test_a_policy_sees_its_parameters_in_the_version_that_it_names(raw: Raw, links: Links) -> None:
    labelled = {**links.v1("a"), "metadata": {"name": "a", "labels": {"for": "us"}}}
    await raw.ok(f"POST {links.at('v1')}", labelled)
    named = policies.validation("false", messageExpression="params.apiVersion + ' ' + params.spec.address")
    spec = {"paramKind": {"apiVersion": f"{GROUP}/v1beta1", "kind": links.kind}, "validations": [named]}
    references: list[Thing] = [{"name": "a"}, {"selector": {"matchLabels": {"for": "us"}}}]
    bindings = [
        {"paramRef": {**each, "parameterNotFoundAction": "Deny"}, "validationActions": ["Warn"]} for each in references
    ]
    name = await policies.validating(raw, spec, *bindings)
    last = f"binding '{name}-2': {GROUP}/v1beta1 a:1"  # who knows of the second binding knows of the first
    answer = await policies.until(raw, "POST configmaps?dryRun=All", {"metadata": {"name": "a"}}, last)
    assert len([each for each in answer.warnings if each.endswith(f': {GROUP}/v1beta1 a:1"')]) == 2


async def test_parameters_that_can_not_be_converted_refuse_the_request(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = NO_WAY
    kind = {"apiVersion": f"{GROUP}/v1beta1", "kind": links.kind}
    reference = {"name": "a", "parameterNotFoundAction": "Allow"}
    spec = {"paramKind": kind, "validations": [policies.validation("true")]}
    await policies.validating(raw, spec, {"paramRef": reference})
    told = f"ParamKind{{APIVersion:{kind['apiVersion']},Kind:{kind['kind']},}}` not yet synced to use for admission"
    await policies.until(raw, "POST configmaps?dryRun=All", {"metadata": {"name": "a"}}, told)


async def test_a_kind_goes_though_its_webhook_is_dead(raw: Raw, links: Links, webhook: ConversionWebhook) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = NO_WAY
    path = f"{CRDS}/{links.crd['metadata']['name']}"
    await raw.ok(f"DELETE {path}")

    async def is_gone() -> bool:
        return (await raw(f"GET {path}")).code == 404

    await until(is_gone)


async def test_a_kind_stays_while_old_objects_of_it_can_not_be_converted(
    raw: Raw, links: Links, webhook: ConversionWebhook
) -> None:
    await raw.ok(f"POST {links.at('v1')}", links.v1("a"))
    webhook.answer = NO_WAY
    await links.store_in("v1beta1")

    async def is_seen() -> bool:
        made = await raw(f"POST {links.at('v1beta1')}?dryRun=All", links.v1beta1("dry"))
        return made.code == 201

    await until(is_seen)
    path = f"{CRDS}/{links.crd['metadata']['name']}"
    await raw.ok(f"DELETE {path}")

    async def is_stuck() -> bool:
        conditions = (await raw.ok(f"GET {path}"))["status"]["conditions"]
        return any(each["reason"] == "InstanceDeletionFailed" for each in conditions)

    await until(is_stuck)
    webhook.answer = converted
    await until_gone_after_all(raw, path)
