"""Subresources that are there for one thing only: whatever else an object says that is written there is left out."""

from typing import Any

Wire = dict[str, Any]


def change_ephemeral_containers(wire: Wire, current: Wire) -> Wire:
    """Through `pods/ephemeralcontainers`, containers for debugging."""
    spec = {key: value for key, value in current["spec"].items() if key != "ephemeralContainers"}
    if containers := (wire.get("spec") or {}).get("ephemeralContainers"):
        spec["ephemeralContainers"] = containers
    return {**current, "spec": spec}


def resize(wire: Wire, current: Wire) -> Wire:
    """Through `pods/resize`, what the containers of a running pod may use."""
    wanted = {each.get("name"): each for each in (wire.get("spec") or {}).get("containers") or ()}
    containers = [
        {**each, "resources": wanted.get(each["name"], each).get("resources", {})}
        for each in current["spec"]["containers"]
    ]
    return {**current, "spec": {**current["spec"], "containers": containers}}
