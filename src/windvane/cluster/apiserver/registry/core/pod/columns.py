"""Columns of Pods: what `kubectl get pods` makes of the states of all their containers."""

from typing import Any

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.age import since
from windvane.cluster.apiserver.columns.column import (
    AGE,
    NAME,
    Column,
    is_true,
    items,
    labels,
    read,
    wide,
)
from windvane.cluster.apiserver.columns.column import containers as container_columns


def _ready(pod: Wire) -> str:
    """How many containers are ready, and of how many; init containers that keep running count too."""
    sidecars = _sidecars(pod)
    seen, held_up_by = _initialization(pod)
    ready = sum(
        status.get("name") in sidecars and _has_started(status) and bool(status.get("ready"))
        for status in seen
        if not _has_succeeded(status)
    )
    if _is_initialized(pod, held_up_by):
        ready += sum(_is_running(status) for status in items(pod, "status.containerStatuses"))
    return f"{ready}/{len(items(pod, 'spec.containers')) + len(sidecars)}"


def _status(pod: Wire) -> str:
    """One word for the whole pod: of all that its containers say, the one that matters most."""
    phase = read(pod, "status.phase") or ""
    reason: str = read(pod, "status.reason") or phase
    for condition in items(pod, "status.conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    _, held_up_by = _initialization(pod)
    reason = held_up_by or reason
    if _is_initialized(pod, held_up_by):
        reason = _status_of_containers(pod, reason)
    if read(pod, "metadata.deletionTimestamp"):
        if read(pod, "status.reason") == "NodeLost":
            return "Unknown"
        if phase not in ("Succeeded", "Failed"):
            return "Terminating"
    return reason


def _status_of_containers(pod: Wire, reason: str) -> str:
    failed, running = "", False
    # From the last to the first: the first container has the last word.
    for status in reversed(items(pod, "status.containerStatuses")):
        terminated = read(status, "state.terminated")
        if waiting := read(status, "state.waiting.reason"):
            reason = waiting
        elif terminated is not None:
            reason = _end(terminated)
            failed = reason if terminated.get("exitCode") else failed
        elif _is_running(status):
            running = True
    if reason != "Completed":
        return reason
    # Some containers are done, and maybe not all.
    if running and any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in items(pod, "status.conditions")
    ):
        return "Running"
    return failed or ("NotReady" if running else reason)


def _restarts(pod: Wire) -> str:
    """How often containers were restarted, and how long ago the last time was."""
    counted, held_up_by = _initialization(pod)
    if _is_initialized(pod, held_up_by):
        sidecars = _sidecars(pod)
        counted = [status for status in counted if status.get("name") in sidecars]
        counted += items(pod, "status.containerStatuses")
    restarts = sum(status.get("restartCount") or 0 for status in counted)
    ends = [end for status in counted if (end := read(status, "lastState.terminated.finishedAt"))]
    # All are written the same way, in UTC, so the latest time is the largest text.
    return f"{restarts} ({since(max(ends))} ago)" if restarts and ends else str(restarts)


def _sidecars(pod: Wire) -> set[str]:
    """The names of init containers that keep running beside the others."""
    return {each["name"] for each in items(pod, "spec.initContainers") if each.get("restartPolicy") == "Always"}


def _initialization(pod: Wire) -> tuple[list[Any], str]:
    """The statuses of init containers up to the one that holds the pod up, and what it says; "" if none does."""
    statuses = items(pod, "status.initContainerStatuses")
    sidecars = _sidecars(pod) if statuses else set()
    seen = []
    for number, status in enumerate(statuses):
        seen.append(status)
        if _has_succeeded(status) or (status.get("name") in sidecars and _has_started(status)):
            continue
        terminated = read(status, "state.terminated")
        waiting = read(status, "state.waiting.reason")
        if terminated is not None:
            return seen, f"Init:{_end(terminated)}"
        if waiting and waiting != "PodInitializing":
            return seen, f"Init:{waiting}"
        return seen, f"Init:{number}/{len(items(pod, 'spec.initContainers'))}"
    return seen, ""


def _is_initialized(pod: Wire, held_up_by: str) -> bool:
    """Whether its other containers count; they still do when its init containers run once more."""
    return not held_up_by or is_true(pod, "Initialized")


def _has_succeeded(status: Wire) -> bool:
    terminated = read(status, "state.terminated")
    return terminated is not None and not terminated.get("exitCode")


def _has_started(status: Wire) -> bool:
    return bool(status.get("started"))


def _is_running(status: Wire) -> bool:
    return bool(status.get("ready")) and read(status, "state.running") is not None


def _end(terminated: Wire) -> str:
    """Why a container ended."""
    if reason := terminated.get("reason"):
        return str(reason)
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode') or 0}"


def _ip(pod: Wire) -> str:
    addresses = items(pod, "status.podIPs") or [{}]
    return read(pod, "status.podIP") or addresses[0].get("ip") or "<none>"


def _readiness_gates(pod: Wire) -> str:
    gates = items(pod, "spec.readinessGates")
    open_ones = sum(is_true(pod, gate.get("conditionType", "")) for gate in gates)
    return f"{open_ones}/{len(gates)}" if gates else "<none>"


POD = (
    NAME,
    Column("Ready", _ready),
    Column("Status", _status),
    Column("Restarts", _restarts),
    AGE,
    wide("IP", _ip),
    wide("Node", lambda pod: read(pod, "spec.nodeName") or "<none>"),
    wide("Nominated Node", lambda pod: read(pod, "status.nominatedNodeName") or "<none>"),
    wide("Readiness Gates", _readiness_gates),
)

_NAMES, _IMAGES = container_columns("template.spec.containers")
POD_TEMPLATE = (
    NAME,
    Column("Containers", _NAMES.cell),
    Column("Images", _IMAGES.cell),
    Column("Pod Labels", labels("template.metadata.labels")),
)

# Literally what the real server says: clients may look for it.
_COMPLETED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


def completed(pod: Wire) -> list[Wire]:
    """The row's conditions: `kubectl` knows by them that the pod has run to its end."""
    phase = read(pod, "status.phase")
    if phase not in _COMPLETED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}]
