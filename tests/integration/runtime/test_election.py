"""Leader election: one replica leads, and the next never begins before the last has stopped writing."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from integration.runtime.world import World
from windvane import APIStatus, Client, Conflict, FateUnknown, ObjectMeta, ambient
from windvane.client.transport import Request
from windvane.k8s.coordination import Lease
from windvane.k8s.core import ConfigMap, Namespace
from windvane.runtime.coordination.leader_election import DEADLINE, DURATION, Election, Fence, LeadershipLost
from windvane.sim.fault_injection import NetworkFaults


class Replica:
    """A process that takes part, and writes down when it led."""

    def __init__(self, world: World, name: str) -> None:
        self.weather = NetworkFaults()
        self.client = world._client(self.weather)
        self.election = Election(self.client, "operator", identity=name)
        self.terms: list[tuple[float, float]] = []
        self.task = world.start(self._live())

    async def _live(self) -> None:
        while True:
            await self.election.acquire()
            began = ambient.monotonic()
            try:
                await self.election.keep_renewing()
            finally:
                self.terms.append((began, ambient.monotonic()))

    @property
    def leads(self) -> bool:
        return self.election.leading


async def test_the_first_candidate_leads(world: World) -> None:
    replica = Replica(world, "a")
    await world.until(lambda: replica.leads)
    lease = await world.admin.get(Lease, "operator")
    assert (lease.spec.holder_identity, lease.spec.lease_duration_seconds) == ("a", 15)


async def test_it_leads_for_as_long_as_it_renews(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(600)
    assert first.leads
    assert not second.leads
    lease = await world.admin.get(Lease, "operator")
    assert lease.spec.renew_time is not None
    assert (ambient.now() - lease.spec.renew_time).total_seconds() < 3


async def test_of_many_candidates_one_leads(world: World) -> None:
    replicas = [Replica(world, name) for name in "abcdefgh"]
    await ambient.sleep(10)
    assert sum(each.leads for each in replicas) == 1


async def test_the_next_leads_when_the_first_has_been_silent_for_the_length_of_the_lease(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(60)
    first.task.cancel()
    died = ambient.monotonic()
    await world.until(lambda: second.leads)
    assert DURATION - 3 <= ambient.monotonic() - died <= DURATION + 3
    assert (await world.admin.get(Lease, "operator")).spec.lease_transitions == 1


async def test_a_leader_that_is_cut_off_stops_before_another_begins(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(60)
    first.weather.fall()
    await world.until(lambda: second.leads)
    began = ambient.monotonic()
    assert not first.leads
    assert first.terms, "it still believed in its lease"
    assert began - first.terms[0][1] >= DURATION - DEADLINE - 1


async def test_a_request_that_hangs_does_not_keep_a_leader_in_its_belief(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(60)
    first.weather.delay = 1000.0
    await world.until(lambda: second.leads)
    assert not first.leads
    assert first.terms


async def test_it_comes_back_as_a_candidate(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(60)
    first.weather.fall()
    await world.until(lambda: second.leads)
    first.weather.clear()
    second.weather.fall()
    await world.until(lambda: first.leads)


async def test_a_lease_that_is_given_back_is_free_at_once(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(30)
    first.task.cancel()
    stopped = ambient.monotonic()
    await first.election.release()
    await world.until(lambda: second.leads)
    assert ambient.monotonic() - stopped <= 3


async def test_a_short_outage_costs_nobody_the_lease(world: World) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    second = Replica(world, "b")
    await ambient.sleep(30)
    first.weather.fall()
    await ambient.sleep(5)
    first.weather.clear()
    await ambient.sleep(60)
    assert first.leads
    assert not first.terms
    assert not second.leads


async def test_a_lease_that_somebody_deletes_is_made_again(world: World) -> None:
    replica = Replica(world, "a")
    await world.until(lambda: replica.leads)
    await world.admin.delete(Lease, "operator")
    await ambient.sleep(20)
    assert replica.leads
    assert (await world.admin.get(Lease, "operator")).spec.holder_identity == "a"


async def test_a_lease_that_somebody_takes_is_lost_at_once(world: World) -> None:
    replica = Replica(world, "a")
    await world.until(lambda: replica.leads)
    while True:
        lease = await world.admin.get(Lease, "operator")
        lease.spec.holder_identity = "somebody"
        try:
            await world.admin.replace(lease)
            break
        except Conflict:
            continue
    await world.until(lambda: replica.terms)
    assert not replica.leads


async def test_a_candidate_says_once_who_leads(world: World, caplog: pytest.LogCaptureFixture) -> None:
    first = Replica(world, "a")
    await world.until(lambda: first.leads)
    with caplog.at_level(logging.INFO, "windvane.runtime.coordination.leader_election"):
        Replica(world, "b")
        await ambient.sleep(60)
    assert [each.message for each in caplog.records] == ["b stands by: a has lease default/operator"]


def forbid_leases(request: Request) -> APIStatus | None:
    if "/leases" in request.path:
        return APIStatus(status="Failure", code=403, reason="Forbidden", message="leases is forbidden")
    return None


async def test_a_candidate_that_may_not_touch_the_lease_says_once_what_to_grant(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    replica = Replica(world, "a")
    replica.weather.refuse = forbid_leases
    await ambient.sleep(60)
    assert [each.message for each in caplog.records] == [
        (
            "lease default/operator: leases is forbidden. Grant the verbs get, create and update on "
            "leases.coordination.k8s.io in namespace default to the operator"
        )
    ]
    replica.weather.clear()
    await world.until(lambda: replica.leads)


async def test_a_lease_in_a_namespace_that_is_not_there_is_explained(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    election = Election(world.client(), "operator", namespace="nowhere", identity="a")
    world.start(election.acquire())
    await ambient.sleep(60)
    assert [each.message for each in caplog.records] == [
        'lease nowhere/operator: namespaces "nowhere" not found. Make the namespace, or name another for the lease'
    ]


async def test_a_lease_in_a_namespace_that_is_being_deleted_is_no_matter_of_rights(world: World) -> None:
    await world.admin.create(Namespace(metadata=ObjectMeta(name="going")))
    held = ConfigMap(metadata=ObjectMeta(name="held", namespace="going", finalizers=["example.com/held"]))
    await world.admin.create(held)
    await world.admin.delete(Namespace, "going")
    election = Election(world.client(), "operator", namespace="going", identity="a")
    world.start(election.acquire())
    await world.until(lambda: "because it is being terminated" in election.problem)
    assert election.problem.endswith(". Make the namespace anew, or name another for the lease")


async def fenced(world: World, replica: Replica) -> Client:
    return Client(Fence(replica.client.calls.transport, replica.election))


WRITES: list[Callable[[Client], Awaitable[object]]] = [
    lambda client: client.create(ConfigMap(metadata=ObjectMeta(name="a"))),
    lambda client: client.patch(ConfigMap, "a", {"data": {}}),
    lambda client: client.delete(ConfigMap, "a"),
]


@pytest.mark.parametrize("write", WRITES, ids=["create", "patch", "delete"])
async def test_behind_the_fence_only_the_leader_writes(
    world: World, write: Callable[[Client], Awaitable[object]]
) -> None:
    replica = Replica(world, "a")
    client = await fenced(world, replica)
    with pytest.raises(LeadershipLost, match="was not sent: this replica does not lead"):
        await write(client)
    assert await client.list(ConfigMap) is not None
    await world.until(lambda: replica.leads)
    await client.create(ConfigMap(metadata=ObjectMeta(name="b")))


async def test_a_leader_that_wakes_from_a_pause_does_not_write(world: World) -> None:
    replica = Replica(world, "a")
    client = await fenced(world, replica)
    await world.until(lambda: replica.leads)
    # All that a paused process notices: its next step comes much later than the one before.
    loop = asyncio.get_running_loop()
    loop.advance(60)  # type: ignore[attr-defined]
    with pytest.raises(LeadershipLost):
        await client.create(ConfigMap(metadata=ObjectMeta(name="a")))


async def test_a_write_that_is_slow_on_its_way_is_given_up_before_another_replica_may_begin(world: World) -> None:
    replica = Replica(world, "a")
    client = await fenced(world, replica)
    await world.until(lambda: replica.leads)
    renewed = ambient.monotonic()
    replica.weather.fall()
    await ambient.sleep(DEADLINE - 1)
    replica.weather.clear()
    replica.weather.delay = 9.0  # it would arrive 18 seconds after the last renewal
    with pytest.raises(FateUnknown):
        await client.create(ConfigMap(metadata=ObjectMeta(name="late")))
    assert ambient.monotonic() - renewed <= DURATION
    await ambient.sleep(60)
    assert [each.metadata.name for each in await world.admin.list(ConfigMap)] == []
