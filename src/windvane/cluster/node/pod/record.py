"""What the agent knows of a pod and its containers, and how it learns: from what was begun, and from what is reported.

Nothing is done or decided here. `lifecycle.decide` says from a record what is to be done, `status.status_of` how it is
told; whatever runs the containers reports what became of it.

    (nothing) ──begin Start──▶ starting ──Started──▶ running ──Exited──▶ ended ──begin Start──▶ starting ...
                                  └──────Refused──▶ waiting (says why) ──begin Start──▶ starting
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from windvane.k8s.core import ResourceRequirements

ProbeKind = Literal["startup", "readiness", "liveness"]
FIRST_BACKOFF, LONGEST_BACKOFF = timedelta(seconds=10), timedelta(minutes=5)


@dataclass(frozen=True)
class Start:
    """Begin a new instance of a container."""

    container: str
    attempt: int
    image: str = ""
    resources: ResourceRequirements | None = None


@dataclass(frozen=True)
class Stop:
    """End a container: ask it to, and force it when its time is over."""

    container: str
    by: datetime
    why: str
    replaced: bool = False
    """Whether another instance takes its place at once, whatever the restart policy is."""


@dataclass(frozen=True)
class Resize:
    """Let a container that runs have other resources."""

    container: str


@dataclass(frozen=True)
class RunProbe:
    """Ask a container how it is."""

    container: str
    kind: ProbeKind


Action = Start | Stop | Resize | RunProbe


@dataclass(frozen=True)
class Started:
    """A container runs."""

    container: str
    id: str
    at: datetime


@dataclass(frozen=True)
class Refused:
    """A container can't be started, for now: its image has no program, or its ConfigMap is missing."""

    container: str
    reason: str
    message: str
    again: datetime
    """When it is tried again."""


@dataclass(frozen=True)
class Exited:
    """A container has ended, and nothing of it runs any more."""

    container: str
    code: int
    at: datetime
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class Probed:
    """How a container is. `lasting`: it will stay so, there is no need to ask again."""

    container: str
    kind: ProbeKind
    well: bool
    at: datetime
    message: str = ""
    lasting: bool = False


@dataclass(frozen=True)
class Resized:
    """A container that runs has these resources now."""

    container: str
    resources: ResourceRequirements


@dataclass(frozen=True)
class NotResized:
    """A container that runs can't have other resources, for now."""

    container: str
    message: str
    again: datetime
    """When it is tried again."""


@dataclass(frozen=True)
class PodEvent:
    """Something to be told about the pod, where `kubectl describe` shows it."""

    container: str
    reason: str
    message: str
    type: Literal["Normal", "Warning"] = "Normal"


Report = Started | Refused | Exited | Probed | Resized | NotResized | PodEvent


@dataclass
class ProbeRecord:
    """The answers of one probe so far."""

    streak: int = 0
    """How many answers in a row were like the last one."""
    last_well: bool | None = None
    asked: datetime | None = None
    waiting: bool = False
    """Whether the answer to a question is still to come."""
    settled: bool = False
    """Whether there is no need to ask any more."""
    message: str = ""


@dataclass
class ContainerRun:
    """One instance of a container."""

    id: str
    attempt: int
    started_at: datetime
    image: str = ""
    ended_at: datetime | None = None
    code: int = 0
    reason: str = ""
    message: str = ""
    stop_by: datetime | None = None
    """Until when it has time to end by itself, if it was asked to."""
    started: bool = False
    """Whether its startup probe has passed, or it has none."""
    ready: bool = False
    probes: dict[ProbeKind, ProbeRecord] = field(default_factory=dict)
    given: ResourceRequirements | None = None
    """The resources that it has."""
    resizing: bool = False
    """Whether it is being given others."""
    resize_again: datetime | None = None
    """When it is tried again to give it others, if that failed."""
    replaced: bool = False
    """Whether it was asked to end so that another instance takes its place."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.ended_at is None

    @property
    def lasted(self) -> bool:
        """Whether it ran for so long that what was before it no longer counts."""
        return self.ended_at is not None and self.ended_at - self.started_at > 2 * LONGEST_BACKOFF


@dataclass
class ContainerRecord:
    """What is known of one container."""

    run: ContainerRun | None = None
    """Its current or last instance."""
    previous: ContainerRun | None = None
    """The one before that."""
    starting: bool = False
    """Whether a start was begun, and it is not known yet what became of it."""
    attempts: int = 0
    """How many instances were begun."""
    image: str = ""
    """What the last of them was begun with."""
    given: ResourceRequirements | None = None
    """The resources that the last of them was begun with."""
    refused: Refused | None = None
    backoff: timedelta = timedelta()
    """How long after its end the next instance may begin."""
    unstart_by: datetime | None = None
    """Until when one that is being started has time to end, if it was asked to: its postStart hook may take long."""

    @property
    def active(self) -> bool:
        """Whether something of it runs, or is about to."""
        return self.starting or (self.run is not None and self.run.running)

    @property
    def stop_by(self) -> datetime | None:
        """Until when what is active of it has time to end by itself, if it was asked to."""
        return self.unstart_by if self.starting or self.run is None else self.run.stop_by

    @property
    def exit_code(self) -> int | None:
        """How its last instance ended; None if it runs, or never did."""
        return self.run.code if self.run is not None and not self.run.running and not self.starting else None

    @property
    def due(self) -> datetime | None:
        """When the next start may be; None if at once."""
        if self.refused is not None:
            return self.refused.again
        if self.run is None or self.run.replaced:
            return None
        if self.run.ended_at is not None and self.backoff and not self.run.lasted:
            return self.run.ended_at + self.backoff
        return None


@dataclass
class PendingResize:
    """A resize that has to wait until the node has room."""

    message: str
    generation: int | None
    """Of the pod that asks for it."""
    since: datetime


@dataclass
class ResizeProgress:
    """A resize that was granted, and is being done."""

    generation: int | None
    since: datetime
    error: str = ""
    """Why it does not get on, if it does not."""


@dataclass
class PodRecord:
    """What is known of one pod."""

    uid: str
    began: datetime
    address: str = ""
    containers: dict[str, ContainerRecord] = field(default_factory=dict)
    failure: tuple[str, str] | None = None
    """Reason and message, if it was made to fail as a whole."""
    granted: dict[str, ResourceRequirements] = field(default_factory=dict)
    """By container, the resources that it may have; see `resize`."""
    pending: PendingResize | None = None
    progress: ResizeProgress | None = None

    def of(self, container: str) -> ContainerRecord:
        """What is known of that container."""
        return self.containers.setdefault(container, ContainerRecord())

    @property
    def active(self) -> list[str]:
        """The containers of which something runs, or is about to."""
        return [name for name, each in self.containers.items() if each.active]

    def begin(self, action: Action, now: datetime) -> None:
        """Note that an action is under way."""
        container = self.of(action.container)
        match action:
            case Start():
                if container.run is not None and container.refused is None and not container.run.replaced:
                    container.backoff = next_backoff(container)
                # That it was refused is told until it is known what became of this: else its status would change to and
                # fro with each attempt, and wake all that watch pods.
                container.starting = True
                container.image, container.given = action.image, action.resources
                container.unstart_by = None
            case Stop():
                if container.starting:
                    container.unstart_by = action.by
                elif container.run is not None:
                    container.run.stop_by, container.run.replaced = action.by, action.replaced
            case Resize():
                if container.run is not None:
                    container.run.resizing, container.run.resize_again = True, None
            case RunProbe():
                if container.run is not None:
                    probe = container.run.probes.setdefault(action.kind, ProbeRecord())
                    probe.waiting, probe.asked = True, now

    def grant(self, resources: dict[str, ResourceRequirements], generation: int | None, now: datetime) -> None:
        """Note that a pod may have these resources from now on."""
        self.granted, self.pending, self.progress = resources, None, ResizeProgress(generation, now)
        for container in self.containers.values():
            if container.run is not None:
                container.run.resize_again = None

    def defer(self, message: str, generation: int | None, now: datetime) -> bool:
        """Note that a resize has to wait; whether it is one that did not wait before."""
        before = self.pending
        self.pending = PendingResize(message, generation, before.since if before is not None else now)
        return before is None or before.generation != generation

    def learn(self, report: Report) -> None:
        """Take in what happened."""
        if isinstance(report, PodEvent):
            return
        container = self.of(report.container)
        match report:
            case Started():
                if container.run is not None:
                    container.previous = container.run
                container.run = ContainerRun(
                    report.id, container.attempts, report.at, container.image, given=container.given
                )
                container.attempts += 1
                container.starting, container.refused = False, None
            case Refused():
                container.starting, container.refused = False, report
            case Exited():
                run = container.run
                container.starting, container.refused = False, None
                if run is not None and run.running:
                    run.ended_at, run.code = report.at, report.code
                    run.reason = report.reason or ("Completed" if report.code == 0 else "Error")
                    run.message, run.ready, run.started = report.message, False, False
            case Resized():
                if container.run is not None:
                    container.run.given, container.run.resizing = report.resources, False
            case NotResized():
                if container.run is not None:
                    container.run.resizing, container.run.resize_again = False, report.again
                if self.progress is not None:
                    self.progress.error = report.message
            case Probed():
                if container.run is not None and container.run.running:
                    _learn_probe(container.run.probes.setdefault(report.kind, ProbeRecord()), report)


def next_backoff(container: ContainerRecord) -> timedelta:
    """How long after its next end a container has to wait: twice as long as now, from the beginning if it ran long."""
    run = container.run
    if run is None or container.backoff == timedelta() or run.lasted:
        return FIRST_BACKOFF
    return min(container.backoff * 2, LONGEST_BACKOFF)


def _learn_probe(probe: ProbeRecord, report: Probed) -> None:
    probe.waiting, probe.settled, probe.message = False, report.lasting, report.message
    probe.streak = probe.streak + 1 if report.well == probe.last_well else 1
    probe.last_well = report.well
