"""The real operator at work on a modelled etcd: its pass, with a cache, a client and members that are a model's."""

import copy
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, NoReturn, TypeVar, cast
from unittest import mock

from etcd_operator import names, observe, snapshots
from etcd_operator.api import EtcdCluster
from etcd_operator.decide import snapshot_before
from etcd_operator.etcd import Alarm, Answer, EtcdError, Member
from etcd_operator.operator import reconcile
from etcd_operator.world import quorum
from model.machine import Machine, Pod
from windvane import APIStatus, Conflict, Context, NotFound, Object, Quantity, owner_reference
from windvane.k8s import apps, core

ObjectT = TypeVar("ObjectT", bound=Object)
MODULE = sys.modules["etcd_operator.operator"]  # the package has its Operator under that name


class Killed(BaseException):
    """The operator was killed. Nothing catches this."""


class Waits(Exception):
    """`ctx.wait`."""


@dataclass
class Luck:
    """How a pass fares."""

    writes: int = 1000
    """How many things it can write before it is killed."""
    answer_is_lost: bool = False
    """Whether it never hears what became of a change of the members."""
    request_is_lost: bool = False
    """Whether its request doesn't even get there."""
    deaf: frozenset[int] = frozenset()
    """The places whose members are too slow to answer, though they work."""
    stale: frozenset[str] = frozenset()
    """Of which kinds the cache shows what was there after the last pass."""


@dataclass
class Operating:
    """An operator's process, and what it promises."""

    machine: Machine
    cache: dict[str, Any] = field(default_factory=dict)
    conditions: dict[str, tuple[bool, str, str]] = field(default_factory=dict)
    """What the last pass said: whether it holds, the reason, the message."""
    events: list[str] = field(default_factory=list)
    stated: set[tuple[str, str]] = field(default_factory=set)
    """The kinds and names of all children."""

    def __post_init__(self) -> None:
        observe.forget(self.machine.cluster)  # it is another process

    async def reconcile(self, luck: Luck | None = None) -> int:
        """One pass; how often it wrote something."""
        luck = luck or Luck()
        could = luck.writes
        self._look(luck.stale)
        cluster = _copy(self.machine.cluster)
        at_work = Work(self, luck)
        try:
            with _in_the_model(self.machine, at_work):
                with suppress(Waits):
                    await reconcile(cluster, cast(Context, at_work))
                if cluster.status != self.machine.cluster.status:
                    at_work.writes()
                    self.machine.cluster.status = cluster.status
        except Killed:
            self.cache.clear()  # the next one begins with a list of everything
            observe.forget(self.machine.cluster)
        return could - luck.writes

    def _look(self, stale: frozenset[str]) -> None:
        fresh: dict[str, Callable[[], Any]] = {
            "pods": self.machine.shown_pods,
            "claims": self.machine.shown_claims,
            "sets": lambda: _copy(self.machine.stateful_set) if self.machine.stateful_set else None,
        }
        for kind, look in fresh.items():
            if kind not in stale or kind not in self.cache:
                self.cache[kind] = look()

    def has_written(self, kind: str) -> None:
        """The next pass sees at least what this one wrote."""
        self.cache.pop(kind, None)


class Work:
    """What a pass is given: `windvane.Context`, as far as the operator uses it."""

    def __init__(self, process: Operating, luck: Luck) -> None:
        self.process, self.luck, self.machine = process, luck, process.machine
        self.client = self
        self.log = logging.getLogger("model")

    def writes(self) -> None:
        """Note that something is written now."""
        if self.luck.writes == 0:
            raise Killed
        self.luck.writes -= 1

    def list(self, what: type[ObjectT], *, labels: Mapping[str, str] | None = None) -> list[ObjectT]:
        kinds = {core.Pod: "pods", core.PersistentVolumeClaim: "claims"}
        return cast(list[ObjectT], self.process.cache[kinds[what]]) if what in kinds else []

    def get(self, what: type[ObjectT], name: str) -> ObjectT | None:
        return cast(ObjectT | None, self.process.cache["sets"]) if what is apps.StatefulSet else None

    def condition(self, type: str, holds: bool, message: str = "", *, reason: str) -> None:  # noqa: A002
        self.process.conditions[type] = (holds, reason, message)

    def ready(self, is_ready: bool, message: str = "") -> None:
        self.condition("Ready", is_ready, message, reason="Ready")

    def event(self, reason: str, message: str, *, type: str = "Normal") -> None:  # noqa: A002
        self.process.events.append(f"{reason}: {message}")

    def outside(self, words: str) -> None:
        """Nothing: no plan is made."""

    def wait(self, message: str, *, after: float | None = None) -> NoReturn:
        raise Waits(message)

    async def prune(self) -> None:
        """Nothing that the model has is ever not stated."""

    async def apply(self, child: ObjectT) -> ObjectT:
        mine = self.machine.cluster
        self.process.stated.add((child.kind, child.metadata.name))
        if isinstance(child, core.ConfigMap) and child.metadata.name == names.configuration(mine.metadata.name):
            told = (child.data["initial-cluster-state"], child.data["initial-cluster"])
            if told != self.machine.told:
                self.writes()
                assert told[0] != "new" or not mine.status.cluster_id, "a cluster that is there is made anew"
                self.machine.told = told
        if isinstance(child, apps.StatefulSet):
            self._apply_set(child)
        return child

    def _apply_set(self, stated: apps.StatefulSet) -> None:
        there = self.machine.stateful_set
        if there is not None and there.spec == stated.spec:
            return
        self.writes()
        stated.metadata.owner_references = [owner_reference(self.machine.cluster)]
        stated.metadata.uid = there.metadata.uid if there else self.machine.uid()
        stated.metadata.generation = (there.metadata.generation or 0) + 1 if there else 1
        if there is not None:
            stated.status = copy.copy(there.status)
        self.machine.stateful_set = stated
        self.process.has_written("sets")

    async def patch(self, what: type[Object], name: str, patch: Mapping[str, Any]) -> None:
        thing = self._find(what, name)
        self.writes()
        metadata = patch.get("metadata", {})
        for annotation, value in metadata.get("annotations", {}).items():
            thing.annotations[annotation] = value
        for label, value in metadata.get("labels", {}).items():
            thing.labels[label] = value
        if "spec" in patch:
            thing.size = Quantity(patch["spec"]["resources"]["requests"]["storage"])
        self.process.has_written("pods" if what is core.Pod else "claims")

    async def delete(
        self, what: type[Object], name: str, *, uid: str, namespace: str = "", propagation: str = ""
    ) -> None:
        if what is apps.StatefulSet:
            assert propagation == "Orphan", "the members' pods go with their StatefulSet"
            self.writes()
            self.machine.stateful_set = None
            self.process.has_written("sets")
            return
        thing = self._find(what, name)
        if thing.uid != uid:
            raise Conflict(APIStatus(code=409, message="the UID in the precondition does not match"))
        self.writes()
        if what is core.PersistentVolumeClaim:
            living = {each.id for each in self.machine.raft.config()}
            data = cast(Any, thing).data
            assert data is None or data.damaged or data.member not in living, "the volume of a living member is deleted"
        if what is core.Pod:
            self._only_one_is_away(thing)
        thing.deleting = True
        self.process.has_written("pods" if what is core.Pod else "claims")

    def _only_one_is_away(self, pod: Pod) -> None:
        """A member that works is restarted only if all others do."""
        raft = self.machine.raft
        mine = pod.process.data.member if pod.process and not pod.process.frozen else ""
        if mine in [each.id for each in raft.voters()] and raft.leader:
            away = [each.id for each in raft.voters() if raft.at_work(each.id) is None]
            assert not away, "a member is restarted while another one is away"

    def _find(self, what: type[Object], name: str) -> Any:
        ordinal = names.ordinal_of(self.machine.cluster.metadata.name, name)
        found = (self.machine.pods if what is core.Pod else self.machine.claims).get(-1 if ordinal is None else ordinal)
        if found is None:
            raise NotFound(APIStatus(code=404, message=f"{name} not found"))
        return found

    def pod(self, name: str, *, namespace: str) -> "Log":
        pod = self.machine.pods.get(names.ordinal_of(self.machine.cluster.metadata.name, name) or 0)
        return Log(pod.last_words if pod else "")

    # What the operator has instead of connections

    def door(self, pod: core.Pod, host: str) -> "Door":
        return Door(self, pod)


@dataclass
class Log:
    """What a container said."""

    text: str

    async def logs(self, *, container: str, tail: int) -> AsyncIterator[bytes]:
        yield self.text.encode()


class Door:
    """`etcd_operator.etcd.Etcd`, as far as the operator uses it."""

    def __init__(self, work: Work, pod: core.Pod) -> None:
        self._work, self._raft = work, work.machine.raft
        self._uid = pod.metadata.uid

    def _pod(self) -> Pod:
        for pod in self._work.machine.pods.values():
            if pod.uid == self._uid and pod.process is not None and not pod.process.last_words:
                if pod.ordinal in self._work.luck.deaf or pod.process.frozen:
                    raise EtcdError("no answer within 3 s")
                return pod
        raise EtcdError("connection refused")

    async def status(self, *, timeout: float = 3.0) -> Answer:
        process = self._pod().process
        assert process is not None
        mine = next((each for each in self._raft.config(process.data.index) if each.id == process.data.member), None)
        return Answer(
            cluster_id="c1",
            id=process.data.member,
            version=process.version,
            leader=process.follows,
            learner=mine is not None and mine.learner,
            term=process.term,
            index=process.data.index,
            revision=process.data.index,
            size=1000,
            in_use=1000,
        )

    async def members(self) -> Sequence[Member]:
        self._pod()
        self._raft.need_leader()
        return self._raft.config()

    async def alarms(self) -> Sequence[Alarm]:
        return []

    def _change(self, change: Callable[[], None]) -> None:
        self._work.writes()
        if self._work.luck.request_is_lost:
            raise EtcdError("no answer within 15 s")
        change()
        self._raft.elect()
        up = [each for each in self._raft.voters() if self._raft.at_work(each.id) is not None]
        assert len(up) >= quorum(len(self._raft.voters())), "a change of the members leaves no quorum"
        if self._work.luck.answer_is_lost:
            raise EtcdError("no answer within 15 s")

    async def add_learner(self, peer_url: str) -> None:
        assert not any(each.learner for each in self._raft.config()), "a second learner is asked for"
        self._change(lambda: self._raft.add_learner(peer_url))

    async def promote(self, member: str) -> None:
        self._change(lambda: self._raft.promote(member))

    async def remove(self, member: str) -> None:
        self._check_may_go(member)
        self._change(lambda: self._raft.remove(member))

    def _check_may_go(self, member: str) -> None:
        """One with a vote and its data goes if it is one too many, or has not followed a leader for as long as it may.

        Its volume is deleted next: so this is what stands between a pause and a loss.
        """
        machine, mine = self._work.machine, self._work.machine.cluster.metadata
        url = next((each.peer_url for each in self._raft.voters() if each.id == member), None)
        ordinal = names.ordinal_at(mine.name, mine.namespace, url) if url is not None else None
        claim = machine.claims.get(ordinal) if ordinal is not None else None
        if ordinal is None or ordinal >= machine.cluster.spec.replicas or claim is None or claim.deleting:
            return
        if claim.data is None or claim.data.damaged or claim.data.member != member:
            return
        pod = machine.pods.get(ordinal)
        assert pod is None or not pod.lacks_image, "an intact member goes because its image can't be had"
        assert self._raft.at_work(member) is None or member in self._raft.missed, "a member that works is removed"
        missed = self._raft.now - self._raft.missed.get(member, self._raft.now)
        patience = machine.cluster.spec.replace_after.total_seconds()
        assert missed >= patience, f"an intact member goes: a leader has waited for it for {missed} s, of {patience}"

    async def move_leadership(self, member: str) -> None:
        self._change(lambda: self._raft.move_leadership(member))


SetOrCluster = TypeVar("SetOrCluster", apps.StatefulSet, EtcdCluster)


def _copy(thing: SetOrCluster) -> SetOrCluster:
    """With a status of its own: nothing else is ever changed in place."""
    copied = copy.copy(thing)
    copied.status = copy.copy(thing.status)
    return copied


@contextmanager
def _in_the_model(machine: Machine, work: Work) -> Iterator[None]:
    @asynccontextmanager
    async def access(*_: Any) -> AsyncIterator[Work]:
        yield work

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return machine.now

    def taken(cluster: EtcdCluster, _: Context) -> list[str]:
        return [snapshot_before(cluster)]

    async def nothing(*_: Any) -> str:
        return ""

    with (
        mock.patch.object(MODULE, "access", access),
        mock.patch.object(MODULE, "datetime", Clock),
        mock.patch.object(snapshots, "taken", taken),
        mock.patch.object(observe, "_refusal", nothing),
    ):
        yield
