"""What caused what: each change of an object is known by its resourceVersion, and so is the pass that wrote it.

    kubectl changed Website blog ──▶ a pass of website ──wrote──▶ Deployment blog, version 163
                                                                        │ has brought
                                                       a pass of kube-controller-manager ──wrote──▶ ...

A journal has passes with what brought them on and what they wrote. Here these become a graph, across the journals of
all operators, and across their restarts. Nothing is read or asked: it is a function of what the journals say.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from windvane.cli.why.reference import Reference
from windvane.runtime.observability.history import Deletion, Pass, Trigger, Write
from windvane.runtime.observability.journal import JournalEntry

DELETED = "metadata.deletionTimestamp"
"""The field that changes when something is deleted that can't go yet."""

SAME = 5.0
"""A pass and an API server that tell of a deletion within so many seconds of each other tell of one."""


@dataclass(eq=False, slots=True)
class ObservedChange:
    """One change of one object: it came, it changed, or it went."""

    of: Reference
    at: datetime
    """When it was first seen, or when the pass began that made it."""
    version: str = ""
    happened: str = "changed"
    """`came`, `changed`, `went`."""
    manager: str = ""
    """The field manager that made it; empty if that is not known."""
    fields: list[str] = field(default_factory=list)
    by: "CausalStep | None" = None
    """The pass that made it; None if another client did."""
    merged: bool = False
    """Whether it is several that were seen as one: its fields are those of all, its manager that of the last."""
    order: int = 0


@dataclass(eq=False, slots=True)
class CausalStep:
    """One pass of one operator, and what it has to do with others."""

    operator: str
    run: str
    done: Pass
    order: int
    because: list[ObservedChange] = field(default_factory=list)
    """The changes that brought it on."""
    wrote: list[ObservedChange] = field(default_factory=list)
    """What it really changed: a write that changed nothing is not among them."""

    @property
    def of(self) -> Reference:
        """The object that it was for."""
        return Reference(self.done.resource, self.done.namespace, self.done.name)

    @property
    def others(self) -> list[Trigger]:
        """What brought it on and is no change: a timer, a retry; or that the object was there at the start."""
        return [each for each in self.done.triggers if each.initial or not each.resource or not each.version]

    @property
    def cause(self) -> ObservedChange | None:
        """The change that brought it on, the latest if there are several."""
        return max(self.because, key=lambda each: (_number(each.version), each.order), default=None)


@dataclass(frozen=True)
class Run:
    """One process of an operator, or of a cluster with all its controllers, from its start to its end."""

    operator: str
    run: str
    parts: frozenset[str]
    """The operators that have worked in it: of a cluster, these are several."""
    began: datetime
    ended: datetime | None
    """None: it runs, or it was killed."""
    last: datetime
    """When it was last heard of."""


@dataclass
class CausalRecord:
    """All that journals tell."""

    steps: list[CausalStep]
    """Oldest first."""
    changes: list[ObservedChange]
    runs: list[Run]
    kinds: Mapping[str, str]
    """What kind a resource is: `deployments.apps` is Deployment."""

    def of(self, reference: Reference) -> list[CausalStep]:
        """The passes for one object."""
        return [each for each in self.steps if each.of == reference]

    def changes_of(self, reference: Reference) -> list[ObservedChange]:
        """The changes of one object, oldest first."""
        return [each for each in self.changes if each.of == reference]

    def operators_for(self, resource: str) -> list[str]:
        """Which operators have done passes for objects of a resource."""
        return list(dict.fromkeys(each.operator for each in self.steps if each.done.resource == resource))

    def runs_of(self, operator: str) -> list[Run]:
        """The processes that an operator has worked in, oldest first."""
        return [each for each in self.runs if operator in (each.operator, *each.parts)]

    def knows(self, reference: Reference) -> bool:
        """Whether anything is told of that object."""
        return any(each.of == reference for each in self.steps) or any(each.of == reference for each in self.changes)

    def words(self, reference: Reference) -> str:
        """`Deployment default/blog`."""
        return f"{self.kinds.get(reference.resource, reference.resource)} {reference.where}"


def read_record(entries: Iterable[JournalEntry], kinds: Mapping[str, str] | None = None) -> CausalRecord:
    """What the entries of journals tell, whatever their order."""
    ordered = sorted(entries, key=lambda each: each.done.began if each.done is not None else each.at)
    steps = [
        CausalStep(entry.operator, entry.run, entry.done, order)
        for order, entry in enumerate(ordered)
        if entry.done is not None
    ]
    names = {each.done.resource: each.done.kind for each in steps if each.done.resource}
    for each in steps:
        for trigger in each.done.triggers:
            if trigger.resource and not trigger.initial:
                names.setdefault(trigger.resource, trigger.words.partition(" ")[0])
    changes = _Changes()
    changes.read(steps, [entry for entry in ordered if entry.deletion is not None])
    return CausalRecord(steps, changes.ordered(), _runs(ordered), {**names, **(kinds or {})})


class _Changes:
    """The changes that passes tell of, each once, however many tell of it."""

    def __init__(self) -> None:
        self._known: dict[tuple[Reference, str], ObservedChange] = {}
        self._unnumbered: dict[Reference, list[ObservedChange]] = defaultdict(
            list
        )  # by writes that were answered without one

    def ordered(self) -> list[ObservedChange]:
        all_of_them = [*self._known.values(), *(each for some in self._unnumbered.values() for each in some)]
        return sorted(all_of_them, key=lambda each: (each.at, _number(each.version), each.order))

    def read(self, steps: Sequence[CausalStep], deletions: Iterable[JournalEntry]) -> None:
        seen = _first_seen(steps)
        for step in steps:
            for write in step.done.writes:
                self._add_write(step, write, seen)
        for entry in deletions:
            if entry.deletion is not None:
                self._add_deletion(entry.deletion, entry.at)
        for step in steps:
            for trigger in step.done.triggers:
                if trigger.resource and trigger.version and not trigger.initial:
                    self._add_trigger(step, trigger)

    def _add_write(self, step: CausalStep, write: Write, seen: Mapping[tuple[Reference, str], datetime]) -> None:
        if not write.resource:
            return  # it says how many more there were
        reference = Reference(write.resource, write.namespace, write.name)
        verb = write.words.partition(" ")[0]
        happened = "went" if verb == "delete" else "came" if verb == "create" and not write.subresource else "changed"
        at = step.done.began
        made = ObservedChange(
            reference, at, write.version, happened, step.operator, write.fields, step, order=step.order
        )
        if not write.version:
            self._unnumbered[reference].append(made)
        else:
            place = (reference, write.version)
            if not write.fields and (place in self._known or seen.get(place, at) < at or _is_among(step, place)):
                return  # that version was there before: nothing was changed
            self._known.setdefault(place, made)
        step.wrote.append(made)

    def _add_deletion(self, deletion: Deletion, at: datetime) -> None:
        """What a client deleted; nothing if it was an operator, whose pass tells more."""
        reference = Reference(deletion.resource, deletion.namespace, deletion.name)
        if (reference, deletion.version) in self._known or any(
            each.by is not None and each.happened == "went" and abs((at - each.at).total_seconds()) < SAME
            for each in self._unnumbered[reference]
        ):
            return
        whom = f"{deletion.client} (user {deletion.user})" if deletion.client else deletion.user
        made = ObservedChange(reference, at, deletion.version, "went", whom)
        if deletion.version:
            self._known[reference, deletion.version] = made
        else:
            self._unnumbered[reference].append(made)

    def _add_trigger(self, step: CausalStep, trigger: Trigger) -> None:
        reference = Reference(trigger.resource, trigger.namespace, trigger.name)
        happened = trigger.words.rpartition(" ")[2]
        for version in trigger.earlier:
            if (before := self._known.get((reference, version))) is not None:
                step.because.append(before)
        change = self._known.get((reference, trigger.version))
        if change is None:
            change = self._without_a_number(reference, trigger, happened, step.done.began)
        if change is None:
            change = ObservedChange(
                reference,
                step.done.began,
                trigger.version,
                happened,
                trigger.manager,
                trigger.fields,
                merged=bool(trigger.earlier),
                order=step.order,
            )
        elif happened == "came":
            change.happened = "came"  # an apply does not say whether there was something before
        if not change.fields:
            change.fields = trigger.fields
        self._known[reference, trigger.version] = change
        step.because.append(change)

    def _without_a_number(
        self, reference: Reference, trigger: Trigger, happened: str, seen: datetime
    ) -> ObservedChange | None:
        """The write, among those that were answered without a version, that a change may come from."""
        candidates = [*self._unnumbered[reference], *self._unnumbered[reference._replace(name="")]]
        # One that came long after what it should have caused is about a later object of the same name; a little after
        # may be: it is the time of the pass that made it, as another process tells it.
        before = [each for each in reversed(candidates) if each.at <= seen]
        after = [each for each in candidates if seen < each.at <= seen + timedelta(seconds=SAME)]
        for change in [*before, *after]:
            gone = happened == "went" or DELETED in trigger.fields
            fits = change.happened == "went" if gone else change.happened != "went" and not trigger.manager
            if fits and not change.version:
                if change.of == reference:
                    self._unnumbered[reference].remove(change)
                    change.version = trigger.version
                return change
        return self._deleted_before(reference, trigger) if happened == "went" else None

    def _deleted_before(self, reference: Reference, trigger: Trigger) -> ObservedChange | None:
        """The deletion of what went only later, when its finalizers or its grace period let it."""
        of_it = [each for each in self._known.values() if each.of == reference]
        first = first_deletion(sorted(of_it, key=lambda each: _number(each.version)))
        if first is None:
            return None
        return ObservedChange(reference, first.at, trigger.version, "went", "", [], first.by, order=first.order)


def first_deletion(changes: Iterable[ObservedChange]) -> ObservedChange | None:
    """What deleted an object, of its changes in order: what comes after that, such as a kubelet's, only lets it go."""
    found: ObservedChange | None = None
    for change in changes:
        if change.happened == "came":
            found = None
        elif found is None and (change.happened == "went" or DELETED in change.fields):
            found = change
    return found


def _first_seen(steps: Sequence[CausalStep]) -> dict[tuple[Reference, str], datetime]:
    """When each version of each object was first seen by a pass."""
    seen: dict[tuple[Reference, str], datetime] = {}
    for step in steps:
        for trigger in step.done.triggers:
            reference = Reference(trigger.resource, trigger.namespace, trigger.name)
            for version in (*trigger.earlier, trigger.version):
                if version:
                    seen.setdefault((reference, version), step.done.began)
    return seen


def _is_among(step: CausalStep, place: tuple[Reference, str]) -> bool:
    """Whether a version of an object is one of those that a pass was brought on by."""
    reference, version = place
    return any(
        version in (trigger.version, *trigger.earlier)
        and reference == Reference(trigger.resource, trigger.namespace, trigger.name)
        for trigger in step.done.triggers
    )


def _runs(entries: Sequence[JournalEntry]) -> list[Run]:
    of_run: dict[str, list[JournalEntry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda each: each.at):
        of_run[entry.run].append(entry)
    return [
        Run(
            next((each.operator for each in several if each.started or each.stopped), several[0].operator),
            run,
            frozenset(each.operator for each in several),
            several[0].at,
            next((each.at for each in several if each.stopped), None),
            several[-1].at,
        )
        for run, several in of_run.items()
    ]


def _number(version: str) -> int:
    """A resourceVersion as a number: those of one server are in order. 0 if it is none."""
    return int(version) if version.isdecimal() else 0
