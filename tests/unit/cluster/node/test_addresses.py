"""Addresses for pods."""

import sys

import pytest

from windvane.cluster.node.addresses import Addresses, claim_loopback


def test_each_is_given_once_and_the_ones_given_back_come_last() -> None:
    addresses = Addresses("10.0.0.0/29")
    first = addresses.take()
    addresses.give_back(first)
    assert addresses.take() != first


def test_when_all_are_taken_that_is_said() -> None:
    addresses = Addresses("10.0.0.0/30")
    assert {addresses.take(), addresses.take()} == {"10.0.0.1", "10.0.0.2"}
    with pytest.raises(RuntimeError, match="delete some"):
        addresses.take()


def test_one_can_be_kept_if_nobody_has_it_and_it_is_of_the_network() -> None:
    addresses = Addresses("10.0.0.0/29")
    assert addresses.keep("10.0.0.1")
    assert not addresses.keep("10.0.0.1")
    assert not addresses.keep("10.1.0.1")
    assert addresses.take() == "10.0.0.2"


@pytest.mark.skipif(sys.platform != "linux", reason="needs abstract sockets")
def test_two_clusters_never_share_a_network() -> None:
    one, other = claim_loopback("same"), claim_loopback("same")
    first, second = one.take(), other.take()
    assert first.startswith("127.")
    assert first.rsplit(".", 2)[0] != second.rsplit(".", 2)[0]
    one.close()
    again = claim_loopback("same")
    assert again.take() == first
    again.close()
    other.close()
