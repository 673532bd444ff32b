"""What is to be done about an object that has owners, once it is known how each of them stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from windvane import OwnerReference
from windvane.cluster.controllers.garbage_collector.graph import FOREGROUND, ORPHAN, OwnerState


@dataclass(frozen=True)
class Delete:
    """It has no owner any more."""

    propagation: Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True)
class Disown:
    """It has an owner that is there, and no longer these."""

    owners: frozenset[str]


@dataclass(frozen=True)
class Ask:
    """It can't be known, as long as the server has the kinds that it has."""


Verdict: TypeAlias = Delete | Disown | Ask | None
"""None: all is as it should be."""


def judge(
    owners: Sequence[tuple[OwnerReference, OwnerState]], finalizers: Sequence[str], *, has_dependents: bool
) -> Verdict:
    """What is to be done about an object that is not being deleted."""
    states = {state for _, state in owners}
    if not states:
        return None
    if OwnerState.UNKNOWN in states:
        return Ask()
    if OwnerState.SOLID in states:
        # An owner that waits would do so for ever if this one, which stays, went on to say that it is a part of it.
        former = frozenset(each.uid for each, state in owners if state is not OwnerState.SOLID)
        return Disown(former) if former else None
    if OwnerState.WAITING in states and has_dependents:
        return Delete("Foreground")
    return Delete("Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background")
