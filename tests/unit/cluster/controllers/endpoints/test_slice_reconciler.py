"""How endpoints are put into slices: few slices, and few of them written."""

from hypothesis import given
from hypothesis import strategies as st

from windvane.api.meta import ObjectMeta
from windvane.cluster.controllers.endpoints.slice_reconciler import (
    PortGroup,
    Ports,
    SlicePlan,
    identity,
    pack,
    ports_key,
)
from windvane.k8s.discovery import Endpoint, EndpointConditions, EndpointPort, EndpointSlice

PORTS = [EndpointPort(name="http", port=80, protocol="TCP")]
LABELS = {"kubernetes.io/service-name": "web"}
PER_SLICE = 5


def endpoint(number: int, *, ready: bool = True) -> Endpoint:
    return Endpoint(addresses=[f"10.0.0.{number}"], conditions=EndpointConditions(ready=ready))


def wanted(*numbers: int, ports: list[EndpointPort] = PORTS) -> dict[Ports, PortGroup]:
    endpoints = [endpoint(each) for each in numbers]
    return {ports_key(ports): PortGroup(ports, {identity(each): each for each in endpoints})}


def a_slice(name: str, *numbers: int, ports: list[EndpointPort] = PORTS) -> EndpointSlice:
    meta = ObjectMeta(name=name, labels=dict(LABELS))
    return EndpointSlice(
        metadata=meta, address_type="IPv4", ports=ports, endpoints=[endpoint(each) for each in numbers]
    )


EMPTY = EndpointSlice(metadata=ObjectMeta(generate_name="web-", labels=LABELS), address_type="IPv4")


def packed(groups: dict[Ports, PortGroup], *existing: EndpointSlice) -> SlicePlan:
    return pack(groups, existing, EMPTY, PER_SLICE)


def names(slices: list[EndpointSlice]) -> list[str]:
    return [each.metadata.name for each in slices]


def test_new_endpoints_fill_new_slices() -> None:
    plan = packed(wanted(*range(12)))
    assert [len(each.endpoints) for each in plan.create] == [5, 5, 2]
    assert not plan.update
    assert not plan.delete


def test_what_is_as_it_should_be_is_not_written() -> None:
    plan = packed(wanted(1, 2), a_slice("a", 1, 2))
    assert names(plan.keep) == ["a"]
    assert not plan.update


def test_a_new_endpoint_goes_into_the_fullest_slice_that_has_room() -> None:
    plan = packed(wanted(1, 2, 3, 4), a_slice("a", 1), a_slice("b", 2, 3))
    assert names(plan.update) == ["b"]
    assert not plan.create


def test_a_slice_that_is_written_anyway_is_filled_first() -> None:
    plan = packed(wanted(1, 2, 3, 4, 9), a_slice("a", 1, 2, 3, 4), a_slice("b", 5, 9))
    assert names(plan.update) == ["b"]
    assert names(plan.keep) == ["a"]


def test_a_slice_without_endpoints_goes() -> None:
    plan = packed(wanted(1), a_slice("a", 1), a_slice("b", 2))
    assert names(plan.delete) == ["b"]


def test_a_slice_is_used_again_for_other_ports() -> None:
    plan = packed(wanted(1, ports=[EndpointPort(port=81)]), a_slice("a", 1))
    assert names(plan.update) == ["a"]
    assert plan.update[0].ports == [EndpointPort(port=81)]
    assert not plan.delete
    assert not plan.create


def test_without_endpoints_one_slice_stays_and_says_so() -> None:
    plan = packed({}, a_slice("a", 1), a_slice("b", 2))
    assert names(plan.update) == ["a"]
    assert (plan.update[0].endpoints, plan.update[0].ports) == ([], [])
    assert names(plan.delete) == ["b"]
    assert names(packed({}, plan.update[0]).keep) == ["a"]


def test_an_endpoint_that_changes_stays_where_it_is() -> None:
    groups = wanted(1, 2)
    [group] = groups.values()
    changed = endpoint(1, ready=False)
    group.endpoints[identity(changed)] = changed
    plan = packed(groups, a_slice("a", 1, 2))
    assert names(plan.update) == ["a"]
    assert plan.update[0].endpoints == [changed, endpoint(2)]


def test_a_label_that_changes_is_written() -> None:
    other = a_slice("a", 1)
    other.metadata.labels = {}
    plan = packed(wanted(1), other)
    assert [each.metadata.labels for each in plan.update] == [LABELS]


numbers = st.sets(st.integers(1, 30), max_size=30)


@given(st.lists(numbers, min_size=1, max_size=6))
def test_whatever_comes_and_goes_each_endpoint_is_in_one_slice(steps: list[set[int]]) -> None:
    existing: list[EndpointSlice] = []
    for count, step in enumerate(steps):
        plan = packed(wanted(*step), *existing)
        for number, each in enumerate(plan.create):
            each.metadata.name = f"s{count}-{number}"
        existing = [*plan.keep, *plan.update, *plan.create]
        there = [each.addresses[0] for one in existing for each in one.endpoints]
        assert sorted(there) == sorted(f"10.0.0.{number}" for number in step)
        assert existing
        assert all(len(each.endpoints) <= PER_SLICE for each in existing)
        again = packed(wanted(*step), *existing)
        assert [*again.create, *again.update, *again.delete] == []
