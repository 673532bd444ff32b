"""What a real API server says about custom resources and CRDs: `schema_cases.json`, and objects made from it.

The file is a record of its answers. tests/unit compares ours with the record, tests/reference the record with the
server, so that both have the same words.
"""

import json
from pathlib import Path
from typing import Any

from windvane.api.status import StatusCause

Json = dict[str, Any]
Causes = list[tuple[str, str, str]]

RECORD: Json = json.loads(Path(__file__).with_suffix(".json").read_text())

VALUES: list[tuple[Json, Any, Causes]] = [
    (case["schema"], case["value"], [tuple(each) for each in case["causes"]]) for case in RECORD["values"]
]
"""A schema, a value for it at `spec.value`, and what is wrong with it: field, reason, message."""

FORMATS: list[tuple[str, str, bool]] = [
    (name, value, outcome == "accepted")
    for name, values in RECORD["formats"].items()
    for outcome in ("accepted", "refused")
    for value in values[outcome]
]
"""A string format, a string, and whether it is accepted."""


def definition(schema: Json, group: str = "c.windvane.dev") -> Json:
    """A CRD for things whose spec has this schema."""
    root = {"type": "object", "properties": {"spec": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}],
        },
    }


def _changed(change: Json) -> Json:
    plain = definition({"type": "object"})
    return {**plain, **{part: {**plain[part], **fields} for part, fields in change.items()}}


DEFINITIONS: list[tuple[Json, Causes]] = [
    *((definition(case["schema"]), [tuple(each) for each in case["causes"]]) for case in RECORD["schemas"]),
    *((_changed(case["change"]), [tuple(each) for each in case["causes"]]) for case in RECORD["definitions"]),
]
"""A CRD, and what is wrong with it."""


def as_tuples(causes: list[StatusCause]) -> Causes:
    """Causes as they are in the record, in an order of their own: a Go server walks over maps at random."""
    return sorted((cause.field, cause.reason, cause.message) for cause in causes)


def label(*parts: Any) -> str:
    """A test's id that shows what it is about."""
    return " ".join(json.dumps(part) for part in parts)[:80]
