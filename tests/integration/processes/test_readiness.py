"""An operator in two pods that has no rights to its Lease: its Deployment is not available before it has them."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp

from integration.processes.clusters import PATIENCE, cluster, create, until
from windvane import Client, ambient, object_from_wire
from windvane.k8s.apps import Deployment
from windvane.k8s.core import Pod
from windvane.k8s.rbac import ClusterRole, ClusterRoleBinding

OPERATOR = """
from windvane import Context, Operator
from windvane.k8s.core import ConfigMap

operator = Operator("idle")


@operator.controller(ConfigMap)
async def reconcile(it: ConfigMap, ctx: Context) -> None: ...
"""
GROUP = "rbac.authorization.k8s.io"
READ = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}


def role(*rules: dict[str, Any]) -> ClusterRole:
    return object_from_wire({"metadata": {"name": "idle"}, "rules": list(rules)}, ClusterRole)


def binding() -> ClusterRoleBinding:
    wire = {
        "metadata": {"name": "idle"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "idle"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    }
    return object_from_wire(wire, ClusterRoleBinding)


def deployment(program: Path) -> Deployment:
    container = {
        "name": "operator",
        "image": "idle:1",
        "args": ["run", f"{program}:operator", "--metrics-host", "$(WINDVANE_POD_IP)"],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 1, "timeoutSeconds": 30},
    }
    labels = {"app": "idle"}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return object_from_wire({"metadata": {"name": "idle", "namespace": "default"}, "spec": spec}, Deployment)


async def all_answer(client: Client, words: str) -> None:
    """Wait until /readyz of both pods says something."""
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
        while True:
            addresses = [each.status.pod_ip for each in await client.list(Pod, namespace="default")]
            said = []
            for address in filter(None, addresses):
                with suppress(aiohttp.ClientError):  # it does not listen yet
                    async with session.get(f"http://{address}:8080/readyz") as answer:
                        said.append(await answer.text() if answer.status == 503 else "")
            if len(said) == 2 and all(words in each for each in said):
                return
            await ambient.sleep(0.1)


async def test_a_deployment_without_rights_to_its_lease_is_not_available_before_it_has_them(tmp_path: Path) -> None:
    program = tmp_path / "idle.py"
    program.write_text(OPERATOR)
    added = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "windvane.cli", "image", "add", "idle:1", "--", sys.executable, "-m", "windvane.cli"),
        env={**os.environ, "WINDVANE_HOME": str(tmp_path)},
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await added.wait() == 0
    async with cluster(tmp_path) as (_, client):
        await create(client, role(READ))
        await create(client, binding())
        await create(client, deployment(program))
        await all_answer(client, "Grant the verbs get, create and update on leases.coordination.k8s.io")
        assert not (await client.get(Deployment, "idle", namespace="default")).status.ready_replicas
        await client.apply(role(READ, LEASES), force=True)
        await until(client, Deployment, "idle", lambda there: there.status.available_replicas == 2)
