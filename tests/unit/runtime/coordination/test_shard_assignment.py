"""Who should have what: the same everywhere, in equal parts, and little moves when somebody comes or goes."""

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.runtime.coordination.shard_assignment import (
    MemberState,
    ShardState,
    assignment,
    may_take,
    shard_of,
    shares,
    stands_by,
)

NAMES = st.sets(st.text("abcdefgh0123456789-", min_size=1, max_size=8), min_size=1, max_size=9)


def split(shards: int, *identities: str) -> Mapping[int, str]:
    return assignment(shards, frozenset((f"member-{each}", each) for each in identities))


def test_a_key_is_in_the_same_shard_in_every_process() -> None:
    program = (
        "from windvane.runtime.coordination.shard_assignment import shard_of; "
        "print(shard_of('sites.demo', ('default', 'blog'), 64))"
    )
    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert int(asked.stdout) == shard_of("sites.demo", ("default", "blog"), 64)


def test_a_key_is_in_the_same_shard_in_every_release() -> None:
    # If this changes, replicas of two releases work on the same keys while an operator is being updated.
    assert [shard_of("sites.demo", ("default", f"site-{n}"), 64) for n in range(5)] == [43, 51, 39, 41, 40]


def test_keys_are_spread_over_the_shards() -> None:
    found = Counter(shard_of("sites.demo", ("default", f"site-{n}"), 16) for n in range(1600))
    assert len(found) == 16
    assert 60 <= min(found.values()) <= max(found.values()) <= 140


def test_neither_namespace_nor_name_can_be_taken_for_the_other() -> None:
    assert len({shard_of("s", ("a", "bc"), 2**62), shard_of("s", ("ab", "c"), 2**62)}) == 2


@given(st.integers(1, 64), NAMES)
def test_each_shard_is_somebodys_and_nobody_has_more_than_its_part(shards: int, names: set[str]) -> None:
    assigned = split(shards, *names)
    assert assigned.keys() == set(range(shards))
    assert max(Counter(assigned.values()).values()) <= -(-shards // len(names))


@given(NAMES)
def test_a_little_more_than_its_part_moves_when_one_joins(names: set[str]) -> None:
    before, after = split(64, *names), split(64, *names, "NEW")
    moved = sum(before[shard] != after[shard] for shard in before)
    assert moved <= 64 / (len(names) + 1) + 64 / 6


@given(NAMES)
def test_who_comes_back_gets_what_it_had(names: set[str]) -> None:
    renamed = frozenset((f"another-{each}", each) for each in names)
    had = {shard: name.removeprefix("member-") for shard, name in split(32, *names).items()}
    assert {shard: name.removeprefix("another-") for shard, name in assignment(32, renamed).items()} == had


def test_nobody_gets_nothing() -> None:
    assert assignment(16, frozenset()) == {}


A, B, C = (MemberState(name, 16, joined) for joined, name in enumerate("abc"))


def test_who_leaves_is_dead_or_counts_differently_gets_no_share() -> None:
    members = {"a": A, "b": B, "c": MemberState("", 16, 3), "d": MemberState("d", 8, 4)}
    assert set(shares(16, members, {"b"}).values()) == {"a"}


def test_who_has_not_seen_itself_join_stands_by() -> None:
    assert stands_by("a", {}, (), ())
    assert stands_by("a", {"a": MemberState("", 16, None)}, (), ())
    assert not stands_by("a", {"a": A}, (), ())


@pytest.mark.parametrize(
    ("other", "waits"),
    [
        (MemberState("b", 8, 0), True),
        (MemberState("", 8, 0), True),
        (MemberState("b", 8, None), True),
        (MemberState("b", 8, 9), False),
        (MemberState("b", 16, 0), False),
    ],
    ids=["older", "older and leaving", "of unknown age", "younger", "older, but agrees"],
)
def test_who_counts_the_shards_differently_waits_for_those_who_came_first(other: MemberState, waits: bool) -> None:
    members = {"a": MemberState("a", 16, 5), "b": other}
    assert stands_by("a", members, (), ()) == waits
    assert not stands_by("a", members, (), {"b"}), "the dead are not waited for"


def test_a_holder_without_a_lease_of_its_own_is_waited_for() -> None:
    assert stands_by("a", {"a": A}, {"gone"}, ())
    assert not stands_by("a", {"a": A}, {"gone"}, {"gone"})


@pytest.mark.parametrize(
    ("shard", "free"),
    [
        (ShardState("", released=True, age=0), True),
        (ShardState("dead", released=False, age=0), True),
        (ShardState("b", released=False, age=1000), False),
        (ShardState("", released=False, age=14.9), False),
        (ShardState("", released=False, age=15), True),
        (ShardState("a", released=False, age=14.9), False),
        (ShardState("a", released=False, age=15), True),
    ],
    ids=[
        "given back",
        "of the dead",
        "held",
        "emptied just now",
        "emptied long ago",
        "ours since now",
        "ours for long",
    ],
)
def test_a_shard_may_be_taken_only_if_nobody_can_hold_it(shard: ShardState, free: bool) -> None:
    assert may_take(shard, "a", {"dead"}) == free
