"""Why an object is not ready: what it says itself, and which of its children it waits for, down to the last."""

from collections.abc import Sequence

from windvane.cli.why.causes import CausalRecord, CausalStep
from windvane.cli.why.live import Live, claims_of, uid_of, words_of
from windvane.cli.why.object_state import (
    PHASE,
    STARTS,
    Standing,
    Wire,
    group_and_kind,
    has_failed,
    service_standing,
    standing_of,
)
from windvane.cli.why.reason import Facts, Reason
from windvane.cli.why.reference import Reference

DEEPEST = 8
LONGEST = 400
GOOD = ("is ready", "is not ready")
STATES = {
    ("batch", "Job"): ("is complete", "has not completed"),
    ("", "PersistentVolumeClaim"): ("is bound", "is not bound"),
    ("", "PersistentVolume"): ("can be used", "can't be used"),
    ("", "Namespace"): ("is active", "is not active"),
    ("", "Service"): ("leads to pods that are ready", "leads nowhere"),
    ("autoscaling", "HorizontalPodAutoscaler"): ("scales", "does not scale"),
}
"""What is said of kinds that are not ready or unready."""


def explain_readiness(facts: Facts) -> list[Reason]:
    """Why it is not ready, or that it is; nothing if it has no such thing, or is being deleted."""
    live = facts.live
    thing = live.object
    if thing is None or (thing.get("metadata") or {}).get("deletionTimestamp"):
        return []
    mine = service_standing(thing, live.under(thing)) if live.kind.resource == "services" else standing_of(thing)
    last = last_word(facts.record, facts)
    below = blockers(thing, live)
    if mine.well is None and last is None:
        return _unsaid(facts, below)
    if mine.well is not False and last is None:
        return [Reason("readiness", f"{facts.subject} {_state(thing)[0]}.")]
    words = _said(thing, mine, live) or (last.done.message if last is not None else "")
    return _headline(facts.subject, thing, words, below, live)


def _unsaid(facts: Facts, below: Sequence[tuple[Wire, Standing]]) -> list[Reason]:
    """What there is to say of an object that doesn't say itself how it is: that it is there, and what is below it."""
    answer = [Reason("readiness", f"{facts.subject} is there. It has no status that says whether it is ready")]
    if below:
        first, standing = below[0]
        words = _said(first, standing, facts.live)
        answer += _headline(f"Of what belongs to it, {words_of(first)}", first, words, below[1:], facts.live)
    return answer


def _headline(
    subject: str, thing: Wire, words: str, below: Sequence[tuple[Wire, Standing]], live: Live
) -> list[Reason]:
    """That an object is not ready, and what it waits for."""
    bad = _state(thing)[1]
    about = [live.reference_of(each) for each, _ in below]
    if not below:
        return [Reason("readiness", f"{subject} {bad}: {_short(words) or 'it does not say why'}")]
    if has_failed(thing):
        return [Reason("readiness", f"{subject} {bad}: {_short(words)}"), _last_of(below, live, about)]
    over = next((place for place, (each, _) in enumerate(below, 1) if has_failed(each)), len(below))
    chain = ", which waits for ".join(words_of(each) for each, _ in below[:over])
    reason = _short(_said(*below[over - 1], live)) or "it does not say why it is not ready"
    failed = ", which has failed" if has_failed(below[over - 1][0]) else ""
    answer = [Reason("readiness", f"{subject} {bad}: it waits for {chain}{failed}: {reason}", about=about)]
    if over < len(below):
        answer.append(_last_of(below, live))
    if words and words not in reason:
        answer.append(Reason("readiness", f"It says itself: {_short(words)}"))
    return answer


def _last_of(below: Sequence[tuple[Wire, Standing]], live: Live, about: Sequence[Reference] = ()) -> Reason:
    """What is wrong at the end of a line in which a Job has failed: its pod."""
    thing, standing = below[-1]
    return Reason("readiness", f"{words_of(thing)}: {_short(_said(thing, standing, live))}", about=about)


def _state(thing: Wire) -> tuple[str, str]:
    """What is said of an object that is well, and of one that is not."""
    good, bad = STATES.get(group_and_kind(thing), GOOD)
    return good, "has failed" if has_failed(thing) else bad


def last_word(record: CausalRecord, facts: Facts) -> CausalStep | None:
    """The last pass over an object, if it failed, waits, or has given up."""
    steps = [each for each in record.of(facts.live.reference) if each.done.result != "cancelled"]
    latest: dict[str, CausalStep] = {each.operator + each.done.controller: each for each in steps}
    said = [each for each in latest.values() if each.done.result in ("failed", "waiting", "fatal")]
    return said[-1] if said else None


def blockers(thing: Wire, live: Live) -> list[tuple[Wire, Standing]]:
    """The child that an object waits for, the child which that one waits for, and so on."""
    found: list[tuple[Wire, Standing]] = []
    seen = [thing]
    while len(found) < DEEPEST:
        said = standing_of(thing).words
        candidates = [(each, standing_of(each)) for each in _needed(thing, live) if each not in seen]
        unwell = [(each, standing) for each, standing in candidates if standing.well is False]
        if not unwell:
            return found
        unwell.sort(key=lambda each: (_name(each[0]) not in said, not _is_broken(each[1])))
        found.append(unwell[0])
        thing = unwell[0][0]
        seen.append(thing)
    return found


def _is_broken(standing: Standing) -> bool:
    """Whether something is wrong, rather than only not done yet."""
    return ":" in standing.words


def _needed(thing: Wire, live: Live) -> Sequence[Wire]:
    """Its children, and the claims that a pod mounts, if they are among those that were read."""
    claims = claims_of(thing)
    return [*live.under(thing), *(each for each in live.needed if _place(each) in claims)]


def _place(thing: Wire) -> tuple[str, str]:
    metadata = thing.get("metadata") or {}
    return str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _said(thing: Wire, standing: Standing, live: Live) -> str:
    """In which words something is not well: of what has only a phase, or only starts, the last warning tells more."""
    if standing.words.startswith((PHASE, STARTS)):
        about = [each for each in live.events if (each.get("involvedObject") or {}).get("uid") == uid_of(thing)]
        warnings = [each for each in about if each.get("type") == "Warning"]
        if warnings:
            return f"{standing.words}: {warnings[-1].get('message')}"
    return standing.words


def _name(thing: Wire) -> str:
    return str((thing.get("metadata") or {}).get("name", ""))


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
