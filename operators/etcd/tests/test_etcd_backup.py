"""An EtcdBackup on a cluster with real pods: its Job takes a snapshot of a real etcd."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from etcd_operator import backup_controller, backups
from etcd_operator.api import EtcdBackup, EtcdBackupSpec, EtcdCluster
from integration.processes.clusters import cluster, create, until
from windvane import Client, ObjectMeta, Operator, find_condition, object_from_wire
from windvane.k8s import batch, core
from windvane.runtime.crds import install_crds

ETCD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "prod-0", "namespace": "default", "labels": {"app": "prod"}},
    "spec": {
        "containers": [
            {
                "name": "etcd",
                "image": "quay.io/coreos/etcd:v3.5.1",
                "command": [
                    "/usr/local/bin/etcd",
                    "--data-dir=/data/etcd",
                    "--listen-client-urls=http://$(WINDVANE_POD_IP):2379",
                    "--advertise-client-urls=http://$(WINDVANE_POD_IP):2379",
                    "--listen-peer-urls=http://$(WINDVANE_POD_IP):2380",
                    "--initial-advertise-peer-urls=http://$(WINDVANE_POD_IP):2380",
                    "--initial-cluster=default=http://$(WINDVANE_POD_IP):2380",
                ],
                "env": [{"name": "WINDVANE_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
                "readinessProbe": {"httpGet": {"port": 2379, "path": "/health"}, "periodSeconds": 1},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }
        ],
        "volumes": [{"name": "data", "emptyDir": {}}],
    },
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "prod-client", "namespace": "default"},
    "spec": {"selector": {"app": "prod"}, "ports": [{"port": 2379}]},
}
PROD = {
    "apiVersion": "etcd.windvane.dev/v1alpha1",
    "kind": "EtcdCluster",
    "metadata": {"name": "prod", "namespace": "default"},
    "spec": {"version": "3.5.1", "storageSize": "1Gi"},
}


@asynccontextmanager
async def operator_at_work(client: Client) -> AsyncIterator[None]:
    """The controller of EtcdBackups; that of EtcdClusters is not needed."""
    operator = Operator("etcd-operator")
    operator.controller(EtcdBackup, watches=backup_controller.WATCHES)(backup_controller.reconcile_backup)
    work = asyncio.ensure_future(operator.run(client))
    try:
        yield
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


def backup(name: str) -> EtcdBackup:
    return EtcdBackup(metadata=ObjectMeta(name=name, namespace="default"), spec=EtcdBackupSpec(cluster="prod"))


def said(found: EtcdBackup) -> str:
    condition = find_condition(found.status.conditions, "Ready")
    return f"{condition.status} {condition.message}" if condition else ""


def ready(pod: Any) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with cluster(tmp_path) as (_, client):
        await install_crds(client, [EtcdCluster, EtcdBackup])
        async with operator_at_work(client):
            yield client


async def test_a_backup_waits_for_its_cluster_is_taken_once_and_stays(client: Client) -> None:
    await client.create(backup("mine"))
    found = await until(client, EtcdBackup, "mine", said)
    assert said(found) == "False there is no EtcdCluster 'prod' in namespace 'default'"

    made = object_from_wire(PROD, EtcdCluster)
    await create(client, made)
    await until(client, EtcdBackup, "mine", lambda found: "has no members yet" in said(found))

    await create(client, backups.script_for(made))
    await create(client, object_from_wire(SERVICE, core.Service))
    await create(client, object_from_wire(ETCD, core.Pod))
    await until(client, core.Pod, "prod-0", ready)
    status = {"status": {"clusterID": "1", "version": "3.5.1"}}
    await client.patch(EtcdCluster, "prod", status, namespace="default", subresource="status")

    found = await until(client, EtcdBackup, "mine", lambda found: found.status.phase in ("Complete", "Failed"))
    assert found.status.phase == "Complete", said(found)
    snapshot = found.status.snapshot
    assert snapshot.name == f"mine-{found.metadata.uid[:8]}"
    assert snapshot.volume_claim == "prod-backups"
    assert snapshot.size > 0
    assert len(snapshot.sha256) == 64
    assert snapshot.version == "3.5.1"
    claim = await client.get(core.PersistentVolumeClaim, "prod-backups", namespace="default")
    assert claim.metadata.owner_references == []

    await client.delete(batch.Job, snapshot.name, namespace="default", propagation="Background")
    await client.patch(EtcdBackup, "mine", {"metadata": {"labels": {"look": "again"}}}, namespace="default")
    await client.create(backup("another"))  # when this one is seen to, so was the other
    await until(client, EtcdBackup, "another", lambda found: found.status.phase == "Complete")
    assert len(await client.list(batch.Job, namespace="default")) == 1
    again = await client.get(EtcdBackup, "mine", namespace="default")
    assert (again.status.phase, said(again)) == ("Complete", said(found))


async def test_a_backup_of_an_etcd_that_does_not_answer_says_so(client: Client) -> None:
    made = object_from_wire(PROD, EtcdCluster)
    await create(client, made)
    await create(client, backups.script_for(made))
    await create(client, object_from_wire(SERVICE, core.Service))
    status = {"status": {"clusterID": "1", "version": "3.5.1"}}
    await client.patch(EtcdCluster, "prod", status, namespace="default", subresource="status")
    await client.create(backup("mine"))
    await until(
        client,
        EtcdBackup,
        "mine",
        lambda found: "etcd does not answer at http://prod-client.default.svc:2379" in said(found),
    )
