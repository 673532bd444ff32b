"""A kind with every sort of list and map, objects of it, and who applies them, for the tests here."""

from typing import Any

from hypothesis import strategies as st

from windvane.cluster.apiserver.managedfields.field_set import FieldSet
from windvane.cluster.apiserver.managedfields.managed_fields import ManagedFields, apply_manager, update_manager
from windvane.cluster.apiserver.managedfields.shape import shape_of
from windvane.cluster.apiserver.managedfields.updater import Applied, Updater

Wire = dict[str, Any]

VERSION = "example.com/v1"
ITEM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "port": {"type": "integer"}, "note": {"type": "string"}},
}
SPEC = {
    "type": "object",
    "properties": {
        "size": {"type": "integer"},
        "color": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "whole": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "x-kubernetes-map-type": "atomic",
        },
        "listed": {"type": "array", "items": {"type": "string"}},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "items": {
            "type": "array",
            "items": ITEM,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "nested": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
SCHEMA = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object", "properties": {}}}}
SHAPE = shape_of(SCHEMA, builtin=False)
UPDATER = Updater(VERSION, {VERSION: SHAPE}.get)
NOW = "2026-01-01T00:00:00Z"

words = st.sampled_from(["x", "y", "z"])
maps = st.dictionaries(words, words, max_size=3)
items = st.lists(
    st.fixed_dictionaries({"name": words}, optional={"port": st.integers(1, 3), "note": words}),
    max_size=3,
    unique_by=lambda item: item["name"],
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 2),
        "color": words,
        "labels": maps,
        "whole": maps,
        "listed": st.lists(words, max_size=3),
        "set": st.lists(words, max_size=3, unique=True),
        "items": items,
        "nested": st.fixed_dictionaries({}, optional={"a": words, "b": words}),
        "open": st.dictionaries(words, st.one_of(words, maps, st.lists(words, max_size=2)), max_size=2),
    },
)


def thing(spec: Any) -> Wire:
    return {"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}


NOTHING = {"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "a"}}


def apply(live: Wire, spec: Any, managed: ManagedFields, name: str, *, force: bool = False) -> Applied:
    return UPDATER.apply(live, thing(spec), managed, apply_manager(name, ""), force=force)


def update(live: Wire, spec: Any, managed: ManagedFields, name: str) -> ManagedFields:
    return UPDATER.update(live, thing(spec), managed, update_manager(name, VERSION, ""), NOW)


def owned(managed: ManagedFields, name: str) -> FieldSet:
    """What somebody applied, below spec."""
    versioned = managed.get(apply_manager(name, ""))
    return versioned.fields.get("f:spec", {}) if versioned else {}
