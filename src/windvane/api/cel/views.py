"""Objects, lists and maps of a resource as expressions see them: the JSON itself, read piece by piece when asked.

Nothing is converted before it is needed. Lists keep what server-side apply knows of them: sets are equal in any order,
and adding a list map to another replaces the items that have the same keys.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for, tick
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.grammar.names import escaped_name
from windvane.api.cel.times import read_date, read_loose_duration, read_timestamp
from windvane.api.cel.values import ABSENT, CelError, ListValue, MapValue, equal, is_list, items_of, no_overload
from windvane.api.json_value import identical_json

Wire = dict[str, Any]
_IN_GO = {int: "int64", float: "float64", str: "string", bool: "bool", dict: "map[string]interface {}"}


def read(raw: Any, of: Declared) -> Any:
    """What expressions see of a JSON value."""
    if raw is None:
        if of.nullable:
            return None
        raise CelError("invalid data, got null for schema with nullable=false")
    return _READERS[of.type.kind](raw, of)


class ValueView:
    """Part of a resource."""

    __slots__ = ()
    raw: Any


class ObjectView(MapValue, ValueView):
    """An object with fields."""

    __slots__ = ("of", "raw")

    def __init__(self, raw: Wire, of: Declared) -> None:
        self.raw = raw
        self.of = of

    def find(self, key: Any) -> Any:
        if type(key) is not str:
            raise no_overload()
        known = (self.of.fields or {}).get(key)
        value = None if known is None else self.raw.get(self.of.wire_names[key])
        return ABSENT if value is None or known is None else read(value, known)

    def keys(self) -> list[Any]:
        properties = self.of.schema.get("properties") or {}
        return [escaped_name(name) or name for name in self.raw if name in properties]

    def __len__(self) -> int:
        return len(self.raw)

    def equals(self, other: Any) -> bool:
        if not isinstance(other, ObjectView):
            return super().equals(other)
        tick()
        return len(self.raw) == len(other.raw) and all(
            self._same(name, value, other) for name, value in self.raw.items()
        )

    def _same(self, name: str, value: Any, other: "ObjectView") -> bool:
        field = (self.of.fields or {}).get(escaped_name(name) or "")
        if field is None:
            unknown = name not in (self.of.schema.get("properties") or {})
            return (unknown and name not in other.raw) or identical_json(value, other.raw.get(name))
        there = other.raw.get(name)
        if value is None or there is None:  # a field that is null counts as one that is not there
            return value is there
        return equal(read(value, field), read(there, field))


class MapView(MapValue, ValueView):
    """A map from names to values of one type."""

    __slots__ = ("_values", "raw")

    def __init__(self, raw: Wire, values: Declared) -> None:
        self.raw = raw
        self._values = values

    def find(self, key: Any) -> Any:
        if type(key) is not str:
            raise no_overload()
        value = self.raw.get(key, ABSENT)
        return ABSENT if value is ABSENT else read(value, self._values)

    def keys(self) -> list[Any]:
        return list(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


class ListView(ListValue, ValueView):
    """A list of values of one type."""

    __slots__ = ("_items", "raw")

    def __init__(self, raw: list[Any], items: Declared) -> None:
        self.raw = raw
        self._items = items

    def items(self) -> list[Any]:
        return [read(each, self._items) for each in self.raw]

    def item(self, index: int) -> Any:
        return read(self.raw[index], self._items)

    def __len__(self) -> int:
        return len(self.raw)

    def equals(self, other: Any) -> bool:
        if not is_list(other):
            raise no_overload()
        if len(self.raw) != len(other):
            return False
        tick()
        return all(equal(a, b) for a, b in zip(self.items(), items_of(other), strict=True))

    def plus(self, other: Any) -> Any:
        behind = items_of(other)
        room_for((len(self.raw) + len(behind)) * ITEM)
        return self.items() + behind


class SetView(ListView):
    """A list in which the order doesn't matter and nothing is twice."""

    __slots__ = ()

    def equals(self, other: Any) -> bool:
        if not is_list(other):
            raise no_overload()
        return len(self.raw) == len(other) and all(_in_raw(_raw(each), self.raw) for each in items_of(other))

    def plus(self, other: Any) -> Any:
        merged = list(self.raw)
        for each in items_of(other):
            if not _in_raw(raw := _raw(each), merged):
                merged.append(raw)
        return SetView(merged, self._items)


class MapListView(ListView):
    """A list of objects that are told apart by some of their fields."""

    __slots__ = ("_keys",)

    def __init__(self, raw: list[Any], items: Declared, keys: Sequence[str]) -> None:
        super().__init__(raw, items)
        self._keys = keys

    def _key(self, item: Any) -> str:
        return repr([item.get(key) if isinstance(item, dict) else None for key in self._keys])

    def equals(self, other: Any) -> bool:
        if not is_list(other):
            raise no_overload()
        if len(self.raw) != len(other):
            return False
        mine = {self._key(each): each for each in self.raw}
        for each in items_of(other):
            own = mine.get(self._key(_raw(each)), ABSENT)
            if own is ABSENT or not equal(read(own, self._items), each):
                return False
        return True

    def plus(self, other: Any) -> Any:
        merged = list(self.raw)
        places = {self._key(each): index for index, each in enumerate(merged)}
        for each in items_of(other):
            place = places.get(self._key(raw := _raw(each)))
            if place is None:
                merged.append(raw)
            else:
                merged[place] = raw
        return MapListView(merged, self._items, self._keys)


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, ValueView) else value


def _in_raw(value: Any, among: list[Any]) -> bool:
    tick()
    return any(identical_json(value, each) for each in among)


def _expect(kind: type, called: str) -> Callable[[Any, Declared], Any]:
    def checked(raw: Any, _: Declared) -> Any:
        if type(raw) is kind:
            return raw
        raise CelError(f"invalid data, expected {called}, got {_IN_GO.get(type(raw), '[]interface {}')}")

    return checked


def _read_double(raw: Any, _: Declared) -> float:
    if type(raw) is int or type(raw) is float:
        return float(raw)
    raise CelError(f"invalid data, expected float, got {_IN_GO.get(type(raw), '[]interface {}')}")


def _read_int_or_string(raw: Any, _: Declared) -> Any:
    if type(raw) is int or type(raw) is str:
        return raw
    raise CelError("invalid data, expected XIntOrString value to be either a string or integer")


def _read_bytes(raw: Any, _: Declared) -> bytes:
    try:
        return base64.b64decode(raw, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise CelError(f"Invalid byte formatted string {raw}: illegal base64 data") from None


def _read_duration(raw: Any, _: Declared) -> Any:
    if isinstance(raw, str) and (found := read_loose_duration(raw)) is not None:
        return found
    raise CelError(f"Invalid duration {raw}: unable to parse {raw} as duration")


def _read_time(raw: Any, of: Declared) -> Any:
    understood = read_date if of.schema.get("format") == "date" else read_timestamp
    if isinstance(raw, str) and (found := understood(raw)) is not None:
        return found
    raise CelError(f"Invalid {of.schema.get('format')} formatted string {raw}")


def _read_struct(raw: Any, of: Declared) -> Any:
    if type(raw) is not dict:
        raise CelError("invalid data, expected a map for the provided schema with type=object")
    return ObjectView(raw, of)


def _read_map(raw: Any, of: Declared) -> Any:
    if type(raw) is not dict or of.items is None:
        raise CelError("invalid data, expected a map for the provided schema with type=object")
    return MapView(raw, of.items)


def _read_list(raw: Any, of: Declared) -> Any:
    if type(raw) is not list or of.items is None:
        raise CelError("invalid data, expected an array for the provided schema with type=array")
    match of.schema.get("x-kubernetes-list-type"):
        case "map":
            return MapListView(raw, of.items, of.schema.get("x-kubernetes-list-map-keys") or ())
        case "set":
            return SetView(raw, of.items)
    return ListView(raw, of.items)


_READERS: dict[str, Callable[[Any, Declared], Any]] = {
    "string": _expect(str, "string"),
    "int": _expect(int, "int"),
    "bool": _expect(bool, "bool"),
    "double": _read_double,
    "dyn": _read_int_or_string,
    "bytes": _read_bytes,
    "duration": _read_duration,
    "timestamp": _read_time,
    "struct": _read_struct,
    "map": _read_map,
    "list": _read_list,
}
