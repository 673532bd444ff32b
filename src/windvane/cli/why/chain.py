"""The chain that led to an object's present state: what each change brought on, indented by cause, newest last.

A line is a change that another client made, a pass, or the start of an operator. A pass stands under the change that
brought it on, and that under the pass which wrote it. What repeats itself becomes one line that says how often.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

import msgspec

from windvane.cli.why.causes import CausalRecord, CausalStep, ObservedChange, Run
from windvane.cli.why.reason import Facts, brief
from windvane.cli.why.reference import Reference
from windvane.cli.why.workers import ended

CLUSTER = "cluster"
"""What the history of an embedded cluster's own controllers is named after."""
MOST = 3
"""So many things that brought a pass on are told, the latest."""
RECENT = 6
"""A line that says the same as one of so many before it is counted there."""


class Line(msgspec.Struct, rename="camel", omit_defaults=True):
    """One line of the chain."""

    at: datetime
    what: str
    """`change`, `pass`, or `operator`."""
    words: str
    depth: int = 0
    """How many causes are above it."""
    times: int = 1
    until: datetime | None = None
    """When it happened last, if more than once."""


@dataclass(eq=False)
class _Node:
    at: datetime
    order: tuple[datetime, int]
    line: CausalStep | ObservedChange | tuple[str, Run]
    under: "list[_Node]" = field(default_factory=list)


def chain_of(facts: Facts, about: Collection[Reference], *, everything: bool = False) -> list[Line]:
    """What led to the state of an object, and of those that the answer is also about."""
    focus = {facts.live.reference, *about}
    steps, changes = _chosen(facts.record, focus, everything=everything)
    roots = _tree(steps, changes)
    roots += _starts(facts, steps)
    roots.sort(key=lambda node: node.order)
    words = _Words(facts)
    return [line for root in roots for line in words.lines(root, 0)] if everything else words.folded(roots, 0)


def _chosen(
    record: CausalRecord, focus: Collection[Reference], *, everything: bool
) -> tuple[dict[CausalStep, None], dict[ObservedChange, None]]:
    """The passes for these objects, those that changed them, and all that brought these on."""
    steps: dict[CausalStep, None] = {}
    changes: dict[ObservedChange, None] = {}

    def add(step: CausalStep) -> None:
        while step not in steps:
            steps[step] = None
            cause = step.cause
            if cause is None:
                return
            if cause.by is None:
                changes[cause] = None
                return
            step = cause.by

    for step in record.steps:
        concerned = step.of in focus
        news = step.wrote or step.done.message
        if (concerned and (news or everything)) or any(each.of in focus for each in step.wrote):
            add(step)
    for change in record.changes:
        if change.of in focus and change.by is None:
            changes[change] = None
    if everything:
        known = len(steps) - 1
        while known < len(steps):  # and all that these have brought on
            known = len(steps)
            for step in record.steps:
                if step.cause is not None and step.cause.by in steps:
                    add(step)
    return steps, changes


def _tree(steps: Iterable[CausalStep], changes: Iterable[ObservedChange]) -> list[_Node]:
    nodes: dict[CausalStep | ObservedChange, _Node] = {}
    for change in changes:
        nodes[change] = _Node(change.at, (change.at, change.order), change)
    for step in steps:
        nodes[step] = _Node(step.done.began, (step.done.began, step.order), step)
    roots = []
    for thing, node in nodes.items():
        cause = thing.cause if isinstance(thing, CausalStep) else None
        above = nodes.get(cause.by if cause.by is not None else cause) if cause is not None else None
        if above is None or _is_under(above, node):
            roots.append(node)
        else:
            above.under.append(node)
    for node in nodes.values():
        node.under.sort(key=lambda each: each.order)
    return roots


def _is_under(node: _Node, above: _Node) -> bool:
    return node is above or any(_is_under(node, each) for each in above.under)


def _starts(facts: Facts, steps: Iterable[CausalStep]) -> list[_Node]:
    """When the operators that had to do with it were started anew."""
    concerned = {each.operator for each in steps}
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in facts.record.runs:
        if run.parts & concerned:
            runs[run.operator].append(run)
    nodes = []
    for operator, several in runs.items():
        for before, after in pairwise(several):
            named = "the cluster" if operator == CLUSTER else f"the operator {operator}"
            words = f"{named} was started anew; before that, it {ended(before, facts)}"
            nodes.append(_Node(after.began, (after.began, -1), (words, after)))
        if facts.running.get(operator) is False:
            last = several[-1]
            at = last.ended or last.last
            nodes.append(
                _Node(at, (at, 10**9), (f"the operator {operator} {ended(last, facts)}, and does not run", last))
            )
    return nodes


class _Words:
    """Tells nodes as lines."""

    def __init__(self, facts: Facts) -> None:
        self._record = facts.record

    def lines(self, node: _Node, depth: int) -> list[Line]:
        """A node and all that it brought on."""
        mine = Line(node.at, *self._told(node), depth=depth)
        return [mine, *(line for each in node.under for line in self.lines(each, depth + 1))]

    def folded(self, nodes: Sequence[_Node], depth: int) -> list[Line]:
        """The same of several, where those that say the same, soon after each other, become one."""
        told: list[Line] = []
        recent: dict[tuple[object, ...], Line] = {}
        for node in nodes:
            shape = self._shape(node)
            if (before := recent.pop(shape, None)) is not None:
                before.times += 1
                before.until = self._latest(node)
                recent[shape] = before
                continue
            recent[shape] = mine = Line(node.at, *self._told(node), depth=depth)
            if len(recent) > RECENT:
                del recent[next(iter(recent))]
            told.append(mine)
            told += self.folded(node.under, depth + 1)
        return told

    def _latest(self, node: _Node) -> datetime:
        return max([node.at, *(self._latest(each) for each in node.under)])

    def _shape(self, node: _Node) -> tuple[object, ...]:
        """What two nodes have in common that say the same: all but times, versions and counts."""
        under = frozenset(self._told_below(node))
        match node.line:
            case ObservedChange() as change:
                return ("change", _place(change.of), change.manager, change.happened, _shape_of(change.fields), under)
            case CausalStep() as step:
                wrote = frozenset((_place(each.of), each.happened) for each in step.wrote)
                because = frozenset((_place(each.of), each.happened) for each in step.because)
                kind = step.done.result, re.sub(r"\d+", "", step.done.message)
                return ("pass", step.operator, step.done.controller, _place(step.of), *kind, wrote, because, under)
            case (words, _):
                return ("operator", words)

    def _told_below(self, node: _Node, depth: int = 1) -> Iterator[tuple[object, ...]]:
        """What it brought on: at once all of it, further down only what had something to say."""
        for each in node.under:
            if isinstance(each.line, CausalStep) and (depth == 1 or each.line.done.message):
                done = each.line.done
                words = re.sub(r"\d+", "", done.message)
                yield each.line.operator, done.controller, _place(each.line.of), done.result, words
            yield from self._told_below(each, depth + 1)

    def _told(self, node: _Node) -> tuple[str, str]:
        match node.line:
            case ObservedChange() as change:
                return "change", self._change(change)
            case CausalStep() as step:
                return "pass", self._step(step)
            case (words, _):
                return "operator", words

    def _change(self, change: ObservedChange) -> str:
        whose = change.manager or "a client"
        verb = {"came": "created", "went": "deleted"}.get(change.happened, "changed")
        if change.happened == "went" and not change.manager:
            return f"{self._record.words(change.of)} went"
        if verb == "deleted":
            return f"{whose} deleted {self._record.words(change.of)}"
        fields = f": {', '.join(brief(change.fields))}" if change.fields else ""
        return f"{whose} {verb} {self._record.words(change.of)}{fields}"

    def _step(self, step: CausalStep) -> str:
        done = step.done
        because = [each.words for each in step.others]
        if len(step.because) > 1 or because:
            because += [self._brief(each) for each in step.because]
        elif step.cause is not None and step.cause.by is not None and len(step.cause.by.wrote) > 1:
            because += [self._brief(step.cause)]  # of what the line above wrote, this is what brought it on
        part = "" if done.controller in (done.resource, step.operator) else f" ({done.controller})"
        words = f"{step.operator}{part}: {done.kind} {done.where}"
        if because:
            more = f", and {len(because) - MOST} more" if len(because) > MOST else ""
            words += f", because {', and '.join(because[-MOST:])}{more}"
        wrote = [self._written(each, step) for each in step.wrote]
        if wrote:
            words += f"; wrote {', '.join(wrote)}"
        if done.message:
            words += f"; {done.result}: {done.message}"
        elif not wrote:
            words += {"done": "; nothing was to be done"}.get(done.result, f"; {done.result}")
        return words

    def _brief(self, change: ObservedChange) -> str:
        fields = f" ({', '.join(brief(change.fields))})" if change.fields and change.by is None else ""
        return f"{self._record.words(change.of)} {change.happened}{fields}"

    def _written(self, change: ObservedChange, step: CausalStep) -> str:
        if change.happened == "went":
            return f"the deletion of {self._record.words(change.of)}"
        if change.of == step.of:
            return f"its own {', '.join(brief(change.fields))}" if change.fields else "its status"
        fields = f" ({', '.join(brief(change.fields))})" if change.fields else ""
        return f"{self._record.words(change.of)}{fields}"


def _place(reference: Reference) -> Reference:
    """Which object it is; of pods, which come and go, only where."""
    return reference._replace(name="") if reference.resource == "pods" else reference


def _shape_of(fields: Iterable[str]) -> frozenset[str]:
    """What was changed: of a spec with its values, for those were a user's wish; of a status only which part."""
    return frozenset(re.split(r"[]\[ ]", each)[0] if each.startswith("status.") else each for each in fields)
