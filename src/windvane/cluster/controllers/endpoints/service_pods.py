"""Which pods stand behind a Service: those that it selects, with the addresses and ports that they serve it on."""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from windvane import Context, Index, Selector, View, index
from windvane.cluster.controllers.workloads.pod_state import is_finished, is_ready
from windvane.k8s.core import Container, Node, Pod, Service, ServicePort

ZONE = "topology.kubernetes.io/zone"
HEADLESS_LABEL = "service.kubernetes.io/headless"


def _one_pair(service: Service) -> str | None:
    """One of the labels that a Service selects by: a pod that it selects has this one among its own."""
    return "=".join(min(service.spec.selector.items())) if has_endpoints(service) else None


services_by_label: Index[Service] = index(Service, by=_one_pair)
pods_by_node: Index[Pod] = index(Pod, by=lambda pod: pod.spec.node_name)


def has_endpoints(service: Service) -> bool:
    """Whether the control plane looks for pods behind it. Those without a selector are for others to fill in."""
    return bool(service.spec.selector) and service.spec.type != "ExternalName"


def is_headless(service: Service) -> bool:
    """Whether it has no address of its own."""
    return service.spec.cluster_ip in (None, "", "None")


def services_of_pod(pod: Pod, view: View) -> list[Service]:
    """The Services that select a pod."""
    labels = pod.metadata.labels
    near = [each for pair in labels.items() for each in view.find(services_by_label, "=".join(pair))]
    return [each for each in near if Selector.of(each.spec.selector).matches(labels)]


def services_on_node(node: Node, view: View) -> Iterable[tuple[str, str]]:
    """The Services that select pods on a node, by namespace and name."""
    pods = view.find(pods_by_node, node.metadata.name, all_namespaces=True)
    places = {(each.metadata.namespace, tuple(sorted(each.metadata.labels.items()))) for each in pods}
    for namespace, labels in places:
        for pair in labels:
            for service in view.find(services_by_label, "=".join(pair), namespace=namespace):
                if Selector.of(service.spec.selector).matches(dict(labels)):
                    yield namespace, service.metadata.name


def what_matters(pod: Pod) -> Any:
    """What of a pod Services are concerned with; for `seeing=`."""
    return (
        pod.metadata.labels,
        pod.metadata.deletion_timestamp is not None,
        pod.spec.node_name,
        is_ready(pod),
        is_finished(pod),
        [each.ip for each in pod.status.pod_ips],
    )


def zone_of(node: Node) -> str | None:
    """The zone that a node is in; for `seeing=`, too."""
    return node.metadata.labels.get(ZONE)


def selected_pods(service: Service, ctx: Context) -> list[Pod]:
    """The pods that a Service selects and that can be reached at all."""
    pods = ctx.list(Pod, labels=service.spec.selector)
    return [each for each in pods if each.status.pod_ips and not is_finished(each)]


def addresses(pod: Pod, family: str) -> list[str]:
    """A pod's addresses of one family, IPv4 or IPv6."""
    parsed = (ip_address(each.ip) for each in pod.status.pod_ips)
    return [str(each) for each in parsed if f"IPv{each.version}" == family]


def target_port(pod: Pod, port: ServicePort) -> int | None:
    """The number that a port of a Service has in this pod; None if the pod has no port of that name."""
    if isinstance(port.target_port, int):
        return port.target_port
    if port.target_port is None:
        return port.port
    named = (
        each.container_port
        for container in (*pod.spec.containers, *filter(_is_sidecar, pod.spec.init_containers))
        for each in container.ports
        if each.name == port.target_port and each.protocol == port.protocol
    )
    return next(named, None)


def hostname_in(pod: Pod, service: Service) -> str | None:
    """The name that a pod has within a Service that it names as its subdomain."""
    return pod.spec.hostname if pod.spec.hostname and pod.spec.subdomain == service.metadata.name else None


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"
