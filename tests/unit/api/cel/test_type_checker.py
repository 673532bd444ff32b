"""Checking types: what is refused before there is any object, and where."""

import pytest

from unit.api.cel.rules_of import compiled, problem


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("self.nothing == 1", 5, "undefined field 'nothing'"),
        ("self.text == 1", 11, "found no matching overload for '_==_' applied to '(string, int)'"),
        ("self.text.foo()", 14, "undeclared reference to 'foo' (in container '')"),
        ("self.text.size(1) == 1", 15, "found no matching overload for 'size' applied to 'string.(int)'"),
        ("self.text.x", 10, "type 'string' does not support field selection"),
        ("self.count.all(x, true)", 5, "expression of type 'int' cannot be range of a comprehension"),
        ("[1, 'a'] == []", 5, "expected type 'int' but found 'string'"),
        ("{'a': 1, 2: 3} == {}", 10, "expected type 'string' but found 'int'"),
        ("true && 1", 9, "expected type 'bool' but found 'int'"),
        ("'a'.matches('[')", 13, "invalid matches argument"),
        ("duration('x') == self.wait", 10, "invalid duration argument"),
        ("'%d'.format(['a']) == ''", 14, "error during formatting: decimal clause can only be used on integers"),
        ("'%s'.format([1, 2]) == ''", 12, "too many arguments supplied to string.format (expected 1, got 2)"),
        ("[?1] == [1]", 3, "expected type 'optional_type(int)' but found 'int'"),
    ],
)
def test_an_expression_makes_no_sense(text: str, column: int, message: str) -> None:
    assert problem(text).startswith(f"compilation failed: ERROR: <input>:1:{column}: {message}")


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("self.names.map(x, x.size())", "list(int)"),
        ("self.labels", "map(string, string)"),
        ("self.?text", "optional_type(string)"),
        ("self.target", "dyn"),
        ("self.when - self.when", "duration"),
        ("self.ports[0]", "selfType.ports.@idx"),
        ("self.count > 0 ? 1 : dyn('a')", "dyn"),
        ("[]", "list(dyn)"),
        ("type(1)", "type(int)"),
    ],
)
def test_an_expression_has_a_type(text: str, type_: str) -> None:
    assert str(compiled(text).type) == type_


def test_all_that_is_wrong_is_told_in_the_order_of_its_places() -> None:
    told = problem("self.nothing > 1 && foo(self.text) && self.count == 'a'").splitlines()[::3]
    assert [line.partition(":1:")[2].partition(":")[0] for line in told] == ["5", "24", "50"]


def test_constants_that_can_never_be_converted_are_refused() -> None:
    assert problem("int('abc') == 1") == "program instantiation failed: type conversion error from 'string' to 'int'"


def test_a_rule_knows_whether_it_compares_with_what_was() -> None:
    assert compiled("self == oldSelf").uses_old_self
    assert not compiled("self.text == 'a'").uses_old_self
