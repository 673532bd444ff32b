"""A plan in words, for people, and as a document, for programs. No I/O."""

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from windvane.cli.plan.diff import ABSENT, HIDDEN, Action, FieldChange, ObjectChange, without_secrets
from windvane.cli.plan.plan import Plan, subject
from windvane.cli.redaction import redact
from windvane.runtime.observability.history import Pass

MARKS: dict[Action, str] = {"create": "+", "change": "~", "delete": "-"}
COLOURS = {"create": "32", "change": "33", "delete": "31"}
DIM, BOLD, RED, GREEN, YELLOW = "2", "1", "31", "32", "33"
LONGEST = 100
"""A value that is longer is cut off, in the words for people."""
PASSES_SHOWN = 12
HANDOVERS_SHOWN = 4


@dataclass(frozen=True)
class Words:
    """How a plan is told."""

    coloured: bool = False
    everything: bool = False
    """Also what servers fill in, and every pass."""

    def paint(self, text: str, colour: str) -> str:
        """Text in a colour, if there are colours."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.coloured and text else text


def in_words(plan: Plan, words: Words) -> str:
    """The plan for people."""
    return "".join(f"{line}\n" for line in _lines(_without_secrets(plan), words))


def _without_secrets(plan: Plan) -> Plan:
    """The same, for logs that others read: an exception often has the password in it that was refused.

    Fields that differ are clean from the start: there, their paths tell more than what is in them.
    """
    return replace(
        plan,
        passes=[msgspec.structs.replace(each, message=redact(each.message, {})) for each in plan.passes],
        events=[(where, said._replace(message=redact(said.message, {}))) for where, said in plan.events],
        calls=[replace(each, words=redact(each.words, {})) for each in plan.calls],
        notes=without_secrets(plan.notes),
        cut_short=redact(plan.cut_short, {}),
        failures=without_secrets(plan.failures),
        refusals=without_secrets(plan.refusals),
        ready={where: (name, status, redact(said, {})) for where, (name, status, said) in plan.ready.items()},
    )


def _lines(plan: Plan, words: Words) -> Iterator[str]:
    if plan.applied:
        yield "What is applied:"
        yield ""
        for change in plan.applied:
            yield from _object(change, words)
            yield ""
    if plan.changes:
        yield f"What {plan.operator} does{' then' if plan.applied else ''}:"
        yield ""
        for change in plan.changes:
            yield from _object(change, words)
            yield ""
    yield from _passes(plan, words)
    yield from _section("Events:", [f"{where}: {said.reason}: {said.message}" for where, said in _once(plan.events)])
    yield from _section("Calls to the outside:", [f"{each}{'' if each.made else ', not made'}" for each in plan.calls])
    yield from _section("Notes:", plan.notes)
    endings = list(_endings(plan, words))
    endings += [words.paint(f"The server would refuse {what}: {why}", RED) for what, why in plan.refusals.items()]
    yield from endings
    if endings:
        yield ""
    if plan.cut_short:
        yield words.paint(f"The plan ends here: {plan.cut_short}.", YELLOW)
        yield "What the operator does after that is not known."
        yield ""
    yield words.paint(_sum(plan), BOLD)


def _once(events: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(events))


def _section(title: str, lines: Any) -> Iterator[str]:
    if there := list(lines):
        yield title
        yield from (f"  {each}" for each in there)
        yield ""


def _sum(plan: Plan) -> str:
    first = {(each.kind, each.where): each.action for each in reversed(plan.all_changes)}
    counts = Counter(first.values())
    if not counts:
        return "Nothing is known to be done." if plan.cut_short or plan.failures else "Nothing is to be done."
    told = (f"{counts[action]} to {action}" for action in MARKS)
    return f"Plan: {', '.join(told)}. Nothing was written."


# Objects


def _object(change: ObjectChange, words: Words) -> Iterator[str]:
    mark, colour = MARKS[change.action], COLOURS[change.action]
    head = words.paint(f"{mark} {change.kind.name} {_name(change)}", f"{BOLD};{colour}")
    remarks = [f"of {change.owner}"] if change.owner else []
    fields = [each for each in change.fields if words.everything or not _goes_without_saying(each, change)]
    stated = [each for each in fields if each.then] or fields
    writers = {tuple(each.then) for each in stated}
    together = change.action == "create" and len(writers) == 1
    if together and any(writers):
        remarks.append(f"written by {', '.join(*writers)}")
    if change.held_by:
        remarks.append(f"goes when its finalizers let it: {', '.join(change.held_by)}")
    yield f"  {head}{words.paint(f'  ({chr(59).join(remarks)})'.replace(';', '; '), DIM) if remarks else ''}"
    shown = fields if words.everything or change.action == "change" else stated
    for each in shown:
        yield from _field(each, change, words, owners=not together)
    if filled_in := len(fields) - len(shown):
        yield f"      {words.paint(f'and {filled_in} fields that the server fills in (-v shows them)', DIM)}"
    yield from _handovers(change, words)


def _handovers(change: ObjectChange, words: Words) -> Iterator[str]:
    """The fields that stay as they are, by whose they are and whose they will be."""
    grouped: dict[str, list[str]] = {}
    for each in change.handovers:
        grouped.setdefault(f"{_people(each.owners)} → {_people(each.then)}", []).append(each.path)
    for owned, paths in grouped.items():
        shown = paths if words.everything else paths[:HANDOVERS_SHOWN]
        more = f" and {len(paths) - len(shown)} more" if len(shown) < len(paths) else ""
        yield f"      {words.paint(f'the same, but owned by {owned}:', DIM)} {', '.join(shown)}{more}"


def _goes_without_saying(field: FieldChange, of: ObjectChange) -> bool:
    """Whether it is the reference to the owner, which the headline names; or the time, which will be another one."""
    owner = f"metadata.ownerReferences[{of.owner.partition(' ')[2]}]"
    return field.path.startswith(owner) or field.path.endswith(".lastTransitionTime")


def _name(change: ObjectChange) -> str:
    return f"{change.where} (a name like this)" if change.generated else change.where


def _field(change: FieldChange, of: ObjectChange, words: Words, *, owners: bool) -> Iterator[str]:
    owned = f"  {words.paint(f'[{_owned(change)}]', DIM)}" if owners else ""
    old, new = change.old, change.new
    if _has_lines(old) or _has_lines(new):
        yield f"      {change.path}:{owned}"
        yield from _text(old, new, words)
    elif of.action == "create":
        yield f"      {change.path}: {_value(new)}{owned}"
    elif old is HIDDEN and new is HIDDEN:
        yield f"      {change.path}: {words.paint('(another secret)', YELLOW)}{owned}"
    elif new is ABSENT:
        yield f"      {change.path}: {words.paint(_value(old), RED)} → (gone){owned}"
    elif old is ABSENT:
        yield f"      {change.path}: (none) → {words.paint(_value(new), GREEN)}{owned}"
    else:
        yield f"      {change.path}: {words.paint(_value(old), RED)} → {words.paint(_value(new), GREEN)}{owned}"


def _owned(change: FieldChange) -> str:
    now, then = _people(change.owners), _people(change.then)
    if change.new is ABSENT:
        return now
    if not change.then:
        return "the server" if change.old is ABSENT else "nobody"
    return then if change.old is ABSENT or now == then else f"{now} → {then}"


def _people(managers: Sequence[str]) -> str:
    return ", ".join(managers) or "nobody"


def _has_lines(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value.rstrip("\n")


def _text(old: Any, new: Any, words: Words) -> Iterator[str]:
    """Lines of text that differ, as `diff -u` shows them."""
    was, is_ = (each.splitlines() if isinstance(each, str) else [] for each in (old, new))
    for line in list(difflib.unified_diff(was, is_, lineterm="", n=1))[2:]:
        yield f"        {words.paint(line, {'+': GREEN, '-': RED}.get(line[:1], DIM))}"


def _value(value: Any) -> str:
    if value is HIDDEN:
        return "(secret)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


# Passes


def _passes(plan: Plan, words: Words) -> Iterator[str]:
    if not plan.passes:
        return
    count = len(plan.passes)
    yield f"{count} pass{'es' if count > 1 else ''}:"
    for number, done in enumerate(plan.passes, 1):
        if number > PASSES_SHOWN and not words.everything:
            yield f"  and {count - PASSES_SHOWN} more (-v shows them)"
            break
        wrote = f"; writes {', '.join(map(str, done.writes))}" if done.writes else ""
        because = ", ".join(map(str, done.triggers))
        yield f"  {number}. {subject(done)}, because {because}: {_result(done)}{wrote}"
    yield ""


def _result(done: Pass) -> str:
    return f"{done.result}: {done.message}" if done.message else done.result


def _endings(plan: Plan, words: Words) -> Iterator[str]:
    """How each object stands in the end, if that is more than done."""
    for done in plan.last:
        where = subject(done)
        again = f" It looks again in {_seconds(done.again)}." if done.again else ""
        _, status, message = plan.ready.get(where, ("", "", ""))
        if where in plan.failures:
            yield words.paint(f"{where} fails: {plan.failures[where]}", RED)
        elif done.result == "waiting":
            yield words.paint(f"{where} then waits: {done.message}.{again}", YELLOW)
        elif done.result == "fatal":
            yield words.paint(f"{where} can't be helped until it is changed: {done.message}", RED)
        elif done.result == "done" and status == "False" and plan.all_changes:
            yield words.paint(f"{where} is then not ready: {message}.{again}", YELLOW)


def _seconds(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds:g} s"


# For programs


def as_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values."""
    plan = _without_secrets(plan)
    return {
        "operator": plan.operator,
        "applied": [_object_document(each) for each in plan.applied],
        "changes": [_object_document(each) for each in plan.changes],
        "passes": [_pass_document(each) for each in plan.passes],
        "events": [
            {"object": where, "type": said.type, "reason": said.reason, "message": said.message}
            for where, said in plan.events
        ],
        "outside": [{"call": each.words, "line": each.line, "made": each.made} for each in plan.calls],
        "notes": plan.notes,
        "failures": plan.failures,
        "refusals": plan.refusals,
        "cutShort": plan.cut_short,
    }


def _object_document(change: ObjectChange) -> dict[str, Any]:
    return {
        "action": change.action,
        "apiVersion": change.kind.api_version,
        "kind": change.kind.name,
        "namespace": change.namespace,
        "name": change.name,
        "generatedName": change.generated,
        "controller": change.owner,
        "finalizers": list(change.held_by),
        "fields": [_field_document(each) for each in change.fields],
        "handovers": [
            {"path": each.path, "owners": list(each.owners), "then": list(each.then)} for each in change.handovers
        ],
    }


def _field_document(change: FieldChange) -> dict[str, Any]:
    said: dict[str, Any] = {"path": change.path, "owners": list(change.owners), "then": list(change.then)}
    if HIDDEN in (change.old, change.new):
        said["secret"] = True
    values = {"old": change.old, "new": change.new}
    return said | {name: value for name, value in values.items() if value is not ABSENT and value is not HIDDEN}


def _pass_document(done: Pass) -> dict[str, Any]:
    return {
        "controller": done.controller,
        "kind": done.kind,
        "namespace": done.namespace,
        "name": done.name,
        "because": [str(each) for each in done.triggers],
        "result": done.result,
        "message": done.message,
        "again": done.again,
        "writes": [str(each) for each in done.writes],
    }
