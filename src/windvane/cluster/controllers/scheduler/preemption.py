"""Who must go so that a more important pod has a place: as few as possible, and the least important ones."""

from dataclasses import dataclass

from windvane.cluster.controllers.scheduler.cache import Seat
from windvane.cluster.controllers.scheduler.placement import Surroundings, refuses
from windvane.k8s.core import Node, Pod


@dataclass(frozen=True)
class Eviction:
    """A node that could take the pod, once these are gone."""

    node: Node
    victims: tuple[Seat, ...]

    @property
    def cost(self) -> tuple[int, int, int, str]:
        """How bad it would be: how important the most important victim is, and all of them, and how many they are."""
        priorities = [each.priority for each in self.victims]
        return max(priorities), sum(priorities), len(priorities), self.node.metadata.name


def make_room(pod: Pod, around: Surroundings) -> Eviction | None:
    """The least bad way to have a place for a pod that found none; None if there is none, or if it may not."""
    if pod.spec.preemption_policy == "Never":
        return None
    found = [each for node in around.nodes if (each := _on(node, pod, around)) is not None]
    return min(found, key=lambda each: each.cost, default=None)


def _on(node: Node, pod: Pod, around: Surroundings) -> Eviction | None:
    mine = pod.spec.priority or 0
    lower = [seat for seat in around.board.on(node.metadata.name) if seat.priority < mine]
    gone = frozenset(seat.uid for seat in lower)
    if not lower or refuses(pod, node, around, without=gone):
        return None
    # Those may stay, the most important first, without whom leaving the pod has a place all the same.
    for seat in sorted(lower, key=lambda seat: (-seat.priority, seat.name)):
        if not refuses(pod, node, around, without=gone - {seat.uid}):
            gone -= {seat.uid}
    victims = tuple(seat for seat in lower if seat.uid in gone)
    return Eviction(node, victims) if victims else None
