"""Claims of devices: what may change through which door, what is forgotten, and how they are shown and selected."""

from typing import Any

import pytest

from conformance.requests import Raw

Json = dict[str, Any]
GROUP = "/apis/resource.k8s.io/v1"
CLAIMS = f"{GROUP}/namespaces/{{ns}}/resourceclaims"
CLAIM = f"{CLAIMS}/c"
SLICES = f"{GROUP}/resourceslices"
EXACTLY = {"deviceClassName": "gpu"}
DEVICE = {"driver": "example.com", "pool": "p", "device": "gpu-0"}
ALLOCATION = {"devices": {"results": [{"request": "gpu", **DEVICE}]}}
OTHER = {"devices": {"results": [{"request": "gpu", **DEVICE, "device": "gpu-1"}]}}
CONSUMER = {"resource": "pods", "name": "a", "uid": "b"}
EVERYTHING = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def claim(**rest: Any) -> Json:
    return {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "gpu", "exactly": EXACTLY}]}}} | rest


def sliced(name: str, **spec: Any) -> Json:
    pool = {"name": "p", "resourceSliceCount": 1}
    return {"metadata": {"name": f"{{ns}}-{name}"}, "spec": {"driver": "example.com", "pool": pool, **spec}}


async def allocated(raw: Raw) -> Json:
    """A claim with a device."""
    made = await raw.ok(f"POST {CLAIMS}", claim())
    found: Json = await raw.ok(f"PUT {CLAIM}/status", made | {"status": {"allocation": ALLOCATION}})
    return found


async def test_four_kinds_are_discovered(raw: Raw) -> None:
    found = (await raw.ok(f"GET {GROUP}"))["resources"]
    assert [(each["name"], each["namespaced"], each["verbs"]) for each in found] == [
        ("deviceclasses", False, EVERYTHING),
        ("resourceclaims", True, EVERYTHING),
        ("resourceclaims/status", True, ["get", "patch", "update"]),
        ("resourceclaimtemplates", True, EVERYTHING),
        ("resourceslices", False, EVERYTHING),
    ]


async def test_a_new_claim_has_no_status_and_no_generation(raw: Raw) -> None:
    made = await raw.ok(f"POST {CLAIMS}", claim(status={"allocation": ALLOCATION}))
    assert made["status"] == {}
    assert "generation" not in made["metadata"]
    filled = {**EXACTLY, "allocationMode": "ExactCount", "count": 1}
    assert made["spec"]["devices"]["requests"] == [{"name": "gpu", "exactly": filled}]


async def test_the_status_is_written_through_its_own_door_and_leaves_metadata_alone(raw: Raw) -> None:
    made = await raw.ok(f"POST {CLAIMS}", claim())
    changed = await raw.ok(f"PUT {CLAIM}", made | {"status": {"allocation": ALLOCATION}})
    assert changed["status"] == {}
    made["metadata"]["labels"] = {"a": "b"}
    changed = await raw.ok(f"PUT {CLAIM}/status", made | {"status": {"allocation": ALLOCATION}})
    assert changed["status"] == {"allocation": ALLOCATION}
    assert "labels" not in changed["metadata"]


async def test_a_claim_keeps_what_it_was_given_until_it_gives_it_back(raw: Raw) -> None:
    found = await allocated(raw)
    refused = (await raw(f"PUT {CLAIM}/status", found | {"status": {"allocation": OTHER}})).refusal
    assert (refused.code, refused.causes) == (422, ["FieldValueInvalid status.allocation"])
    assert refused.message.endswith("field is immutable")
    freed = await raw.ok(f"PUT {CLAIM}/status", found | {"status": {}})
    assert freed["status"] == {}
    moved = await raw.ok(f"PUT {CLAIM}/status", freed | {"status": {"allocation": OTHER}})
    assert moved["status"] == {"allocation": OTHER}


async def test_what_drivers_said_of_a_device_goes_with_it(raw: Raw) -> None:
    found = await allocated(raw)
    status = {"allocation": ALLOCATION, "devices": [{**DEVICE, "data": {"a": {}}}]}
    told = await raw.ok(f"PUT {CLAIM}/status", found | {"status": status})
    assert told["status"]["devices"] == [{**DEVICE, "data": {"a": {}}, "conditions": None}]
    freed = await raw.ok(f"PATCH {CLAIM}/status", {"status": {"allocation": None}}, patch="merge")
    assert freed["status"] == {}


async def test_a_claim_that_is_being_deleted_gets_no_new_consumers(raw: Raw) -> None:
    await allocated(raw)
    await raw.ok(f"PATCH {CLAIM}", {"metadata": {"finalizers": ["example.com/hold"]}}, patch="merge")
    reserved = {"status": {"allocation": ALLOCATION, "reservedFor": [CONSUMER]}}
    await raw.ok(f"PATCH {CLAIM}/status", reserved, patch="merge")
    assert (await raw.ok(f"DELETE {CLAIM}"))["metadata"]["name"] == "c"
    more = {"status": {"reservedFor": [CONSUMER, {**CONSUMER, "uid": "c"}]}}
    refused = (await raw(f"PATCH {CLAIM}/status", more, patch="merge")).refusal
    assert refused.causes == ["FieldValueForbidden status.reservedFor"]
    await raw.ok(f"PATCH {CLAIM}/status", {"status": {"reservedFor": None}}, patch="merge")
    gone = await raw.ok(f"PATCH {CLAIM}", {"metadata": {"finalizers": None}}, patch="merge")
    assert gone["metadata"]["name"] == "c"
    assert (await raw(f"GET {CLAIM}")).code == 404


async def test_consumers_are_merged_by_their_uid(raw: Raw) -> None:
    await allocated(raw)
    await raw.ok(f"PATCH {CLAIM}/status", {"status": {"reservedFor": [CONSUMER]}}, patch="strategic")
    other = {**CONSUMER, "name": "other", "uid": "c"}
    found = await raw.ok(f"PATCH {CLAIM}/status", {"status": {"reservedFor": [other]}}, patch="strategic")
    assert sorted(each["uid"] for each in found["status"]["reservedFor"]) == ["b", "c"]


@pytest.mark.parametrize("share", [{}, {"shareID": "0b7d4f0e-2b0f-4c61-9c5c-0d2b8f1a4f11"}])
async def test_two_drivers_apply_what_they_say_of_their_devices(raw: Raw, share: Json) -> None:
    one, other = {**DEVICE, **share}, {**DEVICE, "device": "gpu-1"}
    results = [{"request": "gpu", **each} for each in (one, other)]
    made = await raw.ok(f"POST {CLAIMS}", claim())
    await raw.ok(f"PUT {CLAIM}/status", made | {"status": {"allocation": {"devices": {"results": results}}}})
    for manager, device in (("one", one), ("other", other)):
        said = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}}
        said["status"] = {"devices": [{**device, "data": {"by": manager}}]}
        found = await raw.ok(f"PATCH {CLAIM}/status?fieldManager={manager}", said, patch="apply")
    told = {each["device"]: each["data"]["by"] for each in found["status"]["devices"]}
    assert told == {"gpu-0": "one", "gpu-1": "other"}
    owned = {each["manager"]: each["fieldsV1"] for each in found["metadata"]["managedFields"] if "status" in str(each)}
    assert {"one", "other"} <= owned.keys()
    assert len(owned["one"]["f:status"]["f:devices"]) == 1


async def test_slices_are_selected_by_node_and_driver(raw: Raw) -> None:
    for name, spec in (("here", {"nodeName": "{ns}-here"}), ("there", {"nodeName": "{ns}-there"})):
        raw.afterwards.append(f"DELETE {SLICES}/{{ns}}-{name}")
        await raw.ok(f"POST {SLICES}", sliced(name, **spec))
    found = await raw.ok(f"GET {SLICES}?fieldSelector=spec.nodeName={{ns}}-here,spec.driver=example.com")
    assert [each["metadata"]["name"] for each in found["items"]] == [f"{raw.namespace}-here"]
    refused = (await raw(f"GET {SLICES}?fieldSelector=spec.allNodes=true")).refusal
    assert (refused.code, refused.message) == (
        400,
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.allNodes",
    )


async def test_a_slice_counts_its_changes_and_warns_of_capitals(raw: Raw) -> None:
    raw.afterwards.append(f"DELETE {SLICES}/{{ns}}-s")
    answer = await raw(f"POST {SLICES}", sliced("s", allNodes=True, driver="Example.com"))
    assert answer.json["metadata"]["generation"] == 1
    rule = 'driver names should be lowercase; \\"Example.com\\" contains uppercase characters'
    assert answer.warnings == [f'299 - "spec.driver: {rule}"']
    changed = {"spec": {"pool": {"generation": 2}}}
    found = await raw.ok(f"PATCH {SLICES}/{{ns}}-s", changed, patch="merge")
    assert found["metadata"]["generation"] == 2


async def test_a_taint_has_a_time(raw: Raw) -> None:
    raw.afterwards.append(f"DELETE {SLICES}/{{ns}}-s")
    devices = [{"name": "gpu", "taints": [{"key": "a", "effect": "NoSchedule"}]}]
    made = await raw.ok(f"POST {SLICES}", sliced("s", allNodes=True, devices=devices))
    (taint,) = made["spec"]["devices"][0]["taints"]
    assert taint["timeAdded"] <= made["metadata"]["creationTimestamp"]


async def test_a_class_is_answered_when_it_is_deleted(raw: Raw) -> None:
    await raw.ok(f"POST {GROUP}/deviceclasses", {"metadata": {"name": "{ns}"}})
    assert (await raw.ok(f"DELETE {GROUP}/deviceclasses/{{ns}}"))["kind"] == "DeviceClass"
