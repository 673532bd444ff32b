"""Services and the pods behind them, for tests of what brings traffic to pods."""

from typing import Any

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import LABELS
from windvane import ambient
from windvane.api import codec
from windvane.k8s.core import Endpoints, Node, Pod, Service
from windvane.k8s.discovery import EndpointSlice

NODE = "node-1"


def service(name: str = "web", labels: dict[str, str] | None = None, **spec: Any) -> Service:
    """A Service that selects the pods of `web`, its spec as YAML would have it."""
    spec = {"selector": LABELS, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]} | spec
    return codec.from_wire({"metadata": {"name": name, "labels": labels or {}}, "spec": spec}, Service)


async def node(cluster: Cluster, name: str = NODE, labels: dict[str, str] | None = None) -> Node:
    """A node for pods to be on."""
    return await cluster.admin.create(codec.from_wire({"metadata": {"name": name, "labels": labels or {}}}, Node))


async def running_pod(cluster: Cluster, name: str, ip: str = "10.1.0.1", *, ready: bool = True, **spec: Any) -> Pod:
    """A pod that runs on the node and has an address."""
    spec = {"containers": [{"name": "web", "image": "web:1"}], "nodeName": NODE} | spec
    labels = spec.pop("labels", LABELS)
    made = codec.from_wire({"metadata": {"name": name, "labels": labels}, "spec": spec}, Pod)
    await cluster.admin.create(made)
    return await tell(cluster, name, ip, ready=ready)


async def tell(cluster: Cluster, name: str, *ips: str, ready: bool, phase: str = "Running") -> Pod:
    """Play the node: say of a pod how it is."""
    now = ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": now}
    status: dict[str, Any] = {"phase": phase, "conditions": [condition]}
    if ips:
        status |= {"podIP": ips[0], "podIPs": [{"ip": each} for each in ips]}
    return await cluster.admin.patch(Pod, name, {"status": status}, subresource="status")


async def slices(cluster: Cluster, name: str = "web") -> list[EndpointSlice]:
    """The EndpointSlices of a Service."""
    return await cluster.list(EndpointSlice, {"kubernetes.io/service-name": name})


async def the_slice(cluster: Cluster, name: str = "web") -> EndpointSlice:
    """The one that it has."""
    await cluster.settled()
    [only] = await slices(cluster, name)
    return only


async def the_endpoints(cluster: Cluster, name: str = "web") -> Endpoints:
    """The Endpoints object of a Service."""
    await cluster.settled()
    return await cluster.admin.get(Endpoints, name, namespace="default")
