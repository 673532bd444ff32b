"""What expressions cost: at most, by their schema, and when they run."""

import pytest

from unit.api.cel.rules_of import VALUE, compiled
from windvane.api.cel.admission import environment
from windvane.api.cel.environment import seen


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("self.count > 1", 3),
        ("self.text == 'hello'", 3),
        ("has(self.text)", 1),
        ("self.names.all(name, name == 'a')", 28),
        ("self.names.map(name, name).size() > 1", 80),
        ("self.endless.contains('abc')", 314575),
        ("self.text.matches('^[a-z]+$')", 20),
    ],
)
def test_an_expression_costs_at_most(text: str, cost: int) -> None:
    assert compiled(text).most_cost == cost


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("self.count > 1", 3),
        ("has(self.text)", 1),
        ("self.names.all(name, name == 'a')", 10),
        ("self.count == 7 ? self.text == 'hello' : self.count / 0 == 1", 6),
        ("self.count in [1, 7]", 2),
    ],
)
def test_an_evaluation_costs(text: str, cost: int) -> None:
    assert compiled(text).program.run(VALUE)[1] == cost


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("object.texts.join()", 4),
        ("object.texts.join(' and ')", 6),
        ("[].map(each, string(each)).join()", 1),
        ("object.number.join()", 3),
        ("object.mixed.join('')", 3),
        ("object.texts.join(object.number)", 5),
        ("object.texts.join(object.missing)", 5),
    ],
)
def test_a_text_is_priced_before_it_is_joined_and_what_comes_to_nothing_costs_one(text: str, cost: int) -> None:
    value = seen({"texts": ["abc", "d", "ef"], "number": 1, "mixed": ["a", 1]})
    assert environment().compile(text).run({"object": value})[1] == cost
