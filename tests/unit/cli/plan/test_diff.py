"""What differs between two states of an object, with whose each field is, and what is kept secret."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.kind import Kind
from windvane.api.resource import kind_of
from windvane.cli.plan.diff import (
    ABSENT,
    HIDDEN,
    ListItem,
    differences,
    may_be_secret,
    object_change,
    owners,
    path_in_words,
)
from windvane.k8s import apps, core

DEPLOYMENT, SECRET, POD = kind_of(apps.Deployment), kind_of(core.Secret), kind_of(core.Pod)


def fields(kind: Kind, before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """The differences as an ObjectChange has them."""
    change = object_change(kind, _whole(before), _whole(after))
    return {each.path: (each.old, each.new) for each in change.fields} if change else {}


def _whole(wire: Any) -> Any:
    return (
        None if wire is None else {**wire, "metadata": {"name": "web", "namespace": "db", **wire.get("metadata", {})}}
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"spec": {"replicas": 3}}, {"spec": {"replicas": 5}}, {"spec.replicas": (3, 5)}),
        ({"spec": {"replicas": 1}}, {"spec": {"replicas": True}}, {"spec.replicas": (1, True)}),
        ({"spec": {}}, {"spec": {"a": {"b": 1}}}, {"spec.a.b": (ABSENT, 1)}),
        ({"spec": {"a": {"b": 1}}}, {"spec": {}}, {"spec.a.b": (1, ABSENT)}),
        ({"spec": {"a": None}}, {"spec": {}}, {"spec.a": (None, ABSENT)}),
        ({"spec": {}}, {"spec": {"emptyDir": {}}}, {"spec.emptyDir": (ABSENT, {})}),
        ({"spec": {"a": {"b": 1}}}, {"spec": {"a": "text"}}, {"spec.a": ({"b": 1}, "text")}),
        ({"spec": {"args": ["a"]}}, {"spec": {"args": ["a", "b"]}}, {"spec.args": (["a"], ["a", "b"])}),
        (
            {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}},
            {"spec": {"containers": [{"name": "b", "image": "2"}, {"name": "a", "image": "1"}]}},
            {"spec.containers[b].image": ("1", "2"), "spec.containers": (["a", "b"], ["b", "a"])},
        ),
        ({"x": [{"a": 1}]}, {"x": [{"a": 1}, {"a": 2}]}, {"x[1].a": (ABSENT, 2)}),
        (
            {"x": [{"name": "a"}, {"name": "a", "y": 1}]},
            {"x": [{"name": "a"}, {"name": "a", "y": 2}]},
            {"x[1].y": (1, 2)},
        ),
        (
            {"metadata": {"labels": {"app.kubernetes.io/name": "a"}}},
            {"metadata": {"labels": {"app.kubernetes.io/name": "b"}}},
            {'metadata.labels["app.kubernetes.io/name"]': ("a", "b")},
        ),
        ({"metadata": {"resourceVersion": "1", "generation": 1}}, {"metadata": {"resourceVersion": "2"}}, {}),
        (
            {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "a"}}},
            {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "b"}}},
            {},
        ),
    ],
)
def test_each_field_that_differs_is_told_by_its_path(before: Any, after: Any, told: Any) -> None:
    assert fields(DEPLOYMENT, before, after) == told


@pytest.mark.parametrize(
    ("before", "after", "action", "held_by"),
    [
        (None, {}, "create", []),
        ({}, None, "delete", []),
        ({}, {"metadata": {"deletionTimestamp": "t", "finalizers": ["a/b"]}}, "delete", ["a/b"]),
        (
            {"metadata": {"deletionTimestamp": "t"}, "spec": 1},
            {"metadata": {"deletionTimestamp": "t"}, "spec": 2},
            "change",
            [],
        ),
    ],
)
def test_what_becomes_of_an_object(before: Any, after: Any, action: str, held_by: list[str]) -> None:
    change = object_change(DEPLOYMENT, _whole(before), _whole(after))
    assert change is not None
    assert (change.action, list(change.held_by), change.where) == (action, held_by, "db/web")


def test_what_is_as_it_was_is_no_change() -> None:
    assert object_change(DEPLOYMENT, _whole({"spec": {"replicas": 1}}), _whole({"spec": {"replicas": 1}})) is None


json = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "a", "b c"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(json, json)
def test_there_is_no_difference_just_when_two_values_are_the_same_in_json(old: Any, new: Any) -> None:
    told = list(differences(old, new))
    assert (told == []) == (encoded(old) == encoded(new))
    for _, was, is_ in told:
        assert ABSENT in (was, is_) or encoded(was) != encoded(is_)


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


MANAGED = {
    "metadata": {
        "managedFields": [
            {
                "manager": "web",
                "fieldsV1": {
                    "f:spec": {
                        "f:replicas": {},
                        "f:args": {},
                        "f:containers": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:image": {}}},
                    }
                },
            },
            {"manager": "kubectl", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            {"manager": "empty"},
        ]
    }
}
A, B = ListItem("a", {"name": "a", "image": "1"}), ListItem("b", {"name": "b"})


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        (("spec", "replicas"), ["web", "kubectl"]),
        (("spec", "args"), ["web"]),
        (("spec", "args", "deep"), ["web"]),  # a value that is owned whole
        (("spec", "containers", A, "image"), ["web"]),
        (("spec", "containers", A, "ports"), []),
        (("spec", "containers", B, "image"), []),
        (("status",), []),
    ],
)
def test_whose_a_field_is(path: Any, whose: list[str]) -> None:
    assert owners(MANAGED, path) == whose


def test_a_field_that_stays_as_it_is_and_gets_another_owner_is_told() -> None:
    def wire(*managers: str) -> Any:
        entries = [{"manager": each, "fieldsV1": {"f:spec": {"f:replicas": {}}}} for each in managers]
        return _whole({"metadata": {"managedFields": entries}, "spec": {"replicas": 1, "paused": True}})

    change = object_change(DEPLOYMENT, wire("kubectl"), wire("kubectl", "web"))
    assert change is not None
    assert (change.fields, [(each.path, each.then) for each in change.handovers]) == (
        [],
        [("spec.replicas", ["kubectl", "web"])],
    )


@pytest.mark.parametrize(
    ("kind", "path", "secret"),
    [
        (SECRET, ("data", "anything"), True),
        (SECRET, ("type",), False),
        (POD, ("spec", "password"), True),
        (POD, ("spec", "apiKey"), True),
        (POD, ("spec", "adminPassword"), True),
        (POD, ("data", "DB_PASSWORD"), True),
        (POD, ("spec", "secretName"), False),
        (POD, ("spec", "tlsSecret"), False),
        (POD, ("spec", "bypass"), False),
        (POD, ("spec", "env", ListItem("DB_PASSWORD", {}), "value"), True),
        (POD, ("spec", "env", ListItem("MODE", {}), "value"), False),
        (DEPLOYMENT, ("data", "anything"), False),
    ],
)
def test_what_may_be_a_secret(kind: Kind, path: Any, secret: bool) -> None:
    assert may_be_secret(kind, path) is secret, path_in_words(path)


def test_a_secret_is_not_in_what_is_told() -> None:
    told = fields(SECRET, {"data": {"a": "b2xk", "b": "b2xk"}}, {"data": {"a": "bmV3", "c": "bmV3"}})
    assert told == {"data.a": (HIDDEN, HIDDEN), "data.b": (HIDDEN, ABSENT), "data.c": (ABSENT, HIDDEN)}


def test_what_looks_like_a_secret_is_not_told_wherever_it_is() -> None:
    before = {"spec": {"args": ["--level=1", "--password=one"], "url": "postgres://me:one@db/a"}}
    after = {"spec": {"args": ["--level=2", "--password=two"], "url": "postgres://me:two@db/a"}}
    assert fields(POD, before, after) == {
        "spec.args": (["--level=1", "--password=«removed»"], ["--level=2", "--password=«removed»"]),
        "spec.url": (HIDDEN, HIDDEN),
    }


def test_an_argument_that_a_flag_says_is_a_secret_is_not_told() -> None:
    def args(password: str, level: str) -> Any:
        return {"spec": {"args": ["--password", password, "--token", "--level", level]}}

    assert fields(POD, args("one", "1"), args("two", "2")) == {
        "spec.args": (
            ["--password", "«removed»", "--token", "--level", "1"],
            ["--password", "«removed»", "--token", "--level", "2"],
        )
    }


def test_a_switch_is_told_whatever_it_is_called() -> None:
    told = fields(POD, {"spec": {"automountServiceAccountToken": True}}, {"spec": {}})
    assert told == {"spec.automountServiceAccountToken": (True, ABSENT)}
