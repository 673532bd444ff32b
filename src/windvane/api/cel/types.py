"""The types of CEL, and when a value of one may stand where another is wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NULLABLE = frozenset({"opaque", "struct", "duration", "timestamp"})
_BY_VALUE = frozenset({"bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp", "struct"})


@dataclass(frozen=True, slots=True)
class Type:
    """A type; lists, maps, optionals and types themselves have parameters."""

    kind: str
    name: str
    parameters: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if self.kind == "null":
            return "null"
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


BOOL, BYTES, DOUBLE, INT = Type("bool", "bool"), Type("bytes", "bytes"), Type("double", "double"), Type("int", "int")
STRING, UINT, DYN = Type("string", "string"), Type("uint", "uint"), Type("dyn", "dyn")
ANY = Type("dyn", "any")
"""Like DYN, but it can't be gone through."""
NULL, ERROR = Type("null", "null_type"), Type("error", "!error!")
DURATION, TIMESTAMP, TYPE = Type("duration", "duration"), Type("timestamp", "timestamp"), Type("type", "type")


def list_of(items: Type) -> Type:
    """The type of lists of these items."""
    return Type("list", "list", (items,))


def map_of(keys: Type, values: Type) -> Type:
    """The type of maps."""
    return Type("map", "map", (keys, values))


def optional_of(value: Type) -> Type:
    """The type of values that may be absent."""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """The type of a type."""
    return Type("type", "type", (value,))


def struct(name: str) -> Type:
    """The type of objects with known fields."""
    return Type("struct", name)


def opaque(name: str) -> Type:
    """A type that only its own functions know about."""
    return Type("opaque", name)


def parameter(name: str) -> Type:
    """Any type, which is the same wherever it has that name within one signature."""
    return Type("parameter", name)


def is_dyn(type_: Type) -> bool:
    """Whether nothing is known about the values before there is one."""
    return type_.kind == "dyn"


def is_optional(type_: Type) -> bool:
    """Whether the values may be absent."""
    return type_.kind == "opaque" and type_.name == "optional_type"


def without_optional(type_: Type) -> Type:
    """What an optional is an optional of; any other type is itself."""
    return type_.parameters[0] if is_optional(type_) else type_


class Unifier:
    """What type parameters were found to stand for, while an expression is checked."""

    def __init__(self) -> None:
        self._bound: dict[Type, Type] = {}
        self._fresh = 0

    def fresh(self) -> Type:
        """A type that is not known yet."""
        self._fresh += 1
        return parameter(f"_var{self._fresh - 1}")

    def assignable(self, first: Type, second: Type) -> bool:
        """Whether one may stand for the other; if so, what this says about their parameters is remembered."""
        return self.all_assignable((first,), (second,))

    def all_assignable(self, first: Sequence[Type], second: Sequence[Type]) -> bool:
        """The same for a whole list of arguments: all or nothing is remembered."""
        before = dict(self._bound)
        if self._lists(first, second):
            return True
        self._bound = before
        return False

    def resolved(self, type_: Type, *, unknown: Type | None = None) -> Type:
        """A type with what is known of its parameters; what is not becomes `unknown`, if that is given."""
        if (bound := self._bound.get(type_)) is not None:
            return self.resolved(bound, unknown=unknown)
        if type_.kind == "parameter":
            return type_ if unknown is None else unknown
        if not type_.parameters:
            return type_
        return Type(type_.kind, type_.name, tuple(self.resolved(each, unknown=unknown) for each in type_.parameters))

    def _lists(self, first: Sequence[Type], second: Sequence[Type]) -> bool:
        return len(first) == len(second) and all(self._one(a, b) for a, b in zip(first, second, strict=True))

    def _one(self, first: Type, second: Type) -> bool:
        if second.kind == "parameter":
            valid, bound = self._substitutes(first, second)
            if valid or bound:
                return valid
        if first.kind == "parameter":
            return self._substitutes(second, first)[0]
        if first.kind in ("dyn", "error") or second.kind in ("dyn", "error"):
            return True
        if first.kind == "null":
            return second.kind == "null" or second.kind in NULLABLE
        if second.kind == "null":
            return first.kind in NULLABLE
        if first.kind in _BY_VALUE:
            return first == second
        if first.kind == "type":
            return second.kind == "type"
        same = first.kind == second.kind and first.name == second.name
        return same and self._lists(first.parameters, second.parameters)

    def _substitutes(self, type_: Type, for_: Type) -> tuple[bool, bool]:
        """Whether a type may be what a parameter stands for, and whether it stands for something already."""
        if type_ == for_:
            return True, True
        bound = self._bound.get(for_)
        if bound is not None:
            if type_ == bound:
                return True, True
            if not self._one(type_, bound):
                return False, True
            general = more_general(type_, bound)
            if not self._occurs(for_, general):
                self._bound[for_] = general
            return True, True
        if self._occurs(for_, type_):
            return False, False
        self._bound[for_] = type_
        return True, False

    def _occurs(self, looked_for: Type, within: Type) -> bool:
        if looked_for == within:
            return True
        if within.kind == "parameter":
            bound = self._bound.get(within)
            return bound is not None and self._occurs(looked_for, bound)
        return any(self._occurs(looked_for, each) for each in within.parameters)


def more_general(first: Type, second: Type) -> Type:
    """The one of two types that go together that says less."""
    return first if _says_less(first, second) else second


def _says_less(first: Type, second: Type) -> bool:
    if first.kind in ("dyn", "parameter"):
        return True
    if second.kind in ("dyn", "parameter") or first.kind != second.kind:
        return False
    if first.kind == "type":
        return True
    if first.kind not in ("opaque", "list", "map"):
        return first == second
    same = first.name == second.name and len(first.parameters) == len(second.parameters)
    return same and all(_says_less(a, b) for a, b in zip(first.parameters, second.parameters, strict=True))


def instantiated(types: Sequence[Type], unifier: Unifier) -> list[Type]:
    """A signature whose parameters are unknown types of their own."""
    fresh: dict[str, Type] = {}
    return [_instance(each, fresh, unifier) for each in types]


def _instance(type_: Type, fresh: dict[str, Type], unifier: Unifier) -> Type:
    if type_.kind == "parameter":
        if type_.name not in fresh:
            fresh[type_.name] = unifier.fresh()
        return fresh[type_.name]
    if not type_.parameters:
        return type_
    return Type(type_.kind, type_.name, tuple(_instance(each, fresh, unifier) for each in type_.parameters))


# Names that stand for types in expressions, as in `type(self.x) == int`.
TYPE_NAMES: Mapping[str, Type] = {
    "bool": BOOL, "bytes": BYTES, "double": DOUBLE, "int": INT, "string": STRING, "uint": UINT, "null_type": NULL,
    "list": list_of(parameter("A")), "map": map_of(parameter("A"), parameter("B")), "type": TYPE,
    "google.protobuf.Duration": DURATION,
    "google.protobuf.Timestamp": TIMESTAMP, "optional_type": optional_of(DYN), "net.IP": opaque("net.IP"),
    "net.CIDR": opaque("net.CIDR"),
}  # fmt: skip
