import json

import pytest

from pruning_cases import ALWAYS_FILLED, FIELDS, FILLED, PRUNED, Json
from windvane.api.openapi.structural import Structural, default, prune, unknown_fields
from windvane.cluster.apiserver.encoding.strict_json import (
    DEEPEST,
    NotJson,
    decode,
    decode_exactly,
    duplicates,
    repeats,
)

SCHEMA: Json = {"type": "object", "properties": {"spec": {"type": "object", "properties": FIELDS}}}


def thing(spec: Json) -> Json:
    return {"apiVersion": "a.example/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}


@pytest.mark.parametrize(("sent", "kept", "paths"), PRUNED, ids=[str(case[0])[:60] for case in PRUNED])
def test_what_the_schema_does_not_know_is_removed_and_named(sent: Json, kept: Json, paths: list[str]) -> None:
    value = thing(sent)
    said = [f'unknown field "{path}"' for path in paths]
    assert unknown_fields(value, SCHEMA) == said
    assert prune(value, SCHEMA) == said
    assert value == thing(kept)


def test_looking_for_unknown_fields_changes_nothing() -> None:
    value = thing({"bogus": 1})
    unknown_fields(value, SCHEMA)
    assert value == thing({"bogus": 1})


def test_metadata_is_known_without_being_in_the_schema() -> None:
    value = thing({})
    value["metadata"] |= {"labels": {"a": "b"}, "bogus": 1, "ownerReferences": [{"name": "o", "bogus": 1}]}
    value["status"] = {}
    assert prune(value, SCHEMA) == [
        'unknown field "metadata.bogus"',
        'unknown field "metadata.ownerReferences[0].bogus"',
        'unknown field "status"',
    ]
    assert value["metadata"] == {"name": "x", "labels": {"a": "b"}, "ownerReferences": [{"name": "o"}]}


@pytest.mark.parametrize(("sent", "kept"), FILLED, ids=[str(case[0])[:60] for case in FILLED])
def test_defaults_are_filled_in_and_nulls_give_way(sent: Json, kept: Json) -> None:
    value = thing(sent)
    default(value, SCHEMA)
    assert value["spec"] == {**ALWAYS_FILLED, **kept}


def test_two_objects_never_share_a_default() -> None:
    structural = Structural(SCHEMA)
    one, other = thing({}), thing({})
    structural.fill(one)
    structural.fill(other)
    one["spec"]["nested"]["number"] = 4
    assert other["spec"]["nested"]["number"] == 3


class TestABody:
    def test_with_a_field_twice_has_its_last_value_and_a_complaint(self) -> None:
        body = b'{"spec":{"image":"a","image":"b","image":"c","l":[{"x":1,"x":2}]},"kind":"K"}'
        assert decode(body) == decode_exactly(body) == {"spec": {"image": "c", "l": [{"x": 2}]}, "kind": "K"}
        assert repeats(body, decode(body))
        assert duplicates(decode_exactly(body)) == ['duplicate field "spec.image"', 'duplicate field "spec.l[0].x"']

    def test_without_one_has_none(self) -> None:
        body = b'{"a":{"b":1},"b":[{"a":1},{"a":"\\""}]}'
        assert not repeats(body, decode(body))
        assert duplicates(decode_exactly(body)) == []

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b'{"a":1,}',
            b'{"a":NaN}',
            b'{"a":1e999}',
            b"9" * 1_000_000,
            b"9" * 400,
            b"[" * 100_000,
            b"[" * 100_000 + b"]" * 100_000,
            b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
            b'{"a":' * 400 + b"1" + b"}" * 400,
        ],
        ids=lambda body: repr(body[:20]),
    )
    def test_that_can_not_be_taken_in_is_refused(self, body: bytes) -> None:
        with pytest.raises(NotJson):
            decode(body)

    def test_may_be_nested_as_far_as_anybody_needs(self) -> None:
        decode(b"[" * (DEEPEST - 1) + b"]" * (DEEPEST - 1))

    @pytest.mark.parametrize("body", [b'"\xe2\x82x"', b'"\\ud800\\udbffx"'])
    def test_has_a_mark_for_what_is_no_character(self, body: bytes) -> None:
        assert decode(body) == decode_exactly(body) == "\ufffd\ufffdx"

    def test_with_an_integer_beyond_64_bits_has_a_float_as_in_go(self) -> None:
        value = decode(
            b'{"a":[9223372036854775807,9223372036854775808,-9223372036854775809],"b":"99999999999999999999"}'
        )
        assert json.dumps(value) == (
            '{"a": [9223372036854775807, 9.223372036854776e+18, -9.223372036854776e+18], "b": "99999999999999999999"}'
        )
