"""How an object is, in a line: its conditions with their reasons, and of pods and workloads what kubectl says of them.

Read from the bytes of an object, once for each change. Nothing here fails: a status is whatever its operator made.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from rich.text import Text

from windvane.api.kind import Kind
from windvane.cli.dev.view.wording import MARKS, Tone, text

FIRST = ("Ready", "Available", "Complete", "Failed", "Established")
"""Which conditions say most, in this order."""
BAD_ENDS = ("Error", "Exception", "Failed", "Failure", "Fatal", "BackOff", "Invalid", "Forbidden", "Unreadable")
"""What the reasons of those failures end with that don't pass by waiting."""
WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


class Health(NamedTuple):
    """How an object is."""

    tone: Tone
    words: str
    """The first thing to know."""
    rest: str = ""
    """Other conditions."""

    @property
    def text(self) -> Text:
        """As it is shown."""
        if not self.words:
            return text((self.rest, Tone.QUIET))
        mark = MARKS.get(self.tone, " ")
        return text((f"{mark} {self.words}", self.tone), (f"  {self.rest}" if self.rest else "", Tone.QUIET))


class _Meta(msgspec.Struct, rename="camel"):
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    finalizers: list[str] | None = None
    generation: int = 0


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: Any = None
    status: Any = None


class Read(NamedTuple):
    """What is read of an object."""

    health: Health
    created: datetime | None
    containers: Sequence[tuple[str, str]] = ()
    """Of a pod: each container, and a word that is another one when it was started anew."""
    replaced: bool = False
    """Whether it is a ReplicaSet of an earlier revision, with nothing left to do."""


_decoder = msgspec.json.Decoder(_Object)


def read(kind: Kind, raw: bytes) -> Read:
    """What there is to know of an object of that kind."""
    try:
        found = _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Read(Health(Tone.BAD, "it can't be read"), None)
    spec = found.spec if isinstance(found.spec, dict) else {}
    status = found.status if isinstance(found.status, dict) else {}
    health = _health(kind, found.metadata, spec, status)
    if found.metadata.deletion_timestamp is not None:
        held = ", ".join(found.metadata.finalizers or ())
        health = Health(Tone.WAITING, f"being deleted: waits for {held}" if held else "being deleted", health.words)
    containers = _containers(status) if (kind.group, kind.name) == ("", "Pod") else ()
    replaced = kind.name == "ReplicaSet" and spec.get("replicas") == 0 and not status.get("replicas")
    return Read(health, found.metadata.creation_timestamp, containers, replaced)


def _health(kind: Kind, meta: _Meta, spec: dict[str, Any], status: dict[str, Any]) -> Health:
    match (kind.group, kind.name):
        case ("", "Pod"):
            return _pod(status)
        case ("apps", name) if name in WORKLOADS:
            return _workload(kind.name, spec, status)
        case ("", "PersistentVolumeClaim"):
            phase = str(status.get("phase", "Pending"))
            return Health({"Bound": Tone.GOOD, "Pending": Tone.WAITING}.get(phase, Tone.BAD), phase)
        case ("batch", "Job"):
            return _job(status)
    return _by_conditions(meta, status)


def _by_conditions(meta: _Meta, status: dict[str, Any]) -> Health:
    conditions = _conditions(status)
    main = next((each for name in FIRST for each in conditions if each["type"] == name), None)
    others = " ".join(_other(each) for each in conditions if each is not main)
    if main is None:
        return Health(Tone.QUIET, "", others)
    observed = main.get("observedGeneration", status.get("observedGeneration"))
    name, reason, message = main["type"], str(main.get("reason") or ""), str(main.get("message") or "")
    because = reason if reason and reason != name else ""
    if isinstance(observed, int) and observed < meta.generation:
        return Health(Tone.WAITING, f"{name}={main['status']} was said of an earlier spec", others)
    if (main["status"] == "True") != (name == "Failed"):
        words = " ".join(filter(None, (name, because)))
        return Health(Tone.GOOD, f"{words}: {message}" if message else words, others)
    tone = Tone.BAD if name == "Failed" or reason.endswith(BAD_ENDS) else Tone.WAITING
    said = f"Not{name}" if name != "Failed" else name
    words = because or said if name == "Ready" or because == said else f"{said} {because}".strip()
    return Health(tone, f"{words}: {message}" if message else words, others)


def _conditions(status: dict[str, Any]) -> list[dict[str, Any]]:
    found = status.get("conditions")
    if not isinstance(found, list):
        return []
    return [
        each
        for each in found
        if isinstance(each, dict) and isinstance(each.get("type"), str) and isinstance(each.get("status"), str)
    ]


def _other(condition: dict[str, Any]) -> str:
    reason = condition.get("reason")
    why = f"({reason})" if condition["status"] != "True" and reason and reason != condition["type"] else ""
    return f"{condition['type']}={condition['status']}{why}"


def _workload(kind: str, spec: dict[str, Any], status: dict[str, Any]) -> Health:
    if kind == "DaemonSet":
        wanted, ready = _number(status.get("desiredNumberScheduled")), _number(status.get("numberReady"))
    else:
        wanted, ready = _number(spec.get("replicas", 1)), _number(status.get("readyReplicas"))
    updated = _number(status.get("updatedReplicas", wanted))
    if kind in ("Deployment", "StatefulSet") and updated != wanted and wanted:
        about = f"{updated} of {wanted} updated"
    else:
        about = ""
    for each in _conditions(status):
        why = str(each.get("message") or each.get("reason") or "")
        if each["type"] == "ReplicaFailure" and each["status"] == "True":
            return Health(Tone.BAD, f"{ready}/{wanted} ready: {why}")
        if each["type"] == "Progressing" and each["status"] == "False":
            return Health(Tone.BAD, f"{ready}/{wanted} ready: {why}")
    if not wanted and not ready:
        return Health(Tone.QUIET, "no replicas")
    return Health(Tone.GOOD if ready == wanted and not about else Tone.WAITING, f"{ready}/{wanted} ready", about)


def _job(status: dict[str, Any]) -> Health:
    for each in _conditions(status):
        if each["status"] == "True" and each["type"] in ("Failed", "Complete", "Suspended"):
            tone = {"Failed": Tone.BAD, "Complete": Tone.GOOD}.get(each["type"], Tone.WAITING)
            why = each.get("message") if each["type"] == "Failed" else ""
            return Health(tone, f"{each['type']}: {why}" if why else each["type"])
    failed = f", {status['failed']} failed" if status.get("failed") else ""
    return Health(Tone.WAITING, f"{status.get('active', 0)} active{failed}")


def _statuses(status: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = status.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _containers(status: dict[str, Any]) -> list[tuple[str, str]]:
    found = [*_statuses(status, "initContainerStatuses"), *_statuses(status, "containerStatuses")]
    return [(str(each.get("name")), str(each["containerID"])) for each in found if each.get("containerID")]


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _pod(status: dict[str, Any]) -> Health:
    phase = str(status.get("phase") or "Pending")
    containers = _statuses(status, "containerStatuses")
    restarts = sum(_number(each.get("restartCount")) for each in containers)
    again = f"{restarts} restart{'s' if restarts > 1 else ''}" if restarts else ""
    for each in [*_statuses(status, "initContainerStatuses"), *containers]:
        if (trouble := _trouble(each)) is not None and phase not in ("Succeeded", "Failed"):
            return trouble._replace(rest=again)
    if phase == "Running":
        ready = sum(1 for each in containers if each.get("ready"))
        good = ready == len(containers) and bool(ready)
        return Health(Tone.GOOD if good else Tone.WAITING, f"Running {ready}/{len(containers)}", again)
    if phase == "Pending":
        why = next((each for each in _conditions(status) if each["status"] == "False" and each.get("message")), {})
        return Health(Tone.WAITING, f"Pending: {why['message']}" if why else "Pending", again)
    if phase == "Succeeded":
        return Health(Tone.QUIET, "Completed")
    parts = [str(each) for each in (phase, status.get("reason"), status.get("message")) if each]
    return Health(Tone.BAD, ": ".join(parts), again)


def _trouble(container: dict[str, Any]) -> Health | None:
    """What keeps a container from running, if anything does."""
    state = container.get("state")
    if not isinstance(state, dict):
        return None
    if isinstance(waiting := state.get("waiting"), dict):
        reason = str(waiting.get("reason") or "Waiting")
        bad = reason.endswith(BAD_ENDS) or reason.startswith(("Err", "Invalid", "Create"))
        message = str(waiting.get("message") or "")
        last = container.get("lastState")
        ended = last.get("terminated") if isinstance(last, dict) else None
        if reason == "CrashLoopBackOff" and isinstance(ended, dict):
            message = f"exit code {ended.get('exitCode')}"
        return Health(Tone.BAD if bad else Tone.WAITING, f"{reason}: {message}" if message else reason)
    if isinstance(ended := state.get("terminated"), dict) and ended.get("exitCode"):
        return Health(Tone.BAD, f"{ended.get('reason') or 'Error'}: exit code {ended['exitCode']}")
    return None
