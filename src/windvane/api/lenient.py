"""Reading what does not fit its class: each field that can't be read stays the plain JSON value that is there.

An object can be older than a rule of its class. To finalize it, most of it will do.
"""

import types
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from windvane.api import codec
from windvane.api.hints import type_hints, unwrap
from windvane.api.resource import Object

ObjectT = TypeVar("ObjectT", bound=Object)

MISSING = ": it is missing"
"""How a problem ends that is no more than that a required field is not there."""


def read_leniently(raw: bytes, what: type[ObjectT]) -> tuple[ObjectT, list[str]]:
    """The object, and what could not be read of it: the path of each field, and why."""
    problems: list[str] = []
    wire = msgspec.json.decode(raw)
    return _read(wire, what, "", problems), problems


def _read(wire: Any, annotated: Any, path: str, problems: list[str]) -> Any:
    try:
        return codec.from_wire(wire, annotated)
    except Exception as error:  # noqa: BLE001 - what a class raises in its __post_init__ may be anything
        why = codec.in_words(error).partition(" - at `")[0]
    type_ = unwrap(annotated)[0]
    if isinstance(wire, dict) and isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return _read_struct(wire, type_, path, problems)
    if isinstance(wire, list) and get_origin(type_) is list:
        return [_read(item, get_args(type_)[0], f"{path}[{number}]", problems) for number, item in enumerate(wire)]
    if isinstance(wire, dict) and get_origin(type_) is dict:
        return {key: _read(value, get_args(type_)[1], f"{path}[{key}]", problems) for key, value in wire.items()}
    if get_origin(type_) is Literal or (isinstance(type_, type) and issubclass(type_, Enum)):
        why += f"; there is {', '.join(repr(getattr(each, 'value', each)) for each in get_args(type_) or type_)}"
    problems.append(f"{path}: {why}")
    return wire


def _read_struct(wire: dict[str, Any], struct: type[msgspec.Struct], path: str, problems: list[str]) -> msgspec.Struct:
    hints = type_hints(struct)
    values: dict[str, Any] = {}
    found = len(problems)
    for field in msgspec.structs.fields(struct):
        where = f"{path}.{field.encode_name}" if path else field.encode_name
        if (value := wire.get(field.encode_name)) is not None:
            values[field.name] = _read(value, hints[field.name], where, problems)
        elif field.required:
            problems.append(f"{where}{MISSING}")
            values[field.name] = None
        elif field.encode_name in ("spec", "status") and issubclass(struct, Object):
            before = len(problems)
            values[field.name] = _read({}, hints[field.name], where, problems)
            if len(problems) == before and not _is_optional(hints[field.name]):
                problems.append(f"{where}{MISSING}")
    why = f"it does not fit {struct.__name__}"
    try:
        made = struct(**values)
    except Exception as error:  # noqa: BLE001 - as above
        made, why = _unchecked(struct)(**values), codec.in_words(error)
    if len(problems) == found:
        problems.append(f"{path or 'the object'}: {why}")
    return made


def _is_optional(part: Any) -> bool:
    """Whether a spec or a status may be left out: if nothing in it is required."""
    struct = unwrap(part)[0]
    return not any(field.required for field in msgspec.structs.fields(struct))


@cache
def _unchecked(struct: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The same class without what its own `__post_init__` asks."""
    own = {"__module__": struct.__module__, "__doc__": struct.__doc__, "__post_init__": lambda _: None}
    return types.new_class(struct.__name__, (struct,), exec_body=lambda namespace: namespace.update(own))
