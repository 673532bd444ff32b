"""What came of a Job that takes or restores a snapshot: the snapshot, why there is none, or what it waits for."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from etcd_operator import names
from etcd_operator.api import Snapshot
from windvane.k8s import batch, core

LONGEST = 500
"""How many characters of somebody's last words are told."""
STEPS = {
    "begin": "beginning the snapshot",
    "snapshot": "taking the snapshot",
    "check": "opening the snapshot",
    "keep": "keeping the snapshot",
    "find": "finding the snapshot",
    "prepare": "finding the snapshot",
    "salvage": "finding the member's database",
    "replace": "putting the restored data into place",
    "restore": "restoring the snapshot",
    "finish": "putting the restored data into place",
}
"""What a container does, for people."""
NO_POD = "waiting for a pod"
STARTING = ("", "PodInitializing", "ContainerCreating")
ENDED = ("Succeeded", "Failed")


class Running(NamedTuple):
    """It is not finished."""

    message: str


class Failure(NamedTuple):
    """It will not be tried again."""

    message: str
    when: datetime


class _Report(msgspec.Struct):
    """What keeper.py says of a snapshot."""

    name: str
    taken: datetime
    size: int
    sha256: str
    version: str = ""


def outcome(job: batch.Job, pods: Iterable[core.Pod]) -> Snapshot | Failure | Running:
    """How far a Job is; `pods` may be more than its own."""
    tries = pods_of(job, pods)
    if _has(job, "Complete") and all(pod.status.phase in ENDED for pod in tries):  # a cache may be late with a pod
        return _snapshot(job, tries)
    if _has(job, "Failed"):
        condition = next(each for each in job.status.conditions if each.type == "Failed")
        when = condition.last_transition_time or job.status.start_time or datetime.fromtimestamp(0, UTC)
        return Failure(_why(tries) or condition.message or condition.reason or "it failed", when)
    return Running(_progress(tries))


def pods_of(job: batch.Job, pods: Iterable[core.Pod]) -> list[core.Pod]:
    """The pods that a Job has made, the newest first."""
    mine = [each for each in pods if any(owner.uid == job.metadata.uid for owner in each.metadata.owner_references)]
    return sorted(mine, key=lambda pod: pod.metadata.creation_timestamp or datetime.max.replace(tzinfo=UTC))[::-1]


def revision_in(lines: Iterable[bytes]) -> int:
    """The revision of the data in a snapshot, from what `check` wrote; 0 if it can't be told."""
    for line in lines:
        if line.startswith(b"{"):
            try:
                status = json.loads(line)
            except ValueError:
                continue
            if isinstance(status, dict) and isinstance(status.get("revision"), int):
                return int(status["revision"])
    return 0


def last_words(text: str) -> str:
    """The line of a program's last ones that says what was wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    words = _of_line(lines[-1])
    if words == "context deadline exceeded":  # which says nothing; the line before may
        words = next((said for line in reversed(lines[:-1]) if "error" in line and (said := _of_line(line))), words)
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _of_line(line: str) -> str:
    """What a line says. etcd's tools log JSON, or columns with JSON in the last one."""
    *columns, last = line.split("\t")
    try:
        fields = json.loads(last)
    except ValueError:
        return line.removeprefix("Error: ")
    if not isinstance(fields, dict):
        return line
    parts: Sequence[Any] = [fields.get("msg") or (columns[-1] if columns else ""), fields.get("error", "")]
    return ": ".join(str(each) for each in parts if each) or line


def _snapshot(job: batch.Job, tries: list[core.Pod]) -> Snapshot:
    claims = {
        each.name: each.persistent_volume_claim.claim_name
        for each in job.spec.template.spec.volumes
        if each.persistent_volume_claim is not None
    }
    claim = claims.get("backups") or claims["data"]  # a member's data comes from its own volume
    for pod in tries:
        for status in pod.status.container_statuses:
            ended = status.state.terminated if status.state else None
            if ended is not None and ended.exit_code == 0:
                try:
                    report = msgspec.json.decode(ended.message or "", type=_Report)
                except msgspec.DecodeError:
                    continue
                return Snapshot(volume_claim=claim, **msgspec.structs.asdict(report))
    # Its pod is gone, and with it what it said. But it ended well, and would not have if anything had been wrong.
    taken = job.status.start_time or job.metadata.creation_timestamp or datetime.fromtimestamp(0, UTC)
    name = job.metadata.name if names.LABEL_BACKUP in job.metadata.labels else ""
    return Snapshot(name=name, taken=taken, volume_claim=claim)


def _why(tries: list[core.Pod]) -> str:
    """Why the last pod that failed did."""
    for pod in tries:
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
            ended = status.state.terminated if status.state else None
            if ended is not None and ended.exit_code != 0:
                words = last_words(ended.message or "") or ended.reason or "it said nothing"
                return f"{_step(status.name)} failed (exit code {ended.exit_code}): {words}"
        if pod.status.phase == "Failed":
            return f"pod {pod.metadata.name} failed: {pod.status.message or pod.status.reason or 'nobody knows why'}"
    return ""


def _progress(tries: list[core.Pod]) -> str:
    alive = [pod for pod in tries if pod.status.phase not in ENDED]
    now = _waits_for(alive[0]) if alive else NO_POD
    before = _why([pod for pod in tries if pod not in alive])
    return f"{now}; it is tried again, for {before}" if before else now


def _waits_for(pod: core.Pod) -> str:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return f"pod {pod.metadata.name} has no node: {condition.message or condition.reason}"
    doing = ""
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        state = status.state or core.ContainerState()
        if state.waiting is not None and (state.waiting.reason or "") not in STARTING:
            why = ": ".join(each for each in (state.waiting.reason, state.waiting.message) if each)
            return f"{_step(status.name)} can't begin: {why}"
        if state.running is not None:
            doing = _step(status.name)
    return doing or f"pod {pod.metadata.name} is starting"


def _step(container: str) -> str:
    return STEPS.get(container, container)


def _has(job: batch.Job, condition: str) -> bool:
    return any(each.type == condition and each.status == "True" for each in job.status.conditions)
