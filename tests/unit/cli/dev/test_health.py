"""How an object is, in a line, from its bytes."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windvane.api.kind import Kind
from windvane.api.resource import kind_of
from windvane.cli.dev.view.health import read
from windvane.cli.dev.view.wording import Tone
from windvane.k8s import apps, batch, core

SITE = Kind(group="demo.windvane.dev", version="v1", name="Site", plural="sites")
POD, DEPLOYMENT, JOB = kind_of(core.Pod), kind_of(apps.Deployment), kind_of(batch.Job)
CLAIM, SETS, DAEMONS = kind_of(core.PersistentVolumeClaim), kind_of(apps.StatefulSet), kind_of(apps.DaemonSet)


def condition(type_: str, status: str, reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "message": message}


def conditions(*found: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"status": {"conditions": list(found), **more}}


def container(restarts: int = 0, ready: bool = False, **state: Any) -> dict[str, Any]:
    return {"name": "main", "ready": ready, "restartCount": restarts, "state": state, "containerID": "x://1"}


def pod(phase: str, *containers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"status": {"phase": phase, "containerStatuses": list(containers), **more}}


UP = container(ready=True, running={})
LAST = {"terminated": {"exitCode": 3}}
WAITING = {"type": "Ready", "status": "False", "reason": "Waiting", "message": "no Secret"}
TABLE: list[tuple[Kind, dict[str, Any], Tone, str]] = [
    (SITE, {}, Tone.QUIET, ""),
    (SITE, {"status": "up"}, Tone.QUIET, ""),
    (SITE, conditions(condition("Ready", "True", "Reconciled")), Tone.GOOD, "✓ Ready Reconciled"),
    (SITE, conditions(condition("Ready", "True", "Ready", "2 of 2")), Tone.GOOD, "✓ Ready: 2 of 2"),
    (SITE, conditions(WAITING), Tone.WAITING, "◌ Waiting: no Secret"),
    (SITE, conditions(condition("Ready", "False", "NotReady", "1 of 2")), Tone.WAITING, "◌ NotReady: 1 of 2"),
    (SITE, conditions(condition("Ready", "Unknown")), Tone.WAITING, "◌ NotReady"),
    (SITE, conditions(condition("Ready", "False", "Fatal", "no")), Tone.BAD, "✗ Fatal: no"),
    (SITE, conditions(condition("Ready", "False", "ValueError", "no")), Tone.BAD, "✗ ValueError: no"),
    (SITE, conditions(condition("Available", "False", "Few")), Tone.WAITING, "◌ NotAvailable Few"),
    (
        SITE,
        conditions(condition("Backup", "False", "Late"), condition("Ready", "True", "Ready")),
        Tone.GOOD,
        "✓ Ready  Backup=False(Late)",
    ),
    (
        SITE,
        {"metadata": {"generation": 3}} | conditions(condition("Ready", "True", "Ready"), observedGeneration=2),
        Tone.WAITING,
        "◌ Ready=True was said of an earlier spec",
    ),
    (
        SITE,
        {"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["a.b/c"]}},
        Tone.WAITING,
        "◌ being deleted: waits for a.b/c",
    ),
    (POD, {}, Tone.WAITING, "◌ Pending"),
    (POD, pod("Running", UP), Tone.GOOD, "✓ Running 1/1"),
    (POD, pod("Running", container(2, running={}), UP), Tone.WAITING, "◌ Running 1/2  2 restarts"),
    (POD, pod("Pending", container(waiting={"reason": "ContainerCreating"})), Tone.WAITING, "◌ ContainerCreating"),
    (POD, pod("Pending", container(waiting={"reason": "ErrImagePull"})), Tone.BAD, "✗ ErrImagePull"),
    (
        POD,
        pod("Running", container(5, waiting={"reason": "CrashLoopBackOff"}) | {"lastState": LAST}),
        Tone.BAD,
        "✗ CrashLoopBackOff: exit code 3  5 restarts",
    ),
    (POD, pod("Running", container(terminated={"exitCode": 1, "reason": "Error"})), Tone.BAD, "✗ Error: exit code 1"),
    (
        POD,
        pod("Pending", conditions=[condition("PodScheduled", "False", "Unschedulable", "0 of 1 nodes")]),
        Tone.WAITING,
        "◌ Pending: 0 of 1 nodes",
    ),
    (POD, pod("Succeeded", container(terminated={"exitCode": 0})), Tone.QUIET, "· Completed"),
    (POD, pod("Failed", reason="Evicted"), Tone.BAD, "✗ Failed: Evicted"),
    (DEPLOYMENT, {"spec": {"replicas": 3}, "status": {"readyReplicas": 3}}, Tone.GOOD, "✓ 3/3 ready"),
    (DEPLOYMENT, {"spec": {"replicas": 3}}, Tone.WAITING, "◌ 0/3 ready"),
    (DEPLOYMENT, {"spec": {"replicas": 0}}, Tone.QUIET, "· no replicas"),
    (
        DEPLOYMENT,
        {"spec": {"replicas": 1}} | conditions(condition("Progressing", "False", "Late", "no progress")),
        Tone.BAD,
        "✗ 0/1 ready: no progress",
    ),
    (
        SETS,
        {"spec": {"replicas": 3}, "status": {"readyReplicas": 3, "updatedReplicas": 1}},
        Tone.WAITING,
        "◌ 3/3 ready  1 of 3 updated",
    ),
    (DAEMONS, {"status": {"desiredNumberScheduled": 2, "numberReady": 2}}, Tone.GOOD, "✓ 2/2 ready"),
    (JOB, {"status": {"active": 1, "failed": 2}}, Tone.WAITING, "◌ 1 active, 2 failed"),
    (JOB, conditions(condition("Complete", "True")), Tone.GOOD, "✓ Complete"),
    (
        JOB,
        conditions(condition("Failed", "True", "BackoffLimitExceeded", "too often")),
        Tone.BAD,
        "✗ Failed: too often",
    ),
    (CLAIM, {"status": {"phase": "Bound"}}, Tone.GOOD, "✓ Bound"),
    (CLAIM, {"status": {"phase": "Lost"}}, Tone.BAD, "✗ Lost"),
]


@pytest.mark.parametrize(("kind", "wire", "tone", "words"), TABLE)
def test_how_an_object_is(kind: Kind, wire: dict[str, Any], tone: Tone, words: str) -> None:
    health = read(kind, msgspec.json.encode(wire)).health
    assert (health.tone, health.text.plain) == (tone, words)


ANYTHING: st.SearchStrategy[Any] = st.sampled_from([None, True, 3, "True", "Ready", [], {}, [1], {"a": 1}])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any of these fields, each as it should be, or not at all so."""
    present = {name: each | ANYTHING for name, each in fields.items()}
    return st.fixed_dictionaries({}, optional=present) | ANYTHING


STATE = some(
    waiting=some(reason=ANYTHING, message=ANYTHING),
    terminated=some(reason=ANYTHING, exitCode=ANYTHING),
    running=ANYTHING,
)
CONTAINERS = st.lists(
    some(name=ANYTHING, ready=ANYTHING, restartCount=ANYTHING, containerID=ANYTHING, state=STATE, lastState=STATE),
    max_size=2,
)
CONDITIONS = st.lists(
    some(
        type=st.sampled_from(["Ready", "Failed", "Progressing", "ReplicaFailure"]),
        status=st.sampled_from(["True", "False"]),
        reason=ANYTHING,
        message=ANYTHING,
        observedGeneration=ANYTHING,
    ),
    max_size=3,
)
NUMBERS = ("replicas", "readyReplicas", "updatedReplicas", "desiredNumberScheduled", "numberReady", "active", "failed")
PHASES = st.sampled_from(["Running", "Pending", "Succeeded", "Failed", "Bound"])


@given(
    kind=st.sampled_from([SITE, POD, DEPLOYMENT, SETS, DAEMONS, JOB, CLAIM]),
    spec=some(replicas=ANYTHING),
    status=some(
        phase=PHASES,
        reason=ANYTHING,
        message=ANYTHING,
        conditions=CONDITIONS,
        containerStatuses=CONTAINERS,
        initContainerStatuses=CONTAINERS,
        **dict.fromkeys(NUMBERS, ANYTHING),
    ),
)
@settings(max_examples=500)
def test_nothing_that_a_status_may_be_is_too_much(kind: Kind, spec: Any, status: Any) -> None:
    assert read(kind, msgspec.json.encode({"metadata": {}, "spec": spec, "status": status})).health.text is not None
