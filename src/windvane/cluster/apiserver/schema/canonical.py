"""Writes an object of a built-in kind as the API server would write it back.

Null means absent, an amount is written in one way only (`0.5` is `500m`), a time in UTC and whole seconds, and what is
empty is not written: lists and maps, and where Go omits them also "", 0 and false.
"""

from datetime import datetime
from functools import cache
from typing import Any, get_args, get_origin

import msgspec

from windvane.api.custom_resources.schema import Schema
from windvane.api.hints import unwrap
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.quantity import Quantity
from windvane.api.time import format_time, parse_time
from windvane.cluster.apiserver.schema.shapes import class_of, fields_of
from windvane.cluster.apiserver.schema.zero_values import zero_is_absent_in

# Where an empty list is an answer, and an absent one is not, or asks for the default.
_TELLS_EMPTY = frozenset({"CustomResourceDefinitionSpec.versions", "HPAScalingRules.policies"})

# Lists that are written even if there is none.
_WRITTEN_AS_NULL = frozenset({"CustomResourceDefinitionStatus.conditions"})


def make_canonical(kind: Kind, obj: Wire) -> None:
    """Rewrite an object in place. Its types are right: `decode_problem` has found nothing."""
    if cls := class_of(kind):
        _struct(cls, obj)


def _struct(cls: type[msgspec.Struct], value: Wire) -> None:
    types = _types_of(cls)
    for name, each in list(value.items()):
        if name not in types or (each is None and f"{cls.__name__}.{name}" in _WRITTEN_AS_NULL):
            continue
        type_ = types[name]
        if type_ is not Any and _is_absent(cls, name, type_, each):
            del value[name]
        else:
            value[name] = _value(type_, each)


@cache
def _types_of(cls: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: unwrap(annotated)[0] for name, annotated in fields_of(cls).items()}


@cache
def _inner(type_: Any) -> tuple[Any, Any]:
    """What a list or a map is of: `list` or `dict`, and the type of what is in it; else None twice."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is list or (origin is dict and arguments[1] is not Any):
        return origin, unwrap(arguments[-1])[0]
    return None, None


def _is_absent(cls: type[msgspec.Struct], name: str, type_: Any, value: Any) -> bool:
    """Whether the field means the same as if it weren't there."""
    field = f"{cls.__name__}.{name}"
    if value is None:
        return True
    if isinstance(value, list | dict) and _inner(type_) != (None, None):
        return not value and field not in _TELLS_EMPTY
    return (value is False or value in ("", 0)) and name in zero_is_absent_in(cls)


def _value(type_: Any, value: Any) -> Any:
    if type_ is str or type_ is int or type_ is bool:
        return value
    origin, inner = _inner(type_)
    if origin is list:
        return [_value(inner, _zero(inner) if each is None else each) for each in value]
    if origin is dict:
        if inner is Quantity:
            return {name: _whole_milli(each) for name, each in value.items()}
        return {name: _value(inner, _zero(inner) if each is None else each) for name, each in value.items()}
    if type_ is bytes:
        return value.replace("\r", "").replace("\n", "")
    if type_ is Quantity:
        return str(Quantity.from_wire(value))
    if type_ is datetime:
        return _whole_second(value)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        _struct(type_, value)
    return value


def _zero(type_: Any) -> Any:
    """What Go reads from null where something must be."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return {}
    return {str: "", bytes: "", int: 0, bool: False}.get(type_)


def _whole_second(text: str) -> str:
    """A time in UTC, of which nothing finer than a second is kept."""
    try:
        return format_time(parse_time(text))
    except (ValueError, OverflowError):
        return text  # Go knows the year 0 and zones of 24 hours


def _whole_milli(value: Any) -> str:
    """An amount of a resource, of which nothing finer than a thousandth is counted."""
    quantity = Quantity.from_wire("0" if value is None else value)
    return str(Quantity(f"{quantity.milli()}m") if quantity.value * 1000 % 1 else quantity)


def drop_empty(value: Any, schema: Schema) -> None:
    """Remove lists and maps with nothing in them: Go doesn't write those. An empty struct says something, and stays."""
    if isinstance(value, list):
        for item in value:
            drop_empty(item, schema.get("items", {}))
        return
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    values = schema.get("additionalProperties", {})
    for key, inner in list(value.items()):
        part = properties.get(key, values)
        if inner is None and part is values and part.get("type") == "string":
            value[key] = ""
        elif (inner == [] and part.get("type") == "array") or (inner == {} and "additionalProperties" in part):
            del value[key]
        elif isinstance(inner, (dict, list)):
            drop_empty(inner, part)
