"""Whatever befalls a cluster and its operator, what was acknowledged is there, and in the end all is as asked for.

The operator's own pass is run, on a model of etcd and of what it runs on: see model/. `LIVES=10000
HYPOTHESIS_PROFILE=explore` tries many that nobody has tried before.
"""

import asyncio
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from etcd_operator.api import EtcdClusterStatus
from etcd_operator.etcd import EtcdError
from etcd_operator.versions import Version, refusal
from etcd_operator.world import BLINK, quorum
from model.machine import Machine
from model.operating import Luck, Operating
from model.raft import NOT_NAMED, Process, Raft
from windvane import Quantity
from worlds import cluster

VERSIONS = ["3.4.23", "3.5.0", "3.5.1", "3.6.0", "3.6.1"]
ROUNDS = 300
"""After so many passes without a fault everything must be as asked for."""

ordinals = st.integers(0, 8)


class AnyLife(RuleBasedStateMachine):
    """Faults, wishes and passes, in any order."""

    machine: Machine

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()

    @initialize(
        replicas=st.integers(1, 5),
        version=st.sampled_from(VERSIONS[:3]),
        patience=st.sampled_from(["20s", "5m"]),
        calm=st.booleans(),
    )
    def made(self, replicas: int, version: str, patience: str, calm: bool) -> None:
        there = cluster(replicas=replicas, version=version, replaceAfter=patience, status=EtcdClusterStatus())
        self.machine = Machine(there)
        self.operating = Operating(self.machine)
        self.written = 0
        if calm:
            self._until_settled()

    # The operator

    @rule(
        writes=st.one_of(st.just(1000), st.integers(0, 8)),
        fate=st.sampled_from(["heard", "heard", "answer lost", "request lost"]),
        deaf=st.frozensets(ordinals, max_size=2),
        stale=st.frozensets(st.sampled_from(["pods", "claims", "sets"])),
    )
    def the_operator_makes_a_pass(self, writes: int, fate: str, deaf: frozenset[int], stale: frozenset[str]) -> None:
        luck = Luck(writes, fate == "answer lost", fate == "request lost", deaf, stale)
        self.loop.run_until_complete(self.operating.reconcile(luck))
        self.machine.raft.now += 1

    @rule(passes=st.integers(1, 12))
    def all_goes_well_for_a_while(self, passes: int) -> None:
        for _ in range(passes):
            self._pass_and_round()

    @rule(seconds=st.sampled_from([30, 400]))
    def the_operator_looks_on_for_a_while(self, seconds: int) -> None:
        """And nobody else does anything."""
        for _ in range(0, seconds, 10):
            self.loop.run_until_complete(self.operating.reconcile())
            self.machine.raft.now += 10

    # What goes on by itself

    @rule()
    def the_statefulset_is_seen_to(self) -> None:
        self.machine.controller()

    @rule(ordinal=ordinals)
    def a_kubelet_sees_to_a_pod(self, ordinal: int) -> None:
        self.machine.kubelet(ordinal)

    @rule()
    def members_talk(self) -> None:
        self.machine.raft.turn()

    @rule(seconds=st.sampled_from([1, 10, 400]))
    def time_passes(self, seconds: int) -> None:
        self.machine.raft.now += seconds
        self.operating.cache.clear()  # which is never behind for seconds

    @rule(first=ordinals)
    def a_client_writes(self, first: int) -> None:
        try:
            self.machine.raft.write(self.written, first=first)
        except EtcdError:
            return
        self.written += 1

    @rule(seconds=st.sampled_from([10, 45, 400]))
    def everything_hangs(self, seconds: int) -> None:
        """As on a laptop that was shut: members, kubelets, and the operator."""
        self.machine.raft.pause(seconds, unseen=BLINK.total_seconds())

    # Wishes

    @rule(replicas=st.integers(1, 9))
    def another_size_is_asked_for(self, replicas: int) -> None:
        self.machine.cluster.spec.replicas = replicas

    @rule(version=st.sampled_from(VERSIONS))
    def another_version_is_asked_for(self, version: str) -> None:
        runs, asked = self.machine.cluster.status.version, self.machine.cluster.spec.version
        wanted = Version.of(version)
        if runs and wanted >= Version.of(asked) and not refusal(Version.of(runs), wanted):
            self.machine.cluster.spec.version = version

    @rule()
    def larger_volumes_are_asked_for(self) -> None:
        self.machine.cluster.spec.storage_size += Quantity("1Gi")

    @rule()
    def the_cluster_is_deleted_and_made_again(self) -> None:
        """Its volumes are retained; but for those whose claims were deleted, which go with the pods."""
        if not all(self._may_lose_pod(each) for each in self.machine.pods):
            return
        for ordinal in list(self.machine.pods):
            self.machine.pods[ordinal].deleting = True
            self.machine.kubelet(ordinal)
        self.machine.cluster.status = EtcdClusterStatus()
        self.machine.cluster.metadata.uid = self.machine.uid()
        self.machine.stateful_set = self.machine.told = None
        self.operating = Operating(self.machine)

    # Faults

    @rule(versions=st.frozensets(st.sampled_from(VERSIONS)))
    def images_can_not_be_had(self, versions: frozenset[str]) -> None:
        self.machine.images_missing = set(versions)

    @rule(ordinal=ordinals)
    def a_member_is_killed(self, ordinal: int) -> None:
        if (pod := self.machine.pods.get(ordinal)) is not None:
            self.machine.end(pod)

    @rule(which=st.frozensets(ordinals, min_size=1))
    def members_hang(self, which: frozenset[int]) -> None:
        for process in self._processes(which):
            self.machine.raft.freeze(process)

    @rule(which=st.frozensets(ordinals, min_size=1))
    def members_go_on(self, which: frozenset[int]) -> None:
        for process in self._processes(which):
            self.machine.raft.thaw(process)

    def _processes(self, which: frozenset[int]) -> list[Process]:
        pods = [self.machine.pods[each] for each in sorted(which) if each in self.machine.pods]
        return [each.process for each in pods if each.process is not None and not each.process.last_words]

    @rule(ordinal=ordinals)
    def a_pod_is_deleted(self, ordinal: int) -> None:
        if (pod := self.machine.pods.get(ordinal)) is not None and self._may_lose_pod(ordinal):
            pod.deleting = True

    @rule(ordinal=ordinals)
    def a_volume_is_wiped(self, ordinal: int) -> None:
        if self._may_lose(ordinal):
            self.a_member_is_killed(ordinal)
            self.machine.claims[ordinal].data = None

    @rule(ordinal=ordinals)
    def a_volume_is_damaged(self, ordinal: int) -> None:
        if self._may_lose(ordinal) and (data := self.machine.claims[ordinal].data) is not None:
            self.a_member_is_killed(ordinal)
            data.damaged = True

    @rule(ordinal=ordinals)
    def a_claim_is_deleted(self, ordinal: int) -> None:
        if self._may_lose(ordinal):
            self.machine.claims[ordinal].deleting = True
            self.operating.cache.pop("claims", None)  # in the moment before it is seen, nobody could know better

    def _may_lose(self, ordinal: int) -> bool:
        """Whether a quorum of disks stays, if this one goes."""
        claim = self.machine.claims.get(ordinal)
        if claim is None:
            return False
        mine = claim.data.member if claim.data else ""
        voters, intact = self.machine.raft.voters(), set(self.machine.intact())
        return bool(voters) and len(intact - {mine}) >= quorum(len(voters))

    def _may_lose_pod(self, ordinal: int) -> bool:
        """Whether its volume stays, or is not needed: since its claim was deleted, another member may have gone."""
        claim = self.machine.claims.get(ordinal)
        return claim is None or not claim.deleting or claim.data is None or self._may_lose(ordinal)

    # What must be so

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        raft = self.machine.raft
        assert not raft.lost
        assert not raft.rejoined

    def teardown(self) -> None:
        try:
            self.members_go_on(frozenset(range(9)))
            self.machine.images_missing = set()
            self._until_settled()
            writes = [self._pass_and_round() for _ in range(3)]
            assert writes[-1] == 0, "a settled cluster is written to"
        finally:
            self.loop.close()

    def _until_settled(self) -> None:
        for _ in range(ROUNDS):
            self._pass_and_round()
            self.nothing_acknowledged_is_lost()
            settled = self.operating.conditions["Progressing"][1] == "Settled"
            if settled and self.operating.conditions["Ready"][0] and self.machine.is_as_asked_for():
                return
        raise AssertionError(f"not settled: {self.operating.conditions}, {self.machine.raft.config()}")

    def _pass_and_round(self) -> int:
        writes = self.loop.run_until_complete(self.operating.reconcile())
        self.machine.raft.now += 2
        self.machine.round()
        return writes


AnyLife.TestCase.settings = settings(
    max_examples=int(os.environ.get("LIVES", settings().max_examples)),
    stateful_step_count=40,
    deadline=None,
    derandomize=os.environ.get("HYPOTHESIS_PROFILE") != "explore",
    database=None,
    suppress_health_check=list(HealthCheck),
)
TestAnyLife = AnyLife.TestCase


async def test_a_paused_cluster_is_only_looked_at() -> None:
    machine = Machine(cluster(replicas=3, paused=True, status=EtcdClusterStatus()))
    operating = Operating(machine)
    for _ in range(3):
        await operating.reconcile()
        machine.round()
    assert (machine.stateful_set, machine.told) == (None, None)
    assert operating.conditions["Progressing"][1] == "Paused"


async def test_a_member_that_failed_before_it_was_let_in_may_be_slow_to_answer_once() -> None:
    machine = Machine(cluster(replicas=3, status=EtcdClusterStatus()))
    operating = Operating(machine)
    for _ in range(30):
        await operating.reconcile()
        machine.raft.now += 2
        machine.round()
    machine.pods[1].restarts, machine.pods[1].last_words = 1, NOT_NAMED
    await operating.reconcile(Luck(deaf=frozenset({1})))
    assert len(machine.raft.config()) == 3


async def test_a_majority_that_hung_for_long_and_goes_on_keeps_its_volumes() -> None:
    machine = Machine(cluster(replicas=3, replaceAfter="20s", status=EtcdClusterStatus()))
    operating = Operating(machine)
    for _ in range(30):
        await operating.reconcile()
        machine.raft.now += 2
        machine.round()
    hanging = [machine.pods[each].process for each in (1, 2)]
    before = (machine.raft.config(), {each.uid for each in machine.claims.values()})
    for each in filter(None, hanging):
        machine.raft.freeze(each)
    for _ in range(45):
        await operating.reconcile()
        machine.raft.now += 1
        for ordinal in range(3):
            machine.kubelet(ordinal)
    assert operating.conditions["Available"][1] == "QuorumLost"
    for each in filter(None, hanging):
        machine.raft.thaw(each)  # the first of them makes a quorum; the other has yet to hear of the leader
    for _ in range(5):
        await operating.reconcile()
        machine.raft.now += 1
    machine.round()
    assert (machine.raft.config(), {each.uid for each in machine.claims.values()}) == before


async def settled(**spec: Any) -> tuple[Machine, Operating]:
    """Three members that are as asked for."""
    machine = Machine(cluster(replicas=3, status=EtcdClusterStatus(), **spec))
    operating = Operating(machine)
    for _ in range(30):
        await pass_and_round(machine, operating)
    return machine, operating


async def pass_and_round(machine: Machine, operating: Operating, seconds: float = 2) -> None:
    await operating.reconcile()
    machine.raft.now += seconds
    machine.round()


def all_of_it(machine: Machine) -> object:
    """Who the members are, and their volumes."""
    return machine.raft.config(), {each.uid for each in machine.claims.values()}


async def test_a_version_that_could_not_be_had_for_long_costs_no_volume_when_it_is_taken_back() -> None:
    machine, operating = await settled(replaceAfter="20s")
    before = all_of_it(machine)
    machine.images_missing = {"3.5.2"}
    machine.cluster.spec.version = "3.5.2"
    for _ in range(100):
        await pass_and_round(machine, operating)
    assert operating.conditions["Degraded"][0]
    machine.cluster.spec.version = "3.5.1"
    for _ in range(30):
        await pass_and_round(machine, operating)
    assert machine.is_as_asked_for()
    assert all_of_it(machine) == before


async def test_nor_when_the_image_is_there_at_last() -> None:
    machine, operating = await settled(replaceAfter="20s")
    before = all_of_it(machine)
    machine.images_missing = {"3.5.1"}
    machine.pods[2].deleting = True
    for _ in range(100):
        await pass_and_round(machine, operating)
    assert operating.conditions["Degraded"][0]
    machine.images_missing = set()
    machine.kubelet(2)  # it is started, and has not heard of a leader yet
    for _ in range(30):
        await pass_and_round(machine, operating)
    assert machine.is_as_asked_for()
    assert all_of_it(machine) == before


async def test_a_pause_of_all_is_nobodys_absence() -> None:
    """As on a laptop that was shut. One member had just been restarted, and is up a moment later."""
    machine, operating = await settled(replaceAfter="20s")
    before = all_of_it(machine)
    machine.end(machine.pods[2])
    await operating.reconcile()
    machine.raft.pause(45, unseen=BLINK.total_seconds())
    await operating.reconcile()
    for _ in range(10):
        await pass_and_round(machine, operating)
    assert all_of_it(machine) == before


# The model can fail: what the operator must never allow does harm here.

URLS = [f"http://prod-{each}" for each in range(3)]
EVERYBODY = ("existing", ",".join(f"prod-{each}={url}" for each, url in enumerate(URLS)))


def three_voters() -> Raft:
    """Three members that are up."""
    raft = Raft()
    raft.start(None, "prod-0", URLS[0], "3.5.1", ("new", f"prod-0={URLS[0]}"))
    for ordinal in (1, 2):
        raft.now += 10
        raft.turn()
        raft.add_learner(URLS[ordinal])
        joining = ",".join(f"prod-{each}={url}" for each, url in enumerate(URLS[: ordinal + 1]))
        raft.start(None, f"prod-{ordinal}", URLS[ordinal], "3.5.1", ("existing", joining))
        raft.turn()  # it tells its name
        raft.turn()  # and has all, its own name included
        raft.promote(raft.config()[-1].id)
        raft.turn()
    return raft


def test_a_vote_without_a_memory_loses_what_was_acknowledged() -> None:
    raft = three_voters()
    holders, behind = raft.up[:2], raft.up[2]
    raft.write(1, first=0)  # on the first two
    assert behind.data.index < holders[1].data.index
    for each in holders:
        raft.end(each, "killed")
    raft.start(None, "prod-1", URLS[1], "3.5.1", EVERYBODY)  # its disk was wiped, and it is let in again
    raft.elect()
    assert raft.rejoined == [holders[1].data.member]
    assert raft.lost == [1]


def test_a_member_that_is_only_away_loses_nothing() -> None:
    raft = three_voters()
    holders = raft.up[:2]
    raft.write(1, first=0)
    for each in holders:
        raft.end(each, "killed")
    raft.start(holders[1].data, "prod-1", URLS[1], "3.5.1", EVERYBODY)
    raft.elect()
    assert raft.leader == holders[1].data.member
    assert not raft.lost
