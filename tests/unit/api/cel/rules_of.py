"""A schema with one field of each type, and how to compile and run expressions on it."""

from typing import Any

from windvane.api.cel.declared_types import declared, named
from windvane.api.cel.expression import Expression, Scope
from windvane.api.cel.values import CompileError

ITEM = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "maxLength": 10}, "port": {"type": "integer"}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 20},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "names": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}},
        "labels": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 10}},
        "tags": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "ports": {
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": ITEM,
        },
        "target": {"x-kubernetes-int-or-string": True, "maxLength": 10},
        "when": {"type": "string", "format": "date-time"},
        "wait": {"type": "string", "format": "duration"},
        "data": {"type": "string", "format": "byte", "maxLength": 20},
        "a-b": {"type": "integer"},
        "namespace": {"type": "string", "maxLength": 10},
        "endless": {"type": "string"},
    },
}
VALUE: dict[str, Any] = {
    "text": "hello",
    "count": 7,
    "ratio": 2,
    "names": ["b", "a"],
    "labels": {"k": "v"},
    "tags": ["x", "y"],
    "ports": [{"name": "http", "port": 80}, {"name": "dns", "port": 53}],
    "target": "50%",
    "when": "2024-02-29T13:14:15Z",
    "wait": "1h30m",
    "data": "aGVsbG8=",
    "a-b": 1,
    "namespace": "ns",
}


def scope(schema: dict[str, Any] = SCHEMA) -> Scope:
    known = declared(schema)
    assert known is not None
    return Scope(named(known, "selfType"))


def compiled(text: str, **how: bool) -> Expression:
    return scope().compile(text, **how)


def run(text: str, value: Any = None, **how: Any) -> Any:
    """What an expression comes to; a CelError if it does not."""
    return compiled(text, **how).program.run(VALUE if value is None else value)[0]


def problem(text: str) -> str:
    """Why an expression is refused."""
    try:
        compiled(text)
    except CompileError as error:
        return str(error)
    return ""
