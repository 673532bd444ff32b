"""Pod security checks: privileges and capabilities."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security.violation import Violation, containers, listed, named, security

USUAL = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip


def privileged(pod: Wire) -> Violation | None:
    """No container may do everything."""
    offenders = [container["name"] for container in containers(pod) if security(container).get("privileged")]
    return (
        Violation("privileged", f"{named('container', offenders)} must not set securityContext.privileged=true")
        if offenders
        else None
    )


def escalation(pod: Wire) -> Violation | None:
    """No process may gain more than its parent has."""
    offenders = [
        container["name"]
        for container in containers(pod)
        if security(container).get("allowPrivilegeEscalation") is not False
    ]
    detail = f"{named('container', offenders)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail) if offenders else None


def usual_capabilities(pod: Wire) -> Violation | None:
    """Only capabilities that containers have anyway may be added."""
    added = "; ".join(_added(pod, USUAL))
    return Violation("non-default capabilities", added) if added else None


def fewest_capabilities(pod: Wire) -> Violation | None:
    """All capabilities must be dropped, but for one that does no harm."""
    kept = [
        container["name"]
        for container in containers(pod)
        if "ALL" not in ((security(container).get("capabilities") or {}).get("drop") or ())
    ]
    details = [f'{named("container", kept)} must set securityContext.capabilities.drop=["ALL"]'] if kept else []
    details += _added(pod, frozenset({"NET_BIND_SERVICE"}))
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def _added(pod: Wire, allowed: frozenset[str]) -> Iterator[str]:
    """The containers that add capabilities that are not allowed, and which, as part of a sentence."""
    added = {
        container["name"]: set((security(container).get("capabilities") or {}).get("add") or ()) - allowed
        for container in containers(pod)
    }
    if offenders := [name for name, some in added.items() if some]:
        names = sorted(set().union(*added.values()))
        yield f"{named('container', offenders)} must not include {listed(names)} in securityContext.capabilities.add"
