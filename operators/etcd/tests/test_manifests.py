"""What the operator makes, and what it is given, judged by the real kube-apiserver and by the embedded one alike."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.crds import serve
from conformance.embedded import embedded_server
from conformance.requests import Raw
from conformance.servers import Server, reference_server
from etcd_operator import auth, backups, children, names, restore, tls, transport
from etcd_operator.api import EtcdBackup, EtcdCluster, EtcdClusterStatus
from etcd_operator.children import Joining, Security
from model.machine import Machine
from model.operating import Operating
from reference.conftest import why_not
from windvane import Object, crd, kind_of, object_to_wire
from windvane.k8s import apps, batch, core
from worlds import cluster

NOW = datetime(2026, 1, 1, tzinfo=UTC)
IMAGES = {"quay.io/coreos/etcd", "python"}
"""All images that pods may have, without their tags: public ones."""
SHELLS = {"sh", "bash", "ash", "dash", "/bin/sh", "/bin/bash", "busybox"}
HOME = Path(__file__).parents[1]
SAMPLES = sorted((HOME / "samples").glob("*.yaml"))
DEPLOY = HOME / "deploy" / "operator.yaml"
UNPLACED = ("namespaces", "clusterroles", "clusterrolebindings", "customresourcedefinitions")
PLACE = "/apis/etcd.windvane.dev/v1alpha1/namespaces/{ns}/etcdclusters"

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "one that has everything": {
        "replicas": 9,
        "storageClass": "fast",
        "backupSchedule": "*/5 * * * 1-5",
        "backupStorageSize": "100Gi",
        "tls": True,
        "auth": True,
        "quota": "8Gi",
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "restore": {"volumeClaim": "old-backups"},
    },
    "a newer etcd": {"version": "3.6.1", "backupSchedule": "@daily"},
}


def manifests(asked: EtcdCluster) -> list[Object]:
    """Everything that the operator makes for a cluster."""
    name = asked.metadata.name
    secured = Security()
    secrets: list[core.Secret] = []
    if asked.spec.tls:
        secrets = tls.decide(asked, {}, now=NOW, all_pods_at=True).secrets
        secured = Security("https", transport.member_flags(), transport.member_volumes(name), transport.member_mounts())
    if asked.spec.auth:
        secrets.append(auth.new_root(asked))
    urls = {0: names.peer_url(name, asked.metadata.namespace, 0, scheme=secured.scheme)}
    made: list[Object | None] = [
        children.peers_service(asked),
        children.client_service(asked),
        children.disruption_budget(asked),
        children.configuration(asked, Joining("new", names.initial_cluster(name, urls, 0))),
        children.stateful_set(asked, asked.spec.replicas, asked.spec.version, secured),
        *secrets,
        backups.claim_for(asked),
        backups.script_for(asked),
        backups.schedule_for(asked),
        backups.job_for(asked, name=f"{name}-once", purpose="ondemand"),
        restore.member_claim_for(asked),
        restore.job_for(asked, restore="u-1", volume_claim="old-backups"),
        restore.reading_job_for(asked, restore="u-1", volume_claim="old-backups", snapshot="monday"),
    ]
    return [each for each in made if each is not None]


def pods(asked: EtcdCluster) -> list[core.PodSpec]:
    """What all of its pods are."""
    found = []
    for each in manifests(asked):
        if isinstance(each, apps.StatefulSet | batch.Job):
            found.append(each.spec.template.spec)
        elif isinstance(each, batch.CronJob):
            found.append(each.spec.job_template.spec.template.spec)
    return found


def containers(asked: EtcdCluster) -> list[core.Container]:
    """All containers of all pods."""
    return [each for pod in pods(asked) for each in (*pod.init_containers, *pod.containers)]


# What needs no server


@pytest.mark.parametrize("spec", VARIANTS.values(), ids=VARIANTS)
def test_no_command_and_no_probe_needs_a_shell(spec: dict[str, Any]) -> None:
    for container in containers(cluster(**spec)):
        assert container.command, "the image's own entrypoint may be a script"
        assert container.command[0] not in SHELLS
        for probe in (container.readiness_probe, container.liveness_probe, container.startup_probe):
            assert probe is None or probe.exec is None


@pytest.mark.parametrize("spec", VARIANTS.values(), ids=VARIANTS)
def test_all_images_are_public_ones_with_a_tag(spec: dict[str, Any]) -> None:
    for container in containers(cluster(**spec)):
        image, _, tag = (container.image or "").rpartition(":")
        assert image in IMAGES
        assert tag not in ("", "latest")


def test_nobody_owns_volumes() -> None:
    for each in manifests(cluster(**VARIANTS["one that has everything"])):
        if isinstance(each, core.PersistentVolumeClaim):
            assert not each.metadata.owner_references
        if isinstance(each, apps.StatefulSet):
            assert each.spec.persistent_volume_claim_retention_policy is None  # Retain


def test_everything_is_found_by_its_cluster() -> None:
    for each in manifests(cluster(**VARIANTS["one that has everything"])):
        assert each.metadata.labels[names.LABEL_CLUSTER] == "prod", each.metadata.name


async def test_nothing_is_made_that_is_not_judged_here() -> None:
    asked = cluster(status=EtcdClusterStatus())
    judged = {(each.kind, each.metadata.name) for each in manifests(asked)}
    machine = Machine(asked)
    operating = Operating(machine)
    for _ in range(30):
        await operating.reconcile()
        machine.round()
        machine.raft.now += 2
    assert operating.stated
    assert operating.stated <= judged


# What servers say


@pytest.fixture(scope="module", params=[pytest.param("reference", marks=pytest.mark.reference), "embedded"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that serves our kinds."""
    if request.param == "reference" and (reason := why_not()) is not None:
        if os.environ.get("WINDVANE_REQUIRE_REFERENCE") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with reference_server() if request.param == "reference" else embedded_server() as running:

        async def serve_kinds() -> None:
            async with Raw(running.url, running.ca_file, running.token) as raw:
                for kind in (EtcdCluster, EtcdBackup):
                    await serve(raw, object_to_wire(crd(kind)))

        asyncio.run(serve_kinds())
        yield running


@pytest.fixture
async def raw(server: Server) -> AsyncIterator[Raw]:
    """Sends requests, to a namespace that no other test uses."""
    async with _in_new_namespace(server) as raw:
        yield raw


@asynccontextmanager
async def _in_new_namespace(server: Server) -> AsyncIterator[Raw]:
    async with Raw(server.url, server.ca_file, server.token) as raw:
        made = await raw.ok("POST /api/v1/namespaces", {"metadata": {"generateName": "etcd-"}})
        raw.namespace = made["metadata"]["name"]
        yield raw


def documents(file: Path) -> list[dict[str, Any]]:
    """What is in a file of manifests."""
    return list(yaml.safe_load_all(file.read_text()))


async def accepted(raw: Raw, resource: str, content: dict[str, Any]) -> None:
    """Apply something, strictly. It must be taken without a word."""
    group, name = content["apiVersion"], content["metadata"]["name"]
    place = "" if resource in UNPLACED else f"/namespaces/{raw.namespace}"
    path = f"/{'apis' if '/' in group else 'api'}/{group}{place}/{resource}/{name}"
    answer = await raw(f"PATCH {path}?fieldManager=etcd-operator&fieldValidation=Strict", content, patch="apply")
    assert answer.code in (200, 201), answer.json
    assert not answer.warnings


@pytest.mark.parametrize("spec", VARIANTS.values(), ids=VARIANTS)
async def test_every_manifest_is_accepted_as_it_is(raw: Raw, spec: dict[str, Any]) -> None:
    asked = cluster(**spec)
    asked.metadata.namespace = raw.namespace
    for each in manifests(asked):
        await accepted(raw, kind_of(each).plural, object_to_wire(each))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: each.name)
async def test_the_samples_are_accepted(raw: Raw, sample: Path) -> None:
    for content in documents(sample):
        await accepted(raw, f"{content['kind'].lower()}s", content)


async def test_what_deploys_the_operator_is_accepted(raw: Raw) -> None:
    for content in documents(DEPLOY):
        if "namespace" in content["metadata"]:
            content["metadata"]["namespace"] = raw.namespace
        await accepted(raw, f"{content['kind'].lower()}s", content)


def written(**spec: Any) -> dict[str, Any]:
    """An EtcdCluster as a user sends it."""
    return {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": "prod"},
        "spec": {"version": "3.5.1", "storageSize": "10Gi", **spec},
    }


async def test_what_is_not_said_is_filled_in(raw: Raw) -> None:
    made = await raw.ok(f"POST {PLACE}?fieldValidation=Strict", written())
    assert (made["spec"]["replicas"], made["spec"]["deletionPolicy"]) == (3, "Retain")


async def test_a_backup_is_accepted(raw: Raw) -> None:
    wanted = {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdBackup",
        "metadata": {"name": "before-friday"},
        "spec": {"cluster": "prod"},
    }
    place = PLACE.replace("etcdclusters", "etcdbackups")
    await raw.ok(f"POST {place}?fieldValidation=Strict", wanted)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({"replicas": 0}, "spec.replicas in body should be greater than or equal to 1"),
        ({"replicas": 99}, "spec.replicas in body should be less than or equal to 9"),
        ({"version": "latest"}, "version must be three numbers, such as 3.5.1"),
        ({"version": "v3.5.1"}, "version must be three numbers, such as 3.5.1"),
        ({"version": "3.3.27"}, "version must be 3.4.0 or newer"),
        ({"storageSize": "lots"}, "spec.storageSize"),
        ({"storageSize": "0"}, "storageSize must be more than nothing"),
        ({"storageSize": "-1Gi"}, "storageSize must be more than nothing"),
        ({"backupSchedule": "at night"}, "backupSchedule must be a cron schedule of five fields"),
        ({"backupSchedule": "61 2 * * *"}, "backupSchedule must be a cron schedule of five fields"),
        ({"backupSchedule": "0 2 * *"}, "backupSchedule must be a cron schedule of five fields"),
        ({"replaceAfter": "9s"}, "replaceAfter must be 10s or more"),
        ({"restore": {"backup": "a", "volumeClaim": "b"}}, "backup"),
        ({"recovery": {"giveUp": "please"}}, "spec.recovery.giveUp"),
        ({"deletionPolicy": "Forget"}, 'Unsupported value: "Forget"'),
        ({"colour": "red"}, 'unknown field "spec.colour"'),
    ],
    ids=str,
)
async def test_a_bad_spec_is_refused_with_the_reason(raw: Raw, spec: dict[str, Any], complaint: str) -> None:
    answer = await raw(f"POST {PLACE}?fieldValidation=Strict", written(**spec))
    assert answer.code in (400, 422), answer.json
    assert complaint in answer.json["message"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("x" * 41, "the name must have 40 characters at most"), ("3-etcds", "the name must be one of a Service, too")],
)
async def test_a_name_that_can_not_be_is_refused(raw: Raw, name: str, complaint: str) -> None:
    answer = await raw(f"POST {PLACE}", {**written(), "metadata": {"name": name}})
    assert answer.code == 422
    assert complaint in answer.json["message"]


@pytest.mark.parametrize(
    ("before", "change", "complaint"),
    [
        ({}, {"storageSize": "9Gi"}, "storageSize can't shrink"),
        ({}, {"tls": True}, "tls can't be changed"),
        ({"tls": True}, {"tls": False}, "tls can't be changed"),
        ({"auth": True}, {"auth": False}, "auth can't be switched off again"),
        ({}, {"storageClass": "fast"}, "storageClass can't be changed"),
        ({"storageClass": "slow"}, {"storageClass": "fast"}, "storageClass can't be changed"),
        ({}, {"restore": {"backup": "a"}}, "restore says where the data came from"),
        ({}, {"version": "3.4.23"}, "version 3.4.23 can not follow 3.5.1, which runs: upgrade by one minor version"),
        ({}, {"version": "3.5.0"}, "version 3.5.0 can not follow 3.5.1, which runs"),
        ({}, {"version": "3.7.0"}, "version 3.7.0 can not follow 3.5.1, which runs"),
        ({}, {"version": "4.0.0"}, "version must be 3.4.0 or newer"),
    ],
    ids=str,
)
async def test_a_bad_change_is_refused_with_the_reason(
    raw: Raw, before: dict[str, Any], change: dict[str, Any], complaint: str
) -> None:
    await running(raw, **before)
    answer = await raw(f"PATCH {PLACE}/prod", {"spec": change}, patch="merge")
    assert answer.code == 422, answer.json
    assert complaint in answer.json["message"]


@pytest.mark.parametrize(
    "change",
    [{"storageSize": "11Gi"}, {"version": "3.5.9"}, {"version": "3.6.0"}, {"replicas": 5}, {"auth": True}],
    ids=str,
)
async def test_a_good_change_is_accepted(raw: Raw, change: dict[str, Any]) -> None:
    await running(raw)
    await raw.ok(f"PATCH {PLACE}/prod", {"spec": change}, patch="merge")


async def test_the_status_is_accepted_as_the_operator_writes_it(raw: Raw) -> None:
    made = await running(raw)
    asked = cluster(status=EtcdClusterStatus(cluster_id="abc", version="3.5.1", ready="3/3", quorum="Healthy"))
    status = object_to_wire(asked)["status"]
    answer = await raw.ok(
        f"PATCH {PLACE}/prod/status?fieldValidation=Strict",
        {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "status": status},
        patch="merge",
    )
    assert answer["status"]["clusterID"] == "abc"


async def running(raw: Raw, **spec: Any) -> dict[str, Any]:
    """An EtcdCluster that runs 3.5.1, as its status says."""
    await raw.ok(f"POST {PLACE}", written(**spec))
    made: dict[str, Any] = await raw.ok(f"PATCH {PLACE}/prod/status", {"status": {"version": "3.5.1"}}, patch="merge")
    return made
