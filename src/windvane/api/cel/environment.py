"""Expressions over several variables, as admission has them: most are JSON that nothing is known about beforehand."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windvane.api.cel.compiler import Impossible, compile_dynamic
from windvane.api.cel.constants import constant_issues
from windvane.api.cel.cost.limits import PER_CALL_LIMIT, TooExpensive
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.functions import Functions
from windvane.api.cel.grammar.parser import parse
from windvane.api.cel.grammar.source import NOWHERE, Issue, Source
from windvane.api.cel.grammar.syntax import Expr
from windvane.api.cel.library import FUNCTIONS
from windvane.api.cel.program import DynamicProgram
from windvane.api.cel.type_checker import Constructible, check
from windvane.api.cel.types import DYN, Type, struct
from windvane.api.cel.values import ABSENT, CelError, CompileError, MapValue

LIMIT_EXCEEDED = "operation cancelled: actual cost limit exceeded"


@dataclass(frozen=True, slots=True)
class Environment:
    """What expressions can name: variables with their types, and the fields of those types that have some."""

    variables: Mapping[str, Type]
    structs: Mapping[str, Declared] = field(default_factory=dict)
    constructible: Constructible = lambda _: None
    functions: Functions = field(default_factory=lambda: FUNCTIONS)

    def compile(self, text: str, *returned: Type) -> "DynamicExpression":
        """Read, check and compile an expression that must come to one of these types, or any if there are none.

        Raises `CompileError`.
        """
        try:
            return self._compile(text, returned)
        except RecursionError:
            issue = Issue(NOWHERE, "max recursion depth exceeded")
            raise CompileError(f"compilation failed: {Source(text).report([issue])}") from None

    def check(self, text: str) -> tuple[Type, str]:
        """The type of what an expression comes to, and what is wrong with it, if anything is."""
        try:
            tree, issues = self._checked(text)
        except RecursionError:
            return DYN, Source(text).report([Issue(NOWHERE, "max recursion depth exceeded")])
        return (DYN, Source(text).report(issues)) if issues else (tree.type, "")

    def _checked(self, text: str) -> tuple[Expr, list[Issue]]:
        tree, issues = parse(text)
        found = issues or check(tree, self.functions, self.variables, self.structs, self.constructible)
        return tree, found or constant_issues(tree)

    def _compile(self, text: str, returned: Sequence[Type]) -> "DynamicExpression":
        tree, issues = self._checked(text)
        if issues:
            raise CompileError(f"compilation failed: {Source(text).report(issues)}")
        if returned and tree.type not in returned:
            one = len(returned) == 1
            wanted = _shown(returned[0]) if one else f"one of [{' '.join(map(_shown, returned))}]"
            raise CompileError(f"must evaluate to {wanted} but got {_shown(tree.type)}")
        try:
            program = compile_dynamic(tree, self.functions, list(self.variables))
        except Impossible as error:
            raise CompileError(f"program instantiation failed: {error}") from None
        return DynamicExpression(text, program, tree.type, tuple(self.variables))


def _shown(type_: Type) -> str:
    """A type as the server writes it outside of the messages of its checker."""
    if not type_.parameters:
        return type_.name
    return f"{type_.name}({', '.join(map(_shown, type_.parameters))})"


@dataclass(frozen=True, slots=True)
class DynamicExpression:
    """An expression that can be run."""

    text: str
    program: DynamicProgram
    type: Type
    variables: Sequence[str]

    def run(self, values: Mapping[str, Any]) -> tuple[Any, int]:
        """What it comes to for these values of its variables, maybe a CelError, and what that cost."""
        try:
            result, cost = self.program.run([values.get(name) for name in self.variables])
        except TooExpensive as error:
            return CelError(LIMIT_EXCEEDED), error.cost
        return (result, cost) if cost <= PER_CALL_LIMIT else (CelError(LIMIT_EXCEEDED), cost)


def seen(raw: Any) -> Any:
    """JSON as expressions see it."""
    if type(raw) is dict:
        return JsonMap(raw)
    if type(raw) is list:
        return [seen(each) for each in raw]
    return raw


class JsonMap(MapValue):
    """An object of which nothing is known beforehand. A field that is null is there."""

    __slots__ = ("_seen", "raw")

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self._seen: dict[str, Any] = {}  # lists and maps, made once: a loop may ask for one in each round, and keep it

    def find(self, key: Any) -> Any:
        if type(key) is not str:
            return ABSENT
        value = self.raw.get(key, ABSENT)
        if type(value) is not list and type(value) is not dict:
            return value
        if (known := self._seen.get(key)) is None:
            known = self._seen[key] = seen(value)
        return known

    def keys(self) -> list[Any]:
        return list(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


class LazyMap(MapValue):
    """A map whose values are computed when they are first asked for; what has no value has none each time."""

    __slots__ = ("_compute", "_known", "_names")

    def __init__(self, names: Collection[str], compute: Callable[[str], Any]) -> None:
        """`compute` may raise a CelError."""
        self._names = names
        self._compute = compute
        self._known: dict[str, Any] = {}

    def find(self, key: Any) -> Any:
        if key not in self._names:
            return ABSENT
        if key not in self._known:
            try:
                self._known[key] = self._compute(key)
            except CelError as error:
                self._known[key] = error
        value = self._known[key]
        if isinstance(value, CelError):
            raise CelError(str(value))
        return value

    def keys(self) -> list[Any]:
        return list(self._names)

    def __len__(self) -> int:
        return len(self._names)


def object_type(name: str, fields: Mapping[str, Declared]) -> Declared:
    """A type with these fields, which expressions call by `name`."""
    return Declared(struct(name), 0, 2, {}, False, fields=fields, wire_names={each: each for each in fields})
