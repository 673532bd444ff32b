"""Subsets of Endpoints: packed the same way always, and cut where there are too many."""

from windvane.cluster.controllers.endpoints.subsets import count, repack, truncate
from windvane.k8s.core import EndpointAddress, EndpointPort, EndpointSubset


def addresses(*numbers: int) -> list[EndpointAddress]:
    return [EndpointAddress(ip=f"10.0.{each // 250}.{each % 250}") for each in numbers]


def ports(*numbers: int) -> list[EndpointPort]:
    return [EndpointPort(port=each) for each in numbers]


def test_addresses_with_the_same_ports_are_together() -> None:
    apart = [
        EndpointSubset(addresses=addresses(2), ports=ports(80)),
        EndpointSubset(addresses=addresses(1), ports=ports(80)),
    ]
    assert repack(apart) == [EndpointSubset(addresses=addresses(1, 2), ports=ports(80))]


def test_ports_with_the_same_addresses_are_together() -> None:
    apart = [
        EndpointSubset(addresses=addresses(1), ports=ports(81)),
        EndpointSubset(addresses=addresses(1), ports=ports(80)),
    ]
    assert repack(apart) == [EndpointSubset(addresses=addresses(1), ports=ports(80, 81))]


def test_ports_with_other_addresses_are_apart() -> None:
    apart = [
        EndpointSubset(addresses=addresses(1), ports=ports(80)),
        EndpointSubset(addresses=addresses(2), ports=ports(81)),
    ]
    assert repack(apart) == apart


def test_what_is_not_ready_once_is_not_ready() -> None:
    both = [
        EndpointSubset(addresses=addresses(1), ports=ports(80)),
        EndpointSubset(not_ready_addresses=addresses(1), ports=ports(80)),
    ]
    assert repack(both) == [EndpointSubset(not_ready_addresses=addresses(1), ports=ports(80))]


def test_repacking_again_changes_nothing() -> None:
    once = repack([EndpointSubset(addresses=addresses(3, 1), not_ready_addresses=addresses(2), ports=ports(81, 80))])
    assert repack(once) == once


def test_a_thousand_addresses_are_not_cut() -> None:
    subsets = [EndpointSubset(addresses=addresses(*range(1000)), ports=ports(80))]
    assert truncate(subsets) == subsets


def test_unready_addresses_are_left_out_first() -> None:
    [cut] = truncate(
        [EndpointSubset(addresses=addresses(*range(900)), not_ready_addresses=addresses(*range(900, 1200)))]
    )
    assert (len(cut.addresses), len(cut.not_ready_addresses)) == (900, 100)


def test_each_subset_keeps_its_share() -> None:
    cut = truncate(
        [
            EndpointSubset(addresses=addresses(*range(1500)), not_ready_addresses=addresses(1999), ports=ports(80)),
            EndpointSubset(addresses=addresses(*range(1500, 2000)), ports=ports(81)),
        ]
    )
    assert [len(each.addresses) for each in cut] == [750, 250]
    assert count(cut) == 1000
