"""What the etcd operator makes for snapshots and restores is accepted by a real API server."""

import pytest

from etcd_operator import backups, children, restore
from etcd_operator.api import EtcdCluster
from windvane import Client, Object, ObjectMeta, object_from_wire
from windvane.k8s import apps, batch, core


def everything(namespace: str, **spec: bool) -> list[Object]:
    content = {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": "prod", "namespace": namespace, "uid": "d4b3c2a1-0000-4000-8000-000000000000"},
        "spec": {"version": "3.5.1", "storageSize": "10Gi", "backupSchedule": "0 2 * * *", **spec},
    }
    cluster = object_from_wire(content, EtcdCluster)
    schedule = backups.schedule_for(cluster)
    assert schedule is not None
    return [
        backups.claim_for(cluster),
        backups.script_for(cluster),
        schedule,
        backups.job_for(cluster, name="prod-before", purpose="upgrade"),
        restore.member_claim_for(cluster),
        restore.job_for(cluster, restore="2f", volume_claim="old-backups", snapshot="monday"),
        restore.salvage_job_for(cluster, restore="3a", ordinal=2),
        children.stateful_set(cluster, 3, "3.5.1", children.Security()),
    ]


@pytest.mark.parametrize("secured", [False, True])
async def test_all_of_it_is_accepted(client: Client, namespace: str, secured: bool) -> None:
    for each in everything(namespace, tls=secured, auth=secured):
        made = await client.apply(each, field_manager="etcd-operator")
        assert made.metadata.uid


async def test_all_that_runs_is_admitted_where_pod_security_is_restricted(client: Client, namespace: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    await client.patch(core.Namespace, namespace, {"metadata": {"labels": labels}})
    account = core.ServiceAccount(metadata=ObjectMeta(name="default", namespace=namespace))
    await client.apply(account, field_manager="test")  # nobody else makes it here
    for number, each in enumerate(everything(namespace)):
        if isinstance(each, batch.Job | apps.StatefulSet):
            pod = core.Pod(metadata=ObjectMeta(name=f"pod-{number}", namespace=namespace), spec=each.spec.template.spec)
            if isinstance(each, apps.StatefulSet):
                pod.spec.volumes.append(core.Volume(name="data", empty_dir=core.EmptyDirVolumeSource()))
            assert (await client.create(pod)).metadata.uid
