"""The scheduler: gives every pod that has none a node, or says why there is none for it.

One pod is placed at a time, so that each sees what the last one took. Pods that find no place wait until something
changes that may help them; the most important are asked first.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from windvane import ambient
from windvane.client.client import Client
from windvane.client.errors import Conflict, NotFound
from windvane.cluster.controllers.board import Board
from windvane.cluster.controllers.placement import Surroundings, place
from windvane.cluster.controllers.pods import is_finished
from windvane.cluster.controllers.preemption import Eviction, make_room
from windvane.k8s.core import Namespace, Node, PersistentVolumeClaim, Pod, PodCondition
from windvane.runtime.context import Context
from windvane.runtime.declaration import Watch
from windvane.runtime.informers.cache import Change, Key
from windvane.runtime.informers.declared_informers import informer_key
from windvane.runtime.manager import OperatorManager
from windvane.runtime.operator import Operator
from windvane.runtime.outcome import After

NAME = "default-scheduler"


class Wish(NamedTuple):
    """What is to be known of a pod that waits."""

    priority: int
    company: bool
    """Whether it matters to it where other pods are."""


class Scheduler:
    """Places pods."""

    def __init__(self, client: Client) -> None:
        self._board = Board()
        self._waiting: dict[Key, Wish] = {}
        self._asked: set[Key] = set()  # of those who wait, for whom something may have changed
        operator = Operator(NAME)
        operator.controller(
            Pod,
            watches=[
                Watch(Node, to=lambda _: self._ask(), seeing=_what_matters),
                Watch(PersistentVolumeClaim, to=lambda _: self._ask(), seeing=lambda claim: claim.spec.volume_name),
                Watch(Namespace, to=lambda _: self._ask(), seeing=lambda namespace: namespace.metadata.labels),
            ],
            concurrency=1,
        )(self._schedule)
        self.running: OperatorManager = operator.run(client)

    async def run(self) -> None:
        """Work until cancelled."""
        end = self.running.informers[informer_key(Pod)].subscribe(self._pod_changed)
        try:
            await self.running
        finally:
            end()

    async def _schedule(self, pod: Pod, ctx: Context) -> After | None:
        self._asked.discard(pod.key)
        self._waiting.pop(pod.key, None)
        if pod.spec.node_name or pod.metadata.uid in self._board or pod.spec.scheduler_name not in (None, NAME):
            return None
        if pod.spec.scheduling_gates:
            _explain(pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
            return None
        mine = self._waiting[pod.key] = _wish_of(pod)
        if any(self._waiting[each].priority > mine.priority for each in self._asked):
            self._asked.add(pod.key)
            return After(seconds=0.01)  # a more important one comes first
        if why := _without_volume(pod, ctx):
            self._refuse(pod, ctx, why)
        else:
            await self._place(pod, ctx)
        return None

    async def _place(self, pod: Pod, ctx: Context) -> None:
        around = self._surroundings(ctx)
        found = place(pod, around)
        if isinstance(found, Node):
            await self._bind(pod, found, ctx)
            return
        why = str(found)
        if found.nodes:
            eviction = make_room(pod, around)
            if eviction is not None:
                await self._evict(pod, eviction, ctx)
                self._refuse(pod, ctx, why)
                return
            nobody = "No preemption victims found for incoming pod"
            why += f" preemption: 0/{found.nodes} nodes are available: {found.nodes} {nobody}."
        self._refuse(pod, ctx, why)

    async def _bind(self, pod: Pod, node: Node, ctx: Context) -> None:
        name = node.metadata.name
        with suppress(NotFound, Conflict):  # it is gone, or somebody else was faster
            await ctx.client.bind(pod.metadata.name, name, namespace=pod.metadata.namespace, uid=pod.metadata.uid)
            self._board.put(pod, name)  # the cache will say so later, and the next pod must know at once
            ctx.event("Scheduled", f"Successfully assigned {'/'.join(pod.key)} to {name}")
            for namespace, other in self._ask(company=True):
                self.running.ask(Pod, other, namespace=namespace, why=f"{pod.metadata.name} has a node")
        self._waiting.pop(pod.key, None)
        self._asked.discard(pod.key)

    async def _evict(self, pod: Pod, eviction: Eviction, ctx: Context) -> None:
        node = eviction.node.metadata.name
        pod.status.nominated_node_name = node
        for seat in eviction.victims:
            victim = ctx.get(Pod, seat.name, namespace=seat.namespace)
            if victim is None or victim.metadata.uid != seat.uid or victim.metadata.deletion_timestamp is not None:
                continue
            words = f"Preempted by pod {pod.metadata.uid} on node {node}"
            self.running.recorder.about(victim, ctx.client)("Preempted", words, "Normal")
            with suppress(NotFound, Conflict):
                await ctx.client.delete(Pod, seat.name, namespace=seat.namespace, uid=seat.uid)

    def _refuse(self, pod: Pod, ctx: Context, why: str) -> None:
        if _explain(pod, "Unschedulable", why):
            ctx.event("FailedScheduling", why, type="Warning")

    def _surroundings(self, ctx: Context) -> Surroundings:
        namespaces = {each.metadata.name: each.metadata.labels for each in ctx.list(Namespace)}
        return Surroundings(ctx.list(Node), self._board, namespaces)

    # What may help those who wait

    def _ask(self, *, company: bool = False) -> Sequence[Key]:
        """Who is to try again, the most important first: all, or those to whom it matters where other pods are."""
        asked = [key for key, wish in self._waiting.items() if wish.company or not company]
        self._asked.update(asked)
        return sorted(asked, key=lambda key: -self._waiting[key].priority)

    def _pod_changed(self, change: Change[Pod]) -> None:
        item, before = change.item, change.before
        freed = False
        if before is not None and (change.gone or before.meta.uid != item.meta.uid):
            freed = self._board.remove(before.meta.uid)
        if change.gone:
            self._waiting.pop(item.key, None)
            self._asked.discard(item.key)
        pod = item.decode()
        known = pod.metadata.uid in self._board
        taken = not change.gone and bool(pod.spec.node_name) and self._board.put(pod)
        freed = freed or (taken and (known or is_finished(pod)))  # one that is known may have come to ask for less
        for namespace, name in self._ask(company=not freed) if freed or taken else ():
            self.running.ask(Pod, name, namespace=namespace, why="other pods came or went")


def _wish_of(pod: Pod) -> Wish:
    affinity = pod.spec.affinity
    company = affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)
    return Wish(pod.spec.priority or 0, company or bool(pod.spec.topology_spread_constraints))


def _what_matters(node: Node) -> object:
    """What of a node says whether a pod may be there: not its heartbeat."""
    return node.spec, node.metadata.labels, node.status.allocatable


def _without_volume(pod: Pod, ctx: Context) -> str:
    """Why a pod must wait for its volumes; empty if it need not."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
        elif volume.ephemeral is not None:
            name = f"{pod.metadata.name}-{volume.name}"
        else:
            continue
        claim = ctx.get(PersistentVolumeClaim, name)
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if not claim.spec.volume_name:
            return "pod has unbound immediate PersistentVolumeClaims"
    return ""


def _explain(pod: Pod, reason: str, message: str) -> bool:
    """Say in a pod's status why it has no node; whether that is news."""
    before = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
    if before is not None and (before.status, before.reason, before.message) == ("False", reason, message):
        return False
    since = before.last_transition_time if before is not None and before.status == "False" else None
    said = PodCondition(
        type="PodScheduled",
        status="False",
        reason=reason,
        message=message,
        last_transition_time=since or ambient.now().replace(microsecond=0),
    )
    pod.status.conditions = [*(each for each in pod.status.conditions if each.type != "PodScheduled"), said]
    return True
