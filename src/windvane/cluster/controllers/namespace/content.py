"""What is left in a namespace that is being deleted, and how its conditions say so.

The types, reasons and messages are those of every cluster: people and tools look for them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from windvane import Kind
from windvane.k8s.core import NamespaceCondition, Pod

FINALIZERS_TAKE = 15
"""How many seconds finalizers are thought to need."""
ENDED = frozenset({"Succeeded", "Failed"})


class _Well(NamedTuple):
    reason: str
    message: str


WELL: Mapping[str, _Well] = MappingProxyType(
    {
        "NamespaceDeletionDiscoveryFailure": _Well("ResourcesDiscovered", "All resources successfully discovered"),
        "NamespaceDeletionGroupVersionParsingFailure": _Well(
            "ParsedGroupVersions", "All legacy kube types successfully parsed"
        ),
        "NamespaceDeletionContentFailure": _Well(
            "ContentDeleted", "All content successfully deleted, may be waiting on finalization"
        ),
        "NamespaceContentRemaining": _Well("ContentRemoved", "All content successfully removed"),
        "NamespaceFinalizersRemaining": _Well("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    }
)
"""The conditions, in their order, and what they say when nothing is wrong."""


@dataclass
class NamespaceContent:
    """What was found in a namespace after everything in it was told to go."""

    undiscovered: str = ""
    """Why it is not known which kinds there are."""
    failures: list[str] = field(default_factory=list)
    """What could not be deleted, and why."""
    remaining: Counter[Kind] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)
    seconds: int = 0
    """How long what remains is thought to take; 0 if nothing is known to be on its way out."""

    def add(self, kind: Kind, finalizers: Sequence[Sequence[str]], *, namespace: str, grace: int) -> None:
        """Objects of a kind remain, with these finalizers each, and may take `grace` seconds to end."""
        self.remaining[kind] += len(finalizers)
        held = Counter(each for those in finalizers for each in those)
        self.finalizers += held
        self.seconds = max(self.seconds, grace or (FINALIZERS_TAKE if held else 0))
        if not grace and not held:
            where = f"{kind.group}/{kind.version}, Resource={kind.plural}"
            self.failures.append(f"unexpected items still remain in namespace: {namespace} for gvr: {where}")


def grace_of(pods: Iterable[Pod], waited: float) -> int:
    """The longest time, in seconds, that a pod which runs may take to end; 0 if all have been waited for that long."""
    longest = max(
        (pod.spec.termination_grace_period_seconds or 0 for pod in pods if pod.status.phase not in ENDED), default=0
    )
    return longest if waited < longest else 0


def conditions(
    before: Sequence[NamespaceCondition], content: NamespaceContent, now: datetime
) -> list[NamespaceCondition]:
    """The conditions of a namespace in which that was found; those of other types stay as they are."""
    wrong = dict(_what_is_wrong(content))
    there = {each.type: each for each in before}
    ours = [_condition(type_, wrong.get(type_), there.get(type_), now) for type_ in WELL]
    return [*(each for each in before if each.type not in WELL), *ours]


def _condition(type_: str, wrong: _Well | None, before: NamespaceCondition | None, now: datetime) -> NamespaceCondition:
    status = "True" if wrong else "False"
    reason, message = wrong or WELL[type_]
    since = before.last_transition_time if before is not None and before.status == status else now
    return NamespaceCondition(type=type_, status=status, reason=reason, message=message, last_transition_time=since)


def _what_is_wrong(content: NamespaceContent) -> Iterable[tuple[str, _Well]]:
    if content.undiscovered:
        yield "NamespaceDeletionDiscoveryFailure", _Well("DiscoveryFailed", content.undiscovered)
    if content.failures:
        words = f"Failed to delete all resource types, {len(content.failures)} remaining: "
        yield (
            "NamespaceDeletionContentFailure",
            _Well("ContentDeletionFailed", words + ", ".join(sorted(content.failures))),
        )
    if content.remaining:
        counts = (
            f"{kind.plural}.{kind.group} has {count} resource instances" for kind, count in content.remaining.items()
        )
        words = "Some resources are remaining: " + ", ".join(sorted(counts))
        yield "NamespaceContentRemaining", _Well("SomeResourcesRemain", words)
    if content.finalizers:
        counts = (f"{name} in {count} resource instances" for name, count in content.finalizers.items())
        words = "Some content in the namespace has finalizers remaining: " + ", ".join(sorted(counts))
        yield "NamespaceFinalizersRemaining", _Well("SomeFinalizersRemain", words)
