"""`windvane.testing.Cluster`, as the author of an operator uses it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from integration.testing import sites as here
from integration.testing.sites import Site, Sites, site, with_webhooks
from windvane import (
    Client,
    Context,
    Forbidden,
    InternalError,
    Invalid,
    LabelSelector,
    NotFound,
    ObjectMeta,
    Operator,
    Quantity,
    find_condition,
)
from windvane.k8s import apps, batch, core
from windvane.runtime.lifespan import LifespanFailed
from windvane.testing import Cluster, NotSettled, Trigger, VirtualCluster


async def blog(cluster: Cluster) -> Site:
    return await cluster.get(Site, "blog")


async def ready_of(cluster: Cluster) -> tuple[str, str]:
    ready = find_condition((await blog(cluster)).status.conditions, "Ready")
    assert ready is not None
    return ready.status, ready.message


async def test_pods_come_up_and_the_status_says_so(cluster: Cluster) -> None:
    await cluster.run(Sites().operator)
    await cluster.apply(site(copies=2))
    await cluster.settled()
    assert await ready_of(cluster) == ("True", "2 of 2 copies are up")
    assert len(await cluster.list(core.Pod, labels={"site": "blog"})) == 2


async def test_an_edit_writes_what_the_block_changed_the_status_too(cluster: Cluster) -> None:
    await cluster.install(Site)
    await cluster.apply(site(image="nginx:1"))
    async with cluster.edit(Site, "blog") as one:
        one.spec.copies = 3
        one.status.ready = 2
    after = await blog(cluster)
    assert (after.spec.image, after.spec.copies, after.status.ready) == ("nginx:1", 3, 2)


async def test_an_edit_that_raises_writes_nothing(cluster: Cluster) -> None:
    await cluster.install(Site)
    await cluster.apply(site())

    async def change_my_mind() -> None:
        async with cluster.edit(Site, "blog") as one:
            one.spec.copies = 3
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await change_my_mind()
    assert (await blog(cluster)).spec.copies == 1


async def test_what_is_deleted_is_finalized_and_takes_its_pods_along(cluster: Cluster) -> None:
    sites = Sites()
    await cluster.run(sites.operator)
    one = await cluster.apply(site())
    await cluster.settled()
    await cluster.delete(Site, "blog")
    await cluster.settled()
    assert sites.retired == ["blog"]
    assert not await cluster.exists(Site, "blog")
    assert not await cluster.list(core.Pod)
    assert [each.reason for each in await cluster.events(one)] == ["Retired"]


async def test_pods_do_what_the_test_says(cluster: Cluster) -> None:
    await cluster.run(Sites().operator)
    cluster.pods.behave("nginx:slow*", "ready-after=60s")
    await cluster.apply(site(image="nginx:slow-1", copies=2))
    await cluster.settled()
    assert await ready_of(cluster) == ("False", "0 of 2 copies are up")
    await cluster.advance(minutes=1)
    assert await ready_of(cluster) == ("True", "2 of 2 copies are up")
    pod, _ = await cluster.list(core.Pod)
    cluster.pods.set_ready(pod, False)
    await cluster.settled()
    assert await ready_of(cluster) == ("False", "1 of 2 copies are up")
    cluster.pods.set_ready(pod, True)
    await cluster.settled()
    assert await ready_of(cluster) == ("True", "2 of 2 copies are up")


async def test_a_container_that_crashes_is_started_again_as_on_a_node(cluster: Cluster) -> None:
    await cluster.run(Sites().operator)
    await cluster.apply(site())
    await cluster.settled()
    for restarts in (1, 2):
        (pod,) = await cluster.list(core.Pod)
        cluster.pods.crash(pod, code=137)
        await cluster.advance(minutes=6)
        (pod,) = await cluster.list(core.Pod)
        (container,) = pod.status.container_statuses
        assert container.restart_count == restarts
        assert container.last_state is not None
        assert container.last_state.terminated is not None
        assert container.last_state.terminated.exit_code == 137
    assert (await ready_of(cluster))[0] == "True"


async def test_a_claim_gets_a_volume_as_on_the_other_kinds_of_cluster(cluster: Cluster) -> None:
    requests = core.VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    asked = core.PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=requests)
    claim = core.PersistentVolumeClaim(metadata=ObjectMeta(name="data"), spec=asked)
    labels = {"app": "store"}
    pod = core.PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=core.PodSpec(containers=[core.Container(name="it", image="store")])
    )
    spec = apps.StatefulSetSpec(
        replicas=2,
        service_name="store",
        selector=LabelSelector(match_labels=labels),
        template=pod,
        volume_claim_templates=[claim],
    )
    await cluster.apply(apps.StatefulSet(metadata=ObjectMeta(name="store"), spec=spec))
    await cluster.settled()
    assert (await cluster.get(apps.StatefulSet, "store")).status.ready_replicas == 2
    claims = await cluster.list(core.PersistentVolumeClaim)
    assert [(each.metadata.name, each.status.phase) for each in claims] == [
        ("data-store-0", "Bound"),
        ("data-store-1", "Bound"),
    ]


async def test_a_job_fails_if_the_test_says_so(cluster: Cluster) -> None:
    cluster.pods.behave("backup", "exit=3 after=5s")
    template = core.PodTemplateSpec(
        spec=core.PodSpec(containers=[core.Container(name="it", image="backup")], restart_policy="Never")
    )
    await cluster.apply(
        batch.Job(metadata=ObjectMeta(name="backup"), spec=batch.JobSpec(template=template, backoff_limit=0))
    )
    await cluster.settled()
    assert (await cluster.get(batch.Job, "backup")).status.failed == 1


def test_a_behaviour_that_makes_no_sense_says_so() -> None:
    with pytest.raises(ValueError, match="write exit=CODE"):
        VirtualCluster().pods.behave("nginx", "explode")


async def test_a_pod_that_does_not_run_can_not_crash(cluster: Cluster) -> None:
    pod = core.Pod(
        metadata=ObjectMeta(name="web"), spec=core.PodSpec(containers=[core.Container(name="web", image="nginx")])
    )
    with pytest.raises(LookupError, match=r"await cluster\.settled\(\)"):
        cluster.pods.crash(pod)


async def test_hours_pass_for_whoever_asks_for_the_time(cluster: Cluster) -> None:
    wall, unix, loop = datetime.now(UTC), time.time(), asyncio.get_running_loop().time()
    replica = await cluster.run(Sites().operator)
    await cluster.apply(site(again=1800))
    await cluster.advance(hours=1, minutes=1)
    assert [each.triggers for each in replica.passes(await blog(cluster))][-2:] == [[Trigger("a timer")]] * 2
    assert 3660 <= (datetime.now(UTC) - wall).total_seconds() < 3700
    assert 3660 <= time.time() - unix < 3700
    assert 3660 <= asyncio.get_running_loop().time() - loop < 3700


async def test_an_operator_that_is_started_anew_writes_nothing(cluster: Cluster) -> None:
    first = await cluster.run(Sites().operator)
    await cluster.apply(site())
    await cluster.settled()
    assert cluster.writes[-1] == "apply sites.demo.windvane.dev/status blog"
    before = len(cluster.writes)
    await first.stop()
    second = await cluster.run(Sites().operator)
    await cluster.settled()
    assert cluster.writes[before:] == []
    (done,) = second.passes(await blog(cluster))
    assert (str(done.triggers[0]), done.result) == ("Site blog was there", "done")


async def test_what_happens_while_a_killed_operator_is_away_is_made_up_for(cluster: Cluster) -> None:
    first = await cluster.run(Sites().operator)
    await cluster.apply(site())
    await cluster.settled()
    await first.kill()
    await cluster.delete(apps.Deployment, "blog")
    await cluster.settled()
    assert not await cluster.list(core.Pod)
    await cluster.run(Sites().operator)
    await cluster.settled()
    assert (await ready_of(cluster))[0] == "True"


async def test_an_operator_that_is_cut_off_catches_up(cluster: Cluster) -> None:
    replica = await cluster.run(Sites().operator)
    await cluster.apply(site())
    await cluster.settled()
    replica.weather.fall()
    async with cluster.edit(Site, "blog") as one:
        one.spec.copies = 2
    await cluster.advance(minutes=1)
    assert (await cluster.get(apps.Deployment, "blog")).spec.replicas == 1
    replica.weather.clear()
    await cluster.advance(minutes=1)
    assert await ready_of(cluster) == ("True", "2 of 2 copies are up")


async def test_what_never_comes_to_rest_is_an_error_that_says_what_is_written(cluster: Cluster) -> None:
    operator = Operator("restless")

    @operator.daemon(Site)
    async def scribble(one: Site, ctx: object) -> AsyncIterator[int]:
        for number in range(10_000):
            await asyncio.sleep(3)
            yield number

    @operator.controller(Site)
    async def reconcile(one: Site, ctx: Context) -> None:
        one.status.looks = ctx.value(scribble) or 0

    await cluster.run(operator)
    await cluster.apply(site())
    with pytest.raises(NotSettled, match=r"restless: apply sites\.demo\.windvane\.dev/status blog") as caught:
        await cluster.settled()
    assert "kube-root-ca.crt" not in str(caught.value)  # by which the cluster came to be


async def test_a_child_that_differs_each_time_never_settles_however_late_its_passes_come(cluster: Cluster) -> None:
    operator = Operator("restless")
    numbers = count()

    @operator.controller(Site, owns=[core.ConfigMap])
    async def reconcile(one: Site, ctx: Context) -> None:
        await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name="notes"), data={"number": str(next(numbers))}))

    await cluster.run(operator)
    await cluster.apply(site())
    with pytest.raises(NotSettled, match=r"passes over Site default/blog are put off: the Event Unsettled says"):
        await cluster.settled()
    assert "Event of Site blog: Warning Unsettled: " in cluster.story()
    await cluster.delete(Site, "blog")
    await cluster.settled()


async def test_a_pass_that_does_not_end_is_named(cluster: Cluster) -> None:
    operator = Operator("patient")

    @operator.controller(Site, timeout=86400)
    async def reconcile(one: Site, ctx: Context) -> None:
        await asyncio.sleep(3600)

    await cluster.run(operator)
    await cluster.apply(site())
    with pytest.raises(NotSettled, match=r"after 600 s; a pass is under way over Site default/blog\. The last writes:"):
        await cluster.settled()


async def test_webhooks_are_called_without_a_certificate(cluster: Cluster) -> None:
    sites = Sites()
    with_webhooks(sites)
    await cluster.run(sites.operator)
    with pytest.raises(Invalid, match=r"spec\.image.*say which version"):
        await cluster.apply(site(image="nginx:latest"))
    one = await cluster.apply(site())
    assert one.metadata.labels["filled-in"] == "yes"


async def test_what_a_webhook_keeps_can_not_be_deleted(cluster: Cluster) -> None:
    sites = Sites()
    with_webhooks(sites)
    replica = await cluster.run(sites.operator)
    await cluster.apply(site())
    async with cluster.edit(Site, "blog") as one:
        one.metadata.annotations["keep"] = "yes"
    with pytest.raises(Forbidden, match="it is to be kept"):
        await cluster.delete(Site, "blog")
    await replica.stop()  # and takes its webhooks along
    await cluster.client.patch(Site, "blog", {"metadata": {"finalizers": None}})
    await cluster.delete(Site, "blog")
    assert not await cluster.exists(Site, "blog")


async def test_the_webhooks_of_a_killed_operator_answer_no_more(cluster: Cluster) -> None:
    sites = Sites()
    with_webhooks(sites)
    replica = await cluster.run(sites.operator)
    await replica.kill()
    with pytest.raises(InternalError, match=r"failed calling webhook.*connection refused"):
        await cluster.apply(site())
    await cluster.run(sites.operator)
    await cluster.apply(site())


async def test_an_operator_that_can_not_start_says_why(cluster: Cluster) -> None:
    sites = Sites()

    @sites.operator.lifespan
    async def broken(client: Client) -> AsyncIterator[None]:
        raise OSError("the cloud is gone")
        yield

    with pytest.raises(LifespanFailed, match="the cloud is gone"):
        await cluster.run(sites.operator)


async def test_an_operator_that_never_begins_says_so(cluster: Cluster) -> None:
    sites = Sites()

    @sites.operator.lifespan
    async def slow(client: Client) -> AsyncIterator[None]:
        await asyncio.sleep(3600)
        yield

    with pytest.raises(
        NotSettled, match="'sites' has not begun after 60 s: its lifespans, or caches, are not there yet"
    ):
        await cluster.run(sites.operator)


async def test_a_kind_that_is_not_served_says_what_to_write(cluster: Cluster) -> None:
    asked: list[Callable[[], Awaitable[object]]] = [
        lambda: cluster.apply(site()),
        lambda: cluster.get(Site, "blog"),
        lambda: cluster.list(Site),
        lambda: cluster.delete(Site, "blog"),
    ]
    for ask in asked:
        with pytest.raises(NotFound) as caught:
            await ask()
        assert "Write `await cluster.run(operator)` before, or cluster.install(Site)" in caught.value.__notes__[0]
    await cluster.install(Site)
    with pytest.raises(NotFound, match="blog") as caught:
        await cluster.get(Site, "blog")
    assert not hasattr(caught.value, "__notes__")


async def test_what_makes_no_sense_says_what_to_write(cluster: Cluster) -> None:
    sites = Sites()
    asked: list[tuple[Callable[[Any], Awaitable[object]], Any, str]] = [
        (
            cluster.run,
            sites._reconcile,
            r"not .*: give it to an Operator, @operator\.controller\(\.\.\.\); or reconcile_once",
        ),
        (cluster.run, here, r"not .*: write cluster\.run\(sites\.operator\)"),
        (cluster.run, Operator, r'make one: operator = Operator\("website"\)'),
        (cluster.run, None, r'takes an Operator, not None: such as operator = Operator\("website"\)'),
        (cluster.apply, {"kind": "Site"}, r"not .*: of a manifest, write object_from_wire\(manifest, "),
        (cluster.apply, Site, r"make one: Site\(metadata="),
        (cluster.install, site(), r"takes the class of a kind, not .*: write cluster\.install\(type\(thing\), "),
        (cluster.list, "pods", r"takes the class of a kind, not 'pods': such as apps\.Deployment"),
        (cluster.events, "pods", r"takes an object, not 'pods': such as Website\("),
    ]
    for ask, what, words in asked:
        with pytest.raises(TypeError, match=words) as caught:
            await ask(what)
        assert "\n" not in str(caught.value)


async def test_two_operators_of_a_name_do_not_run_at_once(cluster: Cluster) -> None:
    first = await cluster.run(Sites().operator)
    with pytest.raises(
        ValueError, match=r"'sites' runs already, .*: `await replica\.stop\(\)` before, or give this one"
    ):
        await cluster.run(Sites().operator)
    await first.kill()
    await cluster.run(Sites().operator)


async def test_a_cluster_that_has_ended_says_so() -> None:
    cluster = VirtualCluster()
    with pytest.raises(RuntimeError, match="has not begun: use it in the test that has the fixture"):
        await cluster.settled()


async def test_a_virtual_cluster_does_not_begin_in_real_time() -> None:
    with pytest.raises(RuntimeError, match=r"time is real here, .*: write `async def test_it\(cluster\): "):
        async with VirtualCluster():
            pass


async def test_a_cluster_that_has_ended_can_not_be_used(cluster: Cluster) -> None:
    async with VirtualCluster() as other:
        await other.apply(core.ConfigMap(metadata=ObjectMeta(name="settings")))
        assert not await cluster.exists(core.ConfigMap, "settings")
    asked: list[Callable[[], Awaitable[object]]] = [
        lambda: other.run(Sites().operator),
        lambda: other.get(core.ConfigMap, "settings"),
        other.settled,
        lambda: other.advance(hours=1),
    ]
    for ask in asked:
        with pytest.raises(RuntimeError, match="this test's cluster has ended: use it in the test that"):
            await ask()


async def test_other_namespaces_are_made_when_something_is_to_be_in_them(cluster: Cluster) -> None:
    await cluster.run(Sites().operator)
    one = site()
    one.metadata.namespace = "shop"
    await cluster.apply(one)
    await cluster.settled()
    assert (await cluster.get(Site, "blog", namespace="shop")).status.ready == 1
    assert await cluster.list(Site) == []


async def test_of_much_that_happened_the_latest_is_told_of_what_the_test_has_named(cluster: Cluster) -> None:
    operator = Operator("many")

    @operator.controller(Site, owns=[core.ConfigMap])
    async def reconcile(one: Site, ctx: Context) -> None:
        await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=one.metadata.name), data={"image": one.spec.image}))
        if one.metadata.name == "blog":
            ctx.event("Looked", "at it\nfrom all sides " + "and again " * 40)

    await cluster.run(operator)
    for number in range(40):
        await cluster.client.apply(site(f"other-{number}"), field_manager="test")
    await cluster.apply(site())
    await cluster.settled()
    told = cluster.story().splitlines()
    assert told[0].startswith("(")
    assert len(told) <= 61
    assert max(map(len, told)) < 320
    assert any(
        "many: Site default/blog  because Site blog came  → done; wrote apply configmaps blog" in each for each in told
    )
    assert any("Event of Site blog: Normal Looked: at it from all sides and" in each for each in told)
    assert not any("many: Site default/other" in each for each in told)
