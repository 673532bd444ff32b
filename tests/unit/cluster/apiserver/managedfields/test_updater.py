"""Ownership of fields, and what becomes of them, for any sequence of applies and updates."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.cluster.apiserver.managedfields.shapes import NOTHING, VERSION, apply, owned, specs, thing, update
from windvane.cluster.apiserver.managedfields.managed_fields import ManagedFields, update_manager
from windvane.cluster.apiserver.managedfields.updater import Conflicts

Spec = dict[str, Any]
Wire = dict[str, Any]


@given(specs, specs)
def test_applying_twice_is_a_no_op(live: Spec, spec: Spec) -> None:
    first = apply(thing(live), spec, {}, "one")
    second = apply(first.wire, spec, first.managed, "one")
    assert not second.changed
    assert second.wire == first.wire
    assert second.managed == first.managed


@given(specs, specs)
def test_two_managers_with_disjoint_fields_commute(one: Spec, other: Spec) -> None:
    other = {name: value for name, value in other.items() if name not in one}

    def both(first: Spec, first_name: str, second: Spec, second_name: str) -> Any:
        before = apply(NOTHING, first, {}, first_name)
        return apply(before.wire, second, before.managed, second_name)

    there, back = both(one, "one", other, "other"), both(other, "other", one, "one")
    assert there.wire == back.wire
    assert there.managed == back.managed


@given(specs)
def test_what_two_managers_want_alike_belongs_to_both(spec: Spec) -> None:
    first = apply(NOTHING, spec, {}, "one")
    second = apply(first.wire, spec, first.managed, "other")
    assert owned(second.managed, "one") == owned(second.managed, "other")


@given(specs)
def test_what_its_only_applier_no_longer_states_is_gone(spec: Spec) -> None:
    first = apply(NOTHING, {"size": 9, **spec}, {}, "one")
    second = apply(first.wire, {"size": 9}, first.managed, "one")
    left = second.wire["spec"]
    assert {name for name, value in left.items() if value not in ([], {})} == {"size"} | (spec.keys() & {"size"})


@given(specs)
def test_what_another_applier_still_states_stays_with_it(spec: Spec) -> None:
    first = apply(NOTHING, spec, {}, "one")
    shared = apply(first.wire, spec, first.managed, "other")
    dropped = apply(shared.wire, {}, shared.managed, "one")
    assert dropped.wire["spec"] == first.wire["spec"]
    assert owned(dropped.managed, "one") == {}
    assert owned(dropped.managed, "other") == owned(shared.managed, "other")


@given(specs, specs)
def test_forced_fields_belong_to_who_forced_them(one: Spec, other: Spec) -> None:
    first = apply(NOTHING, one, {}, "one")
    forced = apply(first.wire, other, first.managed, "other", force=True)
    again = apply(forced.wire, other, forced.managed, "other")
    assert not again.changed
    for name in ("size", "color", "whole", "listed"):
        if name in other and name in one and one[name] != other[name]:
            assert f"f:{name}" not in owned(forced.managed, "one")


@given(specs, specs, specs)
def test_a_refused_apply_is_one_that_would_have_taken_something(one: Spec, other: Spec, live: Spec) -> None:
    first = apply(thing(live), one, {}, "one")
    forced = apply(first.wire, other, first.managed, "other", force=True)
    if owned(forced.managed, "one") == owned(first.managed, "one"):
        assert apply(first.wire, other, first.managed, "other") == forced
    else:
        with pytest.raises(Conflicts):
            apply(first.wire, other, first.managed, "other")


@given(specs, specs)
def test_an_update_takes_what_it_changes_and_nothing_else(one: Spec, other: Spec) -> None:
    first = apply(NOTHING, one, {}, "one")
    managed = update(first.wire, other, first.managed, "other")
    mine = managed.get(update_manager("other", VERSION, ""))
    for name in ("size", "color", "whole", "listed"):
        step = f"f:{name}"
        changed = name in other and one.get(name) != other[name]
        assert bool(mine and step in mine.fields.get("f:spec", {})) == changed
        if name in one:
            assert (step in owned(managed, "one")) == (name in other and not changed)


@given(specs)
def test_an_update_that_changes_nothing_moves_nothing(spec: Spec) -> None:
    first = apply(NOTHING, spec, {}, "one")
    assert update(first.wire, first.wire["spec"], first.managed, "other") == first.managed


@given(st.lists(st.tuples(st.sampled_from(["one", "other", "third"]), specs), max_size=5))
def test_every_owned_field_is_there(writes: list[tuple[str, Spec]]) -> None:
    wire: Wire = NOTHING
    managed: ManagedFields = {}
    for name, spec in writes:
        result = apply(wire, spec, managed, name, force=True)
        wire, managed = result.wire, result.managed
    for versioned in managed.values():
        for step in versioned.fields.get("f:spec", {}):
            assert step == "." or step[2:] in wire["spec"]


def test_the_order_of_merged_items_follows_the_applier() -> None:
    live = thing({"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})
    result = apply(live, {"items": [{"name": "c"}, {"name": "x"}, {"name": "a"}]}, {}, "one")
    assert [item["name"] for item in result.wire["spec"]["items"]] == ["b", "c", "x", "a"]


def test_a_whole_map_is_replaced() -> None:
    result = apply(thing({"whole": {"x": "1"}}), {"whole": {"y": "2"}}, {}, "one")
    assert result.wire["spec"]["whole"] == {"y": "2"}
    assert owned(result.managed, "one") == {"f:whole": {}}


def test_a_conflict_names_the_manager_and_the_fields() -> None:
    first = apply(NOTHING, {"size": 1, "items": [{"name": "a", "port": 1}]}, {}, "one")
    with pytest.raises(Conflicts) as caught:
        apply(first.wire, {"size": 2, "items": [{"name": "a", "port": 2}]}, first.managed, "other")
    assert [path for _, path in caught.value.found] == [
        ("f:spec", "f:size"),
        ("f:spec", "f:items", 'k:{"name":"a"}', "f:port"),
    ]


def test_a_manager_of_a_version_that_is_gone_is_forgotten() -> None:
    first = apply(NOTHING, {"size": 1}, {}, "one")
    managed = {manager._replace(name="old"): versioned for manager, versioned in first.managed.items()}
    (manager, versioned), *_ = managed.items()
    ancient = {manager: type(versioned)(versioned.fields, "example.com/v0", versioned.time)}
    result = apply(first.wire, {"size": 2}, ancient, "one")
    assert [each.name for each in result.managed] == ["one"]
