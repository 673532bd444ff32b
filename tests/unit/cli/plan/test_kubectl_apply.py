"""What `kubectl apply` makes of an object that is there."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cli.plan.kubectl_apply import three_way
from windvane.cluster.apiserver.patch import merge_patch


@pytest.mark.parametrize(
    ("noted", "stated", "there", "patch"),
    [
        ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": 1}, {"a": 7}, {"a": 1}),  # another client has changed it
        ({"a": 1, "b": 1}, {"a": 1}, {"a": 1, "b": 1}, {"b": None}),  # it is stated no more
        ({"a": 1, "b": 1}, {"a": 1}, {"a": 1}, {}),  # and is gone already
        ({"a": 1}, {"a": 1}, {"a": 1, "c": 3}, {}),  # another client's
        ({"s": {"x": 1, "y": 2}}, {"s": {"x": 3}}, {"s": {"x": 1, "y": 2, "z": 4}}, {"s": {"x": 3, "y": None}}),
        ({"l": [1]}, {"l": [2]}, {"l": [1]}, {"l": [2]}),
    ],
)
def test_what_kubectl_apply_changes(noted: Any, stated: Any, there: Any, patch: Any) -> None:
    assert three_way(noted, stated, there) == patch


objects = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | inner, max_size=3),
    max_leaves=6,
)


@given(objects, objects, objects)
def test_after_an_apply_all_is_as_stated_and_what_was_stated_before_alone_is_gone(
    noted: Any, stated: Any, there: Any
) -> None:
    after = merge_patch.apply(there, three_way(noted, stated, there))
    for name, value in stated.items():
        assert name in after
        if not isinstance(value, dict):
            assert after[name] == value
    assert not {name for name in noted if name not in stated} & after.keys()
