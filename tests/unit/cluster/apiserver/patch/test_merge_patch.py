"""JSON merge patch: what is laid over what, and what a real API server makes of bad ones."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.patch import merge_patch

scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab", max_size=2))
keys = st.sampled_from("abc")
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(keys, values, max_size=3)


@pytest.mark.parametrize(
    ("document", "patch", "result"),  # as gopkg.in/evanphx/json-patch.v4 has it, which kube-apiserver uses
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b"}, {"nothing": None}, {"a": "b"}),
        ({"a": "b"}, {}, {"a": "b"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c", "e": 1}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d", "e": 1}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"a": None}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": "x"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
        ({}, {"a": [None, {"b": None}]}, {"a": [None, {}]}),
        ({"a": [1]}, {"a": [None, {"b": None}]}, {"a": [None, {}]}),
        ({"a": {"x": 1}}, {"a": [None, {"b": None}]}, {"a": [None, {"b": None}]}),
        ({"a": 1}, [1, {"b": None}], [1, {}]),
    ],
)
def test_a_patch_does_what_it_does_on_a_real_server(document: Any, patch: Any, result: Any) -> None:
    assert merge_patch.apply(document, patch) == result


@pytest.mark.parametrize("patch", [None, 5, "x", True])
def test_what_is_no_document_is_a_bad_request(patch: Any) -> None:
    with pytest.raises(Failure) as refused:
        merge_patch.apply({}, patch)
    assert (refused.value.status.code, refused.value.status.message) == (400, "Invalid JSON Patch")


@pytest.mark.parametrize(("patch", "word"), [(5, "number"), ("x", "string"), ([], "array"), (True, "bool")])
def test_a_check_finds_what_is_no_object(patch: Any, word: str) -> None:
    with pytest.raises(Failure) as refused:
        merge_patch.check(patch)
    message = f"error decoding patch: json: cannot unmarshal {word} into Go value of type map[string]interface {{}}"
    assert (refused.value.status.code, refused.value.status.message) == (400, message)


@pytest.mark.parametrize("patch", [None, {}, {"a": None}])
def test_a_check_lets_objects_and_null_pass(patch: Any) -> None:
    merge_patch.check(patch)


def test_a_patch_that_is_too_deep_is_a_bad_request() -> None:
    patch: dict[str, Any] = {}
    for _ in range(100_000):
        patch = {"a": patch}
    with pytest.raises(Failure, match="exceeded max depth"):
        merge_patch.apply({}, patch)
    while patch:  # Python itself can't drop what is so deep in one go
        patch = patch.pop("a")


@given(objects, objects)
def test_a_patch_applied_twice_is_as_applied_once(document: Any, patch: Any) -> None:
    once = merge_patch.apply(document, patch)
    twice = merge_patch.apply(once, patch)
    # Nulls inside a list that took the place of an object are there after the first time, and gone after the second.
    assert twice == merge_patch.apply(twice, patch)
    assert merge_patch.without_nulls(twice) == merge_patch.without_nulls(once)


@given(objects, objects)
def test_neither_document_nor_patch_is_ever_changed(document: Any, patch: Any) -> None:
    before = repr((document, patch))
    merge_patch.apply(document, patch)
    assert repr((document, patch)) == before


@given(objects)
def test_an_empty_patch_changes_nothing(document: Any) -> None:
    assert merge_patch.apply(document, {}) == document


@given(objects, objects)
def test_what_the_patch_does_not_name_stays(document: Any, patch: Any) -> None:
    result = merge_patch.apply(document, patch)
    unnamed = document.keys() - patch.keys()
    assert {key: result[key] for key in unnamed} == {key: document[key] for key in unnamed}
