"""Whether a part of an object is as it was, and which part of the old object is the same part.

What is unchanged may stay even if it is wrong: a rule that came later must not keep an object from being updated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from windvane.api.json_value import identical_json

Schema = Mapping[str, Any]


def list_keys(schema: Schema) -> Sequence[str]:
    """The fields that tell the items of a list map apart; other lists have none."""
    if schema.get("x-kubernetes-list-type") != "map":
        return ()
    return schema.get("x-kubernetes-list-map-keys") or ()


def old_items(schema: Schema, old: Any) -> dict[str, Any]:
    """The old items of a list map by their keys; of two with the same key the first counts."""
    keys = list_keys(schema)
    if not keys or not isinstance(old, list):
        return {}
    return {item_key(each, keys): each for each in reversed(old) if isinstance(each, dict)}


def item_key(item: Any, keys: Sequence[str]) -> str:
    """What tells an item from the others."""
    return repr([item.get(key) for key in keys]) if isinstance(item, dict) else ""


def below(schema: Schema, key: str) -> Schema | None:
    """The schema of a field, if there is one."""
    inner = (schema.get("properties") or {}).get(key)
    inner = schema.get("additionalProperties") if inner is None else inner
    return inner if isinstance(inner, Mapping) else None


def is_unchanged(value: Any, old: Any, schema: Schema) -> bool:
    """Whether nothing was changed. Items of list maps may have changed places; what has no schema counts as changed."""
    if isinstance(value, dict) and isinstance(old, dict):
        return len(value) == len(old) and all(
            key in old and (inner := below(schema, key)) is not None and is_unchanged(each, old[key], inner)
            for key, each in value.items()
        )
    items = schema.get("items")
    if isinstance(value, list) and isinstance(old, list) and (keys := list_keys(schema)) and isinstance(items, Mapping):
        before = old_items(schema, old)
        return len(value) == len(old) and all(
            (key := item_key(each, keys)) in before and is_unchanged(each, before[key], items) for each in value
        )
    return identical_json(value, old)
