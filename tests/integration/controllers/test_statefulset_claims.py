"""The claims of a StatefulSet: made before the pods, kept, and owned as the retention policy says."""

from typing import Any

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.stateful import Db, claim_template, template
from integration.controllers.workloads import LABELS, pod
from windvane import ambient
from windvane.api import codec
from windvane.api.meta import ObjectMeta
from windvane.api.status import APIStatus
from windvane.k8s.apps import StatefulSet
from windvane.k8s.core import ConfigMap, PersistentVolumeClaim


@pytest.fixture
def db(cluster: Cluster) -> Db:
    return Db(cluster)


def with_claims(when_deleted: str = "Retain", when_scaled: str = "Retain", **more: Any) -> dict[str, Any]:
    policy = {"whenDeleted": when_deleted, "whenScaled": when_scaled}
    return {"volumeClaimTemplates": [claim_template()], "persistentVolumeClaimRetentionPolicy": policy} | more


async def owners(db: Db) -> dict[str, list[str]]:
    """Who owns each claim."""
    return {
        each.metadata.name: [f"{owner.kind} {owner.name}" for owner in each.metadata.owner_references]
        for each in await db.claims()
    }


async def test_each_pod_has_a_claim_for_each_template(db: Db) -> None:
    await db.started(2, volumeClaimTemplates=[claim_template("data"), claim_template("logs")])
    names = [each.metadata.name for each in await db.claims()]
    assert names == ["data-db-0", "data-db-1", "logs-db-0", "logs-db-1"]


async def test_a_claim_is_as_its_template_says_and_can_be_found_like_the_pods(db: Db) -> None:
    await db.create(1, **with_claims())
    [claim] = await db.claims()
    assert claim.metadata.labels == {"what": "data"} | LABELS
    assert claim.spec.access_modes == ["ReadWriteOnce"]
    assert claim.spec.resources is not None
    assert str(claim.spec.resources.requests["storage"]) == "1Gi"


async def test_a_pod_has_its_claims_as_volumes_beside_those_of_the_template(db: Db) -> None:
    spec = template(volumes=[{"name": "scratch", "emptyDir": {}}, {"name": "data", "emptyDir": {}}])
    await db.create(1, template=spec, volumeClaimTemplates=[claim_template()])
    data, scratch, *_ = (await db.pod("db-0")).spec.volumes
    assert data.persistent_volume_claim is not None
    assert (data.name, data.persistent_volume_claim.claim_name) == ("data", "data-db-0")
    assert (scratch.name, scratch.persistent_volume_claim) == ("scratch", None)


async def test_a_claim_is_made_before_its_pod(db: Db) -> None:
    await db.create(1, **with_claims())
    [claim] = await db.claims()
    assert int(claim.metadata.resource_version) < int((await db.pod("db-0")).metadata.resource_version)
    made = await db.events("SuccessfulCreate")
    assert "Create Claim data-db-0 Pod db-0 in StatefulSet db success" in made
    assert "Create Pod db-0 in StatefulSet db successful" in made


async def test_no_pod_is_made_if_its_claim_cannot_be(db: Db) -> None:
    full = APIStatus(status="Failure", message="exceeded quota", reason="Forbidden", code=403)
    db.cluster.weather.refuse = lambda request: full if "persistentvolumeclaims" in request.path else None
    await db.create(1, **with_claims())
    assert await db.names() == []
    assert set(await db.events("FailedCreate")) == {
        "Create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: exceeded quota",
        "Create Pod db-0 in StatefulSet db failed error: failed to create PVC data-db-0: exceeded quota",
    }
    db.cluster.weather.clear()
    await ambient.sleep(60)
    assert await db.names() == ["db-0"]


async def test_claims_outlive_pods_and_are_used_again(db: Db) -> None:
    await db.started(2, **with_claims())
    before = {each.metadata.name: each.metadata.uid for each in await db.claims()}
    await db.scale(0)
    await db.all_ready()
    await db.scale(2)
    await db.all_ready()
    assert {each.metadata.name: each.metadata.uid for each in await db.claims()} == before


async def test_a_claim_that_was_there_before_is_used(db: Db) -> None:
    await db.cluster.admin.create(_claim("data-db-0"))
    [before] = await db.claims()
    await db.create(1, **with_claims())
    [after] = await db.claims()
    assert after.metadata.uid == before.metadata.uid
    assert await db.names() == ["db-0"]


async def test_the_claim_of_a_pending_pod_comes_back(db: Db) -> None:
    await db.create(1, **with_claims())
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-0", {"metadata": {"finalizers": None}})
    await db.cluster.admin.delete(PersistentVolumeClaim, "data-db-0")
    await db.cluster.settled()
    [again] = await db.claims()
    assert again.metadata.name == "data-db-0"


async def test_no_pod_is_made_while_its_claim_is_going(db: Db) -> None:
    await db.started(1, **with_claims())
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-0", {"metadata": {"finalizers": ["a.io/b"]}})
    await db.cluster.admin.delete(PersistentVolumeClaim, "data-db-0")
    await db.delete("db-0")
    await db.let_go("db-0")
    assert await db.names() == []
    assert "Create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted" in await db.events(
        "FailedCreate"
    )
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-0", {"metadata": {"finalizers": None}})
    await ambient.sleep(60)
    assert await db.names() == ["db-0"]


async def test_an_adopted_pod_without_its_claims_is_said_to_be_wrong(db: Db) -> None:
    await db.cluster.admin.create(pod("db-0"))
    await db.cluster.make_ready(await db.pod("db-0"))
    await db.create(1, **with_claims())
    assert (await db.events("FailedUpdate"))[0].startswith("Update Pod db-0 in StatefulSet db failed error: ")


# Retention


async def test_claims_that_are_retained_belong_to_nobody(db: Db) -> None:
    await db.started(2, **with_claims())
    assert await owners(db) == {"data-db-0": [], "data-db-1": []}


async def test_claims_that_go_with_the_set_belong_to_it(db: Db) -> None:
    await db.started(2, **with_claims(when_deleted="Delete"))
    assert await owners(db) == {"data-db-0": ["StatefulSet db"], "data-db-1": ["StatefulSet db"]}
    owner = (await db.claims())[0].metadata.owner_references[0]
    assert (owner.controller, owner.block_owner_deletion) == (True, True)


async def test_claims_that_go_with_the_set_outlive_scaling(db: Db) -> None:
    await db.started(2, **with_claims(when_deleted="Delete"))
    await db.scale(1)
    await db.all_ready()
    assert await owners(db) == {"data-db-0": ["StatefulSet db"], "data-db-1": ["StatefulSet db"]}


@pytest.mark.parametrize(("when_deleted", "those_that_stay"), [("Retain", []), ("Delete", ["StatefulSet db"])])
async def test_claims_that_go_when_scaled_belong_to_the_pod_that_goes(
    db: Db, when_deleted: str, those_that_stay: list[str]
) -> None:
    await db.started(2, **with_claims(when_deleted, "Delete"))
    assert await owners(db) == {"data-db-0": those_that_stay, "data-db-1": those_that_stay}
    await db.scale(1)
    assert await db.names() == ["db-0", "db-1-"]
    assert await owners(db) == {"data-db-0": those_that_stay, "data-db-1": ["Pod db-1"]}


async def test_claims_that_go_when_scaled_are_gone_with_the_pod_and_come_back_empty(db: Db) -> None:
    await db.started(2, **with_claims("Retain", "Delete"))
    before = {each.metadata.name: each.metadata.uid for each in await db.claims()}
    await db.scale(1)
    await db.let_go("db-1")
    assert list(await owners(db)) == ["data-db-0"]
    await db.scale(2)
    after = {each.metadata.name: each.metadata.uid for each in await db.claims()}
    assert after["data-db-0"] == before["data-db-0"]
    assert after["data-db-1"] != before["data-db-1"]


async def test_claims_that_go_with_the_set_are_gone_with_it(db: Db) -> None:
    await db.started(2, **with_claims("Delete", "Retain"))
    await db.cluster.admin.delete(StatefulSet, "db")
    await db.cluster.settled()
    await db.let_go("db-0", "db-1")
    assert await owners(db) == {}


async def test_a_deleted_pod_keeps_its_claim_whatever_the_policy(db: Db) -> None:
    await db.started(1, **with_claims("Retain", "Delete"))
    await db.delete("db-0")
    assert await owners(db) == {"data-db-0": []}


async def test_a_pod_does_not_get_the_claim_of_an_earlier_one_that_is_about_to_go(db: Db) -> None:
    await db.started(1, **with_claims("Retain", "Delete"))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "db-1", "uid": "00000000-0000-0000-0000-00000000dead"}
    claim = _claim("data-db-1")
    claim.metadata.finalizers = ["a.io/b"]
    await db.cluster.admin.create(claim)
    patch = {"metadata": {"ownerReferences": [owner | {"controller": True}]}}
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-1", patch)
    await db.scale(2)
    assert await db.names() == ["db-0"]
    gone: dict[str, Any] = {"metadata": {"ownerReferences": None, "finalizers": None}}
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-1", gone)
    await ambient.sleep(60)
    assert await db.names() == ["db-0", "db-1"]


async def test_a_change_of_the_policy_is_followed(db: Db) -> None:
    await db.started(1, **with_claims())
    policy = {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}
    await db.patch(policy)
    assert await owners(db) == {"data-db-0": ["StatefulSet db"]}
    await db.patch({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain"}})
    assert await owners(db) == {"data-db-0": []}


async def test_other_owners_of_a_claim_stay(db: Db) -> None:
    keeper = await db.cluster.admin.create(ConfigMap(metadata=ObjectMeta(name="keeper")))
    await db.started(1, **with_claims())
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "keeper", "uid": keeper.metadata.uid}
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-0", {"metadata": {"ownerReferences": [owner]}})
    await db.patch({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}})
    assert await owners(db) == {"data-db-0": ["ConfigMap keeper", "StatefulSet db"]}


async def test_a_claim_that_another_controller_looks_after_is_left_to_it(db: Db) -> None:
    keeper = await db.cluster.admin.create(ConfigMap(metadata=ObjectMeta(name="keeper")))
    await db.started(1, **with_claims("Delete", "Retain"))
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "keeper", "uid": keeper.metadata.uid, "controller": True}
    await db.cluster.admin.patch(PersistentVolumeClaim, "data-db-0", {"metadata": {"ownerReferences": [owner]}})
    await db.cluster.settled()
    assert await owners(db) == {"data-db-0": ["ConfigMap keeper"]}


async def test_a_set_that_is_deleted_leaves_its_claims_as_they_are(db: Db) -> None:
    await db.started(1, **with_claims())
    await db.cluster.admin.delete(StatefulSet, "db")
    await db.cluster.settled()
    assert await owners(db) == {"data-db-0": []}


async def test_nothing_is_written_once_all_is_well(db: Db) -> None:
    await db.started(2, **with_claims("Delete", "Delete"))
    revision = db.cluster.writes
    await ambient.sleep(3600)
    assert db.cluster.writes == revision


def _claim(name: str) -> PersistentVolumeClaim:
    return codec.from_wire({"metadata": {"name": name}, "spec": claim_template()["spec"]}, PersistentVolumeClaim)
