import json
from typing import Any

from unit.cluster.apiserver.servers import ADMIN, JANE, ask, running
from windvane.cluster.apiserver.server import APIServer

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
READ_WIDGETS = {"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["widgets"]}


async def rules(server: APIServer, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((await ask(server, f"GET {ROLES}/{name}")).body).get("rules") or []
    return found


def part(name: str, label: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {label: "true"}}, "rules": list(rules)}


def whole(name: str, label: str, **labels: str) -> dict[str, Any]:
    selectors = [{"matchLabels": {label: "true"}}]
    return {"metadata": {"name": name, "labels": labels}, "aggregationRule": {"clusterRoleSelectors": selectors}}


async def test_view_edit_and_admin_are_filled_from_the_start() -> None:
    async with running() as server:
        view, edit, admin = [await rules(server, name) for name in ("view", "edit", "admin")]
        assert view
        assert all(rule in edit for rule in view)
        assert all(rule in admin for rule in edit)
        assert len(view) < len(edit) < len(admin)


async def test_a_role_that_joins_is_in_it_at_once() -> None:
    async with running() as server:
        joining = part("widgets", "rbac.authorization.k8s.io/aggregate-to-view", READ_WIDGETS)
        assert (await ask(server, f"POST {ROLES}", joining)).code == 201
        for name in ("view", "edit", "admin"):  # one is part of the next
            assert READ_WIDGETS in await rules(server, name)


async def test_a_role_that_leaves_is_out_of_it_at_once() -> None:
    async with running() as server:
        await ask(server, f"POST {ROLES}", part("widgets", "x", READ_WIDGETS))
        await ask(server, f"POST {ROLES}", whole("all", "x"))
        assert await rules(server, "all") == [READ_WIDGETS]
        await ask(server, f"DELETE {ROLES}/widgets")
        assert await rules(server, "all") == []


async def test_a_role_that_gets_the_label_or_loses_it_or_has_other_rules_changes_it_at_once() -> None:
    async with running() as server:
        await ask(server, f"POST {ROLES}", whole("all", "x"))
        await ask(server, f"POST {ROLES}", part("widgets", "y", READ_WIDGETS))
        assert await rules(server, "all") == []
        await ask(server, f"PUT {ROLES}/widgets", part("widgets", "x", READ_WIDGETS))
        assert await rules(server, "all") == [READ_WIDGETS]
        await ask(server, f"PUT {ROLES}/widgets", part("widgets", "x", READ_WIDGETS | {"verbs": ["list"]}))
        assert await rules(server, "all") == [READ_WIDGETS | {"verbs": ["list"]}]
        await ask(server, f"PUT {ROLES}/widgets", part("widgets", "y", READ_WIDGETS))
        assert await rules(server, "all") == []


async def test_rules_of_its_own_are_replaced() -> None:
    async with running() as server:
        await ask(server, f"POST {ROLES}", {**whole("all", "x"), "rules": [READ_WIDGETS]})
        assert await rules(server, "all") == []


async def test_roles_that_are_of_each_other_come_to_rest() -> None:
    async with running() as server:
        await ask(server, f"POST {ROLES}", part("widgets", "x", READ_WIDGETS))
        await ask(server, f"POST {ROLES}", whole("one", "x", y="true"))
        await ask(server, f"POST {ROLES}", whole("two", "y", x="true"))
        assert await rules(server, "one") == await rules(server, "two") == [READ_WIDGETS]


async def test_an_aggregated_role_gives_its_rights() -> None:
    async with running() as server:
        group = "rbac.authorization.k8s.io"
        binding = {
            "metadata": {"name": "viewers"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "jane"}],
        }
        assert (await ask(server, "GET /api/v1/pods", user=JANE)).code == 403
        await ask(server, f"POST {BINDINGS}", binding)
        assert (await ask(server, "GET /api/v1/pods", user=JANE)).code == 200
        assert (await ask(server, "GET /api/v1/secrets", user=JANE)).code == 403
        assert (await ask(server, "GET /api/v1/secrets", user=ADMIN)).code == 200
