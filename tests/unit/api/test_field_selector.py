"""Field selectors: read, printed and matched as the API server does."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.field_selector import FieldRequirement, FieldSelector

operators: st.SearchStrategy[Literal["=", "!="]] = st.sampled_from(["=", "!="])
fields = st.sampled_from(["metadata.name", "status.phase", "spec.nodeName"])
field_values = st.text("ab,=\\! é", max_size=5)
selectors = st.lists(st.builds(FieldRequirement, fields, operators, field_values), max_size=5).map(FieldSelector)


@given(selectors)
def test_what_is_printed_reads_back_as_the_same_selector(selector: FieldSelector) -> None:
    assert FieldSelector.parse(str(selector)) == selector


@given(selectors, st.dictionaries(fields, field_values))
def test_every_requirement_must_hold(selector: FieldSelector, have: dict[str, str]) -> None:
    expected = True
    for requirement in selector.requirements:
        same = have.get(requirement.field, "") == requirement.value
        expected = expected and (same if requirement.operator == "=" else not same)
    assert selector.matches(have) == expected


@pytest.mark.parametrize(
    ("written", "printed"),  # as k8s.io/apimachinery v0.36.3 prints what it has read
    [
        ("", ""), (",,", ""), ("=", ""), ("a=b", "a=b"), ("a==b", "a=b"), ("a!=b", "a!=b"), ("b=1,a=2", "a=2,b=1"),
        ("a=", "a="), ("a=x\\,y", "a=x\\,y"),
        ("a=x\\=y", "a=x\\=y"), ("a=x\\\\", "a=x\\\\"), ("a=b!c", "a=b!c"), ("a=b, c=d", " c=d,a=b"),
    ],
)  # fmt: skip
def test_a_selector_prints_as_kubernetes_prints_it(written: str, printed: str) -> None:
    assert str(FieldSelector.parse(written)) == printed


def test_escapes_are_undone_in_values() -> None:
    (requirement,) = FieldSelector.parse(r"metadata.name=a\,b\=c\\d").requirements
    assert requirement == FieldRequirement("metadata.name", "=", r"a,b=c\d")


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("metadata.name", "'metadata.name' has no operator"),
        ("a=b,c", "'c' has no operator"),
        ("a=b=c", r"write '=' as '\=' in 'a=b=c'"),
        ("a=\\x", "means nothing"),
        ("a=b\\", "means nothing"),
    ],
)
def test_a_bad_selector_says_which_term_is_wrong(bad: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"write for example metadata\.name=web") as error:
        FieldSelector.parse(bad)
    assert why in str(error.value)
    assert repr(bad) in str(error.value)


def test_an_empty_selector_matches_everything_and_a_missing_field_is_empty() -> None:
    assert FieldSelector().matches({})
    assert FieldSelector.parse("spec.nodeName=").matches({})


def test_a_dict_selects_objects_with_all_its_values() -> None:
    selector = FieldSelector.of({"metadata.name": "a=b"})
    assert str(selector) == r"metadata.name=a\=b"
    assert selector.matches({"metadata.name": "a=b"})
    with pytest.raises(ValueError, match="'a!' is not the path of a field"):
        FieldSelector.of({"a!": "b"})
