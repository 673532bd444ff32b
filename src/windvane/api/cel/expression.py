"""One expression from text to program: what is wrong with it, or how to run it and what it can cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from windvane.api.cel.compiler import Impossible, compile_expression
from windvane.api.cel.constants import constant_issues
from windvane.api.cel.cost.estimate import estimated_cost
from windvane.api.cel.declared_types import Declared, structs
from windvane.api.cel.grammar.parser import parse
from windvane.api.cel.grammar.source import NOWHERE, Issue, Source
from windvane.api.cel.grammar.syntax import Ident
from windvane.api.cel.library import FUNCTIONS
from windvane.api.cel.program import Program
from windvane.api.cel.type_checker import check
from windvane.api.cel.types import Type, optional_of
from windvane.api.cel.values import CompileError


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that can be run."""

    program: Program
    type: Type
    uses_old_self: bool
    most_cost: int


class Scope:
    """What expressions on one part of a schema can name: `self`, `oldSelf`, and all their fields."""

    def __init__(self, self_: Declared) -> None:
        self._self = self_
        self._structs = structs(self_)

    def compile(self, text: str, *, optional_old_self: bool = False) -> Expression:
        """Read, check and compile an expression; raises `CompileError`."""
        try:
            return self._compile(text, optional_old_self)
        except RecursionError:
            issue = Issue(NOWHERE, "max recursion depth exceeded")
            raise CompileError(f"compilation failed: {Source(text).report([issue])}") from None

    def _compile(self, text: str, optional_old_self: bool) -> Expression:
        tree, issues = parse(text)
        old = optional_of(self._self.type) if optional_old_self else self._self.type
        variables: Mapping[str, Type] = {"self": self._self.type, "oldSelf": old}
        issues = issues or check(tree, FUNCTIONS, variables, self._structs) or constant_issues(tree)
        if issues:
            raise CompileError(f"compilation failed: {Source(text).report(issues)}")
        try:
            program = compile_expression(
                tree, FUNCTIONS, self._self, self._structs, optional_old_self=optional_old_self
            )
        except Impossible as error:
            raise CompileError(f"program instantiation failed: {error}") from None
        uses_old_self = any(isinstance(each, Ident) and each.name == "oldSelf" for each in tree.all())
        return Expression(program, tree.type, uses_old_self, estimated_cost(tree, self._self))
