"""Whether an object already is as we would state it."""

from typing import Any

import pytest

from windvane import ObjectMeta
from windvane.k8s.core import ConfigMap
from windvane.runtime.writes.applied_fields import RECORD, drop_record, is_applied, is_recorded, our_part, record

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
    assert is_applied(STATED, thing(paused=True, extra="default"), "me")


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
    assert not is_applied(STATED, thing(**spec), "me")


def test_it_is_not_so_when_we_state_more_than_we_own() -> None:
    more = {**STATED, "spec": {**STATED["spec"], "paused": False}}
    assert not is_applied(more, thing(), "me"), "nobody would keep paused as it is"


def test_it_is_not_so_when_we_state_less_than_we_own() -> None:
    less = {**STATED, "spec": {"replicas": 3}}
    assert not is_applied(less, thing(), "me")


def test_it_is_not_so_for_who_owns_nothing() -> None:
    assert not is_applied(STATED, thing(), "somebody")


def recorded(stated: dict[str, Any]) -> dict[str, Any]:
    """What the server has once the record of what was stated is on it."""
    child = ConfigMap(metadata=ObjectMeta(name="blog"))
    assert record(child, stated, thing(), "me")
    there = thing()
    there["metadata"]["annotations"] = dict(child.metadata.annotations)
    fields = {**FIELDS, "f:metadata": {**FIELDS["f:metadata"], "f:annotations": {f"f:{RECORD}": {}}}}
    there["metadata"]["managedFields"][1] = {"manager": "me", "operation": "Apply", "fieldsV1": fields}
    return there


def test_what_the_server_stores_in_other_words_is_known_by_its_record() -> None:
    stated = {**STATED, "spec": {"replicas": "3000m"}}
    assert not is_recorded(stated, thing(), "me")
    assert is_recorded(stated, recorded(stated), "me")
    assert not is_recorded(STATED, recorded(stated), "me"), "something else is stated now"


def test_a_field_that_another_manager_took_over_ends_the_record() -> None:
    there = recorded(STATED)
    del there["metadata"]["managedFields"][1]["fieldsV1"]["f:spec"]
    assert not is_recorded(STATED, there, "me")


def test_a_record_is_stated_again_only_where_there_is_one() -> None:
    child = ConfigMap(metadata=ObjectMeta(name="blog"))
    assert not record(child, STATED, thing(), "me", only_again=True)
    assert child.metadata.annotations == {}
    assert record(child, STATED, recorded(STATED), "me", only_again=True)
    drop_record(child)
    assert child.metadata.annotations == {}
