"""Whether an object already is as we would state it."""

from typing import Any

import pytest

from windvane.runtime.owned import Memory, is_so, our_part

FIELDS: Any = {
    "f:metadata": {"f:labels": {"f:app": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:ports": {'k:{"port":80}': {".": {}, "f:port": {}, "f:name": {}}},
        "f:flags": {'v:"a"': {}},
        "f:template": {},
    },
}
STATED: dict[str, Any] = {
    "apiVersion": "demo/v1",
    "kind": "Thing",
    "metadata": {"name": "blog", "namespace": "web", "labels": {"app": "blog"}},
    "spec": {"replicas": 3, "ports": [{"port": 80, "name": "http"}], "flags": ["a"], "template": {"x": [1, 2]}},
}


def thing(**spec: Any) -> dict[str, Any]:
    """What the server has: defaults, somebody else's fields, and ours."""
    entry = {"manager": "me", "operation": "Apply", "fieldsV1": FIELDS}
    return {
        "apiVersion": "demo/v1",
        "kind": "Thing",
        "metadata": {
            "name": "blog",
            "namespace": "web",
            "uid": "1",
            "labels": {"app": "blog", "team": "x"},
            "managedFields": [{"manager": "you", "operation": "Update", "fieldsV1": {"f:spec": {}}}, entry],
        },
        "spec": {
            "replicas": 3,
            "ports": [{"port": 443, "name": "https"}, {"port": 80, "name": "http", "protocol": "TCP"}],
            "flags": ["b", "a"],
            "template": {"x": [1, 2]},
            "paused": False,
            **spec,
        },
        "status": {"ready": 3},
    }


def test_our_part_is_what_is_at_our_fields() -> None:
    assert our_part(thing(), FIELDS) == {
        "metadata": {"labels": {"app": "blog"}},
        "spec": {"replicas": 3, "ports": [{"port": 80, "name": "http"}], "flags": ["a"], "template": {"x": [1, 2]}},
    }


def test_it_is_so_whatever_others_and_defaults_add() -> None:
    assert is_so(STATED, thing(paused=True, extra="default"), "me")


@pytest.mark.parametrize(
    "spec",
    [
        {"replicas": 4},
        {"ports": [{"port": 80, "name": "web"}]},
        {"ports": []},
        {"flags": ["b"]},
        {"template": {"x": [1, 2], "y": 1}},
    ],
    ids=str,
)
def test_it_is_not_so_when_something_of_ours_was_changed(spec: dict[str, Any]) -> None:
    assert not is_so(STATED, thing(**spec), "me")


def test_it_is_not_so_when_we_state_more_than_we_own() -> None:
    more = {**STATED, "spec": {**STATED["spec"], "paused": False}}
    assert not is_so(more, thing(), "me"), "nobody would keep paused as it is"


def test_it_is_not_so_when_we_state_less_than_we_own() -> None:
    less = {**STATED, "spec": {"replicas": 3}}
    assert not is_so(less, thing(), "me")


def test_it_is_not_so_for_who_owns_nothing() -> None:
    assert not is_so(STATED, thing(), "somebody")


def test_what_the_server_says_in_other_words_is_remembered() -> None:
    stated = {**STATED, "spec": {"replicas": "3000m"}}
    memory = Memory(stated, thing(), "me")
    assert memory.holds(stated, thing(paused=True), "me")
    assert not memory.holds(stated, thing(replicas=4), "me")
    assert not memory.holds(STATED, thing(), "me")


def test_a_field_that_somebody_took_over_is_not_so_any_more() -> None:
    memory = Memory(STATED, thing(), "me")
    taken = thing()
    taken["metadata"]["managedFields"][1]["fieldsV1"] = {"f:spec": {"f:replicas": {}}}
    assert not memory.holds(STATED, taken, "me")
