"""Names, labels, annotations, owners and finalizers: what the server accepts of them."""

from datetime import datetime
from typing import Any

import pytest

from conformance.objects import config_map, deployment, pod, service
from conformance.requests import Raw
from windvane import ambient

LENGTHS = [
    ("configmaps", config_map, 253),
    ("services", service, 63),
    ("deployments", deployment, 253),
    ("pods", pod, 253),
]


@pytest.mark.parametrize(("plural", "made", "most"), LENGTHS, ids=[each[0] for each in LENGTHS])
async def test_the_longest_name(raw: Raw, plural: str, made: Any, most: int) -> None:
    assert (await raw(f"POST {plural}", made("x" * most))).code == 201
    refusal = (await raw(f"POST {plural}", made("x" * (most + 1)))).refusal
    complaint = refusal.message.replace("x" * (most + 1), "LONG").partition(": ")[2]
    assert complaint == f'metadata.name: Invalid value: "LONG": must be no more than {most} characters'


async def test_the_longest_label(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a", metadata={"labels": {"x" * 63: "x" * 63}}))
    refusal = (await raw("POST configmaps", config_map("b", metadata={"labels": {"x" * 64: "y" * 64}}))).refusal
    assert refusal.message.replace("x" * 64, "KEY").replace("y" * 64, "VALUE") == (
        'ConfigMap "b" is invalid: [metadata.labels: Invalid value: "KEY": name part must be no more '
        'than 63 bytes, metadata.labels: Invalid value: "VALUE": must be no more than 63 bytes]'
    )


async def test_managed_fields_can_be_cleared(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    assert len(made["metadata"]["managedFields"]) == 1
    cleared = {**made, "metadata": {**made["metadata"], "managedFields": [{}]}}
    assert "managedFields" not in (await raw.ok("PUT configmaps/a", cleared))["metadata"]


async def test_an_empty_list_of_managed_fields_clears_them_too(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    cleared = {**made, "metadata": {**made["metadata"], "managedFields": []}}
    assert "managedFields" not in (await raw.ok("PUT configmaps/a", cleared))["metadata"]


async def test_an_update_without_managed_fields_keeps_them(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    after = await raw.ok("PUT configmaps/a", config_map(data={"k": "v"}))
    assert after["metadata"]["managedFields"] == made["metadata"]["managedFields"]


async def test_who_wrote_a_field_is_remembered(raw: Raw) -> None:
    before = ambient.now().replace(microsecond=0)
    made = await raw.ok("POST configmaps?fieldManager=me", config_map(data={"k": "v"}))
    (entry,) = made["metadata"]["managedFields"]
    # A real server looks at the clock once more for when it was created: that may be a second later.
    assert before <= datetime.fromisoformat(entry.pop("time")) <= ambient.now()
    assert entry == {
        "manager": "me",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
    }


async def test_without_a_name_the_user_agent_is_the_manager(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "v"}))
    assert made["metadata"]["managedFields"][0]["manager"] == "conformance"
