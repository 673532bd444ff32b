"""Operators, which are functions with odd names: `_+_`, `_<_`, `_[_]`, and what tests strings and lists.

Each of them takes any values, and finds out by itself what they are.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for, tick, time_for
from windvane.api.cel.functions import Functions, Overload, member, plain
from windvane.api.cel.times import timestamp
from windvane.api.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    parameter,
)
from windvane.api.cel.values import (
    ABSENT,
    CelError,
    Duration,
    ListValue,
    MapValue,
    Timestamp,
    Uint,
    bounded_int,
    bounded_uint,
    compare,
    equal,
    is_list,
    items_of,
    no_overload,
    type_in_go,
    type_name,
)
from windvane.api.openapi.patterns import Pattern, PatternError, pattern

_A, _B = parameter("A"), parameter("B")
_LIST, _MAP = list_of(_A), map_of(_A, _B)
_RECEIVERS = (str, Duration, Timestamp)  # types that answer for functions they don't have in other words


def _undefined(function: str, value: Any) -> CelError:
    return no_overload() if isinstance(value, _RECEIVERS) else CelError(f"no such overload: {function}")


def add(one: Any, other: Any) -> Any:
    """`_+_` of any two values."""
    kind = type(one)
    if kind is type(other):
        if kind is int:
            return bounded_int(one + other)
        if kind is float:
            return one + other
        if kind is str or kind is bytes:
            room_for(len(one) + len(other))
            return one + other
        if kind is Uint:
            return bounded_uint(int(one) + int(other))
        if kind is Duration:
            return Duration(one.nanoseconds + other.nanoseconds)
    if kind is list:
        behind = items_of(other)
        room_for((len(one) + len(behind)) * ITEM)
        return one + behind
    if isinstance(one, ListValue):
        return one.plus(other)
    if kind is Timestamp and type(other) is Duration:
        return timestamp(one.nanoseconds + other.nanoseconds, one.offset)
    if kind is Duration and type(other) is Timestamp:
        return timestamp(one.nanoseconds + other.nanoseconds, other.offset)
    raise no_overload() if kind in (int, float, str, bytes, Uint, Duration, Timestamp) else _undefined("_+_", one)


def subtract(one: Any, other: Any) -> Any:
    """`_-_` of any two values."""
    kind = type(one)
    if kind is type(other):
        if kind is int:
            return bounded_int(one - other)
        if kind is float:
            return one - other
        if kind is Uint:
            return bounded_uint(int(one) - int(other))
        if kind is Duration or kind is Timestamp:
            return Duration(one.nanoseconds - other.nanoseconds)
    if kind is Timestamp and type(other) is Duration:
        return timestamp(one.nanoseconds - other.nanoseconds, one.offset)
    raise no_overload() if kind in (int, float, Uint, Duration, Timestamp) else _undefined("_-_", one)


def _arithmetic(function: str, whole: Callable[[int, int], int], real: Callable[[float, float], float] | None) -> Any:
    def run(one: Any, other: Any) -> Any:
        kind = type(one)
        if kind is type(other):
            if kind is int:
                return bounded_int(whole(one, other))
            if kind is Uint:
                return bounded_uint(whole(int(one), int(other)))
            if kind is float and real is not None:
                return real(one, other)
        raise no_overload() if kind in (int, float, Uint) else _undefined(function, one)

    return run


def _divide(one: int, other: int) -> int:
    if other == 0:
        raise CelError("division by zero")
    whole = abs(one) // abs(other)
    return whole if (one < 0) == (other < 0) else -whole


def _divide_real(one: float, other: float) -> float:
    if other:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def _modulo(one: int, other: int) -> int:
    if other == 0:
        raise CelError("modulus by zero")
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


multiply = _arithmetic("_*_", operator.mul, operator.mul)
divide = _arithmetic("_/_", _divide, _divide_real)
modulo = _arithmetic("_%_", _modulo, None)


def negate(value: Any) -> Any:
    """`-_`."""
    kind = type(value)
    if kind is int:
        return bounded_int(-value)
    if kind is float:
        return -value
    if kind is Duration:
        return Duration(-value.nanoseconds)
    raise no_overload() if kind is bool else _undefined("-_", value)


def invert(value: Any) -> bool:
    """`!_`."""
    if type(value) is bool:
        return not value
    raise no_overload()


def _ordering(function: str, test: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    def run(one: Any, other: Any) -> bool:
        if one is None or is_list(one) or isinstance(one, MapValue):
            raise _undefined(function, one)
        return test(compare(one, other), 0)

    return run


less = _ordering("_<_", operator.lt)
less_or_equal = _ordering("_<=_", operator.le)
greater = _ordering("_>_", operator.gt)
greater_or_equal = _ordering("_>=_", operator.ge)


def contained(value: Any, within: Any) -> bool:
    """`@in`, which is how `in` is called."""
    if isinstance(within, MapValue):
        return within.find(value) is not ABSENT
    if is_list(within):
        tick()
        return any(equal(each, value) for each in items_of(within))
    raise no_overload()


def index(value: Any, at: Any) -> Any:
    """`_[_]`."""
    found = find(value, at)
    if found is not ABSENT:
        return found
    what = "index out of bounds" if is_list(value) else "no such key"
    raise CelError(f"{what}: {shown_key(at)}")


def find(value: Any, at: Any) -> Any:
    """What is at an index or key, or `ABSENT`."""
    if not isinstance(at, str | int | float):
        raise CelError(f"invalid qualifier type: {type_in_go(at)}")
    if isinstance(value, MapValue):
        return value.find(at)
    if is_list(value):
        place = _place(at)
        if not 0 <= place < len(value):
            return ABSENT
        if type(value) is list:
            return value[place]
        if type(at) is not int:
            raise CelError(f"unsupported index: {place}")
        return value.item(place)
    return ABSENT


def _place(at: Any) -> int:
    kind = type(at)
    if kind is int or kind is Uint or (kind is float and at.is_integer()):
        return int(at)
    if kind is float:
        raise CelError(f"unsupported index value {shown_key(at)} in list")
    raise CelError(f"unsupported index type '{type_name(at)}' in list")


def shown_key(key: Any) -> str:
    """A key or index in a message."""
    if type(key) is bool:
        return "true" if key else "false"
    return str(int(key)) if isinstance(key, int) else str(key)


def length(value: Any) -> int:
    """`size`."""
    if isinstance(value, str | bytes | ListValue | MapValue) or type(value) is list:
        return len(value)
    raise _undefined("size", value)


def matches(text: Any, expression: Any) -> bool:
    """Whether a regular expression is found in a text."""
    if type(text) is not str or type(expression) is not str:
        raise _undefined("matches", text)
    try:
        return searched(pattern(expression), text)
    except PatternError as error:
        raise CelError(str(error)) from None


def searched(for_: Pattern, text: str) -> bool:
    """Whether a pattern is found in a text. The other threads go on meanwhile."""
    time_for(for_.seconds(text))
    return for_.found_in(text)


def _of_text(test: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def run(text: Any, part: Any) -> bool:
        if type(text) is str and type(part) is str:
            return test(text, part)
        raise no_overload()

    return run


def not_strictly_false(value: Any) -> bool:
    """What loops over all items ask before they go on."""
    return value is not False


def _each(function: str, run: Any, *signatures: tuple[str, Type, Type, Type]) -> tuple[Overload, ...]:
    return tuple(plain(f"{function}_{name}", [one, other], result, run) for name, one, other, result in signatures)


_ORDERED = (
    ("bool", BOOL, BOOL, BOOL), ("int64", INT, INT, BOOL), ("int64_double", INT, DOUBLE, BOOL),
    ("int64_uint64", INT, UINT, BOOL), ("uint64", UINT, UINT, BOOL), ("uint64_double", UINT, DOUBLE, BOOL),
    ("uint64_int64", UINT, INT, BOOL), ("double", DOUBLE, DOUBLE, BOOL), ("double_int64", DOUBLE, INT, BOOL),
    ("double_uint64", DOUBLE, UINT, BOOL), ("string", STRING, STRING, BOOL), ("bytes", BYTES, BYTES, BOOL),
    ("timestamp", TIMESTAMP, TIMESTAMP, BOOL), ("duration", DURATION, DURATION, BOOL),
)  # fmt: skip
_NUMERIC = (("double", DOUBLE, DOUBLE, DOUBLE), ("int64", INT, INT, INT), ("uint64", UINT, UINT, UINT))

FUNCTIONS: Functions = {
    "_?_:_": (plain("conditional", [BOOL, _A, _A], _A, no_overload),),
    "_&&_": (plain("logical_and", [BOOL, BOOL], BOOL, no_overload),),
    "_||_": (plain("logical_or", [BOOL, BOOL], BOOL, no_overload),),
    "!_": (plain("logical_not", [BOOL], BOOL, invert),),
    "@not_strictly_false": (plain("not_strictly_false", [BOOL], BOOL, not_strictly_false),),
    "_==_": (plain("equals", [_A, _A], BOOL, equal),),
    "_!=_": (plain("not_equals", [_A, _A], BOOL, lambda one, other: not equal(one, other)),),
    "_+_": (
        *_each("add", add, ("bytes", BYTES, BYTES, BYTES), ("double", DOUBLE, DOUBLE, DOUBLE)),
        *_each("add", add, ("duration_duration", DURATION, DURATION, DURATION)),
        *_each("add", add, ("duration_timestamp", DURATION, TIMESTAMP, TIMESTAMP)),
        *_each("add", add, ("timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP), ("int64", INT, INT, INT)),
        *_each("add", add, ("list", _LIST, _LIST, _LIST), ("string", STRING, STRING, STRING)),
        *_each("add", add, ("uint64", UINT, UINT, UINT)),
    ),
    "_-_": (
        *_each("subtract", subtract, *_NUMERIC, ("duration_duration", DURATION, DURATION, DURATION)),
        *_each("subtract", subtract, ("timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP)),
        *_each("subtract", subtract, ("timestamp_timestamp", TIMESTAMP, TIMESTAMP, DURATION)),
    ),
    "_*_": _each("multiply", multiply, *_NUMERIC),
    "_/_": _each("divide", divide, *_NUMERIC),
    "_%_": _each("modulo", modulo, *_NUMERIC[1:]),
    "-_": (plain("negate_double", [DOUBLE], DOUBLE, negate), plain("negate_int64", [INT], INT, negate)),
    "_<_": _each("less", less, *_ORDERED),
    "_<=_": _each("less_equals", less_or_equal, *_ORDERED),
    "_>_": _each("greater", greater, *_ORDERED),
    "_>=_": _each("greater_equals", greater_or_equal, *_ORDERED),
    "_[_]": (plain("index_list", [_LIST, INT], _A, index), plain("index_map", [_MAP, _A], _B, index)),
    "@in": (plain("in_list", [_A, _LIST], BOOL, contained), plain("in_map", [_A, _MAP], BOOL, contained)),
    "size": tuple(
        make(f"size_{type_.name}{suffix}", [type_], INT, length)
        for type_ in (BYTES, _LIST, _MAP, STRING)
        for make, suffix in ((plain, ""), (member, "_inst"))
    ),
    "contains": (member("contains_string", [STRING, STRING], BOOL, _of_text(str.__contains__)),),
    "startsWith": (member("starts_with_string", [STRING, STRING], BOOL, _of_text(str.startswith)),),
    "endsWith": (member("ends_with_string", [STRING, STRING], BOOL, _of_text(str.endswith)),),
    "matches": (
        plain("matches", [STRING, STRING], BOOL, matches),
        member("matches_string", [STRING, STRING], BOOL, matches),
    ),
}
