"""The types that a schema declares: what expressions may ask of `self`, and how large it can be at most.

What the schema doesn't describe can't be named in expressions, but counts where whole objects are compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from windvane.api.cel import types
from windvane.api.cel.cost.limits import tick
from windvane.api.cel.grammar.names import escaped_name
from windvane.api.cel.types import Type

Schema = Mapping[str, Any]

MOST_BYTES = 3 * 1024 * 1024
"""The largest request that the server takes: nothing in it can be larger."""

_STRING_SIZE, _NUMBER_SIZE, _BOOL_SIZE = 2, 1, 4
_METADATA = {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}
_RESOURCE_FIELDS = {"kind": {"type": "string"}, "apiVersion": {"type": "string"}, "metadata": _METADATA}
_UNSET = 0  # what the size of types without a size is taken for


@dataclass(slots=True, eq=False)
class Declared:
    """A type that is declared by a schema."""

    type: Type
    most: int
    """How many characters, items or keys there can be."""
    least_size: int
    """How few bytes it can have as JSON."""
    schema: Schema
    nullable: bool
    items: "Declared | None" = None
    keys: "Declared | None" = None
    fields: "Mapping[str, Declared] | None" = None
    """By their names in expressions."""
    wire_names: Mapping[str, str] = field(default_factory=dict)
    """The names of the fields in JSON, by their names in expressions."""


def declared(schema: Schema, *, is_resource: bool = False) -> Declared | None:
    """What a schema declares, or None if expressions can't see it. `is_resource` adds the name and kind of objects."""
    tick()
    nullable = schema.get("nullable") is True
    if schema.get("x-kubernetes-int-or-string"):
        most = _characters(schema) if schema.get("maxLength") is not None else MOST_BYTES - 2
        return Declared(types.DYN, most, _NUMBER_SIZE, schema, nullable)
    if is_resource:
        schema = with_resource_fields(schema)
    match schema.get("type"):
        case "array":
            return _list(schema, nullable)
        case "object":
            return _object(schema, nullable)
        case "string":
            return _string(schema, nullable)
        case "boolean":
            return Declared(types.BOOL, _UNSET, _BOOL_SIZE, schema, nullable)
        case "number":
            return Declared(types.DOUBLE, _UNSET, _NUMBER_SIZE, schema, nullable)
        case "integer":
            return Declared(types.INT, _UNSET, _NUMBER_SIZE, schema, nullable)
    return None


def with_resource_fields(schema: Schema) -> Schema:
    """The schema of a whole object: its apiVersion, kind, name and generateName can always be seen, and no labels."""
    known = schema.get("properties") or {}
    metadata = known.get("metadata") or {}
    named = metadata.get("properties") or {}
    complete = (
        all((known.get(name) or {}).get("type") == "string" for name in ("kind", "apiVersion"))
        and metadata.get("type") == "object"
        and all((named.get(name) or {}).get("type") == "string" for name in ("name", "generateName"))
    )
    return schema if complete else {**schema, "properties": {**known, **_RESOURCE_FIELDS}}


def _below(schema: Schema) -> Declared | None:
    return declared(schema, is_resource=schema.get("x-kubernetes-embedded-resource") is True)


def _list(schema: Schema, nullable: bool) -> Declared | None:
    items = _below(schema["items"]) if isinstance(schema.get("items"), Mapping) else None
    if items is None:
        return None
    most = schema.get("maxItems")
    most = max(most, 0) if most is not None else (MOST_BYTES - 2) // (items.least_size + 1)
    return Declared(types.list_of(items.type), most, 2, schema, nullable, items=items)


def _object(schema: Schema, nullable: bool) -> Declared | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        values = _below(additional)
        if values is None:
            return None
        most = schema.get("maxProperties")
        most = max(most, 0) if most is not None else (MOST_BYTES - 2) // (values.least_size + 6)
        keys = Declared(types.STRING, _UNSET, _STRING_SIZE, {"type": "string"}, False)
        return Declared(types.map_of(types.STRING, values.type), most, 2, schema, nullable, items=values, keys=keys)
    least, fields, wire_names = 2, {}, {}
    required = schema.get("required") or ()
    for name, inner in (schema.get("properties") or {}).items():
        if (inside := _below(inner)) is None:
            continue
        if (called := escaped_name(name)) is not None:
            fields[called], wire_names[called] = inside, name
        if name in required and inner.get("default") is None:
            least += len(name.encode()) + inside.least_size + 4
    return Declared(types.struct("object"), _UNSET, least, schema, nullable, fields=fields, wire_names=wire_names)


def _string(schema: Schema, nullable: bool) -> Declared:
    longest = schema.get("maxLength")
    match schema.get("format"):
        case "byte":
            most = max(longest, 0) if longest is not None else MOST_BYTES - 2
            return Declared(types.BYTES, most, _STRING_SIZE, schema, nullable)
        case "duration":
            return Declared(types.DURATION, 32, 3, schema, nullable)
        case "date":
            return Declared(types.TIMESTAMP, 12, 12, schema, nullable)
        case "date-time":
            return Declared(types.TIMESTAMP, 32, 21, schema, nullable)
    if longest is not None:
        most = _characters(schema)
    elif schema.get("enum"):
        most = max((len(each.encode()) for each in schema["enum"] if isinstance(each, str)), default=0)
    else:
        most = MOST_BYTES - 2
    return Declared(types.STRING, most, _STRING_SIZE, schema, nullable)


def _characters(schema: Schema) -> int:
    return int(max(schema["maxLength"], 0)) * 4  # a character can take four bytes


def named(of: Declared, name: str) -> Declared:
    """The same with names for all its objects, by which messages call them."""
    tick()
    if of.fields is not None:
        fields = {key: named(each, f"{name}.{key}") for key, each in of.fields.items()}
        return replace(of, type=types.struct(name), fields=fields)
    if of.items is None:
        return of
    items = named(of.items, f"{name}.{'@idx' if of.keys is None else '@elem'}")
    type_ = types.list_of(items.type) if of.keys is None else types.map_of(types.STRING, items.type)
    return replace(of, type=type_, items=items)


def structs(of: Declared) -> dict[str, Declared]:
    """All objects in a declared type by the names of their types."""
    found = {of.type.name: of} if of.fields is not None else {}
    for each in (*(of.fields or {}).values(), *([of.items] if of.items is not None else [])):
        found |= structs(each)
    return found


def has_nullable_entries(of: Declared) -> bool:
    """Whether somewhere in it a list or map may have null in it, which its type doesn't say."""
    if of.items is not None and (of.items.nullable or has_nullable_entries(of.items)):
        return True
    return any(has_nullable_entries(each) for each in (of.fields or {}).values())
