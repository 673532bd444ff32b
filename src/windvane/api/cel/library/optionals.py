"""Values that may be absent: `self.?a.?b.orValue(1)`; and what `transformMap` needs to build maps."""

from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for
from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.library.operators import find, shown_key
from windvane.api.cel.types import BOOL, DYN, INT, STRING, list_of, map_of, optional_of, parameter
from windvane.api.cel.values import (
    ABSENT,
    NONE,
    CelError,
    DictMap,
    Duration,
    MapValue,
    Optional,
    Timestamp,
    is_list,
    items_of,
    no_overload,
)

_K, _V = parameter("K"), parameter("V")
_OPTIONAL, _LIST, _MAP = optional_of(_V), list_of(_V), map_of(_K, _V)
_YEAR_ONE = -62135596800 * 10**9


def _is_zero(value: Any) -> bool:
    if value is None or value is False:
        return True
    if isinstance(value, int | float | str | bytes):
        return not value
    if is_list(value) or isinstance(value, MapValue):
        return len(value) == 0
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    return isinstance(value, Timestamp) and value.nanoseconds == _YEAR_ONE


def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional(value)


def optional_find(value: Any, key: Any) -> Any:
    """`_[?_]` and the like, of a value or of an optional one."""
    if type(value) is Optional:
        if not value.present:
            return NONE
        value = value.value
    found = find(value, key)
    return NONE if found is ABSENT else Optional(found)


def _unwrap(values: Any) -> list[Any]:
    found = items_of(values)
    room_for(len(found) * ITEM)
    return [each.value for each in found if each.present]


def _first(values: Any) -> Optional:
    found = items_of(values)
    return Optional(found[0]) if found else NONE


def _last(values: Any) -> Optional:
    found = items_of(values)
    return Optional(found[-1]) if found else NONE


def map_insert(into: Any, *what: Any) -> MapValue:
    """A map with one key more, or with those of another map; no key may be there already."""
    if not isinstance(into, MapValue):
        raise no_overload()
    made = DictMap()
    for key in into.keys():  # noqa: SIM118 - not a dict
        made.put(key, into.find(key))
    pairs = [what] if len(what) == 2 else [(key, what[0].find(key)) for key in what[0].keys()]  # noqa: SIM118
    for key, value in pairs:
        if made.find(key) is not ABSENT:
            raise CelError(f"insert failed: key {shown_key(key)} already exists")
        made.put(key, value)
    return made


FUNCTIONS: Functions = {
    "optional.of": (plain("optional_of", [_V], _OPTIONAL, Optional),),
    "optional.ofNonZeroValue": (plain("optional_ofNonZeroValue", [_V], _OPTIONAL, _of_non_zero),),
    "optional.none": (plain("optional_none", [], _OPTIONAL, lambda: NONE),),
    "value": (member("optional_value", [_OPTIONAL], _V, lambda optional: optional.value),),
    "hasValue": (member("optional_hasValue", [_OPTIONAL], BOOL, lambda optional: optional.present),),
    "or": (member("optional_or_optional", [_OPTIONAL, _OPTIONAL], _OPTIONAL, no_overload),),
    "orValue": (member("optional_orValue_value", [_OPTIONAL, _V], _V, no_overload),),
    "_?._": (plain("select_optional_field", [DYN, STRING], _OPTIONAL, optional_find),),
    "_[?_]": (
        plain("list_optindex_optional_int", [_LIST, INT], _OPTIONAL, optional_find),
        plain("optional_list_optindex_optional_int", [optional_of(_LIST), INT], _OPTIONAL, optional_find),
        plain("map_optindex_optional_value", [_MAP, _K], _OPTIONAL, optional_find),
        plain("optional_map_optindex_optional_value", [optional_of(_MAP), _K], _OPTIONAL, optional_find),
    ),
    "_[_]": (
        plain("optional_list_index_int", [optional_of(_LIST), INT], _OPTIONAL, optional_find),
        plain("optional_map_index_value", [optional_of(_MAP), _K], _OPTIONAL, optional_find),
    ),
    "last": (member("list_last", [_LIST], _OPTIONAL, _last),),
    "first": (member("list_first", [_LIST], _OPTIONAL, _first),),
    "optional.unwrap": (plain("optional_unwrap", [list_of(_OPTIONAL)], _LIST, _unwrap),),
    "unwrapOpt": (member("optional_unwrapOpt", [list_of(_OPTIONAL)], _LIST, _unwrap),),
    "cel.@mapInsert": (
        plain("@mapInsert_map_key_value", [_MAP, _K, _V], _MAP, map_insert),
        plain("@mapInsert_map_map", [_MAP, _MAP], _MAP, map_insert),
    ),
}
