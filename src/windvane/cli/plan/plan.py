"""What is to be planned, and what a plan knows in the end. No I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from windvane.api.resource import Object
from windvane.cli.plan.diff import ObjectChange
from windvane.cli.plan.kubectl_apply import Wire
from windvane.cli.plan.outside_calls import OutsideCall
from windvane.runtime.observability.history import Pass
from windvane.runtime.operator import Operator
from windvane.testing.single_pass import RecordedEvent


class CanNotPlan(Exception):
    """There is no telling what the operator would do; the message says why, and what to do about it."""


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """What is to be planned."""

    objects: Sequence[tuple[type[Object], str, str]] = ()
    """The objects that get passes: their class, namespace and name."""
    everything: bool = False
    """All objects that the operator has controllers for get passes."""
    manifests: Sequence[Wire] = ()
    """What is applied first."""
    namespaces: Sequence[str] = ()
    """Those that the operator works in; empty: all."""
    passes: int | None = None
    """How many passes over an object are made at most; None: until it settles."""
    home: str = "default"
    """The namespace of objects that name none."""
    install_crds: bool = False
    """Whether the CRDs of the operator's kinds are installed first."""
    judged: bool = False
    """Whether the cluster's API server is asked about what is written, by dry runs."""


@dataclass
class Plan:
    """What an operator would do."""

    operator: str
    applied: list[ObjectChange] = field(default_factory=list)
    """What comes of the objects in the file alone, and of CRDs."""
    changes: list[ObjectChange] = field(default_factory=list)
    """What the operator does then."""
    passes: list[Pass] = field(default_factory=list)
    events: list[tuple[str, RecordedEvent]] = field(default_factory=list)
    """What it would say, and of which object."""
    calls: list[OutsideCall] = field(default_factory=list)
    """Calls to the outside that were made, or refused."""
    notes: list[str] = field(default_factory=list)
    """What the plan had to do without."""
    cut_short: str = ""
    """Why there is more to come that the plan does not know; empty if it goes as far as it can."""
    failures: dict[str, str] = field(default_factory=dict)
    """The objects whose last pass failed, and how."""
    refusals: dict[str, str] = field(default_factory=dict)
    """The objects that the cluster's API server would refuse, and why, if it was asked."""
    tracebacks: list[BaseException] = field(default_factory=list)
    ready: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """How objects stand in the end: the condition, its status, and its message."""

    @property
    def last(self) -> list[Pass]:
        """The last pass of each controller over each object."""
        return list({(each.controller, each.namespace, each.name): each for each in self.passes}.values())

    @property
    def all_changes(self) -> list[ObjectChange]:
        """All that would be written."""
        return [*self.applied, *self.changes]


def subject(done: Pass) -> str:
    """Which object a pass was over, and which controller's it was, if it has a name: `Website default/blog (probe)`."""
    where = f"{done.kind} {done.where}"
    return where if done.controller == done.resource else f"{where} ({done.controller})"


def named_object(operator: Operator, named: str, namespace: str) -> tuple[type[Object], str, str]:
    """What `KIND/NAME` means: a kind that the operator has a controller for, by any of its names; or `CanNotPlan`."""
    said, _, name = named.partition("/")
    if not name:
        raise CanNotPlan(f"{named!r} names no object: write KIND/NAME, or --all")
    for declaration in operator.declarations.values():
        kind = declaration.kind
        names = {kind.name, kind.plural, kind.singular, kind.resource, *kind.short_names}
        if said.lower() in {each.lower() for each in (*names, f"{kind.singular}.{kind.group}")}:
            return declaration.what, namespace if kind.namespaced else "", name
    kinds: Iterable[str] = dict.fromkeys(each.kind.name for each in operator.declarations.values())
    raise CanNotPlan(f"{operator.name} has no controller of {said!r}; it has those of: {', '.join(kinds)}")
