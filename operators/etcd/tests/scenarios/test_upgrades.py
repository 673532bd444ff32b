"""Versions: one minor step under load, and one that can't be had."""

import pytest

from scenarios.scene import Scene, condition, identities
from scenarios.waiting import until
from windvane import Invalid, ambient
from windvane.k8s import core

OLD, NEW = "3.4.23", "3.5.1"


async def test_15_an_upgrade_takes_one_member_at_a_time_and_the_leader_last(stage: Scene) -> None:
    await stage.machine.provide(OLD)
    await stage.create(version=OLD)
    before = await stage.settled()
    with pytest.raises(Invalid, match=f"version 3.6.0 can not follow {OLD}"):
        await stage.change(version="3.6.0")
    async with stage.under_load() as load:
        await load.writer.more(50)
        leader = await stage.etcd.member("Leader")
        order: list[str] = []
        fewest = 3

        async def upgraded() -> bool:
            nonlocal fewest
            pods = await stage.etcd.pods()
            fewest = min(fewest, len([each for each in pods if is_ready(each)]))
            new = [each.metadata.name for each in pods if is_ready(each) and image_of(each).endswith(NEW)]
            order.extend(each for each in new if each not in order)
            return len(order) == 3

        with stage.timed():
            await stage.change(version=NEW)
            await until(f"all members are {NEW}", upgraded, within=300, why=stage.log())
            after = await stage.settled()
        assert fewest == 2  # one at a time
        assert identities(after) == identities(before)
        assert order[-1] == leader
    assert load.writer.longest_gap() < 5


async def test_17_a_version_that_can_not_be_had_stops_at_the_first_member(stage: Scene) -> None:
    await stage.create()
    before = await stage.settled()
    async with stage.under_load() as load:
        await load.writer.more(50)
        pods = {pod.metadata.name: pod.metadata.uid for pod in await stage.etcd.pods()}
        with stage.timed():
            await stage.change(version="3.5.99")
            stuck = await stage.until(
                "the status says what is wrong",
                lambda it: condition(it, "Degraded").status == "True" and "3.5.99" in condition(it, "Degraded").message,
            )
        await load.writer.more(50)
        kept = {pod.metadata.name: pod.metadata.uid for pod in await stage.etcd.pods()}
        assert len(kept.items() & pods.items()) == 2
        assert stuck.status.version == "3.5.1"
        await stage.change(version="3.5.1")
        after = await stage.settled(within=180)
        assert identities(after) == identities(before)
    assert load.writer.longest_gap() < 5


async def test_31_an_image_that_could_not_be_had_for_long_costs_no_volume_when_it_is_not_asked_for_any_more(
    stage: Scene,
) -> None:
    await stage.create(replaceAfter="10s")
    before = await stage.settled()
    async with stage.observed() as load:  # by one operator, which has seen how long it took
        await load.writer.more(50)
        claims = await stage.claims()
        with stage.timed():
            await stage.change(version="3.5.99")
            await stage.until("a member is without an image", lambda it: "3.5.99" in condition(it, "Degraded").message)
            await ambient.sleep(15)
            await stage.change(version="3.5.1")
            after = await stage.settled(within=180)
        assert identities(after) == identities(before)
        assert await stage.claims() == claims
    assert load.writer.longest_gap() < 5


def is_ready(pod: core.Pod) -> bool:
    """Whether a pod is Ready, and not about to go."""
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return ready and pod.metadata.deletion_timestamp is None


def image_of(pod: core.Pod) -> str:
    """What a member's pod runs."""
    return pod.spec.containers[0].image or ""
