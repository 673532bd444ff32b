"""What every cluster has from the start: its namespaces, two priorities, and a Service for its own API."""

from typing import Any

from windvane.cluster.apiserver.managedfields.field_manager import KUBE_APISERVER
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.scheduling.priority_class import SYSTEM_PRIORITIES
from windvane.cluster.apiserver.registry.storage_codec import key_of
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
PURPOSES = {
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
}


async def bootstrap(store: Store, catalog: Catalog, writer: Writer, api_address: str) -> None:
    """Create what is missing. What was changed stays as it is. `api_address` is that of the API's Service."""
    namespaces = catalog.types["", "v1", "namespaces"]
    for name in NAMESPACES:
        await _create(store, writer, Target(namespaces), {"metadata": {"name": name}}, "")
    priorities = catalog.types["scheduling.k8s.io", "v1", "priorityclasses"]
    for name, value in SYSTEM_PRIORITIES.items():
        wire = {"metadata": {"name": name}, "value": value, "description": PURPOSES[name]}
        await _create(store, writer, Target(priorities), wire, "")
    labels = {"component": "apiserver", "provider": "kubernetes"}
    service: dict[str, Any] = {
        "metadata": {"name": "kubernetes", "labels": labels},
        "spec": {
            "clusterIP": api_address,
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}],
        },
    }
    await _create(store, writer, Target(catalog.types["", "v1", "services"], "default"), service, "default")


async def _create(store: Store, writer: Writer, target: Target, wire: dict[str, Any], namespace: str) -> None:
    if store.get(key_of(target.type, namespace, wire["metadata"]["name"])) is None:
        kind = target.type.kind
        await writer.create(target, {"apiVersion": kind.api_version, "kind": kind.name, **wire}, by=KUBE_APISERVER)
