import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from unit.cluster.apiserver.servers import ask
from windvane.cluster.apiserver.server import APIServer, open_server

RBAC = "/apis/rbac.authorization.k8s.io/v1"
EXTRA = {"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["widgets"]}
JANE = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
BASIC = f"{RBAC}/clusterroles/system:basic-user"
BINDING = f"{RBAC}/clusterrolebindings/system:basic-user"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@asynccontextmanager
async def started(data: Path) -> AsyncIterator[APIServer]:
    server = open_server(data)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def read(server: APIServer, path: str) -> dict[str, Any]:
    answer = await ask(server, f"GET {path}")
    assert answer.code == 200, answer.body
    found: dict[str, Any] = json.loads(answer.body)
    return found


async def change(server: APIServer, path: str, patch: Any) -> None:
    answer = await ask(server, f"PATCH {path}", patch, Content_Type="application/merge-patch+json")
    assert answer.code == 200, answer.body


async def test_a_second_start_writes_nothing(data: Path) -> None:
    async with started(data) as server:
        before = server.store.revision
    async with started(data) as server:
        assert server.store.revision == before


async def test_what_was_removed_comes_back(data: Path) -> None:
    async with started(data) as server:
        await ask(server, f"DELETE {BASIC}")
    async with started(data) as server:
        assert (await read(server, BASIC))["rules"]


async def test_a_rule_that_was_taken_away_comes_back_and_one_that_was_added_stays(data: Path) -> None:
    async with started(data) as server:
        before = (await read(server, BASIC))["rules"]
        await change(server, BASIC, {"rules": [EXTRA]})
    async with started(data) as server:
        rules = (await read(server, BASIC))["rules"]
    assert rules[0] == EXTRA
    broken_down = {(rule["verbs"][0], rule["resources"][0]) for rule in rules[1:]}
    assert broken_down == {
        (verb, resource) for rule in before for verb in rule["verbs"] for resource in rule["resources"]
    }


async def test_labels_and_annotations_come_back(data: Path) -> None:
    async with started(data) as server:
        before = (await read(server, BASIC))["metadata"]["labels"]
        await change(server, BASIC, {"metadata": {"labels": {"kubernetes.io/bootstrapping": None, "mine": "x"}}})
    async with started(data) as server:
        assert (await read(server, BASIC))["metadata"]["labels"] == {**before, "mine": "x"}


async def test_one_that_says_so_is_left_alone(data: Path) -> None:
    off = {"metadata": {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}}
    async with started(data) as server:
        await change(server, BASIC, {**off, "rules": [EXTRA]})
        await change(server, BINDING, {**off, "subjects": None})
    async with started(data) as server:
        assert (await read(server, BASIC))["rules"] == [EXTRA]
        assert "subjects" not in await read(server, BINDING)


async def test_somebody_who_was_taken_out_of_a_binding_is_put_back(data: Path) -> None:
    async with started(data) as server:
        [before] = (await read(server, BINDING))["subjects"]
        await change(server, BINDING, {"subjects": [JANE]})
    async with started(data) as server:
        assert (await read(server, BINDING))["subjects"] == [JANE, before]


async def test_a_binding_to_another_role_is_made_anew(data: Path) -> None:
    async with started(data) as server:
        found = await read(server, BINDING)
        other = {
            "metadata": {"name": "system:basic-user"},
            "roleRef": {**found["roleRef"], "name": "cluster-admin"},
            "subjects": [JANE],
        }
        await ask(server, f"DELETE {BINDING}")
        assert (await ask(server, f"POST {RBAC}/clusterrolebindings", other)).code == 201
    async with started(data) as server:
        mended = await read(server, BINDING)
    assert mended["roleRef"] == found["roleRef"]
    assert mended["subjects"] == [JANE, *found["subjects"]]


async def test_a_selector_that_was_taken_away_comes_back(data: Path) -> None:
    view = f"{RBAC}/clusterroles/view"
    async with started(data) as server:
        before = await read(server, view)
        await change(server, view, {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]}})
        assert not (await read(server, view)).get("rules")
    async with started(data) as server:
        mended = await read(server, view)
    wanted = before["aggregationRule"]["clusterRoleSelectors"]
    assert mended["aggregationRule"]["clusterRoleSelectors"] == [{"matchLabels": {"x": "y"}}, *wanted]
    assert mended["rules"] == before["rules"]
