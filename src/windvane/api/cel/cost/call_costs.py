"""What calls cost when they are made, in the server's units: most cost 1, what walks over text or lists costs more."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windvane.api.cel.library.named_formats import NamedFormat
from windvane.api.cel.values import MapValue, Opaque, is_list, items_of, size

Price = Callable[[Sequence[Any], Any], int]

LIST_COST, MAP_COST, OBJECT_COST = 10, 30, 40
"""What making a list, a map or an object costs."""
TRAVERSAL = 0.1
"""What one character, or one comparison of a byte, costs."""
REGEX = 0.25
"""What a character of a regular expression costs, for each unit of text."""
AUTHORIZATION = 350_000
"""What asking the authorizer costs."""


def _walk(length: int, times: int = 1) -> int:
    return math.ceil(length * times * TRAVERSAL)


def _first(args: Sequence[Any], _: Any) -> int:
    return _walk(size(args[0]))


def _first_twice(args: Sequence[Any], _: Any) -> int:
    return _walk(size(args[0]), 2)


def _joined(args: Sequence[Any], _: Any) -> int:
    parts = items_of(args[0]) if is_list(args[0]) else [None]
    if not all(type(each) is str for each in (*parts, *args[1:])):
        return _walk(1, 2)  # that comes to nothing
    separators = size(args[1]) * max(len(parts) - 1, 0) if len(args) == 2 else 0
    return _walk(sum(map(len, parts)) + separators, 2)


def _traversal(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * TRAVERSAL)
    if is_list(value):
        return sum(map(_traversal, items_of(value)))
    if isinstance(value, MapValue):
        return sum(_traversal(key) + _traversal(value.find(key)) for key in value.keys())  # noqa: SIM118
    return 1


def _traverse(args: Sequence[Any], _: Any) -> int:
    return _traversal(args[0])


def _search(args: Sequence[Any], _: Any) -> int:
    return math.ceil((1 + size(args[0])) * TRAVERSAL) * math.ceil(size(args[1]) * REGEX)


def _contains_ip(args: Sequence[Any], _: Any) -> int:
    return _walk(size(args[0]), 2)


def _contains_cidr(args: Sequence[Any], _: Any) -> int:
    return _walk(size(args[0]), 2) + _walk(size(args[0])) + 1


def _parsing(contains: Price) -> Price:
    """The price where it is known beforehand that the second is text, which is to be read first."""
    return lambda args, result: contains(args, result) + _walk(size(args[1]))


def _validate(args: Sequence[Any], _: Any) -> int:
    pattern = args[0].pattern_size if isinstance(args[0], NamedFormat) else 0
    return math.ceil((1 + size(args[1])) * TRAVERSAL) * math.ceil(pattern * REGEX)


def _smaller(args: Sequence[Any], _: Any) -> int:
    return _walk(min(size(args[0]), size(args[1])))


def _equality(args: Sequence[Any], result: Any) -> int:
    return 1 if isinstance(args[0], Opaque) else _smaller(args, result)


def _both(args: Sequence[Any], _: Any) -> int:
    return _walk(size(args[0]) + size(args[1]))


def _substring(args: Sequence[Any], _: Any) -> int:
    return _walk(size(args[0])) * _walk(size(args[1]))


def _membership(args: Sequence[Any], _: Any) -> int:
    return size(args[1])


def _sets(times: int) -> Price:
    return lambda args, _: 1 + size(args[0]) * size(args[1]) * times


def _output(_: Sequence[Any], result: Any) -> int:
    return size(result) + 1 + LIST_COST


def _selector(args: Sequence[Any], _: Any) -> int:
    """Reading a selector, and making its requirements: one for each second character, at most."""
    length = size(args[1])
    return LIST_COST + _walk(length) + math.ceil(length / 2) * (LIST_COST + OBJECT_COST)


def _range(args: Sequence[Any], _: Any) -> int:
    return (max(args[0], 0) if isinstance(args[0], int) else 0) + 1 + LIST_COST


def _flatten(args: Sequence[Any], _: Any) -> int:
    depth = args[1] if len(args) == 2 and isinstance(args[1], int) else 1
    return size(args[0]) * depth + 1 + LIST_COST


def _self_compare(which: int) -> Price:
    def price(args: Sequence[Any], _: Any) -> int:
        found = items_of(args[which]) if is_list(args[which]) else ()
        factor = 2 + (TRAVERSAL if found and isinstance(found[0], str | bytes) else 0)
        return int(len(found) ** 2 * factor) + 1 + LIST_COST

    return price


_BY_FUNCTION: Mapping[str, Price] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traverse),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR"), _first),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _first),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first_twice),
    **dict.fromkeys(("find", "findAll"), _search),
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    "jsonpatch.escapeKey": _first,
    "check": lambda *_: AUTHORIZATION,
    "join": _joined,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
}
_TEXT_ORDER = tuple(
    f"{name}_{type_}" for name in ("less", "less_equals", "greater", "greater_equals") for type_ in ("string", "bytes")
)
_BY_OVERLOAD: Mapping[str, Price] = {
    **dict.fromkeys(("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string"), _first),
    **dict.fromkeys(("strings_quote", "string_format", "string_to_ip"), _first),
    **dict.fromkeys(_TEXT_ORDER, _smaller),
    **dict.fromkeys(("add_string", "add_bytes"), _both),
    "matches_string": _search,
    "contains_string": _substring,
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    **dict.fromkeys(("list_slice", "list_reverse"), _output),
    "lists_range": _range,
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _flatten),
    "list_distinct": _self_compare(0),
}


EQUALITY: Mapping[str, Price] = {"_==_": _equality, "_!=_": _smaller}
MEMBERSHIP: Price = _membership
_PARSING = ("cidr_contains_ip_string", "cidr_contains_cidr_string")
BY_RESULT = frozenset({_output})
"""The prices that depend on what comes of a call."""


def price_of(function: str, overloads: Sequence[str]) -> Price | None:
    """How the price of a call is found, or None if it is 1 whatever the arguments are."""
    only = overloads[0] if len(overloads) == 1 else ""
    if only.endswith("_sort"):
        return _self_compare(0)
    if only.endswith("_sortByAssociatedKeys"):
        return _self_compare(1)
    price = _BY_FUNCTION.get(function) or _BY_OVERLOAD.get(only)
    return _parsing(price) if price is not None and only in _PARSING else price
