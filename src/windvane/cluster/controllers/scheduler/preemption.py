"""Preemption: which pods must go so that a more important one has a place; as few as can be, the least important."""

from dataclasses import dataclass

from windvane.cluster.controllers.scheduler.cache import ScheduledPod
from windvane.cluster.controllers.scheduler.placement import Snapshot, refuses
from windvane.k8s.core import Node, Pod


@dataclass(frozen=True)
class Preemption:
    """A node that could take the pod, once these are gone."""

    node: Node
    victims: tuple[ScheduledPod, ...]

    @property
    def cost(self) -> tuple[int, int, int, str]:
        """How bad it would be: how important the most important victim is, and all of them, and how many they are."""
        priorities = [each.priority for each in self.victims]
        return max(priorities), sum(priorities), len(priorities), self.node.metadata.name


def make_room(pod: Pod, snapshot: Snapshot) -> Preemption | None:
    """The least bad way to have a place for a pod that found none; None if there is none, or if it may not."""
    if pod.spec.preemption_policy == "Never":
        return None
    found = [each for node in snapshot.nodes if (each := _on(node, pod, snapshot)) is not None]
    return min(found, key=lambda each: each.cost, default=None)


def _on(node: Node, pod: Pod, snapshot: Snapshot) -> Preemption | None:
    mine = pod.spec.priority or 0
    lower = [placed for placed in snapshot.cache.on(node.metadata.name) if placed.priority < mine]
    gone = frozenset(placed.uid for placed in lower)
    if not lower or refuses(pod, node, snapshot, without=gone):
        return None
    # Those may stay, the most important first, that can stay and the pod has a place all the same.
    for placed in sorted(lower, key=lambda placed: (-placed.priority, placed.name)):
        if not refuses(pod, node, snapshot, without=gone - {placed.uid}):
            gone -= {placed.uid}
    victims = tuple(placed for placed in lower if placed.uid in gone)
    return Preemption(node, victims) if victims else None
