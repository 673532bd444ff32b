"""The state of a pod as controllers count it: active, terminating, ready, available, and since when."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from windvane import ObjectMeta
from windvane.k8s.core import Container, ContainerStatus, Pod, PodSpec, PodStatus

FINISHED = ("Succeeded", "Failed")
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def essence(pod: Pod) -> Pod:
    """What controllers look at that count pods by the hundred: its controller, its node and its state; nothing else."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    return Pod(
        metadata=ObjectMeta(
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
            labels=meta.labels,
            annotations={key: text for key, text in meta.annotations.items() if key == DELETION_COST},
            owner_references=meta.owner_references,
            creation_timestamp=meta.creation_timestamp,
            deletion_timestamp=meta.deletion_timestamp,
        ),
        spec=PodSpec(
            containers=[],
            node_name=spec.node_name,
            init_containers=[
                Container(name=each.name, restart_policy=each.restart_policy) for each in spec.init_containers
            ],
        ),
        status=PodStatus(
            phase=status.phase,
            conditions=[each for each in status.conditions if each.type == "Ready"],
            container_statuses=[_restarts(each) for each in status.container_statuses],
            init_container_statuses=[_restarts(each) for each in status.init_container_statuses],
        ),
    )


def is_finished(pod: Pod) -> bool:
    """Whether none of its containers will ever run again."""
    return pod.status.phase in FINISHED


def is_active(pod: Pod) -> bool:
    """Whether it counts as a replica: not finished, and not being deleted."""
    return not is_finished(pod) and pod.metadata.deletion_timestamp is None


def is_terminating(pod: Pod) -> bool:
    """Whether it is being deleted and may still run."""
    return not is_finished(pod) and pod.metadata.deletion_timestamp is not None


def is_ready(pod: Pod) -> bool:
    """Whether its condition Ready is true."""
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def ready_since(pod: Pod) -> datetime | None:
    """Since when it is ready; None if it is not, or if its status does not say."""
    times = (each.last_transition_time for each in pod.status.conditions if each.type == "Ready")
    return next(times, None) if is_ready(pod) else None


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> bool:
    """Whether it has been ready for that long."""
    if min_ready_seconds == 0:
        return is_ready(pod)
    since = ready_since(pod)
    return since is not None and since + timedelta(seconds=min_ready_seconds) <= now


def seconds_until_available(pods: Iterable[Pod], min_ready_seconds: int, now: datetime) -> float | None:
    """When the next of these pods becomes available if it stays ready; None if there is no such pod."""
    times = [
        (since + timedelta(seconds=min_ready_seconds) - now).total_seconds()
        for since in map(ready_since, pods)
        if since is not None
    ]
    return min((each for each in times if each > 0), default=None)


def _restarts(status: ContainerStatus) -> ContainerStatus:
    return ContainerStatus(name=status.name, restart_count=status.restart_count, ready=False, image="", image_id="")
