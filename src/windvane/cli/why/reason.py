"""A part of the answer: what is so with an object, why, and what to do if that is known."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from windvane.cli.why.causes import DELETED, CausalRecord, CausalStep, ObservedChange
from windvane.cli.why.live import Live
from windvane.cli.why.reference import Reference

CONDITION = re.compile(r"status\.conditions\[(\w+)\]\.status (.*)")
ANNOTATIONS = "metadata.annotations."
"""What controllers note for themselves, along with what they change."""
Topic = Literal["readiness", "deletion", "finalizer", "contention", "refusal", "operator", "pass"]


class Reason(NamedTuple):
    """One finding."""

    topic: Topic
    words: str
    remedy: str = ""
    about: Sequence[Reference] = ()
    """The objects, beside the one that was asked for, whose story is part of it."""


@dataclass(frozen=True)
class Facts:
    """All that an answer is made of."""

    live: Live
    record: CausalRecord
    now: datetime
    running: Mapping[str, bool] = field(default_factory=dict)
    """Whether each operator runs, as far as that is known."""

    @property
    def subject(self) -> str:
        """`Website default/blog`."""
        return f"{self.live.kind.name} {self.live.reference.where}"


def why_it_ran(step: CausalStep, record: CausalRecord) -> str:
    """What brought a pass on, in a few words."""
    words = [told(each, record) for each in step.because]
    words += [each.words for each in step.others]
    return ", and ".join(words) or "nothing that is known"


def told(change: ObservedChange, record: CausalRecord) -> str:
    """A change, and where it came from."""
    by = f", written by {author(change)}" if author(change) else ""
    if DELETED in change.fields:
        return f"{record.words(change.of)} was deleted{by.replace('written ', '')}"
    fields = f" ({', '.join(brief(change.fields))})" if change.fields else ""
    return f"{record.words(change.of)} {change.happened}{fields}{by}"


def author(change: ObservedChange) -> str:
    """Which program made a change, as far as that is known."""
    if change.by is None:
        return change.manager
    step = change.by
    return (
        step.operator if step.of == change.of else f"{step.operator} in its pass for {step.done.kind} {step.done.where}"
    )


def brief(fields: Sequence[str]) -> list[str]:
    """What was changed, with a condition as `Ready True → False`, and without what changes along with that."""
    conditions = {found[1]: found[2] for each in fields if (found := CONDITION.match(each))}
    kept = [each for each in fields if not any(each.startswith(f"status.conditions[{name}].") for name in conditions)]
    kept = [each for each in kept if not each.startswith(ANNOTATIONS)] or kept
    return [*(f"{name} {values}" for name, values in conditions.items()), *kept]


def clock(at: datetime, now: datetime) -> str:
    """A time of today; with the date if it is of another day."""
    here, today = at.astimezone(), now.astimezone()
    return f"{here:%H:%M:%S}" if here.date() == today.date() else f"{here:%Y-%m-%d %H:%M:%S}"


def span(seconds: float) -> str:
    """A time that passes: `40 s`, `5 min`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1f} s"
