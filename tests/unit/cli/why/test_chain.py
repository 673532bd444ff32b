"""The chain: what is linked to what, in which order it is told, and what becomes one line."""

import re

import pytest

from unit.cli.why.notes import (
    at,
    facts,
    ran,
    saw,
    started,
    stopped,
    thing,
    wrote,
)
from windvane.cli.why.causes import read_record
from windvane.cli.why.chain import chain_of
from windvane.cli.why.reason import Facts
from windvane.runtime.observability.history import Trigger
from windvane.runtime.observability.journal import JournalEntry

CREATED = [
    ran(
        1,
        "website",
        "Website blog",
        [saw("Website blog came", 10, by="kubectl")],
        [wrote("apply", "Deployment", "blog", 11), wrote("apply", "Website", "blog", 12, subresource="status")],
    ),
    ran(
        2,
        "kube-controller-manager",
        "Deployment blog",
        [saw("Deployment blog came", 11, by="website")],
        [
            wrote("create", "ReplicaSet", "blog-7d", 13),
            wrote("replace", "Deployment", "blog", 14, "status.replicas is 1"),
        ],
    ),
    ran(
        3,
        "website",
        "Website blog",
        [saw("Deployment blog changed", 14, "status.replicas is 1", by="kube-controller-manager")],
        [wrote("apply", "Deployment", "blog", 14), wrote("apply", "Website", "blog", 15, "status.ready 0 → 1")],
    ),
]


def told(found: Facts, *, everything: bool = False) -> list[str]:
    lines = chain_of(found, (), everything=everything)
    times = [f" x{each.times}" if each.times > 1 else "" for each in lines]
    shown = [f"{'  ' * each.depth}{each.words}{more}" for each, more in zip(lines, times, strict=True)]
    return [re.sub(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d", "TIME", each) for each in shown]


@pytest.mark.parametrize("order", [CREATED, CREATED[::-1]])
def test_each_pass_stands_under_the_change_that_brought_it_on_across_controllers(order: list[JournalEntry]) -> None:
    assert told(facts("Website blog", order, thing("Website blog"))) == [
        "kubectl created Website default/blog",
        "  website: Website default/blog; wrote Deployment default/blog, its status",
        (
            "    kube-controller-manager: Deployment default/blog, because Deployment default/blog came; wrote "
            "ReplicaSet default/blog-7d, its own status.replicas is 1"
        ),
        (
            "      website: Website default/blog, because Deployment default/blog changed; wrote its own "
            "status.ready 0 → 1"
        ),
    ]


def test_a_write_that_changed_nothing_causes_nothing() -> None:
    record = read_record(CREATED)
    last = record.steps[-1]
    assert [each.version for each in last.wrote] == ["15"]
    assert last.cause is not None
    assert last.cause.by is record.steps[1]


def test_a_write_without_a_version_is_no_cause_of_what_was_seen_before_it() -> None:
    def life(second: int, version: int) -> list[JournalEntry]:
        """A pod is bound, which the scheduler is told without a version, and another controller sees it."""
        seen = [saw("Pod web changed", version, "spec.nodeName")]
        return [
            ran(second, "scheduler", "Pod web", [], [wrote("create", "Pod", "web", None, subresource="binding")]),
            ran(second + 1, "jobs", "Pod web", seen),
        ]

    steps = [step for step in read_record([*life(1, 10), *life(60, 20)]).steps if step.operator == "jobs"]
    assert [each.because[0].by and each.because[0].by.done.began for each in steps] == [at(1), at(60)]


def test_in_virtual_time_all_may_happen_at_once() -> None:
    entries = [JournalEntry(each.operator, each.run, at(0), done=each.done) for each in CREATED]
    for each in entries:
        assert each.done is not None
        each.done.began = at(0)
    assert [line.count("  ") for line in told(facts("Website blog", entries, thing("Website blog")))] == [0, 1, 2, 3]


def test_versions_that_a_watch_merged_are_known_to_be_by_whom() -> None:
    entries = [
        *CREATED[:2],
        ran(4, "website", "Website blog", [saw("Deployment blog changed", 20, by="x", earlier=(11, 14))]),
    ]
    record = read_record(entries)
    assert [(each.version, each.by is not None) for each in record.steps[-1].because] == [
        ("11", True),
        ("14", True),
        ("20", False),
    ]


def test_what_repeats_itself_is_one_line_that_says_how_often() -> None:
    entries = list(CREATED)
    for number in range(8):
        seen = saw("Deployment blog changed", 30 + 2 * number, "status.replicas 1 → 0", by="node")
        entries.append(
            ran(10 + number, "website", "Website blog", [seen], [wrote("apply", "Website", "blog", 31 + 2 * number)])
        )
    found = facts("Website blog", entries, thing("Website blog"))
    assert told(found)[-2:] == [
        "node changed Deployment default/blog: status.replicas 1 → 0 x8",
        "  website: Website default/blog; wrote its status",
    ]
    assert len(told(found, everything=True)) == len(CREATED) + 1 + 2 * 8


def test_what_a_person_wanted_is_told_each_time() -> None:
    sizes = [(1, 2), (2, 3)]
    entries = [
        ran(n, "website", "Website blog", [saw("Website blog changed", 10 + n, f"spec.size {a} → {b}", by="kubectl")])
        for n, (a, b) in enumerate(sizes)
    ]
    assert told(facts("Website blog", entries, thing("Website blog"))) == [
        "kubectl changed Website default/blog: spec.size 1 → 2",
        "kubectl changed Website default/blog: spec.size 2 → 3",
    ]


def test_restarts_of_its_operator_are_told_and_not_those_of_others() -> None:
    entries = [
        started(0, "website", "one"),
        ran(
            1,
            "website",
            "Website blog",
            [saw("Website blog came", 10, by="kubectl")],
            result="failed",
            message="no",
            run="one",
        ),
        started(5, "website", "two"),
        ran(
            6,
            "website",
            "Website blog",
            [saw("Website blog was there", 10, initial=True)],
            result="failed",
            message="no",
            run="two",
        ),
        stopped(7, "website", "two"),
        started(8, "website", "three"),
        ran(
            9,
            "website",
            "Website blog",
            [saw("Website blog was there", 10, initial=True)],
            [wrote("apply", "Website", "blog", 20)],
            run="three",
        ),
        *(started(n, "other", str(n)) for n in range(3)),
    ]
    assert told(facts("Website blog", entries, thing("Website blog"))) == [
        "kubectl created Website default/blog",
        "  website: Website default/blog; failed: no",
        "the operator website was started anew; before that, it was killed, some time after TIME",
        "website: Website default/blog, because Website blog was there; failed: no",
        "the operator website was started anew; before that, it was stopped at TIME",
        "website: Website default/blog, because Website blog was there; wrote its status",
    ]


def test_a_pass_that_a_timer_brought_stands_alone() -> None:
    entries = [
        ran(1, "website", "Website blog", [Trigger("a retry after OSError")], result="failed", message="no disk")
    ]
    assert told(facts("Website blog", entries, thing("Website blog"))) == [
        "website: Website default/blog, because a retry after OSError; failed: no disk"
    ]
