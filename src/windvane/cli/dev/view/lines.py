"""How single lines look in the view: an object in its tree, a line of a log, a note."""

import re
from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from windvane.cli.dev.session import Note
from windvane.cli.dev.view.health import Health
from windvane.cli.dev.view.objects import Line
from windvane.cli.dev.view.rows import RowColumn
from windvane.cli.dev.view.wording import Tone, clock, in_short, text
from windvane.runtime.observability.history import Pass

OBJECTS = (RowColumn("OBJECTS", 24, 3, most=56), RowColumn("age", 4, right=True), RowColumn("conditions", 20, 2))
LOG = (RowColumn("LOG", 10, 1),)
NOTES = (RowColumn("NOTES", 8), RowColumn("", 20, 1))
LEVEL = re.compile(r"\b(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\b|\"level\": ?\"(\w+)\"", re.IGNORECASE)
LEVELS = {"debug": Tone.QUIET, "warn": Tone.WAITING, "warning": Tone.WAITING, "error": Tone.BAD, "critical": Tone.BAD}

Numbered = tuple[int, str]


def object_cells(line: Line, last: Pass | None, now: datetime) -> Sequence[Text]:
    """An object in its tree; `last` is the last pass over it."""
    entry = line.entry
    fold = f" +{line.children}" if line.folded and line.children else ""
    tone = Tone.STRONG if not line.guides else Tone.PLAIN
    created = entry.read.created
    return (
        text((line.guides, Tone.QUIET), (str(entry.what), tone), (fold, Tone.ACCENT)),
        text((in_short((now - created).total_seconds()) if created else "", Tone.QUIET)),
        health_after(entry.read.health, last).text,
    )


def health_after(health: Health, last: Pass | None) -> Health:
    """How an object is, if its last pass may know worse than its conditions."""
    if last is not None and last.result in ("failed", "fatal") and health.tone != Tone.BAD:
        return Health(Tone.BAD, f"{last.result}: {last.message}" if last.message else last.result, health.words)
    return health


def log_cells(line: Numbered) -> Sequence[Text]:
    """A line of the operator's log, by its level."""
    found = LEVEL.search(line[1])
    level = (found[1] or found[2]).lower() if found else ""
    return (text((line[1], LEVELS.get(level, Tone.PLAIN))),)


def pod_cells(line: Numbered) -> Sequence[Text]:
    """A line of a pod's log."""
    return (text(line[1]),)


def note_cells(note: tuple[int, Note]) -> Sequence[Text]:
    """A note."""
    said = note[1]
    tone = Tone.BAD if said.problem else Tone.PLAIN
    more = ("  ⏎ for more", Tone.QUIET) if said.detail else ""
    return (text((clock(said.at), Tone.QUIET)), text((said.words, tone), more))
