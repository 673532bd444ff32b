"""The strategy of Ingress."""

import re
from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import label_problems, subdomain_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.probes import port_or_name
from windvane.cluster.apiserver.registry.core.service import balanced
from windvane.cluster.apiserver.registry.validation.address import is_address
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import networking

PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_NOT_WILDCARD = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
    f"(e.g. '*.example.com', regex used for validation is '{_WILDCARD}')"
)
_BAD_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
INGRESS_CLASS = "kubernetes.io/ingress.class"


def _hosts(ingress: Wire) -> str:
    rules = items(ingress, "spec.rules")
    shown: list[str] = []
    for rule in rules:
        if len(shown) == 3:
            # Counted by rules, with or without a host, as the real server does.
            return f"{','.join(shown)} + {len(rules) - 3} more..."
        if rule.get("host"):
            shown.append(rule["host"])
    return ",".join(shown) or "*"


class IngressStrategy(BuiltinStrategy):
    model = networking.Ingress
    has_generation = True
    checks_metadata_again = True
    defaults = {"spec": {}, "status.loadBalancer": {}}
    columns = (
        NAME,
        Column("Class", field("spec.ingressClassName", "<none>")),
        Column("Hosts", _hosts),
        Column("Address", balanced),
        Column("Ports", lambda ingress: "80, 443" if read(ingress, "spec.tls") else "80"),
        AGE,
    )

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        for index, tls in enumerate(spec.get("tls") or ()):
            here = f"spec.tls[{index}]"
            for number, host in enumerate(tls.get("hosts") or ()):
                problems.all_invalid(f"{here}.hosts[{number}]", host, _host_problems(host))
            if name := tls.get("secretName"):
                problems.all_invalid(f"{here}.secretName", name, subdomain_problems(name))
        if spec.get("defaultBackend") is not None:
            _backend(spec["defaultBackend"], "spec.defaultBackend", problems)
        rules = spec.get("rules") or []
        if not rules and spec.get("defaultBackend") is None:
            problems.invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
        for index, rule in enumerate(rules):
            here = f"spec.rules[{index}]"
            if host := rule.get("host"):
                if is_address(host):
                    problems.invalid(f"{here}.host", host, "must be a DNS name, not an IP address")
                problems.all_invalid(f"{here}.host", host, [] if is_address(host) else _host_problems(host))
            if (http := rule.get("http")) is not None:
                _paths(http.get("paths") or [], f"{here}.http.paths", problems)
        if name := spec.get("ingressClassName"):
            problems.all_invalid("spec.ingressClassName", name, subdomain_problems(name))

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        stated = INGRESS_CLASS in (obj["metadata"].get("annotations") or {})
        if old is None and stated and obj["spec"].get("ingressClassName") is None:
            yield f"annotation \"{INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"


def _host_problems(host: str) -> list[str]:
    if "*" in host:
        return [] if re.fullmatch(_WILDCARD, host) else [_NOT_WILDCARD]
    return subdomain_problems(host)


def _paths(paths: list[Wire], path: str, problems: Problems) -> None:
    if not paths:
        problems.required(path)
    for index, entry in enumerate(paths):
        here, value, sort = f"{path}[{index}]", entry.get("path", ""), entry.get("pathType")
        if sort is None:
            problems.required(f"{here}.pathType", "pathType must be specified")
        elif sort in ("Exact", "Prefix"):
            if not value.startswith("/"):
                problems.invalid(f"{here}.path", value, "must be an absolute path")
            for bad in _BAD_IN_PATHS if value else ():
                if bad in value:
                    problems.invalid(f"{here}.path", value, f"must not contain '{bad}'")
            for bad in ("/..", "/."):
                if value.endswith(bad):
                    problems.invalid(f"{here}.path", value, f"cannot end with '{bad}'")
        elif sort == "ImplementationSpecific":
            if value and not value.startswith("/"):
                problems.invalid(f"{here}.path", value, "must be an absolute path")
        else:
            problems.unsupported(f"{here}.pathType", sort, PATH_TYPES)
        _backend(entry.get("backend") or {}, f"{here}.backend", problems)


def _backend(backend: Wire, path: str, problems: Problems) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        problems.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        for field in ("kind", "name"):
            if not resource.get(field):
                problems.required(f"{path}.resource.{field}")
    elif service is None:
        problems.invalid(path, "", "resource or service backend is required")
    else:
        _service_backend(service, path, problems)


def _service_backend(service: Wire, path: str, problems: Problems) -> None:
    if not service.get("name"):
        problems.required(f"{path}.service.name")
    else:
        problems.all_invalid(f"{path}.service.name", service["name"], label_problems(service["name"]))
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        problems.invalid(path, "", "cannot set both port name & port number")
    elif port.get("name"):
        port_or_name(port["name"], f"{path}.service.port.name", problems)
    elif port.get("number"):
        port_or_name(port["number"], f"{path}.service.port.number", problems)
    else:
        problems.required(path, "port name or number is required")
