"""What deploy/ says of an operator."""

from pathlib import Path

import pytest

from windvane.cli.dev.deploy_manifests import Account, read_deployed
from windvane.cli.layout import Names, lay_out
from windvane.cli.manifests import Manifest, read_manifests


def manifest(kind: str, name: str = "x", namespace: str = "", **more: object) -> Manifest:
    wire = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}
    return Manifest(Path("a"), 1, wire)


def workload(account: str, *arguments: str) -> Manifest:
    pod = {"serviceAccountName": account, "containers": [{"args": list(arguments)}]}
    return manifest("Deployment", namespace="home", spec={"template": {"spec": pod}})


def test_what_init_lays_out_says_all_that_is_needed(tmp_path: Path) -> None:
    laid_out = {str(path): text for path, text in lay_out(Names(name="website", group="example.com", kind="Website"))}
    file = tmp_path / "operator.yaml"
    file.write_text(laid_out["deploy/operator.yaml"])
    deployed = read_deployed(read_manifests(file))
    assert deployed.account == Account("website-operator", "website-operator")
    assert (deployed.installs_crds, deployed.namespaces) == (True, [])
    kinds = ["Namespace", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"]
    assert [each.kind for each in deployed.access] == kinds
    assert [each.kind for each in deployed.left_out] == ["Deployment"]


@pytest.mark.parametrize(
    ("manifests", "account", "namespaces"),
    [
        ([], None, []),
        ([manifest("ServiceAccount", "a", "n")], Account("n", "a"), []),
        ([manifest("ServiceAccount", "a"), manifest("ServiceAccount", "b")], None, []),
        (
            [manifest("ServiceAccount", "b"), workload("a", "--namespace", "x,y", "--namespace=z")],
            Account("home", "a"),
            ["x", "y", "z"],
        ),
        ([workload(""), manifest("ServiceAccount", "b")], Account("default", "b"), []),
    ],
)
def test_the_operator_is_who_its_workload_says(
    manifests: list[Manifest], account: Account | None, namespaces: list[str]
) -> None:
    deployed = read_deployed(manifests)
    assert (deployed.account, deployed.namespaces) == (account, namespaces)
