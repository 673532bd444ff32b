"""Field selectors on numbers and switches of built-in kinds: what is not set is zero, or off."""

import pytest

from conformance.requests import Raw


async def names(raw: Raw, path: str) -> list[str]:
    found = await raw.ok(f"GET {path}")
    return [item["metadata"]["name"] for item in found["items"]]


@pytest.mark.parametrize(("value", "expected"), [("false", ["open"]), ("true", ["cordoned"])])
async def test_nodes_by_whether_pods_may_come(raw: Raw, value: str, expected: list[str]) -> None:
    label = raw.namespace
    for name, spec in (("open", {}), ("cordoned", {"unschedulable": True})):
        node = {"metadata": {"name": f"{label}-{name}", "labels": {"of": label}}, "spec": spec}
        await raw.ok("POST /api/v1/nodes", node)
    found = await names(raw, f"/api/v1/nodes?labelSelector=of={label}&fieldSelector=spec.unschedulable={value}")
    assert found == [f"{label}-{each}" for each in expected]
