"""Creating objects: what the server fills in, what it takes away, and what it refuses."""

import re
from typing import Any

import pytest

from conformance.objects import Thing, config_map, pod, service
from conformance.requests import Raw


async def test_the_server_gives_uid_version_and_time(raw: Raw) -> None:
    meta = (await raw.ok("POST configmaps", config_map()))["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", meta["uid"])
    assert meta["resourceVersion"].isdecimal()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["creationTimestamp"])
    assert set(meta) == {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}


async def test_every_write_has_a_higher_version(raw: Raw) -> None:
    versions = [
        int((await raw.ok("POST configmaps", config_map(name)))["metadata"]["resourceVersion"]) for name in "abc"
    ]
    assert versions == sorted(set(versions))


async def test_generate_name_adds_five_characters_without_vowels(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x-"}})
    assert re.fullmatch(r"x-[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])
    assert made["metadata"]["generateName"] == "x-"


async def test_a_name_wins_over_generate_name(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x-", "name": "a"}})
    assert made["metadata"]["name"] == "a"


async def test_generate_name_is_cut_so_that_the_name_fits_a_label(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x" * 70}})
    assert made["metadata"]["name"][:58] == "x" * 58
    assert len(made["metadata"]["name"]) == 63


async def test_two_services_can_not_have_one_address(raw: Raw) -> None:
    first = await raw.ok("POST services", service("a"))
    answer = await raw("POST services", service("b", clusterIP=first["spec"]["clusterIP"]))
    assert answer.refusal.message.replace(first["spec"]["clusterIP"], "ADDRESS") == (
        'Service "b" is invalid: spec.clusterIPs: Invalid value: ["ADDRESS"]: failed to allocate IP '
        "ADDRESS: provided IP is already allocated"
    )


QUANTITIES = [
    ("1000m", "1"), ("0.5", "500m"), ("1e3", "1e3"), ("0.1234", "124m"), ("1024Ki", "1Mi"),
    (2, "2"), ("1.5Gi", "1536Mi"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "shown"), QUANTITIES)
async def test_a_quantity_is_shown_in_its_canonical_form(raw: Raw, written: Any, shown: str) -> None:
    made = await raw.ok("POST pods", pod(container={"resources": {"limits": {"memory": written}}}))
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"memory": shown}


async def test_a_node_brings_its_status_along(raw: Raw) -> None:
    status = {"capacity": {"cpu": "2"}, "conditions": [{"type": "Ready", "status": "True"}]}
    made = await raw.ok("POST /api/v1/nodes", {"metadata": {"generateName": "node-"}, "status": status})
    assert made["status"]["capacity"] == made["status"]["allocatable"] == {"cpu": "2"}
    assert [(each["type"], each["status"]) for each in made["status"]["conditions"]] == [("Ready", "True")]
    assert [entry["fieldsV1"] for entry in made["metadata"]["managedFields"]] == [
        {"f:metadata": {"f:generateName": {}}}
    ]


async def test_some_lists_are_written_even_if_there_is_nothing_in_them(raw: Raw) -> None:
    limits: list[Thing] = [{}, {"limits": []}]
    for number, spec in enumerate(limits):
        made = await raw.ok("POST limitranges", {"metadata": {"name": f"l{number}"}, "spec": spec})
        assert made["spec"] == {"limits": None}
    volumes: list[Thing] = [{}, {"sources": []}]
    for number, projected in enumerate(volumes):
        made = await raw.ok("POST pods", pod(f"p{number}", volumes=[{"name": "v", "projected": projected}]))
        assert made["spec"]["volumes"] == [{"name": "v", "projected": {"sources": None, "defaultMode": 420}}]
        owned = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:volumes"]['k:{"name":"v"}']
        assert owned["f:projected"] == {".": {}, "f:defaultMode": {}, "f:sources": {}}
        labelled = {"metadata": {"labels": {"a": "b"}}}
        assert (await raw.ok(f"PATCH pods/p{number}", labelled, patch="merge"))["spec"] == made["spec"]
