"""Structs: names on the wire, defaults that are not sent."""

import pytest

from windvane import Quantity, Struct, field
from windvane.api import codec
from windvane.api.struct import wire_name


@pytest.mark.parametrize(
    ("python", "wire"),
    [
        ("replicas", "replicas"),
        ("ready_replicas", "readyReplicas"),
        ("cluster_ip", "clusterIP"),
        ("pod_ips", "podIPs"),
        ("external_ips", "externalIPs"),
        ("ip", "ip"),
        ("api_version", "apiVersion"),
        ("uid", "uid"),
        ("git_url", "gitURL"),
        ("http_get", "httpGet"),
        ("from_", "from"),
        ("fields_v1", "fieldsV1"),
    ],
)
def test_snake_case_becomes_what_kubernetes_writes(python: str, wire: str) -> None:
    assert wire_name(python) == wire


class Inner(Struct):
    size: Quantity | None = None


class Outer(Struct):
    name: str
    lun: int | None = field(name="LUN", default=None)
    inner: Inner | None = None
    items: list[str] = []
    labels: dict[str, str] = {}
    on: bool = False


def test_what_was_not_set_is_not_sent() -> None:
    assert codec.encode(Outer(name="a")) == b'{"name":"a"}'


def test_an_empty_struct_that_was_set_is_sent() -> None:
    assert codec.to_wire(Outer(name="a", inner=Inner())) == {"name": "a", "inner": {}}


def test_a_field_can_have_any_name_on_the_wire() -> None:
    assert codec.to_wire(Outer(name="a", lun=3)) == {"name": "a", "LUN": 3}


def test_arguments_are_keywords() -> None:
    with pytest.raises(TypeError):
        Outer("a")  # type: ignore[call-arg]


def test_mutable_defaults_are_not_shared() -> None:
    first, second = Outer(name="a"), Outer(name="b")
    first.items.append("x")
    assert second.items == []


def test_a_struct_as_a_default_is_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match=r"Bad.inner: .* write field\(default_factory=Inner\)"):

        class Bad(Struct):
            inner: Inner = Inner()
