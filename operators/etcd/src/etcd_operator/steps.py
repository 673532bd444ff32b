"""The steps that an operator takes about a cluster, and the reasons for taking none."""

from collections.abc import Sequence
from dataclasses import dataclass

from etcd_operator.etcd import Alarm, Member
from etcd_operator.world import Place


@dataclass(frozen=True)
class Step:
    """Something to do, or the reason for doing nothing."""

    words: str
    """For people: Events, and the condition Progressing."""


class Settled(Step):
    """Everything is as asked for."""


class Deferred(Step):
    """Something was asked for that must not be done now."""


class Waiting(Step):
    """Something was begun, and goes on by itself."""


@dataclass(frozen=True)
class AddLearner(Step):
    """Have a member join at a place, without a vote."""

    ordinal: int


@dataclass(frozen=True)
class Promote(Step):
    """Give a learner its vote."""

    member: Member


@dataclass(frozen=True)
class MoveLeadership(Step):
    """Have another member lead."""

    to: Member


@dataclass(frozen=True)
class Remove(Step):
    """Have a member leave the cluster, for ever. Its pod and volume go afterwards."""

    member: Member


@dataclass(frozen=True)
class Vacate(Step):
    """Delete the volume of a member that is no more, and the pod that uses it."""

    place: Place


@dataclass(frozen=True)
class Restart(Step):
    """Delete a pod, so that the StatefulSet makes it anew."""

    place: Place


@dataclass(frozen=True)
class TakeSnapshot(Step):
    """Take a snapshot before something that can't be undone."""

    name: str


@dataclass(frozen=True)
class FreeSpace(Step):
    """Compact, defragment followers first, and disarm the alarm."""

    alarms: Sequence[Alarm]


@dataclass(frozen=True)
class Defragment(Step):
    """Give back the empty pages of one member's database."""

    place: Place


MEMBERSHIP = (AddLearner, Promote, MoveLeadership, Remove, Vacate, Restart)
"""The steps that are done once they were taken: another one follows, or something has to be waited for."""
