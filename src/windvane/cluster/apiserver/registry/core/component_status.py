"""The strategy of ComponentStatus."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import NAME, Column, items
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import core


def _health(component: Wire) -> str:
    status = _healthy(component).get("status")
    return "Unknown" if status is None else "Healthy" if status == "True" else "Unhealthy"


class ComponentStatusStrategy(BuiltinStrategy):
    model = core.ComponentStatus
    verbs = ("get", "list")
    columns = (
        NAME,
        Column("Status", _health),
        Column("Message", lambda component: _healthy(component).get("message", "")),
        Column("Error", lambda component: _healthy(component).get("error", "")),
    )


def _healthy(component: Wire) -> Wire:
    found: Wire = next((each for each in items(component, "conditions") if each.get("type") == "Healthy"), {})
    return found
