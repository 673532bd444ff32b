"""Specs of an object as they are sent, and as an API server keeps them; judged by ours and by a real one."""

from typing import Any

Json = dict[str, Any]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
TEXT = {"type": "string"}
ONE_FIELD = {"type": "object", "properties": {"a": TEXT}}
FIELDS: Json = {
    "text": TEXT,
    "nullable": {"type": "string", "nullable": True},
    "object": ONE_FIELD,
    "list": {"type": "array", "items": ONE_FIELD},
    "map": {"type": "object", "additionalProperties": ONE_FIELD},
    "anything": {PRESERVE: True},
    "mostly": {"type": "object", PRESERVE: True, "properties": {"known": ONE_FIELD}},
    "keptList": {"type": "array", PRESERVE: True, "items": {"type": "object", "properties": {"known": ONE_FIELD}}},
    "embedded": {"type": "object", EMBEDDED: True, "properties": {"spec": ONE_FIELD}},
    "untyped": {"type": "object", "additionalProperties": True},
    "filled": {"type": "string", "default": "D"},
    "filledNullable": {"type": "string", "default": "D", "nullable": True},
    "nested": {
        "type": "object",
        "default": {},
        "properties": {
            "number": {"type": "integer", "default": 3},
            "deeper": {"type": "object", "properties": {"z": {"type": "string", "default": "Z"}}},
        },
    },
    "ports": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "string", "default": "TCP"}}}},
    "texts": {"type": "object", "additionalProperties": TEXT},
    "items": {"type": "array", "items": {"type": "string", "default": "I"}},
}
POD = {"apiVersion": "v1", "kind": "Pod"}
ALWAYS_FILLED = {"filled": "D", "filledNullable": "D", "nested": {"number": 3}}
"""The defaults that every spec has."""

PRUNED: list[tuple[Json, Json, list[str]]] = [
    ({"text": "x", "bogus": 1}, {"text": "x"}, ["spec.bogus"]),
    ({"object": {"a": "x", "b": {"c": 1}}}, {"object": {"a": "x"}}, ["spec.object.b"]),
    ({"list": [{"b": 1}, {"a": "x"}]}, {"list": [{}, {"a": "x"}]}, ["spec.list[0].b"]),
    ({"map": {"k": {"b": 1}}}, {"map": {"k": {}}}, ["spec.map.k.b"]),
    ({"anything": {"x": [{"y": None}]}}, {"anything": {"x": [{"y": None}]}}, []),
    ({"mostly": {"z": 1, "known": {"b": 1}}}, {"mostly": {"z": 1, "known": {}}}, ["spec.mostly.known.b"]),
    ({"keptList": [{"z": 1, "known": {"b": 1}}]}, {"keptList": [{"z": 1, "known": {}}]}, ["spec.keptList[0].known.b"]),
    ({"untyped": {"a": {"b": 1}, "c": 3}}, {"untyped": {"a": {}, "c": 3}}, ["spec.untyped.a.b"]),
    ({"text": {"b": 1}}, {"text": {}}, ["spec.text.b"]),
    (
        {"embedded": {**POD, "metadata": {"name": "p", "bogus": 1, "labels": {}}, "spec": {"b": 1}, "status": {}}},
        {"embedded": {**POD, "metadata": {"name": "p"}, "spec": {}}},
        ["spec.embedded.spec.b", "spec.embedded.status", "spec.embedded.metadata.bogus"],
    ),
    ({"embedded": {**POD, "metadata": None}}, {"embedded": {**POD, "metadata": {}}}, []),
]
"""A spec with unknown fields, what is kept of it, and the paths of what is not."""

FILLED: list[tuple[Json, Json]] = [
    ({}, {}),
    ({"filled": "stated"}, {"filled": "stated"}),
    ({"filled": None, "filledNullable": None}, {"filled": "D", "filledNullable": None}),
    ({"text": None, "nullable": None, "object": {"a": None}}, {"nullable": None, "object": {}}),
    ({"nested": None}, {"nested": {"number": 3}}),
    ({"nested": {"deeper": {}}}, {"nested": {"number": 3, "deeper": {"z": "Z"}}}),
    ({"ports": [{}, {"p": None}, {"p": "UDP"}]}, {"ports": [{"p": "TCP"}, {"p": "TCP"}, {"p": "UDP"}]}),
    ({"texts": {"a": None, "b": "c"}}, {"texts": {"b": "c"}}),
    ({"items": [None, "x"]}, {"items": ["I", "x"]}),
    ({"anything": {"x": None}}, {"anything": {"x": None}}),
]
"""A spec with nulls and gaps, and what is kept beside `ALWAYS_FILLED`."""
