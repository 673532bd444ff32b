"""Macros: calls that are rewritten as loops and tests before anything else looks at them.

All nodes that a macro makes are where its call is, so that messages about them point there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from windvane.api.cel.grammar.syntax import (
    ACCUMULATOR,
    UNUSED,
    Call,
    Expr,
    Ident,
    ListExpr,
    Literal,
    Loop,
    MapExpr,
    Missing,
    Select,
    copied,
)

Macro = Callable[[int, Expr | None, list[Expr]], Expr]
OVERWRITES = "iteration variable overwrites accumulator variable"


class MacroError(Exception):
    """Arguments that a macro can't be made of, and where they are."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def _name(of: Expr, otherwise: str) -> str:
    if not isinstance(of, Ident):
        raise MacroError(of.offset, otherwise)
    return of.name


def _variables(args: list[Expr], count: int, otherwise: str) -> tuple[str, str]:
    names = [_name(each, otherwise) for each in args[:count]]
    if count == 2 and names[0] == names[1]:
        raise MacroError(args[1].offset, f"duplicate variable name: {names[0]}")
    for name, each in zip(names, args, strict=False):
        if name in (ACCUMULATOR, "__result__"):
            raise MacroError(each.offset, OVERWRITES)
    return names[0], names[1] if count == 2 else ""


class _Factory:
    """Makes nodes at the place of one call."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def call(self, function: str, *args: Expr) -> Expr:
        return Call(self._offset, function, None, list(args))

    def method(self, function: str, target: Expr, *args: Expr) -> Expr:
        return Call(self._offset, function, target, list(args))

    def accu(self) -> Expr:
        return Ident(self._offset, ACCUMULATOR)

    def literal(self, value: bool | int) -> Expr:
        return Literal(self._offset, value)

    def list(self, *elements: Expr) -> Expr:
        return ListExpr(self._offset, list(elements))

    def named(self, name: str, value: Expr, result: Expr) -> Expr:
        """`result`, in which `name` is `value`."""
        step = Ident(self._offset, name)
        return Loop(self._offset, self.list(), UNUSED, "", name, value, self.literal(False), step, result)


def _has(offset: int, _: Expr | None, args: list[Expr]) -> Expr:
    if not isinstance(args[0], Select):
        raise MacroError(args[0].offset, "invalid argument to has() macro")
    return Select(offset, args[0].operand, args[0].field_name, test=True)


def _quantifier(kind: str, count: int) -> Macro:
    def expand(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
        var, var2 = _variables(args, count, "argument must be a simple name")
        make = _Factory(offset)
        predicate = args[count]
        if kind == "all":
            init = make.literal(True)
            condition = make.call("@not_strictly_false", make.accu())
            step = make.call("_&&_", make.accu(), predicate)
            result = make.accu()
        elif kind == "exists":
            init = make.literal(False)
            condition = make.call("@not_strictly_false", make.call("!_", make.accu()))
            step = make.call("_||_", make.accu(), predicate)
            result = make.accu()
        else:
            init = make.literal(0)
            condition = make.literal(True)
            more = make.call("_+_", make.accu(), make.literal(1))
            step = make.call("_?_:_", predicate, more, make.accu())
            result = make.call("_==_", make.accu(), make.literal(1))
        return Loop(offset, _range(target), var, var2, ACCUMULATOR, init, condition, step, result)

    return expand


def _range(target: Expr | None) -> Expr:
    return target if target is not None else Missing(0)


def _collecting(offset: int, target: Expr | None, names: tuple[str, str], init: Expr, step: Expr) -> Expr:
    make = _Factory(offset)
    condition = make.literal(True)
    return Loop(offset, _range(target), *names, ACCUMULATOR, init, condition, step, make.accu())


def _only_if(make: _Factory, predicate: Expr | None, step: Expr) -> Expr:
    return step if predicate is None else make.call("_?_:_", predicate, step, make.accu())


def _map(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    names = _variables(args, 1, "argument is not an identifier")
    make = _Factory(offset)
    step = make.call("_+_", make.accu(), make.list(args[-1]))
    predicate = args[1] if len(args) == 3 else None
    return _collecting(offset, target, names, make.list(), _only_if(make, predicate, step))


def _filter(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    names = _variables(args, 1, "argument is not an identifier")
    make = _Factory(offset)
    step = make.call("_+_", make.accu(), make.list(args[0]))
    return _collecting(offset, target, names, make.list(), _only_if(make, args[1], step))


def _transform_list(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    names = _variables(args, 2, "argument must be a simple name")
    make = _Factory(offset)
    step = make.call("_+_", make.accu(), make.list(args[-1]))
    predicate = args[2] if len(args) == 4 else None
    return _collecting(offset, target, names, make.list(), _only_if(make, predicate, step))


def _transform_map(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    names = _variables(args, 2, "argument must be a simple name")
    make = _Factory(offset)
    step = make.call("cel.@mapInsert", make.accu(), Ident(offset, names[0]), args[-1])
    predicate = args[2] if len(args) == 4 else None
    return _collecting(offset, target, names, MapExpr(offset, []), _only_if(make, predicate, step))


def _transform_entries(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    names = _variables(args, 2, "argument must be a simple name")
    make = _Factory(offset)
    step = make.call("cel.@mapInsert", make.accu(), args[-1])
    predicate = args[2] if len(args) == 4 else None
    return _collecting(offset, target, names, MapExpr(offset, []), _only_if(make, predicate, step))


def _optional(name: str, *, flat: bool) -> Macro:
    def expand(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
        variable = _name(args[0], f"{name}() variable name must be a simple identifier")
        make = _Factory(offset)
        value = make.method("value", copied(_range(target)))
        mapped = make.named(variable, value, args[1])
        there = mapped if flat else make.call("optional.of", mapped)
        return make.call("_?_:_", make.method("hasValue", _range(target)), there, make.call("optional.none"))

    return expand


def _sort_by(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    make = _Factory(offset)
    if not isinstance(target, ListExpr | Select | Ident | Loop | Call):
        why = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(_range(target).offset, why)
    name = "@__sortBy_input__"
    keys = _map(offset, Ident(offset, name), args)
    return make.named(name, target, make.method("@sortByAssociatedKeys", Ident(offset, name), keys))


def _bind(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return Call(offset, "bind", target, args)
    name = _name(args[0], "cel.bind() variable names must be simple identifiers")
    return _Factory(offset).named(name, args[1], args[2])


Macros = Mapping[tuple[str, int, bool], Macro]
MACROS: Macros = MappingProxyType(
    {
        ("has", 1, False): _has,
        **{
            (name, count + 1, True): _quantifier(name, count)
            for name in ("all", "exists", "exists_one")
            for count in (1, 2)
        },
        ("existsOne", 3, True): _quantifier("existsOne", 2),
        ("map", 2, True): _map,
        ("map", 3, True): _map,
        ("filter", 2, True): _filter,
        ("transformList", 3, True): _transform_list,
        ("transformList", 4, True): _transform_list,
        ("transformMap", 3, True): _transform_map,
        ("transformMap", 4, True): _transform_map,
        ("transformMapEntry", 3, True): _transform_entries,
        ("transformMapEntry", 4, True): _transform_entries,
        ("optMap", 2, True): _optional("optMap", flat=False),
        ("optFlatMap", 2, True): _optional("optFlatMap", flat=True),
        ("sortBy", 2, True): _sort_by,
    }
)
"""By name, number of arguments, and whether it is called on something."""
BINDINGS: Macros = MappingProxyType({("bind", 3, True): _bind})
"""`cel.bind(name, value, expression)`, which most expressions don't have."""
