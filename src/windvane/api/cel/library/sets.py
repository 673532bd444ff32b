"""Lists as sets: `sets.contains(a, b)`."""

from typing import Any

from windvane.api.cel.functions import Functions, plain
from windvane.api.cel.library.operators import contained
from windvane.api.cel.types import BOOL, list_of, parameter
from windvane.api.cel.values import items_of

_LIST = list_of(parameter("T"))


def _contains(one: Any, other: Any) -> bool:
    found = items_of(one)
    return all(contained(each, found) for each in items_of(other))


def _intersects(one: Any, other: Any) -> bool:
    found = items_of(other)
    return any(contained(each, found) for each in items_of(one))


def _equivalent(one: Any, other: Any) -> bool:
    return _contains(one, other) and _contains(other, one)


FUNCTIONS: Functions = {
    "sets.contains": (plain("list_sets_contains_list", [_LIST, _LIST], BOOL, _contains),),
    "sets.equivalent": (plain("list_sets_equivalent_list", [_LIST, _LIST], BOOL, _equivalent),),
    "sets.intersects": (plain("list_sets_intersects_list", [_LIST, _LIST], BOOL, _intersects),),
}
