"""Custom kinds: what a CRD must be, what it makes of objects, and how it comes and goes."""

import asyncio
from copy import deepcopy
from typing import Any

from conformance.crds import CRDS, GROUP, custom, definition, gadget, serve
from conformance.objects import Thing
from conformance.requests import SECONDS, Raw, Refused

ADD_UNTYPED = {"op": "add", "path": "/status/conditions/-", "value": {"message": "whatever"}}
ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def broken(**changes: Any) -> Thing:
    """A CRD with some fields of its spec replaced."""
    made = definition("things", "Thing", ANY)
    made["spec"] |= changes
    return made


def schema(**properties: Any) -> Thing:
    return definition("things", "Thing", {"type": "object", "properties": properties})


def versions(*each_version: Thing) -> Thing:
    return broken(
        versions=[{"served": True, "storage": False, "schema": {"openAPIV3Schema": ANY}, **one} for one in each_version]
    )


async def test_a_whole_number_may_be_written_as_a_fraction(raw: Raw, crds: None) -> None:
    assert (await raw.ok("POST gadgets", gadget(size=2.0)))["spec"]["size"] == 2


async def test_several_complaints_about_a_custom_object_come_in_any_order(raw: Raw, crds: None) -> None:
    refusal = (await raw("POST gadgets", gadget(size=0, color="blue", tags="x"))).refusal
    assert sorted(refusal.causes) == [
        "FieldValueInvalid spec.size",
        "FieldValueNotSupported spec.color",
        "FieldValueTypeInvalid spec.tags",
    ]


def own(raw: Raw, kind_schema: Thing = ANY, **version: Any) -> tuple[Thing, str]:
    """A CRD that no other test has, and the place of its objects in the test's namespace."""
    plural = raw.namespace.replace("-", "")
    crd = definition(plural, plural.capitalize(), kind_schema, **version)
    return crd, f"/apis/{GROUP}/v1/namespaces/{{ns}}/{plural}"


def thing(crd: Thing, name: str = "x", **rest: Any) -> Thing:
    return custom(crd["spec"]["names"]["kind"], name, **rest)


async def test_a_crd_is_filled_with_defaults(raw: Raw) -> None:
    crd, _ = own(raw)
    made = await raw.ok(f"POST {CRDS}", crd)
    kind = crd["spec"]["names"]["kind"]
    names = {"plural": kind.lower(), "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    assert made["spec"]["names"] == names
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["status"]["storedVersions"] == ["v1"]
    assert made["metadata"]["generation"] == 1


async def test_a_crd_becomes_established(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    status = (await raw.ok(f"GET {CRDS}/{crd['metadata']['name']}"))["status"]
    conditions = sorted(status["conditions"], key=lambda each: str(each["type"]))
    for condition in conditions:
        assert condition.pop("lastTransitionTime")
        condition.pop("observedGeneration", None)
    assert conditions == [
        {
            "type": "Established",
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
        {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
    ]
    assert status["acceptedNames"]["kind"] == crd["spec"]["names"]["kind"]


async def test_a_condition_without_a_type_harms_nobody(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    place = f"{CRDS}/{crd['metadata']['name']}"
    patched = await raw.ok(f"PATCH {place}/status", [ADD_UNTYPED], patch="json")
    assert patched["status"]["conditions"][-1]["message"] == "whatever"
    await raw.ok(f"DELETE {place}")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"GET {place}")).code != 404:
            pass


async def test_two_crds_can_not_have_one_kind(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    second = deepcopy(crd)
    plural = f"other{crd['spec']['names']['plural']}"
    second["metadata"]["name"] = f"{plural}.{GROUP}"
    second["spec"]["names"]["plural"] = plural
    await raw.ok(f"POST {CRDS}", second)
    condition = await condition_of(raw, second, "NamesAccepted")
    kind = crd["spec"]["names"]["kind"]
    assert (condition["status"], condition["reason"]) == ("False", "ListKindConflict")
    assert condition["message"] == f'"{kind}List" is already in use'


async def condition_of(raw: Raw, crd: Thing, kind: str) -> Any:
    """A condition of a CRD, as soon as it has it."""
    async with asyncio.timeout(SECONDS):
        while True:
            status = (await raw.ok(f"GET {CRDS}/{crd['metadata']['name']}"))["status"]
            for condition in status.get("conditions") or []:
                if condition["type"] == kind:
                    return condition


async def test_deleting_a_crd_deletes_its_objects(raw: Raw) -> None:
    crd, place = own(raw)
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd))
    since = made["metadata"]["resourceVersion"]
    async with raw.watch(place, resourceVersion=since) as events:
        leaving = await raw.ok(f"DELETE {CRDS}/{crd['metadata']['name']}")
        assert leaving["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert (await events.next())[0] == "DELETED"
    # The real server takes the paths away a moment after the CRD is gone.
    async with asyncio.timeout(SECONDS):
        for gone in (f"{CRDS}/{crd['metadata']['name']}", place):
            while (await raw(f"GET {gone}")).code != 404:
                pass


async def test_a_crd_that_leaves_takes_no_new_objects(raw: Raw) -> None:
    crd, place = own(raw)
    await serve(raw, crd)
    held = thing(crd, metadata={"finalizers": ["a.example/x"]})
    await raw.ok(f"POST {place}", held)
    await raw.ok(f"DELETE {CRDS}/{crd['metadata']['name']}")
    condition = await condition_of(raw, crd, "Terminating")
    assert condition["status"] == "True"
    # Not in earnest: what a real server takes before it knows, but after it has deleted all, it waits for a minute for.
    new = {**held, "metadata": {"generateName": "x"}}
    async with asyncio.timeout(SECONDS):
        while (await raw(f"POST {place}?dryRun=All", new)).code == 201:
            pass
    refused = await raw(f"POST {place}", new)
    assert (refused.refusal.code, refused.refusal.reason) == (403, "Forbidden")
    told = refused.refusal.message.partition(" is forbidden: ")[2]
    assert told == "create not allowed while custom resource definition is terminating"
    async with asyncio.timeout(SECONDS):
        while "deletionTimestamp" not in (await raw.ok(f"GET {place}/x"))["metadata"]:
            pass
    await raw.ok(f"PATCH {place}/x", {"metadata": {"finalizers": None}}, patch="merge")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"GET {CRDS}/{crd['metadata']['name']}")).code != 404:
            pass


async def test_defaults_are_filled_in_when_old_objects_are_read(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd, spec={}))
    change = {"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b",
              "value": {"type": "string", "default": "x"}}  # fmt: skip
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", [change], patch="json")
    async with asyncio.timeout(SECONDS):
        while (read := await raw.ok(f"GET {place}/x"))["spec"] != {"b": "x"}:
            pass
    assert read["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_fields_that_are_gone_from_the_schema_are_not_read_any_more(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd, spec={"a": "1", "b": "2"}))
    change = {"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b"}
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", [change], patch="json")
    async with asyncio.timeout(SECONDS):
        while (read := await raw.ok(f"GET {place}/x"))["spec"] != {"a": "1"}:
            pass
    assert read["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    async with asyncio.timeout(SECONDS):
        while (listed := await raw(f"GET {place}")).code != 200:
            pass
    assert [each["spec"] for each in listed.json["items"]] == [{"a": "1"}]
    written = await raw.ok(f"PATCH {place}/x", {}, patch="merge")
    assert written["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]


async def test_unchanged_fields_may_stay_invalid(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    await raw.ok(f"POST {place}", thing(crd, spec={"a": "long"}))
    change = {
        "op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/maxLength",
        "value": 2,
    }
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", [change], patch="json")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"POST {place}?dryRun=All", thing(crd, "y", spec={"a": "long"}))).code != 422:
            pass
    assert (await raw.ok(f"PATCH {place}/x", {"spec": {"b": "new"}}, patch="merge"))["spec"] == {
        "a": "long",
        "b": "new",
    }
    assert (await raw(f"PATCH {place}/x", {"spec": {"a": "longer"}}, patch="merge")).refusal.causes == [
        "FieldValueTooLong spec.a"
    ]


async def test_what_lacks_a_new_default_is_stored_with_it_by_a_change_of_nothing(raw: Raw) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}}}
    crd, place = own(raw, {"type": "object", "properties": {"spec": spec}})
    await serve(raw, crd)
    made = await raw.ok(f"POST {place}", thing(crd, spec={}))
    default = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/default"
    change = [{"op": "add", "path": default, "value": "x"}]
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", change, patch="json")
    async with asyncio.timeout(SECONDS):
        while (await raw.ok(f"GET {place}/x"))["spec"] != {"a": "x"}:
            pass
    again = await raw.ok(f"PATCH {place}/x", {}, patch="merge")
    assert again["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    same = await raw.ok(f"PATCH {place}/x", {}, patch="merge")
    assert same["metadata"]["resourceVersion"] == again["metadata"]["resourceVersion"]


async def test_a_version_is_served_and_no_longer(raw: Raw) -> None:
    crd, place = own(raw)
    second = {**crd["spec"]["versions"][0], "name": "v2", "storage": False}
    crd["spec"]["versions"].append(second)
    await serve(raw, crd)
    await raw.ok(f"POST {place}", thing(crd))
    newer = place.replace("/v1/", "/v2/")
    assert (await raw.ok(f"GET {newer}/x"))["apiVersion"] == f"{GROUP}/v2"
    stop = [{"op": "replace", "path": "/spec/versions/1/served", "value": False}]
    await raw.ok(f"PATCH {CRDS}/{crd['metadata']['name']}", stop, patch="json")
    async with asyncio.timeout(SECONDS):
        while (await raw(f"GET {newer}/x")).code != 404:
            pass
    assert (await raw.ok(f"GET {place}/x"))["apiVersion"] == f"{GROUP}/v1"


async def test_a_watch_in_another_version_shows_that_version(raw: Raw, crds: None) -> None:
    async with raw.watch(f"/apis/{GROUP}/v1beta1/namespaces/{{ns}}/gadgets") as events:
        await raw.ok("POST gadgets", gadget())
        _, seen = await events.next()
        assert seen["apiVersion"] == f"{GROUP}/v1beta1"


async def test_a_cluster_wide_kind(raw: Raw) -> None:
    crd, _ = own(raw)
    crd["spec"]["scope"] = "Cluster"
    await serve(raw, crd)
    place = f"/apis/{GROUP}/v1/{crd['spec']['names']['plural']}"
    made = await raw.ok(f"POST {place}", thing(crd))
    assert "namespace" not in made["metadata"]
    inside = f"/apis/{GROUP}/v1/namespaces/{{ns}}/{crd['spec']['names']['plural']}"
    name = made["metadata"]["name"]
    for request in (f"GET {inside}", f"POST {inside}", f"GET {inside}/{name}", f"DELETE {inside}/{name}"):
        assert (await raw(request)).body == b"404 page not found\n"
    answer = await raw(f"GET {place}?fieldSelector=metadata.namespace=x")
    assert answer.refusal == Refused(400, "BadRequest", "field label not supported: metadata.namespace")


async def test_an_embedded_object_is_checked_for_its_kind(raw: Raw) -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    crd, place = own(raw, {"type": "object", "properties": {"inner": inner}})
    await serve(raw, crd)
    refusal = (await raw(f"POST {place}", thing(crd, inner={"a": 1}))).refusal
    assert refusal.causes == ["FieldValueRequired inner.apiVersion", "FieldValueRequired inner.kind"]


async def test_the_scope_and_names_of_a_crd_stay(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    place = f"{CRDS}/{crd['metadata']['name']}"
    answer = await raw(f"PATCH {place}", {"spec": {"scope": "Cluster"}}, patch="merge")
    assert (
        answer.refusal.message.partition(" is invalid: ")[2]
        == 'spec.scope: Invalid value: "Cluster": field is immutable'
    )
    answer = await raw(f"PATCH {place}", {"spec": {"group": "other.example"}}, patch="merge")
    assert [cause for cause in answer.refusal.causes if "spec.group" in cause] == ["FieldValueInvalid spec.group"]


async def test_a_stored_version_can_not_be_removed(raw: Raw) -> None:
    crd, _ = own(raw)
    await serve(raw, crd)
    change = [{"op": "replace", "path": "/spec/versions/0/name", "value": "v2"}]
    answer = await raw(f"PATCH {CRDS}/{crd['metadata']['name']}", change, patch="json")
    assert answer.refusal.message.partition(" is invalid: ")[2] == (
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a '
        "storage version, and must remain in spec.versions until a storage migration ensures no data "
        "remains persisted in v1 and removes v1 from status.storedVersions"
    )
