"""What there is of a cluster at this moment: each place with its pod, its volume and its member. No I/O.

Everything that is decided is decided from this, which is looked at afresh in each pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from etcd_operator import names
from etcd_operator.etcd import Alarm, Answer, Member
from windvane.k8s import apps, core

BEHIND = 5000
"""So many entries of the log behind the leader, and a member is not healthy: etcd counts the same way."""

OVERDUE = timedelta(minutes=1)
"""After when a pod was to be gone, its node is likely to be gone instead."""
BLINK = timedelta(seconds=15)
"""Between two looks that are further apart, a member may have come and gone, all may have hung, the operator included,
or the clock was set: no more than this counts."""

# What etcd says last when its data can't be used, and it can't come back as who it was.
EMPTY = ("couldn't find local name", "error validating peerURLs", "member count is unequal")
REMOVED = ("permanently removed", "the member has been removed", "member has been removed")
BROKEN = (
    "crc mismatch",
    "wal: ",
    "walpb: ",
    "failed to read WAL",
    "failed to open WAL",
    "failed to recover v3 backend",
    "invalid database",
    "unexpected EOF",
    "checksum error",
    "found data inconsistency",
    "max entry size limit exceeded",
    '"proto: ',  # a record of the log that can't be read, as one of eight is when its middle is overwritten
    "file is not a bbolt database",
    "version mismatch",
    "page ",
    "tocommit(",
)
DENIED = ("permission denied",)
FULL = ("no space left on device",)
"""What it says, with the name of a file before it, where its data is as it was."""


@dataclass(frozen=True)
class Place:
    """One ordinal of the StatefulSet."""

    ordinal: int
    pod: core.Pod | None = None
    claim: core.PersistentVolumeClaim | None = None
    member: Member | None = None
    """Who should be there, as the leader knows it."""
    answer: Answer | None = None
    """What whoever is there says; None if nobody answers."""
    silence: str = ""
    """Why there is no answer."""
    last_words: str = ""
    """What etcd said when it last gave up."""

    @property
    def called(self) -> str:
        """The name of its member."""
        return self.pod.metadata.name if self.pod else f"member {self.ordinal}"

    @property
    def data_of(self) -> str:
        """The id of the member whose data is on the volume; empty if it is nobody's yet."""
        return self.claim.metadata.annotations.get(names.ANNOTATION_MEMBER, "") if self.claim else ""

    @property
    def doomed(self) -> bool:
        """Whether its volume goes as soon as its pod does: somebody has deleted the claim."""
        return self.claim is not None and self.claim.metadata.deletion_timestamp is not None

    def hangs(self, now: datetime) -> str:
        """Why its pod, which should have stopped by now, is still there; nothing if it may still be stopping."""
        due = self.pod.metadata.deletion_timestamp if self.pod else None
        if self.pod is None or due is None or now - due < OVERDUE:
            return ""
        node = self.pod.spec.node_name or "NODE"
        return (
            f"its pod should have stopped at {due:%H:%M:%S}, and node {node} does not say that it has. If that node is "
            f"gone for good: kubectl taint node {node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
        )

    @property
    def ready(self) -> bool:
        """Whether its pod is Ready, so that clients are sent there. (The containers' own word is not taken back when a
        node is lost.)"""
        conditions = self.pod.status.conditions if self.pod else ()
        return any(each.type == "Ready" and each.status == "True" for each in conditions)

    @property
    def has_failed(self) -> bool:
        """Whether etcd has ended by itself, and is not at work now.

        What one said that ended before this one began is over: this one may just be slow to answer.
        """
        statuses = self.pod.status.container_statuses if self.pod else ()
        return any(
            (each.restart_count or (each.state and each.state.terminated)) and not (each.state and each.state.running)
            for each in statuses
        )

    @property
    def stuck(self) -> str:
        """Why its pod can't even start; nothing if it can, or has not been tried."""
        if self.pod is None:
            return ""
        for each in self.pod.status.container_statuses:
            waiting = each.state.waiting if each.state else None
            if waiting and waiting.reason == "CrashLoopBackOff":
                return waiting.reason  # what follows is for how long, which is another time each time
            if waiting and waiting.reason not in ("", "ContainerCreating", "PodInitializing"):
                return f"{waiting.reason}: {waiting.message or ''}".rstrip(": ")
        for condition in self.pod.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                return condition.message or "it has no node yet"
        return ""

    @property
    def damage(self) -> str:
        """What is known to be wrong with its data; nothing if it answers, or may be just away."""
        if self.answer is not None:
            return ""
        if self.claim is None:
            return "its volume is gone"
        if self.claim.status.phase == "Lost":
            return "its volume is lost"
        if says(self.last_words, EMPTY):
            return "its volume is empty"
        if says(self.last_words, REMOVED):
            return "its data is that of a member that was removed"
        if says(self.last_words, (*DENIED, *FULL)):
            return ""
        return "its data is damaged" if says(self.last_words, BROKEN) else ""

    def lost(self) -> str:
        """Why a member can never come back as who it was; nothing if it can, or may.

        Only one that had data has some to lose: one that has never answered is just about to join.
        """
        if self.member is None or not self.member.name or self.answer is not None:
            return ""
        if self.claim is not None and not self.member.learner and self.data_of != self.member.id:
            return "its volume is another one, without its data"
        return self.damage


@dataclass(frozen=True)
class World:
    """A whole cluster."""

    places: Mapping[int, Place]
    now: datetime
    members: Sequence[Member] = ()
    """All, as the leader says: empty if nobody leads."""
    strangers: Sequence[Member] = ()
    """Those whose place can't be told."""
    leader: Member | None = None
    """Who leads, as a majority says."""
    alarms: Sequence[Alarm] = ()
    stateful_set: apps.StatefulSet | None = None
    refusal: str = ""
    """Why the API server refuses pods of the StatefulSet, if it does."""
    last_look: datetime | None = None
    """When this process looked before; None if it did not. What was in between is not known."""

    @property
    def voters(self) -> list[Place]:
        """The places of members that have a vote."""
        return [each for each in self.places.values() if each.member and not each.member.learner]

    @property
    def learners(self) -> list[Place]:
        """The places of members that have none yet."""
        return [each for each in self.places.values() if each.member and each.member.learner]

    def healthy(self, place: Place) -> bool:
        """Whether a member takes part: it follows the leader, and is not far behind."""
        answer, led = place.answer, self.leader_place
        if answer is None or led is None or led.answer is None or not self.follows(place):
            return False
        return answer.index + BEHIND >= led.answer.index

    def follows(self, place: Place) -> bool:
        """Whether a member is who it should be, and knows the leader; it may still have much to catch up with."""
        answer, led = place.answer, self.leader_place
        if answer is None or place.member is None or answer.id != place.member.id or led is None or led.answer is None:
            return False
        return answer.leader == led.answer.id

    @property
    def unseen(self) -> timedelta | None:
        """How much of the time since the last look counts against nobody; None if all that was before doesn't."""
        if self.last_look is None or self.now < self.last_look:
            return None
        return max(self.now - self.last_look - BLINK, timedelta())

    @property
    def leader_place(self) -> Place | None:
        """Where the leader is."""
        return next((each for each in self.places.values() if self.leader and each.member == self.leader), None)

    @property
    def unhealthy(self) -> list[Place]:
        """Voters that don't take part."""
        return [each for each in self.voters if not self.healthy(each)]

    @property
    def held_up(self) -> list[Place]:
        """Places that nobody can take, for the pod of a member that has left does not go."""
        return [each for each in self.places.values() if each.member is None and each.hangs(self.now)]

    def spare(self) -> int:
        """How many more voters may fail."""
        return len(self.voters) - len(self.unhealthy) - quorum(len(self.voters))


def quorum(voters: int) -> int:
    """How many of so many are a majority."""
    return voters // 2 + 1


def agreed_leader(answers: Sequence[Answer]) -> str:
    """The id of who leads in the opinion of most voters, in the newest term; empty if they don't agree.

    That this is a majority of *all* voters is for the caller to see to, once the leader has told who they are.
    """
    voters = [each for each in answers if not each.learner and each.leader]
    if not voters:
        return ""
    term = max(each.term for each in voters)
    said = {each.leader for each in voters if each.term == term}
    return said.pop() if len(said) == 1 else ""


def last_words(log: Sequence[bytes]) -> str:
    """Of what a member logged, what it said when it gave up: etcd goes with a line of level fatal or panic.

    One that was removed goes without a fuss: with a warning of a "server error", and the exit code 0.
    """
    lines = [each.decode(errors="replace") for each in log]
    signs = ('"level":"fatal"', '"level":"panic"', "panic: ", '"msg":"server error"')
    return "\n".join(each for each in lines if any(sign in each for sign in signs))


def says(words: str, signs: Sequence[str]) -> bool:
    """Whether one of some signs is in what was said."""
    return any(each in words for each in signs)
