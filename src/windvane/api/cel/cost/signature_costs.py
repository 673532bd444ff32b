"""What calls can cost at most, and how large what comes of them can be, by their signatures."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from windvane.api.cel.cost.call_costs import LIST_COST, REGEX, TRAVERSAL
from windvane.api.cel.cost.ranges import ENDLESS, FREE, ONCE, Range, fixed
from windvane.api.cel.grammar.syntax import Expr, Literal
from windvane.api.cel.types import Type
from windvane.api.cel.values import MOST_UINT

Path = tuple[str, ...]


class Estimate(NamedTuple):
    """The cost of a call without that of its arguments, and the size of the result if that is known."""

    cost: Range
    size: Range | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """An argument of a call."""

    expr: Expr
    type: Type
    path: Path
    size: Range | None
    declared_size: Callable[[Path], Range | None]

    @property
    def extent(self) -> Range:
        """Its size, which is endless if it is not known."""
        return self.size or self.declared_size(self.path) or ENDLESS

    @property
    def item_extent(self) -> Range:
        """The size of what is in the list that it is."""
        return self.declared_size((*self.path, "@items")) or ENDLESS if self.path else ENDLESS

    @property
    def items_type(self) -> Type | None:
        """The type of its items, if it is a list."""
        return self.type.parameters[0] if self.type.parameters else None


@dataclass(frozen=True, slots=True)
class Given:
    """A call by one of the signatures of its function."""

    overload: str
    target: Node | None
    args: Sequence[Node]


Estimator = Callable[[Given], Estimate | None]

_NOMINAL = Estimate(ONCE)


def _nominal(_: Given) -> Estimate | None:
    return _NOMINAL


def _over_list(call: Given) -> Estimate | None:
    if call.target is None:
        return None
    item = call.target.items_type
    if item is None:  # indexOf and lastIndexOf are also for strings
        return Estimate(call.target.extent.times(TRAVERSAL))
    each = ONCE + call.target.item_extent.times(TRAVERSAL) if item.kind in ("string", "bytes") else ONCE
    return Estimate(call.target.extent * each)


def _read_text(call: Given) -> Estimate | None:
    return Estimate(call.args[0].extent.times(TRAVERSAL)) if call.args else None


def _read_url(call: Given) -> Estimate | None:
    return Estimate(call.args[0].extent.times(TRAVERSAL), call.args[0].extent)


def _read_ip(call: Given) -> Estimate | None:
    return _NOMINAL if call.overload == "cidr_ip" else _read_text(call)


def _read_twice(call: Given) -> Estimate | None:
    return Estimate(call.args[0].extent.times(2 * TRAVERSAL)) if call.args else None


def _changed_text(call: Given) -> Estimate | None:
    return None if call.target is None else Estimate(call.target.extent.times(TRAVERSAL), call.target.extent)


def _replaced(call: Given) -> Estimate | None:
    if call.target is None or len(call.args) < 2:
        return None
    text, old, new = call.target.extent, call.args[0].extent, call.args[1].extent
    most_times = most_kept = 0
    if old.least == 0:
        most_times, most_kept = min(text.most + 1, MOST_UINT), text.most
    elif new.most <= old.least:
        most_kept = text.most
    else:
        most_times = math.ceil(float(text.most) / float(old.least))
    least_times = least_kept = 0
    if old.most == 0:
        least_times, least_kept = min(text.least + 1, MOST_UINT), text.least
    elif old.most <= new.least:
        least_kept = text.least
    else:
        least_times = math.ceil(float(text.least) / float(old.most))
    size = Range(least_times, most_times) * new + Range(least_kept, most_kept)
    return Estimate(text.times(2 * TRAVERSAL), size)


def _split(call: Given) -> Estimate | None:
    if call.target is None:
        return None
    most = call.target.extent.most
    if len(call.args) > 1 and isinstance(limit := call.args[1].expr, Literal) and type(limit.value) is int:
        most = limit.value % 2**64
    return Estimate(call.target.extent.times(2 * TRAVERSAL), Range(0, most))


def _joined(call: Given) -> Estimate | None:
    if call.target is None:
        return None
    count = call.target.extent
    size = count * call.target.item_extent if call.target.items_type is not None else FREE
    if call.args:
        size += call.args[0].extent * Range(max(count.least - 1, 0), max(count.most - 1, 0))
    return Estimate(size.times(TRAVERSAL), size)


def _searched(call: Given) -> Estimate | None:
    if call.target is None or not call.args:
        return None
    cost = (call.target.extent + ONCE).times(TRAVERSAL) * call.args[0].extent.times(REGEX)
    return Estimate(cost, Range(0, call.target.extent.most))


def _contains_ip(call: Given) -> Estimate | None:
    address = Range(4, 16)
    cost = (address + address).times(TRAVERSAL)
    return Estimate(cost + call.args[0].extent.times(TRAVERSAL) if call.overload == "cidr_contains_ip_string" else cost)


def _contains_cidr(call: Given) -> Estimate | None:
    address = Range(4, 16)
    cost = (address + address).times(TRAVERSAL) + address.times(TRAVERSAL) + ONCE
    return Estimate(
        cost + call.args[0].extent.times(TRAVERSAL) if call.overload == "cidr_contains_cidr_string" else cost
    )


def _validated(call: Given) -> Estimate | None:
    return Estimate(call.args[0].extent.times(TRAVERSAL).times(128 * REGEX)) if call.args else None


def _equal(call: Given) -> Estimate | None:
    """Equality of what only Kubernetes has; all else is compared as any value is."""
    if call.args[0].type != call.args[1].type:
        return None
    match call.args[0].type.name:
        case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
            return _NOMINAL
        case "kubernetes.NamedFormat":
            return Estimate(Range(1, 64).times(TRAVERSAL))
        case "kubernetes.URL":
            size = call.args[1].size or ONCE
            return Estimate(Range(1, size.most).times(TRAVERSAL))
    return None


_ACCESSORS = (
    "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast",
    "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan",
    "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch", "getScheme", "getHostname", "getHost",
    "getPort", "getEscapedPath", "getQuery",
)  # fmt: skip
_BY_FUNCTION: Mapping[str, Estimator] = {
    **dict.fromkeys(_ACCESSORS, _nominal),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _over_list),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _read_text),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _changed_text),
    **dict.fromkeys(("find", "findAll"), _searched),
    "url": _read_url,
    "ip": _read_ip,
    "ip.isCanonical": _read_twice,
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validated,
    "_==_": _equal,
}


# The language's own functions, by their signatures. Here only the size that a node is known to have counts.


def _known(node: Node) -> Range:
    return node.size or ENDLESS


def _formatted(call: Given) -> Estimate | None:
    return None if call.target is None else Estimate(_known(call.target).times(TRAVERSAL))


def _to_bytes(call: Given) -> Estimate | None:
    size = _known(call.args[0])
    return Estimate(size.times(TRAVERSAL), Range(size.least, size.most * 4 % 2**64))


def _to_text(call: Given) -> Estimate | None:
    size = _known(call.args[0])
    return Estimate(size.times(TRAVERSAL), Range(size.least // 4, size.most))


def _quoted(call: Given) -> Estimate | None:
    size = _known(call.args[0])
    return Estimate(size.times(TRAVERSAL), Range(size.least + 2, (size.most * 2 + 2) % 2**64))


def _affix(call: Given) -> Estimate | None:
    return Estimate(_known(call.args[0]).times(TRAVERSAL))


def _in_list(call: Given) -> Estimate | None:
    return Estimate(_known(call.args[1]))


def _matched(call: Given) -> Estimate | None:
    if call.target is None:
        return None
    return Estimate((_known(call.target) + ONCE).times(TRAVERSAL) * _known(call.args[0]).times(REGEX))


def _contained(call: Given) -> Estimate | None:
    return (
        None
        if call.target is None
        else Estimate(_known(call.target).times(TRAVERSAL) * _known(call.args[0]).times(TRAVERSAL))
    )


def _added(call: Given) -> Estimate | None:
    size = _known(call.args[0]) + _known(call.args[1])
    return Estimate(ONCE if call.overload == "add_list" else size.times(TRAVERSAL), size)


def _compared(call: Given) -> Estimate | None:
    smaller = min(_known(call.args[0]).most, _known(call.args[1]).most)
    return Estimate(Range(min(smaller, 1), smaller).times(TRAVERSAL))


def _sets(factor: int) -> Estimator:
    return lambda call: Estimate((call.args[0].extent * call.args[1].extent).times(factor) + ONCE)


def _new_list(factor: float, size: Range) -> Estimate:
    return Estimate(size.times(factor) + ONCE + fixed(LIST_COST), size)


def _sliced(call: Given) -> Estimate | None:
    if call.target is None:
        return None
    start, end = _stated(call.args[0], 0), _stated(call.args[1], call.target.extent.most)
    return _new_list(1, fixed((end - start) % 2**64))


def _counted(call: Given) -> Estimate | None:
    return _new_list(1, fixed(_stated(call.args[0], MOST_UINT)))


def _reversed(call: Given) -> Estimate | None:
    return None if call.target is None else _new_list(1, call.target.extent)


def _flattened(call: Given) -> Estimate | None:
    if call.target is None:
        return None
    return _new_list(float(_stated(call.args[0], MOST_UINT)) if call.args else 1.0, call.target.extent)


def _distinct(call: Given) -> Estimate | None:
    return None if call.target is None else _new_list(2, call.target.extent * call.target.extent)


def _sorted(call: Given) -> Estimate | None:
    by = call.args[0] if call.args else call.target
    if by is None:
        return None
    factor = 2 + (TRAVERSAL if call.overload.startswith(("list_string", "list_bytes")) else 0)
    return _new_list(factor, by.extent * by.extent)


def _stated(node: Node, otherwise: int) -> int:
    if isinstance(node.expr, Literal) and type(node.expr.value) is int:
        return max(node.expr.value, 0)
    return otherwise


_ORDER = tuple(
    f"{name}_{type_}" for name in ("less", "less_equals", "greater", "greater_equals") for type_ in ("string", "bytes")
)
_EXTENSIONS: Mapping[str, Estimator] = {
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "list_slice": _sliced,
    "lists_range": _counted,
    "list_reverse": _reversed,
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "list_distinct": _distinct,
}
_BY_OVERLOAD: Mapping[str, Estimator] = {
    "string_format": _formatted,
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_text,
    "strings_quote": _quoted,
    "starts_with_string": _affix,
    "ends_with_string": _affix,
    "in_list": _in_list,
    "matches_string": _matched,
    "contains_string": _contained,
    **dict.fromkeys(("add_string", "add_bytes", "add_list"), _added),
    **dict.fromkeys((*_ORDER, "equals", "not_equals"), _compared),
}


def call_estimate(function: str, overload: str, target: Node | None, args: Sequence[Node]) -> Estimate:
    """The estimate for one signature of a function."""
    extension = _EXTENSIONS.get(overload)
    if extension is None and overload.endswith(("_sort", "_sortByAssociatedKeys")):
        extension = _sorted
    call = Given(overload, target, args)
    for estimator in (extension, _BY_FUNCTION.get(function), _BY_OVERLOAD.get(overload)):
        if estimator is not None and (found := estimator(call)) is not None:
            return found
    return _NOMINAL
