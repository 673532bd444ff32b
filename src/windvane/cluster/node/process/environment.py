"""The environment of a container: its own variables, those of ConfigMaps and Secrets, and where the services are."""

import re
from collections.abc import Iterator, Mapping

from windvane.cluster.node.pod import downward_api
from windvane.cluster.node.process.expansion import expand
from windvane.cluster.node.sources import MissingSource, Sources
from windvane.k8s.core import ConfigMap, Container, EnvFromSource, EnvVar, Pod, Secret, Service

CONFIG_ERROR = "CreateContainerConfigError"
_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def environment(
    pod: Pod, container: Container, address: str, host: str, sources: Sources, beneath: Mapping[str, str]
) -> dict[str, str]:
    """All variables of a container; those of `beneath` are there unless it says otherwise.

    `MissingSource` if it refers to something that is not there, and does not say that this is fine.
    """
    links = pod.spec.enable_service_links is not False
    services = dict(service_variables(sources, pod.metadata.namespace, links=links))
    result: dict[str, str] = {}
    for each in container.env_from:
        result.update(_from_object(pod, each, sources))
    known = {**services, **result}
    for variable in container.env:
        value = _value(pod, container, variable, address, host, sources, known)
        if value is not None:
            result[variable.name] = known[variable.name] = value
    return {**beneath, **services, **result}


def service_variables(sources: Sources, namespace: str, *, links: bool) -> Iterator[tuple[str, str]]:
    """Where the services of a namespace are, as variables; the API server is told of in any case."""
    for service in sources.services():
        meta = service.metadata
        is_api = (meta.namespace, meta.name) == ("default", "kubernetes")
        if is_api and (api := sources.api()) is not None:
            # Not the Service's own address: its port 443 is one that windvane may listen on only as root.
            service.spec.cluster_ip = api[0]
            for port in service.spec.ports:
                port.port = api[1]
        if is_api or (links and meta.namespace == namespace):
            yield from _variables(service)


def _variables(service: Service) -> Iterator[tuple[str, str]]:
    address, ports = service.spec.cluster_ip, service.spec.ports
    if not address or address == "None" or not ports:
        return
    prefix = service.metadata.name.upper().replace("-", "_")
    yield f"{prefix}_SERVICE_HOST", address
    yield f"{prefix}_SERVICE_PORT", str(ports[0].port)
    for port in ports:
        if port.name:
            yield f"{prefix}_SERVICE_PORT_{port.name.upper().replace('-', '_')}", str(port.port)
    yield f"{prefix}_PORT", f"{ports[0].protocol.lower()}://{address}:{ports[0].port}"
    for port in ports:
        name, protocol = f"{prefix}_PORT_{port.port}_{port.protocol.upper()}", port.protocol.lower()
        yield name, f"{protocol}://{address}:{port.port}"
        yield f"{name}_PROTO", protocol
        yield f"{name}_PORT", str(port.port)
        yield f"{name}_ADDR", address


def _from_object(pod: Pod, each: EnvFromSource, sources: Sources) -> Iterator[tuple[str, str]]:
    namespace, prefix = pod.metadata.namespace, each.prefix or ""
    values: Mapping[str, str] = {}
    if (ref := each.config_map_ref) is not None:
        found = sources.config_map(namespace, ref.name or "")
        if found is None and not ref.optional:
            raise MissingSource(CONFIG_ERROR, f'configmap "{ref.name}" not found')
        values = found.data if found is not None else {}
    elif (secret_ref := each.secret_ref) is not None:
        secret = sources.secret(namespace, secret_ref.name or "")
        if secret is None and not secret_ref.optional:
            raise MissingSource(CONFIG_ERROR, f'secret "{secret_ref.name}" not found')
        values = {key: value.decode(errors="replace") for key, value in (secret.data if secret else {}).items()}
    for key in sorted(values):
        if _NAME.fullmatch(prefix + key):
            yield prefix + key, values[key]


def _value(
    pod: Pod,
    container: Container,
    variable: EnvVar,
    address: str,
    host: str,
    sources: Sources,
    known: Mapping[str, str],
) -> str | None:
    """The value of a variable; None if it refers to something optional that is not there."""
    source = variable.value_from
    if source is None:
        return expand(variable.value or "", known)
    if source.field_ref is not None:
        return downward_api.field(pod, address, host, source.field_ref)
    if source.resource_field_ref is not None:
        return downward_api.resource(pod, container, source.resource_field_ref, sources.resources())
    where = f"{pod.metadata.namespace}/"
    found: ConfigMap | Secret | None
    if (ref := source.config_map_key_ref) is not None:
        found = config = sources.config_map(pod.metadata.namespace, ref.name or "")
        value = config.data.get(ref.key) if config is not None else None
        kind, name, key, optional = "configmap", ref.name, ref.key, ref.optional
    elif (secret_ref := source.secret_key_ref) is not None:
        found = secret = sources.secret(pod.metadata.namespace, secret_ref.name or "")
        held = secret.data.get(secret_ref.key) if secret is not None else None
        value = held.decode(errors="replace") if held is not None else None
        kind, name, key, optional = "secret", secret_ref.name, secret_ref.key, secret_ref.optional
    else:
        raise MissingSource(
            CONFIG_ERROR, f"the value of {variable.name} comes from a source that windvane does not support"
        )
    if value is None and not optional:
        if found is None:
            raise MissingSource(CONFIG_ERROR, f'{kind} "{name}" not found')
        what = "ConfigMap" if kind == "configmap" else "Secret"
        raise MissingSource(CONFIG_ERROR, f"couldn't find key {key} in {what} {where}{name}")
    return value
