"""Subresources that are there for one thing only: whatever else an object says that is written there is left out."""

from typing import Any

Wire = dict[str, Any]


def change_ephemeral_containers(wire: Wire, current: Wire) -> Wire:
    """Through `pods/ephemeralcontainers`, containers for debugging."""
    spec = {key: value for key, value in current["spec"].items() if key != "ephemeralContainers"}
    if containers := (wire.get("spec") or {}).get("ephemeralContainers"):
        spec["ephemeralContainers"] = containers
    return _with_spec(current, spec)


def resize(wire: Wire, current: Wire) -> Wire:
    """Through `pods/resize`, what a running pod and its containers may use.

    Who adds, removes or renames containers there is not corrected, but told.
    """
    wanted, spec = wire.get("spec") or {}, dict(current["spec"])
    for sort in ("containers", "initContainers"):
        if len(wanted.get(sort) or ()) != len(spec.get(sort) or ()):
            return _with_spec(current, wanted)
    for sort in ("containers", "initContainers"):
        pairs = list(zip(wanted.get(sort) or (), spec.get(sort) or (), strict=True))
        if any(new.get("name") != old.get("name") for new, old in pairs):
            spec[sort] = wanted[sort]
        elif pairs:
            spec[sort] = [_with(old, new, ("resources", "resizePolicy")) for new, old in pairs]
    return _with_spec(current, _with(spec, wanted, ("resources",)))


def _with_spec(current: Wire, spec: Wire) -> Wire:
    return {**current, "metadata": dict(current["metadata"]), "spec": spec}


def _with(holder: Wire, other: Wire, fields: tuple[str, ...]) -> Wire:
    """One with these fields of another."""
    kept = {key: value for key, value in holder.items() if key not in fields}
    return kept | {field: other[field] for field in fields if field in other}
