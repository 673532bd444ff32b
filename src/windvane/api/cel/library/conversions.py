"""From one type to another: `int('5')`, `string(1.5)`, `duration('1h')`."""

import math
import re
from typing import Any

from windvane.api.cel.functions import Functions, plain
from windvane.api.cel.times import read_duration, read_timestamp, show_duration, show_timestamp, timestamp
from windvane.api.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    parameter,
    type_of,
)
from windvane.api.cel.values import (
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    bounded_int,
    bounded_uint,
    type_name,
)
from windvane.api.wording import shown_float

_ANY = parameter("A")
_TRUE, _FALSE = (
    frozenset({"1", "t", "T", "true", "TRUE", "True"}),
    frozenset({"0", "f", "F", "false", "FALSE", "False"}),
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))")


def _impossible(value: Any, to: str) -> CelError:
    return CelError(f"type conversion error from '{type_name(value)}' to '{to}'")


def _same(value: Any) -> Any:
    return value


def _text_to_bool(text: str) -> bool:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _impossible(text, "bool")


def _text_to_int(text: str) -> int:
    if re.fullmatch("[+-]?[0-9]{1,40}", text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise _impossible(text, "int")


def _text_to_uint(text: str) -> Uint:
    if re.fullmatch("[0-9]{1,40}", text) and int(text) < 2**64:
        return Uint(text)
    raise _impossible(text, "uint")


def _text_to_double(text: str) -> float:
    if _NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value) or "n" in text.lower():
            return value
    raise _impossible(text, "double")


def _text_to_duration(text: str) -> Duration:
    if (found := read_duration(text)) is None:
        raise _impossible(text, "google.protobuf.Duration")
    return found


def _text_to_timestamp(text: str) -> Timestamp:
    if (found := read_timestamp(text)) is None:
        raise _impossible(text, "google.protobuf.Timestamp")
    return found


def _int_to_duration(value: int) -> Duration:
    raise _impossible(value, "google.protobuf.Duration")


def _double_to_int(value: float) -> int:
    if math.isfinite(value) and -(2.0**63) < value < 2.0**63:
        return int(value)
    raise CelError("integer overflow")


def _double_to_uint(value: float) -> Uint:
    if math.isfinite(value) and 0 <= value < 2.0**64:
        return Uint(int(value))
    raise CelError("unsigned integer overflow")


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_text(value: float) -> str:
    """A double as `string` writes it."""
    if math.isnan(value):
        return "NaN"
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else shown_float(value)


def text_of(value: Any) -> str:
    """The text of a scalar."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return double_text(value)
        case bytes():
            return _bytes_to_text(value)
        case Duration():
            return show_duration(value)
        case Timestamp():
            return show_timestamp(value)
        case TypeValue():
            return value.name
    return str(value)


def type_value(value: Any) -> TypeValue:
    """The type of a value."""
    return TypeValue(type_name(value))


FUNCTIONS: Functions = {
    "type": (plain("type", [_ANY], type_of(_ANY), type_value),),
    "dyn": (plain("to_dyn", [_ANY], DYN, _same),),
    "bool": (plain("bool_to_bool", [BOOL], BOOL, _same), plain("string_to_bool", [STRING], BOOL, _text_to_bool)),
    "bytes": (
        plain("bytes_to_bytes", [BYTES], BYTES, _same),
        plain("string_to_bytes", [STRING], BYTES, str.encode),
    ),
    "double": (
        plain("double_to_double", [DOUBLE], DOUBLE, _same),
        plain("int64_to_double", [INT], DOUBLE, float),
        plain("string_to_double", [STRING], DOUBLE, _text_to_double),
        plain("uint64_to_double", [UINT], DOUBLE, float),
    ),
    "duration": (
        plain("duration_to_duration", [DURATION], DURATION, _same),
        plain("int64_to_duration", [INT], DURATION, _int_to_duration),
        plain("string_to_duration", [STRING], DURATION, _text_to_duration),
    ),
    "int": (
        plain("int64_to_int64", [INT], INT, _same),
        plain("double_to_int64", [DOUBLE], INT, _double_to_int),
        plain("duration_to_int64", [DURATION], INT, lambda value: value.nanoseconds),
        plain("string_to_int64", [STRING], INT, _text_to_int),
        plain("timestamp_to_int64", [TIMESTAMP], INT, lambda value: value.nanoseconds // 10**9),
        plain("uint64_to_int64", [UINT], INT, lambda value: bounded_int(int(value))),
    ),
    "string": (
        plain("string_to_string", [STRING], STRING, _same),
        plain("bool_to_string", [BOOL], STRING, text_of),
        plain("bytes_to_string", [BYTES], STRING, _bytes_to_text),
        plain("double_to_string", [DOUBLE], STRING, double_text),
        plain("duration_to_string", [DURATION], STRING, show_duration),
        plain("int64_to_string", [INT], STRING, str),
        plain("timestamp_to_string", [TIMESTAMP], STRING, show_timestamp),
        plain("uint64_to_string", [UINT], STRING, text_of),
    ),
    "timestamp": (
        plain("timestamp_to_timestamp", [TIMESTAMP], TIMESTAMP, _same),
        plain("int64_to_timestamp", [INT], TIMESTAMP, lambda value: timestamp(value * 10**9)),
        plain("string_to_timestamp", [STRING], TIMESTAMP, _text_to_timestamp),
    ),
    "uint": (
        plain("uint64_to_uint64", [UINT], UINT, _same),
        plain("double_to_uint64", [DOUBLE], UINT, _double_to_uint),
        plain("int64_to_uint64", [INT], UINT, bounded_uint),
        plain("string_to_uint64", [STRING], UINT, _text_to_uint),
    ),
}
