"""The manifests of the etcd operator are good on a real cluster: those that run it, and the samples."""

from pathlib import Path

import pytest

from etcd_operator.api import EtcdBackup, EtcdCluster
from reference.controlplane import ReferenceControlPlane
from reference.served import serve

ETCD = Path(__file__).parents[2] / "operators" / "etcd"
SAMPLES = sorted((ETCD / "samples").glob("*.yaml"))


@pytest.fixture(scope="module", autouse=True)
def served(reference: ReferenceControlPlane) -> ReferenceControlPlane:
    """The control plane, once it serves the operator's kinds."""
    serve(reference, EtcdCluster)
    serve(reference, EtcdBackup)
    return reference


def test_the_manifests_that_run_the_operator_are_accepted(served: ReferenceControlPlane) -> None:
    told = served.kubectl("apply", "--validate=strict", "-f", str(ETCD / "deploy" / "operator.yaml"))
    assert [line.split()[0] for line in told.splitlines()] == [
        "namespace/etcd-operator",
        "serviceaccount/etcd-operator",
        "clusterrole.rbac.authorization.k8s.io/etcd-operator",
        "clusterrolebinding.rbac.authorization.k8s.io/etcd-operator",
        "role.rbac.authorization.k8s.io/etcd-operator",
        "rolebinding.rbac.authorization.k8s.io/etcd-operator",
        "deployment.apps/etcd-operator",
    ]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_each_sample_is_accepted(sample: Path, served: ReferenceControlPlane, namespace: str) -> None:
    assert "created" in served.kubectl("apply", "--validate=strict", "-n", namespace, "-f", str(sample))
