"""What the etcd operator makes for snapshots and restores is accepted by a real API server."""

import pytest

from etcd_operator import backups, restore
from etcd_operator.api import EtcdCluster
from windvane import Client, Object, object_from_wire


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
    ]


@pytest.mark.parametrize("secured", [False, True])
async def test_all_of_it_is_accepted(client: Client, namespace: str, secured: bool) -> None:
    for each in everything(namespace, tls=secured, auth=secured):
        made = await client.apply(each, field_manager="etcd-operator")
        assert made.metadata.uid
