"""The wheel and the sdist in fresh environments: they need a package index alone, and have what users need."""

import json
import re
import ssl
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.distributions import Distributions, Environment
from integration.server_process import Access
from reference.controlplane import Programs
from windvane.cluster.apiserver.documentation import FILE

CLUSTER = ".local/share/windvane/clusters/default"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    return Distributions.built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def environment(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment.fresh(tmp_path_factory.mktemp("wheel"))
    environment.pip("install", f"windvane[test] @ {distributions.wheel.as_uri()}")
    return environment


@pytest.fixture
def cluster(environment: Environment) -> Iterator[Access]:
    """A cluster of the installed windvane."""
    environment.run("windvane", "cluster", "start", "--memory", "--detach")
    try:
        yield Access.of(environment.home / CLUSTER)
    finally:
        environment.run("windvane", "cluster", "stop")


@pytest.mark.long
def test_the_installed_command_starts_and_says_the_wheels_version(
    environment: Environment, distributions: Distributions
) -> None:
    assert re.search(r"^ +init +lay out", environment.run("windvane", "--help"), re.MULTILINE)
    assert environment.run("windvane", "--version").split() == ["windvane", distributions.version]
    environment.pip("check")


@pytest.mark.long
def test_its_cluster_answers_as_kubectl_asks_and_describes_built_in_kinds(cluster: Access) -> None:
    as_a_table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    table = ask(cluster, "/api/v1/namespaces", as_a_table)
    assert {"default", "kube-system"} <= {row["cells"][0] for row in table["rows"]}
    deployments = ask(cluster, "/openapi/v3/apis/apps/v1", "application/json")["components"]["schemas"]
    spec = deployments["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]
    assert "pods" in spec["replicas"]["description"]


def ask(cluster: Access, path: str, accept: str) -> Any:
    headers = {"Authorization": f"Bearer {cluster.token}", "Accept": accept}
    request = urllib.request.Request(cluster.url + path, headers=headers)
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=cluster.ca_file)) as answer:
        return json.load(answer)


@pytest.mark.reference
def test_kubectl_explains_built_in_kinds(environment: Environment, cluster: Access) -> None:
    kubectl = Programs.find().directory / "kubectl"
    more = {"KUBECONFIG": environment.run("windvane", "cluster", "kubeconfig").strip()}
    explained = environment.run(kubectl, "explain", "deployments.spec.replicas", more=more)
    assert re.search(r"DESCRIPTION:\n +Number of desired pods", explained)
    for kind in ("pods", "pods.spec", "services.spec", "cronjobs.spec", "roles.rules"):
        assert "<no description>" not in environment.run(kubectl, "explain", kind, more=more)


@pytest.mark.long
def test_what_windvane_init_lays_out_passes_its_tests(environment: Environment, tmp_path: Path) -> None:
    environment.run("windvane", "init", "website", cwd=tmp_path)
    environment.pip("install", "--editable", f"{tmp_path}/website[test]")
    said = environment.run("pytest", cwd=tmp_path / "website")
    assert re.search(r"^=+ \d+ passed in ", said, re.MULTILINE)


@pytest.mark.long
def test_a_wheel_from_the_sdist_is_the_wheel_from_the_checkout(distributions: Distributions, tmp_path: Path) -> None:
    """Built as pip does it, in an environment of its own from the package index."""
    builder = Environment.fresh(tmp_path)
    builder.pip("wheel", "--no-deps", "--wheel-dir", tmp_path, distributions.sdist)
    [wheel] = tmp_path.glob("*.whl")
    assert checksums(wheel) == checksums(distributions.wheel)


def checksums(wheel: Path) -> dict[str, int]:
    return {each.filename: each.CRC for each in zipfile.ZipFile(wheel).infolist()}


@pytest.mark.long
def test_the_wheel_has_windvane_with_its_descriptions_and_nothing_else(distributions: Distributions) -> None:
    inside = checksums(distributions.wheel)
    assert {name.split("/")[0] for name in inside if ".dist-info/" not in name} == {"windvane"}
    assert inside[f"windvane/cluster/apiserver/{FILE.name}"] == zlib.crc32(FILE.read_bytes())
