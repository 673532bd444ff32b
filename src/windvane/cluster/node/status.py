"""How a pod is told to be: its status as a kubelet writes it, made of what is known of its containers."""

from collections.abc import Iterable
from datetime import datetime

from windvane.cluster.node.lifecycle import ended_for_good, initialized, is_sidecar, restarts
from windvane.cluster.node.record import ContainerRecord, PodRecord, Run
from windvane.k8s.core import (
    Container,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    HostIP,
    Pod,
    PodCondition,
    PodIP,
    PodStatus,
)

OURS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
FINISHED = ("Succeeded", "Failed")


def status_of(pod: Pod, record: PodRecord, host: str, now: datetime) -> PodStatus:
    """The status that a pod should have now. What others wrote into it stays."""
    status = pod.status
    waiting = "PodInitializing" if pod.spec.init_containers else "ContainerCreating"
    status.init_container_statuses = [
        _container(pod, each, record.of(each.name), waiting, now, init=True) for each in pod.spec.init_containers
    ]
    status.container_statuses = [
        _container(pod, each, record.of(each.name), waiting, now) for each in pod.spec.containers
    ]
    if status.phase not in FINISHED:  # which is for ever
        status.phase = phase_of(pod, record)
        if record.failure is not None and status.phase in FINISHED:
            status.reason, status.message = record.failure
    status.host_ip, status.host_ips = host, [HostIP(ip=host)]
    address = host if pod.spec.host_network else record.address
    status.pod_ip, status.pod_ips = address, [PodIP(ip=address)]
    status.start_time = status.start_time or _told(record.began)
    status.observed_generation = pod.metadata.generation
    status.conditions = _conditions(pod, record, status, now)
    return status


def phase_of(pod: Pod, record: PodRecord) -> str:
    """Where a pod is in its life. It is not over while anything of it runs: others wait to take its place."""
    if not record.active and (ended := _ended_phase(pod, record)):
        return ended
    if initialized(pod, record) and all(record.of(each.name).run is not None for each in pod.spec.containers):
        return "Running"
    return "Pending"


def _ended_phase(pod: Pod, record: PodRecord) -> str:
    """How a pod of which nothing runs has ended; empty if something of it is still to be started."""
    deleted = pod.metadata.deletion_timestamp is not None
    if not (deleted or record.failure or ended_for_good(pod, record)):
        return ""
    well = all(record.of(each.name).exit_code == 0 for each in pod.spec.containers)
    return "Succeeded" if well and not record.failure else "Failed"


def _container(
    pod: Pod, container: Container, known: ContainerRecord, waiting: str, now: datetime, *, init: bool = False
) -> ContainerStatus:
    run, last = known.run, known.previous
    state = ContainerState(waiting=ContainerStateWaiting(reason=waiting))
    if run is not None:
        if run.running:
            state = ContainerState(running=ContainerStateRunning(started_at=_told(run.started_at)))
        elif (why := _why_not_again(pod, container, known, run, now, init=init)) is not None:
            state, last = ContainerState(waiting=why), run
        else:
            state = ContainerState(terminated=_terminated(run))
    elif known.refused is not None:
        state = ContainerState(waiting=_refusal(known))
    plain_init = init and not is_sidecar(container)
    return ContainerStatus(
        name=container.name,
        image=(run.image if run is not None else "") or container.image or "",
        image_id=f"{run.id.partition('://')[0]}://{container.image}" if run is not None else "",
        container_id=run.id if run is not None else None,
        ready=known.exit_code == 0 if plain_init else run is not None and run.ready,
        started=run is not None and run.started,
        restart_count=max(known.attempts - 1, 0),
        state=state,
        last_state=ContainerState(terminated=_terminated(last)) if last is not None else ContainerState(),
        resources=container.resources,
        allocated_resources=dict(container.resources.requests) if container.resources is not None else {},
    )


def _why_not_again(
    pod: Pod, container: Container, known: ContainerRecord, run: Run, now: datetime, *, init: bool
) -> ContainerStateWaiting | None:
    """Why a container that has ended, and is to be started again, is not yet; None if it is not to be."""
    if pod.metadata.deletion_timestamp is not None or not restarts(pod, container, run.code, init=init):
        return None
    if known.refused is not None:
        return _refusal(known)
    if known.due is not None and now < known.due:
        seconds = known.backoff.total_seconds()
        name = f"{pod.metadata.name}_{pod.metadata.namespace}({pod.metadata.uid})"
        words = f"back-off {_duration(seconds)} restarting failed container={container.name} pod={name}"
        return ContainerStateWaiting(reason="CrashLoopBackOff", message=words)
    return None


def _refusal(known: ContainerRecord) -> ContainerStateWaiting | None:
    if (refused := known.refused) is None:
        return None
    return ContainerStateWaiting(reason=refused.reason, message=refused.message)


def _terminated(run: Run) -> ContainerStateTerminated:
    return ContainerStateTerminated(
        container_id=run.id,
        exit_code=run.code,
        reason=run.reason,
        message=run.message or None,
        started_at=_told(run.started_at),
        finished_at=_told(run.ended_at or run.started_at),
    )


def _told(time: datetime) -> datetime:
    """A time as the API keeps it: in whole seconds. Told with more, a status would never be the one that was told."""
    return time.replace(microsecond=0)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _conditions(pod: Pod, record: PodRecord, status: PodStatus, now: datetime) -> list[PodCondition]:
    before = {each.type: each for each in pod.status.conditions}
    conditions = [each for each in pod.status.conditions if each.type not in OURS]
    over = status.phase in FINISHED and not record.active
    said = [
        ("PodReadyToStartContainers", not over, "", ""),
        ("Initialized", *_initialized(pod, record, status)),
        ("Ready", *_ready(pod, status)),
        ("ContainersReady", *_containers_ready(pod, status)),
        ("PodScheduled", True, "", ""),
    ]
    for type_, holds, reason, message in said:
        was = before.get(type_)
        value = "True" if holds else "False"
        since = was.last_transition_time if was is not None and was.status == value else None
        conditions.append(
            PodCondition(
                type=type_,
                status=value,
                reason=reason or None,
                message=message or None,
                last_probe_time=None,
                last_transition_time=since or _told(now),
                observed_generation=pod.metadata.generation,
            )
        )
    return conditions


Said = tuple[bool, str, str]
"""Whether a condition holds, with reason and message."""


def _initialized(pod: Pod, record: PodRecord, status: PodStatus) -> Said:
    if status.phase == "Succeeded":
        return True, "PodCompleted" if pod.spec.init_containers else "", ""
    if initialized(pod, record):
        return True, "", ""
    incomplete = [
        each.name
        for each, told in zip(pod.spec.init_containers, status.init_container_statuses, strict=True)
        if not (told.started if is_sidecar(each) else told.ready)
    ]
    return False, "ContainersNotInitialized", f"containers with incomplete status: {_names(incomplete)}"


def _containers_ready(pod: Pod, status: PodStatus) -> Said:
    if status.phase == "Succeeded":
        return False, "PodCompleted", ""
    if status.phase == "Failed":
        return False, "PodFailed", ""
    sidecars = [
        told
        for each, told in zip(pod.spec.init_containers, status.init_container_statuses, strict=True)
        if is_sidecar(each)
    ]
    unready = [each.name for each in (*sidecars, *status.container_statuses) if not each.ready]
    if unready:
        return False, "ContainersNotReady", f"containers with unready status: {_names(unready)}"
    return True, "", ""


def _ready(pod: Pod, status: PodStatus) -> Said:
    containers = _containers_ready(pod, status)
    if not containers[0]:
        return containers
    told = {each.type: each.status for each in pod.status.conditions}
    problems = []
    for gate in pod.spec.readiness_gates:
        if gate.condition_type not in told:
            problems.append(f'corresponding condition of pod readiness gate "{gate.condition_type}" does not exist.')
        elif (value := told[gate.condition_type]) != "True":
            problems.append(f'the status of pod readiness gate "{gate.condition_type}" is not "True", but {value}')
    return (False, "ReadinessGatesNotReady", ", ".join(problems)) if problems else (True, "", "")


def _names(names: Iterable[str]) -> str:
    return f"[{' '.join(names)}]"


def record_of(pod: Pod, now: datetime) -> PodRecord:
    """What a pod's status tells of it: where an agent that was restarted goes on."""
    record = PodRecord(pod.metadata.uid, pod.status.start_time or now)
    for told in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        known = record.of(told.name)
        last = told.last_state.terminated if told.last_state is not None else None
        state = told.state or ContainerState()
        if state.running is not None:
            known.run = Run(told.container_id or "", told.restart_count, state.running.started_at or now, told.image)
            known.run.started, known.run.ready = bool(told.started), told.ready
            known.previous = _ended(last, told.restart_count - 1, now) if last else None
        elif state.terminated is not None:
            known.run = _ended(state.terminated, told.restart_count, now)
            known.previous = _ended(last, told.restart_count - 1, now) if last else None
        elif last is not None:
            known.run = _ended(last, told.restart_count, now)
        known.attempts = told.restart_count + 1 if known.run is not None else 0
    if pod.status.phase == "Failed" and pod.status.reason:
        record.failure = (pod.status.reason, pod.status.message or "")
    return record


def _ended(told: ContainerStateTerminated, attempt: int, now: datetime) -> Run:
    run = Run(told.container_id or "", attempt, told.started_at or now)
    run.ended_at, run.code = told.finished_at or now, told.exit_code
    run.reason, run.message = told.reason or "", told.message or ""
    return run
