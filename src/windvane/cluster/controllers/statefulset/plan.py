"""What a StatefulSet does next: which pods are made, updated and deleted, in which order, and which are waited for.

In order, one thing at a time: a pod is made when all before it are well, and deleted when it is the last and all others
are well. In parallel, no pod waits, but for updates, which take one pod at a time in any case. No pod is replaced
before it is gone: there are never two of the same name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from windvane.cluster.controllers.statefulset.identity import ordinal_in, ordinals, revision_of
from windvane.cluster.controllers.workloads.pod_state import is_available, is_finished, is_ready
from windvane.k8s.apps import StatefulSet
from windvane.k8s.core import Pod


@dataclass(frozen=True)
class CreatePod:
    """Make the pod of an ordinal, and its claims before it."""

    ordinal: int


@dataclass(frozen=True)
class UpdatePod:
    """See to it that a pod has its labels and its claims."""

    pod: Pod


@dataclass(frozen=True)
class RetainClaims:
    """See to it that the claims of a pod that is to go are owned as the retention policy says."""

    pod: Pod


@dataclass(frozen=True)
class DeletePod:
    """Delete a pod."""

    pod: Pod


Action: TypeAlias = CreatePod | UpdatePod | RetainClaims | DeletePod
Round: TypeAlias = list[Action]
"""What can be done at the same time."""


def plan(stateful: StatefulSet, pods: Sequence[Pod], revision: str, now: datetime) -> list[Round]:
    """The rounds of this pass; `revision` is what pods are updated to."""
    members = {ordinal: pod for pod in pods if (ordinal := ordinal_in(pod.metadata.name, stateful)) is not None}
    wanted = ordinals(stateful)
    replicas = {ordinal: members.get(ordinal) for ordinal in wanted}
    condemned = [members[ordinal] for ordinal in sorted(members, reverse=True) if ordinal not in wanted]
    update = _to_update(stateful, list(replicas.values()), revision, now)
    updates: Round = [DeletePod(update)] if update is not None else []
    if stateful.spec.pod_management_policy == "Parallel":
        return [*_in_parallel(replicas, condemned), updates]
    return [[each] for each in _in_order(stateful, replicas, condemned, updates, now)]


def is_well(pod: Pod, stateful: StatefulSet, now: datetime) -> bool:
    """Whether it runs, has been ready for long enough, and is to stay."""
    return (
        pod.status.phase == "Running"
        and is_available(pod, stateful.spec.min_ready_seconds or 0, now)
        and not _is_going(pod)
    )


def partition(stateful: StatefulSet) -> int:
    """How many pods, from the first, stay at the current revision during an update."""
    strategy = stateful.spec.update_strategy
    return (strategy.rolling_update.partition or 0) if strategy and strategy.rolling_update else 0


def is_rolling(stateful: StatefulSet) -> bool:
    """Whether pods are updated by themselves, and not only when they are deleted."""
    return stateful.spec.update_strategy is None or stateful.spec.update_strategy.type != "OnDelete"


def _in_order(
    stateful: StatefulSet,
    replicas: Mapping[int, Pod | None],
    condemned: Sequence[Pod],
    updates: Sequence[Action],
    now: datetime,
) -> Iterator[Action]:
    for ordinal, pod in replicas.items():
        if pod is None:
            yield CreatePod(ordinal)
            return
        if _is_going(pod):
            return
        if is_finished(pod):
            yield DeletePod(pod)
            return
        yield UpdatePod(pod)
        if not is_well(pod, stateful, now):
            return
    yield from map(RetainClaims, condemned)
    if condemned:
        last = condemned[0]
        # One that is not well may go only if those before it are: else more would be lost than one thinks.
        others_are_well = all(is_well(each, stateful, now) for each in condemned[1:])
        if is_well(last, stateful, now) or (others_are_well and not _is_going(last)):
            yield DeletePod(last)
        return
    yield from updates


def _in_parallel(replicas: Mapping[int, Pod | None], condemned: Sequence[Pod]) -> Iterator[Round]:
    there: Round = []
    for ordinal, pod in replicas.items():
        if pod is None:
            there.append(CreatePod(ordinal))
        elif not _is_going(pod):
            there.append(DeletePod(pod) if is_finished(pod) else UpdatePod(pod))
    yield there
    yield [RetainClaims(each) for each in condemned]
    yield [DeletePod(each) for each in condemned if not _is_going(each)]


def _to_update(stateful: StatefulSet, replicas: Sequence[Pod | None], revision: str, now: datetime) -> Pod | None:
    """The pod to delete so that it comes back at the new revision: the last that is not, if all after it are well."""
    if not is_rolling(stateful):
        return None
    for pod in reversed(replicas[partition(stateful) :]):
        if pod is None or is_finished(pod) or _is_going(pod):
            return None
        if revision_of(pod) != revision:
            return pod
        if not is_well(pod, stateful, now):
            return None
    return None


def set_status(stateful: StatefulSet, pods: Sequence[Pod], current: str, update: str, now: datetime) -> None:
    """Say how many pods there are, how many of them are ready, and at which revision they are."""
    status, min_ready = stateful.status, stateful.spec.min_ready_seconds or 0
    ready = [each for each in pods if each.status.phase == "Running" and is_ready(each)]
    staying = [revision_of(each) for each in pods if not _is_going(each)]
    updated = staying.count(update)
    status.observed_generation = stateful.metadata.generation
    status.replicas = len(pods)
    status.ready_replicas = len(ready) or None
    status.available_replicas = sum(is_available(each, min_ready, now) for each in ready)
    status.updated_replicas = updated or None
    status.update_revision = update or None
    status.collision_count = status.collision_count or 0
    if is_rolling(stateful) and updated == len(ready) == len(pods) == len(ordinals(stateful)):
        current = update  # the update is complete
    status.current_revision = current or None
    status.current_replicas = staying.count(current) or None


def _is_going(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None
