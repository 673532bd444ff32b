"""Why an object was deleted, and by which client; and if it is still there, which finalizer keeps it."""

from collections.abc import Iterator

from windvane.cli.why.causes import CausalStep, ObservedChange, first_deletion
from windvane.cli.why.live import words_of
from windvane.cli.why.object_state import Wire, conditions_of, said
from windvane.cli.why.readiness import blockers
from windvane.cli.why.reason import Facts, Reason, clock, span, why_it_ran
from windvane.cli.why.reference import Reference
from windvane.cli.why.workers import ended

COLLECTOR = "garbage-collector-controller"
DEEPEST = 8
BUILT_IN = {
    "orphan": "the garbage collector takes it off when those that it owned are owned by it no more",
    "kubernetes": "the namespace controller takes it off when nothing is left in the namespace",
    "kubernetes.io/pvc-protection": "it goes when no pod uses the claim any more",
    "kubernetes.io/pv-protection": "it goes when no claim is bound to the volume any more",
    "batch.kubernetes.io/job-tracking": "the Job controller takes it off when it has counted the pod",
}
"""What Kubernetes' own finalizers wait for."""


def explain_deletion(facts: Facts) -> list[Reason]:
    """Which client deleted it, and what keeps it; nothing if it was not deleted."""
    thing = facts.live.object
    if thing is None:
        return [_gone(facts)]
    metadata = thing.get("metadata") or {}
    if not metadata.get("deletionTimestamp"):
        return []
    spec = thing.get("spec") or {}
    finalizers = [
        *(metadata.get("finalizers") or ()),
        *(spec.get("finalizers") or () if facts.live.kind.name == "Namespace" else ()),
    ]
    keeps = f"these finalizers keep it: {', '.join(finalizers)}" if finalizers else "it ends within its grace period"
    answer = [Reason("deletion", f"{facts.subject} is being deleted, since {metadata['deletionTimestamp']}: {keeps}")]
    answer += [_finalizer(each, thing, facts) for each in finalizers]
    answer += [Reason("deletion", said(each)) for each in _remaining(thing)]
    deleted = deletion_of(facts.live.reference, facts)
    if deleted is not None:
        answer.append(Reason("deletion", f"It was deleted {_how(deleted, facts)}"))
    return answer


def deletion_of(reference: Reference, facts: Facts) -> ObservedChange | None:
    """What deleted an object last, if it did not come again after that."""
    return first_deletion(facts.record.changes_of(reference))


def _gone(facts: Facts) -> Reason:
    deleted = deletion_of(facts.live.reference, facts)
    if deleted is None:
        return Reason("deletion", f"{facts.subject} is not there; the history tells of it, and not of how it went")
    about = [each.of for each in _line(deleted, facts)]
    return Reason("deletion", f"{facts.subject} is gone: it was deleted {_how(deleted, facts)}", about=about)


def _how(deleted: ObservedChange, facts: Facts) -> str:
    """When, by which client, and because of what; and the same of its owner, if it went with that."""
    words = []
    for each in _line(deleted, facts):
        whose = "" if each is deleted else f"{facts.record.words(each.of)} was deleted "
        words.append(f"{whose}at {clock(each.at, facts.now)} by {_whom(each, facts)}")
    return ". ".join(words)


def _line(deleted: ObservedChange, facts: Facts) -> list[ObservedChange]:
    """A deletion, that of the owner that it comes from, and so on."""
    line = [deleted]
    while len(line) < DEEPEST:
        step = line[-1].by
        if step is None or step.operator != COLLECTOR:
            return line
        owners = (deletion_of(each, facts) for each in _owners(step))
        owner = next((each for each in owners if each is not None and each not in line), None)
        if owner is None:
            return line
        line.append(owner)
    return line


def _owners(step: CausalStep) -> Iterator[Reference]:
    """The owners because of which the garbage collector has deleted something."""
    for each in step.done.triggers:
        if each.resource:
            yield Reference(each.resource, each.namespace, each.name)


def _whom(deleted: ObservedChange, facts: Facts) -> str:
    """Which client it was, and why it did that."""
    step = deleted.by
    if step is None:
        return deleted.manager or "a client that keeps no history here: a person with kubectl, or another program"
    if step.operator == COLLECTOR:
        return f"the garbage collector, because {', '.join(each.words for each in step.done.triggers)}"
    place = f"its pass for {step.done.kind} {step.done.where}"
    return f"{step.operator}, in {place} (because {why_it_ran(step, facts.record)})"


# Finalizers


def _finalizer(name: str, thing: Wire, facts: Facts) -> Reason:
    if name == "foregroundDeletion":
        return _foreground(thing, facts)
    if name in BUILT_IN:
        return Reason("finalizer", f"{name}: {BUILT_IN[name]}")
    manager = name.rpartition("/")[2]
    steps = [each for each in facts.record.of(facts.live.reference) if _manager_of(each) == manager]
    operator = steps[-1].operator if steps else _operator_named(manager, facts)
    if operator is None:
        put = _put_by(name, thing)
        by = f"; the field manager {put} has put it there" if put else ""
        return Reason("finalizer", f"{name}: no operator whose history is here handles it{by}", _let_go(name, facts))
    if facts.running.get(operator) is False:
        words = f"{name} is handled by the operator {operator}, which does not run{_since(operator, facts)}"
        return Reason("finalizer", words, f"start it: windvane run; or, if it never will be: {_let_go(name, facts)}")
    if not steps:
        return Reason("finalizer", f"{name} is handled by the operator {operator}, which has had no pass for it yet")
    last = steps[-1]
    answered = f"{last.done.result}: {last.done.message}" if last.done.message else last.done.result
    again = ""
    if last.done.again is not None:
        due = last.done.began.timestamp() + last.done.seconds + last.done.again - facts.now.timestamp()
        again = f"; it tries again in {span(due)}" if due > 0 else ""
    words = (
        f"{name} is handled by the operator {operator}, whose last pass, at {clock(last.done.began, facts.now)}, ended "
        f"so: {answered}{again}. It came because {why_it_ran(last, facts.record)}"
    )
    return Reason("finalizer", words)


def _foreground(thing: Wire, facts: Facts) -> Reason:
    live = facts.live
    left = [
        each
        for each in live.under(thing)
        if any(
            owner.get("blockOwnerDeletion") and owner.get("uid") == (thing.get("metadata") or {}).get("uid")
            for owner in (each.get("metadata") or {}).get("ownerReferences") or ()
        )
    ]
    if not left:
        return Reason("finalizer", "foregroundDeletion: the garbage collector takes it off, for nothing is left of it")
    first = left[0]
    line = [first, *(each for each, _ in blockers(first, live))]
    words = ", which waits for ".join(words_of(each) for each in line)
    held = (line[-1].get("metadata") or {}).get("finalizers") or ()
    why = f", which the finalizers {', '.join(held)} keep" if held else ""
    return Reason(
        "finalizer",
        f"foregroundDeletion: what it owns must go first, and is still there: {words}{why}",
        about=[live.reference_of(each) for each in line],
    )


def _remaining(thing: Wire) -> list[Wire]:
    """What a namespace says of what is left in it."""
    told = ("NamespaceContentRemaining", "NamespaceFinalizersRemaining", "NamespaceDeletionContentFailure")
    return [each for each in conditions_of(thing) if each.get("type") in told and each.get("status") == "True"]


def _manager_of(step: CausalStep) -> str:
    """The name of a controller as a field manager, and in finalizers."""
    return step.operator if step.done.controller == step.done.resource else f"{step.operator}-{step.done.controller}"


def _operator_named(manager: str, facts: Facts) -> str | None:
    known = {each for run in facts.record.runs for each in (run.operator, *run.parts)}
    fits = [each for each in known if manager == each or manager.startswith(f"{each}-")]
    return max(fits, key=len, default=None)


def _put_by(name: str, thing: Wire) -> str:
    """Which field manager a finalizer is from, as managedFields say."""
    for entry in (thing.get("metadata") or {}).get("managedFields") or ():
        owned = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:finalizers") or {}
        if f'v:"{name}"' in owned:
            return str(entry.get("manager", ""))
    return ""


def _since(operator: str, facts: Facts) -> str:
    runs = facts.record.runs_of(operator)
    return f": it {ended(runs[-1], facts)}" if runs else ""


def _let_go(name: str, facts: Facts) -> str:
    """How to take off a finalizer that nothing will."""
    live = facts.live
    others = [each for each in ((live.object or {}).get("metadata") or {}).get("finalizers") or () if each != name]
    kept = ", ".join(f'"{each}"' for each in others)
    patch = f'{{"metadata": {{"finalizers": [{kept}]}}}}'
    where = f" -n {live.reference.namespace}" if live.reference.namespace else ""
    command = f"kubectl patch {live.reference.resource} {live.reference.name}{where} --type=merge -p '{patch}'"
    return f"without its clean-up, it is taken off by: {command}"
