"""What is remembered of passes is bounded: in how many there are, and in how much each has to tell."""

from datetime import UTC, datetime

import msgspec

from windvane.runtime.observability.history import LONGEST, MOST, OBJECTS, PASSES, History, Pass, Write, shorten
from windvane.runtime.observability.journal import JournalEntry

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def done(name: str, number: int = 0) -> Pass:
    return Pass(id=str(number), namespace="default", name=name, began=NOW, triggers=[])


def test_the_last_passes_of_the_last_objects_are_remembered() -> None:
    history = History()
    for name in range(OBJECTS + 5):
        for number in range(PASSES + 2):
            history.add(("default", str(name)), done(str(name), number))
    assert len(history.all()) == OBJECTS
    assert history.of(("default", "4")) == []
    assert [each.id for each in history.of(("default", "5"))] == [str(number) for number in range(2, PASSES + 2)]


def test_a_pass_that_does_very_much_is_told_in_little() -> None:
    much = done("blog")
    much.writes = [Write(f"apply configmaps page-{number}", "configmaps") for number in range(5000)]
    much.reads = [f"configmaps page-{number}" for number in range(5000)]
    much.message = "no " * 100_000
    shorten(much)
    assert str(much.writes[MOST - 1]) == f"apply configmaps page-{MOST - 1}"
    assert (str(much.writes[-1]), much.reads[-1]) == (f"and {5000 - MOST} more", f"and {5000 - MOST} more")
    assert len(much.message) == LONGEST + 3
    assert len(msgspec.json.encode(JournalEntry("website", "one", NOW, done=much))) < 32_000
