"""Reads an object of a built-in kind as Go's JSON decoder does, and says what it finds on the way.

A value of the wrong type is a problem, and only one is reported. An unknown or duplicate field is a complaint, of which
up to a hundred are reported, in the order of the document.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from windvane.api.openapi.structural import Path, path_text
from windvane.api.wording import quoted
from windvane.cluster.apiserver.encoding.strict_json import DuplicateKeys, NumberLiteral
from windvane.cluster.apiserver.schema.go_names import WHOLE_TYPES, WORD_TYPES, folded_in, struct_name
from windvane.cluster.apiserver.schema.go_values import (
    MICROSECONDS,
    SECONDS,
    base64_problem,
    quantity_problem,
    time_problem,
)
from windvane.cluster.apiserver.schema.shapes import (
    Either,
    Integer,
    ListOf,
    MapOf,
    Plain,
    Shape,
    StructOf,
    Unmarshaler,
    shapes_of,
)

MOST_COMPLAINTS = 100

_JSON_TYPES = {bool: "bool", int: "number", float: "number", NumberLiteral: "number", str: "string", list: "array"}
_GO_TYPES = {"bool": "bool", "bytes": "[]uint8", "number": "float64", "quantity": "resource.Quantity"}
_PLAIN_TYPES: Mapping[str, tuple[type, ...]] = {"text": (str,), "bool": (bool,), "number": (int, float, NumberLiteral)}


class DecodeReport(NamedTuple):
    """The problem and the complaints of an object."""

    problem: str
    """Why it can't be read; empty if it can."""
    complaints: list[str]


def examine(cls: type[msgspec.Struct], value: object, version: str) -> DecodeReport:
    """Decode `value` as the kind that it states; `version` names the Go package in messages."""
    return examine_as(StructOf(cls), value, version)


def examine_as(shape: Shape, value: object, package: str) -> DecodeReport:
    """The same for a value of any shape."""
    decoder = _Decoder(package)
    try:
        decoder.value(shape, value, (), "", None)
    except _Stop as stop:
        return DecodeReport(str(stop), [])
    return DecodeReport(decoder.problem, list(decoder.complaints)[:MOST_COMPLAINTS])


def mismatch(value: object, into: str, go_type: str) -> str:
    """Go's words for JSON of one type where another is expected."""
    return f"json: cannot unmarshal {_JSON_TYPES.get(type(value), 'object')} into Go {into} of type {go_type}"


def go_type(shape: Shape, field: str, version: str) -> str:
    """The type that Go has for a field; `field` is the struct's name and its own, as in `PodSpec.restartPolicy`."""
    match shape:
        case ListOf() | MapOf() if field in WHOLE_TYPES:
            return WHOLE_TYPES[field]
        case ListOf(inside):
            return f"[]{go_type(inside, field, version)}"
        case MapOf(inside):
            return f"map[string]{go_type(inside, field, version)}"
        case StructOf(struct):
            return struct_name(struct, version)
        case Plain("text"):
            return WORD_TYPES.get(field, "string")
        case Integer(bits):
            return f"int{bits}"
        case Plain(sort) | Unmarshaler(sort):
            return _GO_TYPES.get(sort, "interface {}")
    return "interface {}"


class _Stop(Exception):
    """A type with its own UnmarshalJSON refused its value, which ends the decoding."""


class _Decoder:
    """One decoding. A place has two names: Go's `path` of field names, and `where` it is in the document."""

    def __init__(self, version: str) -> None:
        self.problem = ""
        self.complaints: dict[str, None] = {}
        self._version = version

    def value(self, shape: Shape, value: Any, path: tuple[str, ...], field: str, where: Path) -> None:
        if value is None:
            return
        match shape:  # the most frequent types come first
            case Plain("bytes") if isinstance(value, str):
                self._problem(base64_problem(value))
            case Plain(sort) if sort == "anything" or type(value) in _PLAIN_TYPES.get(sort, ()):
                pass
            case StructOf(struct) if isinstance(value, dict):
                self._struct(struct, value, path, where)
            case ListOf(inside) if isinstance(value, list):
                for index, each in enumerate(value):
                    self.value(inside, each, path, field, (where, index))
            case MapOf(inside) if isinstance(value, dict):
                for key, each in self._fields(value, where):
                    self.value(inside, each, path, field, (where, key))
            case Integer(bits):
                self._problem(_integer(value, bits, _into(path, field)))
            case Unmarshaler():
                if problem := own_problem(shape, value, _into(path, field)):
                    raise _Stop(problem)
            case Either(struct, other):
                self._either(struct, other, value, path, field)
            case _:
                self._problem(mismatch(value, _into(path, field), go_type(shape, field, self._version)))

    def _struct(self, cls: type[msgspec.Struct], value: dict[str, Any], path: tuple[str, ...], where: Path) -> None:
        shapes = shapes_of(cls)
        known = shapes.keys()
        for name, each in self._fields(value, where, known):
            if name not in known:
                self._complain("unknown", where, name)
            elif each is not None:
                field = f"{cls.__name__}.{name}"
                folded = folded_in(field)
                below = (*path, folded, name) if folded else (*path, name)
                self.value(shapes[name], each, below, field, (where, name))

    def _either(
        self, struct: type[msgspec.Struct], other: Shape, value: Any, path: tuple[str, ...], field: str
    ) -> None:
        """Decode one or the other; such decoders have no complaints.

        Where a list may be, the real server takes any other value for null. Here it is refused: the rest can't use it.
        """
        inner = _Decoder(self._version)
        if isinstance(value, dict):
            inner.value(StructOf(struct), value, path, field, None)
        elif isinstance(value, list) and isinstance(other, ListOf):
            inner.value(other, value, path, field, None)
        elif other != Plain("bool") or not isinstance(value, bool):
            raise _Stop(f"{'boolean' if other == Plain('bool') else 'array'} or JSON schema expected")
        if inner.problem:
            raise _Stop(inner.problem)

    def _fields(
        self, value: dict[str, Any], where: Path, known: Collection[str] | None = None
    ) -> Iterable[tuple[str, Any]]:
        return self._again(value, where, known) if isinstance(value, DuplicateKeys) else value.items()

    def _again(self, value: DuplicateKeys, where: Path, known: Collection[str] | None) -> Iterator[tuple[str, Any]]:
        """The fields, with a complaint about each known one that is a duplicate."""
        seen: set[str] = set()
        for name, each in value.pairs:
            if name in seen and (known is None or name in known):
                self._complain("duplicate", where, name)
            seen.add(name)
            yield name, each

    def _complain(self, what: str, where: Path, name: str) -> None:
        self.complaints[f"{what} field {quoted(path_text((where, name)))}"] = None

    def _problem(self, problem: str) -> None:
        self.problem = self.problem or problem


def own_problem(shape: Unmarshaler, value: object, into: str) -> str:
    """What is wrong with the value of a type with its own UnmarshalJSON; empty if nothing is."""
    match shape.sort:
        case "quantity":
            return quantity_problem(value)
        case "integer or text":
            return "" if isinstance(value, str) else _integer(value, 32, into)
    if not isinstance(value, str):
        return mismatch(value, into, "string")
    return time_problem(value, SECONDS if shape.sort == "time" else MICROSECONDS)


def _integer(value: object, bits: int, into: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return mismatch(value, into, f"int{bits}")
    limit = 1 << (bits - 1)
    if isinstance(value, int) and -limit <= value < limit:
        return ""
    written = value.text if isinstance(value, NumberLiteral) else value
    return f"json: cannot unmarshal number {written} into Go {into} of type int{bits}"


def _into(path: tuple[str, ...], field: str) -> str:
    return f"struct field {field.partition('.')[0]}.{'.'.join(path)}" if path else "value"
