"""/etc/hosts of a pod: its own name, and the names of the cluster's services and of the pods behind them.

There is no DNS server here. The names that one would answer are in the file, which is written anew when they change.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from windvane.k8s.core import Pod, Service
from windvane.k8s.discovery import EndpointSlice

DOMAIN = "cluster.local"
OF_SERVICE = "kubernetes.io/service-name"


def hostname(pod: Pod) -> str:
    """What a pod calls itself."""
    return (pod.spec.hostname or pod.metadata.name)[:63].rstrip("-.")


def hosts_file(pod: Pod, address: str, services: Iterable[Service], slices: Iterable[EndpointSlice]) -> str:
    """The whole file for one pod."""
    namespace, own = pod.metadata.namespace, hostname(pod)
    lines = ["# Written by windvane, and written anew whenever a service or its pods change.", "127.0.0.1\tlocalhost"]
    names = [f"{own}.{pod.spec.subdomain}.{namespace}.svc.{DOMAIN}"] if pod.spec.subdomain else []
    lines.append(_line(address, [*names, own]))
    lines += [_line(each.ip, each.hostnames) for each in pod.spec.host_aliases]
    behind: dict[tuple[str, str], list[EndpointSlice]] = defaultdict(list)
    for each in slices:
        behind[each.metadata.namespace, each.metadata.labels.get(OF_SERVICE, "")].append(each)
    for service in services:
        meta, at = service.metadata, service.spec.cluster_ip
        known = _names(meta.name, meta.namespace, namespace)
        if at and at != "None":
            lines.append(_line(at, known))
            continue
        for ip, host in _endpoints(behind[meta.namespace, meta.name], service.spec.publish_not_ready_addresses):
            if host:
                lines.append(_line(ip, [f"{host}.{name}" for name in known]))
            lines.append(_line(ip, known))
    return "\n".join(lines) + "\n"


def _names(service: str, theirs: str, mine: str) -> list[str]:
    """All names by which a service can be called from a namespace, the full one first."""
    short = f"{service}.{theirs}"
    return [f"{short}.svc.{DOMAIN}", f"{short}.svc", short, *([service] if theirs == mine else [])]


def _endpoints(slices: Sequence[EndpointSlice], unready: bool | None) -> Iterable[tuple[str, str]]:
    for each in slices:
        for endpoint in each.endpoints:
            if unready or endpoint.conditions is None or endpoint.conditions.ready is not False:
                for address in endpoint.addresses:
                    yield address, endpoint.hostname or ""


def _line(address: str, names: Sequence[str]) -> str:
    return f"{address}\t{' '.join(names)}"
