"""An operator in two pods behind a Service, whose webhooks are asked, also while its pods are replaced."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from integration.processes.clusters import cluster, create, until
from integration.webhook.world import Load
from windvane import Client, ObjectMeta, Resource, Spec, Status, object_from_wire
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration
from windvane.k8s.apps import Deployment
from windvane.k8s.core import Service
from windvane.k8s.rbac import ClusterRoleBinding

OPERATOR = '''
from windvane import Operator, Resource, Spec, Status


class SiteSpec(Spec):
    region: str = ""


class Site(Resource[SiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """A site."""


operator = Operator("site")


@operator.default(Site)
def fill_in(site: Site) -> None:
    site.spec.region = site.spec.region or "eu"
'''


class SiteSpec(Spec):
    """What the operator's has."""

    region: str = ""


class Site(Resource[SiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """The operator's."""


def service() -> Service:
    spec = {"selector": {"app": "site"}, "ports": [{"port": 443, "targetPort": 9443}]}
    return object_from_wire({"metadata": {"name": "site-webhooks", "namespace": "default"}, "spec": spec}, Service)


def rights() -> ClusterRoleBinding:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subjects = [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]
    wire = {"metadata": {"name": "site"}, "roleRef": role, "subjects": subjects}
    return object_from_wire(wire, ClusterRoleBinding)


def deployment(where: Path) -> Deployment:
    here = "$(WINDVANE_POD_IP)"
    container = {
        "name": "operator",
        "image": "site:1",
        "args": [
            *("run", f"{where}:operator", "--install-crds", "--webhook-service", "site-webhooks"),
            *("--webhook-host", here, "--metrics-host", here),
        ],
        # It may take long on a busy machine: if both pods seemed not to be ready, nobody would be asked.
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 1, "timeoutSeconds": 30},
    }
    labels = {"app": "site"}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return object_from_wire({"metadata": {"name": "site", "namespace": "default"}, "spec": spec}, Deployment)


def is_rolled_out(there: Deployment) -> bool:
    status = there.status
    return (
        (status.observed_generation or 0) >= there.metadata.generation
        and (status.updated_replicas, status.ready_replicas, status.replicas) == (2, 2, 2)
        and not status.terminating_replicas
    )


async def new_site(client: Client) -> None:
    metadata = ObjectMeta(generate_name="site-", namespace="default")
    assert (await client.create(Site(metadata=metadata), dry_run=True)).spec.region == "eu"


@pytest.mark.long
async def test_no_request_is_lost_while_the_pods_of_an_operator_are_replaced(tmp_path: Path) -> None:
    program = tmp_path / "site.py"
    program.write_text(OPERATOR)
    added = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "windvane.cli", "image", "add", "site:1", "--", sys.executable, "-m", "windvane.cli"),
        env={**os.environ, "WINDVANE_HOME": str(tmp_path)},
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await added.wait() == 0
    async with cluster(tmp_path) as (_, client):
        await create(client, rights())
        await create(client, service())
        await create(client, deployment(program))
        await until(client, Deployment, "site", is_rolled_out)
        async for event in client.watch(MutatingWebhookConfiguration, initial=True):
            if event.type == "ADDED":
                break
        async with Load(lambda: new_site(client)).running() as requests:
            await requests.more()
            again = {"spec": {"template": {"metadata": {"annotations": {"again": "1"}}}}}
            await client.patch(Deployment, "site", again, namespace="default")
            await until(client, Deployment, "site", is_rolled_out)
            await requests.more()
        assert requests.failures == []
