"""`process_cluster`: pods are programs of this machine, and time is real."""

import os
import re
import shlex
import sys
from pathlib import Path

import aiohttp
import pytest

from integration.testing.sites import Site, Sites, site
from windvane import LabelSelector, ObjectMeta
from windvane.k8s import apps, core
from windvane.testing import Cluster, ProcessCluster, Unsupported

PAGE = (sys.executable, "-m", "http.server", "8080", "--bind")  # and an address: pods share this machine's


README = Path(__file__).parents[3] / "README.md"


def web(image: str) -> apps.Deployment:
    its_own = core.EnvVarSource(field_ref=core.ObjectFieldSelector(field_path="status.podIP"))
    address = core.EnvVar(name="ADDRESS", value_from=its_own)
    probe = core.Probe(http_get=core.HTTPGetAction(port=8080), period_seconds=1)
    container = core.Container(name="web", image=image, args=["$(ADDRESS)"], env=[address], readiness_probe=probe)
    return deployment(container)


def deployment(container: core.Container, *, replicas: int = 1) -> apps.Deployment:
    labels = {"app": "web"}
    template = core.PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=core.PodSpec(containers=[container]))
    spec = apps.DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=labels), template=template)
    return apps.Deployment(metadata=ObjectMeta(name="web"), spec=spec)


async def test_programs_run_and_can_be_talked_to(process_cluster: Cluster) -> None:
    process_cluster.pods.program("example.com/page:*", *PAGE)
    await process_cluster.apply(web("example.com/page:1"))
    port = core.ServicePort(port=80, target_port=8080)
    await process_cluster.apply(
        core.Service(metadata=ObjectMeta(name="web"), spec=core.ServiceSpec(selector={"app": "web"}, ports=[port]))
    )
    await process_cluster.settled()
    assert (await process_cluster.get(apps.Deployment, "web")).status.ready_replicas == 1
    (pod,) = await process_cluster.list(core.Pod)
    async with aiohttp.ClientSession() as session, session.get(f"http://{pod.status.pod_ip}:8080/") as answer:
        assert answer.status == 200


async def test_the_deployment_of_the_readme_runs(process_cluster: Cluster) -> None:
    said = re.search(r"^\$ kubectl create deployment web (.*) -- (.*)$", README.read_text(), re.MULTILINE)
    assert said is not None
    options = dict(each.split("=") for each in shlex.split(said[1]))
    probe = core.Probe(tcp_socket=core.TCPSocketAction(port=8000), period_seconds=1)
    container = core.Container(
        name="web", image=options["--image"], command=shlex.split(said[2]), readiness_probe=probe
    )
    await process_cluster.apply(deployment(container, replicas=int(options["--replicas"])))
    await process_cluster.settled()
    pods = await process_cluster.list(core.Pod)
    assert [each.status.container_statuses[0].ready for each in pods] == [True, True]
    assert [each.status.container_statuses[0].restart_count for each in pods] == [0, 0]


async def test_nothing_of_it_is_left() -> None:
    async with ProcessCluster() as cluster:
        directory = cluster.kubeconfig.parents[1]
        cluster.pods.program("example.com/page:*", *PAGE)
        await cluster.apply(web("example.com/page:1"))
        await cluster.settled()
        marked = _processes_with(directory)
        assert marked
    assert not directory.exists()
    assert not set(marked) & set(_processes_with(directory))


def _processes_with(directory: Path) -> list[str]:
    """The processes whose environment, or command, names a directory."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            told = (each / "environ").read_bytes() + (each / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended, or is another user's
        if os.fsencode(directory) in told:
            found.append(each.name)
    return found


async def test_what_can_not_be_says_what_to_do_instead(process_cluster: Cluster) -> None:
    pod = core.Pod(metadata=ObjectMeta(name="web"), spec=core.PodSpec(containers=[]))
    with pytest.raises(Unsupported, match=r"time is real on this cluster, .* make the delay a setting"):
        await process_cluster.advance(hours=1)
    with pytest.raises(Unsupported, match=r"cluster\.pods\.program\('nginx', \.\.\.\); or have"):
        process_cluster.pods.behave("nginx", "exit=1")
    with pytest.raises(Unsupported, match="or delete the pod; or have this test on the fixture `cluster`"):
        process_cluster.pods.crash(pod)
    with pytest.raises(Unsupported, match="have the readinessProbe of 'web' fail; or have"):
        process_cluster.pods.set_ready(pod, False)


async def test_an_operator_that_is_cut_off_catches_up(process_cluster: ProcessCluster) -> None:
    replica = await process_cluster.run(Sites().operator)
    await process_cluster.apply(site())
    await process_cluster.settled()
    replica.weather.fall()
    async with process_cluster.edit(Site, "blog") as one:
        one.spec.copies = 2
    process_cluster.patience = 1.0  # nobody will see that change
    await process_cluster.settled()
    assert (await process_cluster.get(apps.Deployment, "blog")).spec.replicas == 1
    replica.weather.clear()
    await process_cluster.settled()
    assert (await process_cluster.get(Site, "blog")).status.ready == 2
