"""The type checker: which types the parts of an expression have, which signatures its calls mean, and what is wrong."""

from collections.abc import Callable, Mapping

from windvane.api.cel.cost.limits import tick
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.functions import Functions, Overload
from windvane.api.cel.grammar.source import Issue
from windvane.api.cel.grammar.syntax import (
    Call,
    Expr,
    Ident,
    ListExpr,
    Literal,
    Loop,
    MapEntry,
    MapExpr,
    Select,
    Struct,
)
from windvane.api.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TYPE_NAMES,
    UINT,
    Type,
    Unifier,
    instantiated,
    is_dyn,
    is_optional,
    list_of,
    map_of,
    more_general,
    optional_of,
    type_of,
    without_optional,
)
from windvane.api.cel.values import Uint

_LITERALS: Mapping[type, Type] = {
    bool: BOOL, int: INT, Uint: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL,
}  # fmt: skip


Constructible = Callable[[str], Declared | None]
"""The type of that name, if objects of it can be made by expressions."""


def check(
    expr: Expr,
    functions: Functions,
    variables: Mapping[str, Type],
    structs: Mapping[str, Declared],
    constructible: Constructible = lambda _: None,
) -> list[Issue]:
    """Write types and overloads into a tree; says what is wrong. `structs` are the objects, by the names of types."""
    checker = _Checker(functions, variables, structs, constructible)
    checker.visit(expr)
    for each in expr.all():
        each.type = checker.unifier.resolved(each.type, unknown=DYN)
    return checker.issues


class _Checker:
    def __init__(
        self,
        functions: Functions,
        variables: Mapping[str, Type],
        structs: Mapping[str, Declared],
        constructible: Constructible,
    ) -> None:
        self.unifier = Unifier()
        self.issues: list[Issue] = []
        self._functions = functions
        self._scopes: list[Mapping[str, Type]] = [variables]
        self._structs = structs
        self._constructible = constructible

    def visit(self, expr: Expr) -> Type:
        """Find the type of a node, after those of the nodes below it."""
        tick()
        match expr:
            case Literal():
                expr.type = _LITERALS[type(expr.value)]
            case Ident():
                expr.type = self._ident(expr)
            case Select():
                expr.type = self._select(expr)
            case Call():
                expr.type = self._call(expr)
            case ListExpr():
                expr.type = self._list(expr)
            case MapExpr():
                expr.type = self._map(expr)
            case Struct():
                expr.type = self._struct(expr)
            case Loop():
                expr.type = self._loop(expr)
        return expr.type

    def _issue(self, at: Expr, message: str) -> Type:
        self.issues.append(Issue(at.offset, message))
        return ERROR

    def _undeclared(self, at: Expr, name: str) -> Type:
        return self._issue(at, f"undeclared reference to '{name}' (in container '')")

    def _lookup(self, name: str) -> Type | None:
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name in TYPE_NAMES:
            return type_of(TYPE_NAMES[name])
        made = self._constructible(name)
        return type_of(made.type) if made is not None else None

    def _ident(self, expr: Ident) -> Type:
        found = self._lookup(expr.name)
        if found is None:
            return self._undeclared(expr, expr.name)
        expr.name = expr.name.removeprefix(".")
        return found

    def _select(self, expr: Select) -> Type:
        name = qualified_name(expr)
        if name is not None and name in TYPE_NAMES:
            expr.type_name = name
            return type_of(TYPE_NAMES[name])
        if name is not None and not expr.test and (variable := self._lookup(name)) is not None:
            expr.variable = name.removeprefix(".")
            return variable
        found = self._field(expr, expr.operand, expr.field_name, optional=False)
        return BOOL if expr.test else self.unifier.resolved(found)

    def _field(self, at: Expr, operand: Expr, name: str, *, optional: bool) -> Type:
        operand_type = self.unifier.resolved(self.visit(operand))
        target = without_optional(operand_type)
        found = ERROR
        if target.kind == "map":
            found = target.parameters[1]
        elif target.kind == "struct":
            found = self._field_type(at.offset, target.name, name)
        elif target.kind == "parameter":
            self.unifier.assignable(DYN, target)
            found = DYN
        else:
            if target.kind not in ("dyn", "error"):
                self._issue(at, f"type '{target}' does not support field selection")
            found = DYN
        return optional_of(found) if optional or is_optional(operand_type) else found

    def _field_type(self, offset: int, struct: str, name: str) -> Type:
        declared = self._structs.get(struct) or self._constructible(struct)
        fields = declared.fields if declared is not None else None
        if fields is None:
            self.issues.append(Issue(offset, f"unexpected failed resolution of '{struct}'"))
        elif name not in fields:
            self.issues.append(Issue(offset, f"undefined field '{name}'"))
        else:
            return fields[name].type
        return ERROR

    def _call(self, expr: Call) -> Type:
        if expr.function == "_?._":
            name = expr.args[1]
            field = name.value if isinstance(name, Literal) else ""
            expr.args[1].type = STRING
            expr.overloads = ["select_optional_field"]
            return self.unifier.resolved(self._field(expr, expr.args[0], field, optional=True))
        for arg in expr.args:
            self.visit(arg)
        if expr.target is not None:
            prefix = qualified_name(expr.target)
            if prefix is not None and f"{prefix}.{expr.function}" in self._functions:
                # It is a function with a dot in its name, such as optional.of, and no call on something.
                expr.function, expr.target = f"{prefix}.{expr.function}", None
            else:
                self.visit(expr.target)
        overloads = self._functions.get(expr.function.removeprefix("."))
        if overloads is None:
            return self._undeclared(expr, expr.function)
        expr.function = expr.function.removeprefix(".")
        return self._resolve(expr, overloads)

    def _resolve(self, expr: Call, overloads: tuple[Overload, ...]) -> Type:
        given = [each.type for each in expr.operands]
        if expr.function in ("_&&_", "_||_"):
            return self._logical(expr, overloads[0])
        result: Type | None = None
        for overload in overloads:
            if overload.member != (expr.target is not None):
                continue
            wanted, returned = self._signature(overload)
            if not self.unifier.all_assignable(given, wanted):
                continue
            expr.overloads.append(overload.id)
            returned = self.unifier.resolved(returned)
            if result is None:
                result = returned
            elif not is_dyn(result) and result != returned:
                result = DYN
        if result is not None:
            return result
        shown = [str(self.unifier.resolved(each, unknown=DYN)) for each in given]
        signature = f"({', '.join(shown)})" if expr.target is None else f"{shown[0]}.({', '.join(shown[1:])})"
        return self._issue(expr, f"found no matching overload for '{expr.function}' applied to '{signature}'")

    def _signature(self, overload: Overload) -> tuple[list[Type], Type]:
        *wanted, returned = instantiated((*overload.arguments, overload.result), self.unifier)
        return wanted, returned

    def _logical(self, expr: Call, overload: Overload) -> Type:
        expr.overloads = [overload.id]
        wrong = [arg for arg in expr.args if not self.unifier.assignable(arg.type, BOOL)]
        for arg in wrong:
            self._mismatch(arg, BOOL, arg.type)
        return ERROR if wrong else BOOL

    def _mismatch(self, at: Expr, expected: Type, found: Type) -> Type:
        return self._issue(at, f"expected type '{expected}' but found '{found}'")

    def _joined(self, before: Type | None, now: Type) -> Type:
        if before is None:
            return now
        if self.unifier.assignable(before, now):
            return more_general(before, now)
        return DYN  # which may still be refused, see `constants`

    def _unwrapped(self, at: Expr) -> Type:
        """The type of what is in an optional entry."""
        if not is_optional(at.type) and not is_dyn(at.type):
            self._mismatch(at, optional_of(at.type), at.type)
        return without_optional(at.type)

    def _list(self, expr: ListExpr) -> Type:
        items: Type | None = None
        for index, element in enumerate(expr.elements):
            found = self.visit(element)
            if index in expr.optional:
                found = self._unwrapped(element)
            items = self._joined(items, found)
        return list_of(items or self.unifier.fresh())

    def _map(self, expr: MapExpr) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in expr.entries:
            keys = self._joined(keys, self.visit(entry.key))
            values = self._joined(values, self._entry_value(entry))
        if keys is None or values is None:
            return map_of(self.unifier.fresh(), self.unifier.fresh())
        return map_of(keys, values)

    def _entry_value(self, entry: MapEntry) -> Type:
        found = self.visit(entry.value)
        return self._unwrapped(entry.value) if entry.optional else found

    def _struct(self, expr: Struct) -> Type:
        found = self._lookup(expr.name)
        if found is None:
            return self._undeclared(expr, expr.name)
        if found.kind != "type":
            return self._issue(expr, f"'{found}' is not a type")
        made = found.parameters[0]
        if made.kind != "struct":
            return self._issue(expr, f"'{made.name}' is not a message type")
        expr.name = made.name
        for index, (offset, name, value) in enumerate(expr.fields):
            given = self.visit(value)
            if index in expr.optional:
                given = self._unwrapped(value)
            wanted = self._field_type(offset, made.name, name)
            if not self.unifier.assignable(wanted, given):
                why = f"expected type of field '{name}' is '{wanted}' but provided type is '{given}'"
                self.issues.append(Issue(offset, why))
        return made

    def _loop(self, expr: Loop) -> Type:
        self.visit(expr.range)
        accu = self.visit(expr.init)
        first, second = self._iterated(expr, self.unifier.resolved(expr.range.type))
        self._scopes.append({expr.accu: accu})
        self._scopes.append({expr.var: first, **({expr.var2: second} if expr.var2 else {})})
        for part, wanted in ((expr.condition, BOOL), (expr.step, accu)):
            self.visit(part)
            if not self.unifier.assignable(wanted, part.type):
                self._mismatch(part, wanted, part.type)
        self._scopes.pop()
        self.visit(expr.result)
        self._scopes.pop()
        return self.unifier.resolved(expr.result.type)

    def _iterated(self, expr: Loop, over: Type) -> tuple[Type, Type]:
        """The types of the variables of a loop."""
        if over.kind == "list":
            return (INT, over.parameters[0]) if expr.var2 else (over.parameters[0], ERROR)
        if over.kind == "map":
            return over.parameters[0], over.parameters[1]
        if over.kind in ("dyn", "error", "parameter") and over != ANY:
            self.unifier.assignable(DYN, over)
            return DYN, DYN
        why = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self._issue(expr.range, why)
        return ERROR, ERROR


def qualified_name(expr: Expr) -> str | None:
    """`a.b.c`, if an expression is nothing but names."""
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test and (prefix := qualified_name(expr.operand)) is not None:
        return f"{prefix}.{expr.field_name}"
    return None
