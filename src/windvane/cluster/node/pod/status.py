"""How a pod is told to be: its status as a kubelet writes it, made of what is known of its containers."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec.structs import replace

from windvane.cluster.node.pod.containers import ephemeral_containers
from windvane.cluster.node.pod.lifecycle import ended_for_good, initialized, is_sidecar, restarts
from windvane.cluster.node.pod.record import ContainerRecord, ContainerRun, PendingResize, PodRecord, ResizeProgress
from windvane.cluster.node.pod.resize import POD, asked_for, whole
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
    ResourceRequirements,
)

RESIZE_PENDING, RESIZE_IN_PROGRESS = "PodResizePending", "PodResizeInProgress"
OURS = (
    RESIZE_PENDING,
    RESIZE_IN_PROGRESS,
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)
FINISHED = ("Succeeded", "Failed")


def status_of(pod: Pod, record: PodRecord, host: str, now: datetime) -> PodStatus:
    """The status that a pod should have now. What others wrote into it stays."""
    status = pod.status
    if status.phase not in FINISHED:  # which is for ever
        status.phase = phase_of(pod, record)
        if record.failure is not None and status.phase in FINISHED:
            status.reason, status.message = record.failure
    waiting = "PodInitializing" if pod.spec.init_containers else "ContainerCreating"
    status.init_container_statuses = [
        _container(pod, each, record.of(each.name), waiting, now, init=True) for each in pod.spec.init_containers
    ]
    status.container_statuses = [
        _container(pod, each, record.of(each.name), waiting, now) for each in pod.spec.containers
    ]
    status.ephemeral_container_statuses = [
        _ephemeral(each, record.of(each.name), waiting)
        for each in ephemeral_containers(pod)
        if status.phase not in FINISHED or record.of(each.name).run is not None  # else it is too late for it
    ]
    status.host_ip, status.host_ips = host, [HostIP(ip=host)]
    address = host if pod.spec.host_network else record.address
    status.pod_ip, status.pod_ips = address, [PodIP(ip=address)]
    status.start_time = status.start_time or _told(record.began)
    status.observed_generation = pod.metadata.generation
    if pod.spec.resources is not None:
        status.resources = whole(pod)
        status.allocated_resources = status.resources.requests
    status.conditions = _conditions(pod, record, status, now)
    return status


def every_status(status: PodStatus) -> Iterator[ContainerStatus]:
    """What is told of each container, of whichever sort."""
    yield from status.init_container_statuses
    yield from status.container_statuses
    yield from status.ephemeral_container_statuses


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
    state = _state(known, waiting)
    if run is not None and not run.running:
        why = _why_not_again(pod, container, known, run, now, init=init)
        state, last = (ContainerState(waiting=why), run) if why is not None else (state, last)
    told = _status(container, known, state, last)
    plain_init = init and not is_sidecar(container)
    told.ready = known.exit_code == 0 if plain_init else run is not None and run.ready
    told.started = run is not None and run.started
    return told


def _ephemeral(container: Container, known: ContainerRecord, waiting: str) -> ContainerStatus:
    """It has no readiness, and no second instance."""
    return _status(container, known, _state(known, waiting), None)


def _status(
    container: Container, known: ContainerRecord, state: ContainerState, last: ContainerRun | None
) -> ContainerStatus:
    run = known.run
    return ContainerStatus(
        name=container.name,
        image=(run.image if run is not None else "") or container.image or "",
        image_id=f"{run.id.partition('://')[0]}://{container.image}" if run is not None else "",
        container_id=run.id if run is not None else None,
        ready=False,
        restart_count=max(known.attempts - 1, 0),
        state=state,
        last_state=ContainerState(terminated=_terminated(last)) if last is not None else ContainerState(),
        resources=run.given if run is not None and run.running else container.resources,
        allocated_resources=dict(container.resources.requests) if container.resources is not None else {},
    )


def _state(known: ContainerRecord, waiting: str) -> ContainerState:
    """How the last instance of a container is; `waiting` is the reason if there is none, and none was refused."""
    if (run := known.run) is None:
        return ContainerState(waiting=_refusal(known) or ContainerStateWaiting(reason=waiting))
    if run.running:
        return ContainerState(running=ContainerStateRunning(started_at=_told(run.started_at)))
    return ContainerState(terminated=_terminated(run))


def _why_not_again(
    pod: Pod, container: Container, known: ContainerRecord, run: ContainerRun, now: datetime, *, init: bool
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


def _terminated(run: ContainerRun) -> ContainerStateTerminated:
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
    if not over:
        conditions += _resize_conditions(record)
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


def _resize_conditions(record: PodRecord) -> Iterator[PodCondition]:
    """A resize that waits, and one that is being done: each is told of as long as there is one."""
    if (pending := record.pending) is not None:
        yield PodCondition(
            type=RESIZE_PENDING,
            status="True",
            reason="Deferred",
            message=pending.message,
            last_probe_time=_told(pending.since),
            last_transition_time=_told(pending.since),
            observed_generation=pending.generation,
        )
    if (progress := record.progress) is not None:
        yield PodCondition(
            type=RESIZE_IN_PROGRESS,
            status="True",
            reason="Error" if progress.error else None,
            message=progress.error or None,
            last_probe_time=_told(progress.since),
            last_transition_time=_told(progress.since),
            observed_generation=progress.generation,
        )


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
    for told in every_status(pod.status):
        known = record.of(told.name)
        last = told.last_state.terminated if told.last_state is not None else None
        state = told.state or ContainerState()
        if state.running is not None:
            known.run = ContainerRun(
                told.container_id or "", told.restart_count, state.running.started_at or now, told.image
            )
            known.run.started, known.run.ready = bool(told.started), told.ready
            known.run.given = told.resources
            known.previous = _ended(last, told.restart_count - 1, now) if last else None
        elif state.terminated is not None:
            known.run = _ended(state.terminated, told.restart_count, now)
            known.previous = _ended(last, told.restart_count - 1, now) if last else None
        elif last is not None:
            known.run = _ended(last, told.restart_count, now)
        known.attempts = told.restart_count + 1 if known.run is not None else 0
    record.granted = _granted(pod)
    for condition in pod.status.conditions:
        since, generation = condition.last_transition_time or now, condition.observed_generation
        if condition.type == RESIZE_PENDING:
            record.pending = PendingResize(condition.message or "", generation, since)
        elif condition.type == RESIZE_IN_PROGRESS:
            record.progress = ResizeProgress(generation, since, condition.message or "")
    if pod.status.phase == "Failed" and pod.status.reason:
        record.failure = (pod.status.reason, pod.status.message or "")
    return record


def _granted(pod: Pod) -> dict[str, ResourceRequirements]:
    """What a pod may have: as its status tells, or if that tells nothing, what it asks for."""
    granted = asked_for(pod)
    for told in every_status(pod.status):
        if told.resources is not None and told.name in granted:
            limits, requests = told.resources.limits, told.allocated_resources
            granted[told.name] = replace(granted[told.name], limits=limits, requests=requests)
    if (told_of_pod := pod.status.resources) is not None and (stated := pod.spec.resources) is not None:
        requests = {name: told_of_pod.requests.get(name, amount) for name, amount in stated.requests.items()}
        limits = {name: told_of_pod.limits.get(name, amount) for name, amount in stated.limits.items()}
        granted[POD] = replace(stated, requests=requests, limits=limits)
    return granted


def _ended(told: ContainerStateTerminated, attempt: int, now: datetime) -> ContainerRun:
    run = ContainerRun(told.container_id or "", attempt, told.started_at or now)
    run.ended_at, run.code = told.finished_at or now, told.exit_code
    run.reason, run.message = told.reason or "", told.message or ""
    return run
