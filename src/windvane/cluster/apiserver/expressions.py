"""The expressions of policies and of webhooks' conditions: compiled once, by a `Scope`, and run within a budget.

What they can name is gathered in `Inputs` for each request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from windvane.api.cel.admission import environment, variable
from windvane.api.cel.cost.limits import begin
from windvane.api.cel.declared_types import Declared
from windvane.api.cel.environment import DynamicExpression, Environment, LazyMap, seen
from windvane.api.cel.library.authorization import Authorizer as AuthorizerValue
from windvane.api.cel.library.authorization import ResourceCheck
from windvane.api.cel.patches import JSON_PATCH, OBJECT, PATCH_FUNCTIONS, constructible
from windvane.api.cel.types import BOOL, DYN, Type, list_of
from windvane.api.cel.values import CelError, CompileError

Wire = dict[str, Any]

BUDGET = 10_000_000
"""What all validations of a policy may cost for one request, one binding and one parameter."""
CONDITIONS_BUDGET = 2_500_000
"""The same for conditions."""
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


PATCHES = {"ApplyConfiguration": OBJECT, "JSONPatch": list_of(JSON_PATCH)}
"""What expressions of each `patchType` have to make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that the expressions about one request can name."""

    object: Wire | None
    old: Wire | None
    request: Wire
    params: Wire | None = None
    namespace: Wire | None = None
    authorizer: AuthorizerValue | None = None
    request_resource: ResourceCheck | None = None


class OutOfBudget(Exception):
    """Expressions cost more than they may."""

    def __init__(self) -> None:
        super().__init__(OUT_OF_BUDGET)


class ConditionError(Exception):
    """It can't be said whether conditions are met: none is false, but some came to nothing."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression, or why there is none."""

    text: str
    expression: DynamicExpression | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What an expression came to; or why it came to nothing."""

    value: Any = None
    problem: str = ""


@dataclass
class Scope:
    """What the expressions of one policy can name; `params` if it has parameters. Webhooks have no variables."""

    params: bool = False
    variables: Sequence[Wire] | None = None
    _compiled: dict[str, Compiled] = field(default_factory=dict, init=False)
    _declared: dict[str, Declared] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for each in self.variables or ():
            self.add(each.get("name", ""), each.get("expression", ""))

    def add(self, name: str, text: str) -> Compiled:
        """A variable, which the expressions that are compiled from now on can name."""
        self._compiled[name] = compiled = self.compile(text)
        self._declared[name] = variable(compiled.expression.type if compiled.expression else DYN)
        return compiled

    def compile(self, text: str, *returned: Type, authorizer: bool = True) -> Compiled:
        """An expression that has to come to one of these types."""
        try:
            return Compiled(text, self.environment(authorizer=authorizer).compile(text, *returned))
        except CompileError as error:
            return Compiled(text, problem=str(error))

    def compile_patch(self, text: str, returned: Type) -> Compiled:
        """An expression that makes what is to change an object."""
        environment = replace(self.environment(), constructible=constructible, functions=PATCH_FUNCTIONS)
        try:
            return Compiled(text, environment.compile(text, returned))
        except CompileError as error:
            return Compiled(text, problem=str(error))

    def environment(self, *, authorizer: bool = True) -> Environment:
        """All names with their types."""
        return environment(
            params=DYN if self.params else None,
            authorizer=authorizer,
            variables=self._declared if self.variables is not None else None,
        )

    def evaluate(self, compiled: Sequence[Compiled | None], given: Inputs, budget: int) -> tuple[list[Result], int]:
        """What expressions come to, and how much is left of the budget; raises `OutOfBudget`.

        What a variable comes to is found out when the first of them asks for it.
        """
        begin()
        evaluation = _Evaluation(self._compiled, given, budget)
        results: list[Result] = []
        for each in compiled:
            if each is None or each.expression is None:
                results.append(Result(problem=f"compilation error: {each.problem}" if each is not None else ""))
                continue
            value, cost = each.expression.run(evaluation.values)
            evaluation.spend(cost)
            if isinstance(value, CelError):
                results.append(Result(problem=f"expression '{each.text}' resulted in error: {value}"))
            else:
                results.append(Result(value))
        return results, evaluation.budget


class _Evaluation:
    """The values of names while expressions are run, and what is left of the budget."""

    def __init__(self, variables: Mapping[str, Compiled], given: Inputs, budget: int) -> None:
        self.budget = budget
        self._variables = variables
        self.values: dict[str, Any] = {
            "object": seen(given.object),
            "oldObject": seen(given.old),
            "namespaceObject": seen(given.namespace),
            "request": seen(given.request),
            "params": seen(given.params),
            "authorizer": given.authorizer,
            "authorizer.requestResource": given.request_resource,
            "variables": LazyMap(variables, self._compute),
        }

    def spend(self, cost: int) -> None:
        """Take a cost from the budget; raises `OutOfBudget` if that is more than there is."""
        self.budget -= cost
        if self.budget < 0:
            raise OutOfBudget

    def _compute(self, name: str) -> Any:
        compiled = self._variables[name]
        if compiled.expression is None:
            raise CelError(f'composited variable "{name}" fails to compile: {compiled.problem}')
        value, cost = compiled.expression.run(self.values)
        self.spend(cost)
        if isinstance(value, CelError):
            raise CelError(f'composited variable "{name}" fails to evaluate: {value}')
        return value


@dataclass
class MatchConditions:
    """The `matchConditions` of a webhook or a policy."""

    conditions: Sequence[Wire]
    scope: Scope = field(default_factory=Scope)
    _compiled: list[Compiled] = field(init=False)

    def __post_init__(self) -> None:
        self._compiled = [self.scope.compile(each.get("expression", ""), BOOL) for each in self.conditions]

    def met(self, given: Inputs) -> bool:
        """Whether none is false; raises `ConditionError` if none is, but some came to nothing."""
        if not self._compiled:
            return True
        # As a real server has it, they are not told about the namespace, nor that another version is meant.
        request = {**given.request, "resource": given.request["requestResource"]}
        given = replace(given, namespace=None, request=request)
        try:
            results, _ = self.scope.evaluate(self._compiled, given, CONDITIONS_BUDGET)
        except OutOfBudget as error:
            raise ConditionError(str(error)) from error
        if any(not each.problem and each.value is False for each in results):
            return False
        if problems := list(dict.fromkeys(each.problem for each in results if each.problem)):
            raise ConditionError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
        return True
