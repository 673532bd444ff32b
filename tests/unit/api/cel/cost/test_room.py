"""What one evaluation may make: memory that costs next to nothing is bounded all the same."""

from typing import Any

import pytest

from windvane.api.cel.admission import environment
from windvane.api.cel.cost.limits import MOST_MADE, Deadline, TakesLong
from windvane.api.cel.environment import seen
from windvane.api.cel.rules import RULES, RuleTree, rule_tree
from windvane.api.cel.values import Optional

ENVIRONMENT = environment()
PATIENT, HASTY = 20.0, 0.005
ROOM = 100_000
TEXT = "ab," * 500
OBJECT: dict[str, Any] = {"list": list(range(1_000)), "text": TEXT, "url": f"/{TEXT}ä?{TEXT.replace(',', '&')}"}
WHY = f"operation cancelled: lists and strings of more than {MOST_MADE} bytes were made"


def again(expression: str) -> str:
    """A list of what an expression makes, a hundred times."""
    return f"lists.range(100).map(i, {expression}).size() > 0"


@pytest.mark.parametrize(
    "made",
    [
        "object.list + object.list",
        "object.text + object.text",
        "[object.list, object.list].flatten()",
        "[?optional.of(1)] + object.list",
        "'%s'.format([object.text])",
        "'%s'.format([[object.text]])",
        "'%s'.format([object.list])",
        "'%.1000f'.format([1.0]) + '%.1000f'.format([1.0])",
        "'aaa'.replace('a', object.text)",
        "'aaaa'.replace('a', object.text, 3)",
        "object.text.split(',')",
        "object.text.split('')",
        "object.text.findAll('..')",
        "url(object.url).getQuery()",
        "url(object.url).getEscapedPath()",
    ],
)
def test_an_evaluation_that_makes_too_much_is_refused(made: str) -> None:
    expression = ENVIRONMENT.compile(again(made))
    with Deadline(PATIENT, ROOM):
        result, _ = expression.run({"object": seen(OBJECT)})
    assert str(result) == WHY


def test_unwrapping_takes_room_too() -> None:
    expression = ENVIRONMENT.compile("lists.range(100).map(i, optional.unwrap(object)).size() > 0")
    with Deadline(PATIENT, ROOM):
        result, _ = expression.run({"object": [Optional(1)] * 1_000})
    assert str(result) == WHY


def test_nothing_beside_it_can_make_up_for_that() -> None:
    expression = ENVIRONMENT.compile(f"true || {again('object.list + object.list')}")
    other = ENVIRONMENT.compile(f"{again('object.list + object.list')} || true")
    with Deadline(PATIENT, ROOM):
        assert expression.run({"object": seen(OBJECT)})[0] is True
        assert str(other.run({"object": seen(OBJECT)})[0]) == WHY


def test_what_costs_too_much_is_told_as_that_first() -> None:
    expression = ENVIRONMENT.compile("object.list.map(i, object.list.map(j, object.text).join()).size() > 0")
    with Deadline(PATIENT, ROOM):
        result, cost = expression.run({"object": seen(OBJECT)})
    assert str(result) == "operation cancelled: actual cost limit exceeded"
    assert cost > 1_000_000


def test_what_would_take_too_long_to_make_is_not_begun() -> None:
    expression = ENVIRONMENT.compile("'aaaaaaaaaa'.replace('a', object).size() > 0")
    with pytest.raises(TakesLong), Deadline(HASTY):
        expression.run({"object": "x" * 1_000_000})


def rules(rule: str, times: int) -> RuleTree:
    """The same rule some times, for a list `a` of numbers."""
    numbers = {"type": "array", "items": {"type": "integer"}, "maxItems": 10_000}
    found = rule_tree({"type": "object", "properties": {"a": {**numbers, RULES: [{"rule": rule}] * times}}})
    assert found is not None
    return found


def test_each_rule_may_make_as_much_as_any() -> None:
    with Deadline(PATIENT, ROOM):
        assert rules("(self + self).size() > 0", 9).judge({"a": [1] * 3_000}).causes == []


def test_a_rule_that_makes_too_much_is_told_of() -> None:
    with Deadline(PATIENT, ROOM):
        [cause] = rules("(self + self).size() > 0", 1).judge({"a": [1] * 9_000}).causes
    assert cause.field == "a"
    assert cause.message.startswith(f'Invalid value: "array": {WHY} evaluating rule: ')


def test_a_list_in_an_object_is_made_once() -> None:
    expression = ENVIRONMENT.compile("[object.a.b, object.a.b]")
    [one, other], _ = expression.run({"object": seen({"a": {"b": [1]}})})
    assert one is other
