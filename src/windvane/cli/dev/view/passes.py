"""The passes of an operator: the last of all, one in a line, and all that is known of one."""

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from windvane import ambient
from windvane.cli.dev.view.rows import RowColumn
from windvane.cli.dev.view.wording import MARKS, Tone, What, clock, duration, in_short, text
from windvane.runtime.observability.history import Pass, Trigger

KEPT = 5000
"""So many passes are known."""
TONES = {"done": Tone.GOOD, "waiting": Tone.WAITING, "failed": Tone.BAD, "fatal": Tone.BAD}
FIELD = "field"
"""What stands further to the right, below what it belongs to."""
NARROW = 110
"""Below this width a line says how much was written, and not what."""


class Passes:
    """The passes that have ended, as far as they are remembered."""

    def __init__(self) -> None:
        self.version = 0
        """Another one whenever there are others."""
        self._passes: deque[Pass] = deque(maxlen=KEPT)
        self._last: dict[What, Pass] = {}

    def add(self, done: Pass) -> None:
        """Remember a pass."""
        self.version += 1
        if len(self._passes) == KEPT:
            oldest = self._passes[0]
            if self._last.get(what_of(oldest)) is oldest:
                del self._last[what_of(oldest)]
        self._passes.append(done)
        self._last[what_of(done)] = done

    def __len__(self) -> int:
        return len(self._passes)

    def last(self, what: What) -> Pass | None:
        """The last pass over an object."""
        return self._last.get(what)

    def newest_first(self) -> list[Pass]:
        """All, the newest first."""
        return [*reversed(self._passes)]

    def about(self, what: What, resource: str) -> list[Pass]:
        """Those over an object, those that it brought on, and those that wrote it; the newest first."""
        place = resource, what.namespace, what.name
        return [
            each
            for each in reversed(self._passes)
            if what_of(each) == what
            or any((one.resource, one.namespace, one.name) == place for one in each.triggers)
            or any((one.resource, one.namespace, one.name) == place for one in each.writes)
        ]

    def due(self, done: Pass) -> float | None:
        """In how many seconds the next pass comes by itself, if this was the last and one does."""
        if done.again is None or self._last.get(what_of(done)) is not done:
            return None
        end = done.began + timedelta(seconds=done.seconds + done.again)
        return max(0.0, (end - ambient.now()).total_seconds())

    def cells(self, done: Pass, width: int) -> Sequence[Text]:
        """One pass in a line that is so wide: see `columns`."""
        tone = TONES.get(done.result, Tone.QUIET)
        due = self.due(done)
        result = f"{MARKS[tone]} {done.result}"
        quiet = done.result == "done" and not done.writes  # which is as it should be, and most of them
        tone, strong = (Tone.QUIET, Tone.QUIET) if quiet else (tone, Tone.PLAIN)
        return (
            text((clock(done.began), Tone.QUIET)),
            text((str(what_of(done)), strong)),
            text((because(done.triggers), Tone.QUIET)),
            text((wrote(done) if width >= NARROW else _many(len(done.writes)), Tone.ACCENT)),
            text((duration(done.seconds), Tone.WAITING if done.seconds > 1 else Tone.QUIET)),
            text((f"{result}: {done.message}" if done.message else result, tone)),
            text((f"in {in_short(due)}" if due is not None else "", Tone.QUIET)),
        )


def because(triggers: Iterable[Trigger]) -> str:
    """What brought a pass on, each once, and with the first field that is known to have changed."""
    said: dict[str, str] = {}
    for each in triggers:
        said[each.words] = said.get(each.words) or next(iter(each.fields), "")
    return ", ".join(f"{words.removesuffix(' changed')}: {field}" if field else words for words, field in said.items())


def wrote(done: Pass) -> str:
    """What a pass wrote, without what can be known from its object: `apply deployments, sites/status`."""
    verbs: dict[str, list[str]] = {}
    for each in done.writes:
        resource = "/".join(filter(None, (each.resource.partition(".")[0], each.subresource)))
        named = resource if each.name == done.name else f"{resource} {each.name}"
        verbs.setdefault(each.words.partition(" ")[0], []).append(named)
    return "; ".join(f"{verb} {', '.join(named)}" for verb, named in verbs.items())


def columns(width: int) -> Sequence[RowColumn]:
    """What a line says of a pass."""
    wide = width >= NARROW
    return (
        RowColumn("PASSES", 8),
        RowColumn("object", 22 if wide else 16, 1, most=40),
        RowColumn("because", 14, 5),
        RowColumn("wrote", 16 if wide else 8, 2 if wide else 0),
        RowColumn("took", 5, right=True),
        RowColumn("result", 9, 3),
        RowColumn("next", 6),
    )


def what_of(done: Pass) -> What:
    """The object that a pass was over."""
    return What(done.resource.partition(".")[2], done.kind, done.namespace, done.name)


def in_full(what: What, passes: Iterable[Pass], known: Passes) -> RenderableType:
    """All that is known of passes that have to do with an object."""
    parts = [each for done in passes for each in (_first(what, done), _rest(done, known), "")]
    return Group(*parts) if parts else text(("No pass was over it, brought on by it, or wrote it.", Tone.QUIET))


def _first(what: What, done: Pass) -> Text:
    tone, over = TONES.get(done.result, Tone.QUIET), what_of(done)
    about = f"over {over}" if over != what else done.controller
    result = f"{MARKS[tone]} {done.result}"
    return text(
        (clock(done.began), Tone.STRONG), "  ", (result, tone), (f"  {duration(done.seconds)}  {about}", Tone.QUIET)
    )


def _rest(done: Pass, known: Passes) -> Padding:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=7)
    table.add_column(overflow="fold")
    lines: list[tuple[str, Text]] = []
    if done.message:
        lines.append(("", text((done.message, TONES.get(done.result, Tone.QUIET)))))
    for trigger in done.triggers:
        by = f"  by {trigger.manager}" if trigger.manager else ""
        lines.append(("because", text(trigger.words, (by, Tone.ACCENT))))
        lines.extend((FIELD, text((each, Tone.QUIET))) for each in trigger.fields)
    for write in done.writes:
        lines.append(("wrote", text((write.words, Tone.ACCENT))))
        lines.extend((FIELD, text((each, Tone.QUIET))) for each in write.fields)
    if done.slowed:
        why = f"put off by {duration(done.slowed)}: its children are written again and again"
        lines.append(("next", text((why, Tone.WAITING))))
    if (due := known.due(done)) is not None:
        lines.append(("next", text(f"in {in_short(due)}, if nothing changes before")))
    before = ""
    for label, line in lines:
        line.no_wrap, line.overflow = False, "fold"
        if label == FIELD:
            table.add_row("", Padding(line, (0, 0, 0, 2)))
        else:
            table.add_row(text((label if label != before else "", Tone.QUIET)), line)
            before = label
    return Padding(table, (0, 0, 0, 2))


def _many(writes: int) -> str:
    return f"{writes} write{'s' if writes != 1 else ''}" if writes else ""
