"""The score counts every test once, and nothing unexpected goes unsaid."""

import pytest

from e2e.score import Chosen, UnknownWord, choose, read_known, read_tiers, score, surprises
from e2e.suite import Result, Spec

CHUNKS = Spec("[sig-api-machinery] chunks [Conformance]", "chunking")
APPLY = Spec("[sig-api-machinery] applies", "apply")
QUOTA = Spec("[sig-api-machinery] counts [Conformance]", "resource_quota")
TIERS = {CHUNKS.name: "A", QUOTA.name: "B"}


def test_tiers_are_read_by_name() -> None:
    assert read_tiers(f"# a comment\nA {CHUNKS.name}\nB {QUOTA.name}\n") == TIERS


def test_a_reason_holds_for_all_names_below_it() -> None:
    known = read_known("# no controllers yet\n[sig-apps] one\n[sig-apps] two\n\n# a bug\n[sig-apps] three\n")
    assert known == {"[sig-apps] one": "no controllers yet", "[sig-apps] two": "no controllers yet"} | {
        "[sig-apps] three": "a bug"
    }


def test_words_choose_tiers_and_groups() -> None:
    chosen = choose([CHUNKS, APPLY, QUOTA], TIERS, ["A", "apply"])
    assert chosen == [Chosen(CHUNKS, "tier A"), Chosen(APPLY, "apply")]


def test_a_test_counts_once_and_for_its_tier_first() -> None:
    assert choose([CHUNKS, APPLY], TIERS, ["apply", "chunking", "A"]) == [
        Chosen(CHUNKS, "tier A"),
        Chosen(APPLY, "apply"),
    ]


def test_a_group_has_its_conformance_tests_too() -> None:
    assert choose([CHUNKS, APPLY], TIERS, ["chunking"]) == [Chosen(CHUNKS, "chunking")]


def test_a_word_that_names_nothing_is_refused() -> None:
    with pytest.raises(UnknownWord, match="no test is in aply"):
        choose([CHUNKS, APPLY, QUOTA], TIERS, ["A", "aply"])


def test_the_score_has_a_line_for_each_tier_and_group_and_a_sum() -> None:
    chosen = [Chosen(APPLY, "apply"), Chosen(CHUNKS, "tier A"), Chosen(QUOTA, "tier A")]
    results = [said(APPLY, "skipped"), said(CHUNKS, "passed"), said(QUOTA, "failed")]
    assert list(score(chosen, results)) == [
        "        passed  failed  skipped  total",
        "tier A       1       1        0      2",
        "apply        0       0        1      1",
        "all          1       1        1      3",
    ]


def test_an_unexpected_failure_is_a_surprise() -> None:
    [surprise] = surprises([said(CHUNKS, "failed", "page 2 is page 1")], {})
    assert surprise == f"failed, and should pass: {CHUNKS.name}\n    page 2 is page 1"


def test_an_expected_failure_is_none() -> None:
    assert list(surprises([said(CHUNKS, "failed"), said(APPLY, "passed")], {CHUNKS.name: "a bug"})) == []


@pytest.mark.parametrize("state", ["passed", "skipped"])
def test_an_expected_failure_that_does_not_fail_is_a_surprise(state: str) -> None:
    [surprise] = surprises([said(CHUNKS, state)], {CHUNKS.name: "a bug"})
    assert surprise == f"{state}, so strike it from known.txt: {CHUNKS.name}"


def said(test: Spec, state: str, message: str = "") -> Result:
    return Result(test, state, message, 0.0)
