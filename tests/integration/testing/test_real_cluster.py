"""`real_cluster`: a cluster that a kubeconfig names, and that was said to be for tests. Here it is a process."""

import asyncio
from pathlib import Path

import pytest

from windvane.k8s.apiextensions import CustomResourceDefinition
from windvane.k8s.core import Namespace
from windvane.k8s.rbac import ClusterRole
from windvane.testing import ProcessCluster

HERE = Path(__file__).parent
pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
        f"pythonpath = {HERE.parents[1]}\n"
    )
    return pytester


ONE = """
from integration.testing.sites import Site, Sites, site
from windvane.k8s import core, rbac
from windvane import ObjectMeta
from windvane.testing import Unsupported
import pytest

async def test_it(real_cluster):
    await real_cluster.run(Sites().operator)
    await real_cluster.apply(site())
    await real_cluster.apply(rbac.ClusterRole(metadata=ObjectMeta(name="of-a-test")))
    await real_cluster.settled()
    assert (await real_cluster.get(Site, "blog")).status.ready == 1
    with pytest.raises(Unsupported, match="a namespace of its own, windvane-test-.*, and uses no other, not 'default'"):
        await real_cluster.list(core.Pod, namespace="default")
    with pytest.raises(Unsupported, match="leave the namespace out, or write cluster.namespace"):
        await real_cluster.apply(core.ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
    await real_cluster.apply(core.ConfigMap(metadata=ObjectMeta(name="a", namespace=real_cluster.namespace)))
"""


def test_without_a_cluster_tests_are_skipped_in_one_line(project: pytest.Pytester) -> None:
    project.makepyfile(ONE + "\nasync def test_that(any_cluster): ...\n")
    result = project.runpytest_inprocess("-p", "no:cacheprovider", "-rs", "-k", "not process_cluster")
    result.assert_outcomes(passed=1, skipped=2, deselected=1)
    result.stdout.fnmatch_lines(
        ["SKIPPED [[]2[]] *: no cluster is given to real_cluster: pytest --windvane-allow CONTEXT names a context of *"]
    )


def test_a_cluster_that_is_not_there_for_tests_is_left_alone(project: pytest.Pytester) -> None:
    project.makefile(".yaml", kubeconfig=KUBECONFIG)
    project.makepyfile(ONE)
    for arguments, instead in (
        ([], ""),
        (["--windvane-context", "prod", "--windvane-allow", "dev"], " (that is not dev)"),
    ):
        result = project.runpytest_inprocess(
            "-p", "no:cacheprovider", "--windvane-kubeconfig", "kubeconfig.yaml", *arguments
        )
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(
            [f"*namespaces on https://192.0.2.1:6443{instead}: *, say so by --windvane-allow prod"]
        )


def test_a_cluster_that_can_not_be_used_is_told_in_a_line(project: pytest.Pytester) -> None:
    project.makefile(".yaml", kubeconfig=KUBECONFIG.replace("192.0.2.1:6443", "127.0.0.1:1"))
    project.makepyfile("async def test_it(real_cluster): ...")
    for file, allowed, words in (
        ("none.yaml", "prod", "There is no kubeconfig at */none.yaml: correct the path."),
        ("kubeconfig.yaml", "dev", 'No context "dev" in *. The contexts that exist: "prod".'),
        ("kubeconfig.yaml", "prod", "real_cluster can't be used: https://127.0.0.1:1 * can't be reached: *"),
    ):
        arguments = ("--windvane-kubeconfig", file, "--windvane-allow", allowed)
        result = project.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines([words])
        assert "Traceback" not in str(result.stdout)
        assert not [line for line in result.outlines if line.startswith("E ")]


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: prod, cluster: {server: "https://192.0.2.1:6443"}}]
contexts: [{name: prod, context: {cluster: prod, user: me}}]
users: [{name: me, user: {token: none}}]
"""


async def test_what_a_test_has_made_is_gone_afterwards(
    process_cluster: ProcessCluster, project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makepyfile(ONE)
    monkeypatch.setenv("WINDVANE_TEST_KUBECONFIG", str(process_cluster.kubeconfig))
    monkeypatch.setenv("WINDVANE_TEST_ALLOW", "windvane")
    # In a thread: it waits for nothing that goes on here.
    result = await asyncio.to_thread(project.runpytest_subprocess, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    names = [each.metadata.name for each in await process_cluster.client.list(Namespace)]
    assert not [each for each in names if each.startswith("windvane-test-")]
    assert not await process_cluster.exists(ClusterRole, "of-a-test")
    assert await process_cluster.exists(CustomResourceDefinition, "sites.demo.windvane.dev")
