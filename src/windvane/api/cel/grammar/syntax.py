"""Expressions as trees. Macros such as `all` and `map` are already loops here.

The checker writes the type of every node, and the overloads that a call may mean, into the tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from windvane.api.cel.cost.limits import tick
from windvane.api.cel.types import DYN, Type

ACCUMULATOR = "@result"
UNUSED = "#unused"


@dataclass(slots=True, eq=False)
class Expr:
    """Any node; `offset` is where the source has its most telling character: the operator, the dot, the bracket."""

    offset: int
    type: Type = field(default=DYN, init=False)

    def below(self) -> Iterator["Expr"]:
        """The nodes right below this one."""
        yield from ()

    def all(self) -> Iterator["Expr"]:
        """This node and all below it."""
        tick()
        yield self
        for each in self.below():
            yield from each.all()


@dataclass(slots=True, eq=False)
class Missing(Expr):
    """Stands where the text could not be read."""


@dataclass(slots=True, eq=False)
class Literal(Expr):
    """A value that is written out."""

    value: Any


@dataclass(slots=True, eq=False)
class Ident(Expr):
    """A name."""

    name: str


@dataclass(slots=True, eq=False)
class Select(Expr):
    """`operand.field`, or with `test` whether that is there: `has(operand.field)`."""

    operand: Expr
    field_name: str
    test: bool = False
    type_name: str = field(default="", init=False)
    """The type that this names, if it is no field at all, such as `google.protobuf.Duration`."""
    variable: str = field(default="", init=False)
    """The variable with dots in its name that this is, such as `authorizer.requestResource`."""

    def below(self) -> Iterator[Expr]:
        yield self.operand


@dataclass(slots=True, eq=False)
class Call(Expr):
    """`function(args)`, `target.function(args)`, or an operator, which is a function called `_+_` or the like."""

    function: str
    target: Expr | None
    args: list[Expr]
    overloads: list[str] = field(default_factory=list, init=False)

    def below(self) -> Iterator[Expr]:
        if self.target is not None:
            yield self.target
        yield from self.args

    @property
    def operands(self) -> list[Expr]:
        """The target, if there is one, and the arguments."""
        return [*([self.target] if self.target is not None else []), *self.args]


@dataclass(slots=True, eq=False)
class ListExpr(Expr):
    """`[a, ?b]`; `optional` has the indices of those that may be absent."""

    elements: list[Expr]
    optional: set[int] = field(default_factory=set)

    def below(self) -> Iterator[Expr]:
        yield from self.elements


@dataclass(slots=True, eq=False)
class MapEntry:
    """`key: value` in a map."""

    offset: int
    key: Expr
    value: Expr
    optional: bool


@dataclass(slots=True, eq=False)
class MapExpr(Expr):
    """`{key: value}`."""

    entries: list[MapEntry]

    def below(self) -> Iterator[Expr]:
        for entry in self.entries:
            yield entry.key
            yield entry.value


@dataclass(slots=True, eq=False)
class Struct(Expr):
    """`some.Type{field: value}`, which only patches of admission policies have a type for.

    `optional` has the indices of the fields that may be absent.
    """

    name: str
    fields: list[tuple[int, str, Expr]]
    optional: set[int] = field(default_factory=set)

    def below(self) -> Iterator[Expr]:
        for _, _, value in self.fields:
            yield value


@dataclass(slots=True, eq=False)
class Loop(Expr):
    """What a macro over a list or map becomes: `accu` starts as `init` and is `step` after each item.

    With an empty range and a condition that is false it only gives a name to `init`, which is then computed when the
    name is first used.
    """

    range: Expr
    var: str
    var2: str
    accu: str
    init: Expr
    condition: Expr
    step: Expr
    result: Expr

    def below(self) -> Iterator[Expr]:
        yield from (self.range, self.init, self.condition, self.step, self.result)

    @property
    def is_binding(self) -> bool:
        """Whether this only names a value."""
        empty = isinstance(self.range, ListExpr) and not self.range.elements
        never = isinstance(self.condition, Literal) and self.condition.value is False
        return empty and never and self.accu != ACCUMULATOR


def copied(expr: Expr) -> Expr:
    """The same expression again, for a macro that needs it twice."""
    match expr:
        case Literal():
            return Literal(expr.offset, expr.value)
        case Ident():
            return Ident(expr.offset, expr.name)
        case Select():
            return Select(expr.offset, copied(expr.operand), expr.field_name, expr.test)
        case Call():
            target = copied(expr.target) if expr.target is not None else None
            return Call(expr.offset, expr.function, target, [copied(each) for each in expr.args])
        case ListExpr():
            return ListExpr(expr.offset, [copied(each) for each in expr.elements], set(expr.optional))
        case MapExpr():
            entries = [MapEntry(e.offset, copied(e.key), copied(e.value), e.optional) for e in expr.entries]
            return MapExpr(expr.offset, entries)
        case Struct():
            fields = [(at, name, copied(value)) for at, name, value in expr.fields]
            return Struct(expr.offset, expr.name, fields, set(expr.optional))
        case Loop():
            parts = (copied(part) for part in (expr.init, expr.condition, expr.step, expr.result))
            return Loop(expr.offset, copied(expr.range), expr.var, expr.var2, expr.accu, *parts)
    return Missing(expr.offset)
