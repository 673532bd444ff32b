"""Of a namespace with very many pods, some of each owner are looked at."""

from typing import Any

import pytest

from windvane.cluster.apiserver.admission.pod_security import existing
from windvane.cluster.apiserver.admission.pod_security.policy import Standard

BASELINE = Standard("baseline")


def pod(name: str, owner: str = "", **spec: Any) -> dict[str, Any]:
    owners = [{"uid": owner, "controller": True}] if owner else []
    return {"metadata": {"name": name, "ownerReferences": owners}, "spec": {"containers": [{"name": "c"}], **spec}}


async def test_one_of_each_owner_is_looked_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(existing, "MOST", 2)
    pods = [pod("a", "first"), pod("b", "first"), pod("c", "first", hostPID=True), pod("d", "second", hostIPC=True)]
    assert await existing.warnings("n", pods, BASELINE) == [
        "new PodSecurity enforce level only checked against the first 2 of 4 existing pods",
        'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
        "d: host namespaces",
    ]


async def test_nobody_waits_long_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(existing, "TIMEOUT", -1.0)
    assert await existing.warnings("n", [pod("a", hostPID=True), pod("b")], BASELINE) == [
        "new PodSecurity enforce level only checked against the first 1 of 2 existing pods",
        'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
        "a: host namespaces",
    ]


async def test_where_all_is_well_nothing_is_told() -> None:
    assert await existing.warnings("n", [pod("a"), pod("b")], BASELINE) == []
