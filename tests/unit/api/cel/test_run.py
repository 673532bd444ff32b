"""Running expressions."""

import pytest

from unit.api.cel.rules_of import VALUE, compiled, run, scope
from windvane.api.cel.cost.limits import TooExpensive
from windvane.api.cel.values import CelError


@pytest.mark.parametrize(
    "text",
    [
        "self.text == 'hello' && self.count > 5",
        "self.ratio == 2.0",
        "self.names.all(name, name.size() == 1)",
        "self.names.exists(name, name == 'a')",
        "self.names.exists_one(name, name == 'a')",
        "self.names.map(name, name + '!') == ['b!', 'a!']",
        "self.names.filter(name, name > 'a') == ['b']",
        "self.names.all(i, name, i < 2 && name != '')",
        "self.names.transformMap(i, name, name + 'x') == {0: 'bx', 1: 'ax'}",
        "self.names.sortBy(name, name) == ['a', 'b']",
        "self.labels.all(key, self.labels[key] == 'v')",
        "self.tags == ['y', 'x']",
        "self.tags + ['y', 'z'] == ['x', 'y', 'z']",
        "self.ports == [self.ports[1], self.ports[0]]",
        "self.ports.filter(port, port.port < 60).map(port, port.name) == ['dns']",
        "type(self.target) == string && self.target.endsWith('%')",
        "self.when < timestamp('2024-03-01T00:00:00Z') && self.when.getHours('+01:00') == 14",
        "self.wait == duration('90m') && self.wait.getMinutes() == 90",
        "self.data == b'hello' && string(self.data) == 'hello'",
        "self.a__dash__b == 1 && self.__namespace__ == 'ns'",
        "has(self.text) && !has(self.endless)",
        "self.?endless.orValue('none') == 'none'",
        "self.?text.optMap(text, text.size()).orValue(0) == 5",
        "self.labels[?'nothing'].or(self.labels[?'k']).value() == 'v'",
        "'%s has %d at %.1f'.format([self.text, self.count, self.ratio]) == 'hello has 7 at 2.0'",
        "dyn(1) == dyn(1.0) && dyn(1) != dyn('1')",
        "quantity('1Gi').isGreaterThan(quantity('1G')) && ip('::1').isLoopback() && semver('1.2.3').major() == 1",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && url('https://a:1/b').getPort() == '1'",
        "'a1b22'.findAll('[0-9]+') == ['1', '22'] && sets.contains([1, 2], [1])",
        "format.dns1123Label().validate('Not OK').hasValue()",
    ],
)
def test_an_expression_is_true(text: str) -> None:
    assert run(text) is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("self.endless == ''", "no such key: endless"),
        ("self.names[5] == ''", "index out of bounds: 5"),
        ("self.labels['x'] == ''", "no such key: x"),
        ("self.count / 0 == 1", "division by zero"),
        ("self.count + 9223372036854775807 > 0", "integer overflow"),
        ("self.target > 5", "no such overload"),
        ("self.target.split(',', self.target) == []", "no such overload: split(string, string, string)"),
        ("[].max() == 1", "max called on empty list"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("self.names.map(x, 1 / 0) == []", "division by zero"),
    ],
)
def test_an_expression_comes_to_nothing(text: str, message: str) -> None:
    error = run(text)
    assert isinstance(error, CelError)
    assert str(error) == message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.count / 0 == 1 || true", True),
        ("false && self.count / 0 == 1", False),
        ("[1, 0, 2].exists(x, 2 / x == 1)", True),
        ("[1, 0, 2].all(x, 2 / x == 2)", False),
    ],
)
def test_one_side_may_decide_whatever_the_other_comes_to(text: str, value: bool) -> None:
    assert run(text) is value


def test_old_self_may_be_absent() -> None:
    program = compiled("!oldSelf.hasValue() || oldSelf.value().count < self.count", optional_old_self=True).program
    assert program.run(VALUE)[0] is True
    assert program.run(VALUE, {"count": 6})[0] is True
    assert program.run(VALUE, {"count": 8})[0] is False


def test_an_evaluation_that_costs_too_much_is_given_up() -> None:
    program = compiled("self.names.all(x, self.names.all(y, self.names.all(z, x != '' && y != '' && z != '')))").program
    with pytest.raises(TooExpensive):
        program.run({"names": ["a"] * 200})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("self.list[1] == 'a'", ""),
        ("self.list.all(x, x.charAt(0) == 'a')", "no such overload: charAt(null_type, int)"),
        ("self.list.all(x, x.startsWith('a'))", "no such overload"),
        ("self.list[1] < 'b'", "no such overload: _<_"),
        ("self.map['k'] > 1", "no such overload: _>_"),
    ],
)
def test_null_in_a_list_is_no_text(text: str, message: str) -> None:
    nullable = {"nullable": True}
    of = scope(
        {
            "type": "object",
            "properties": {
                "list": {"type": "array", "items": {"type": "string", **nullable}},
                "map": {"type": "object", "additionalProperties": {"type": "integer", **nullable}},
            },
        }
    )
    outcome = of.compile(text).program.run({"list": ["a", None], "map": {"k": None}})[0]
    assert str(outcome) == message or outcome is False
