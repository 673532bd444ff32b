"""What is to be done about an object that has owners, once it is known how each of them stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from windvane import OwnerReference
from windvane.cluster.controllers.garbage_collector.graph import FOREGROUND, ORPHAN, Standing


@dataclass(frozen=True)
class Delete:
    """It belongs to nobody any more."""

    propagation: Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True)
class Disown:
    """It belongs to somebody who is there, and no longer to these."""

    owners: frozenset[str]


@dataclass(frozen=True)
class Ask:
    """Nobody can tell, as long as the server has the kinds that it has."""


Verdict: TypeAlias = Delete | Disown | Ask | None
"""None: all is as it should be."""


def judge(
    owners: Sequence[tuple[OwnerReference, Standing]], finalizers: Sequence[str], *, has_dependents: bool
) -> Verdict:
    """What is to be done about an object that is not being deleted."""
    standings = {standing for _, standing in owners}
    if not standings:
        return None
    if Standing.UNKNOWN in standings:
        return Ask()
    if Standing.SOLID in standings:
        # An owner that waits would do so for ever if this one, which stays, went on to say that it is a part of it.
        former = frozenset(each.uid for each, standing in owners if standing is not Standing.SOLID)
        return Disown(former) if former else None
    if Standing.WAITING in standings and has_dependents:
        return Delete("Foreground")
    return Delete("Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background")
