"""Field selectors on numbers and switches of built-in kinds: what is not set is zero, or off."""

from typing import Any

import pytest

from conformance.requests import Raw

POD_SPEC: dict[str, Any] = {"containers": [{"name": "c", "image": "c"}]}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"app": "x"}}, "spec": POD_SPEC}


async def names(raw: Raw, path: str) -> list[str]:
    found = await raw.ok(f"GET {path}")
    return [item["metadata"]["name"] for item in found["items"]]


@pytest.mark.parametrize(("value", "expected"), [("false", ["shared"]), ("true", ["own"])])
async def test_pods_by_whether_they_have_the_network_of_their_node(raw: Raw, value: str, expected: list[str]) -> None:
    await raw.ok("POST pods", {"metadata": {"name": "shared"}, "spec": POD_SPEC})
    await raw.ok("POST pods", {"metadata": {"name": "own"}, "spec": {**POD_SPEC, "hostNetwork": True}})
    assert await names(raw, f"pods?fieldSelector=spec.hostNetwork={value}") == expected


@pytest.mark.parametrize(("value", "expected"), [("0", ["web"]), ("1", [])])
async def test_replication_controllers_by_how_many_pods_there_are(raw: Raw, value: str, expected: list[str]) -> None:
    spec = {"selector": {"app": "x"}, "template": TEMPLATE}
    await raw.ok("POST replicationcontrollers", {"metadata": {"name": "web"}, "spec": spec})
    assert await names(raw, f"replicationcontrollers?fieldSelector=status.replicas={value}") == expected


@pytest.mark.parametrize(("value", "expected"), [("0", ["new"]), ("2", ["half-way"])])
async def test_jobs_by_how_many_pods_succeeded(raw: Raw, value: str, expected: list[str]) -> None:
    jobs = f"/apis/batch/v1/namespaces/{raw.namespace}/jobs"
    template = {"spec": {**POD_SPEC, "restartPolicy": "Never"}}
    for name in ("new", "half-way"):
        await raw.ok(f"POST {jobs}", {"metadata": {"name": name}, "spec": {"completions": 3, "template": template}})
    status = {"startTime": "2026-01-01T00:00:00Z", "succeeded": 2}
    await raw.ok(f"PATCH {jobs}/half-way/status", {"status": status}, patch="merge")
    assert await names(raw, f"{jobs}?fieldSelector=status.successful={value}") == expected


@pytest.mark.parametrize(("value", "expected"), [("false", ["open"]), ("true", ["cordoned"])])
async def test_nodes_by_whether_pods_may_come(raw: Raw, value: str, expected: list[str]) -> None:
    label = raw.namespace
    for name, spec in (("open", {}), ("cordoned", {"unschedulable": True})):
        node = {"metadata": {"name": f"{label}-{name}", "labels": {"of": label}}, "spec": spec}
        await raw.ok("POST /api/v1/nodes", node)
    found = await names(raw, f"/api/v1/nodes?labelSelector=of={label}&fieldSelector=spec.unschedulable={value}")
    assert found == [f"{label}-{each}" for each in expected]
