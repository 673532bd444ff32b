"""The rights in deploy/operator.yaml are those that the operator needs: a whole life with them, by the audit log."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import STDOUT
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from etcd_operator.api import EtcdBackup, EtcdBackupSpec, EtcdCluster, EtcdClusterSpec
from windvane import Client, NotFound, Object, ObjectMeta, Quantity, ambient, object_from_wire
from windvane.k8s import batch, core, rbac

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "operators/etcd/deploy/operator.yaml"
KINDS: dict[str, type[Object]] = {
    "Namespace": core.Namespace,
    "ServiceAccount": core.ServiceAccount,
    "ClusterRole": rbac.ClusterRole,
    "ClusterRoleBinding": rbac.ClusterRoleBinding,
    "Role": rbac.Role,
    "RoleBinding": rbac.RoleBinding,
}
WINDVANE = (sys.executable, "-m", "windvane.cli")
ACCOUNT = "system:serviceaccount:etcd-operator:etcd-operator"
PATIENCE = 180.0
NEVER_ASKED_FOR = {"etcdclusters/finalizers.etcd.windvane.dev", "etcdbackups/finalizers.etcd.windvane.dev"}
"""Rights that admission looks at on some clusters, without a request of their own."""


@asynccontextmanager
async def program(*arguments: str, log: Path, **environment: str) -> AsyncIterator[None]:
    """A command of windvane, until the end of the block."""
    path = str(ROOT / "operators/etcd/src")
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *WINDVANE, *arguments, env={**os.environ, "PYTHONPATH": path, **environment}, stdout=file, stderr=STDOUT
        )
    try:
        yield
        assert process.returncode is None, f"it ended, see {log}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def until(so: Callable[[], Any], what: str) -> None:
    """Wait until something asked for is so. What is not there is not so."""
    deadline = ambient.monotonic() + PATIENCE
    while True:
        try:
            if await so():
                return
        except NotFound:
            pass
        assert ambient.monotonic() < deadline, f"not so: {what}"
        await ambient.sleep(0.2)


async def account(client: Client) -> str:
    """A token of the operator's account, after everything of it was applied but the Deployment."""
    for wire in yaml.safe_load_all(DEPLOY.read_text()):
        if wire["kind"] in KINDS:
            await client.apply(object_from_wire(wire, KINDS[wire["kind"]]))
    return (await client.token("etcd-operator", namespace="etcd-operator")).token or ""


def kubeconfig_for(token: str, admin: Path) -> Path:
    """A kubeconfig for who has a token."""
    config = yaml.safe_load(admin.read_text())
    config["users"][0]["user"] = {"token": token}
    config["contexts"][0]["context"]["namespace"] = "etcd-operator"
    mine = admin.with_name("operator.kubeconfig")
    mine.write_text(yaml.safe_dump(config))
    return mine


def requests(audit: Path) -> Iterator[tuple[str, str, int]]:
    """What the operator asked for: the verb, the resource with its group, and the answer's code."""
    for line in audit.read_text().splitlines():
        event = json.loads(line)
        about = event.get("objectRef")
        if about and event["user"]["username"] == ACCOUNT and event["stage"] != "RequestReceived":
            resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            yield event["verb"], f"{resource}.{about.get('apiGroup', '')}", event["responseStatus"]["code"]


async def live(client: Client) -> None:
    """What a cluster may ask of the operator."""

    async def cluster() -> EtcdCluster:
        return await client.get(EtcdCluster, "prod-etcd", namespace="default")

    async def ready() -> bool:
        there = await cluster()
        conditions = {each.type: each for each in there.status.conditions}
        settled = "Ready" in conditions and conditions["Ready"].status == "True"
        return settled and conditions["Ready"].observed_generation == there.metadata.generation

    async def known() -> bool:
        await client.list(EtcdCluster)
        await client.list(EtcdBackup)
        return True

    async def backed_up() -> bool:
        return (await client.get(EtcdBackup, "now", namespace="default")).status.phase == "Complete"

    async def unscheduled() -> bool:
        return not await client.list(batch.CronJob, namespace="default")

    async def gone() -> bool:
        return not await client.list(EtcdCluster)

    await until(known, "the operator has installed its CRDs")
    spec = EtcdClusterSpec(
        version="3.5.1",
        replicas=2,
        storage_size=Quantity("1Gi"),
        backup_schedule="0 2 * * *",  # type: ignore[arg-type]
        deletion_policy="Delete",
        final_snapshot=True,
        tls=True,
    )
    await client.create(EtcdCluster(metadata=ObjectMeta(name="prod-etcd", namespace="default"), spec=spec))
    await until(ready, "two members")
    mine = ObjectMeta(name="now", namespace="default")
    await client.create(EtcdBackup(metadata=mine, spec=EtcdBackupSpec(cluster="prod-etcd")))
    await until(backed_up, "the snapshot")
    change = {"spec": {"replicas": 1, "backupSchedule": None, "storageSize": "2Gi"}}
    await client.patch(EtcdCluster, "prod-etcd", change, namespace="default")
    await until(unscheduled, "the schedule is gone")
    await until(ready, "one member")
    await client.delete(EtcdCluster, "prod-etcd", namespace="default")
    await until(gone, "the cluster is gone")


@pytest.mark.long
async def test_the_operator_lives_with_the_rights_in_the_manifest_and_uses_all_of_them(tmp_path: Path) -> None:
    directory, audit = tmp_path / "cluster", tmp_path / "audit.log"
    kubeconfig = directory / "kubeconfig"

    async def answers() -> bool:
        return kubeconfig.is_file() and "is ready" in (tmp_path / "cluster.log").read_text()

    start = ("cluster", "start", "--data", str(directory), "--audit-log", str(audit))
    async with program(*start, log=tmp_path / "cluster.log", WINDVANE_HOME=str(tmp_path)):
        await until(answers, "the cluster is ready")
        async with Client.connect(kubeconfig=kubeconfig) as client:
            mine = kubeconfig_for(await account(client), kubeconfig)
            run = ("run", "etcd_operator:operator", "--install-crds", "--metrics-port", "none")
            async with program(*run, "--kubeconfig", str(mine), log=tmp_path / "operator.log"):
                await live(client)
    asked = set(requests(audit))
    assert {(verb, resource) for verb, resource, code in asked if code == 403} == set()
    rules = [rule for wire in yaml.safe_load_all(DEPLOY.read_text()) for rule in wire.get("rules", ())]
    allowed = {f"{resource}.{rule['apiGroups'][0]}" for rule in rules for resource in rule["resources"]}
    assert allowed - {resource for _, resource, _ in asked} == NEVER_ASKED_FOR, (
        "what else is never asked for is too much"
    )
