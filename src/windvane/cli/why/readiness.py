"""Why an object is not ready: what it says itself, and which of its children it waits for, down to the last."""

from collections.abc import Sequence
from typing import Any

from windvane.cli.why.causes import Record, Step
from windvane.cli.why.live import Live, words_of
from windvane.cli.why.reason import Facts, Reason
from windvane.cli.why.standing import Standing, Wire, standing_of

DEEPEST = 8
LONGEST = 400


def explain_readiness(facts: Facts) -> list[Reason]:
    """Why it is not ready, or that it is; nothing if it has no such thing, or is being deleted."""
    live = facts.live
    thing = live.object
    if thing is None or (thing.get("metadata") or {}).get("deletionTimestamp"):
        return []
    mine = standing_of(thing)
    last = last_word(facts.record, facts)
    if mine.well is not False and last is None:
        return [Reason("readiness", f"{facts.subject} is ready.")] if mine.well else []
    words = mine.words or (last.done.message if last is not None else "")
    below = blockers(thing, live)
    about = [live.reference_of(each) for each, _ in below]
    if not below:
        return [Reason("readiness", f"{facts.subject} is not ready: {_short(words) or 'it does not say why'}")]
    chain = ", which waits for ".join(words_of(each) for each, _ in below)
    reason = _short(below[-1][1].words) or "it does not say why it is not ready"
    answer = [Reason("readiness", f"{facts.subject} is not ready: it waits for {chain}: {reason}", about=about)]
    if words and words not in reason:
        answer.append(Reason("readiness", f"It says itself: {_short(words)}"))
    return answer


def last_word(record: Record, facts: Facts) -> Step | None:
    """The last pass over an object, if it failed, waits, or has given up."""
    steps = [each for each in record.of(facts.live.reference) if each.done.result != "cancelled"]
    latest: dict[str, Step] = {each.operator + each.done.controller: each for each in steps}
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
    needed: list[Wire] = [*live.under(thing)]
    if thing.get("kind") == "Pod":
        claims = {
            (volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in _spec(thing).get("volumes") or ()
        }
        everything = (each for some in live.children.values() for each in some)
        needed += [each for each in everything if each.get("kind") == "PersistentVolumeClaim" and _name(each) in claims]
    return needed


def _spec(thing: Wire) -> Wire:
    spec: Any = thing.get("spec")
    return spec if isinstance(spec, dict) else {}


def _name(thing: Wire) -> str:
    return str((thing.get("metadata") or {}).get("name", ""))


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
