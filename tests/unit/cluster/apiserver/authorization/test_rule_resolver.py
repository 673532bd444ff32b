from typing import Any

import pytest

from unit.cluster.apiserver.servers import JANE, ask, grant, running
from windvane.cluster.apiserver.authorization import rule_resolver
from windvane.cluster.apiserver.storage.store import Store

RULE = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}


async def test_a_request_reads_no_binding_that_has_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as server:
        await grant(server, "jane", RULE)
        assert (await ask(server, "GET /api/v1/pods", user=JANE)).code == 200
        read: list[str] = []
        entries = Store.entries

        def noted(store: Store, collection: str, namespace: str = "") -> list[Any]:
            read.append(collection)
            return entries(store, collection, namespace)

        monkeypatch.setattr(Store, "entries", noted)
        await ask(server, "GET /api/v1/pods", user=JANE)
        assert read == ["/pods"]
        await ask(server, "POST /api/v1/namespaces", {"metadata": {"name": "other"}})
        await ask(server, "GET /api/v1/pods", user=JANE)
        assert read == ["/pods", "/pods"]
        await grant(server, "joe", RULE, name="more")
        del read[:]
        await ask(server, "GET /api/v1/pods", user=JANE)
        assert read == [rule_resolver.CLUSTER_BINDINGS, "/pods"]


async def test_a_right_counts_from_the_moment_that_it_is_written() -> None:
    async with running() as server:
        assert (await ask(server, "GET /api/v1/pods", user=JANE)).code == 403
        await grant(server, "jane", RULE)
        assert (await ask(server, "GET /api/v1/pods", user=JANE)).code == 200
        await ask(server, "DELETE /apis/rbac.authorization.k8s.io/v1/clusterroles/granted")
        assert (await ask(server, "GET /api/v1/pods", user=JANE)).code == 403


async def test_namespaces_that_somebody_made_up_take_no_memory() -> None:
    async with running() as server:
        for number in range(10):
            await ask(server, f"GET /api/v1/namespaces/made-up-{number}/pods", user=JANE)
        known = server._access.authorizer._rules._indexes
        assert not any(namespace.startswith("made-up") for namespace in known)
