"""Addresses for pods, networks for Services."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from windvane.cluster.node.network.addresses import SERVICE_BLOCKS, Addresses, claim_for_services, claim_loopback

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs abstract sockets")


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


@linux
@pytest.mark.usefixtures("claims")
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


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """Holds networks until the test ends, under names that no cluster on this machine has."""

    class Elsewhere(socket.socket):
        def bind(self, address: object) -> None:
            super().bind(f"{address}/{os.getpid()}")

    monkeypatch.setattr(socket, "socket", Elsewhere)
    with ExitStack() as stack:
        yield stack


@linux
def test_two_clusters_never_share_a_network_for_services(claims: ExitStack) -> None:
    networks = [claims.enter_context(closing(claim_for_services("same"))).network for _ in SERVICE_BLOCKS]
    assert len(set(networks)) == len(SERVICE_BLOCKS)
    with pytest.raises(RuntimeError, match="taken by other clusters: stop one"):
        claim_for_services("same")


def test_a_cluster_has_the_network_for_services_that_it_had(claims: ExitStack) -> None:
    assert claims.enter_context(closing(claim_for_services("web", "127.240.0.0/16"))).network == "127.240.0.0/16"


@linux
def test_unless_another_has_it_by_now(claims: ExitStack) -> None:
    own = claims.enter_context(closing(claim_for_services("web"))).network
    other = claims.enter_context(closing(claim_for_services("web", own))).network
    assert other != own


@pytest.mark.parametrize("had", ["", "10.0.0.0/16", "127.64.0.0/16", "what?"])
def test_what_is_no_network_for_services_is_not_taken(claims: ExitStack, had: str) -> None:
    with closing(claim_for_services("web")) as usual:
        pass
    assert claims.enter_context(closing(claim_for_services("web", had))).network == usual.network
