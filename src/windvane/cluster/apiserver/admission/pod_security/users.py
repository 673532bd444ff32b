"""Pod security checks: no process runs as root."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.pod_security.violation import Violation, containers, named, security, setters


def non_root(pod: Wire) -> Violation | None:
    """The pod, or every container for itself, says that root is refused."""
    own = security(pod["spec"]).get("runAsNonRoot")
    of_containers = {each["name"]: security(each).get("runAsNonRoot") for each in containers(pod)}
    reason = "runAsNonRoot != true"
    if offenders := setters(
        pod=own is False, names=[name for name, stated in of_containers.items() if stated is False]
    ):
        return Violation(reason, f"{offenders} must not set securityContext.runAsNonRoot=false")
    silent = [name for name, stated in of_containers.items() if stated is None]
    if own or not silent:
        return None
    return Violation(reason, f"pod or {named('container', silent)} must set securityContext.runAsNonRoot=true")


def not_user_zero(pod: Wire) -> Violation | None:
    """No process asks to be root."""
    offenders = setters(
        pod=security(pod["spec"]).get("runAsUser") == 0,
        names=[each["name"] for each in containers(pod) if security(each).get("runAsUser") == 0],
    )
    return Violation("runAsUser=0", f"{offenders} must not set runAsUser=0") if offenders else None
