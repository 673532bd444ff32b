"""Managers: too many of them, what they become under a new schema, and how they are named."""

from unit.cluster.apiserver.managedfields.shapes import VERSION
from windvane.cluster.apiserver.managedfields.conflicts import called
from windvane.cluster.apiserver.managedfields.field_set import fields_at
from windvane.cluster.apiserver.managedfields.managed_fields import (
    ANCIENT,
    ManagedFields,
    Manager,
    VersionedSet,
    apply_manager,
    capped,
    entries_of,
    is_reset,
    stated_managed_fields,
    stored_managed_fields,
    update_manager,
)
from windvane.cluster.apiserver.managedfields.shape import shape_of
from windvane.cluster.apiserver.managedfields.typed_value import follow_schema

ITEM = ('k:{"name":"a"}',)


def updaters(number: int) -> ManagedFields:
    return {
        update_manager(f"m{n:02d}", VERSION, ""): VersionedSet(
            fields_at((f"f:{n}",)), VERSION, f"2026-01-01T00:00:{n:02d}Z"
        )
        for n in range(number)
    }


def test_ten_updaters_are_not_too_many() -> None:
    assert capped(updaters(10)) == updaters(10)


def test_the_oldest_of_too_many_updaters_become_one() -> None:
    left = capped(updaters(12))
    ancient = left[Manager(ANCIENT, "Update", VERSION)]
    assert len(left) == 10
    assert ancient.fields == fields_at(("f:0",), ("f:1",), ("f:2",))
    assert ancient.time == "2026-01-01T00:00:02Z"


def test_appliers_are_never_too_many() -> None:
    managed = {apply_manager(f"m{n}", ""): VersionedSet({}, VERSION) for n in range(20)}
    assert capped(managed) == managed


def test_shares_survive_managed_fields() -> None:
    managed = {**updaters(3), apply_manager("one", "status"): VersionedSet(fields_at(("f:status",)), VERSION)}
    entries = entries_of(managed)
    assert stored_managed_fields(entries) == stated_managed_fields(entries) == managed


def test_only_an_empty_list_or_one_empty_entry_asks_to_forget() -> None:
    assert is_reset([])
    assert is_reset([{}])
    assert not is_reset(None)
    assert not is_reset([{}, {}])
    assert not is_reset([{"manager": "a"}])


def test_what_has_become_one_value_is_owned_as_one() -> None:
    items = {"type": "object", "properties": {"name": {"type": "string"}}}
    listed = {"type": "array", "items": items}
    shape = shape_of({"type": "object", "properties": {"items": listed}}, builtin=False)
    before = fields_at(("f:items", *ITEM), ("f:items", *ITEM, "f:name"), ("f:other",))
    assert follow_schema(shape, before) == fields_at(("f:items",), ("f:other",))


def test_what_is_as_it_was_stays_as_it_was() -> None:
    merged = {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}
    keyed = {**merged, "x-kubernetes-list-map-keys": ["name"]}
    shape = shape_of({"type": "object", "properties": {"items": keyed}}, builtin=False)
    before = fields_at(("f:items", *ITEM), ("f:items", *ITEM, "f:name"))
    assert follow_schema(shape, before) == before


def test_a_manager_is_called_by_all_that_tells_it_apart() -> None:
    assert called(apply_manager("one", "")) == '"one"'
    assert called(apply_manager("one", "status")) == '"one" with subresource "status"'
    assert called(update_manager("two", "v1", "")) == '"two" using v1'
    assert called(update_manager("", "v1", "scale")) == '"unknown" with subresource "scale" using v1'
