"""The judges of the scenarios see what they are there to see."""

from typing import Any

import pytest

from scenarios.gateway import Gateway, Member, encoded
from scenarios.membership import Look, faults, removed_while_leading
from scenarios.writer import Writer, value_of

A, B, C, D = (Member(each, f"prod-{each}", False, f"http://{each}:2380") for each in "abcd")
JOINING = Member("x", "", True, "http://x:2380")


class Store(Gateway):
    """An etcd that has these keys."""

    def __init__(self, keys: dict[str, str]) -> None:
        self._keys = keys

    async def ask(self, path: str, **body: Any) -> dict[str, Any]:
        """All of them, whatever is asked."""
        return {"kvs": [{"key": encoded(key), "value": encoded(value)} for key, value in self._keys.items()]}


def test_one_learner_after_the_other_is_fine() -> None:
    looks = [Look(0, [A], "a"), Look(1, [A, JOINING], "a"), Look(2, [A, B], "a"), Look(3, [A, B, JOINING], "a")]
    assert faults(looks) == []


def test_two_learners_are_seen() -> None:
    assert "two learners" in faults([Look(0, [A, JOINING, D._replace(learner=True)], "a")])[0]


def test_two_members_that_never_started_are_seen() -> None:
    assert "never started" in faults([Look(0, [A, JOINING, B._replace(name="")], "a")])[0]


def test_two_votes_that_change_at_once_are_seen() -> None:
    assert "more than one vote" in faults([Look(0, [A, B, C], "a"), Look(0.1, [A, D], "a")])[0]


def test_a_leader_that_is_removed_is_seen() -> None:
    assert removed_while_leading([Look(0, [A, B, C], "c"), Look(1, [A, B], "a")]) == ["c"]
    assert removed_while_leading([Look(0, [A, B, C], "c"), Look(1, [A, B, C], "a"), Look(2, [A, B], "a")]) == []


@pytest.mark.parametrize(("there", "missing"), [("the value of one", []), ("another", ["one"])])
async def test_a_key_that_is_not_as_it_was_written_is_missing(there: str, missing: list[str]) -> None:
    writer = Writer(Store({}))
    writer.acknowledged = {"one": 1.0, "two": 2.0}
    assert await writer.missing(Store({"one": there, "two": value_of("two")})) == missing
    assert await writer.missing(Store({"one": value_of("one")})) == ["two"]


def test_the_longest_gap_is_between_two_acknowledgements_or_at_either_end() -> None:
    writer = Writer(Store({}))
    begin = writer._since
    writer.acknowledged = {"one": begin + 1, "two": begin + 4, "three": begin + 5}
    writer._until = begin + 6
    assert writer.longest_gap() == pytest.approx(3)
    writer._until = begin + 9
    assert writer.longest_gap() == pytest.approx(4)
