"""What an expression can cost at most, judged by the sizes that its schema allows.

The server refuses a rule that could be too expensive before there is any object. So this follows its reckoning to the
unit: what it doesn't know the size of is endless, and what depends on that costs endlessly much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from windvane.api.cel.cost.call_costs import LIST_COST, MAP_COST
from windvane.api.cel.cost.limits import tick
from windvane.api.cel.cost.ranges import ENDLESS, FREE, ONCE, Range, fixed
from windvane.api.cel.cost.signature_costs import Node, call_estimate
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.grammar.syntax import (
    ACCUMULATOR,
    Call,
    Expr,
    Ident,
    ListExpr,
    Literal,
    Loop,
    MapExpr,
    Select,
    Struct,
)
from windvane.api.cel.types import Type, is_optional

Path = tuple[str, ...]

_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_STRUCT_COST = 40


class _Entries(NamedTuple):
    """How large the keys and the values in a list or map are."""

    kind: str
    key: Range
    value: Range


@dataclass(slots=True)
class _Local:
    """What is known of a variable of a loop."""

    path: Path
    size: Range | None
    entries: _Entries | None


def estimated_cost(expr: Expr, self_: Declared) -> int:
    """The most that a checked expression can cost."""
    return _Estimator(self_).cost(expr).most


class _Estimator:
    def __init__(self, self_: Declared) -> None:
        self._self = self_
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, expr: Expr) -> Range:
        """The cost of a node and all below it."""
        tick()
        match expr:
            case Ident():
                self._paths[id(expr)] = self._path(expr) or (expr.name,)
                return ONCE
            case Select():
                return self._select(expr)
            case Call():
                return self._call(expr)
            case ListExpr():
                return self._list(expr)
            case MapExpr():
                return self._map(expr)
            case Struct():
                return sum((self.cost(value) for _, _, value in expr.fields), fixed(_STRUCT_COST))
            case Loop():
                return self._binding(expr) if expr.is_binding else self._loop(expr)
        return FREE

    # Sizes, and where in the schema a value comes from.

    def _path(self, expr: Expr) -> Path:
        if isinstance(expr, Ident) and (known := self._locals.get(expr.name)):
            return known[-1].path
        return self._paths.get(id(expr), ())

    def _size(self, expr: Expr) -> Range | None:
        if (known := self._sizes.get(id(expr))) is not None:
            return known
        if (stated := _stated_size(expr)) is not None:
            return stated
        if (declared := self.declared_size(self._path(expr))) is not None:
            self._sizes[id(expr)] = declared
            return declared
        if _is_scalar(expr.type):
            return ONCE
        if isinstance(expr, Ident) and (local := self._locals.get(expr.name)):
            return local[-1].size
        return None

    def _size_or_endless(self, expr: Expr) -> Range:
        return self._size(expr) or ENDLESS

    def declared_size(self, path: Path) -> Range | None:
        """How large the schema lets a part of self be."""
        if not path:
            return None
        at: Declared | None = self._self
        for step in path[1:]:
            if at is None:
                return None
            if step in ("@items", "@values"):
                at = at.items
            elif step == "@keys":
                at = at.keys
            else:
                at = (at.fields or {}).get(step)
        return None if at is None else Range(0, at.most)

    def _entries_of(self, expr: Expr) -> _Entries | None:
        if (known := self._entries.get(id(expr))) is not None:
            return known
        if isinstance(expr, Ident) and (local := self._locals.get(expr.name)):
            return local[-1].entries
        return None

    def _node(self, expr: Expr) -> Node:
        path = self._path(expr)
        if path and path[0] in (ACCUMULATOR, "__result__"):
            path = ()
        return Node(expr, expr.type, path, self._size(expr), self.declared_size)

    # Costs.

    def _select(self, expr: Select) -> Range:
        if expr.type_name:
            self._paths[id(expr)] = (expr.type_name,)
            return ONCE
        cost = self.cost(expr.operand)
        if expr.test:
            return cost
        self._paths[id(expr)] = (*self._path(expr.operand), expr.field_name)
        return cost + ONCE if expr.operand.type.kind in ("map", "struct", "parameter") else cost

    def _call(self, expr: Call) -> Range:
        if expr.function == "dyn":
            cost = self.cost(expr.args[0])
            self._copy_sizes(expr, expr.args[0])
            return cost + ONCE
        costs = [self.cost(arg) for arg in expr.args]
        nodes = [self._node(arg) for arg in expr.args]
        if not expr.overloads:
            return FREE
        total, target = FREE, None
        if expr.target is not None:
            total, target = self.cost(expr.target), self._node(expr.target)
        most, least = 0, ENDLESS.most
        result: Range | None = None
        for overload in expr.overloads:
            cost, size = self._signature(expr, overload, target, nodes, costs)
            least, most = min(least, cost.least), max(most, cost.most)
            if size is not None:
                result = size if result is None else result.union(size)
            if overload in ("index_list", "index_map"):
                entries = self._entries_of(expr.args[0])
                result = entries.value if entries is not None else None
                step = "@items" if overload == "index_list" else "@values"
                self._paths[id(expr)] = (*self._path(expr.args[0]), step)
            if result is None:
                result = self._size(expr)
        if result is not None:
            self._sizes[id(expr)] = result
        return total + Range(least, most)

    def _signature(
        self, expr: Call, overload: str, target: Node | None, args: list[Node], costs: list[Range]
    ) -> tuple[Range, Range | None]:
        """The cost of a call by one of its signatures, and the size of what comes of it."""
        if overload in ("logical_or", "logical_and"):
            return Range(costs[0].least, (costs[0] + costs[1]).most), None
        if overload == "conditional":
            then, otherwise = expr.args[1:]
            one, other = self._entries_of(then), self._entries_of(otherwise)
            self._set_entries(expr, _united(one, other))
            size = (args[1].size or ENDLESS).union(args[2].size or ENDLESS)
            return costs[0] + costs[1].union(costs[2]), size
        if overload in ("add_string", "add_bytes", "add_list"):
            self._set_entries(expr, _united(self._entries_of(expr.args[0]), self._entries_of(expr.args[1])))
        estimate = call_estimate(expr.function, overload, target, args)
        return sum(costs, estimate.cost), estimate.size

    def _copy_sizes(self, to: Expr, from_: Expr) -> None:
        if (size := self._size(from_)) is not None:
            self._sizes[id(to)] = size
        self._set_entries(to, self._entries_of(from_))

    def _set_entries(self, expr: Expr, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[id(expr)] = entries

    def _list(self, expr: ListExpr) -> Range:
        cost = fixed(LIST_COST)
        for element in expr.elements:
            cost += self.cost(element)
        sizes = [self._size_or_endless(element) for element in expr.elements]
        self._entries[id(expr)] = _Entries("list", ONCE, _union_all(sizes))
        return cost

    def _map(self, expr: MapExpr) -> Range:
        cost = fixed(MAP_COST)
        for entry in expr.entries:
            cost = cost + self.cost(entry.key) + self.cost(entry.value)
        keys = _union_all([self._size_or_endless(entry.key) for entry in expr.entries])
        values = _union_all([self._size_or_endless(entry.value) for entry in expr.entries])
        self._entries[id(expr)] = _Entries("map", keys, values)
        return cost

    def _binding(self, expr: Loop) -> Range:
        cost = self.cost(expr.range) + self.cost(expr.init)
        self._push(expr.accu, _Local(self._path(expr.init), self._size(expr.init), self._entries_of(expr.init)))
        cost += self.cost(expr.result)
        self._pop(expr.accu)
        self._copy_sizes(expr, expr.result)
        return cost

    def _loop(self, expr: Loop) -> Range:
        cost = self.cost(expr.range) + self.cost(expr.init)
        self._push(expr.accu, _Local(self._path(expr.init), self._size(expr.init), self._entries_of(expr.init)))
        self._push_variables(expr)
        each = self.cost(expr.condition) + self.cost(expr.step)
        for name in (expr.var, expr.var2):
            if name:
                self._pop(name)
        cost += self.cost(expr.result)
        self._pop(expr.accu)
        rounds = self._size_or_endless(expr.range)
        if isinstance(expr.init, Literal):
            if (size := self._size(expr.init)) is not None:
                self._sizes[id(expr)] = size
        elif isinstance(expr.init, ListExpr | MapExpr):
            self._sizes[id(expr)] = rounds
            self._set_entries(expr, self._entries_of(expr.step))
        return cost + rounds * each

    def _push_variables(self, expr: Loop) -> None:
        entries, path = self._entries_of(expr.range), self._path(expr.range)
        over_list = (entries.kind if entries is not None else expr.range.type.kind) == "list"
        key = _Local((*path, "@indices" if over_list else "@keys"), entries.key if entries else None, None)
        value = _Local((*path, "@items" if over_list else "@values"), entries.value if entries else None, None)
        if expr.var2:
            self._push(expr.var, key)
            self._push(expr.var2, value)
        else:
            self._push(expr.var, value if over_list else key)

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _pop(self, name: str) -> None:
        self._locals[name].pop()


def _stated_size(expr: Expr) -> Range | None:
    """The size of what is written out."""
    if isinstance(expr, Literal):
        return fixed(len(expr.value)) if isinstance(expr.value, str | bytes) else ONCE
    if isinstance(expr, ListExpr):
        return fixed(len(expr.elements))
    return fixed(len(expr.entries)) if isinstance(expr, MapExpr) else None


def _is_scalar(type_: Type) -> bool:
    return type_.kind in _SCALARS or (is_optional(type_) and _is_scalar(type_.parameters[0]))


def _union_all(sizes: Sequence[Range]) -> Range:
    if not sizes:
        return FREE
    return Range(min(each.least for each in sizes), max(each.most for each in sizes))


def _united(one: _Entries | None, other: _Entries | None) -> _Entries | None:
    if one is None or other is None:
        return None
    return _Entries(one.kind, one.key.union(other.key), one.value.union(other.value))
