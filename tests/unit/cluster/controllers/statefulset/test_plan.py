"""Whatever happens to its pods, a StatefulSet keeps its order, never has two of a name, and gets there in the end."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from windvane.api import codec
from windvane.cluster.controllers.statefulset.identity import ordinal_in, ordinals, revision_of, stateful_pod
from windvane.cluster.controllers.statefulset.plan import (
    Action,
    CreatePod,
    DeletePod,
    RetainClaims,
    UpdatePod,
    is_rolling,
    is_well,
    partition,
    plan,
    set_status,
)
from windvane.cluster.controllers.workloads.pod_state import is_ready
from windvane.k8s.apps import RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetUpdateStrategy
from windvane.k8s.core import Pod, PodCondition, PodStatus

START = datetime(2026, 1, 1, tzinfo=UTC)


def statefulset(**spec: Any) -> StatefulSet:
    stated = {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db"}]}},
    } | spec
    return codec.from_wire(
        {"metadata": {"name": "db", "namespace": "default", "uid": "u"}, "spec": stated}, StatefulSet
    )


@dataclass
class World:
    """A set, its pods, and whoever changes them."""

    stateful: StatefulSet
    revision: str = "1"
    now: datetime = START
    pods: dict[str, Pod] = field(default_factory=dict)

    def look(self) -> list[list[Action]]:
        return plan(self.stateful, list(self.pods.values()), self.revision, self.now)

    def do(self, action: Action) -> None:
        match action:
            case CreatePod(ordinal):
                held_back = is_rolling(self.stateful) and ordinal < partition(self.stateful)
                revision = "0" if held_back else self.revision
                pod = stateful_pod(self.stateful, ordinal, self.stateful.spec.template, revision)
                assert pod.metadata.name not in self.pods, "there would be two of a name"
                pod.status.phase = "Pending"
                self.pods[pod.metadata.name] = pod
            case DeletePod(pod):
                assert pod.metadata.deletion_timestamp is None, "it is being deleted already"
                pod.metadata.deletion_timestamp = self.now
                if pod.status.phase in ("Failed", "Succeeded"):
                    del self.pods[pod.metadata.name]
            case UpdatePod() | RetainClaims():
                pass

    # What others do

    def happen(self, what: str, which: int) -> None:
        names = sorted(self.pods)
        pod = self.pods[names[which % len(names)]] if names else None
        match what:
            case "scale":
                self.stateful.spec.replicas = which % 5
            case "update":
                self.revision = str(which % 3 + 1)
            case "partition":
                self.stateful.spec.update_strategy = StatefulSetUpdateStrategy(
                    type="RollingUpdate", rolling_update=RollingUpdateStatefulSetStrategy(partition=which % 4)
                )
            case "pass":
                self.now += timedelta(seconds=which)
            case _ if pod is None:
                pass
            case "delete":
                pod.metadata.deletion_timestamp = pod.metadata.deletion_timestamp or self.now
            case "gone" if pod.metadata.deletion_timestamp is not None:
                del self.pods[pod.metadata.name]
            case "vanish":
                del self.pods[pod.metadata.name]
            case "ready" if pod.status.phase in ("Pending", "Running"):
                self.set_ready(pod, "True")
            case "unready" if pod.status.phase == "Running":
                self.set_ready(pod, "False")
            case "Failed" | "Succeeded" as phase:
                self.set_ready(pod, "False")
                pod.status.phase = phase

    def set_ready(self, pod: Pod, status: str) -> None:
        ready = PodCondition(type="Ready", status=status, last_transition_time=self.now)
        pod.status = PodStatus(phase="Running", conditions=[ready])

    def work_well(self) -> None:
        """All that is wrong on the node mends: what is going goes, what is there becomes ready."""
        for name, pod in list(self.pods.items()):
            if pod.metadata.deletion_timestamp is not None:
                del self.pods[name]
            elif pod.status.phase not in ("Failed", "Succeeded") and not is_ready(pod):
                self.set_ready(pod, "True")
        self.now += timedelta(seconds=60)

    def keep_order(self, rounds: list[list[Action]]) -> None:
        """What the documentation of StatefulSets promises of those that keep an order."""
        acting = [each for actions in rounds for each in actions if isinstance(each, CreatePod | DeletePod)]
        assert len(acting) <= 1, "one thing at a time"
        for action in acting:
            if isinstance(action, CreatePod):
                before = [each for each in ordinals(self.stateful) if each < action.ordinal]
                assert all(self.is_well(each) for each in before), "all before it are well"
            elif action.pod.status.phase not in ("Failed", "Succeeded"):
                ordinal = ordinal_in(action.pod.metadata.name, self.stateful)
                if ordinal not in ordinals(self.stateful):
                    assert ordinal == max(ordinal_in(each, self.stateful) or 0 for each in self.pods), "the last goes"
                else:
                    assert revision_of(action.pod) != self.revision
                    assert ordinal is not None
                    after = [each for each in ordinals(self.stateful) if each > ordinal]
                    assert ordinal >= partition(self.stateful)
                    assert all(self.is_well(each) for each in after), "all after it are updated and well"
                assert all(map(self.is_well, ordinals(self.stateful))), "all that stay are well"

    def is_well(self, ordinal: int) -> bool:
        pod = self.pods.get(f"db-{ordinal}")
        return pod is not None and is_well(pod, self.stateful, self.now)


happenings = st.lists(
    st.tuples(
        st.sampled_from(
            ["look", "look", "look", "scale", "update", "partition", "pass", "delete", "gone", "vanish", "ready",
             "ready", "unready", "Failed", "Succeeded"]
        ),
        st.integers(0, 30),
    ),
    max_size=60,
)  # fmt: skip


def live(world: World, events: list[tuple[str, int]], *, in_order: bool) -> Iterator[None]:
    for what, which in events:
        if what != "look":
            world.happen(what, which)
            continue
        rounds = world.look()
        if in_order:
            world.keep_order(rounds)
        for action in [each for actions in rounds for each in actions]:
            world.do(action)
        yield


@settings(max_examples=3 * settings().max_examples)
@given(events=happenings, policy=st.sampled_from(["OrderedReady", "Parallel"]), min_ready=st.sampled_from([0, 10]))
def test_order_is_kept_and_the_end_is_reached(events: list[tuple[str, int]], policy: str, min_ready: int) -> None:
    world = World(statefulset(podManagementPolicy=policy, minReadySeconds=min_ready))
    for _ in live(world, events, in_order=policy == "OrderedReady"):
        pass
    for _ in range(60):
        for action in [each for actions in world.look() for each in actions]:
            world.do(action)
        world.work_well()
    assert sorted(world.pods) == [f"db-{each}" for each in ordinals(world.stateful)]
    for name, pod in world.pods.items():
        if (ordinal_in(name, world.stateful) or 0) >= partition(world.stateful):
            assert revision_of(pod) == world.revision
    assert not [each for actions in world.look() for each in actions if isinstance(each, CreatePod | DeletePod)]


def test_the_current_revision_is_the_new_one_once_all_pods_have_it() -> None:
    world = World(statefulset(replicas=1))
    world.do(CreatePod(0))
    set_status(world.stateful, list(world.pods.values()), "0", "1", START)
    assert world.stateful.status.current_revision == "0"
    world.work_well()
    set_status(world.stateful, list(world.pods.values()), "0", "1", START)
    assert world.stateful.status.current_revision == "1"
