"""What the server does to an object before it looks at its values: unknown fields go, defaults come in.

Both follow the structural schema of the kind, compiled into a `Structural`. All changes are made in place.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from windvane.api.custom_resources.schema import Schema, schema
from windvane.api.json_value import json_copy
from windvane.api.meta import ObjectMeta

PRESERVE = "x-kubernetes-preserve-unknown-fields"
RESOURCE_FIELDS = ("apiVersion", "kind", "metadata")
_EMPTY: tuple[Any, ...] = (None, "", 0, [], {})

Path = tuple[Any, str | int] | None
"""Where a value is: the path of what it is in, and its key or index there. Made into text only if it is needed."""


@dataclass(slots=True)
class UnknownFields:
    """The paths of fields that were removed; the server lists those in the metadata of embedded objects last."""

    fields: list[str] = field(default_factory=list)
    in_metadata: list[str] = field(default_factory=list)


class Structural:
    """A schema, ready to prune and to fill in."""

    def __init__(self, of: Schema) -> None:
        self._of = of
        self.keeps_any_key = of.get("additionalProperties") is not None
        self.preserving = of.get(PRESERVE) is True
        self.embedded = of.get("x-kubernetes-embedded-resource") is True
        self.nullable = of.get("nullable") is True
        self.default = of.get("default")
        self.filled = [
            (name, inner["default"], inner.get("nullable") is True)
            for name, inner in of.get("properties", {}).items()
            if inner.get("default") is not None
        ]

    # What is inside is compiled when the first object has it: a schema may describe a thousand fields of pods.

    @cached_property
    def properties(self) -> dict[str, "Structural"]:
        """The fields that are known."""
        return {name: Structural(inner) for name, inner in self._of.get("properties", {}).items()}

    @cached_property
    def additional(self) -> "Structural | None":
        """What all other fields are like, if that is known."""
        additional = self._of.get("additionalProperties")
        return Structural(additional) if isinstance(additional, dict) else None

    @cached_property
    def items(self) -> "Structural | None":
        """What the items of a list are like. A list that keeps what is unknown keeps it in its items too."""
        items = self._of.get("items")
        return Structural({**items, **({PRESERVE: True} if self.preserving else {})}) if items else None

    @cached_property
    def has_defaults(self) -> bool:
        """Whether there is anything to fill in, here or further inside: what has nothing of it is not gone through."""
        return _has_defaults(self._of)

    def prune(self, resource: dict[str, Any]) -> list[str]:
        """Remove what the schema doesn't know from a whole object; says what, as `unknown field "spec.bogus"`.

        The object's own apiVersion, kind and metadata are known without being in the schema.
        """
        own, unknown = UnknownFields(), UnknownFields()
        if isinstance(metadata := resource.get("metadata"), dict):
            _METADATA.prune_value(metadata, (None, "metadata"), own)
        self._prune_fields(resource, None, unknown, known=RESOURCE_FIELDS)
        paths = [*sorted(own.fields), *sorted(unknown.fields), *sorted(unknown.in_metadata)]
        return [f'unknown field "{path}"' for path in paths]

    def prune_value(self, value: Any, path: Path, unknown: UnknownFields) -> None:
        """Remove what the schema doesn't know from a part of an object, and add its paths to `unknown`."""
        kind = type(value)
        if kind is dict:
            if self.embedded:
                _prune_metadata(value, path, unknown)
                self._prune_fields(value, path, unknown, known=RESOURCE_FIELDS)
            else:
                self._prune_fields(value, path, unknown, known=())
        elif kind is list:
            items = self.items
            if items is None:
                if not self.preserving:
                    for index, each in enumerate(value):
                        _empty(each, (path, index), unknown)
            else:
                for index, each in enumerate(value):
                    if type(each) is dict or type(each) is list:
                        items.prune_value(each, (path, index), unknown)

    def _prune_fields(self, value: dict[str, Any], path: Path, unknown: UnknownFields, known: tuple[str, ...]) -> None:
        properties = self.properties
        removed = None
        for key, inner in value.items():
            if key in known:
                continue
            part = properties.get(key)
            if part is None:
                if self.keeps_any_key:
                    part = self.additional
                    if part is None:
                        _empty(inner, (path, key), unknown)
                        continue
                elif self.preserving:
                    continue
                else:
                    removed = removed or []
                    removed.append(key)
                    continue
            if type(inner) is dict or type(inner) is list:
                part.prune_value(inner, (path, key), unknown)
        for key in removed or ():
            del value[key]
            unknown.fields.append(path_text((path, key)))

    def drop_nulls(self, value: Any) -> bool:
        """Remove nulls where they are not allowed and no default takes their place; says whether there were any."""
        kind, found = type(value), False
        if kind is dict:
            properties, additional = self.properties, self.additional
            removed = None
            for key, inner in value.items():
                if inner is None:
                    part = properties.get(key, additional)
                    if part is not None and not part.nullable and part.default is None:
                        removed = removed or []
                        removed.append(key)
                elif type(inner) is dict or type(inner) is list:
                    part = properties.get(key, additional)
                    if part is not None and part.drop_nulls(inner):
                        found = True
            for key in removed or ():
                del value[key]
            return found or removed is not None
        if kind is list and (items := self.items) is not None:
            for inner in value:
                if (type(inner) is dict or type(inner) is list) and items.drop_nulls(inner):
                    found = True
        return found

    def fill(self, value: Any) -> bool:
        """Fill in defaults where nothing is stated, or a null that is not allowed; says whether there was any need."""
        kind, lacked = type(value), False
        if kind is dict:
            for name, default, nullable in self.filled:
                if name not in value or (value[name] is None and not nullable):
                    value[name], lacked = json_copy(default), True
            properties, additional = self.properties, self.additional
            for key, inner in value.items():
                part = properties.get(key, additional)
                if part is None or not part.has_defaults:
                    continue
                if inner is None:
                    if not part.nullable and part.default is not None:
                        value[key], lacked = json_copy(part.default), True
                        part.fill(value[key])
                elif (type(inner) is dict or type(inner) is list) and part.fill(inner):
                    lacked = True
        elif kind is list and (items := self.items) is not None and items.has_defaults:
            for index, inner in enumerate(value):
                if inner is None and not items.nullable and items.default is not None:
                    value[index], lacked = json_copy(items.default), True
                if items.fill(value[index]):
                    lacked = True
        return lacked


def prune(value: dict[str, Any], of: Schema) -> list[str]:
    """Remove unknown fields from a whole object, in place; says which."""
    return Structural(of).prune(value)


def unknown_fields(value: dict[str, Any], of: Schema) -> list[str]:
    """What `prune` would remove, as `unknown field "spec.bogus"`; nothing is changed."""
    return Structural(of).prune(json_copy(value))


def default(value: dict[str, Any], of: Schema) -> None:
    """Fill in the defaults of a schema, in place; nulls that are not allowed go."""
    structural = Structural(of)
    structural.drop_nulls(value)
    structural.fill(value)


def _has_defaults(of: Schema) -> bool:
    below = [*of.get("properties", {}).values(), of.get("items"), of.get("additionalProperties")]
    return "default" in of or any(_has_defaults(each) for each in below if isinstance(each, dict))


def path_text(path: Path) -> str:
    """A path as messages write it: `spec.ports[0].name`."""
    parts: list[str] = []
    while path is not None:
        path, step = path
        parts.append(f"[{step}]" if isinstance(step, int) else step if path is None else f".{step}")
    return "".join(reversed(parts))


def _empty(value: Any, path: Path, unknown: UnknownFields) -> None:
    """Remove all fields of a value that has no schema; lists stay, and so do scalars."""
    if type(value) is dict:
        unknown.fields.extend(path_text((path, key)) for key in value)
        value.clear()
    elif type(value) is list:
        for index, each in enumerate(value):
            _empty(each, (path, index), unknown)


def _prune_metadata(resource: dict[str, Any], path: Path, unknown: UnknownFields) -> None:
    """Keep of an embedded object's metadata what metadata has, and what says something."""
    metadata = resource.get("metadata", "")
    if metadata is None:
        resource["metadata"] = {}
    elif isinstance(metadata, dict):
        own = UnknownFields()
        _METADATA.prune_value(metadata, (path, "metadata"), own)
        unknown.in_metadata.extend(own.fields)
        resource["metadata"] = {key: value for key, value in metadata.items() if value not in _EMPTY}


_METADATA = Structural(schema(ObjectMeta, builtin=True))
