"""YAML becomes the JSON that the real server makes of it."""

import json
from typing import Any

import pytest

from windvane.cluster.apiserver.encoding.go_yaml import NotYaml, to_json


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("on", True), ("N", False), ("~", None), ("", None), ("'on'", "on"), ('"1"', "1"),
        ("0o17", 15), ("0777", 511), ("08", 8), ("0b11", 3), ("-0x10", -16), ("1_000", 1000), ("+5", 5),
        (".5", 0.5), ("5.", 5), ("1e3", 1000), ("1.5e-3", 0.0015), ("18446744073709551615", 18446744073709551615),
        ("+", "+"), ("0x", "0x"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"), ("2020-01-01T00:00:00Z",) * 2,
        ("!!str 1", "1"), ("!!float 1", 1), ("!!binary aGk=", "hi"), ("!own x", "x"),
    ],
)  # fmt: skip
def test_a_scalar(scalar: str, value: Any) -> None:
    assert json.loads(to_json(f"k: {scalar}\n".encode()).body) == {"k": value}


def test_what_is_merged_counts_from_where_it_is() -> None:
    body = b"a: &a {x: 1, z: 2}\nb: {z: 3, <<: *a}\nc: {<<: *a, z: 3}\nd: {<<: [*a, {x: 9, w: 1}]}\n"
    made = json.loads(to_json(body).body)
    assert (made["b"], made["c"]) == ({"x": 1, "z": 2}, {"x": 1, "z": 3})
    assert made["d"] == {"x": 1, "z": 2, "w": 1}


def test_a_few_lines_can_not_stand_for_more_than_the_machine_holds() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    with pytest.raises(NotYaml, match="excessive aliasing"):
        to_json("\n".join(lines).encode())


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(NotYaml, match="depth"):
        to_json(b"[" * 100_000)
