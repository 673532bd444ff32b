"""What happened in a test's cluster, told in lines: what pytest shows beside a test that failed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

import msgspec

from windvane.runtime.observability.history import Pass, Trigger
from windvane.testing.replica import Replica
from windvane.testing.request_log import TEST, LoggedWrite

LINES = 60
LONGEST = 300
"""Characters of a line."""
MOST, FIELDS = 5, 2
"""How many triggers and writes of a pass are told, and how many changed fields of a trigger."""
FIELD, WHY = 60, 170
"""Characters of what is told of a field, and of why a pass ran: what came of it is told after that."""
INSTALLED = "apiextensions.k8s.io", "admissionregistration.k8s.io"
"""The groups of what `run` installs: no work of the test's."""
Subject: TypeAlias = tuple[str, str]
"""An object by its kind and name."""


class _Line(NamedTuple):
    at: float
    about: Subject
    words: str
    is_news: bool = True
    """Whether it is told also of an object that the test has not named."""


def report_failure(
    replicas: Iterable[Replica],
    writes: Iterable[LoggedWrite],
    events: Mapping[str, tuple[float, bytes]],
    *,
    touched: Collection[Subject],
    began: tuple[datetime, float],
) -> str:
    """The passes of operators, the test's own writes and Events, oldest first; if these are many, of what it touched.

    `began` is when the test did, by the time of day and by the clock that writes and Events are recorded with.
    """
    lines = [
        *(line for replica in replicas for line in _passes(replica, began[0])),
        *(
            _Line(each.at - began[1], ("", ""), f"test: {each.words}")
            for each in writes
            if each.user == TEST.name and each.place.group not in INSTALLED
        ),
        *(line for at, body in events.values() for line in _event(at - began[1], body)),
    ]
    lines = [each for each in lines if each.is_news or each.about in touched]
    count = len(lines)
    if count > LINES:
        lines = [each for each in lines if each.about in touched or not each.about[1]]
    # In virtual time many things happen at once; what the test did comes before what came of it.
    lines = sorted(lines, key=lambda each: (each.at, bool(each.about[1])))[-LINES:]
    left_out = [f"({count - len(lines)} other lines are left out)"] if count > len(lines) else []
    return "\n".join([*left_out, *(f"{each.at:9.1f} s  {_short(each.words)}" for each in lines)])


def _passes(replica: Replica, began: datetime) -> Iterator[_Line]:
    for controller in replica.controllers:
        kind = controller.declaration.kind.name
        for last in controller.history.all():
            for each in controller.history.of((last.namespace, last.name)):
                words = f"{replica.operator.name}: {kind} {each.where}  {in_words(each)}"
                yield _Line((each.began - began).total_seconds(), (kind, each.name), words)


def in_words(done: Pass) -> str:
    """Why a pass ran, and what came of it."""
    came = f"{done.result}: {done.message}" if done.message else done.result
    wrote = f"; wrote {_few(map(str, done.writes), MOST)}" if done.writes else ""
    # What changed in the object itself comes first: there may not be room for all.
    others = [each for each in done.triggers if (each.resource, each.name) != (done.resource, done.name)]
    triggers = [*(each for each in done.triggers if each not in others), *others]
    return f"because {_short(_few(map(_why, triggers), MOST), WHY)}  → {came}{wrote}"


def _why(trigger: Trigger) -> str:
    # Conditions say what other fields do.
    fields = [each for each in trigger.fields if "conditions" not in each] or trigger.fields
    changed = ", ".join(_short(each, FIELD) for each in fields[:FIELDS])
    by = f"by {trigger.manager}" if trigger.manager and trigger.fields else ""
    more = ", ".join(filter(None, (changed, by)))
    return f"{trigger.words} ({more})" if more else trigger.words


class _About(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class _Event(msgspec.Struct, rename="camel", frozen=True):
    involved_object: _About = _About()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None


def _event(at: float, body: bytes) -> Iterator[_Line]:
    try:
        event = msgspec.json.decode(body, type=_Event)
    except msgspec.DecodeError:
        return  # it is one no more: the answer to a deletion
    about = event.involved_object
    times = f" ({event.count} times)" if (event.count or 1) > 1 else ""
    words = f"Event of {about.kind} {about.name}: {event.type} {event.reason}: {event.message}{times}"
    yield _Line(at, (about.kind, about.name), words, event.type == "Warning")


def _few(words: Iterable[str], most: int) -> str:
    every: Sequence[str] = list(words)
    more = [f"{len(every) - most} more"] if len(every) > most else []
    return ", ".join([*every[:most], *more])


def _short(words: str, most: int = LONGEST) -> str:
    line = " ".join(words.split("\n"))
    return line if len(line) <= most else f"{line[: most - 1]}…"
