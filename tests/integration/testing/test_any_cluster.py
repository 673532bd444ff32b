"""One suite on each kind of cluster: in virtual time, with real processes, and on one that a kubeconfig names."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from integration.testing.sites import Site, Sites, site, with_webhooks
from windvane import Context, Forbidden, Invalid, ObjectMeta, Operator, find_condition
from windvane.k8s import apps, core
from windvane.testing import Cluster, NotSettled, VirtualCluster


async def ready_of(cluster: Cluster) -> tuple[str, str]:
    ready = find_condition((await cluster.get(Site, "blog")).status.conditions, "Ready")
    assert ready is not None
    return ready.status, ready.message


async def test_an_operator_makes_the_world_match(any_cluster: Cluster) -> None:
    await any_cluster.run(Sites().operator)
    await any_cluster.apply(site(copies=2))
    await any_cluster.settled()
    assert await ready_of(any_cluster) == ("True", "2 of 2 copies are up")
    assert len(await any_cluster.list(core.Pod, labels={"site": "blog"})) == 2
    async with any_cluster.edit(Site, "blog") as one:
        one.spec.copies = 1
    await any_cluster.settled()
    assert await ready_of(any_cluster) == ("True", "1 of 1 copies are up")
    assert len(await any_cluster.list(core.Pod)) == 1


async def test_a_child_that_is_deleted_comes_back_and_a_settled_world_sees_no_writes(any_cluster: Cluster) -> None:
    replica = await any_cluster.run(Sites().operator)
    one = await any_cluster.apply(site())
    await any_cluster.settled()
    assert any_cluster.writes[:2] == ["apply sites.demo.windvane.dev blog", "apply deployments.apps blog"]
    before = len(any_cluster.writes)
    await any_cluster.settled()
    assert any_cluster.writes[before:] == []
    await any_cluster.delete(apps.Deployment, "blog")
    await any_cluster.settled()
    assert await any_cluster.exists(apps.Deployment, "blog")
    assert any("Deployment blog went" in str(each.triggers) for each in replica.passes(one))


async def test_what_is_deleted_is_finalized(any_cluster: Cluster) -> None:
    sites = Sites()
    await any_cluster.run(sites.operator)
    one = await any_cluster.apply(site())
    await any_cluster.settled()
    await any_cluster.delete(Site, "blog")
    await any_cluster.settled()
    assert sites.retired == ["blog"]
    assert not await any_cluster.exists(Site, "blog")
    assert await any_cluster.list(core.Pod) == []
    assert [each.reason for each in await any_cluster.events(one)] == ["Retired"]


async def test_it_waits_for_what_it_needs(any_cluster: Cluster) -> None:
    await any_cluster.run(Sites().operator)
    await any_cluster.apply(site(secret="key"))
    await any_cluster.settled()
    assert await ready_of(any_cluster) == ("False", "there is no Secret key")
    await any_cluster.apply(core.Secret(metadata=ObjectMeta(name="key", labels={"site": "blog"})))
    await any_cluster.settled()
    assert await ready_of(any_cluster) == ("True", "1 of 1 copies are up")


async def test_what_happens_while_it_is_away_is_made_up_for(any_cluster: Cluster) -> None:
    replica = await any_cluster.run(Sites().operator)
    await any_cluster.apply(site())
    await any_cluster.settled()
    await replica.kill()
    await any_cluster.delete(apps.Deployment, "blog")
    await any_cluster.settled()
    assert await any_cluster.list(core.Pod) == []
    again = await any_cluster.run(Sites().operator)
    await any_cluster.settled()
    assert (await ready_of(any_cluster))[0] == "True"
    await again.stop()


async def test_webhooks_fill_in_and_judge(any_cluster: Cluster) -> None:
    sites = Sites()
    with_webhooks(sites)
    replica = await any_cluster.run(sites.operator)
    with pytest.raises(Invalid, match=r"spec\.image.*say which version"):
        await any_cluster.apply(site(image="nginx:latest"))
    one = await any_cluster.apply(site())
    assert one.metadata.labels["filled-in"] == "yes"
    async with any_cluster.edit(Site, "blog") as one:
        one.metadata.annotations["keep"] = "yes"
    with pytest.raises(Forbidden, match="it is to be kept"):
        await any_cluster.delete(Site, "blog")
    await replica.stop()  # and takes its webhooks along
    await any_cluster.delete(Site, "blog")


async def test_what_never_comes_to_rest_says_what_is_written(any_cluster: Cluster) -> None:
    any_cluster.within = 60.0 if isinstance(any_cluster, VirtualCluster) else 3.0
    operator = Operator("restless")

    @operator.controller(Site)
    async def reconcile(one: Site, ctx: Context) -> None: ...

    @operator.daemon(Site)
    async def scribble(one: Site, ctx: object) -> AsyncIterator[int]:
        for number in range(10_000):
            await asyncio.sleep(0.2)
            await any_cluster.client.patch(Site, "blog", {"metadata": {"annotations": {"number": str(number)}}})
            yield number

    await any_cluster.run(operator)
    await any_cluster.apply(site())
    with pytest.raises(NotSettled, match=r"still being done after .*\n.*test: patch sites\.demo\.windvane\.dev blog"):
        await any_cluster.settled()


async def test_what_happened_can_be_told(any_cluster: Cluster) -> None:
    await any_cluster.run(Sites().operator)
    await any_cluster.apply(site(secret="key"))
    await any_cluster.settled()
    for value in ("hunter2", "hunter3"):
        labels = {"site": "blog"}
        await any_cluster.apply(core.Secret(metadata=ObjectMeta(name="key", labels=labels), string_data={"it": value}))
    await any_cluster.settled()
    async with any_cluster.edit(Site, "blog") as one:
        one.spec.copies = -1
    await any_cluster.settled()
    told = any_cluster.story()
    where = any_cluster.namespace
    expected = [
        "test: apply sites.demo.windvane.dev blog",
        f"sites: Site {where}/blog  because Site blog came  → waiting: there is no Secret key; wrote apply",
        "test: apply secrets key",
        "because Site blog changed (spec.copies 1 → -1, by test)",
        "→ fatal: a site has no less than 0 copies",
        "Event of Site blog: Warning Fatal: a site has no less than 0 copies",
    ]
    for words in expected:
        assert words in told, f"{words!r} is not in\n{told}"
    assert told.index(expected[0]) < told.index(expected[1]) < told.index(expected[4])
    assert "hunter" not in told
