"""What pytest shows beside a test that failed."""

from datetime import UTC, datetime

from windvane.runtime.observability.history import Pass, Trigger, Write
from windvane.testing.failure_report import in_words

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SITE = "sites.example.com"


def test_what_came_of_a_pass_is_told_however_much_brought_it_on() -> None:
    pods = [
        Trigger(f"Pod blog-{number} changed", resource="pods", name=f"blog-{number}", fields=["status.phase"] * 9)
        for number in range(30)
    ]
    own = Trigger("Site blog changed", resource=SITE, name="blog", fields=["spec.copies 1 → 2"], manager="kubectl")
    writes = [Write(f"apply pods blog-{number}") for number in range(9)]
    done = Pass(
        id="1",
        resource=SITE,
        namespace="default",
        name="blog",
        began=NOW,
        triggers=[*pods, own],
        writes=writes,
        result="waiting",
        message="there is no room",
    )
    told = in_words(done)
    assert told.startswith(
        "because Site blog changed (spec.copies 1 → 2, by kubectl), Pod blog-0 changed (status.phase,"
    )
    assert told.endswith(
        "…  → waiting: there is no room; wrote apply pods blog-0, apply pods blog-1, apply pods blog-2, "
        "apply pods blog-3, apply pods blog-4, 4 more"
    )
    assert len(told) < 400


def test_conditions_are_told_if_nothing_else_changed() -> None:
    trigger = Trigger("Deployment web changed", fields=["status.conditions[Available].status", "status.replicas is 1"])
    done = Pass(id="1", namespace="", name="web", began=NOW, triggers=[trigger], result="done")
    assert in_words(done) == "because Deployment web changed (status.replicas is 1)  → done"
    done.triggers = [Trigger("Deployment web changed", fields=trigger.fields[:1])]
    assert in_words(done) == "because Deployment web changed (status.conditions[Available].status)  → done"
