"""From a checked tree to a Python function, made once and then called for every object.

Each node becomes a closure over the closures below it. What a node always costs is not counted when it runs: it is
added up here, and counted where the way is clear, at the start of a branch or of a round of a loop.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from windvane.api.cel.closures import (
    FIRST_FREE,
    OLD_SELF,
    SELF,
    Step,
    alternative,
    calling,
    comparing,
    conditional,
    constant,
    field_of,
    has_field,
    has_selected,
    in_set,
    lazy,
    listing,
    logical,
    making,
    mapping,
    matching,
    maybe_old,
    not_strictly_false,
    optionally,
    own_field,
    plain_list,
    raw_field,
    raw_of,
    reading,
    same_text,
    selected,
    unequal,
    variable,
)
from windvane.api.cel.cost.call_costs import EQUALITY, LIST_COST, MAP_COST, MEMBERSHIP, OBJECT_COST, Price, price_of
from windvane.api.cel.cost.limits import tick
from windvane.api.cel.declared_types import Declared, has_nullable_entries
from windvane.api.cel.functions import Functions, Overload, dispatched
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
from windvane.api.cel.library import lists, operators
from windvane.api.cel.library.operators import contained, index
from windvane.api.cel.library.optionals import optional_find
from windvane.api.cel.loops import Frame, Run, binding, collecting, counting_on, quantifying, rounds
from windvane.api.cel.program import DynamicProgram, Program
from windvane.api.cel.types import Type, is_optional
from windvane.api.cel.values import (
    CelError,
    TypeValue,
    equal,
)
from windvane.api.openapi.patterns import Pattern, PatternError, pattern

_CONVERSIONS = frozenset({"bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"})
_ORDERS = {"_<_": lt, "_<=_": le, "_>_": gt, "_>=_": ge}
_PARSERS = frozenset({"quantity", "semver", "ip", "cidr", "url"})
_SEARCHES = frozenset({"matches", "find", "findAll"})


class Impossible(Exception):
    """A constant part of the expression has no value, so that it can never run."""


def compile_expression(
    expr: Expr, functions: Functions, self_: Declared, structs: Mapping[str, Declared], *, optional_old_self: bool
) -> Program:
    """Make a program of a checked tree; raises `Impossible`."""
    compiler = _Compiler(functions, self_, structs, optional_old_self)
    step = compiler.step(expr)
    return Program(step, compiler.size)


def compile_dynamic(expr: Expr, functions: Functions, variables: Sequence[str]) -> DynamicProgram:
    """Make a program of a checked tree that looks at every value before it believes its type; raises `Impossible`."""
    compiler = _Compiler(functions, None, {}, optional_old_self=False)
    compiler.declare(variables)
    step = compiler.step(expr)
    return DynamicProgram(step, compiler.size)


class _Compiler:
    def __init__(
        self, functions: Functions, self_: Declared | None, structs: Mapping[str, Declared], optional_old_self: bool
    ) -> None:
        self.size = FIRST_FREE
        self._functions = functions
        self._self = self_
        self._structs = structs
        self._optional_old_self = optional_old_self
        # Where null may turn up, no value is taken for what its type says before it was looked at.
        self._trusts_types = self_ is not None and not has_nullable_entries(self_)
        self._slots: dict[str, tuple[int, Step | None]] = {}

    def declare(self, variables: Sequence[str]) -> None:
        """Keep the first places in the frame for these."""
        for name in variables:
            self._slot(name)

    def step(self, expr: Expr) -> Step:
        """The step of a node."""
        tick()
        match expr:
            case Literal():
                return constant(expr.value)
            case Ident():
                return self._ident(expr)
            case Select():
                return self._test(expr) if expr.test else self._select(expr)
            case Call():
                return self._call(expr)
            case ListExpr():
                return self._list(expr)
            case MapExpr():
                return self._map(expr)
            case Struct():
                return self._object(expr)
            case Loop():
                return self._loop(expr)
        raise Impossible("unexpected expression")

    # Names and paths.

    def _ident(self, expr: Ident) -> Step:
        if expr.name in self._slots:
            slot, init = self._slots[expr.name]
            return Step(variable(slot) if init is None else lazy(slot, init), 1, is_path=True, own=1)
        if expr.name == "self" and self._self is not None:
            return Step(reading(SELF, self._self), 1, is_path=True, own=1)
        if expr.name == "oldSelf" and self._self is not None:
            run = reading(OLD_SELF, self._self)
            return Step(maybe_old(run) if self._optional_old_self else run, 1, is_path=True, own=1)
        return _type_named(expr.name)

    def _select(self, expr: Select) -> Step:
        if expr.type_name:
            return _type_named(expr.type_name)
        if expr.variable:
            return self._ident(Ident(expr.offset, expr.variable))
        operand = self.step(expr.operand)
        cost = operand.cost + 1 + (not operand.is_path)
        own = operand.own if operand.is_path else 1
        declared = self._struct(expr.operand)
        if declared is not None and declared.fields is not None:
            field, key = declared.fields[expr.field_name], declared.wire_names[expr.field_name]
            raw = self._raw(expr.operand) or raw_of(operand.run)
            is_self = isinstance(expr.operand, Ident) and expr.operand.name == "self" and "self" not in self._slots
            run = own_field(key, expr.field_name, field) if is_self else field_of(raw, key, expr.field_name, field)
            return Step(run, cost, is_path=True, own=own)
        return Step(selected(operand.run, expr.field_name), cost, is_path=True, own=own)

    def _struct(self, expr: Expr) -> Declared | None:
        """What the schema declares of an object, if it is one."""
        return self._structs.get(expr.type.name) if expr.type.kind == "struct" else None

    def _raw(self, expr: Expr) -> Run | None:
        """How to get at the JSON of an object without making a value of it, if it is part of self or oldSelf."""
        if isinstance(expr, Ident) and expr.name not in self._slots:
            if expr.name == "self":
                return variable(SELF)
            if expr.name == "oldSelf" and not self._optional_old_self:
                return variable(OLD_SELF)
        if isinstance(expr, Select) and not expr.test and (declared := self._struct(expr.operand)) is not None:
            outer = self._raw(expr.operand)
            if outer is not None:
                return raw_field(outer, declared.wire_names[expr.field_name], expr.field_name)
        return None

    def _test(self, expr: Select) -> Step:
        operand = self.step(expr.operand)
        cost = operand.cost - operand.own + 1 if operand.is_path else operand.cost + 1
        if (declared := self._struct(expr.operand)) is not None:
            raw = self._raw(expr.operand) or raw_of(operand.run)
            return Step(has_field(raw, declared.wire_names[expr.field_name]), cost, is_path=True)
        return Step(has_selected(operand.run, expr.field_name), cost, is_path=True)

    # Calls.

    def _call(self, expr: Call) -> Step:
        match expr.function:
            case "_&&_" | "_||_":
                return logical(self.step(expr.args[0]), self.step(expr.args[1]), expr.function == "_||_")
            case "_?_:_":
                return conditional(*(self.step(each) for each in expr.args))
            case "_?._" | "_[?_]":
                return self._optional_index(expr)
            case "_[_]":
                return self._index(expr)
            case "or" | "orValue" if expr.target is not None:
                return alternative(self.step(expr.target), self.step(expr.args[0]), expr.function == "orValue")
            case "@in" if expr.overloads == ["in_list"]:
                return self._membership(expr)
            case "_==_" | "_!=_":
                return self._equality(expr)
            case "@not_strictly_false":
                return not_strictly_false(self.step(expr.args[0]))
        return self._function(expr)

    def _function(self, expr: Call) -> Step:
        steps = [self.step(each) for each in expr.operands]
        known: Pattern | None = None
        if expr.function in _SEARCHES and steps[1].constant and type(steps[1].value) is str:
            try:
                known = pattern(steps[1].value)
            except PatternError as error:
                raise Impossible(str(error)) from None
        run: Callable[..., Any] = self._implementation(expr)
        if known is not None and expr.function == "matches":
            run = matching(known)
        if expr.function in _CONVERSIONS and len(steps) == 1 and steps[0].constant:
            try:
                return constant(run(steps[0].value))
            except CelError as error:
                raise Impossible(str(error)) from None
        price = price_of(expr.function, expr.overloads)
        cost = sum(each.cost for each in steps) + (price is None)
        ints = expr.function in _ORDERS and all(each.type.kind == "int" for each in expr.args)
        if ints and self._trusts_types:
            return Step(comparing(steps[0], steps[1], _ORDERS[expr.function]), cost)
        if expr.function in _PARSERS and steps[0].constant and (parsed := _called(run, steps, price)) is not None:
            return parsed
        runs = [each.run for each in steps]
        return Step(counting_on(runs, run, price) if price is not None else calling(runs, run), cost)

    def _implementation(self, expr: Call) -> Callable[..., Any]:
        """The one Python function that is meant, or one that looks at the arguments to find out."""
        named = self._functions[expr.function]
        meant = [each for each in named if each.id in expr.overloads and each.member == (expr.target is not None)]
        if expr.function in operators.FUNCTIONS or expr.function in lists.UNGUARDED:
            return meant[0].run
        if len(meant) != 1:
            return dispatched(expr.function, [each for each in named if each.member == (expr.target is not None)])
        if not self._trusts_types or _needs_guard(meant[0], [each.type for each in expr.operands]):
            return dispatched(expr.function, meant)
        return meant[0].run

    def _equality(self, expr: Call) -> Step:
        left, right = (self.step(each) for each in expr.args)
        kinds = {each.type.kind for each in expr.args}
        cost = left.cost + right.cost
        wanted = expr.function == "_==_"
        if self._trusts_types and len(kinds) == 1 and kinds <= {"int", "bool", "uint"}:
            return Step(comparing(left, right, eq if wanted else ne), cost + 1)
        if self._trusts_types and kinds == {"string"}:
            return Step(same_text(left, right, wanted), cost)
        test = equal if wanted else unequal
        return Step(counting_on([left.run, right.run], test, EQUALITY[expr.function]), cost)

    def _membership(self, expr: Call) -> Step:
        value, among = (self.step(each) for each in expr.args)
        if among.constant:
            found = among.value
            if not found:
                return constant(False)
            if all(type(each) in (str, int, bool, float) or isinstance(each, int) for each in found):
                kind = expr.args[0].type.kind
                if kind in ("string", "int") and {type(each) for each in found} <= {str, int}:
                    return Step(in_set(value.run, frozenset(found)), value.cost)
                return Step(calling([value.run, among.run], contained), value.cost)
        return Step(counting_on([value.run, among.run], contained, MEMBERSHIP), value.cost + among.cost)

    def _index(self, expr: Call) -> Step:
        target, at = (self.step(each) for each in expr.args)
        cost = target.cost + (not target.is_path) + 1 + at.cost - (at.own if at.is_path else 0)
        own = target.own if target.is_path else 1
        run = optional_find if is_optional(expr.args[0].type) else index
        return Step(calling([target.run, at.run], run), cost, is_path=True, own=own)

    def _optional_index(self, expr: Call) -> Step:
        target, at = (self.step(each) for each in expr.args)
        cost = target.cost + (not target.is_path) + at.cost - (at.own if at.is_path else 0)
        own = target.own if target.is_path else 1
        return Step(optionally(target.run, at.run), cost, is_path=True, own=own)

    # Lists, maps and loops.

    def _list(self, expr: ListExpr) -> Step:
        steps = [self.step(each) for each in expr.elements]
        if not expr.optional and all(each.constant for each in steps):
            return constant([each.value for each in steps])
        runs = [each.run for each in steps]
        cost = sum(each.cost for each in steps) + LIST_COST
        return Step(listing(runs, expr.optional) if expr.optional else plain_list(runs), cost)

    def _map(self, expr: MapExpr) -> Step:
        pairs = [(self.step(each.key), self.step(each.value), each.optional) for each in expr.entries]
        cost = sum(key.cost + value.cost for key, value, _ in pairs)
        run = mapping([(key.run, value.run, optional) for key, value, optional in pairs])
        if all(key.constant and value.constant for key, value, _ in pairs):
            return constant(run([0]))
        return Step(run, cost + MAP_COST)

    def _object(self, expr: Struct) -> Step:
        steps = [(name, self.step(value)) for _, name, value in expr.fields]
        fields = [(name, step.run, index in expr.optional) for index, (name, step) in enumerate(steps)]
        return Step(making(expr.name, fields), sum(step.cost for _, step in steps) + OBJECT_COST)

    def _loop(self, expr: Loop) -> Step:
        before = dict(self._slots)
        try:
            return self._binding(expr) if expr.is_binding else self._iteration(expr)
        finally:
            self._slots = before

    def _slot(self, name: str, init: Step | None = None) -> int:
        slot = self.size
        self.size += 1
        self._slots[name] = (slot, init)
        return slot

    def _binding(self, expr: Loop) -> Step:
        init = self.step(expr.init)
        slot = self._slot(expr.accu, init)
        result = self.step(expr.result)
        return Step(binding(slot, result.run), result.cost)

    def _iteration(self, expr: Loop) -> Step:
        over, init = self.step(expr.range), self.step(expr.init)
        accu = self._slot(expr.accu)
        outside = dict(self._slots)
        first = self._slot(expr.var)
        second = self._slot(expr.var2) if expr.var2 else 0
        step = expr.step
        if isinstance(step, Call) and step.function in ("_&&_", "_||_") and _is_accu(step.args[0]):
            predicate = self.step(step.args[1])
            condition = 2 if step.function == "_&&_" else 3
            run = quantifying(
                over.run, (first, second), predicate.run, step.function == "_||_", condition, predicate.cost + 1
            )
            return Step(run, over.cost + 1)
        if (parts := _collected(step)) is not None:
            predicate_expr, element_expr = parts
            test = self.step(predicate_expr) if predicate_expr is not None else None
            element = self.step(element_expr)
            price = element.cost + 2 + (0 if element.constant else LIST_COST)
            run = collecting(over.run, (first, second), test, element.run, price)
            return Step(run, over.cost + 1)
        stepping = self.step(step)
        self._slots = outside
        result = self.step(expr.result)

        def loop(frame: Frame) -> Any:
            frame[accu] = init.run(frame)
            for _ in rounds(frame, over.run(frame), (first, second), stepping.cost):
                frame[accu] = stepping.run(frame)
            frame[0] += result.cost
            return result.run(frame)

        return Step(loop, over.cost)


def _called(run: Callable[..., Any], steps: list[Step], price: Price | None) -> Step | None:
    """A call of constants, made once; it costs what it would cost each time."""
    if not all(each.constant for each in steps):
        return None
    args = [each.value for each in steps]
    try:
        value = run(*args)
    except CelError:
        return None  # it may not matter: something beside it may decide
    return Step(lambda _: value, price(args, value) if price is not None else 1)


def _is_accu(expr: Expr) -> bool:
    return isinstance(expr, Ident) and expr.name == ACCUMULATOR


def _collected(step: Expr) -> tuple[Expr | None, Expr] | None:
    """What a loop that builds a list tests, if it does, and adds to it."""
    predicate: Expr | None = None
    if isinstance(step, Call) and step.function == "_?_:_" and _is_accu(step.args[2]):
        predicate, step = step.args[0], step.args[1]
    if isinstance(step, Call) and step.function == "_+_" and _is_accu(step.args[0]):
        added = step.args[1]
        if isinstance(added, ListExpr) and len(added.elements) == 1 and not added.optional:
            return predicate, added.elements[0]
    return None


def _needs_guard(overload: Overload, given: list[Type]) -> bool:
    return any(_unsure(wanted, found) for wanted, found in zip(overload.arguments, given, strict=True))


def _unsure(wanted: Type, given: Type) -> bool:
    """Whether values of a type need a look before they are taken for what is wanted."""
    if wanted.kind in ("dyn", "parameter"):
        return False
    if given.kind in ("dyn", "error", "null"):
        return True
    return any(map(_unsure, wanted.parameters, given.parameters))


def _type_named(name: str) -> Step:
    return constant(TypeValue(name))
