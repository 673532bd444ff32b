"""What can be done to lists: sums, extremes, order, slices."""

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for, tick
from windvane.api.cel.functions import Functions, Overload, member, plain
from windvane.api.cel.library.operators import add
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
    Type,
    list_of,
    parameter,
)
from windvane.api.cel.values import CelError, Duration, Uint, compare, equal, is_list, items_of, type_name

_T = parameter("T")
_LIST = list_of(_T)
_COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
_ZEROS: dict[str, tuple[Type, Any]] = {
    "int": (INT, 0), "uint": (UINT, Uint(0)), "double": (DOUBLE, 0.0), "duration": (DURATION, Duration(0)),
}  # fmt: skip


def _is_sorted(values: Any) -> bool:
    found = items_of(values)
    return all(compare(one, other) <= 0 for one, other in pairwise(found))


def _sum(zero: Any) -> Callable[[Any], Any]:
    def run(values: Any) -> Any:
        total = zero
        for each in items_of(values):
            total = add(total, each)
        return total

    return run


def _extreme(name: str, sign: int) -> Callable[[Any], Any]:
    def run(values: Any) -> Any:
        found = items_of(values)
        if not found:
            raise CelError(f"{name} called on empty list")
        best = found[0]
        for each in found[1:]:
            if compare(best, each) * sign < 0:
                best = each
        return best

    return run


def _index_of(values: Any, item: Any) -> int:
    return next((index for index, each in enumerate(items_of(values)) if equal(each, item)), -1)


def _last_index_of(values: Any, item: Any) -> int:
    found = items_of(values)
    return next((index for index in reversed(range(len(found))) if equal(found[index], item)), -1)


def _slice(values: Any, start: int, end: int) -> list[Any]:
    found = items_of(values)
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(found) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(found)}")
    return found[start:end]


def _flatten(values: Any, *depth: Any) -> list[Any]:
    if not is_list(values) or (depth and type(depth[0]) is not int):
        raise CelError(f"no such overload: {type_name(values)}.flatten({', '.join(map(type_name, depth))})")
    return _flat(values, depth[0] if depth else 1)


def _flat(values: Any, depth: int) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Any] = []
    found = items_of(values)
    room_for(len(found) * ITEM)
    for each in found:
        if depth and is_list(each):
            flat.extend(_flat(each, depth - 1))
        else:
            flat.append(each)
    return flat


def _sort(values: Any) -> Any:
    if not is_list(values):
        raise CelError("no such overload: sort")
    return _sort_by_keys(values, values)


def _sort_by_keys(values: Any, keys: Any) -> Any:
    by = items_of(keys)
    if not by:
        return values
    if len({type_name(each) for each in by}) > 1:
        raise CelError("list elements must have the same type")
    found = items_of(values)
    return [found[index] for index in sorted(range(len(by)), key=lambda index: cmp_to_key(compare)(by[index]))]


def _range(count: int) -> list[int]:
    room_for(count * ITEM)
    return list(range(count))


def _distinct(values: Any) -> Any:
    unique: list[Any] = []
    for each in items_of(values):
        tick()
        if not any(equal(each, other) for other in unique):
            unique.append(each)
    return unique


def _for_each(
    template: str, run: Callable[[Any], Any], types: tuple[Type, ...] = _COMPARABLE, result: Type | None = None
) -> tuple[Overload, ...]:
    return tuple(member(template.format(each), [list_of(each)], result or each, run) for each in types)


_SORT = tuple(member(f"list_{each}_sort", [list_of(each)], list_of(each), _sort) for each in _COMPARABLE)
_SORT_BY = tuple(
    member(f"list_{each}_sortByAssociatedKeys", [_LIST, list_of(each)], _LIST, _sort_by_keys) for each in _COMPARABLE
)
_SUMS = tuple(
    member(f"list_{name}_sum_{name}", [list_of(type_)], type_, _sum(zero)) for name, (type_, zero) in _ZEROS.items()
)

UNGUARDED = frozenset({"flatten", "sort", "@sortByAssociatedKeys"})
"""Functions that look at their arguments themselves."""

FUNCTIONS: Functions = {
    "isSorted": _for_each("list_{0}_is_sorted_bool", _is_sorted, result=BOOL),
    "sum": _SUMS,
    "max": _for_each("list_{0}_max_{0}", _extreme("max", 1)),
    "min": _for_each("list_{0}_min_{0}", _extreme("min", -1)),
    "indexOf": (member("list_a_index_of_int", [_LIST, _T], INT, _index_of),),
    "lastIndexOf": (member("list_a_last_index_of_int", [_LIST, _T], INT, _last_index_of),),
    "slice": (member("list_slice", [_LIST, INT, INT], _LIST, _slice),),
    "flatten": (
        member("list_flatten", [list_of(_LIST)], _LIST, _flatten),
        member("list_flatten_int", [list_of(DYN), INT], list_of(DYN), _flatten),
    ),
    "sort": _SORT,
    "@sortByAssociatedKeys": _SORT_BY,
    "lists.range": (plain("lists_range", [INT], list_of(INT), _range),),
    "reverse": (member("list_reverse", [_LIST], _LIST, lambda values: items_of(values)[::-1]),),
    "distinct": (member("list_distinct", [_LIST], _LIST, _distinct),),
}
