"""The Go types behind a built-in kind: which fields its objects have in JSON, and their types."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, get_args, get_origin

import msgspec

from windvane.api.hints import type_hints, unwrap
from windvane.api.kind import Kind
from windvane.api.markers import Format
from windvane.api.quantity import Quantity
from windvane.api.resource import Object
from windvane.api.time import MicroTime
from windvane.cluster.apiserver.schema.models import builtin_models


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of such values."""

    inside: "Shape"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from strings to such values."""

    inside: "Shape"


@dataclass(frozen=True, slots=True)
class StructOf:
    """An object with known fields."""

    struct: type[msgspec.Struct]


@dataclass(frozen=True, slots=True)
class Integer:
    """A number of so many bits."""

    bits: int


@dataclass(frozen=True, slots=True)
class Unmarshaler:
    """A type with its own UnmarshalJSON: a quantity, a time, or an int-or-string."""

    sort: Literal["integer or text", "micro time", "quantity", "time"]


@dataclass(frozen=True, slots=True)
class Either:
    """An object with known fields, or another value; Go has an UnmarshalJSON for each such choice."""

    struct: type[msgspec.Struct]
    other: "Shape"


@dataclass(frozen=True, slots=True)
class Plain:
    """Any other value."""

    sort: Literal["anything", "bool", "bytes", "number", "text"]


Shape = ListOf | MapOf | StructOf | Either | Integer | Unmarshaler | Plain
"""The type of a field in Go."""


@cache
def class_of(kind: Kind) -> type[Object] | None:
    """The class of a built-in kind, be it one that is only posted and never stored."""
    for cls in builtin_models():
        if (cls.__kind__.api_version, cls.__kind__.name) == (kind.api_version, kind.name):
            return cls
    return None


@cache
def fields_of(cls: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The types of a struct's fields, by their names in JSON."""
    hints = type_hints(cls)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(cls)}


@cache
def shapes_of(cls: type[msgspec.Struct]) -> Mapping[str, Shape]:
    """The shapes of a struct's fields, by their names in JSON."""
    return {name: _shape(annotated) for name, annotated in fields_of(cls).items()}


_SIMPLE: Mapping[Any, Shape] = {
    bool: Plain("bool"),
    bytes: Plain("bytes"),
    datetime: Unmarshaler("time"),
    float: Plain("number"),
    MicroTime: Unmarshaler("micro time"),
    Quantity: Unmarshaler("quantity"),
    str: Plain("text"),
}


def _shape(annotated: Any) -> Shape:
    type_, markers = unwrap(annotated)
    arguments = get_args(type_)
    if get_origin(type_) is list:
        return ListOf(_shape(arguments[0]))
    if get_origin(type_) is dict and arguments[1] is not Any:
        return MapOf(_shape(arguments[1]))
    if set(arguments) == {int, str}:
        return Unmarshaler("integer or text")
    if type_ is int:
        formats = [str(marker.keywords()["format"]) for marker in markers if isinstance(marker, Format)]
        return Integer(int(formats[0].removeprefix("int")) if formats else 64)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return StructOf(type_)
    if len(arguments) == 2 and isinstance(struct := _shape(arguments[0]), StructOf):
        return Either(struct.struct, _shape(arguments[1]))
    return _SIMPLE.get(type_, Plain("anything"))
