"""Converts the result of a strategic merge patch to a typed object, as Go's DefaultUnstructuredConverter does.

It differs from the JSON decoder: it has other words for a wrong type, takes `2.0` for a 2, and lets numbers overflow.
"""

from typing import Any

import msgspec

from windvane.api.openapi.structural import Path, path_text
from windvane.cluster.apiserver.schema.go_decoder import go_type, own_problem
from windvane.cluster.apiserver.schema.go_values import base64_problem
from windvane.cluster.apiserver.schema.shapes import (
    Integer,
    ListOf,
    MapOf,
    Plain,
    Shape,
    StructOf,
    Unmarshaler,
    shapes_of,
)

_GO_KINDS = {bool: "bool", int: "int64", float: "float64", str: "string", list: "slice", dict: "map"}


class UnstructuredError(ValueError):
    """A value of the wrong type; the message is Go's."""


def from_unstructured(
    cls: type[msgspec.Struct], value: dict[str, Any], version: str
) -> tuple[dict[str, Any], list[str]]:
    """The object, with its unknown fields, and a complaint about each of those."""
    converter = _Converter(version)
    made = converter.struct(cls, value, None)
    return made, sorted(converter.complaints)


class _Converter:
    def __init__(self, version: str) -> None:
        self.complaints: list[str] = []
        self._version = version

    def struct(self, cls: type[msgspec.Struct], value: object, where: Path) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise UnstructuredError(f"cannot restore struct from: {_GO_KINDS[type(value)]}")
        shapes = shapes_of(cls)
        unknown = [name for name in value if name not in shapes]
        self.complaints += [f'unknown field "{path_text((where, name))}"' for name in unknown]
        return {
            name: self._value(shapes[name], each, f"{cls.__name__}.{name}", (where, name)) if name in shapes else each
            for name, each in value.items()
        }

    def _value(self, shape: Shape, value: Any, field: str, where: Path) -> Any:
        if value is None:
            return None
        match shape:
            case StructOf(struct):
                return self.struct(struct, value, where)
            case ListOf(inside) if isinstance(value, list):
                return [self._value(inside, each, field, (where, index)) for index, each in enumerate(value)]
            case MapOf(inside) if isinstance(value, dict):
                return {key: self._value(inside, each, field, (where, key)) for key, each in value.items()}
            case MapOf():
                raise UnstructuredError(f"cannot restore map from {_GO_KINDS[type(value)]}")
            case Plain("bytes") if isinstance(value, str):
                if problem := base64_problem(value):
                    raise UnstructuredError(f"error decoding from json: {problem}")
            case ListOf() | Plain("bytes"):
                raise UnstructuredError(f"cannot restore slice from {_GO_KINDS[type(value)]}")
            case Unmarshaler():
                if problem := own_problem(shape, value, "value"):
                    raise UnstructuredError(problem)
            case Integer(bits):
                return self._integer(bits, value)
            case Plain("text") if type(value) is int:
                raise UnstructuredError(f"cannot convert int64 to {go_type(shape, field, self._version)}")
            case Plain("text") if not isinstance(value, str):
                raise UnstructuredError("unrecognized type: string")
            case Plain("bool") if not isinstance(value, bool):
                raise UnstructuredError("unrecognized type: bool")
            case Plain("number") if isinstance(value, bool) or not isinstance(value, int | float):
                raise UnstructuredError("unrecognized type: float64")
        return value

    def _integer(self, bits: int, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UnstructuredError(f"unrecognized type: int{bits}")
        if value != int(value):
            raise UnstructuredError(f"cannot convert float64 to int{bits}")
        half = 1 << (bits - 1)
        return (int(value) + half) % (2 * half) - half
