"""Objects in files: where they are, what differs between two of them, and what deploy/ says of an operator."""

from pathlib import Path

import pytest

from windvane.cli.dev.deployed import Account, read_deployed
from windvane.cli.dev.manifests import Manifest, Unreadable, changes, manifest_files, read_manifests
from windvane.cli.layout import Names, lay_out

TWO = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: b}
data: {on: 2024-01-02}
---
# nothing
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: p}}
"""


def test_each_object_is_told_with_its_line_and_dates_are_text(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    one, other = read_manifests(file)
    assert (one.line, str(one), one.wire["data"]) == (1, "ConfigMap b/a", {True: "2024-01-02"})
    assert (other.line, str(other), other.key) == (8, "Pod p", ("v1", "Pod", "", "p"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "{file}:1: expected the node content, but found '<stream end>'"),
        ("\na: b", "{file}:2: this is no object: it needs apiVersion, kind and metadata"),
        ("- a", "{file}:1: this is no object: it needs apiVersion, kind and metadata"),
        ("{apiVersion: v1, kind: Pod, metadata: {}}", "{file}:1: Pod has no metadata.name"),
        (None, "{file} is not there"),
    ],
)
def test_what_is_no_object_is_told_with_its_line(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "a.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(Unreadable) as raised:
        read_manifests(file)
    assert str(raised.value) == said.format(file=file)


def test_files_are_those_with_objects_each_once(tmp_path: Path) -> None:
    for each in ("b.yaml", "sub/a.yml", ".draft.yaml", "kustomization.yaml", "notes.md"):
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).touch()
    assert manifest_files([tmp_path, tmp_path / "b.yaml"]) == [tmp_path / "b.yaml", tmp_path / "sub/a.yml"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"spec": {"n": 2}}, {"spec": {"n": 3}}, ["spec.n 2 → 3"]),
        ({"spec": {"n": 2}}, {"spec": {"m": True}}, ["spec.n is gone", "spec.m is true"]),
        ({"spec": {"l": [{"a": 1}]}}, {"spec": {"l": [{"a": 2}]}}, ["spec.l[0].a 1 → 2"]),
        ({"a": "x " * 40}, {"a": "y"}, ["a " + ("x " * 30) + "… → y"]),
        ({"kind": "Secret", "data": {"k": "old"}}, {"kind": "Secret", "data": {"k": "new"}}, ["data.k"]),
        ({"a": 1}, {"a": 1}, []),
    ],
)
def test_what_differs_is_told_by_field_and_no_secret_with_it(
    before: dict[str, object], after: dict[str, object], said: list[str]
) -> None:
    assert changes(Manifest(Path("a"), 1, before), Manifest(Path("a"), 1, after)) == said


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
