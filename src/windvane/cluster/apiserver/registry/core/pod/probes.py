"""Rules for how a container is asked whether it is well, and told that it starts and ends."""

from windvane.api.json_value import Wire
from windvane.api.names import port_name_problems, port_number_problems
from windvane.cluster.apiserver.registry.validation.problems import Problems

ONE_HANDLER = "may not specify more than 1 handler type"


def lifecycle(container: Wire, spec: Wire, path: str, problems: Problems) -> None:
    """Check what is done around a container's life, and how it is seen that it lives."""
    grace = spec.get("terminationGracePeriodSeconds", 30)
    for moment in ("postStart", "preStop"):
        if (handler := (container.get("lifecycle") or {}).get(moment)) is not None:
            _handler(handler, grace, f"{path}.lifecycle.{moment}", problems)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            _probe(name, probe, grace, f"{path}.{name}", problems)


def _probe(name: str, probe: Wire, grace: int, path: str, problems: Problems) -> None:
    _handler(probe, grace, path, problems)
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        problems.not_negative(f"{path}.{field}", probe.get(field))
    lasts = probe.get("terminationGracePeriodSeconds")
    if lasts is not None and lasts <= 0:
        problems.invalid(f"{path}.terminationGracePeriodSeconds", lasts, "must be greater than 0")
    if name == "readinessProbe":
        if lasts is not None:
            problems.invalid(f"{path}.terminationGracePeriodSeconds", lasts, "must not be set for readinessProbes")
    elif probe.get("successThreshold") != 1:
        problems.invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def _handler(handler: Wire, grace: int, path: str, problems: Problems) -> None:
    found = [name for name in ("exec", "httpGet", "tcpSocket", "grpc", "sleep") if name in handler]
    if not found:
        problems.required(path, "must specify a handler type")
        return
    first, *more = found
    action, here = handler[first], f"{path}.{first}"
    match first:
        case "exec":
            if not action.get("command"):
                problems.required(f"{here}.command")
        case "httpGet":
            port_or_name(action.get("port", 0), f"{here}.port", problems)
            if action.get("scheme") not in ("HTTP", "HTTPS"):
                problems.unsupported(f"{here}.scheme", action.get("scheme"), ("HTTP", "HTTPS"))
        case "tcpSocket" | "grpc":
            port_or_name(action.get("port", 0), f"{here}.port", problems)
        case "sleep":
            if not 0 <= action.get("seconds", 0) <= grace:
                rule = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                problems.invalid(here, action.get("seconds", 0), rule)
    for name in more:
        problems.forbidden(f"{path}.{name}", ONE_HANDLER)


def port_or_name(port: int | str, path: str, problems: Problems) -> None:
    """Check the number or the name of a port."""
    problems.all_invalid(path, port, port_name_problems(port) if isinstance(port, str) else port_number_problems(port))
