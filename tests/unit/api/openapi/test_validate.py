import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everything import Everything
from schema_cases import FORMATS, VALUES, Causes, Json, as_tuples, label
from windvane import crd
from windvane.api.openapi.patterns import PatternError, pattern
from windvane.api.openapi.structural import Structural
from windvane.api.openapi.validate import RULES_NOT_CHECKED, Validator, validate
from windvane.cluster.apiserver.encoding.strict_json import decode

EVERYTHING: Json = crd(Everything).content["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
LIST_MAP = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


def root(schema: Json, **more: Json) -> Json:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": {"value": schema}}, **more}}


def thing(value: Any, **more: Any) -> Json:
    return {"apiVersion": "a.example/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"value": value}, **more}


@pytest.mark.parametrize(("schema", "value", "causes"), VALUES, ids=[label(*case[:2]) for case in VALUES])
def test_what_is_wrong_is_said_in_the_servers_words(schema: Json, value: Any, causes: Causes) -> None:
    whole = root(schema)
    sent = decode(json.dumps(thing(value)).encode())
    Structural(whole).prune(sent)
    Structural(whole).fill(sent)
    assert as_tuples(validate(sent, whole)) == causes


@pytest.mark.parametrize(("name", "value", "accepted"), FORMATS, ids=[label(*case[:2]) for case in FORMATS])
def test_formats_are_those_of_the_server(name: str, value: str, accepted: bool) -> None:
    causes = as_tuples(validate(thing(value), root({"type": "string", "format": name})))
    if accepted:
        assert causes == []
    else:
        assert [cause[:2] for cause in causes] == [("spec.value", "FieldValueTypeInvalid")]
        assert f"spec.value in body must be of type {name}: " in causes[0][2]


def test_several_problems_are_all_reported() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["c"]}
    fields = [cause.field for cause in validate(thing({"a": "x", "b": 1}), root(schema))]
    assert fields == ["spec.value.a", "spec.value.b", "spec.value.c"]


def test_rules_are_not_checked_while_a_type_is_wrong() -> None:
    rules = {"x-kubernetes-validations": [{"rule": "self > 1"}]}
    schema = root({"type": "integer", "maximum": 3, **rules})
    assert validate(thing("x"), schema)[-1] == RULES_NOT_CHECKED
    assert RULES_NOT_CHECKED not in validate(thing(4), schema)


class TestAnUpdate:
    """What was invalid before may stay if it is as it was."""

    LIMITED = root({"type": "object", "properties": {"a": {"type": "integer", "maximum": 3}, "b": {"type": "string"}}})

    def test_an_unchanged_invalid_field_may_stay(self) -> None:
        assert validate(thing({"a": 9, "b": "new"}), self.LIMITED, thing({"a": 9, "b": "old"})) == []

    def test_a_changed_field_must_be_valid(self) -> None:
        assert [cause.field for cause in validate(thing({"a": 8}), self.LIMITED, thing({"a": 9}))] == ["spec.value.a"]

    def test_a_number_is_not_the_same_as_a_boolean(self) -> None:
        assert validate(thing({"a": True}), self.LIMITED, thing({"a": 1})) != []

    def test_a_rule_over_a_whole_counts_as_soon_as_a_part_changes(self) -> None:
        schema = root({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1})
        old = thing({"a": "1", "b": "2"})
        assert validate(thing({"b": "2", "a": "1"}), schema, old) == []
        assert validate(thing({"a": "1", "b": "3"}), schema, old) != []

    def test_items_of_a_plain_list_are_judged_anew_when_the_list_changes(self) -> None:
        schema = root({"type": "array", "items": {"type": "string", "maxLength": 1}})
        assert validate(thing(["long"]), schema, thing(["long"])) == []
        assert [cause.field for cause in validate(thing(["x", "long"]), schema, thing(["long"]))] == ["spec.value[1]"]

    def test_items_of_a_list_map_are_recognised_by_their_keys(self) -> None:
        item = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer", "maximum": 3}}}
        schema = root({"type": "array", "items": item, "maxItems": 1, **LIST_MAP})
        old = thing([{"name": "a", "n": 9}, {"name": "b", "n": 1}])
        assert validate(thing([{"name": "b", "n": 1}, {"name": "a", "n": 9}]), schema, old) == []
        fields = [cause.field for cause in validate(thing([{"name": "b", "n": 7}]), schema, old)]
        assert fields == ["spec.value[0].n"]

    def test_what_the_schema_does_not_know_is_never_unchanged(self) -> None:
        schema = root({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "maxProperties": 1})
        assert validate(thing({"a": 1, "b": 2}), schema, thing({"a": 1, "b": 2})) != []

    def test_a_list_that_was_no_set_need_not_become_one(self) -> None:
        schema = root({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"})
        assert validate(thing(["b", "b"]), schema, thing(["a", "a"])) == []
        assert validate(thing(["b", "b"]), schema, thing(["a"])) != []


def test_a_status_is_judged_alone_and_its_messages_start_there() -> None:
    status = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}
    validator = Validator(root({"type": "integer"}, status=status))
    causes = as_tuples(validator.validate_status(thing("bad", status={"n": 4}), thing("bad")).causes)
    message = "Invalid value: 4: n in body should be less than or equal to 3"
    assert causes == [("status.n", "FieldValueInvalid", message)]


@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        (-1, "Invalid value: -1: should be a non-negative integer"),
        (2**31, "Invalid value: 2147483648: should be less than or equal to 2147483647"),
        ("x", "Invalid value: 0: .spec.value accessor error: x is of the type string, expected int64"),
    ],
)
def test_what_can_be_scaled_has_a_sensible_number_of_replicas(replicas: Any, message: str) -> None:
    anything = root({"x-kubernetes-preserve-unknown-fields": True})
    causes = as_tuples(Validator(anything, {"specReplicasPath": ".spec.value"}).validate(thing(replicas)).causes)
    assert causes == [(".spec.value", "FieldValueInvalid", message)]


def test_alternatives_within_alternatives_cost_no_more_than_their_number() -> None:
    nested: Json = {"minimum": 5}
    for _ in range(60):
        nested = {"anyOf": [{"minimum": 5}, nested], "oneOf": [{"maximum": -5}]}
    causes = validate(thing(0), root({"type": "integer", **nested}))
    assert ("spec.value", "FieldValueInvalid") in {(cause.field, cause.reason) for cause in causes}


class TestAPattern:
    def test_can_not_make_the_server_hang(self) -> None:
        assert not pattern("(a+)+$").found_in("a" * 1_000_000 + "b")

    def test_is_written_as_in_go(self) -> None:
        assert pattern(r"(?i)^\pL+\z").found_in("Été")
        assert not pattern(r"^a\z").found_in("a\n")

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
            ("(?<=a)b", "error parsing regexp: invalid named capture: `(?<=a)b`"),
            ("[a", "error parsing regexp: missing closing ]: `[a`"),
            ("a**", "error parsing regexp: invalid nested repetition operator: `**`"),
            ("a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"),
            ("\\", "error parsing regexp: trailing backslash at end of expression: ``"),
            (r"\C", r"error parsing regexp: invalid escape sequence: `\C`"),
        ],
    )
    def test_that_go_refuses_is_refused_in_its_words(self, text: str, problem: str) -> None:
        with pytest.raises(PatternError) as refusal:
            pattern(text)
        assert str(refusal.value) == problem


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


VALIDATOR, STRUCTURAL = Validator(EVERYTHING), Structural(EVERYTHING)


@given(st.dictionaries(st.sampled_from([*EVERYTHING["properties"]["spec"]["properties"], "bogus"]), JSON, max_size=6))
def test_no_value_is_too_odd_to_judge(spec: Json) -> None:
    sent = {**thing(None), "spec": spec}
    STRUCTURAL.prune(sent)
    STRUCTURAL.fill(sent)
    VALIDATOR.validate(sent, sent)
