"""PersistentVolumes and their claims: which go together, what is made, and what becomes of it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.services import node
from integration.controllers.workloads import pod
from windvane import ambient
from windvane.api import codec
from windvane.client.errors import Forbidden, NotFound
from windvane.k8s.core import Event, PersistentVolume, PersistentVolumeClaim, Pod
from windvane.k8s.storage import StorageClass


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """A cluster whose claims get directories."""
    cluster = Cluster()
    cluster.volumes = tmp_path / "volumes"
    await cluster.begin()
    await cluster.settled()
    yield cluster
    await cluster.close()


def new_claim(name: str = "data", size: str = "1Gi", **spec: Any) -> PersistentVolumeClaim:
    stated = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}} | spec
    return codec.from_wire({"metadata": {"name": name}, "spec": stated}, PersistentVolumeClaim)


def new_volume(
    name: str = "disk", size: str = "1Gi", labels: dict[str, str] | None = None, **spec: Any
) -> PersistentVolume:
    stated = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": size},
        "storageClassName": "manual",
        "nfs": {"server": "somewhere", "path": "/"},
    } | spec
    return codec.from_wire({"metadata": {"name": name, "labels": labels or {}}, "spec": stated}, PersistentVolume)


def new_class(name: str, **fields: Any) -> StorageClass:
    wire = {"metadata": {"name": name}, "provisioner": "windvane.dev/directory"} | fields
    return codec.from_wire(wire, StorageClass)


async def create(cluster: Cluster, *things: Any) -> None:
    for each in things:
        await cluster.admin.create(each)
    await cluster.settled()


async def claim(cluster: Cluster, name: str = "data") -> PersistentVolumeClaim:
    return await cluster.admin.get(PersistentVolumeClaim, name)


async def volume(cluster: Cluster, name: str = "disk") -> PersistentVolume:
    return await cluster.admin.get(PersistentVolume, name)


async def volume_of(cluster: Cluster, name: str = "data") -> PersistentVolume:
    return await volume(cluster, (await claim(cluster, name)).spec.volume_name or "none")


async def volumes(cluster: Cluster) -> list[str]:
    return [each.metadata.name for each in await cluster.admin.list(PersistentVolume)]


async def events(cluster: Cluster, reason: str) -> list[str]:
    every = await cluster.admin.list(Event)
    return [each.message or "" for each in every if each.reason == reason]


async def delete_claim(cluster: Cluster, name: str = "data") -> None:
    await cluster.admin.delete(PersistentVolumeClaim, name)
    await cluster.settled()


def directory(found: PersistentVolume) -> Path:
    assert found.spec.host_path is not None
    return Path(found.spec.host_path.path)


# The default class


async def test_a_cluster_has_a_default_class(cluster: Cluster) -> None:
    found = await cluster.admin.get(StorageClass, "standard")
    assert found.metadata.annotations == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert (found.provisioner, found.reclaim_policy) == ("windvane.dev/directory", "Delete")
    assert (found.volume_binding_mode, found.allow_volume_expansion) == ("Immediate", True)


async def test_a_default_class_that_was_deleted_stays_deleted(cluster: Cluster) -> None:
    await cluster.admin.delete(StorageClass, "standard")
    await ambient.sleep(600)
    with pytest.raises(NotFound):
        await cluster.admin.get(StorageClass, "standard")


async def test_a_claim_that_names_no_class_gets_the_default_one(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    assert (await claim(cluster)).spec.storage_class_name == "standard"


async def test_of_several_default_classes_the_newest_is_taken(cluster: Cluster) -> None:
    await ambient.sleep(5)
    newer = new_class("newer")
    newer.metadata.annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    await create(cluster, newer, new_claim())
    assert (await claim(cluster)).spec.storage_class_name == "newer"


async def test_a_claim_without_a_class_gets_the_default_one_when_there_is_one(cluster: Cluster) -> None:
    await cluster.admin.delete(StorageClass, "standard")
    await create(cluster, new_claim())
    assert (await claim(cluster)).status.phase == "Pending"
    late = new_class("late")
    late.metadata.annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    await create(cluster, late)
    assert (await claim(cluster)).status.phase == "Bound"


async def test_a_claim_of_no_class_does_not_get_the_default_one(cluster: Cluster) -> None:
    await create(cluster, new_claim(storageClassName=""))
    found = await claim(cluster)
    assert (found.spec.storage_class_name, found.status.phase) == ("", "Pending")
    words = "no persistent volumes available for this claim and no storage class is set"
    assert words in await events(cluster, "FailedBinding")


# Made for a claim


async def test_a_claim_gets_a_directory(cluster: Cluster) -> None:
    await create(cluster, new_claim(size="3Gi"))
    found = await volume_of(cluster)
    mine = await claim(cluster)
    assert found.metadata.name == f"pvc-{mine.metadata.uid}"
    assert directory(found).is_dir()
    assert str(found.spec.capacity["storage"]) == "3Gi"
    assert found.spec.access_modes == ["ReadWriteOnce"]
    assert (found.spec.storage_class_name, found.spec.persistent_volume_reclaim_policy) == ("standard", "Delete")
    assert found.metadata.annotations == {
        "pv.kubernetes.io/provisioned-by": "windvane.dev/directory",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }


async def test_a_claim_and_its_volume_name_each_other(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    mine, found = await claim(cluster), await volume_of(cluster)
    reference = found.spec.claim_ref
    assert reference is not None
    assert (reference.kind, reference.namespace, reference.name, reference.uid) == (
        "PersistentVolumeClaim", "default", "data", mine.metadata.uid,
    )  # fmt: skip
    assert mine.metadata.annotations == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }


async def test_both_are_bound(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    mine, found = await claim(cluster), await volume_of(cluster)
    assert (mine.status.phase, found.status.phase) == ("Bound", "Bound")
    assert mine.status.access_modes == ["ReadWriteOnce"]
    assert str(mine.status.capacity["storage"]) == "1Gi"
    assert found.status.last_phase_transition_time is not None


async def test_an_event_tells_what_was_made(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    name = (await claim(cluster)).spec.volume_name
    said = await events(cluster, "ProvisioningSucceeded")
    assert said == [f"Successfully provisioned volume {name} using windvane.dev/directory"]


async def test_every_claim_has_its_own(cluster: Cluster) -> None:
    await create(cluster, *(new_claim(f"data-{each}") for each in range(20)))
    assert len(await volumes(cluster)) == 20
    claims = await cluster.admin.list(PersistentVolumeClaim)
    assert len({each.spec.volume_name for each in claims}) == 20
    assert {each.status.phase for each in claims} == {"Bound"}


async def test_a_class_that_is_not_there_is_said_and_waited_for(cluster: Cluster) -> None:
    await create(cluster, new_claim(storageClassName="fast"))
    assert 'storageclass.storage.k8s.io "fast" not found' in await events(cluster, "ProvisioningFailed")
    await create(cluster, new_class("fast"))
    assert (await claim(cluster)).status.phase == "Bound"


async def test_a_class_of_somebody_else_is_left_to_them(cluster: Cluster) -> None:
    await create(cluster, new_class("theirs", provisioner="example.com/disks"), new_claim(storageClassName="theirs"))
    found = await claim(cluster)
    assert found.status.phase == "Pending"
    assert found.metadata.annotations["volume.kubernetes.io/storage-provisioner"] == "example.com/disks"
    [said] = set(await events(cluster, "ExternalProvisioning"))
    assert said.startswith("Waiting for a volume to be created either by the external provisioner 'example.com/disks'")


async def test_what_no_directory_can_be_is_said(cluster: Cluster) -> None:
    await create(cluster, new_claim(volumeMode="Block"))
    [said] = set(await events(cluster, "ProvisioningFailed"))
    assert said == (
        'Failed to provision volume with StorageClass "standard": claim.spec.volumeMode Block is not supported: '
        "a directory is no device"
    )


async def test_a_class_that_waits_binds_when_a_pod_uses_the_claim(cluster: Cluster) -> None:
    waits = new_class("waits", volumeBindingMode="WaitForFirstConsumer")
    await create(cluster, waits, new_claim(storageClassName="waits"))
    assert (await claim(cluster)).status.phase == "Pending"
    words = "waiting for first consumer to be created before binding"
    assert set(await events(cluster, "WaitForFirstConsumer")) == {words}
    await create(cluster, user())
    assert (await claim(cluster)).status.phase == "Bound"


async def test_the_class_says_what_becomes_of_the_volume(cluster: Cluster) -> None:
    await create(cluster, new_class("kept", reclaimPolicy="Retain"), new_claim(storageClassName="kept"))
    assert (await volume_of(cluster)).spec.persistent_volume_reclaim_policy == "Retain"


# Made by somebody


async def test_a_claim_takes_the_smallest_volume_that_is_large_enough(cluster: Cluster) -> None:
    await create(cluster, new_volume("huge", "9Gi"), new_volume("tiny", "1Mi"), new_volume("right", "2Gi"))
    await create(cluster, new_claim(size="1Gi", storageClassName="manual"))
    found = await claim(cluster)
    assert (found.spec.volume_name, str(found.status.capacity["storage"])) == ("right", "2Gi")


@pytest.mark.parametrize(
    "different",
    [
        {"capacity": {"storage": "1Mi"}},
        {"storageClassName": "other"},
        {"accessModes": ["ReadOnlyMany"]},
        {"volumeMode": "Block"},
    ],
)
async def test_a_claim_does_not_take_a_volume_that_is_not_what_it_asks_for(
    cluster: Cluster, different: dict[str, Any]
) -> None:
    await create(cluster, new_volume(**different), new_claim(storageClassName="manual"))
    assert (await claim(cluster)).status.phase == "Pending"
    assert (await volume(cluster)).status.phase == "Available"


async def test_a_volume_with_more_access_modes_will_do(cluster: Cluster) -> None:
    await create(cluster, new_volume(accessModes=["ReadWriteOnce", "ReadOnlyMany"]))
    await create(cluster, new_claim(storageClassName="manual"))
    found = await claim(cluster)
    assert (found.spec.volume_name, found.status.access_modes) == ("disk", ["ReadWriteOnce", "ReadOnlyMany"])


async def test_a_claim_with_a_selector_takes_what_it_selects(cluster: Cluster) -> None:
    await create(cluster, new_volume("a"), new_volume("b", labels={"tier": "ssd"}))
    await create(cluster, new_claim(storageClassName="manual", selector={"matchLabels": {"tier": "ssd"}}))
    assert (await claim(cluster)).spec.volume_name == "b"


async def test_a_claim_that_waits_gets_a_volume_that_comes_later(cluster: Cluster) -> None:
    await create(cluster, new_claim(storageClassName="manual"))
    assert (await claim(cluster)).status.phase == "Pending"
    await create(cluster, new_volume())
    assert (await claim(cluster)).status.phase == "Bound"


async def test_no_two_claims_get_the_same_volume(cluster: Cluster) -> None:
    await create(cluster, *(new_claim(f"data-{each}", storageClassName="manual") for each in range(5)))
    await create(cluster, new_volume())  # now they all want it
    await ambient.sleep(30)
    phases = sorted(each.status.phase or "" for each in await cluster.admin.list(PersistentVolumeClaim))
    assert phases == ["Bound", "Pending", "Pending", "Pending", "Pending"]


async def test_a_claim_gets_the_volume_that_it_names(cluster: Cluster) -> None:
    await create(cluster, new_volume("small"), new_volume("large", "9Gi"))
    await create(cluster, new_claim(storageClassName="manual", volumeName="large"))
    assert (await volume(cluster, "large")).status.phase == "Bound"
    assert "pv.kubernetes.io/bound-by-controller" not in (await claim(cluster)).metadata.annotations


async def test_a_named_volume_that_does_not_fit_is_said(cluster: Cluster) -> None:
    await create(cluster, new_volume(), new_claim(size="5Gi", storageClassName="manual", volumeName="disk"))
    said = set(await events(cluster, "VolumeMismatch"))
    assert said == {'Cannot bind to requested volume "disk": requested PV is too small'}
    assert (await claim(cluster)).status.phase == "Pending"


async def test_a_named_volume_that_another_claim_has_is_said(cluster: Cluster) -> None:
    await create(cluster, new_volume(), new_claim("first", storageClassName="manual"))
    await create(cluster, new_claim(storageClassName="manual", volumeName="disk"))
    assert set(await events(cluster, "FailedBinding")) == {'volume "disk" already bound to a different claim.'}


async def test_a_named_volume_that_is_not_there_is_waited_for(cluster: Cluster) -> None:
    await create(cluster, new_claim(storageClassName="manual", volumeName="disk"))
    assert (await claim(cluster)).status.phase == "Pending"
    await create(cluster, new_volume(claimRef={"namespace": "default", "name": "data"}))
    assert (await claim(cluster)).status.phase == "Bound"


async def test_a_volume_that_is_reserved_goes_to_nobody_else(cluster: Cluster) -> None:
    await create(cluster, new_volume(claimRef={"namespace": "default", "name": "later"}))
    await create(cluster, new_claim("sooner", storageClassName="manual"))
    assert (await claim(cluster, "sooner")).status.phase == "Pending"
    await create(cluster, new_claim("later", storageClassName="manual"))
    assert (await claim(cluster, "later")).spec.volume_name == "disk"


async def test_a_volume_that_nobody_has_is_available(cluster: Cluster) -> None:
    await create(cluster, new_volume())
    assert (await volume(cluster)).status.phase == "Available"


# In the end


async def test_a_directory_goes_with_its_claim(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    there = directory(await volume_of(cluster))
    (there / "file").write_text("precious")
    await delete_claim(cluster)
    assert await volumes(cluster) == []
    assert not there.exists()


async def test_a_directory_that_is_retained_stays_with_its_volume(cluster: Cluster) -> None:
    await create(cluster, new_class("kept", reclaimPolicy="Retain"), new_claim(storageClassName="kept"))
    found = await volume_of(cluster)
    (directory(found) / "file").write_text("precious")
    await delete_claim(cluster)
    assert (await volume(cluster, found.metadata.name)).status.phase == "Released"
    assert (directory(found) / "file").read_text() == "precious"


async def test_a_released_volume_goes_to_nobody_until_somebody_clears_it(cluster: Cluster) -> None:
    await create(cluster, new_volume(), new_claim(storageClassName="manual"))
    await delete_claim(cluster)
    await create(cluster, new_claim(storageClassName="manual"))
    assert (await claim(cluster)).status.phase == "Pending"
    assert (await volume(cluster)).status.phase == "Released"
    await cluster.admin.patch(PersistentVolume, "disk", {"spec": {"claimRef": None}})
    await cluster.settled()
    assert (await claim(cluster)).status.phase == "Bound"


async def test_a_volume_that_nobody_here_can_delete_is_failed(cluster: Cluster) -> None:
    await create(cluster, new_volume(persistentVolumeReclaimPolicy="Delete"), new_claim(storageClassName="manual"))
    await delete_claim(cluster)
    words = 'error getting deleter volume plugin for volume "disk": no deletable volume plugin matched'
    found = await volume(cluster)
    assert (found.status.phase, found.status.message) == ("Failed", words)
    assert await events(cluster, "VolumeFailedDelete") == [words]


async def test_a_claim_whose_volume_is_gone_is_lost(cluster: Cluster) -> None:
    await create(cluster, new_volume(), new_claim(storageClassName="manual"))
    await cluster.admin.patch(PersistentVolume, "disk", {"metadata": {"finalizers": None}})
    await cluster.admin.delete(PersistentVolume, "disk")
    await cluster.admin.patch(PersistentVolume, "disk", {"metadata": {"finalizers": None}})
    await cluster.settled()
    assert (await claim(cluster)).status.phase == "Lost"
    assert await events(cluster, "ClaimLost") == [
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
    ]


# In use


def user(name: str = "user", node: str | None = "here", claim_name: str = "data") -> Pod:
    made = pod(name)
    wire = codec.to_wire(made.spec) | {
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}],
        "nodeName": node,
    }
    made.spec = codec.from_wire({key: value for key, value in wire.items() if value is not None}, type(made.spec))
    return made


async def test_a_claim_that_a_pod_uses_is_not_removed(cluster: Cluster) -> None:
    await create(cluster, new_claim(), user())
    await delete_claim(cluster)
    assert (await claim(cluster)).metadata.deletion_timestamp is not None
    assert (await volume_of(cluster)).status.phase == "Bound"
    await cluster.admin.delete(Pod, "user", grace_period=0)
    await cluster.settled()
    with pytest.raises(NotFound):
        await claim(cluster)
    assert await volumes(cluster) == []


async def test_a_claim_that_a_pod_without_a_node_names_is_removed(cluster: Cluster) -> None:
    await create(cluster, new_claim(), user(node=None))
    await delete_claim(cluster)
    with pytest.raises(NotFound):
        await claim(cluster)


async def test_a_volume_that_is_bound_is_not_removed(cluster: Cluster) -> None:
    await create(cluster, new_volume(), new_claim(storageClassName="manual"))
    await cluster.admin.delete(PersistentVolume, "disk")
    await cluster.settled()
    assert (await volume(cluster)).status.phase == "Bound"
    assert (await claim(cluster)).status.phase == "Bound"
    await delete_claim(cluster)
    with pytest.raises(NotFound):
        await volume(cluster)


async def test_a_volume_that_nobody_has_is_removed_at_once(cluster: Cluster) -> None:
    await create(cluster, new_volume())
    await cluster.admin.delete(PersistentVolume, "disk")
    await cluster.settled()
    with pytest.raises(NotFound):
        await volume(cluster)


async def test_a_directory_whose_volume_is_deleted_before_its_claim_goes_with_the_claim(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    found = await volume_of(cluster)
    await cluster.admin.delete(PersistentVolume, found.metadata.name)
    await cluster.settled()
    assert directory(found).is_dir()
    await delete_claim(cluster)
    assert not directory(found).exists()
    assert await volumes(cluster) == []


# Growing


async def test_a_claim_that_asks_for_more_gets_it(cluster: Cluster) -> None:
    await create(cluster, new_claim())
    patch = {"spec": {"resources": {"requests": {"storage": "5Gi"}}}}
    await cluster.admin.patch(PersistentVolumeClaim, "data", patch)
    await cluster.settled()
    assert str((await volume_of(cluster)).spec.capacity["storage"]) == "5Gi"
    assert str((await claim(cluster)).status.capacity["storage"]) == "5Gi"


async def test_a_claim_whose_class_does_not_allow_it_stays_as_it_is(cluster: Cluster) -> None:
    await create(cluster, new_class("fixed", allowVolumeExpansion=False), new_claim(storageClassName="fixed"))
    patch = {"spec": {"resources": {"requests": {"storage": "5Gi"}}}}
    with pytest.raises(Forbidden, match="must support resize"):
        await cluster.admin.patch(PersistentVolumeClaim, "data", patch)
    await cluster.settled()
    assert str((await volume_of(cluster)).spec.capacity["storage"]) == "1Gi"


async def test_nothing_is_written_once_all_is_well(cluster: Cluster) -> None:
    await create(cluster, new_claim(), new_volume(), new_claim("other", storageClassName="manual"), user())
    await node(cluster, "here")
    await ambient.sleep(120)  # until it has been said of the node, which nobody plays, that it is silent
    revision = cluster.server.store.revision
    await ambient.sleep(3600)
    assert cluster.server.store.revision == revision


async def test_without_a_place_for_directories_there_is_no_default_class() -> None:
    cluster = Cluster()
    await cluster.begin()
    await create(cluster, new_claim())
    assert list(await cluster.admin.list(StorageClass)) == []
    assert (await claim(cluster)).status.phase == "Pending"
    await cluster.close()
