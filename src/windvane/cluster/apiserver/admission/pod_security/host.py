"""Pod security checks: which parts of its node a pod may use."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security.violation import (
    Violation,
    containers,
    counted,
    listed,
    named,
    security,
    setters,
)

# Sysctls that reach no further than the pod; some became so in later kernels.
SAFE = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    }
)
SAFE_27 = SAFE | {"net.ipv4.ip_local_reserved_ports"}
SAFE_29 = SAFE_27 | {
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}
SAFE_32 = SAFE_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}


def namespaces(pod: Wire) -> Violation | None:
    """Its network, its processes and its memory are its own."""
    shared = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if pod["spec"].get(field)]
    return Violation("host namespaces", ", ".join(shared)) if shared else None


def ports(pod: Wire) -> Violation | None:
    """It has no ports of the node."""
    taken = {
        container["name"]: {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        for container in containers(pod)
    }
    if not (offenders := [name for name, numbers in taken.items() if numbers]):
        return None
    numbers = sorted(set().union(*taken.values()))
    verb = "uses" if len(offenders) == 1 else "use"
    return Violation(
        "hostPort", f"{named('container', offenders)} {verb} {counted('hostPort', numbers)} {', '.join(numbers)}"
    )


def probes(pod: Wire) -> Violation | None:
    """The probes of the node go to the pod itself and nowhere else."""
    asked = {container["name"]: set(_hosts(container)) for container in containers(pod)}
    if not (offenders := sorted(name for name, hosts in asked.items() if hosts)):
        return None
    hosts = sorted(set().union(*asked.values()))
    what = "probe or lifecycle host"
    verb = "uses" if len(offenders) == 1 else "use"
    return Violation(what, f"{named('container', offenders)} {verb} {named(what, hosts)}")


def _hosts(container: Wire) -> Iterator[str]:
    lifecycle = container.get("lifecycle") or {}
    handlers = [container.get(f"{name}Probe") for name in ("liveness", "readiness", "startup")]
    for handler in (*handlers, lifecycle.get("postStart"), lifecycle.get("preStop")):
        for way in ("httpGet", "tcpSocket"):
            if host := ((handler or {}).get(way) or {}).get("host"):
                yield host


def process_mounts(pod: Wire) -> Violation | None:
    """What /proc hides from containers stays hidden."""
    shown = {container["name"]: security(container).get("procMount") or "Default" for container in containers(pod)}
    offenders = [name for name, type_ in shown.items() if type_ != "Default"]
    types = sorted({shown[name] for name in offenders})
    detail = f"{named('container', offenders)} must not set securityContext.procMount to {listed(types)}"
    return Violation("procMount", detail) if offenders else None


def windows_processes(pod: Wire) -> Violation | None:
    """No container of it is a process of its Windows node."""
    pod_is = _is_host_process(pod["spec"])
    offenders = [container["name"] for container in containers(pod) if _is_host_process(container)]
    told = setters(pod=pod_is, names=offenders)
    return (
        Violation("hostProcess", f"{told} must not set securityContext.windowsOptions.hostProcess=true")
        if told
        else None
    )


def _is_host_process(holder: Wire) -> bool:
    return bool((security(holder).get("windowsOptions") or {}).get("hostProcess"))


def sysctls(pod: Wire) -> Violation | None:
    """It changes no kernel settings but its own."""
    return _sysctls(pod, SAFE)


def sysctls_27(pod: Wire) -> Violation | None:
    """The same, with more of them its own."""
    return _sysctls(pod, SAFE_27)


def sysctls_29(pod: Wire) -> Violation | None:
    """The same, with more of them its own."""
    return _sysctls(pod, SAFE_29)


def sysctls_32(pod: Wire) -> Violation | None:
    """The same, with more of them its own."""
    return _sysctls(pod, SAFE_32)


def _sysctls(pod: Wire, safe: frozenset[str]) -> Violation | None:
    names = [each["name"] for each in security(pod["spec"]).get("sysctls") or () if each["name"] not in safe]
    return Violation("forbidden sysctls", ", ".join(names)) if names else None
