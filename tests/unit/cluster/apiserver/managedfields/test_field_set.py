"""Sets of fields obey the laws of sets, and survive their FieldsV1 form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.managedfields.field_set import (
    FieldSet,
    NotFields,
    Path,
    contains,
    difference,
    fields_at,
    intersection,
    key_step,
    outside,
    paths,
    read_fields,
    union,
    value_step,
    words,
)

steps = st.sampled_from(["f:a", "f:b", key_step({"name": "x"}), key_step({"name": "y", "port": 1}), value_step("v")])
some_paths = st.frozensets(st.lists(steps, min_size=1, max_size=4).map(tuple), max_size=12)


def as_paths(fields: FieldSet) -> frozenset[Path]:
    return frozenset(paths(fields))


@given(some_paths)
def test_a_set_has_the_paths_that_it_was_made_of(given_paths: frozenset[Path]) -> None:
    assert as_paths(fields_at(*given_paths)) == given_paths


@given(some_paths)
def test_a_set_survives_its_form_in_managed_fields(given_paths: frozenset[Path]) -> None:
    fields = fields_at(*given_paths)
    assert as_paths(read_fields(fields)) == given_paths


@given(some_paths, some_paths)
def test_union_intersection_and_difference_are_those_of_sets(one: frozenset[Path], other: frozenset[Path]) -> None:
    a, b = fields_at(*one), fields_at(*other)
    assert as_paths(union(a, b)) == one | other
    assert as_paths(intersection(a, b)) == one & other
    assert as_paths(difference(a, b)) == one - other


@given(some_paths, some_paths)
def test_equal_sets_are_equal_dictionaries(one: frozenset[Path], other: frozenset[Path]) -> None:
    a, b = fields_at(*one), fields_at(*other)
    assert union(a, b) == union(b, a) == fields_at(*(one | other))
    assert difference(a, b) == fields_at(*(one - other))
    assert intersection(a, b) == fields_at(*(one & other))


@given(some_paths, some_paths)
def test_outside_leaves_nothing_below_what_it_takes_away(one: frozenset[Path], other: frozenset[Path]) -> None:
    def covered(path: Path) -> bool:
        return any(path[: len(each)] == each for each in other)

    expected = {path for path in one if not covered(path)}
    assert as_paths(outside(fields_at(*one), fields_at(*other))) == expected


@given(some_paths, st.lists(steps, min_size=1, max_size=4).map(tuple))
def test_a_set_contains_its_paths_and_no_others(given_paths: frozenset[Path], path: Path) -> None:
    assert contains(fields_at(*given_paths), path) == (path in given_paths)


def test_the_form_in_managed_fields() -> None:
    item = key_step({"port": 80, "protocol": "TCP"})
    made = fields_at(("f:spec", "f:replicas"), ("f:ports", item), ("f:ports", item, "f:name"))
    assert made == {
        "f:spec": {"f:replicas": {}},
        "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}}},
    }


def test_what_others_write_gets_one_form() -> None:
    assert read_fields({'k:{"b": 1, "a": 2}': {".": {}}}) == {'k:{"a":2,"b":1}': {}}


def test_steps_of_a_kind_that_nobody_knows_are_left_out() -> None:
    assert read_fields({"x:later": {}, "f:a": {}}) == {"f:a": {}}


@pytest.mark.parametrize("fields", [{"f": {}}, {"spec": {}}, {"v:{": {}}, {"f:a": 1}, {"i:x": {}}])
def test_what_is_no_set_of_fields_is_refused(fields: FieldSet) -> None:
    with pytest.raises(NotFields):
        read_fields(fields)


def test_paths_read_as_people_write_them() -> None:
    path = ("f:spec", "f:ports", key_step({"port": 80, "protocol": "TCP"}), "f:name")
    assert words(path) == '.spec.ports[port=80,protocol="TCP"].name'
    assert words(("f:finalizers", value_step("a/b"))) == '.finalizers[="a/b"]'


def test_what_html_would_take_for_its_own_is_escaped_as_go_does_it() -> None:
    assert value_step("a<b&c") == 'v:"a\\u003cb\\u0026c"'


def test_all_of_one_depth_is_listed_before_what_is_deeper() -> None:
    fields = fields_at(("f:b", "f:c"), ("f:a",), ("f:z",), ("f:a", "f:x"))
    assert list(paths(fields)) == [("f:a",), ("f:z",), ("f:a", "f:x"), ("f:b", "f:c")]


def test_items_are_listed_by_number_and_not_by_text() -> None:
    fields = fields_at((key_step({"port": 100}),), (key_step({"port": 20}),))
    assert list(paths(fields)) == [('k:{"port":20}',), ('k:{"port":100}',)]
