"""What expressions make that are to change an object."""

from typing import Any

import pytest

from windvane.api.cel.environment import Environment, seen
from windvane.api.cel.patches import PATCH_FUNCTIONS, as_json, constructible, misplaced
from windvane.api.cel.types import DYN
from windvane.api.cel.values import CelError, CompileError

PATCHING = Environment({"object": DYN}, constructible=constructible, functions=PATCH_FUNCTIONS)


def made(expression: str, **wire: Any) -> Any:
    value, _ = PATCHING.compile(expression).run({"object": seen(wire)})
    if isinstance(value, CelError):
        raise value
    return value


@pytest.mark.parametrize(
    ("expression", "wire"),
    [
        ("Object{}", {}),
        ("Object{spec: Object.spec{replicas: 3, on: true}}", {"spec": {"replicas": 3, "on": True}}),
        ("Object{a: [Object.a{b: 1}, Object.a{b: 2}]}", {"a": [{"b": 1}, {"b": 2}]}),
        ("Object{a: {'k': 'v'}, b: null, c: 1.5}", {"a": {"k": "v"}, "b": None, "c": 1.5}),
        ("Object{a: object.labels, ?b: object.?nothing}", {"a": {"app": "web"}}),
        ("Object{?a: optional.of(1)}", {"a": 1}),
        ("Object{a: b'abc', b: duration('1h'), c: 3u}", {"a": "YWJj", "b": "3600s", "c": 3}),
        ("[JSONPatch{op: 'test', path: '/a', value: 1}]", [{"op": "test", "path": "/a", "value": 1}]),
    ],
)
def test_it_is_json_in_the_end(expression: str, wire: Any) -> None:
    assert as_json(made(expression, labels={"app": "web"})) == wire


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("JSONPatch{op: 1}", "expected type of field 'op' is 'string' but provided type is 'int'"),
        ("Objects{}", "undeclared reference to 'Objects' (in container '')"),
        ("Object{?a: 1}", "expected type 'optional_type(int)' but found 'int'"),
        ("string{}", "'string' is not a message type"),
    ],
)
def test_it_can_not_be_made(expression: str, problem: str) -> None:
    with pytest.raises(CompileError) as refused:
        PATCHING.compile(expression)
    assert problem in str(refused.value)


def test_rules_of_crds_can_make_no_objects() -> None:
    with pytest.raises(CompileError, match="undeclared reference to 'Object'"):
        Environment({"object": DYN}).compile("Object{}")


def test_objects_in_fields_of_other_names_are_found() -> None:
    right = "Object{a: Object.a{b: [Object.a.b{c: Object.a.b.c{}}]}}"
    assert not list(misplaced(made(right), "Object"))
    wrong = "Object{a: Object.a{b: [Object.b{}]}, c: {'k': Object.d{}}}"
    assert [each.split(",")[0] for each in misplaced(made(wrong), "Object")] == [
        'unexpected type name "Object.b"',
        'unexpected type name "Object.d"',
    ]


def test_a_map_with_other_keys_than_text_is_no_json() -> None:
    with pytest.raises(CelError):
        as_json(made("Object{a: {1: 2}}"))


def test_keys_are_escaped() -> None:
    assert made("jsonpatch.escapeKey('k8s.io/my~label')") == "k8s.io~1my~0label"


def test_objects_are_equal_if_their_types_and_fields_are() -> None:
    assert made("Object.a{b: 1} == Object.a{b: 1} && Object.a{b: 1} != Object.a{b: 2}")
    assert made("type(Object.a{}) == Object.a")
