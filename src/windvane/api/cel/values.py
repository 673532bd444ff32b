"""The values of CEL at work. Most are Python's own: None, bool, int, float, str, bytes, and lists.

An int is an `int` of 64 bits, checked where it is made. What Python has no type for is here. Lists and maps that come
from an object are views of it, see `views`.
"""

import math
from collections.abc import Iterator
from typing import Any, Final, Self

from windvane.api.cel.cost.limits import tick

LEAST_INT, MOST_INT, MOST_UINT = -(2**63), 2**63 - 1, 2**64 - 1


class CelError(Exception):
    """What an expression comes to that has no value; && and || may do without it."""


class CompileError(ValueError):
    """An expression that the server doesn't take, in its words."""


def no_overload() -> CelError:
    """There is no function for such values."""
    return CelError("no such overload")


class Uint(int):
    """An unsigned integer, which is not equal to an int to the type checker."""

    __slots__ = ()


class Optional:
    """A value, or none."""

    __slots__ = ("_value",)

    def __init__(self, *value: Any) -> None:
        self._value = value

    @property
    def present(self) -> bool:
        """Whether there is a value."""
        return bool(self._value)

    @property
    def value(self) -> Any:
        """The value; it is an error if there is none."""
        if not self._value:
            raise CelError("optional.none() dereference")
        return self._value[0]


NONE: Final = Optional()


class TypeValue:
    """A type as a value: `type(1) == int`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Opaque:
    """A value that only its own functions look into: a URL, an address, a version."""

    __slots__ = ()
    type_name: str
    cost_of_comparing = 1

    def same(self, other: Any) -> bool:
        """Whether two of one kind are equal."""
        raise NotImplementedError


class ObjectValue(Opaque):
    """An object that an expression makes, to be looked at when the expression is done."""

    __slots__ = ("fields", "type_name")

    def __init__(self, type_name: str, fields: dict[str, Any]) -> None:
        self.type_name = type_name
        self.fields = fields

    def same(self, other: Any) -> bool:
        if self.type_name != other.type_name or self.fields.keys() != other.fields.keys():
            return False
        return all(equal(value, other.fields[name]) for name, value in self.fields.items())


class MapValue:
    """A map. Keys are strings, ints, uints or bools; a number is the same key whatever its type."""

    __slots__ = ()

    def find(self, key: Any) -> Any:
        """The value of a key, or `ABSENT`."""
        raise NotImplementedError

    def keys(self) -> list[Any]:
        """All keys."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def equals(self, other: Any) -> bool:
        """Whether another map has the same values for the same keys."""
        if not isinstance(other, MapValue):
            return False
        if len(self) != len(other):
            return False
        tick()
        return all((there := other.find(key)) is not ABSENT and equal(self.find(key), there) for key in self.keys())


class _Absent:
    """What is found where there is nothing."""


ABSENT: Final = _Absent()


class DictMap(MapValue):
    """A map that an expression makes."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[Any, tuple[Any, Any]] = {}

    @classmethod
    def of(cls, entries: dict[str, Any]) -> Self:
        """A map with text for keys."""
        made = cls()
        made._entries = {key: (key, value) for key, value in entries.items()}
        return made

    def put(self, key: Any, value: Any) -> None:
        """Set a key."""
        self._entries[_hashable(key)] = (key, value)

    def drop(self, key: Any) -> None:
        """Remove a key, if it is there."""
        self._entries.pop(_hashable(key), None)

    def find(self, key: Any) -> Any:
        entry = self._entries.get(_hashable(key))
        return ABSENT if entry is None else entry[1]

    def keys(self) -> list[Any]:
        return [key for key, _ in self._entries.values()]

    def __len__(self) -> int:
        return len(self._entries)


class ListValue:
    """A list that is not one of Python's."""

    __slots__ = ()

    def items(self) -> list[Any]:
        """All items."""
        raise NotImplementedError

    def item(self, index: int) -> Any:
        """One item, which is there."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def equals(self, other: Any) -> bool:
        """Whether another list is equal to this one."""
        raise NotImplementedError

    def plus(self, other: Any) -> Any:
        """This list and another behind it."""
        raise NotImplementedError


def items_of(value: Any) -> list[Any]:
    """The items of a list."""
    if type(value) is list:
        return value
    if isinstance(value, ListValue):
        return value.items()
    raise no_overload()


def is_list(value: Any) -> bool:
    """Whether a value is a list."""
    return type(value) is list or isinstance(value, ListValue)


def _hashable(key: Any) -> Any:
    kind = type(key)
    if kind is bool:
        return "bool", key
    if kind is float:
        return int(key) if key.is_integer() else key
    if kind is str or kind is int or kind is Uint:
        return key
    return kind.__name__, id(key)


class Duration:
    """A length of time in nanoseconds."""

    __slots__ = ("nanoseconds",)

    def __init__(self, nanoseconds: int) -> None:
        if not LEAST_INT <= nanoseconds <= MOST_INT:
            raise CelError("integer overflow")
        self.nanoseconds = nanoseconds


class Timestamp:
    """A point in time, in nanoseconds since 1970, and the offset from UTC, in seconds, that it was written with."""

    __slots__ = ("nanoseconds", "offset")

    def __init__(self, nanoseconds: int, offset: int = 0) -> None:
        self.nanoseconds = nanoseconds
        self.offset = offset


_NAMES: dict[type, str] = {
    type(None): "null_type", bool: "bool", int: "int", Uint: "uint", float: "double", str: "string", bytes: "bytes",
    list: "list", Duration: "google.protobuf.Duration", Timestamp: "google.protobuf.Timestamp", TypeValue: "type",
    Optional: "optional_type",
}  # fmt: skip


def type_name(value: Any) -> str:
    """The name of the type of a value."""
    if (name := _NAMES.get(type(value))) is not None:
        return name
    if isinstance(value, ListValue):
        return "list"
    if isinstance(value, MapValue):
        return "map"
    return value.type_name if isinstance(value, Opaque) else "unknown"


_PLAIN: frozenset[type] = frozenset({bool, int, Uint, str, bytes})
_NUMBERS: frozenset[type] = frozenset({int, Uint, float})


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal, whatever their types. Numbers of different types may be."""
    kind = type(one)
    if kind is type(other) and kind in _PLAIN:
        return bool(one == other)
    if one is None or other is None:
        return one is other
    if kind in _NUMBERS:
        if type(other) not in _NUMBERS:
            return False
        if kind is float or type(other) is float:
            return float(one) == float(other)
        return int(one) == int(other)
    if kind is list:
        return _equal_items(one, other)
    if isinstance(one, ListValue | MapValue):
        return one.equals(other)
    return _equal_rest(one, other)


def _equal_items(one: list[Any], other: Any) -> bool:
    if not is_list(other):
        return False
    if len(one) != len(other):
        return False
    tick()
    return all(equal(a, b) for a, b in zip(one, items_of(other), strict=True))


def _equal_rest(one: Any, other: Any) -> bool:
    kind = type(one)
    if kind is Optional:
        if type(other) is not Optional or one.present != other.present:
            return False
        return not one.present or equal(one.value, other.value)
    if isinstance(one, Opaque):
        if type(other) is not kind:
            raise no_overload()
        return one.same(other)
    if type(other) is not kind:
        return False
    if kind is Duration or kind is Timestamp:
        return bool(one.nanoseconds == other.nanoseconds)
    return bool(one == other)


def compare(one: Any, other: Any) -> int:
    """Less than 0 if the first comes before the second, more if after."""
    kind = type(one)
    if kind in _NUMBERS and type(other) in _NUMBERS:
        if kind is float or type(other) is float:
            one, other = float(one), float(other)
            if math.isnan(one) or math.isnan(other):
                raise CelError("NaN values cannot be ordered")
        return int(one > other) - int(one < other)
    if kind is not type(other):
        raise no_overload()
    if kind is Duration or kind is Timestamp:
        one, other = one.nanoseconds, other.nanoseconds
    elif kind not in (str, bytes, bool):
        raise no_overload()
    return int(one > other) - int(one < other)


def size(value: Any) -> int:
    """How long a string, bytes, list or map is; 1 for all else, where only costs depend on it."""
    kind = type(value)
    if kind is str or kind is bytes or kind is list:
        return len(value)
    if isinstance(value, ListValue | MapValue):
        return len(value)
    if kind is Optional and value.present:
        return size(value.value)
    return int(getattr(value, "size", 1))


def bounded_int(value: int) -> int:
    """An int, if it fits into 64 bits."""
    if LEAST_INT <= value <= MOST_INT:
        return value
    raise CelError("integer overflow")


def bounded_uint(value: int) -> Uint:
    """A uint, if it fits into 64 bits."""
    if 0 <= value <= MOST_UINT:
        return Uint(value)
    raise CelError("unsigned integer overflow")


def entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Keys or indices with their values, for loops with two variables."""
    if isinstance(value, MapValue):
        for key in value.keys():  # noqa: SIM118 - not a dict
            yield key, value.find(key)
    elif is_list(value):
        yield from enumerate(items_of(value))
    else:
        raise CelError(f"unsupported comprehension range type: {type_in_go(value)}")


def iterated(value: Any) -> list[Any]:
    """The items of a list, or the keys of a map."""
    if type(value) is list:
        return value
    if isinstance(value, MapValue):
        return value.keys()
    if isinstance(value, ListValue):
        return value.items()
    raise CelError(f"got '{type_in_go(value)}', expected iterable type")


def type_in_go(value: Any) -> str:
    """What the server's own language calls the type of a value, for messages that show it."""
    return f"types.{type_name(value).rpartition('.')[2].removesuffix('_type').capitalize()}"
