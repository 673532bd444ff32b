import pytest

from windvane.api.condition import Condition
from windvane.api.struct import Struct
from windvane.cluster.apiserver.schema.zero_values import zero_is_absent_in
from windvane.k8s import apps, core, policy


@pytest.mark.parametrize(
    ("cls", "field"),
    [
        (core.PodSpec, "hostNetwork"),
        (core.ContainerPort, "hostPort"),
        (apps.DeploymentStatus, "observedGeneration"),
        (core.EphemeralContainer, "stdin"),  # folded in
        (core.ConfigMapKeySelector, "name"),  # folded in
    ],
)
def test_where_go_omits_zero_it_means_nothing(cls: type[Struct], field: str) -> None:
    assert field in zero_is_absent_in(cls)


@pytest.mark.parametrize(
    ("cls", "field"),
    [
        (apps.DeploymentSpec, "replicas"),  # a pointer
        (core.PersistentVolumeClaimSpec, "storageClassName"),  # a pointer
        (apps.StatefulSetStatus, "replicas"),  # always written
        (Condition, "message"),  # always written
        (policy.DeleteOptions, "gracePeriodSeconds"),  # a pointer
    ],
)
def test_where_go_writes_zero_it_says_something(cls: type[Struct], field: str) -> None:
    assert field not in zero_is_absent_in(cls)
