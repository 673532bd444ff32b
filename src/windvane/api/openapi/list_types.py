"""Lists that are sets or maps to server-side apply: no item, or no key, may be there twice."""

from collections.abc import Sequence
from typing import Any, Self

from windvane.api.custom_resources.schema import Schema
from windvane.api.status import StatusCause
from windvane.api.wording import as_json, duplicate, invalid


class UniquenessCheck:
    """Where in a schema there are sets and maps; parts without any are left out."""

    def __init__(self, of: Schema) -> None:
        below = ((name, UniquenessCheck.of(inner)) for name, inner in of.get("properties", {}).items())
        self._properties = {name: check for name, check in below if check}
        self._additional = UniquenessCheck.of(of.get("additionalProperties"))
        self._items = UniquenessCheck.of(of.get("items"))
        self._type = of.get("x-kubernetes-list-type")
        self._keys: Sequence[str] = of.get("x-kubernetes-list-map-keys") or ()

    @classmethod
    def of(cls, schema: Any) -> Self | None:
        """The check for a schema, or None if there is nothing to check."""
        if not isinstance(schema, dict):
            return None
        check = cls(schema)
        needed = check._type in ("set", "map") or check._properties or check._additional or check._items
        return check if needed else None

    def causes(self, value: Any, path: str = "") -> list[StatusCause]:
        """The items that are in their lists already."""
        found: list[StatusCause] = []
        if type(value) is dict:
            for key, inner in value.items():
                if check := self._properties.get(key):
                    found += check.causes(inner, f"{path}.{key}" if path else key)
                elif self._additional:
                    found += self._additional.causes(inner, f"{path}[{key}]")
        elif type(value) is list:
            found += self._repeats(value, path)
            if self._items:
                for index, inner in enumerate(value):
                    found += self._items.causes(inner, f"{path}[{index}]")
        return found

    def _repeats(self, value: list[Any], path: str) -> list[StatusCause]:
        if self._type == "set":
            return [duplicate(f"{path}[{index}]", value[index]) for index in _second_ones(value)]
        if self._type != "map":
            return []
        if len(self._keys) == 1 and all(type(each) is dict for each in value):
            key = self._keys[0]
            if not _second_ones([each.get(key) for each in value]):
                return []
        for index, each in enumerate(value):
            if each is not None and type(each) is not dict:
                why = "must be an object for an array of list-type map"
                return [invalid(f"{path}[{index}]", each, why)]
        keys = [{key: each[key] for key in self._keys if key in each} if each else {} for each in value]
        return [duplicate(f"{path}[{index}]", keys[index]) for index in _second_ones(keys)]


def map_list_key(item: Any, keys: Sequence[str]) -> str:
    """What tells an item of a list map from the others."""
    return as_json([item.get(key) for key in keys]) if type(item) is dict else ""


def _second_ones(values: list[Any]) -> list[int]:
    """Where values come up for the second time. A third time is not worth another complaint."""
    if len(values) < 2:
        return []
    if all(type(value) is str for value in values) and len(set(values)) == len(values):
        return []
    times: dict[str, int] = {}
    found = []
    for index, value in enumerate(values):
        key = f"{type(value).__name__}{as_json(value)}"
        times[key] = times.get(key, 0) + 1
        if times[key] == 2:
            found.append(index)
    return found
