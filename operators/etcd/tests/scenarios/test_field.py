"""What operators of others got wrong in the field, beyond the twenty scenarios."""

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from scenarios.machine import NAMESPACE
from scenarios.scene import NAME, Scene, identities
from scenarios.waiting import until
from scenarios.writer import Writer
from windvane import NotFound
from windvane.k8s import core


async def test_21_a_cluster_that_is_deleted_and_made_again_goes_on_with_its_data(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    writer = Writer(await stage.etcd.service())
    async with writer.writing():
        await writer.more(50)
    claims = await stage.claims()
    with stage.timed():
        async with stage.operator.killed_at_random(stage.seed):
            await stage.machine.client.delete(EtcdCluster, NAME, namespace=NAMESPACE)
            await until("all is gone but the volumes", lambda: gone(stage), within=60, why=stage.log())
            assert await stage.claims() == claims
            await stage.create()
            after = await stage.settled()
    assert identities(after) == identities(before)
    assert await writer.missing(await stage.etcd.service(patience=10)) == []


async def test_22_a_pod_that_is_deleted_comes_back_as_the_same_member(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        victim = await stage.etcd.member("Follower")
        pod = await stage.machine.client.get(core.Pod, victim, namespace=NAMESPACE)
        with stage.timed():
            await stage.machine.client.delete(core.Pod, victim, namespace=NAMESPACE)

            async def another() -> bool:
                return pod.metadata.uid not in {each.metadata.uid for each in await stage.etcd.pods()}

            await until("the pod is another one", another, within=60)
            after = await stage.settled()
        assert identities(after) == identities(before)
        assert load.membership.ids() == set(identities(before).values())
    assert load.writer.longest_gap() < 5


async def test_23_the_first_member_is_killed_while_one_becomes_three(stage: Scene) -> None:
    await stage.create(replicas=1)
    await stage.settled(1)
    async with stage.under_load() as load:
        with stage.timed():
            await stage.change(replicas=3)
            for members in (2, 3):
                await until("there is one more", lambda: at_least(stage, members), within=120, why=stage.log())  # noqa: B023 - it is awaited here
                await stage.machine.crash(names.member(NAME, 0))
            await stage.settled(3, within=180)
        await load.writer.more(10)


async def gone(stage: Scene) -> bool:
    """Whether the EtcdCluster and its pods are gone."""
    try:
        await stage.cluster()
    except NotFound:
        return not await stage.etcd.pods()
    return False


async def at_least(stage: Scene, members: int) -> bool:
    """Whether etcd has so many members or more."""
    return len(await stage.etcd.members()) >= members
