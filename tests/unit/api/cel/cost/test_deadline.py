"""Expressions that take long end at their deadline."""

from collections.abc import Callable
from typing import Any

import pytest

from windvane.api.cel.admission import environment
from windvane.api.cel.constants import constant_issues
from windvane.api.cel.cost.limits import Deadline, TakesLong
from windvane.api.cel.environment import seen
from windvane.api.cel.grammar.lexer import tokens
from windvane.api.cel.grammar.parser import parse
from windvane.api.cel.grammar.syntax import Expr
from windvane.api.cel.rules import rule_tree

ENVIRONMENT = environment()
SHORT = 0.005
NUMBERS = list(range(5_000))
ITEMS: dict[str, Any] = {"type": "array", "maxItems": 100_000, "items": {"type": "integer"}}


@pytest.mark.parametrize(
    "text",
    [
        "object.all(x, object.all(y, object == object))",
        "object.all(i, x, object.all(j, y, object == object))",
        "object.slice(0, 600).map(x, [x]).distinct().size() == 0",
        "object.all(x, sets.contains(object.slice(0, 900), object.slice(0, 900)))",
        "object.all(x, object.all(y, {'a': object} == {'a': object}))",
    ],
)
def test_an_evaluation_ends(text: str) -> None:
    expression = ENVIRONMENT.compile(text)
    with pytest.raises(TakesLong), Deadline(SHORT):
        expression.run({"object": seen(NUMBERS)})


def test_adding_a_set_to_a_set_ends() -> None:
    spec = {"type": "object", "properties": {"a": {**ITEMS, "x-kubernetes-list-type": "set"}}}
    rules = rule_tree({**spec, "x-kubernetes-validations": [{"rule": "(self.a + [-1]).size() > 0"}] * 99})
    assert rules is not None
    with pytest.raises(TakesLong), Deadline(SHORT):
        rules.judge({"a": NUMBERS * 4})


@pytest.mark.parametrize("call", ["matches('a.{900}c')", "matches('a.{9' + '00}c')", "findAll('a.{900}c') != []"])
def test_a_search_that_may_take_long_is_not_begun_in_haste(call: str) -> None:
    expression = ENVIRONMENT.compile(f"object.{call}")
    with pytest.raises(TakesLong), Deadline(SHORT):
        expression.run({"object": "ab" * 4_000})
    with Deadline(20):
        assert expression.run({"object": "ab" * 4_000})[0] is False


@pytest.mark.parametrize("read", [tokens, Expr.all, constant_issues])
def test_no_step_of_reading_an_expression_goes_on_and_on(read: Callable[[Any], Any]) -> None:
    text = "[" + "1, " * 1_000 + "1]"
    given = text if read is tokens else parse(text)[0]
    with pytest.raises(TakesLong), Deadline(0):
        list(read(given))


def test_reading_an_expression_ends() -> None:
    with pytest.raises(TakesLong), Deadline(0):
        ENVIRONMENT.compile("[" + "1, " * 1_000 + "1]")


@pytest.mark.parametrize("text", ["lists.range(1000000000000).size() > 0", "object.distinct().size() > 0"])
def test_a_call_that_nobody_can_afford_is_not_made(text: str) -> None:
    result, cost = ENVIRONMENT.compile(text).run({"object": seen(list(range(200_000)))})
    assert str(result) == "operation cancelled: actual cost limit exceeded"
    assert cost > 1_000_000
