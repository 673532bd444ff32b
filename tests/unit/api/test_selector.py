"""Label selectors: read, printed and matched as the API server does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.selector import Operator, Requirement, Selector

KEYS = ["a", "b", "in", "example.com/c", "n"]
VALUES = ["", "x", "y", "5", "10", "007", "notin"]

keys = st.sampled_from(KEYS)
values = st.sampled_from(VALUES)
requirements = st.one_of(
    st.builds(lambda k, o, v: Requirement(k, o, (v,)), keys, st.sampled_from(["=", "==", "!="]), values),
    st.builds(
        lambda k, o, v: Requirement(k, o, tuple(v)),
        keys,
        st.sampled_from(["in", "notin"]),
        st.lists(values, min_size=1, max_size=4, unique=True),
    ),
    st.builds(
        lambda k, o, v: Requirement(k, o, (v,)), keys, st.sampled_from([">", "<"]), st.sampled_from(["5", "007", "0"])
    ),
    st.builds(Requirement, keys, st.sampled_from(["exists", "!"])),
)
selectors = st.lists(requirements, max_size=6).map(Selector)
labels = st.dictionaries(keys, st.sampled_from([*VALUES, "-3", "99999999999999999999"]))


def holds(key: str, operator: Operator, wanted: tuple[str, ...], labels: Mapping[str, str]) -> bool:
    """The definition of each operator, written down as plainly as possible."""
    if key not in labels:
        return operator in ("!=", "notin", "!")
    value = labels[key]
    if operator in (">", "<"):
        if not value.lstrip("-").isdigit() or abs(int(value)) >= 2**63:
            return False
        return int(value) > int(wanted[0]) if operator == ">" else int(value) < int(wanted[0])
    return {
        "=": value in wanted, "==": value in wanted, "in": value in wanted,
        "!=": value not in wanted, "notin": value not in wanted,
        "exists": True, "!": False,
    }[operator]  # fmt: skip


@dataclass
class Expression:
    key: str
    operator: str
    values: Iterable[str] | None = None


@dataclass
class LabelSelector:
    match_labels: Mapping[str, str] | None = None
    match_expressions: list[Expression] | None = field(default_factory=list)


@given(selectors)
def test_what_is_printed_reads_back_as_the_same_selector(selector: Selector) -> None:
    assert Selector.parse(str(selector)) == selector


@given(selectors, labels)
def test_matching_follows_the_definition_of_each_operator(selector: Selector, labels: dict[str, str]) -> None:
    expected = all(holds(one.key, one.operator, one.values, labels) for one in selector.requirements)
    assert selector.matches(labels) == expected


@pytest.mark.parametrize(
    ("written", "printed"),  # as k8s.io/apimachinery v0.36.3 prints what it has read
    [
        ("", ""), ("  ", ""), ("a", "a"), ("! a", "!a"), ("a=b", "a=b"), ("a == b", "a==b"),
        ("a!=", "a!="), ("a=,b", "a=,b"), ("b,a", "a,b"), ("z=1,a in (y, x,,x)", "a in (,x,y),z=1"),
        ("a notin ()", "a notin ()"), ("a in (,)", "a in ()"),
        ("in in (in)", "in in (in)"), ("notin", "notin"), ("a=in", "a=in"), ("a>5,a<9", "a>5,a<9"),
        ("a\t=\nb\r", "a=b"),
        ("example.com/A.b=C_d", "example.com/A.b=C_d"), ("a in(b)", "a in (b)"),
    ],
)  # fmt: skip
def test_a_selector_prints_as_kubernetes_prints_it(written: str, printed: str) -> None:
    assert str(Selector.parse(written)) == printed


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("a,", "character 3: found the end, expected a label key"),
        (",a", "character 1: found ',', expected a label key"),
        ("a b", "character 3: found 'b', expected one of = == != in notin > <"),
        ("a=b c", "character 5: found 'c', expected ',' or the end"),
        ("!a=b", "character 3: found '=', expected ',' or the end"),
        ("!", "character 2: found the end, expected a label key"),
        ("a in b", "character 6: found 'b', expected '('"),
        ("a in (b", "character 8: found the end, expected"),
        ("a in (b c)", "character 9: found 'c', expected ',' or ')'"),
        ("a===b", "character 4: found '=', expected a value"),
        ("a In (b)", "found 'In'"),
        ("x=1,-a=b", "character 5: label '-a': bad label key: name part must consist of"),
        ("a=-b", "character 1: label 'a': bad label value '-b'"),
        ("a>x", "needs an integer, not 'x'"),
        ("a>99999999999999999999", "needs an integer"),
    ],
)
def test_a_bad_selector_says_where_and_what_was_expected(bad: str, why: str) -> None:
    with pytest.raises(ValueError, match="write for example app=web") as error:
        Selector.parse(bad)
    assert why in str(error.value)
    assert repr(bad) in str(error.value)


def test_an_empty_selector_matches_everything() -> None:
    assert Selector().matches({"a": "b"})
    assert Selector.parse("").matches(None)
    assert Selector.of({}) == Selector()


@given(labels)
def test_nothing_matches_nothing_even_after_a_trip_as_text(labels: dict[str, str]) -> None:
    assert not Selector.nothing().matches(labels)
    assert not Selector.parse(str(Selector.nothing())).matches({**labels, "nothing": ""})


def test_a_dict_selects_objects_with_all_its_labels() -> None:
    selector = Selector.of({"app": "web", "a": ""})
    assert str(selector) == "a=,app=web"
    assert selector.matches({"app": "web", "a": "", "more": "x"})
    assert not selector.matches({"app": "web"})


def test_a_label_selector_becomes_a_selector() -> None:
    expressions = [
        Expression("tier", "In", ["front", "back"]),
        Expression("zone", "NotIn", ["x"]),
        Expression("ready", "Exists"),
        Expression("old", "DoesNotExist", []),
    ]
    selector = Selector.from_label_selector(LabelSelector({"app": "web"}, expressions))
    assert str(selector) == "app=web,!old,ready,tier in (back,front),zone notin (x)"


def test_no_label_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert Selector.from_label_selector(None) == Selector.nothing()
    assert Selector.from_label_selector(LabelSelector(None, None)) == Selector()


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (Expression("a", "in", ["x"]), "'in' is not an operator; there is In, NotIn, Exists, DoesNotExist"),
        (Expression("a", "In", []), "'in' needs at least one value"),
        (Expression("a", "Exists", ["x"]), "'exists' doesn't go with 1 values"),
        (Expression("a b", "Exists"), "bad label key"),
    ],
)
def test_a_bad_label_selector_says_what_is_wrong(expression: Expression, why: str) -> None:
    with pytest.raises(ValueError, match="label 'a") as error:
        Selector.from_label_selector(LabelSelector({}, [expression]))
    assert why in str(error.value)


def test_equal_selectors_hash_alike_whatever_the_order() -> None:
    assert len({Selector.parse("a=1,b in (x,y)"), Selector.parse("b in (y,x),a=1")}) == 1


@pytest.mark.parametrize("text", ["(" * 100_000, " " * 100_000 + "!", "a" * 100_000, "a>" + "9" * 100_000])
def test_garbage_is_refused_in_a_short_message(text: str) -> None:
    with pytest.raises(ValueError, match="label selector") as error:
        Selector.parse(text)
    assert len(str(error.value)) < 700


def test_a_selector_of_many_terms_is_read_and_matched() -> None:
    selector = Selector.parse(",".join(f"k{number}!=x" for number in range(20_000)))
    assert len(selector.requirements) == 20_000
    assert selector.matches({})
    assert not selector.matches({"k19999": "x"})
