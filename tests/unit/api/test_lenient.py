"""An object that its class can't read can be shown to its finalizer, whatever the class raises."""

import json
from enum import Enum
from typing import Any

import msgspec
import pytest

from windvane import Resource, Spec, Status, Struct, field, kind_of
from windvane.api.envelope import Item
from windvane.api.lenient import read_leniently

SHADES = {"red": 1}


class Shade(str):
    __slots__ = ()
    wire_schema = {"type": "string"}

    @classmethod
    def from_wire(cls, value: Any) -> "Shade":
        SHADES[value]
        return cls(value)

    def to_wire(self) -> str:
        return str(self)


class Span(Struct):
    low: int = 0
    high: int = 5

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise LookupError("low is above high")


class Socket(Enum):
    E14 = "e14"
    E27 = "e27"


class LampSpec(Spec):
    span: Span = field(default_factory=Span)
    shade: Shade | None = None
    watts: int = 5
    socket: Socket = Socket.E27


class Lamp(Resource[LampSpec, Status], group="tests.windvane.dev", version="v1"):
    """A lamp."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spec.watts > 100:
            raise ValueError("too bright")


def lamp(**parts: Any) -> bytes:
    return json.dumps(
        {"apiVersion": "tests.windvane.dev/v1", "kind": "Lamp", "metadata": {"name": "a"}, **parts}
    ).encode()


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"spec": {"watts": "many", "shade": "red"}}, "spec.watts: Expected `int`, got `str`"),
        ({"spec": {"shade": "blue"}}, "spec.shade: 'blue' can't be read as Shade (KeyError: 'blue')"),
        ({"spec": {"span": {"low": 9}}}, "spec.span: LookupError: low is above high"),
        ({"spec": {"watts": 500}}, "the object: too bright"),
        ({"spec": {"socket": "b22"}}, "spec.socket: Invalid enum value 'b22'; there is 'e14', 'e27'"),
        ({"spec": "bright"}, "spec: Expected `object`, got `str`"),
        ({"spec": {}, "status": 3}, "status: Expected `object`, got `int`"),
    ],
)
def test_it_is_read_as_far_as_it_can_be(parts: dict[str, Any], problem: str) -> None:
    raw = lamp(**parts)
    with pytest.raises(msgspec.ValidationError, match=r"^Lamp a: "):
        Item(raw, Lamp).decode()
    found, problems = read_leniently(raw, Lamp)
    assert problems == [problem]
    assert isinstance(found, Lamp)
    assert (kind_of(found), found.metadata.name) == (kind_of(Lamp), "a")


def test_all_that_cannot_be_read_is_told() -> None:
    _, problems = read_leniently(lamp(spec={"watts": "many", "shade": "blue"}), Lamp)
    assert [problem.partition(":")[0] for problem in problems] == ["spec.shade", "spec.watts"]


def test_a_part_that_its_own_class_refuses_is_typed_all_the_same() -> None:
    found, _ = read_leniently(lamp(spec={"span": {"low": 9}, "watts": 7}), Lamp)
    assert (found.spec.span.low, found.spec.span.high, found.spec.watts) == (9, 5, 7)
