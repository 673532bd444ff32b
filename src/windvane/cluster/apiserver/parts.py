"""Subresources that are there for one thing only: whatever else an object says that is written there is left out."""

from typing import Any

from windvane import ambient
from windvane.api.time import format_time

Wire = dict[str, Any]


def approve(wire: Wire, current: Wire) -> Wire:
    """Through `certificatesigningrequests/approval`, whether a certificate shall be."""
    now = format_time(ambient.now())
    before = {each.get("type"): each for each in (current.get("status") or {}).get("conditions") or ()}
    conditions = []
    for condition in (wire.get("status") or {}).get("conditions") or ():
        known = before.get(condition.get("type"), {})
        kept = known.get("lastTransitionTime") if known.get("status") == condition.get("status") else None
        conditions.append({"lastUpdateTime": now, "lastTransitionTime": kept or now, **condition})
    status = {**(current.get("status") or {}), "conditions": conditions}
    return {**current, "metadata": wire["metadata"], "status": {key: value for key, value in status.items() if value}}


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
