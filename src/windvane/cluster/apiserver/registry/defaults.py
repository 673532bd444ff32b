"""The steps of defaulting: sets fields that are absent."""

from typing import Any

from windvane.api.json_value import Wire


def fill(place: Wire, field: str, value: Any) -> None:
    """Write a value where there is none; an empty string is none."""
    if place.get(field) in (None, ""):
        place[field] = value


def fill_zero(place: Wire, field: str, value: Any) -> None:
    """Write a value where there is none; zero is none."""
    if not place.get(field):
        place[field] = value


def fill_path(obj: Wire, path: str, value: Any) -> None:
    """Write a value at a path such as `spec.strategy.type` where there is none, with whatever must be above it."""
    *parents, last = path.split(".")
    for parent in parents:
        obj = obj.setdefault(parent, {})
    fill(obj, last, value)
