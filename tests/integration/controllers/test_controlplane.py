"""The controllers beside the API server: what happens when one of them fails, and when all stop."""

import logging

import pytest

from integration.controllers.test_autoscaler import autoscaler, requesting
from integration.controllers.workloads import deployment
from integration.runtime.world import World
from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.client.errors import NotFound
from windvane.cluster.controlplane import Pods, cluster_at_work, keep_running
from windvane.k8s.apps import Deployment
from windvane.k8s.core import Container, Node, Pod, PodSpec, ServiceAccount


class Failing:
    """A part that fails in a way of its own each time, and remembers when it was begun."""

    def __init__(self, seconds_until_it_fails: float = 0.0) -> None:
        self.begun: list[float] = []
        self._seconds = seconds_until_it_fails

    async def run(self) -> None:
        self.begun.append(ambient.monotonic())
        await ambient.sleep(self._seconds)
        raise RuntimeError(f"failure {len(self.begun)}")

    @property
    def pauses(self) -> list[float]:
        return [
            round(later - earlier - self._seconds) for earlier, later in zip(self.begun, self.begun[1:], strict=False)
        ]


async def test_a_part_that_fails_is_begun_again_after_pauses_that_grow(world: World) -> None:
    part = Failing()
    world.start(keep_running("a part", part.run))
    await world.until(lambda: len(part.begun) == 9)
    assert part.pauses == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_a_part_that_was_well_for_minutes_is_begun_again_after_a_second(world: World) -> None:
    part = Failing(seconds_until_it_fails=200)
    world.start(keep_running("a part", part.run))
    await world.until(lambda: len(part.begun) == 3)
    assert part.pauses == [1, 1]


async def test_the_log_says_which_part_failed_and_how(world: World, caplog: pytest.LogCaptureFixture) -> None:
    part = Failing()
    with caplog.at_level(logging.ERROR):
        world.start(keep_running("the part", part.run))
        await world.until(lambda: len(part.begun) == 2)
    assert "the part failed: this is a bug in windvane; it begins again in 1 s" in caplog.text
    assert "failure 1" in caplog.text


async def test_a_part_that_ends_is_begun_again(world: World) -> None:
    ends = 0

    async def end() -> None:
        nonlocal ends
        ends += 1

    world.start(keep_running("a part", end))
    await world.until(lambda: ends == 3)


async def test_controllers_work_within_the_block_and_not_after_it(world: World) -> None:
    async def has_account() -> bool:
        try:
            await world.admin.get(ServiceAccount, "default")
        except NotFound:
            return False
        return True

    async with cluster_at_work(world.server.handle, root_ca=""):
        while not await has_account():
            await ambient.sleep(0.1)
    await world.admin.delete(ServiceAccount, "default")
    await ambient.sleep(60)
    assert not await has_account()


async def test_a_pod_gets_a_node_and_runs(world: World) -> None:
    async with cluster_at_work(world.server.handle, root_ca=""):
        spec = PodSpec(containers=[Container(name="web", image="web")])
        await world.admin.create(Pod(metadata=ObjectMeta(name="web"), spec=spec))
        while (pod := await world.admin.get(Pod, "web")).status.phase != "Running":
            await ambient.sleep(0.1)
    assert pod.spec.node_name == "node-1"


async def test_simulated_pods_are_scaled_by_what_they_are_said_to_use(world: World) -> None:
    template = requesting()
    template["metadata"]["annotations"] = {"windvane.dev/simulate": "cpu=100m memory=64Mi"}
    async with cluster_at_work(world.server.handle, root_ca="", introduced=world.server.introduced):
        await world.admin.create(deployment(1, template=template))
        await world.admin.create(autoscaler(maxReplicas=4))

        async def until(replicas: int) -> float:
            began = ambient.monotonic()
            while (await world.admin.get(Deployment, "web")).status.ready_replicas != replicas:
                await ambient.sleep(1)
                assert ambient.monotonic() < began + 1000
            return ambient.monotonic() - began

        assert await until(4) < 120
        for pod in await world.admin.list(Pod, labels={"app": "web"}):
            quiet = {"metadata": {"annotations": {"windvane.dev/simulate": "cpu=1m"}}}
            await world.admin.patch(Pod, pod.metadata.name, quiet)
        assert 250 < await until(1) < 400


async def test_nodes_that_are_no_longer_started_are_gone_and_their_pods_move(world: World) -> None:
    async def nodes() -> list[str]:
        return [each.metadata.name for each in await world.admin.list(Node)]

    async def placed() -> set[str | None]:
        pods = [each for each in await world.admin.list(Pod) if each.metadata.deletion_timestamp is None]
        return {each.spec.node_name for each in pods} if len(pods) == 4 else set()

    async with cluster_at_work(world.server.handle, root_ca="", pods=Pods(nodes=2)):
        await world.admin.create(deployment(replicas=4))
        while await placed() != {"node-1", "node-2"}:
            await ambient.sleep(1)
    await world.admin.create(Node(metadata=ObjectMeta(name="somebody-elses")))
    async with cluster_at_work(world.server.handle, root_ca=""):
        assert await nodes() == ["node-1", "somebody-elses"]
        while await placed() != {"node-1"}:
            await ambient.sleep(1)
