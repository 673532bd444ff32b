"""What expressions of policies and conditions see, what they may not say, and what they may cost."""

from typing import Any

import pytest

from windvane.api.cel.cost.call_costs import AUTHORIZATION
from windvane.api.cel.cost.limits import Deadline, TooMuch
from windvane.api.cel.library.authorization import Authorizer, Decision, Question, ResourceCheck
from windvane.cluster.apiserver.admission.policies.mutating_evaluator import _FIELDS, MutatingPolicy, PatchError
from windvane.cluster.apiserver.expressions import (
    BUDGET,
    Activation,
    ConditionError,
    MatchConditions,
    OutOfBudget,
    Scope,
)

GIVE_UP = 60.0
ROOM = 100_000
VARIABLES = [
    {"name": "replicas", "expression": "object.spec.replicas"},
    {"name": "many", "expression": "variables.replicas > 5"},
    {"name": "broken", "expression": "1 / 0 == 1"},
]


def ask(question: Question) -> Decision:
    return Decision(question.verb == "get" or question.account == ("default", "robot"), f"asked: {question.name}")


def given(**changes: Any) -> Activation:
    wire = {"metadata": {"name": "web"}, "spec": {"replicas": 7, "paused": None}}
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    about = {"resource": resource, "requestResource": resource, "operation": "CREATE", "name": "web"}
    request = {**about, "userInfo": {"username": "jane", "groups": ["a"]}}
    authorizer = Authorizer(ask)
    own = ResourceCheck(ask, Question(group="apps", resource="deployments", name="web"))
    known = {"object": wire, "old": None, "request": request, "authorizer": authorizer, "request_resource": own}
    return Activation(**{**known, **changes})


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas == 7",
        "oldObject == null",
        "params == null",
        "namespaceObject == null",
        "has(object.spec.paused) && object.spec.paused == null",
        "!has(object.status)",
        "request.operation == 'CREATE' && 'a' in request.userInfo.groups",
        "!has(request.namespace)",
        "variables.many",
        "authorizer.group('apps').resource('deployments').namespace('x').name('y').check('get').allowed()",
        "authorizer.requestResource.check('get').reason() == 'asked: web'",
        "!authorizer.requestResource.check('delete').allowed()",
        "authorizer.serviceAccount('default', 'robot').path('/healthz').check('post').allowed()",
    ],
)
def test_it_is_so(expression: str) -> None:
    scope = Scope(params=True, variables=VARIABLES)
    [result], _ = scope.evaluate([scope.compile(expression)], given(), BUDGET)
    assert (result.value, result.problem) == (True, "")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("object.spec.nothing == 1", "no such key: nothing"),
        ("oldObject.spec == 1", "no such key: spec"),
        ("variables.broken", 'composited variable "broken" fails to evaluate: division by zero'),
        ("authorizer.serviceAccount('default', '?').path('/').check('get').allowed()", "Invalid service account name"),
        ("authorizer.path(' ').check('get').allowed()", "path must not be empty"),
        ("authorizer.group('').resource('').check('get').allowed()", "resource must not be empty"),
    ],
)
def test_it_comes_to_nothing(expression: str, problem: str) -> None:
    scope = Scope(params=True, variables=VARIABLES)
    [result], _ = scope.evaluate([scope.compile(expression)], given(), BUDGET)
    assert result.problem == f"expression '{expression}' resulted in error: {problem}"


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("request.nothing == 1", "undefined field 'nothing'"),
        ("variables.nothing == 1", "undefined field 'nothing'"),
        ("params == 1", "undeclared reference to 'params' (in container '')"),
        ("variables.many == 1", "found no matching overload for '_==_' applied to '(bool, int)'"),
    ],
)
def test_it_can_not_be_said(expression: str, problem: str) -> None:
    assert problem in Scope(variables=VARIABLES).compile(expression).problem


def test_asking_the_authorizer_three_times_costs_too_much() -> None:
    expression = " && ".join(["authorizer.requestResource.check('get').allowed()"] * 3)
    scope = Scope()
    [result], _ = scope.evaluate([scope.compile(expression)], given(), BUDGET)
    assert result.problem.endswith("operation cancelled: actual cost limit exceeded")


def test_what_variables_cost_counts() -> None:
    variables = [{"name": "allowed", "expression": "authorizer.requestResource.check('get').allowed()"}]
    scope = Scope(variables=variables)
    asked = scope.compile("variables.allowed")
    _, left = scope.evaluate([asked, asked], given(), BUDGET)
    assert 350_000 < BUDGET - left < 351_000
    with pytest.raises(OutOfBudget):
        scope.evaluate([asked], given(), 300_000)


def test_no_more_variables_are_computed_than_the_budget_allows() -> None:
    asked: list[Question] = []

    def count(question: Question) -> Decision:
        asked.append(question)
        return ask(question)

    checks = [f"authorizer.path('/{index}').check('get').allowed()" for index in range(100)]
    scope = Scope(variables=[{"name": f"v{index}", "expression": check} for index, check in enumerate(checks)])
    everything = scope.compile(f"[{', '.join(f'variables.v{index}' for index in range(100))}].size() > 0")
    with pytest.raises(OutOfBudget):
        scope.evaluate([everything], given(authorizer=Authorizer(count)), BUDGET)
    assert len(asked) == BUDGET // AUTHORIZATION + 1


def test_thousands_of_variables_are_read_in_no_longer_than_a_request_has() -> None:
    with Deadline(GIVE_UP):  # if each were read with a copy of all others, that would not be enough
        Scope(variables=[{"name": f"v{index}", "expression": "1"} for index in range(6_000)])


def doubled(start: str, double: str) -> list[dict[str, str]]:
    """Variables `v0` to `v29`, each made of two of the one before."""
    made = [double.replace("it", f"variables.v{index}") for index in range(29)]
    return [{"name": f"v{index}", "expression": text} for index, text in enumerate([start, *made])]


@pytest.mark.parametrize(
    ("start", "double"), [("[1, 2]", "it + it"), ("'abcd'", "'%s%s'.format([it, it])"), ("[1]", "[it, it].flatten()")]
)
def test_variables_that_double_each_other_make_no_more_than_one_evaluation_may(start: str, double: str) -> None:
    scope = Scope(variables=doubled(start, double))
    with Deadline(GIVE_UP, ROOM):
        [result], _ = scope.evaluate([scope.compile("variables.v29.size() > 0")], given(), BUDGET)
    assert result.problem.endswith(str(TooMuch()))


@pytest.mark.parametrize(
    ("type_", "patch"),
    [
        ("ApplyConfiguration", "Object{data: variables.v29}"),
        ("ApplyConfiguration", f"Object{{data: [dyn(Object{{}})]{'.map(a, dyn([a, a]))' * 29}}}"),
        ("JSONPatch", "[JSONPatch{op: 'add', path: '/data', value: variables.v29}]"),
    ],
)
def test_a_patch_that_would_be_too_large_is_not_made(type_: str, patch: str) -> None:
    variables = doubled("[dyn(1), dyn(2)]", "[dyn(it), dyn(it)]")
    mutation = {"patchType": type_, _FIELDS[type_]: {"expression": patch}}
    policy = MutatingPolicy({"variables": variables, "mutations": [mutation]})
    with pytest.raises(PatchError, match=str(TooMuch())), Deadline(GIVE_UP, ROOM):
        policy.mutations[0](given(), None)


def conditions(*expressions: str) -> MatchConditions:
    return MatchConditions([{"name": f"n{index}", "expression": each} for index, each in enumerate(expressions)])


def test_conditions_are_met_if_all_are_true() -> None:
    assert conditions("object.spec.replicas == 7", "request.operation == 'CREATE'").met(given())
    assert conditions().met(given())


def test_one_false_condition_is_enough_even_if_another_comes_to_nothing() -> None:
    assert not conditions("object.nothing == 1", "request.operation == 'DELETE'").met(given())


def test_conditions_that_come_to_nothing_are_told() -> None:
    with pytest.raises(
        ConditionError, match=r"expression 'object\.nothing == 1' resulted in error: no such key: nothing"
    ):
        conditions("object.nothing == 1", "true").met(given())


def test_conditions_have_no_variables_outside_of_policies() -> None:
    with pytest.raises(ConditionError, match=r"compilation error: compilation failed: ERROR: <input>:1:1: undeclared"):
        conditions("variables.x == 1").met(given())
