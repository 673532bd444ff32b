"""Columns of bindings."""

from collections.abc import Callable

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, items, wide


def _subjects(kind: str) -> Callable[[Wire], str]:
    return lambda binding: ", ".join(
        f"{each.get('namespace', '')}/{each['name']}" if kind == "ServiceAccount" else each["name"]
        for each in items(binding, "subjects")
        if each.get("kind") == kind
    )


def _role(binding: Wire) -> str:
    role = binding.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


ROLE_BINDING = (
    NAME,
    Column("Role", _role),
    AGE,
    wide("Users", _subjects("User")),
    wide("Groups", _subjects("Group")),
    wide("ServiceAccounts", _subjects("ServiceAccount")),
)
