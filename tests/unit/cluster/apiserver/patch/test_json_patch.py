"""JSON patch: what each operation does, and what a real API server makes of bad ones."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.patch import json_patch

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0]), st.text("ab/~", max_size=2)
)
keys = st.sampled_from(["a", "b", "c/d", "e~f", "", "0", "-"])
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)
documents = st.dictionaries(keys, values, max_size=4)
pointers = st.lists(keys | st.sampled_from(["1", "-1"]), max_size=3).map(lambda tokens: pointer(*tokens))
operations = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": pointers},
        optional={"from": pointers, "value": values},
    ),
    max_size=5,
)


def pointer(*tokens: str) -> str:
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def difference(old: Any, new: Any, place: str = "") -> list[dict[str, Any]]:
    """Operations that make `new` of `old`; plain, not short."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [{"op": "test", "path": place, "value": old}, {"op": "replace", "path": place, "value": new}]
    removed = [{"op": "remove", "path": place + pointer(key)} for key in old if key not in new]
    added = [{"op": "add", "path": place + pointer(key), "value": new[key]} for key in new if key not in old]
    changed = [each for key in old if key in new for each in difference(old[key], new[key], place + pointer(key))]
    return removed + added + changed


def refusal(document: Any, operations: Any) -> tuple[int, str, str]:
    with pytest.raises(Failure) as refused:
        json_patch.apply(document, operations)
    status = refused.value.status
    return status.code, status.reason, status.message


@pytest.mark.parametrize(
    ("document", "operation", "result"),  # as gopkg.in/evanphx/json-patch.v4 has it, which kube-apiserver uses
    [
        ({"a": 1}, {"op": "add", "path": "/b", "value": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"op": "add", "path": "/a", "value": 2}, {"a": 2}),
        ({"a": 1}, {"op": "add", "path": "/b"}, {"a": 1, "b": None}),
        ({"a": 1}, {"op": "add", "path": "whatever/b", "value": 2}, {"a": 1, "b": 2}),
        ({"a": [1, 2]}, {"op": "add", "path": "/a/-", "value": 3}, {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, {"op": "add", "path": "/a/2", "value": 3}, {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, {"op": "add", "path": "/a/0", "value": 3}, {"a": [3, 1, 2]}),
        ({"a": [1, 2]}, {"op": "add", "path": "/a/-1", "value": 3}, {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, {"op": "add", "path": "/a/-3", "value": 3}, {"a": [3, 1, 2]}),
        ({"a": [1, 2]}, {"op": "add", "path": "/a/+01", "value": 3}, {"a": [1, 3, 2]}),
        ({"a": {"-": 1}}, {"op": "add", "path": "/a/-", "value": 3}, {"a": {"-": 3}}),
        ({"a": [{"b": 1}]}, {"op": "add", "path": "/a/-1/c", "value": 3}, {"a": [{"b": 1, "c": 3}]}),
        ({"a/b": 1}, {"op": "remove", "path": "/a~1b"}, {}),
        ({"a~1b": 1}, {"op": "remove", "path": "/a~01b"}, {}),
        ({"": 1}, {"op": "remove", "path": "/"}, {}),
        ({"a": [1, 2, 3]}, {"op": "remove", "path": "/a/-1"}, {"a": [1, 2]}),
        ({"a": 1}, {"op": "replace", "path": "/a", "value": None}, {"a": None}),
        ({"a": 1}, {"op": "replace", "path": "/b", "value": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"op": "replace", "path": "", "value": [1]}, [1]),
        ({"a": [1, 2]}, {"op": "replace", "path": "/a/-2", "value": 3}, {"a": [3, 2]}),
        ({"a": 1}, {"op": "move", "from": "/a", "path": "/b"}, {"b": 1}),
        ({"a": [1, 2]}, {"op": "move", "from": "/a/0", "path": "/a/-"}, {"a": [2, 1]}),
        ({"a": {"b": 1}}, {"op": "move", "from": "/a/b", "path": "/a"}, {"a": 1}),
        ({"a": 1}, {"op": "copy", "from": "/a", "path": "/b"}, {"a": 1, "b": 1}),
        ({"a": {}}, {"op": "copy", "from": "/a", "path": "/a/b"}, {"a": {"b": {}}}),
        ({"a": 1}, {"op": "copy", "from": "/nothing", "path": "/b"}, {"a": 1, "b": None}),
        ({"a": {"b": 1}}, {"op": "test", "path": "/a", "value": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": 1}, {"op": "test", "path": "", "value": {"a": 1}}, {"a": 1}),
        ({"a": None}, {"op": "test", "path": "/a"}, {"a": None}),
        ({}, {"op": "test", "path": "/nothing", "value": None}, {}),
    ],
)
def test_an_operation_does_what_it_does_on_a_real_server(document: Any, operation: Any, result: Any) -> None:
    assert json_patch.apply(document, [operation]) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/b/c", "value": 1},
        {"op": "add", "path": "/a/x", "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "add", "path": "b", "value": 1},
        {"op": "add", "path": "/list/3", "value": 1},
        {"op": "add", "path": "/list/-4", "value": 1},
        {"op": "add", "path": "/list/1_0", "value": 1},
        {"op": "add", "path": "/list/" + "1" * 5000, "value": 1},
        {"op": "add", "path": "/null/x", "value": 1},
        {"op": "add", "path": None, "value": 1},
        {"op": "add", "value": 1},
        {"op": "remove", "path": "/b"},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "/list/-"},
        {"op": "remove", "path": "/list/2"},
        {"op": "replace", "path": "/list/2", "value": 1},
        {"op": "replace", "path": "/list/-", "value": 1},
        {"op": "replace", "path": "", "value": 5},
        {"op": "replace", "path": ""},
        {"op": "move", "from": "/b", "path": "/c"},
        {"op": "move", "path": "/c"},
        {"op": "move", "from": "/map", "path": "/map/x"},
        {"op": "copy", "from": "/list/2", "path": "/c"},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "test", "path": "/a"},
        {"op": "test", "path": "/a", "value": 1.0},
        {"op": "test", "path": "/a", "value": True},
        {"op": "test", "path": "/list", "value": [1]},
        {"op": "test", "path": "/map", "value": {"x": 1, "y": 2}},
        {"op": "test", "path": ""},
        {"op": "grow", "path": "/a"},
        {"op": 5, "path": "/a"},
        {"path": "/a"},
        None,
    ],
)
def test_an_operation_that_cannot_be_done_is_refused(operation: Any) -> None:
    document = {"a": 1, "list": [1, 2], "map": {"x": 1}, "null": None}
    words = "the server rejected our request due to an error in our request"
    assert refusal(document, [operation]) == (422, "Invalid", words)


def test_why_an_operation_cannot_be_done_is_in_the_cause() -> None:
    with pytest.raises(Failure) as refused:
        json_patch.apply({"a": 1}, [{"op": "test", "path": "/a", "value": 2}])
    assert str(refused.value.__cause__) == "testing value /a failed: test failed"


def test_operations_see_what_those_before_them_did() -> None:
    patch: list[dict[str, Any]] = [
        {"op": "add", "path": "/a", "value": {"b": []}},
        {"op": "add", "path": "/a/b/-", "value": 1},
        {"op": "copy", "from": "/a/b", "path": "/c"},
        {"op": "add", "path": "/a/b/-", "value": 2},
    ]
    assert json_patch.apply({}, patch) == {"a": {"b": [1, 2]}, "c": [1]}
    assert patch[0]["value"] == {"b": []}


def test_no_patch_at_all_changes_nothing() -> None:
    assert json_patch.apply({"a": 1}, None) == {"a": 1}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"op": "add"}, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (5, "json: cannot unmarshal number into Go value of type jsonpatch.Patch"),
        (True, "json: cannot unmarshal bool into Go value of type jsonpatch.Patch"),
        (["x"], "json: cannot unmarshal string into Go value of type jsonpatch.Operation"),
        ([[]], "json: cannot unmarshal array into Go value of type jsonpatch.Operation"),
    ],
)
def test_what_is_no_list_of_operations_is_a_bad_request(patch: Any, message: str) -> None:
    assert refusal({}, patch) == (400, "BadRequest", message)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"op": "add"}, "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ([5], "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        ([{"op": 5}], "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
        ([{"from": {}}], "json: cannot unmarshal object into Go struct field jsonPatchOp.from of type string"),
    ],
)
def test_a_check_finds_what_is_no_operation(patch: Any, message: str) -> None:
    with pytest.raises(Failure) as refused:
        json_patch.check(patch)
    assert refused.value.status.code == 400
    assert refused.value.status.message == f"error decoding patch: {message}"


def test_a_check_warns_of_unknown_fields() -> None:
    patch = [None, {"op": "add", "path": None, "value": {"any": 1}, "foo": 1}]
    assert json_patch.check(patch) == ['json patch unknown field "[1].foo"']


def test_ten_thousand_operations_are_done() -> None:
    assert json_patch.apply({"a": 1}, [{"op": "test", "path": "/a", "value": 1}] * 10_000) == {"a": 1}


def test_one_more_is_too_many() -> None:
    message = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    assert refusal({}, [{"op": "test", "path": "/a"}] * 10_001) == (413, "RequestEntityTooLarge", message)


def test_copies_may_add_three_mebibytes_and_no_more() -> None:
    document = {"a": "x" * (1024 * 1024 - 2)}
    patch = [{"op": "copy", "from": "/a", "path": f"/copy{number}"} for number in range(4)]
    assert len(json_patch.apply(document, patch[:3])) == 4
    assert refusal(document, patch)[0] == 422


def test_copies_of_copies_are_stopped_before_they_fill_the_memory() -> None:
    patch = [{"op": "copy", "from": "/a", "path": f"/a/{number}"} for number in range(60)]
    assert refusal({"a": {}}, patch)[0] == 422


def test_a_document_that_gets_too_deep_is_refused() -> None:
    assert refusal({"a": {}}, [{"op": "copy", "from": "/a", "path": "/a/a"}] * 5_000)[0] == 422


@given(documents, documents)
def test_a_difference_applied_is_the_other_document(old: Any, new: Any) -> None:
    result = json_patch.apply(old, difference(old, new))
    assert json_patch.apply(result, [{"op": "test", "path": "", "value": new}]) == new


@given(documents, documents)
def test_a_test_holds_for_the_same_document_only(one: Any, other: Any) -> None:
    patch = [{"op": "test", "path": "", "value": other}]
    if repr(one) == repr(other):
        assert json_patch.apply(one, patch) == one
    elif one != other:
        assert refusal(one, patch)[0] == 422


@given(documents, operations)
def test_neither_document_nor_operations_are_ever_changed(document: Any, patch: Any) -> None:
    before = repr((document, patch))
    with suppress(Failure):
        empty_all(json_patch.apply(document, patch))
    assert repr((document, patch)) == before


def empty_all(value: Any) -> None:
    """Spoil every object and list in the value, so that it shows if one of them is somebody else's."""
    if isinstance(value, dict | list):
        for each in list(value.values() if isinstance(value, dict) else value):
            empty_all(each)
        value.clear()


@given(documents, operations)
def test_an_operation_refused_refuses_all(document: Any, patch: list[Any]) -> None:
    assert refusal(document, [*patch, {"op": "remove", "path": ""}])[0] == 422
