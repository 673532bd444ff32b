"""Which operators work on an object, whether they run, and what each did last."""

from windvane.api.kind import is_custom
from windvane.cli.why.causes import CausalStep, Run
from windvane.cli.why.reason import Facts, Reason, clock, span, why_it_ran


def explain_workers(facts: Facts) -> list[Reason]:
    """That an operator does not run, or has not come to see the last change; and the last pass of each."""
    record, reference = facts.record, facts.live.reference
    metadata = (facts.live.object or {}).get("metadata") or {}
    if metadata.get("deletionTimestamp") and metadata.get("finalizers"):
        return []  # each finalizer is told with the operator that handles it
    latest: dict[tuple[str, str], CausalStep] = {}
    for step in record.of(reference):
        if step.done.result not in ("gone", "unmatched"):
            latest[step.operator, step.done.controller] = step
    answer = [
        _stopped(each, facts) for each in record.operators_for(reference.resource) if facts.running.get(each) is False
    ]
    if not record.operators_for(reference.resource) and is_custom(facts.live.kind) and facts.live.object is not None:
        words = f"No operator whose history is here has ever worked on {facts.live.reference.resource}"
        answer.append(
            Reason("operator", words, "run it with windvane run; on a cluster of another kind, with --history FILE")
        )
    shown = [each for each in latest.values() if each.wrote or each.done.message or is_custom(facts.live.kind)]
    return answer + [_last(each, facts) for each in shown if facts.live.object is not None]


def _stopped(operator: str, facts: Facts) -> Reason:
    how = ended(facts.record.runs_of(operator)[-1], facts)
    return Reason("operator", f"The operator {operator} does not run: it {how}", "windvane run starts it")


def ended(run: Run, facts: Facts) -> str:
    """How a process of an operator ended, which runs no more."""
    if run.ended is not None:
        return f"was stopped at {clock(run.ended, facts.now)}"
    return f"was killed, some time after {clock(run.last, facts.now)}"


def _last(step: CausalStep, facts: Facts) -> Reason:
    done = step.done
    age = max((facts.now - done.began).total_seconds(), 0)
    came = f"{done.result}: {done.message}" if done.message else done.result
    words = (
        f"{step.operator} last saw to it at {clock(done.began, facts.now)}, {span(age)} ago, because "
        f"{why_it_ran(step, facts.record)}: {came}"
    )
    if done.slowed:
        words += f"; its passes are slowed down, by {span(done.slowed)}, because something that it writes never settles"
    elif done.again is not None:
        due = done.again + done.seconds - age
        words += f"; the next pass comes {f'in {span(due)}' if due > 0 else 'now'}, if no change brings it before"
    return Reason("pass", words)
