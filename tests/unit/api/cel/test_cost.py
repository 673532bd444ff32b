"""What expressions cost: at most, by their schema, and when they run."""

import pytest

from unit.api.cel.rules_of import VALUE, compiled


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
