"""What was seen to go wrong on a real cluster of three nodes: a lost node, a storage class, a strict namespace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scenarios.machine import NAMESPACE
from scenarios.scene import Scene, condition, identities, is_settled
from windvane.k8s import core, storage

HELD = "scenarios.windvane.dev/held"
TAINT = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"


async def test_28_a_node_is_lost_for_good_and_the_remedy_is_said(stage: Scene) -> None:
    """Its pod, and its volume with it, is Terminating for ever: nobody says that it has stopped."""
    await stage.create(replaceAfter="10s")
    before = identities(await stage.settled())
    async with stage.observed() as load:
        await load.writer.more(50)
        victim = await stage.etcd.member("Follower")
        with stage.timed():
            async with held(stage, victim), stage.machine.frozen(victim):
                stuck = await stage.until(
                    "the pod that does not go is named",
                    lambda it: condition(it, "Degraded").reason == "PodStuck",
                    within=180,
                )
                assert stuck.status.quorum == "AtRisk"
                assert condition(stuck, "Ready").status == "False"
                for each in ("Degraded", "Progressing"):
                    assert TAINT in condition(stuck, each).message
                await load.writer.more(20)
            after = await stage.replaced(victim, before[victim])
        assert {**identities(after), victim: ""} == {**before, victim: ""}


@asynccontextmanager
async def held(stage: Scene, pod: str) -> AsyncIterator[None]:
    """Have a pod stay, whoever deletes it, until the end of the block."""
    client = stage.machine.client
    await client.patch(core.Pod, pod, {"metadata": {"finalizers": [HELD]}}, namespace=NAMESPACE)
    try:
        yield
    finally:
        await client.patch(core.Pod, pod, {"metadata": {"finalizers": []}}, namespace=NAMESPACE)


async def test_29_growth_that_the_storage_class_refuses_is_told_once_and_shown(stage: Scene) -> None:
    await stage.create(replicas=1)
    await stage.settled(1)
    client = stage.machine.client
    async with stage.observed() as load:
        claim = await client.get(core.PersistentVolumeClaim, "data-prod-0", namespace=NAMESPACE)
        name = claim.spec.storage_class_name or ""
        await client.patch(storage.StorageClass, name, {"allowVolumeExpansion": False})
        with stage.timed():
            await stage.change(storageSize="2Gi")
            refused = await stage.until(
                "it is shown that the volume does not grow",
                lambda it: condition(it, "StorageSized").status == "False" and condition(it, "Ready").status == "False",
            )
        assert "data-prod-0" in condition(refused, "StorageSized").message
        await load.writer.more(200)  # several passes
        told = [each for each in await stage.events() if each.reason == "VolumeNotGrown"]
        assert len(told) == 1
        assert told[0].series is None
        await client.patch(storage.StorageClass, name, {"allowVolumeExpansion": True})
        await stage.until("the volume grows", lambda it: condition(it, "StorageSized").status == "True")
        await stage.until("all is well", lambda it: condition(it, "Ready").status == "True")


async def test_30_in_a_strict_namespace_members_and_backups_run_and_what_is_refused_says_why(stage: Scene) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    await stage.machine.client.patch(core.Namespace, NAMESPACE, {"metadata": {"labels": labels}})
    with stage.timed():
        await stage.create()
        await stage.settled()
        await stage.backup("strict")
    await stage.create("lax", replicas=1, securityContext={"runAsUser": 0})
    refused = await stage.until(
        "it is said why there is no pod",
        lambda it: "PodSecurity" in condition(it, "Available").message,
        name="lax",
    )
    assert condition(refused, "Available").status == "False"
    await stage.change("lax", securityContext=None)
    await stage.until("and then there is one", lambda it: is_settled(it, 1), name="lax", within=120)
