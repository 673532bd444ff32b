"""What a webhook refused: the API server's words name it, wherever they come up: a pass, a condition, an Event."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from windvane.cli.why.live import words_of
from windvane.cli.why.object_state import conditions_of
from windvane.cli.why.readiness import last_word
from windvane.cli.why.reason import Facts, Reason

DENIED = re.compile(r'admission webhook "([^"]+)" denied the request(?:: (.*)|\.?)', re.DOTALL)
UNREACHED = re.compile(r'failed calling webhook "([^"]+)": (.*)', re.DOTALL)


class Refusal(NamedTuple):
    """Which webhook, and what it said."""

    webhook: str
    message: str
    denied: bool
    """False: it could not be asked."""


def refusal_in(words: str) -> Refusal | None:
    """The refusal that a message tells of, if it does."""
    if found := DENIED.search(words):
        return Refusal(found[1], (found[2] or "").strip(), denied=True)
    if found := UNREACHED.search(words):
        return Refusal(found[1], found[2].strip(), denied=False)
    return None


def explain_refusals(facts: Facts) -> list[Reason]:
    """Each webhook that now keeps an object, or one below it, from being as it should."""
    found: dict[tuple[str, bool], Reason] = {}
    for place, words in _said(facts):
        refusal = refusal_in(words)
        if refusal is not None:
            found.setdefault((refusal.webhook, refusal.denied), _reason(place, refusal, facts.live.webhooks))
    return list(found.values())


def _said(facts: Facts) -> Iterator[tuple[str, str]]:
    """What is said now of an object and of those below it, and by what: what is over is not among it."""
    step = last_word(facts.record, facts)
    if step is not None:
        yield f"what {step.operator} writes in its pass for {facts.subject}", step.done.message
    below = [each for some in facts.live.children.values() for each in some]
    for thing in [*([facts.live.object] if facts.live.object is not None else []), *below]:
        for condition in conditions_of(thing):
            yield f"what is written for {words_of(thing)}", str(condition.get("message") or "")


def _reason(place: str, refusal: Refusal, configurations: Mapping[str, str]) -> Reason:
    where = configurations.get(refusal.webhook)
    whose = f" (of {where})" if where else " (which is there no more)" if configurations else ""
    if refusal.denied:
        words = f"The webhook {refusal.webhook}{whose} refuses {place}: {refusal.message or 'it does not say why'}"
        return Reason("refusal", words)
    words = f"The webhook {refusal.webhook}{whose} can't be asked about {place}: {refusal.message}"
    kind, _, name = (where or "").partition(" ")
    remedy = f"run what serves it, or remove it: kubectl delete {kind.lower()} {name}" if where else ""
    return Reason("refusal", words, remedy)
