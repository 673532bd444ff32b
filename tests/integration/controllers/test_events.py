"""Events of the built-in controllers come from the components that they come from on any other cluster."""

from collections.abc import Sequence

import pytest

from integration.controllers.cluster import Cluster
from integration.controllers.stateful import statefulset
from integration.controllers.workloads import cronjob, daemonset, deployment, job, node, replicationcontroller
from windvane import Object
from windvane.api import codec
from windvane.k8s.core import Event, PersistentVolumeClaim
from windvane.k8s.policy import PodDisruptionBudget

CLAIM = codec.from_wire(
    {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    },
    PersistentVolumeClaim,
)
BUDGET = codec.from_wire(
    {"metadata": {"name": "web"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}},
    PodDisruptionBudget,
)


@pytest.mark.parametrize(
    ("made", "reason", "kind", "component"),
    [
        ([deployment(1)], "ScalingReplicaSet", "Deployment", "deployment-controller"),
        ([deployment(1)], "SuccessfulCreate", "ReplicaSet", "replicaset-controller"),
        ([replicationcontroller(1)], "SuccessfulCreate", "ReplicationController", "replication-controller"),
        ([statefulset(1)], "SuccessfulCreate", "StatefulSet", "statefulset-controller"),
        ([node("a"), daemonset()], "SuccessfulCreate", "DaemonSet", "daemonset-controller"),
        ([job()], "SuccessfulCreate", "Job", "job-controller"),
        ([cronjob("* * * * *")], "SuccessfulCreate", "CronJob", "cronjob-controller"),
        ([BUDGET], "NoPods", "PodDisruptionBudget", "controllermanager"),
        ([CLAIM], "FailedBinding", "PersistentVolumeClaim", "persistentvolume-controller"),
    ],
)
async def test_an_event_comes_from_its_controller(
    cluster: Cluster, made: Sequence[Object], reason: str, kind: str, component: str
) -> None:
    for each in made:
        await cluster.admin.create(each)
    found: list[Event] = []

    async def is_told() -> object:
        events = await cluster.list(Event)
        found[:] = [each for each in events if (each.reason, each.involved_object.kind) == (reason, kind)]
        return found

    await cluster.until_async(is_told)
    assert found[0].source is not None
    assert (found[0].source.component, found[0].reporting_component) == (component, component)
