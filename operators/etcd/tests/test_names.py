"""What things are called, and how each name leads back to its place."""

import pytest

from etcd_operator import names
from worlds import url


@pytest.mark.parametrize("name", ["prod-4", "data-prod-4"])
def test_a_place_is_told_by_its_member_and_by_its_claim(name: str) -> None:
    assert names.ordinal_of("prod", name) == 4


@pytest.mark.parametrize(
    "name", ["prod", "prod-", "prod-x", "prod-04", "prod-4-1", "other-4", "data-other-4", "prod--4"]
)
def test_what_is_not_of_this_cluster_has_no_place(name: str) -> None:
    assert names.ordinal_of("prod", name) is None


def test_a_cluster_whose_name_begins_like_another_has_its_own_places() -> None:
    assert names.ordinal_of("prod", "prod-2-0") is None
    assert names.ordinal_of("prod-2", "prod-2-0") == 0


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_member_that_never_ran_is_told_by_its_peer_url(scheme: str) -> None:
    there = names.peer_url("prod", "db", 3, scheme=scheme)
    assert there == f"{scheme}://prod-3.prod-peers.db.svc:2380"
    assert names.ordinal_at("prod", "db", there) == 3


@pytest.mark.parametrize(
    "there",
    [
        "http://prod-3.prod-peers.other.svc:2380",
        "http://prod-3.prod-peers.db.svc:2379",
        "http://prod-3.elsewhere:2380",
        "http://10.0.0.1:2380",
        "",
    ],
)
def test_another_url_is_that_of_a_stranger(there: str) -> None:
    assert names.ordinal_at("prod", "db", there) is None


def test_only_who_joins_finds_its_name_in_the_initial_cluster() -> None:
    said = names.initial_cluster("prod", {0: url(0), 1: url(1)}, 1)
    assert said == f"other-0={url(0)},prod-1={url(1)}"


def test_nobody_finds_its_name_if_nobody_joins() -> None:
    assert "prod-0=" not in names.initial_cluster("prod", {0: url(0)}, None)


def test_the_longest_name_leaves_room_for_those_of_pods_and_services() -> None:
    longest = "x" * 40
    for name in (names.claim(longest, 8), names.peers(longest), names.scripts(longest), names.configuration(longest)):
        assert len(name) <= 63
