"""Custom kinds with columns of every type, over paths that the dialect of JSON paths has something to say about."""

from typing import Any

from reference.table_objects import LONG_AGO, JSONObject, thing

# Every path with every type: also the ones that don't fit.
PATHS = {
    "text": ".spec.text",
    "value": ".spec.value",
    "missing": ".spec.nothing.at.all",
    "first": ".spec.list[0]",
    "last": ".spec.list[-1]",
    "beyond": ".spec.list[7]",
    "slice": ".spec.list[1:3]",
    "steps": ".spec.list[0:3:2]",
    "all": ".spec.list[*]",
    "whole-list": ".spec.list",
    "whole-map": ".spec.map",
    "dotted": ".metadata.annotations.example\\.com/a\\.b",
    "quoted": ".metadata.annotations['example\\.com/a\\.b']",
    "ready": '.status.conditions[?(@.type=="Ready")].status',
    "ready-single": ".status.conditions[?(@.type=='Ready')].status",
    "not-ready": '.status.conditions[?(@.type != "Ready")].type',
    "large": ".spec.sizes[?(@.size > 3)].name",
    "at-most": ".spec.sizes[?(@.size <= 3)].name",
    "as-float": ".spec.sizes[?(@.size > 1.5)].name",
    "is-true": ".spec.sizes[?(@.on == true)].name",
    "exists": ".spec.sizes[?(@.on)].name",
    "of-no-list": ".spec.map[?(@.a)]",
    "strange-sign": ".spec.sizes[?(@.size = 3)].name",
    "deep": "..deeply",
    "union": ".spec.list[2,0]",
    "any": ".spec.single.*",
    "index-of-text": ".spec.text[0]",
    "a-word": ".spec word",
    "root": ".",
    "double-dot": ".spec..name",
}
TYPES = ("string", "integer", "number", "boolean", "date")
COLUMNS: list[JSONObject] = [
    *({"name": f"{name}-{type_}", "type": type_, "jsonPath": path} for name, path in PATHS.items() for type_ in TYPES),
    {
        "name": "Size",
        "type": "integer",
        "format": "int32",
        "jsonPath": ".spec.value",
        "priority": 1,
        "description": "?",
    },
]
FREE: JSONObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(plural: str, kind: str, columns: list[JSONObject]) -> JSONObject:
    """A CRD that takes objects of any content."""
    group = "tables.windvane.dev"
    version = {
        "name": "v1", "served": True, "storage": True, "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": FREE},
    }  # fmt: skip
    spec = {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind}, "versions": [version]}
    return thing("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec=spec)


DEFINITIONS = [
    definition("gadgets", "Gadget", COLUMNS),
    definition("plains", "Plain", []),
    definition(
        "brokens", "Broken",
        [
            {"name": "Good", "type": "string", "jsonPath": ".spec.text"},
            {"name": "Bad", "type": "string", "jsonPath": ".spec.list["},
            {"name": "After", "type": "string", "jsonPath": ".spec.value"},
        ],
    ),
]  # fmt: skip

VALUES: list[Any] = [
    "text", "", "3", LONG_AGO, "2023-02-03", "null", "9999-01-01T00:00:00Z", 0, 3, -7, 12345678901, 1.5, 0.1, 100000.5,
    1234567.5, 1.5e-5, 1e300, True, False, None, {}, [], {"b": 1, "a": "<&>é"}, [1, 2.5, "x", None, True],
    {"<": [1e300, 1e21, 1e20, 1.5e-5, 1.5e-7, 1234567.5, -0.5, "\b\u0001\u2028\"\\1.0"]},
    "2023-02-03T04:05:06+02:00",
]  # fmt: skip
GADGETS = [
    *(thing("tables.windvane.dev/v1", "Gadget", f"value-{i}", spec={"value": value}) for i, value in enumerate(VALUES)),
    thing("tables.windvane.dev/v1", "Gadget", "empty"),
    thing(
        "tables.windvane.dev/v1", "Gadget", "full",
        {"conditions": [{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}]},
        metadata={"annotations": {"example.com/a.b": "annotated"}},
        spec={
            "text": "words", "value": 5, "list": ["one", "two", "three"], "map": {"b": {"c": 1}, "a": [1]},
            "sizes": [
                {"name": "s", "size": 1}, {"name": "l", "size": 4, "on": True}, {"name": "xl", "size": 9, "on": False},
            ],
            "deeper": [{"deeply": "found"}], "single": {"only": "one"},
        },
    ),
    thing(
        "tables.windvane.dev/v1", "Gadget", "odd", {"conditions": None},
        spec={
            "text": {"not": "text"}, "list": {"not": "a list"}, "map": [{"a": 1}, {}],
            "sizes": [{"size": "3"}, {"name": 7, "size": 4}],
        },
    ),
    thing(
        "tables.windvane.dev/v1", "Gadget", "numbers", {"conditions": []},
        spec={
            "list": [], "map": {}, "single": {"x": True}, "sizes": [{"name": 1, "size": 4}, {"name": 2.5, "size": 2}],
        },
    ),
]  # fmt: skip
