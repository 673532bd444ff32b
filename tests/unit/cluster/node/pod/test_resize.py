"""Resizes of pods that run: what is granted, what is done, and what is told of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from windvane import ObjectMeta
from windvane.api import codec
from windvane.api.quantity import Quantity
from windvane.cluster.node.pod.lifecycle import decide
from windvane.cluster.node.pod.record import (
    Action,
    Exited,
    NotResized,
    PodRecord,
    Resize,
    Resized,
    Start,
    Started,
    Stop,
)
from windvane.cluster.node.pod.resize import as_granted, asked_for, asks_for_others, described, lacking, under_way
from windvane.cluster.node.pod.status import record_of, status_of
from windvane.k8s.core import Pod, PodSpec

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NODE = {"cpu": Quantity(4), "memory": Quantity("8Gi")}


def pod(cpu: str = "1", memory: str = "1Gi", **spec: Any) -> Pod:
    container: dict[str, Any] = {
        "name": "main",
        "image": "x",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
    }
    if policy := spec.pop("policy", None):
        container["resizePolicy"] = [{"resourceName": "cpu", "restartPolicy": policy}]
    wire = {"containers": [container], **spec}
    return Pod(metadata=ObjectMeta(name="web", uid="u", generation=2), spec=codec.from_wire(wire, PodSpec))


def started(what: Pod) -> PodRecord:
    """What is known of a pod whose container runs."""
    record = PodRecord("u", NOW, granted=asked_for(what))
    acted(what, record)
    record.learn(Started("main", "test://1", NOW))
    return record


def acted(what: Pod, record: PodRecord, now: datetime = NOW) -> list[Action]:
    """What is to be done, and is begun."""
    actions = decide(what, record, now).actions
    for action in actions:
        record.begin(action, now)
    return actions


def cpu_of(what: Pod) -> tuple[Quantity, Quantity]:
    """What a pod tells that its container has, and that it may have."""
    [told] = what.status.container_statuses
    assert told.resources is not None
    return told.resources.requests["cpu"], told.allocated_resources["cpu"]


def test_a_node_has_no_room_beyond_what_others_were_granted() -> None:
    assert lacking(pod("3"), [pod("1")], NODE) == ""
    words = "Node didn't have enough resource: cpu, requested: 3500, used: 1000, capacity: 4000"
    assert lacking(pod("3500m"), [pod("1")], NODE) == words
    words = "Node didn't have enough resource: memory, requested: 8589934592, used: 1, capacity: 8589934592"
    assert lacking(pod("1", "8Gi"), [pod("1", "1")], NODE) == words


def test_a_pod_goes_by_what_it_was_granted_while_it_waits() -> None:
    record = started(pod("1"))
    assert asks_for_others(pod("2"), record)
    assert as_granted(pod("2"), record).spec == pod("1").spec
    record.defer("no room", 2, NOW)
    waiting = as_granted(pod("2"), record)
    waiting.status = status_of(waiting, record, "127.0.0.1", NOW)
    assert cpu_of(waiting) == (Quantity(1), Quantity(1))
    [condition] = [each for each in waiting.status.conditions if each.type == "PodResizePending"]
    assert (condition.reason, condition.message, condition.observed_generation) == ("Deferred", "no room", 2)


def test_another_agent_knows_what_was_granted_and_that_a_resize_waits() -> None:
    before = started(pod("1"))
    before.defer("no room", 2, NOW)
    there = pod("2")
    there.status = status_of(as_granted(there, before), before, "127.0.0.1", NOW)
    record = record_of(there, NOW + timedelta(hours=1))
    assert record.granted == before.granted
    assert record.pending == before.pending
    assert acted(as_granted(there, record), record) == []


def test_another_agent_knows_what_a_pod_as_a_whole_was_granted() -> None:
    before = started(pod(resources={"requests": {"cpu": "2"}}))
    there = pod(resources={"requests": {"cpu": "3"}})
    there.status = status_of(as_granted(there, before), before, "127.0.0.1", NOW)
    assert there.status.allocated_resources == {"cpu": Quantity(2), "memory": Quantity("1Gi")}
    assert record_of(there, NOW).granted == before.granted


def test_a_container_is_given_what_was_granted_and_that_is_told() -> None:
    record, wanted = started(pod("1")), pod("2")
    record.grant(asked_for(wanted), 2, NOW)
    wanted.status = status_of(wanted, record, "127.0.0.1", NOW)
    assert cpu_of(wanted) == (Quantity(1), Quantity(2))
    assert "PodResizeInProgress" in [each.type for each in wanted.status.conditions]
    assert acted(wanted, record) == [Resize("main")]
    assert acted(wanted, record) == []
    assert under_way(wanted, record)
    record.learn(Resized("main", asked_for(wanted)["main"]))
    assert not under_way(wanted, record)
    wanted.status = status_of(wanted, record, "127.0.0.1", NOW)
    assert cpu_of(wanted) == (Quantity(2), Quantity(2))


def test_what_failed_is_tried_again_later_and_told() -> None:
    record, wanted = started(pod("1")), pod("2")
    record.grant(asked_for(wanted), 2, NOW)
    acted(wanted, record)
    later = NOW + timedelta(seconds=10)
    record.learn(NotResized("main", "in use", later))
    assert decide(wanted, record, NOW).again == later
    assert acted(wanted, record, later) == [Resize("main")]
    wanted.status = status_of(wanted, record, "127.0.0.1", NOW)
    [condition] = [each for each in wanted.status.conditions if each.type == "PodResizeInProgress"]
    assert (condition.reason, condition.message) == ("Error", "in use")


def test_a_container_that_says_so_is_started_anew_at_once_whatever_the_restart_policy() -> None:
    record = started(pod("1", policy="RestartContainer", restartPolicy="OnFailure"))
    for size in ("2", "3", "1"):
        wanted = pod(size, policy="RestartContainer", restartPolicy="OnFailure")
        record.grant(asked_for(wanted), 2, NOW)
        [stop] = acted(wanted, record)
        assert isinstance(stop, Stop)
        assert stop.why == "Container main resize requires restart"
        record.learn(Exited("main", 0, NOW))
        assert under_way(wanted, record)
        attempt = record.of("main").attempts
        assert acted(wanted, record) == [Start("main", attempt, "x", wanted.spec.containers[0].resources)]
        record.learn(Started("main", "test://2", NOW))
        assert not under_way(wanted, record)


def test_one_that_says_so_for_cpu_keeps_running_with_other_memory() -> None:
    record, wanted = started(pod(policy="RestartContainer")), pod(memory="2Gi", policy="RestartContainer")
    record.grant(asked_for(wanted), 2, NOW)
    assert acted(wanted, record) == [Resize("main")]


def test_an_event_says_what_is_asked_for_in_a_kubelets_words() -> None:
    assert described("Deferred", pod(), 2, "no room") == (
        'Pod resize Deferred: {"containers":[{"name":"main","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],'
        '"generation":2,"error":"no room"}'
    )
