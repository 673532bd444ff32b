"""What is to be done for a pod now, given what it asks for, what is known of its containers, and the time.

This is all of the agent's judgement, and it does nothing itself: `decide` returns actions and when to ask again. So it
can be tested with any history at any time.

    init containers, one after the other      (a sidecar among them: until it has started)
      → containers, all at once; restarted as the restart policy says, later and later
      → when they have ended for good: sidecars end, the last first
    being deleted, or out of time: the containers end, then the sidecars, the last first; then the pod may go

Ephemeral containers start whenever they come, are never started again, and end with the containers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from windvane.cluster.node.pod.containers import ephemeral_containers
from windvane.cluster.node.pod.record import (
    Action,
    ContainerRecord,
    ContainerRun,
    PodRecord,
    ProbeKind,
    ProbeRecord,
    Resize,
    RunProbe,
    Start,
    Stop,
)
from windvane.cluster.node.pod.resize import differing, needs_restart
from windvane.k8s.core import Container, Pod
from windvane.k8s.core import Probe as ProbeSpec

DEADLINE = ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
GRACE = 30


@dataclass
class Decision:
    """What to do now."""

    actions: list[Action] = field(default_factory=list)
    again: datetime | None = None
    """When to decide anew, even if nothing is reported."""
    over: bool = False
    """Whether nothing of a pod that is being deleted runs any more, so that it may go."""

    def wait(self, until: datetime | None) -> None:
        """Decide anew then at the latest."""
        if until is not None and (self.again is None or until < self.again):
            self.again = until


def decide(pod: Pod, record: PodRecord, now: datetime) -> Decision:
    """What to do for a pod now."""
    decision = Decision()
    if pod.metadata.deletion_timestamp is not None:
        grace = pod.metadata.deletion_grace_period_seconds
        # The API keeps whole seconds: up to one of the grace period was cut off.
        by = pod.metadata.deletion_timestamp + timedelta(seconds=1) if grace else now
        _end(pod, record, decision, by, "Stopping container {}")
        decision.over = not record.active
    elif record.failure is not None or ended_for_good(pod, record):
        _end(pod, record, decision, now + timedelta(seconds=grace_of(pod)), "Stopping container {}")
    else:
        _run(pod, record, decision, now)
    return decision


def exceeds_deadline(pod: Pod, record: PodRecord, now: datetime) -> bool:
    """Whether a pod has run for longer than it may."""
    limit = pod.spec.active_deadline_seconds
    return limit is not None and now >= record.began + timedelta(seconds=limit) and not ended_for_good(pod, record)


def is_sidecar(container: Container) -> bool:
    """Whether an init container goes on while the others run."""
    return container.restart_policy == "Always"


def grace_of(pod: Pod) -> int:
    """How many seconds its containers have to end by themselves."""
    grace = pod.spec.termination_grace_period_seconds
    return GRACE if grace is None else grace


def restarts(pod: Pod, container: Container, code: int, *, init: bool = False) -> bool:
    """Whether a container that ended like that is started again."""
    for rule in container.restart_policy_rules:
        codes = rule.exit_codes
        if rule.action == "Restart" and codes is not None and (code in codes.values) == (codes.operator == "In"):
            return True
    policy = container.restart_policy or pod.spec.restart_policy or "Always"
    if policy == "Always" and init and not is_sidecar(container):
        policy = "OnFailure"  # an init container that has succeeded is done
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def initialized(pod: Pod, record: PodRecord) -> bool:
    """Whether all init containers have done their part, so that the containers may run."""
    return any(record.of(each.name).run is not None for each in pod.spec.containers) or all(
        _passed(each, record.of(each.name)) for each in pod.spec.init_containers
    )


def ended_for_good(pod: Pod, record: PodRecord) -> bool:
    """Whether all that a pod is for has ended, and is not to be started again."""

    def over(container: Container, *, init: bool = False) -> bool:
        known = record.of(container.name)
        if (code := known.exit_code) is None or (known.run is not None and known.run.replaced):
            return False
        return not restarts(pod, container, code, init=init)

    plain = [each for each in pod.spec.init_containers if not is_sidecar(each)]
    failed = any(over(each, init=True) and record.of(each.name).exit_code != 0 for each in plain)
    return failed or all(over(each) for each in pod.spec.containers)


def _run(pod: Pod, record: PodRecord, decision: Decision, now: datetime) -> None:
    if pod.spec.active_deadline_seconds is not None:
        decision.wait(record.began + timedelta(seconds=pod.spec.active_deadline_seconds))
    for container in ephemeral_containers(pod):
        known = record.of(container.name)
        if known.run is None and not known.starting:
            _start(container, known, decision, now)
    under_way = initialized(pod, record)
    for container in pod.spec.init_containers:
        known = record.of(container.name)
        if is_sidecar(container) or (not under_way and known.exit_code != 0):
            _tend(pod, container, known, decision, now, init=True)
        if not under_way and not _passed(container, known):
            return
    for container in pod.spec.containers:
        _tend(pod, container, record.of(container.name), decision, now)


def _tend(
    pod: Pod, container: Container, known: ContainerRecord, decision: Decision, now: datetime, *, init: bool = False
) -> None:
    """Start a container if it does not run and should; else see how it is."""
    if known.starting:
        return
    run = known.run
    if run is None or not run.running:
        if run is not None and not run.replaced and not restarts(pod, container, run.code, init=init):
            return
        _start(container, known, decision, now)
        return
    if run.stop_by is not None:
        return
    changed = differing(run.given, container.resources)
    if run.image != (container.image or ""):
        why = f"Container {container.name} definition changed, will be restarted"
    elif needs_restart(container, changed):
        why = f"Container {container.name} resize requires restart"
    else:
        if changed and not run.resizing:
            _resize(container, run, decision, now)
        _ask(pod, container, run, decision, now)
        return
    decision.actions.append(Stop(container.name, now + timedelta(seconds=grace_of(pod)), why, replaced=True))


def _resize(container: Container, run: ContainerRun, decision: Decision, now: datetime) -> None:
    """Let a container have other resources, or wait until it is time to try that again."""
    if run.resize_again is not None and run.resize_again > now:
        decision.wait(run.resize_again)
    else:
        decision.actions.append(Resize(container.name))


def _start(container: Container, known: ContainerRecord, decision: Decision, now: datetime) -> None:
    """Start a container, or wait until that is due."""
    if known.due is not None and known.due > now:
        decision.wait(known.due)
    else:
        decision.actions.append(Start(container.name, known.attempts, container.image or "", container.resources))


def _ask(pod: Pod, container: Container, run: ContainerRun, decision: Decision, now: datetime) -> None:
    """Probe what is due, and end what is not well."""
    for kind, spec in _probes(container, run):
        probe = run.probes.get(kind, ProbeRecord())
        if kind != "readiness" and failing(spec, probe):
            seconds = spec.termination_grace_period_seconds
            grace = grace_of(pod) if seconds is None else seconds
            why = f"Container {container.name} failed {kind} probe, will be restarted"
            decision.actions = [each for each in decision.actions if each.container != container.name]
            decision.actions.append(Stop(container.name, now + timedelta(seconds=grace), why))
            return
        if probe.waiting or probe.settled:
            continue
        due = _next_question(spec, run, probe)
        if due <= now:
            decision.actions.append(RunProbe(container.name, kind))
        else:
            decision.wait(due)


def _probes(container: Container, run: ContainerRun) -> Iterator[tuple[ProbeKind, ProbeSpec]]:
    """The probes that are to be made now: nothing else is asked before the startup probe has passed."""
    if not run.started:
        if container.startup_probe is not None:
            yield "startup", container.startup_probe
        return
    if container.readiness_probe is not None:
        yield "readiness", container.readiness_probe
    if container.liveness_probe is not None:
        yield "liveness", container.liveness_probe


def _next_question(spec: ProbeSpec, run: ContainerRun, probe: ProbeRecord) -> datetime:
    if probe.asked is None:
        return run.started_at + timedelta(seconds=spec.initial_delay_seconds or 0)
    return probe.asked + timedelta(seconds=spec.period_seconds or 10)


def failing(spec: ProbeSpec, probe: ProbeRecord) -> bool:
    """Whether a probe has failed often enough to count."""
    return probe.last_well is False and probe.streak >= (spec.failure_threshold or 3)


def passing(spec: ProbeSpec, probe: ProbeRecord) -> bool:
    """Whether a probe has succeeded often enough to count."""
    return probe.last_well is True and probe.streak >= (spec.success_threshold or 1)


def judge(container: Container, run: ContainerRun) -> None:
    """Note what the answers so far mean: whether the container has started, and whether it is ready."""
    if not run.running:
        return
    spec = container.startup_probe
    run.started = run.started or spec is None or passing(spec, run.probes.get("startup", ProbeRecord()))
    readiness, probe = container.readiness_probe, run.probes.get("readiness", ProbeRecord())
    if readiness is None:
        run.ready = run.started and probe.last_well is not False  # a simulated one may say so unasked
    elif passing(readiness, probe):
        run.ready = True
    elif failing(readiness, probe):
        run.ready = False


def _passed(container: Container, known: ContainerRecord) -> bool:
    """Whether the next init container may begin."""
    if is_sidecar(container):
        return known.run is not None and known.run.running and known.run.started
    return known.exit_code == 0


def _end(pod: Pod, record: PodRecord, decision: Decision, by: datetime, why: str) -> None:
    """End the containers; when they have, the sidecars, one after the other, the last first."""
    plain = [each for each in pod.spec.init_containers if not is_sidecar(each)]
    waves: list[Sequence[Container]] = [
        [*pod.spec.containers, *plain, *ephemeral_containers(pod)],
        *([each] for each in reversed(pod.spec.init_containers) if is_sidecar(each)),
    ]
    for wave in waves:
        active = [each.name for each in wave if record.of(each.name).active]
        for name in active:
            asked = record.of(name).stop_by
            if asked is None or by < asked:
                decision.actions.append(Stop(name, by, why.format(name)))
        if active:
            return
