"""A field that several clients write in turn, each undoing the other: which field, which managers, how often."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from windvane.cli.why.causes import CausalRecord, ObservedChange
from windvane.cli.why.reason import Facts, Reason, clock
from windvane.cli.why.reference import Reference

TURNS = 3
"""So often a field must have changed hands: a person who corrects something does so once."""
OVER = timedelta(minutes=10)
"""After so long without another turn it is over, and explains nothing of how things are now."""


class Contention(NamedTuple):
    """A fight over a field."""

    of: Reference
    field: str
    managers: Sequence[str]
    turns: int
    """How often it was another one who wrote it."""
    first: datetime
    last: datetime


def contentions_in(changes: Iterable[ObservedChange]) -> list[Contention]:
    """The fields that changed hands again and again."""
    writers: dict[tuple[Reference, str], list[tuple[str, datetime]]] = defaultdict(list)
    for change in changes:
        if change.manager and not change.merged:
            for told in change.fields:
                writers[change.of, path_of(told)].append((change.manager, change.at))
    found = []
    for (reference, path), wrote in writers.items():
        turns = sum(one != other for (one, _), (other, _) in pairwise(wrote))
        if turns >= TURNS:
            managers = list(dict.fromkeys(manager for manager, _ in wrote))
            found.append(Contention(reference, path, managers, turns, wrote[0][1], wrote[-1][1]))
    return sorted(found, key=lambda each: -each.turns)


def path_of(told: str) -> str:
    """The field that words such as `spec.replicas 3 → 5` are about."""
    return told.partition(" ")[0]


def explain_contention(facts: Facts) -> list[Reason]:
    """Which other client keeps changing an object, or one that it owns."""
    if facts.live.object is None:
        return []
    family = {
        facts.live.reference,
        *(facts.live.reference_of(each) for some in facts.live.children.values() for each in some),
    }
    family |= written_for(facts.record, facts.live.reference)
    found = contentions_in(each for each in facts.record.changes if each.of in family)
    return [_reason(each, facts) for each in found if facts.now - each.last < OVER][:TURNS]


def written_for(record: CausalRecord, reference: Reference) -> set[Reference]:
    """What passes for an object have written."""
    return {change.of for step in record.of(reference) for change in step.wrote}


def _reason(found: Contention, facts: Facts) -> Reason:
    one, *others = found.managers
    words = (
        f"{facts.record.words(found.of)} is written by {one} and by {' and '.join(others)} in turn: {found.field} has "
        f"changed hands {found.turns} times between {clock(found.first, facts.now)} and {clock(found.last, facts.now)}"
    )
    remedy = f"have one of them leave {found.field} alone: state it in one place only"
    return Reason("contention", words, remedy, [found.of])
