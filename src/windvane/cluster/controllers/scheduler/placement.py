"""Where a pod goes: which nodes can take it, and which of them is best.

    place(pod, nodes, cache)  →  a node, or for each node why not

Pure functions of what is known; the words are those that Kubernetes' scheduler uses.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from windvane import Selector
from windvane.cluster.controllers.scheduler.cache import Amounts, ScheduledPod, SchedulerCache, amounts_of, ports_of
from windvane.cluster.controllers.scheduler.node_fit import is_wanted_on, keeps_off, selects_term, tolerates
from windvane.k8s.core import Node, Pod, PodAffinityTerm, TopologySpreadConstraint

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
ANY = "0.0.0.0"  # noqa: S104 - it stands for any address


@dataclass
class Refusals:
    """Why the nodes can't take a pod."""

    nodes: int
    reasons: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        if not self.nodes:
            return "no nodes available to schedule pods"
        counted = ", ".join(sorted(f"{count} {reason}" for reason, count in self.reasons.items()))
        return f"0/{self.nodes} nodes are available: {counted}."


@dataclass(frozen=True)
class Snapshot:
    """All nodes, the pods on them, and the labels of namespaces, which affinities may ask for."""

    nodes: Sequence[Node]
    cache: SchedulerCache
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def pods(self) -> Iterable[tuple[ScheduledPod, Node]]:
        """Every pod with its node."""
        for node in self.nodes:
            for placed in self.cache.on(node.metadata.name):
                yield placed, node


def place(pod: Pod, snapshot: Snapshot) -> Node | Refusals:
    """The best node for a pod; if there is none, why not."""
    refusals = Refusals(len(snapshot.nodes))
    fitting = []
    for node in snapshot.nodes:
        if reasons := refuses(pod, node, snapshot):
            refusals.reasons.update(reasons)
        else:
            fitting.append(node)
    if not fitting:
        return refusals
    return max(fitting, key=lambda node: (score(pod, node, snapshot), node.metadata.name))


def refuses(pod: Pod, node: Node, snapshot: Snapshot, *, without: frozenset[str] = frozenset()) -> list[str]:
    """Why a node can't take a pod; nothing if it can. `without` are the uids of pods that would have to go first."""
    cordon = node.spec.unschedulable and not any(
        each.key in (None, "", UNSCHEDULABLE) and each.effect in (None, "", "NoSchedule")
        for each in pod.spec.tolerations
    )
    if cordon:
        return ["node(s) were unschedulable"]
    taints = [each for each in node.spec.taints if each.key != UNSCHEDULABLE]
    if keeps_off(taints, pod.spec.tolerations, ("NoSchedule", "NoExecute")) is not None:
        return ["node(s) had untolerated taint(s)"]
    if not is_wanted_on(pod.spec, node):
        return ["node(s) didn't match Pod's node affinity/selector"]
    here = [placed for placed in snapshot.cache.on(node.metadata.name) if placed.uid not in without]
    if any(_clash(mine, other) for mine in ports_of(pod.spec) for placed in here for other in placed.ports):
        return ["node(s) didn't have free ports for the requested pod ports"]
    if short := lacking(pod, node, snapshot, without):
        return short
    return _unfriendly(pod, node, snapshot, without) or _uneven(pod, node, snapshot, without)


def lacking(pod: Pod, node: Node, snapshot: Snapshot, without: frozenset[str] = frozenset()) -> list[str]:
    """Of which resources a node has too little left."""
    taken = Amounts(snapshot.cache.taken(node.metadata.name))
    for placed in snapshot.cache.on(node.metadata.name):
        if placed.uid in without:
            taken.subtract(placed.amounts)
    there = {name: quantity.milli() for name, quantity in node.status.allocatable.items()}
    short = [name for name, amount in amounts_of(pod.spec).items() if amount > there.get(name, 0) - taken[name]]
    return ["Too many pods" if name == "pods" else f"Insufficient {name}" for name in sorted(short)]


def _clash(mine: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    same = mine[0] == other[0] and mine[2] == other[2]
    return same and (mine[1] == other[1] or ANY in (mine[1], other[1]))


# Pods that want to be together, or apart


def _unfriendly(pod: Pod, node: Node, snapshot: Snapshot, without: frozenset[str]) -> list[str]:
    affinity = pod.spec.affinity
    near = affinity.pod_affinity if affinity else None
    far = affinity.pod_anti_affinity if affinity else None
    mine = pod.metadata
    for term in near.required_during_scheduling_ignored_during_execution if near else ():
        others = [
            place
            for placed, place in snapshot.pods()
            if _means(term, placed.namespace, placed.labels, mine.namespace, snapshot)
        ]
        # The first of a group that wants to be together can't wait for the others.
        first = not others and _means(term, mine.namespace, mine.labels, mine.namespace, snapshot)
        has = term.topology_key in node.metadata.labels
        if not (has and first) and not any(_together(term, node, each) for each in others):
            return ["node(s) didn't match pod affinity rules"]
    for placed, there in snapshot.pods():
        if placed.uid in without:
            continue
        for term in far.required_during_scheduling_ignored_during_execution if far else ():
            if _together(term, node, there) and _means(term, placed.namespace, placed.labels, mine.namespace, snapshot):
                return ["node(s) didn't match pod anti-affinity rules"]
        for term in placed.keeps_off:
            if _together(term, node, there) and _means(term, mine.namespace, mine.labels, placed.namespace, snapshot):
                return ["node(s) didn't satisfy existing pods anti-affinity rules"]
    return []


def _means(term: PodAffinityTerm, namespace: str, labels: Mapping[str, str], home: str, snapshot: Snapshot) -> bool:
    """Whether a term of a pod in namespace `home` speaks of pods with these labels in that namespace."""
    named = namespace in term.namespaces or (
        not term.namespaces and term.namespace_selector is None and namespace == home
    )
    selected = term.namespace_selector is not None and Selector.from_label_selector(term.namespace_selector).matches(
        snapshot.namespaces.get(namespace, {})
    )
    return (named or selected) and Selector.from_label_selector(term.label_selector).matches(labels)


def _together(term: PodAffinityTerm, one: Node, other: Node) -> bool:
    """Whether two nodes are the same place to a term."""
    place = one.metadata.labels.get(term.topology_key)
    return place is not None and other.metadata.labels.get(term.topology_key) == place


def _uneven(pod: Pod, node: Node, snapshot: Snapshot, without: frozenset[str]) -> list[str]:
    for rule in pod.spec.topology_spread_constraints:
        if rule.when_unsatisfiable == "DoNotSchedule" and skew(rule, pod, node, snapshot, without) > rule.max_skew:
            missing = rule.topology_key not in node.metadata.labels
            return [
                f"node(s) didn't match pod topology spread constraints{' (missing required label)' if missing else ''}"
            ]
    return []


def skew(
    rule: TopologySpreadConstraint, pod: Pod, node: Node, snapshot: Snapshot, without: frozenset[str] = frozenset()
) -> int:
    """By how many pods the place of a node would be ahead of the emptiest one, were the pod there as well."""
    mine = node.metadata.labels.get(rule.topology_key)
    if mine is None:
        return rule.max_skew + 1
    counted = Selector.from_label_selector(rule.label_selector)
    places = {
        each.metadata.labels[rule.topology_key]: 0
        for each in snapshot.nodes
        if rule.topology_key in each.metadata.labels and is_wanted_on(pod.spec, each)
    }
    for placed, there in snapshot.pods():
        place = there.metadata.labels.get(rule.topology_key)
        if place in places and placed.namespace == pod.metadata.namespace and placed.uid not in without:
            places[place] += counted.matches(placed.labels)
    itself = int(counted.matches(pod.metadata.labels))
    return places.get(mine, 0) + itself - min(places.values(), default=0)


# Which of several


def score(pod: Pod, node: Node, snapshot: Snapshot) -> float:
    """How good a node is for a pod that it can take: what the pod prefers, room, and distance from its like."""
    name, owner = node.metadata.name, next((each.uid for each in pod.metadata.owner_references if each.controller), "")
    siblings = sum(1 for placed in snapshot.cache.on(name) if owner and placed.owner == owner)
    minded = sum(
        1
        for taint in node.spec.taints
        if taint.effect == "PreferNoSchedule" and not any(tolerates(each, taint) for each in pod.spec.tolerations)
    )
    return preference(pod, node, snapshot) + 10 * room(pod, node, snapshot) - 5 * siblings - 50 * minded


def preference(pod: Pod, node: Node, snapshot: Snapshot) -> float:
    """The sum of the weights of what a pod would like and has here."""
    affinity = pod.spec.affinity
    if affinity is None:
        return 0
    liked = 0.0
    if affinity.node_affinity is not None:
        for each in affinity.node_affinity.preferred_during_scheduling_ignored_during_execution:
            liked += each.weight * selects_term(each.preference, node)
    for sign, wish in ((1, affinity.pod_affinity), (-1, affinity.pod_anti_affinity)):
        for term in wish.preferred_during_scheduling_ignored_during_execution if wish is not None else ():
            liked += (
                sign
                * term.weight
                * sum(
                    _together(term.pod_affinity_term, node, there)
                    and _means(
                        term.pod_affinity_term, placed.namespace, placed.labels, pod.metadata.namespace, snapshot
                    )
                    for placed, there in snapshot.pods()
                )
            )
    return liked


def room(pod: Pod, node: Node, snapshot: Snapshot) -> float:
    """How much of a node would be left, from 0 to 1, of what it has least of."""
    taken, asked = snapshot.cache.taken(node.metadata.name), amounts_of(pod.spec)
    left = [
        1 - (taken[name] + asked[name]) / quantity.milli()
        for name, quantity in node.status.allocatable.items()
        if name in ("cpu", "memory", "pods") and quantity.milli()
    ]
    return min(left, default=0.0)
