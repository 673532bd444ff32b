"""CEL expressions of policies and of webhooks' matchConditions: compiled once, by a `Scope`, and run within a budget.

An `Activation` has the values of their variables for one request.
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
from windvane.api.json_value import Wire

BUDGET = 10_000_000
"""The cost limit of all validations of a policy, for one request, binding and parameter."""
CONDITIONS_BUDGET = 2_500_000
"""The cost limit of matchConditions."""
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


PATCHES = {"ApplyConfiguration": OBJECT, "JSONPatch": list_of(JSON_PATCH)}
"""The result types of expressions, by `patchType`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """The variables of expressions about one request."""

    object: Wire | None
    old: Wire | None
    request: Wire
    params: Wire | None = None
    namespace: Wire | None = None
    authorizer: AuthorizerValue | None = None
    request_resource: ResourceCheck | None = None


class OutOfBudget(Exception):
    """Expressions exceed their cost limit."""

    def __init__(self) -> None:
        super().__init__(OUT_OF_BUDGET)


class ConditionError(Exception):
    """It is unknown whether conditions are met: none is false, but some have failed."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled expression, or its error."""

    text: str
    expression: DynamicExpression | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The value of an expression, or its error."""

    value: Any = None
    problem: str = ""


@dataclass
class Scope:
    """The declared variables of one policy; `params` only if it has parameters. Webhooks declare none of their own."""

    params: bool = False
    variables: Sequence[Wire] | None = None
    _compiled: dict[str, Compiled] = field(default_factory=dict, init=False)
    _declared: dict[str, Declared] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for each in self.variables or ():
            self.add(each.get("name", ""), each.get("expression", ""))

    def add(self, name: str, text: str) -> Compiled:
        """Declare a variable for the expressions that are compiled after it."""
        self._compiled[name] = compiled = self.compile(text)
        self._declared[name] = variable(compiled.expression.type if compiled.expression else DYN)
        return compiled

    def compile(self, text: str, *returned: Type, authorizer: bool = True) -> Compiled:
        """Compile an expression whose result must be of one of these types."""
        try:
            return Compiled(text, self.environment(authorizer=authorizer).compile(text, *returned))
        except CompileError as error:
            return Compiled(text, problem=str(error))

    def compile_patch(self, text: str, returned: Type) -> Compiled:
        """Compile an expression that makes a patch."""
        environment = replace(self.environment(), constructible=constructible, functions=PATCH_FUNCTIONS)
        try:
            return Compiled(text, environment.compile(text, returned))
        except CompileError as error:
            return Compiled(text, problem=str(error))

    def environment(self, *, authorizer: bool = True) -> Environment:
        """All variables with their types."""
        return environment(
            params=DYN if self.params else None,
            authorizer=authorizer,
            variables=self._declared if self.variables is not None else None,
        )

    def evaluate(self, compiled: Sequence[Compiled | None], given: Activation, budget: int) -> tuple[list[Result], int]:
        """The results of expressions, and how much is left of the budget; raises `OutOfBudget`.

        A variable is evaluated when an expression first uses it.
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
    """The values of variables during an evaluation, and what is left of the budget."""

    def __init__(self, variables: Mapping[str, Compiled], given: Activation, budget: int) -> None:
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
        """Subtract a cost from the budget; raises `OutOfBudget`."""
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

    def met(self, given: Activation) -> bool:
        """Whether all are true; raises `ConditionError` if none is false, but some have failed."""
        if not self._compiled:
            return True
        # As on a real server, they see no namespace, and not that the version is another than requested.
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
