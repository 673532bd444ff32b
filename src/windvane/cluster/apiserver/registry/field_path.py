"""Fields by their paths, such as `spec.replicas`."""

from typing import Any


def field_at(obj: Any, path: str) -> Any:
    """What is in a field; None if it isn't there."""
    here = obj
    for name in path.strip(".").split("."):
        here = here.get(name) if isinstance(here, dict) else None
    return here


def field_text(obj: Any, path: str) -> str:
    """The text that a field selector compares with; empty for what is absent."""
    found = field_at(obj, path)
    if isinstance(found, bool):
        return "true" if found else "false"
    return "" if found is None else str(found)
