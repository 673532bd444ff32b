"""The agent's judgement, with any history at any time."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from windvane import ObjectMeta
from windvane.api import codec
from windvane.api.quantity import Quantity
from windvane.cluster.node.pod.containers import every_container
from windvane.cluster.node.pod.lifecycle import (
    Decision,
    decide,
    ended_for_good,
    initialized,
    is_sidecar,
    judge,
    restarts,
)
from windvane.cluster.node.pod.record import (
    Exited,
    PodRecord,
    Probed,
    Refused,
    Resize,
    Resized,
    RunProbe,
    Start,
    Started,
    Stop,
)
from windvane.cluster.node.pod.resize import asked_for, under_way
from windvane.cluster.node.pod.status import FINISHED, record_of, status_of
from windvane.k8s.core import EphemeralContainer, Pod, PodSpec, ResourceRequirements

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


def pod(**spec: Any) -> Pod:
    spec = {"containers": [{"name": "main", "image": "x"}], "restartPolicy": "Always", **spec}
    return Pod(metadata=ObjectMeta(name="web", namespace="default", uid="u"), spec=codec.from_wire(spec, PodSpec))


class Life:
    """A pod, what is known of it, and the time."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.record = PodRecord("u", BEGIN, "10.0.0.1")
        self.now = BEGIN
        self.started = 0

    def step(self) -> Decision:
        """Decide, begin what is to be done, and tell."""
        self.judge()
        decision = decide(self.pod, self.record, self.now)
        for action in decision.actions:
            self.record.begin(action, self.now)
            if isinstance(action, Resize):
                self.record.learn(Resized(action.container, asked_for(self.pod)[action.container]))
        self.pod.status = status_of(self.pod, self.record, "127.0.0.1", self.now)
        return decision

    def judge(self) -> None:
        for container in every_container(self.pod):
            if (run := self.record.of(container.name).run) is not None:
                judge(container, run)

    def start(self, name: str = "main") -> None:
        self.started += 1
        self.record.learn(Started(name, f"test://{self.started}", self.now))

    def exit(self, code: int, name: str = "main") -> None:
        self.record.learn(Exited(name, code, self.now))

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def test_a_container_is_started_once() -> None:
    life = Life(pod())
    assert life.step().actions == [Start("main", 0, "x")]
    assert life.step().actions == []
    life.start()
    assert life.step().actions == []
    assert life.pod.status.phase == "Running"


def test_an_ephemeral_container_starts_before_the_pod_is_initialized_and_never_again() -> None:
    life = Life(pod(initContainers=[{"name": "init", "image": "x"}]))
    life.step()
    life.start("init")
    life.pod.spec.ephemeral_containers = [EphemeralContainer(name="debugger", image="x")]
    assert life.step().actions == [Start("debugger", 0, "x")]
    life.start("debugger")
    life.exit(1, "debugger")
    assert life.step().actions == []
    assert life.pod.status.phase == "Pending"


def test_an_ephemeral_container_counts_neither_for_the_phase_nor_for_readiness() -> None:
    life = Life(pod())
    life.pod.spec.ephemeral_containers = [EphemeralContainer(name="debugger", image="x")]
    life.step()
    life.start()
    life.step()
    assert life.pod.status.phase == "Running"
    assert [each.status for each in life.pod.status.conditions if each.type == "Ready"] == ["True"]
    [told] = life.pod.status.ephemeral_container_statuses
    assert told.state is not None
    assert told.state.waiting is not None
    assert (told.ready, told.started) == (False, None)


def test_an_ephemeral_container_ends_before_sidecars_do() -> None:
    life = Life(pod(restartPolicy="Never", initContainers=[{"name": "proxy", "image": "x", "restartPolicy": "Always"}]))
    life.pod.spec.ephemeral_containers = [EphemeralContainer(name="debugger", image="x")]
    for name in ("proxy", "debugger", "main"):
        life.step()
        life.start(name)
    life.exit(0)
    assert [each.container for each in life.step().actions] == ["debugger"]
    life.exit(143, "debugger")
    assert [each.container for each in life.step().actions] == ["proxy"]
    life.exit(0, "proxy")
    life.step()
    assert life.pod.status.phase == "Succeeded"


def test_an_ephemeral_container_that_came_too_late_is_not_told_of() -> None:
    life = Life(pod(restartPolicy="Never", initContainers=[{"name": "proxy", "image": "x", "restartPolicy": "Always"}]))
    for name in ("proxy", "main"):
        life.step()
        life.start(name)
    life.exit(0)
    life.pod.spec.ephemeral_containers = [EphemeralContainer(name="debugger", image="x")]
    life.step()
    assert [each.name for each in life.pod.status.ephemeral_container_statuses] == ["debugger"]
    life.exit(0, "proxy")
    life.step()
    assert life.pod.status.phase == "Succeeded"
    assert life.pod.status.ephemeral_container_statuses == []


def test_it_backs_off_twice_as_long_each_time_and_at_most_five_minutes() -> None:
    life, waits = Life(pod()), []
    for _ in range(9):
        began = life.now
        while not (decision := life.step()).actions:
            assert decision.again is not None
            life.now = decision.again
        waits.append((life.now - began).total_seconds())
        life.start()
        life.wait(1)
        life.exit(1)
    assert waits == [0, 0, 10, 20, 40, 80, 160, 300, 300]


def test_one_that_ran_for_long_begins_anew_with_backing_off() -> None:
    life = Life(pod())
    for _ in range(3):
        while not (decision := life.step()).actions:
            assert decision.again is not None
            life.now = decision.again
        life.start()
        life.exit(1)
    assert life.record.of("main").backoff == timedelta(seconds=20)
    life.wait(20)
    life.step()
    life.start()
    life.wait(601)
    life.exit(1)
    life.wait(300)
    life.step()
    assert life.record.of("main").backoff == timedelta(seconds=10)


def test_one_that_ran_for_long_is_started_again_at_once() -> None:
    life = Life(pod())
    for _ in range(5):
        while not (decision := life.step()).actions:
            assert decision.again is not None
            life.now = decision.again
        life.start()
        life.exit(1)
    assert life.record.of("main").due == life.now + timedelta(seconds=80)
    life.wait(80)
    life.step()
    life.start()
    life.wait(601)
    life.exit(1)
    assert life.step().actions == [Start("main", 6, "x")]


def test_waiting_does_not_count_as_running_long() -> None:
    life = Life(pod())
    life.record.of("main").backoff = timedelta(seconds=300)
    life.step()
    life.start()
    life.wait(400)
    life.exit(1)
    life.wait(300)
    life.step()
    assert life.record.of("main").backoff == timedelta(seconds=300)


def test_a_pod_is_not_over_while_something_of_it_runs() -> None:
    life = Life(pod(restartPolicy="Never"))
    life.step()
    life.start()
    life.step()
    life.record.failure = ("DeadlineExceeded", "too long")
    life.step()
    assert (life.pod.status.phase, life.pod.status.reason) == ("Running", None)
    life.exit(143)
    life.step()
    assert (life.pod.status.phase, life.pod.status.reason) == ("Failed", "DeadlineExceeded")


def test_a_pod_whose_init_container_failed_is_not_over_before_its_sidecars_are() -> None:
    inits = [{"name": "proxy", "image": "x", "restartPolicy": "Always"}, {"name": "init", "image": "x"}]
    life = Life(pod(initContainers=inits, restartPolicy="Never"))
    life.step()
    life.start("proxy")
    life.step()
    life.start("init")
    life.exit(1, "init")
    life.step()
    assert life.pod.status.phase == "Pending"
    life.exit(0, "proxy")
    life.step()
    assert life.pod.status.phase == "Failed"


def test_a_pod_that_is_deleted_before_it_began_has_failed() -> None:
    life = Life(pod())
    life.pod.metadata.deletion_timestamp = life.now
    assert life.step().over
    assert life.pod.status.phase == "Failed"


def test_a_refused_start_is_tried_again_when_it_is_time() -> None:
    life = Life(pod())
    life.step()
    life.record.learn(Refused("main", "ImagePullBackOff", "no", BEGIN + timedelta(seconds=10)))
    decision = life.step()
    assert decision.actions == []
    assert decision.again == BEGIN + timedelta(seconds=10)
    state = life.pod.status.container_statuses[0].state
    assert state is not None
    assert state.waiting is not None
    assert state.waiting.reason == "ImagePullBackOff"
    life.wait(10)
    assert life.step().actions == [Start("main", 0, "x")]


def test_why_a_start_was_refused_is_told_until_another_one_is_not() -> None:
    life = Life(pod())
    life.step()
    refusals = [Refused("main", "ContainerCreating", "no secret", BEGIN + timedelta(seconds=2 * n)) for n in (1, 2)]
    told = []
    for each in refusals:
        life.record.learn(each)
        life.step()
        told.append(deepcopy(life.pod.status))
        life.wait(2)
        assert life.step().actions == [Start("main", 0, "x")]
        told.append(deepcopy(life.pod.status))
    assert all(each == told[0] for each in told), "a status that changes wakes all that watch pods"
    life.start()
    life.step()
    assert life.pod.status.phase == "Running"


def test_a_rule_restarts_what_the_policy_would_not() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    container = {"name": "main", "image": "x", "restartPolicy": "Never", "restartPolicyRules": [rule]}
    made = pod(containers=[container], restartPolicy="Never")
    assert restarts(made, made.spec.containers[0], 42)
    assert not restarts(made, made.spec.containers[0], 1)


def test_a_probe_is_asked_when_it_is_time_and_counts_when_it_has_failed_often_enough() -> None:
    probe = {"tcpSocket": {"port": 1}, "periodSeconds": 5, "initialDelaySeconds": 3, "failureThreshold": 2}
    life = Life(pod(containers=[{"name": "main", "image": "x", "livenessProbe": probe}]))
    life.step()
    life.start()
    assert life.step().again == BEGIN + timedelta(seconds=3)
    life.wait(3)
    assert life.step().actions == [RunProbe("main", "liveness")]
    life.record.learn(Probed("main", "liveness", False, life.now))
    assert life.step().again == BEGIN + timedelta(seconds=8)
    life.wait(5)
    life.step()
    life.record.learn(Probed("main", "liveness", False, life.now))
    [stop] = life.step().actions
    assert isinstance(stop, Stop)
    assert stop.by == life.now + timedelta(seconds=30)


def test_a_shorter_grace_period_shortens_the_end() -> None:
    life = Life(pod())
    life.step()
    life.start()
    life.pod.metadata.deletion_timestamp = life.now + timedelta(seconds=30)
    life.pod.metadata.deletion_grace_period_seconds = 30
    [stop] = life.step().actions
    assert isinstance(stop, Stop)
    assert life.step().actions == []
    life.pod.metadata.deletion_timestamp = life.now + timedelta(seconds=1)
    [sooner] = life.step().actions
    assert isinstance(sooner, Stop)
    assert sooner.by < stop.by


def test_what_is_still_being_started_is_asked_to_end_too() -> None:
    life = Life(pod())
    life.step()
    life.pod.metadata.deletion_timestamp = life.now + timedelta(seconds=30)
    life.pod.metadata.deletion_grace_period_seconds = 30
    [stop] = life.step().actions
    assert isinstance(stop, Stop)
    assert life.step().actions == []
    life.start()
    assert life.step().actions == [stop], "it may not have been there to hear it"
    assert life.step().actions == []


# Any history

POLICIES = st.sampled_from(["Always", "OnFailure", "Never"])


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    kinds = draw(st.lists(st.sampled_from(["init", "sidecar"]), max_size=3))
    init = [
        {"name": f"{kind}-{number}", "image": "x", **({"restartPolicy": "Always"} if kind == "sidecar" else {})}
        for number, kind in enumerate(kinds)
    ]
    mains = [{"name": f"main-{number}", "image": "x"} for number in range(draw(st.integers(1, 2)))]
    return pod(initContainers=init, containers=mains, restartPolicy=draw(POLICIES))


@settings(max_examples=3 * settings().max_examples)
@given(pods(), st.data())
def test_whatever_happens_the_rules_hold(made: Pod, data: st.DataObject) -> None:
    life = Life(made)
    inits = [each.name for each in made.spec.init_containers if not is_sidecar(each)]
    mains = [each.name for each in made.spec.containers]
    finished = ""
    for _ in range(40):
        active = set(life.record.active)
        life.judge()
        was_initialized = initialized(life.pod, life.record)
        decision = life.step()
        starts = [each.container for each in decision.actions if isinstance(each, Start)]
        deleted = life.pod.metadata.deletion_timestamp is not None

        assert not active & set(starts), "what runs is not started"
        assert len({*active, *starts} & set(inits)) <= 1, "init containers run one after the other"
        assert was_initialized or not set(mains) & set(starts), "containers begin when the init containers are done"
        assert not (deleted or finished) or not starts, "what is over does not begin again"
        for name in starts:
            run = life.record.of(name).previous if life.record.of(name).run is None else life.record.of(name).run
            policy = made.spec.restart_policy
            assert run is None or name.startswith("sidecar") or policy != "Never", "Never means never"
            assert run is None or not name.startswith("debugger"), "an ephemeral container begins once"
        assert not (under_way(life.pod, life.record) and not deleted), "who was granted other resources is given them"
        phase = life.pod.status.phase or ""
        assert not finished or phase == finished, "a finished pod stays as it is"
        finished = phase if phase in FINISHED else ""
        assert not finished or not life.record.active, "nothing of what is over runs"
        if finished == "Succeeded":
            assert all(life.record.of(name).exit_code == 0 for name in mains)
        assert decision.over == (deleted and not life.record.active)
        if decision.over:
            return
        if not life.record.active and not ended_for_good(life.pod, life.record):
            assert decision.again is not None or starts, "something is always to come"
        assert status_is_stable(life)

        name = data.draw(st.sampled_from(sorted(life.record.active))) if life.record.active else ""
        match data.draw(st.sampled_from(["happens", "happens", "happens", "waits", "debugged", "resized", "deleted"])):
            case "happens" if name and life.record.of(name).starting:
                life.start(name)
            case "happens" if name:
                life.exit(data.draw(st.sampled_from([0, 0, 1])), name)
            case "debugged":
                number = len(life.pod.spec.ephemeral_containers)
                life.pod.spec.ephemeral_containers.append(EphemeralContainer(name=f"debugger-{number}", image="x"))
            case "resized" if not finished:
                cpu = Quantity(data.draw(st.integers(1, 3)))
                life.pod.spec.containers[0].resources = ResourceRequirements(requests={"cpu": cpu})
                life.record.grant(asked_for(life.pod), None, life.now)
            case "deleted" if not deleted:
                life.pod.metadata.deletion_timestamp = life.now + timedelta(seconds=30)
                life.pod.metadata.deletion_grace_period_seconds = 30
            case _:
                life.wait(data.draw(st.integers(1, 400)))


def status_is_stable(life: Life) -> bool:
    """Telling it again, and telling it from what was told before, says the same."""
    told = codec.to_wire(life.pod.status)
    again = codec.to_wire(status_of(life.pod, life.record, "127.0.0.1", life.now))
    known = record_of(life.pod, life.now)
    codes = {name: each.exit_code for name, each in life.record.containers.items() if not each.starting}
    return told == again and all(known.of(name).exit_code == code for name, code in codes.items())
