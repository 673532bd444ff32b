"""Reading and writing: lenient where Go is, exact where it matters."""

from datetime import UTC, datetime
from enum import IntEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest

from windvane import Duration, IntOrString, ListSet, Quantity, Struct
from windvane.api import codec
from windvane.k8s import core, rbac


class Shelf(Struct):
    books: list[str]
    by_name: dict[str, int]
    size: Quantity | None = None
    wait: Duration | None = None
    tags: Annotated[list[str], ListSet()] = []
    since: datetime | None = None


def test_null_for_a_list_or_map_reads_as_an_empty_one() -> None:
    assert codec.decode(b'{"books":null,"byName":null,"tags":null}', Shelf) == Shelf(books=[], by_name={})


def test_a_whole_number_with_a_point_reads_as_an_integer_as_the_schema_takes_it() -> None:
    shelf = codec.decode(b'{"books":[],"byName":{"a":2.0,"b":1e3}}', Shelf)
    assert shelf.by_name == {"a": 2, "b": 1000}
    assert all(type(value) is int for value in shelf.by_name.values())
    with pytest.raises(msgspec.ValidationError, match="Expected `int`, got `float`"):
        codec.decode(b'{"books":[],"byName":{"a":2.5}}', Shelf)


def test_a_required_list_that_is_absent_reads_as_an_empty_one() -> None:
    role = codec.decode(b'{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","rules":null}', rbac.Role)
    assert role.rules == []


def test_null_deep_inside_reads_as_absent() -> None:
    raw = b'{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"a","ports":null}]}}'
    pod = codec.decode(raw, core.Pod)
    assert pod.spec.containers[0].ports == []


def test_null_in_free_form_content_stays() -> None:
    assert codec.from_wire({"a": None, "b": [None]}, dict[str, Any]) == {"a": None, "b": [None]}


def test_values_travel_as_their_texts() -> None:
    shelf = Shelf(books=["a"], by_name={}, size=Quantity("1.5Gi"), wait=Duration(minutes=90))
    assert codec.to_wire(shelf) == {"books": ["a"], "byName": {}, "size": "1536Mi", "wait": "1h30m0s"}
    assert codec.decode(codec.encode(shelf), Shelf) == shelf


class Grade(IntEnum):
    GOOD = 1


class Rating(Struct):
    grade: Grade | None = None
    stars: Literal[1, 2, 3] | None = None
    share: IntOrString | None = None
    weight: float | None = None


def test_that_is_so_wherever_a_type_has_integers() -> None:
    rating = codec.decode(b'{"grade":1.0,"stars":2.0,"share":3.0,"weight":4.0}', Rating)
    assert rating == Rating(grade=Grade.GOOD, stars=2, share=3, weight=4.0)


def test_times_are_read_in_utc_and_written_as_kubernetes_does() -> None:
    shelf = codec.decode(b'{"books":[],"byName":{},"since":"2030-01-02T03:04:05Z"}', Shelf)
    assert shelf.since == datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert codec.to_wire(shelf)["since"] == "2030-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"books":[1],"byName":{}}', r"Expected `str`, got `int` - at `\$.books\[0\]`"),
        (b'{"books":[],"byName":{},"size":"lots"}', r"lots.*at `\$.size`"),
        (b'{"books":[],"byName":{},"wait":"5"}', r"5.*at `\$.wait`"),
    ],
)
def test_what_does_not_fit_is_named_with_its_path(raw: bytes, message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        codec.decode(raw, Shelf)


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        codec.decode(b"{", Shelf)


def test_unknown_fields_are_ignored() -> None:
    assert codec.decode(b'{"books":[],"byName":{},"new":1}', Shelf) == Shelf(books=[], by_name={})


def test_a_type_without_a_wire_form_says_what_it_lacks() -> None:
    with pytest.raises(NotImplementedError, match=r"complex can.t be written as JSON: give it from_wire and to_wire"):
        codec.encode({"a": 1j})
