"""Between bytes, plain JSON values and structs, in both directions.

Reading is lenient where Go is: a nil slice or map, which Go writes as `null`, reads as an empty one, and
`null` anywhere else as a field that isn't there; and `1.0` is an integer. That costs a second pass only for
objects that need it.
"""

from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin

import msgspec

from windvane.api.hints import type_hints, unwrap
from windvane.api.value import is_value

T = TypeVar("T")


def _read_value(type_: type[Any], wire: Any) -> Any:
    if not is_value(type_):
        raise NotImplementedError(f"JSON can't be read as {type_.__name__}: give it from_wire and to_wire")
    try:
        return type_.from_wire(wire)
    except (ValueError, TypeError):
        raise
    except Exception as error:  # an author's own class may raise anything: a KeyError, most often
        raise ValueError(f"{str(wire)[:60]!r} can't be read as {type_.__name__} ({in_words(error)})") from error


def _write_value(value: Any) -> Any:
    if is_value(type(value)):
        return value.to_wire()
    raise NotImplementedError(f"{type(value).__name__} can't be written as JSON: give it from_wire and to_wire")


_encoder = msgspec.json.Encoder(enc_hook=_write_value)


@cache
def _decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type_, dec_hook=_read_value)


def decode(raw: bytes | memoryview | msgspec.Raw, type_: type[T]) -> T:
    """Read JSON bytes as `type_`; msgspec.ValidationError names the path of what doesn't fit."""
    try:
        decoder: msgspec.json.Decoder[T] = _decoder(cast(Any, type_))
        return decoder.decode(raw)
    except msgspec.ValidationError:
        return from_wire(msgspec.json.decode(raw), type_)


def from_wire(wire: Any, type_: type[T]) -> T:
    """Read plain JSON values as `type_`."""
    try:
        return msgspec.convert(wire, type_, dec_hook=_read_value)
    except msgspec.ValidationError:
        return msgspec.convert(_without_null(wire, type_), type_, dec_hook=_read_value)


def in_words(error: Exception) -> str:
    """Why something can't be read: a class's own words, or the name of what it did not expect, too."""
    return str(error) if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: {error}"


def encode(value: Any) -> bytes:
    """JSON bytes of a struct, or of plain values that hold structs."""
    return _encoder.encode(value)


def to_wire(value: Any) -> Any:
    """Plain JSON values (dict, list, str, ...) of a struct."""
    return msgspec.to_builtins(value, enc_hook=_write_value)


def _without_null(wire: Any, type_: Any) -> Any:
    """`wire` as Go reads it into `type_`: without nulls, and with the empty lists and maps they stood for."""
    type_ = unwrap(type_)[0]
    if isinstance(wire, dict) and isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        filled: dict[str, Any] = {}
        hints = type_hints(type_)
        for field in msgspec.structs.fields(type_):
            value = wire.get(field.encode_name)
            if value is not None:
                filled[field.encode_name] = _without_null(value, hints[field.name])
            elif field.required and (empty := get_origin(unwrap(hints[field.name])[0])) in (list, dict):
                filled[field.encode_name] = empty()
        return filled
    arguments = get_args(type_)
    if isinstance(wire, list) and get_origin(type_) is list:
        return [_without_null(item, arguments[0]) for item in wire]
    if isinstance(wire, dict) and get_origin(type_) is dict:
        return {key: _without_null(value, arguments[1]) for key, value in wire.items()}
    if isinstance(wire, float) and wire.is_integer() and _has_integers(type_):
        return int(wire)  # "1.0" is an integer by the schema
    return wire


def _has_integers(type_: Any) -> bool:
    """Whether the numbers of a type are integers: `int`, `int | str`, `Literal[1, 2]`, an `IntEnum`."""
    if isinstance(type_, type) and issubclass(type_, Enum):
        return all(isinstance(member.value, int) for member in type_)
    arguments = get_args(type_)
    return type_ is int or (float not in arguments and any(each is int or type(each) is int for each in arguments))
