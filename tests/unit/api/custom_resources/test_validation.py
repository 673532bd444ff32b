"""obj.validate(): what the server would refuse by the schema of a class, judged without a server."""

from typing import Annotated, Any, Literal

import pytest

from windvane import (
    Cron,
    ExactlyOneOf,
    Ge,
    Le,
    ListMap,
    MaxItems,
    MaxLength,
    ObjectMeta,
    Pattern,
    Resource,
    Rule,
    Spec,
    Status,
)
from windvane.api.status import StatusCause
from windvane.k8s import core


class Door(Spec):
    name: Annotated[str, MaxLength(20)]
    number: Annotated[int, Rule("self >= oldSelf", "may only grow")] = 1


class HouseSpec(
    Spec,
    rules=[
        Rule("self.low <= self.high", "low must not exceed high", field_path=".low"),
        ExactlyOneOf("git_url", "bucket"),
    ],
):
    low: int = 1
    high: int = 5
    git_url: Annotated[str | None, MaxLength(50)] = None
    bucket: Annotated[str | None, MaxLength(50), Rule("self != 'full'", message_expression="self + ' is full'")] = None
    frozen: Annotated[str | None, MaxLength(20), Rule("self == oldSelf", "can't be changed")] = None
    doors: Annotated[list[Door], ListMap("name"), MaxItems(5)] = []
    rooms: Annotated[int, Ge(1), Le(9)] = 3
    style: Literal["old", "new"] = "old"
    plan: Annotated[str | None, Pattern("^[A-Z]+$")] = None
    cleaned: Cron | None = None


class HouseStatus(Status):
    pass


class House(Resource[HouseSpec, HouseStatus], group="demo.windvane.dev", version="v1"):
    """A house."""


def house(name: str = "h", /, **spec: object) -> House:
    return House(metadata=ObjectMeta(name=name), spec=HouseSpec(**({"bucket": "b"} | spec)))  # type: ignore[arg-type]


def told(causes: list[StatusCause]) -> list[tuple[str, str]]:
    return [(cause.field, cause.message) for cause in causes]


def test_an_object_that_keeps_all_rules_has_nothing_wrong() -> None:
    assert house().validate() == []


def test_a_rule_that_is_broken_is_told_in_the_servers_words() -> None:
    assert told(house(low=9).validate()) == [("spec.low", "Invalid value: low must not exceed high")]


def test_defaults_count() -> None:
    assert told(house(high=0).validate()) == [("spec.low", "Invalid value: low must not exceed high")]


def test_rules_about_fields_that_are_set_or_not() -> None:
    expected = [("spec", "Invalid value: exactly one of gitURL, bucket must be set")]
    assert told(house(git_url="g").validate()) == expected
    assert told(house(bucket=None).validate()) == expected


def test_a_rule_on_one_field_shows_the_value() -> None:
    assert told(house(bucket="full").validate()) == [("spec.bucket", 'Invalid value: "full": full is full')]


def test_transitions_are_judged_against_the_old_object() -> None:
    old = house(frozen="a", doors=[Door(name="x", number=3)])
    new = house(frozen="b", doors=[Door(name="y"), Door(name="x", number=2)])
    assert new.validate() == []
    assert sorted(told(new.validate(old))) == [
        ("spec.doors[1].number", "Invalid value: 2: may only grow"),
        ("spec.frozen", 'Invalid value: "b": can\'t be changed'),
    ]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"rooms": 11}, "spec.rooms", "Invalid value: 11: spec.rooms in body should be less than or equal to 9"),
        ({"rooms": 0}, "spec.rooms", "Invalid value: 0: spec.rooms in body should be greater than or equal to 1"),
        ({"high": 2**63}, "spec.high", 'spec.high in body must be of type int64: "float64"'),
        ({"rooms": "3"}, "spec.rooms", "spec.rooms in body must be of type integer"),
        ({"bucket": "b" * 51}, "spec.bucket", "Too long: may not be more than 50 bytes"),
        ({"style": "odd"}, "spec.style", 'Unsupported value: "odd": supported values: "old", "new"'),
        ({"plan": "a"}, "spec.plan", "spec.plan in body should match '^[A-Z]+$'"),
        ({"cleaned": "boo"}, "spec.cleaned", "spec.cleaned in body should match"),
        ({"doors": [Door(name=str(number)) for number in range(6)]}, "spec.doors", "must have at most 5 items"),
        ({"doors": [Door(name="a"), Door(name="a")]}, "spec.doors[1]", 'Duplicate value: {"name":"a"}'),
    ],
)
def test_a_constraint_that_is_broken_is_told_in_the_servers_words(
    spec: dict[str, Any], field: str, message: str
) -> None:
    assert any(cause.field == field and message in cause.message for cause in house(**spec).validate())


def test_what_was_wrong_before_and_is_unchanged_may_stay() -> None:
    old = house(rooms=11)
    assert house(rooms=11, low=2).validate(old) == []
    assert house(rooms=12).validate(old) != []


def test_a_kind_without_rules_has_none_to_break() -> None:
    assert core.ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "b"}).validate() == []
