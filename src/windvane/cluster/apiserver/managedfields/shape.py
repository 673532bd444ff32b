"""The granularity of ownership in a kind: which maps and lists are owned as a whole, and which part by part.

A `Shape` is that view of a kind's schema:

    map, granular   every field has owners of its own (the default)
    map, atomic     one value, owned and replaced as a whole
    list, atomic    the same (the default)
    list, set       every value in it has owners of its own
    list, map       every item has owners of its own, and is found by its key fields

Where the schema says nothing, the value decides: maps are granular there, and lists atomic. What is inside is looked
at when the first object has it: a schema may describe a thousand fields of pods.
"""

from functools import cache
from typing import Any, Literal

from windvane.api.custom_resources.schema import Schema, schema
from windvane.api.meta import ObjectMeta
from windvane.cluster.apiserver.managedfields.field_set import key_step, value_step

Form = Literal["map", "list", "scalar"]
Scalar = Literal["", "numeric", "string", "boolean", "untyped"]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
_SCALARS: dict[str, Scalar] = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "string": "string"}


class NoStep(ValueError):
    """A list item without a key; the message says why."""


class Shape:
    """One part of a schema."""

    __slots__ = (
        "_below", "_builtin", "_items", "_preserving", "_properties", "_schema", "_values", "forms", "keys", "scalar",
        "whole_list", "whole_map",
    )  # fmt: skip

    forms: tuple[Form, ...]
    """What a value may be; more than one only where the schema leaves it open."""
    scalar: Scalar
    whole_map: bool
    whole_list: bool
    keys: tuple[str, ...]
    """The key fields of a list's items; none of a list that is a set."""

    def __init__(self, of: Schema, *, builtin: bool, preserving: bool = False, whole: bool = False) -> None:
        self._schema = of
        self._builtin = builtin
        self._preserving = preserving or of.get(PRESERVE) is True
        self._properties = _properties(of)
        self._below: dict[str, Shape | None] = {}
        self._items: Shape | None = None
        self._values: Shape | None = None
        kind = of.get("type", "")
        self.scalar = ""
        if kind == "object":
            self.forms = ("map",)
        elif kind == "array":
            self.forms = ("list",)
        elif kind in _SCALARS:
            self.forms = ("scalar",)
            plain = kind != "string" or of.get("format", "") in ("", "byte")
            self.scalar = _SCALARS[kind] if plain else "untyped"
        else:
            int_or_string = builtin and of.get("x-kubernetes-int-or-string")
            self.forms = ("scalar",) if int_or_string else ("map", "scalar", "list")
            self.scalar = "untyped"
        self.whole_map = whole or of.get("x-kubernetes-map-type") == "atomic"
        self.whole_list, self.keys = _list_type(of)

    def field(self, name: str) -> "Shape | None":
        """The shape of a field, or of every entry of a map; None if there can be none."""
        try:
            return self._below[name]
        except KeyError:
            found = self._below[name] = self._find(name)
            return found

    def has_field(self, name: str) -> bool:
        """Whether the schema names that field: entries of maps have no name there."""
        return name in self._properties

    def item(self) -> "Shape":
        """What an item of a list is."""
        if self._items is None:
            items = self._schema.get("items")
            self._items = UNTYPED if not isinstance(items, dict) else self._inner(items)
        return self._items

    def form_of(self, value: Any) -> Form:
        """What a value is to be taken for; null can be anything."""
        if len(self.forms) == 1:
            return self.forms[0]
        kind = type(value)
        return "map" if kind is dict or value is None else "list" if kind is list else "scalar"

    def step_to(self, item: Any) -> str:
        """The step that leads to an item of this list."""
        if not self.keys:
            return _set_step(item)
        if not isinstance(item, dict):
            what = "a null element" if item is None else "non-map elements"
            raise NoStep(f"associative list with keys may not have {what}")
        key = {}
        for name in self.keys:
            if name in item:
                key[name] = item[name]
            elif (default := self._default_key(name)) is not None:
                key[name] = default
        if not key:
            listed = " ".join(f'"{name}"' for name in self.keys)
            why = f"associative list with keys has an element that omits all key fields [{listed}]"
            raise NoStep(f"{why} (and doesn't have default values for any key fields)")
        return key_step(key)

    def _default_key(self, name: str) -> Any:
        return self.item()._properties.get(name, {}).get("default")

    def _find(self, name: str) -> "Shape | None":
        if (named := self._properties.get(name)) is not None:
            return object_metadata() if named is _METADATA else self._inner(named)
        if self._values is None:
            self._values = self._other_fields()
        return self._values

    def _other_fields(self) -> "Shape | None":
        """What a field is that the schema doesn't name."""
        others = self._schema.get("additionalProperties")
        if isinstance(others, dict):
            return self._inner(others)
        if others is None and (self._preserving or not self._properties):
            return UNTYPED if self.whole_map else DEDUCED
        return DEDUCED if others is True else None

    def _inner(self, of: Schema) -> "Shape":
        if self._builtin and of.get(PRESERVE) is True:
            return UNTYPED  # what Go keeps as raw JSON is not taken apart
        return Shape(of, builtin=self._builtin, preserving=self._preserving and not self._builtin)


def shape_of(of: Schema, *, builtin: bool) -> Shape:
    """The shape of a kind's whole objects."""
    if builtin:
        return Shape(of, builtin=True)
    known = {**of.get("properties", {}), "apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
    return Shape({**of, "type": "object", "properties": known}, builtin=False)


@cache
def object_metadata() -> Shape:
    """The shape of every object's metadata."""
    return Shape(schema(ObjectMeta, builtin=True), builtin=True)


def _properties(of: Schema) -> dict[str, Schema]:
    properties: dict[str, Schema] = of.get("properties", {})
    if of.get("x-kubernetes-embedded-resource") is True:
        return {**properties, "apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
    return properties


def _list_type(of: Schema) -> tuple[bool, tuple[str, ...]]:
    """Whether a list is one value, and the key fields of its items."""
    match of.get("x-kubernetes-list-type"):
        case "set":
            return False, ()
        case "map":
            return False, tuple(of.get("x-kubernetes-list-map-keys", ()))
        case None if str(of.get("x-kubernetes-patch-strategy", "")).startswith("merge"):
            key = of.get("x-kubernetes-patch-merge-key")
            return False, (key,) if key else ()
    return True, ()


def _set_step(item: Any) -> str:
    if isinstance(item, dict):
        raise NoStep("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NoStep("not supported: associative list with lists as elements")
    if item is None:
        raise NoStep("associative list without keys has an element that's an explicit null")
    return value_step(item)


_TEXT: Schema = {"type": "string"}
_METADATA: Schema = {"type": "object"}
DEDUCED = Shape({}, builtin=False)
"""Of what no schema describes."""
UNTYPED = Shape({}, builtin=False, whole=True)
"""The same, and always owned as a whole."""
