"""Stories about who owns which field: some writes by several managers, and what the last of them leads to.

A write reads `apply one configmaps/a`: a verb, the manager who writes, and where. `force` is an apply that takes what
others own; `create`, `update`, `merge`, `json`, `strategic` and `get` are what they are called. Owners are shown with
the paths they own, such as `.data .data.k`, next to who they are: `one Apply v1`, `two Update v1 status`.
"""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from conformance.cases import part
from conformance.requests import Answer, Raw, Refused

Write = tuple[str, Any]

KINDS = {"ConfigMap": "v1", "Deployment": "apps/v1", "Pod": "v1", "Secret": "v1", "Service": "v1"}
# A JSON patch after which nobody owns anything.
RESET = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]


@dataclass(frozen=True)
class Owned:
    """A success: what the object has, and who owns which paths of it."""

    body: Mapping[str, Any]
    owners: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """One behaviour."""

    says: str
    writes: Sequence[Write]
    """All but the last succeed."""
    want: Owned | Refused

    async def check(self, raw: Raw) -> None:
        """Write it all, and compare what the last write is answered."""
        for write in self.writes[:-1]:
            answer = await send(raw, *write)
            assert answer.code < 300, f"{write[0]}: {answer.body.decode()}"
        answer = await send(raw, *self.writes[-1])
        if isinstance(self.want, Refused):
            assert answer.code >= 400, f"not refused: {answer.code} {answer.body.decode()}"
            assert in_order(answer.refusal) == in_order(self.want.in_namespace(raw.namespace))
            return
        assert answer.code < 300, answer.body.decode()
        shown = answer.json
        assert part(shown, self.want.body) == self.want.body
        assert owners(shown) == self.want.owners


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
    found = {}
    for entry in shown["metadata"].get("managedFields", ()):
        assert entry["fieldsType"] == "FieldsV1"
        words = (entry.get("manager"), entry["operation"], entry["apiVersion"], entry.get("subresource"))
        found[" ".join(filter(None, words))] = " ".join(sorted(_paths(entry["fieldsV1"], "")))
    return found


def _paths(fields: Mapping[str, Any], path: str) -> list[str]:
    found = [path] if path and (not fields or "." in fields) else []
    for step, below in fields.items():
        if step != ".":
            found += _paths(below, path + _words(step))
    return found


def _words(step: str) -> str:
    kind, _, text = step.partition(":")
    if kind == "f":
        return f".{text}"
    if kind == "v":
        return f"[{json.loads(text)}]"
    return f"[{','.join(f'{name}={value}' for name, value in json.loads(text).items())}]"


def conflicts(*found: tuple[str, str]) -> Refused:
    """The refusal that names managers, such as `"two" using v1`, each with the paths that it owns."""
    listed = [(manager, path) for manager, paths in found for path in paths.split()]
    if len(listed) == 1:
        text = f"Apply failed with 1 conflict: conflict with {listed[0][0]}: {listed[0][1]}"
    else:
        lines = []
        for manager, paths in found:
            lines += [f"conflicts with {manager}:", *(f"- {path}" for path in paths.split())]
        text = f"Apply failed with {len(listed)} conflicts: " + "\n".join(lines)
    causes = [f"FieldManagerConflict {path}: conflict with {manager}" for manager, path in listed]
    return Refused(409, "Conflict", text, "", causes)


def misfit(what: str, problem: str) -> Refused:
    """The refusal of an object that does not fit its kind's schema."""
    return Refused(500, "", f"failed to create typed patch object ({what}): {problem}")


def in_order(refused: Refused) -> tuple[Any, ...]:
    """A refusal with its causes sorted: those of several managers come in any order."""
    return (refused.code, refused.reason, refused.message, refused.about, sorted(refused.causes), refused.warnings)


def each(stories: Sequence[Story]) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Any]:
    """Makes one test of each story."""
    return pytest.mark.parametrize("story", stories, ids=[story.says.replace(" ", "-") for story in stories])
