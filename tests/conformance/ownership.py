"""Writes by several managers, and who owns which fields after them.

A write reads `apply one configmaps/a`: a verb, the manager who writes, and where. `force` is an apply that takes what
others own; `create`, `update`, `merge`, `json`, `strategic` and `get` are what they are called. Owners are shown with
the paths they own, such as `.data .data.k`, next to who they are: `one Apply v1`, `two Update v1 status`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.requests import Answer, Raw

KINDS = {"ConfigMap": "v1", "Deployment": "apps/v1", "Pod": "v1", "Secret": "v1", "Service": "v1"}


def applied_thing(kind: str, /, **rest: Any) -> dict[str, Any]:
    """An object as it is applied: it must say what it is."""
    return {"apiVersion": KINDS[kind], "kind": kind, **rest, "metadata": {"name": "a", **rest.get("metadata", {})}}


async def send(raw: Raw, write: str, body: Any) -> Answer:
    """What one write is answered."""
    verb, manager, place = write.split(" ", 2)
    named = f"{place}{'&' if '?' in place else '?'}fieldManager={manager}"
    match verb:
        case "get":
            return await raw(f"GET {place}")
        case "create":
            return await raw(f"POST {named}", body)
        case "update":
            return await raw(f"PUT {named}", body)
        case "force":
            return await raw(f"PATCH {named}&force=true", body, patch="apply")
    return await raw(f"PATCH {named}", body, patch=verb)


def owners(shown: Mapping[str, Any]) -> dict[str, str]:
    """Who owns which paths of an object."""
    return in_words(shown["metadata"].get("managedFields", ()))


def in_words(entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The same, from its managedFields."""
    found = {}
    for entry in entries:
        assert entry["fieldsType"] == "FieldsV1"
        words = (entry.get("manager"), entry["operation"], entry["apiVersion"], entry.get("subresource"))
        found[" ".join(filter(None, words))] = " ".join(sorted(_paths(entry["fieldsV1"], "")))
    return found


def _paths(fields: Mapping[str, Any], path: str) -> list[str]:
    found = [path] if path and (not fields or "." in fields) else []
    for step, below in fields.items():
        if step != ".":
            found += _paths(below, path + _step(step))
    return found


def _step(step: str) -> str:
    kind, _, text = step.partition(":")
    if kind == "f":
        return f".{text}"
    if kind == "v":
        return f"[{json.loads(text)}]"
    return f"[{','.join(f'{name}={value}' for name, value in json.loads(text).items())}]"
