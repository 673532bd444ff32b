"""The scheduler's cache of pods that have a node: what they take there, and their anti-affinity.

Only that much is kept of each, so that a thousand pods need not be decoded for every new one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from windvane import Quantity
from windvane.cluster.controllers.workloads.pod_state import is_finished
from windvane.k8s.core import Container, Pod, PodAffinityTerm, PodSpec, PodStatus

PODS = "pods"
Amounts = Counter[str]
"""Of each resource, in thousandths."""
Port = tuple[str, str, int]
"""Protocol, address and number of a port of the node's own."""


@dataclass(frozen=True)
class ScheduledPod:
    """A pod on a node."""

    uid: str
    namespace: str
    name: str
    node: str
    labels: Mapping[str, str]
    owner: str
    """The uid of its controller."""
    priority: int
    amounts: Amounts
    ports: frozenset[Port]
    keeps_off: tuple[PodAffinityTerm, ...] = ()
    """Its required anti-affinity: the pods that may not be beside it."""


def scheduled_pod(pod: Pod, node: str) -> ScheduledPod:
    """What a pod takes on a node."""
    anti = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    return ScheduledPod(
        uid=pod.metadata.uid,
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        node=node,
        labels=pod.metadata.labels,
        owner=next((each.uid for each in pod.metadata.owner_references if each.controller), ""),
        priority=pod.spec.priority or 0,
        amounts=amounts_of(pod.spec, _granted(pod.status)),
        ports=ports_of(pod.spec),
        keeps_off=tuple(anti.required_during_scheduling_ignored_during_execution) if anti else (),
    )


def amounts_of(spec: PodSpec, granted: Mapping[str, Amounts] | None = None) -> Amounts:
    """What a pod asks for: its containers together with its sidecars, or the largest of its init containers.

    A container for which more was `granted`, before it came to ask for less, has that until its resize is done.
    """

    def requests(container: Container) -> Amounts:
        asked = _amounts(container.resources.requests) if container.resources is not None else Amounts()
        return asked | granted[container.name] if granted and container.name in granted else asked

    beside = Amounts()
    largest = Amounts()
    for each in spec.init_containers:
        if each.restart_policy == "Always":
            beside += requests(each)
        else:
            largest |= requests(each) + beside
    running = sum((requests(each) for each in spec.containers), beside)
    return (running | largest) + _amounts(spec.overhead) + Amounts({PODS: 1000})


def _granted(status: PodStatus) -> dict[str, Amounts]:
    """What the containers of a pod have on their node, or may have."""
    return {
        each.name: _amounts(each.allocated_resources)
        | (_amounts(each.resources.requests) if each.resources is not None else Amounts())
        for each in (*status.init_container_statuses, *status.container_statuses)
    }


def _amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    return Amounts({name: quantity.milli() for name, quantity in quantities.items()})


def ports_of(spec: PodSpec) -> frozenset[Port]:
    """The ports of the node that a pod takes."""
    return frozenset(
        (port.protocol or "TCP", port.host_ip or "0.0.0.0", port.host_port)  # noqa: S104 - it stands for any address
        for container in spec.containers
        for port in container.ports
        if port.host_port
    )


@dataclass
class SchedulerCache:
    """Which pods are on which node, and what they take there."""

    _pods: dict[str, ScheduledPod] = field(default_factory=dict)
    _nodes: dict[str, dict[str, ScheduledPod]] = field(default_factory=dict)
    _taken: dict[str, Amounts] = field(default_factory=dict)

    def put(self, pod: Pod, node: str = "") -> bool:
        """Note where a pod is, or will be in a moment; whether that is news."""
        node = pod.spec.node_name or node
        if not node or is_finished(pod):
            return self.remove(pod.metadata.uid)
        placed = scheduled_pod(pod, node)
        before = self._pods.get(placed.uid)
        if before is not None and before.node == node and before.amounts == placed.amounts:
            return False
        self.remove(placed.uid)
        self._pods[placed.uid] = placed
        self._nodes.setdefault(node, {})[placed.uid] = placed
        self._taken.setdefault(node, Amounts()).update(placed.amounts)
        return True

    def remove(self, uid: str) -> bool:
        """Note that a pod is gone; whether that is news."""
        if (placed := self._pods.pop(uid, None)) is None:
            return False
        del self._nodes[placed.node][uid]
        self._taken[placed.node].subtract(placed.amounts)
        return True

    def on(self, node: str) -> Iterable[ScheduledPod]:
        """The pods on a node."""
        return self._nodes.get(node, {}).values()

    def taken(self, node: str) -> Amounts:
        """What they take there."""
        return self._taken.get(node, Amounts())

    def __iter__(self) -> Iterator[ScheduledPod]:
        return iter(self._pods.values())

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods
