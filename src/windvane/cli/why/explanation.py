"""The whole answer: the reasons, the chain that led to them, and the Events; as text, or as JSON."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from windvane.cli.why.chain import Line, chain_of
from windvane.cli.why.contention import explain_contention
from windvane.cli.why.deletion import explain_deletion
from windvane.cli.why.live import event_time
from windvane.cli.why.object_state import Wire
from windvane.cli.why.readiness import explain_readiness
from windvane.cli.why.reason import Facts, Reason, Topic, clock
from windvane.cli.why.refusal import explain_refusals
from windvane.cli.why.workers import explain_workers

LINES = 30
LEAD = re.compile(r"\s*(?:(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\s+)?(?:→ )?")
"""What stands before the words of a line."""
EVENTS = 5


class WhyAnswer(msgspec.Struct, rename="camel", omit_defaults=True):
    """A reason, as it is told."""

    topic: Topic
    words: str
    remedy: str = ""
    about: list[str] = []
    """Other objects that it is about: `deployments.apps default/blog`."""


class EventLine(msgspec.Struct, rename="camel", omit_defaults=True):
    """An Event."""

    at: str
    type: str
    about: str
    reason: str
    message: str
    times: int = 1


class Manager(msgspec.Struct, rename="camel", omit_defaults=True):
    """Which client wrote something of an object, and when it did so last, as managedFields have it."""

    name: str
    operation: str
    at: str = ""
    subresource: str = ""
    fields: list[str] = []


class Explanation(msgspec.Struct, rename="camel"):
    """What `windvane why` says."""

    resource: str
    namespace: str
    name: str
    exists: bool
    reasons: list[WhyAnswer]
    chain: list[Line]
    events: list[EventLine]
    managers: list[Manager]
    notes: list[str]
    """What could not be looked at, and how more could be known."""


def explain(facts: Facts, notes: Sequence[str] = (), *, everything: bool = False) -> Explanation:
    """Why an object is as it is."""
    reasons = [
        *explain_deletion(facts),
        *explain_readiness(facts),
        *explain_refusals(facts),
        *explain_contention(facts),
        *explain_workers(facts),
    ]
    about = {each for reason in reasons for each in reason.about}
    reference = facts.live.reference
    return Explanation(
        reference.resource,
        reference.namespace,
        reference.name,
        facts.live.object is not None,
        [_answer(each) for each in reasons],
        chain_of(facts, about, everything=everything),
        _events(facts.live.events if everything else [each for each in facts.live.events if _is_warning(each)]),
        managers_of(facts.live.object or {}),
        [*notes, *(f"not all could be read: {each}" for each in facts.live.unread)],
    )


def _answer(reason: Reason) -> WhyAnswer:
    about = [f"{each.resource} {each.where}" for each in reason.about]
    return WhyAnswer(reason.topic, reason.words, reason.remedy, about)


def lines_of(explanation: Explanation, now: datetime, *, everything: bool = False) -> Iterator[str]:
    """The answer for a person."""
    for reason in explanation.reasons:
        yield reason.words
        if reason.remedy:
            yield f"  → {reason.remedy}"
    chain = explanation.chain
    if chain:
        yield ""
        yield "What led to it:"
        shown = chain if everything else chain[-LINES:]
        if len(shown) < len(chain):
            yield f"  ({len(chain) - len(shown)} lines before these: --all)"
        least = min(each.depth for each in shown)
        for line in shown:
            times = f"  [{line.times} times until {clock(line.until, now)}]" if line.until is not None else ""
            yield f"  {clock(line.at, now)}  {'  ' * (line.depth - least)}{line.words}{times}"
    elif explanation.managers:
        yield ""
        yield "Which clients wrote it last, as its managedFields say:"
        for each in explanation.managers:
            what = f"{each.subresource}: " if each.subresource else ""
            yield f"  {each.at}  {each.name}  {what}{', '.join(each.fields)}"
    if explanation.events:
        shown_events = explanation.events if everything else explanation.events[-EVENTS:]
        yield ""
        yield "Events:" if everything else "Warnings:"
        for event in shown_events:
            times = f"  [{event.times} times]" if event.times > 1 else ""
            yield f"  {event.at}  {event.about}: {event.reason}: {' '.join(event.message.split())}{times}"
    if explanation.notes:
        yield ""
        yield from explanation.notes


def wrapped(line: str, width: int) -> list[str]:
    """A line as several that are no wider, for a terminal: what goes on is indented below what it goes on from."""
    lead = LEAD.match(line)
    indent = " " * (len(lead[0]) if lead else 0) + "  "
    parts = textwrap.wrap(
        line,
        max(width, 2 * len(indent), 40),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    return parts or [line]


def managers_of(thing: Wire) -> list[Manager]:
    """What managedFields tell: paths only, never what is in them."""
    found = []
    for entry in (thing.get("metadata") or {}).get("managedFields") or ():
        paths = list(_paths(entry.get("fieldsV1") or {}, ""))
        found.append(
            Manager(
                str(entry.get("manager", "")),
                str(entry.get("operation", "")),
                str(entry.get("time", "")),
                str(entry.get("subresource") or ""),
                paths[:8],
            )
        )
    return sorted(found, key=lambda each: each.at)


def _paths(fields: Wire, above: str, depth: int = 2) -> Iterator[str]:
    """The paths in a fieldsV1, not very deep."""
    for name, below in fields.items():
        if not name.startswith("f:"):
            continue
        path = f"{above}.{name[2:]}" if above else name[2:]
        deeper = list(_paths(below, path, depth - 1)) if depth > 1 and isinstance(below, dict) else []
        yield from deeper or [path]


def _is_warning(event: Wire) -> bool:
    return event.get("type") == "Warning"


def _events(events: Sequence[Wire]) -> list[EventLine]:
    return [
        EventLine(
            event_time(each),
            str(each.get("type", "")),
            f"{(each.get('involvedObject') or {}).get('kind')} {(each.get('involvedObject') or {}).get('name')}",
            str(each.get("reason", "")),
            str(each.get("message", "")),
            int(each.get("count") or 1),
        )
        for each in events
    ]
