"""Rules for the containers of pods: names, ports, environment, resources, probes, mounts."""

import re
from collections.abc import Callable

from windvane.api.json_value import Wire
from windvane.api.names import (
    config_key_problems,
    label_key_problems,
    label_problems,
    port_name_problems,
    port_number_problems,
    subdomain_problems,
)
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.registry.core.pod.downward_api import IN_ENVIRONMENT, field_ref, resource_ref
from windvane.cluster.apiserver.registry.core.pod.probes import lifecycle
from windvane.cluster.apiserver.registry.core.pod.security_context import container_context
from windvane.cluster.apiserver.registry.core.pod.volumes import no_backsteps, relative_path
from windvane.cluster.apiserver.registry.validation.problems import Problems

NameCheck = Callable[[str, str, Problems], None]
"""Checks the name of a resource, at that path."""

PROTOCOLS = ("SCTP", "TCP", "UDP")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
# What is counted somewhere, though not in containers.
_ELSEWHERE = frozenset(
    {
        "storage", "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
        "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
NOT_EPHEMERAL = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)  # fmt: skip


def all_containers(spec: Wire, volumes: dict[str, Wire], path: str, problems: Problems) -> None:
    """Check the containers and the init containers of a pod's spec."""
    containers = spec.get("containers") or []
    if not containers:
        problems.required(f"{path}.containers")
    names: set[str] = set()
    for index, container in enumerate(containers):
        here = f"{path}.containers[{index}]"
        _container(container, spec, volumes, here, problems)
        _unique_name(container, names, here, problems)
        lifecycle(container, spec, here, problems)
        if policy := container.get("restartPolicy"):
            _restart_policy(policy, here, problems)
    _host_ports(containers, f"{path}.containers", problems)
    for index, container in enumerate(spec.get("initContainers") or ()):
        here = f"{path}.initContainers[{index}]"
        _container(container, spec, volumes, here, problems)
        if policy := container.get("restartPolicy"):
            _restart_policy(policy, here, problems)
        _unique_name(container, names, here, problems)
        # They run one after the other. The real server looks at each alone, and calls each of them the first.
        _host_ports([container], f"{path}.initContainers", problems)
        if container.get("restartPolicy") == "Always":
            lifecycle(container, spec, here, problems)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if field in container:
                problems.forbidden(f"{here}.{field}", "may not be set for init containers without restartPolicy=Always")
    _ephemeral_containers(spec, volumes, names, f"{path}.ephemeralContainers", problems)


def _ephemeral_containers(spec: Wire, volumes: dict[str, Wire], names: set[str], path: str, problems: Problems) -> None:
    """Check containers for debugging, which can't have what a service would need. `names` are those of the others."""
    others = frozenset(names)
    for index, container in enumerate(spec.get("ephemeralContainers") or ()):
        here = f"{path}[{index}]"
        _container(container, spec, volumes, here, problems)
        _image_as_written(container, here, problems)
        _unique_name(container, names, here, problems)
        if (other := container.get("targetContainerName")) and other not in others:
            problems.not_found(f"{here}.targetContainerName", other)
        for field in NOT_EPHEMERAL:
            if container.get(field):
                problems.forbidden(f"{here}.{field}", "cannot be set for an Ephemeral Container")
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    where = f"{here}.volumeMounts[{number}].{field}"
                    problems.forbidden(where, "cannot be set for an Ephemeral Container")


def only_in_pods(spec: Wire, path: str, problems: Problems) -> None:
    """Check what is checked in pods and not in templates, where it used to be allowed."""
    for sort in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(sort) or ()):
            _image_as_written(container, f"{path}.{sort}[{index}]", problems)


def _image_as_written(container: Wire, path: str, problems: Problems) -> None:
    if (image := container.get("image", "")) != image.strip():
        problems.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _unique_name(container: Wire, names: set[str], path: str, problems: Problems) -> None:
    name = container.get("name", "")
    if name in names:
        problems.duplicate(f"{path}.name", name)
    names.add(name)


def _restart_policy(policy: str, path: str, problems: Problems) -> None:
    if policy not in ("Always", "Never", "OnFailure"):
        problems.unsupported(f"{path}.restartPolicy", policy, ("Always", "Never", "OnFailure"))


def _container(container: Wire, spec: Wire, volumes: dict[str, Wire], path: str, problems: Problems) -> None:
    name = container.get("name")
    if not name:
        problems.required(f"{path}.name")
    else:
        problems.all_invalid(f"{path}.name", name, label_problems(name))
    if not container.get("image"):
        problems.required(f"{path}.image")
    policy = container.get("terminationMessagePolicy")
    problems.one_of(f"{path}.terminationMessagePolicy", policy, ("File", "FallbackToLogsOnError"))
    _ports(container.get("ports") or [], f"{path}.ports", problems)
    _environment(container.get("env") or [], f"{path}.env", problems)
    _environment_from(container.get("envFrom") or [], f"{path}.envFrom", problems)
    _mounts(container, volumes, f"{path}.volumeMounts", problems)
    _devices(container, volumes, f"{path}.volumeDevices", problems)
    problems.one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), PULL_POLICIES)
    resources(container.get("resources") or {}, f"{path}.resources", problems)
    container_context(container, spec, f"{path}.securityContext", problems)


def _ports(ports: list[Wire], path: str, problems: Problems) -> None:
    names: set[str] = set()
    for index, port in enumerate(ports):
        here = f"{path}[{index}]"
        if name := port.get("name"):
            if why := port_name_problems(name):
                problems.all_invalid(f"{here}.name", name, why)
            elif name in names:
                problems.duplicate(f"{here}.name", name)
            names.add(name)
        if not port.get("containerPort"):
            problems.required(f"{here}.containerPort")
        else:
            number = port["containerPort"]
            problems.all_invalid(f"{here}.containerPort", number, port_number_problems(number))
        if host_port := port.get("hostPort"):
            problems.all_invalid(f"{here}.hostPort", host_port, port_number_problems(host_port))
        problems.one_of(f"{here}.protocol", port.get("protocol"), PROTOCOLS)


def _host_ports(containers: list[Wire], path: str, problems: Problems) -> None:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            place = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if place in taken:
                problems.duplicate(f"{path}[{index}].ports[{number}].hostPort", place)
            taken.add(place)


def _variable_name(name: str) -> list[str]:
    if not name:
        return ["environment variable name must be a non-empty string"]
    if re.fullmatch("[ -<>-~]+", name):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def _environment(variables: list[Wire], path: str, problems: Problems) -> None:
    for index, variable in enumerate(variables):
        here = f"{path}[{index}]"
        if not variable.get("name"):
            problems.required(f"{here}.name")
        else:
            problems.all_invalid(f"{here}.name", variable["name"], _variable_name(variable["name"]))
        if "valueFrom" in variable:
            _value_from(variable, f"{here}.valueFrom", problems)


def _value_from(variable: Wire, path: str, problems: Problems) -> None:
    source = variable["valueFrom"]
    if field := source.get("fieldRef"):
        field_ref(field, IN_ENVIRONMENT, f"{path}.fieldRef", problems)
    if resource := source.get("resourceFieldRef"):
        resource_ref(resource, f"{path}.resourceFieldRef", problems)
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in source:
            _key_ref(source[name], f"{path}.{name}", problems)
    if not source:
        rule = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        problems.invalid(path, "", rule)
    elif variable.get("value"):
        problems.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(source) > 1:
        problems.invalid(path, "", "may not have more than one field specified at a time")


def _key_ref(ref: Wire, path: str, problems: Problems) -> None:
    name = ref.get("name", "")
    problems.all_invalid(f"{path}.name", name, subdomain_problems(name))
    if not ref.get("key"):
        problems.required(f"{path}.key")
    else:
        problems.all_invalid(f"{path}.key", ref["key"], config_key_problems(ref["key"]))


def _environment_from(sources: list[Wire], path: str, problems: Problems) -> None:
    for index, source in enumerate(sources):
        here = f"{path}[{index}]"
        if prefix := source.get("prefix"):
            problems.all_invalid(f"{here}.prefix", prefix, _variable_name(prefix))
        refs = [name for name in ("configMapRef", "secretRef") if name in source]
        for ref in refs:
            name = source[ref].get("name")
            if not name:
                problems.required(f"{here}.{ref}.name")
            else:
                problems.all_invalid(f"{here}.{ref}.name", name, subdomain_problems(name.rstrip("-") or name))
        if not refs:
            problems.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(refs) > 1:
            problems.invalid(path, "", "may not have more than one field specified at a time")


def _mounts(container: Wire, volumes: dict[str, Wire], path: str, problems: Problems) -> None:
    devices = {device.get("name"): device.get("devicePath") for device in container.get("volumeDevices") or ()}
    taken: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        here, name, where = f"{path}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            problems.required(f"{here}.name")
        if name not in volumes:
            problems.not_found(f"{here}.name", name)
        if not where:
            problems.required(f"{here}.mountPath")
        if where in taken:
            problems.invalid(f"{here}.mountPath", where, "must be unique")
        taken.add(where)
        if name in devices:
            problems.invalid(f"{here}.name", name, "must not already exist in volumeDevices")
        if where in devices.values():
            problems.invalid(f"{here}.mountPath", where, "must not already exist as a path in volumeDevices")
        for field in ("subPath", "subPathExpr"):
            if value := mount.get(field):
                relative_path(value, f"{path}.{field}", problems)
        if propagation := mount.get("mountPropagation"):
            _propagation(propagation, container, f"{path}.mountPropagation", problems)


def _propagation(mode: str, container: Wire, path: str, problems: Problems) -> None:
    if mode not in ("Bidirectional", "HostToContainer", "None"):
        problems.unsupported(path, mode, ("Bidirectional", "HostToContainer", "None"))
    if mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        problems.forbidden(path, "Bidirectional mount propagation is available only to privileged containers")


def _devices(container: Wire, volumes: dict[str, Wire], path: str, problems: Problems) -> None:
    names: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        here, name, where = f"{path}[{index}]", device.get("name", ""), device.get("devicePath", "")
        if not name:
            problems.required(f"{here}.name")
        if name in names:
            problems.invalid(f"{here}.name", name, "must be unique")
        if name not in volumes:
            problems.not_found(f"{here}.name", name)
        elif not {"persistentVolumeClaim", "ephemeral"} & volumes[name].keys():
            rule = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            problems.invalid(f"{here}.name", name, rule)
        if not where:
            problems.required(f"{here}.devicePath")
        found = Problems()
        no_backsteps(where, "", found)
        if found:
            problems.invalid(f"{here}.devicePath", where, "can not contain backsteps ('..')")
        names.add(name)


def resource_name(name: str, path: str, problems: Problems) -> None:
    """Check the name of what a container may ask for."""
    if why := label_key_problems(name):
        problems.all_invalid(path, name, why)
    elif "/" not in name and not name.startswith("hugepages-"):
        if name not in _STANDARD | _ELSEWHERE:
            problems.invalid(path, name, "must be a standard resource type or fully qualified")
        if name not in _STANDARD:
            problems.invalid(path, name, "must be a standard resource for containers")


def resources(requirements: Wire, path: str, problems: Problems, *, named: NameCheck = resource_name) -> None:
    """Check limits and requests, that `named` allows their names, and that no request is above its limit."""
    limits, requests = requirements.get("limits") or {}, requirements.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            named(name, f"{path}.{field}[{name}]", problems)
            _amount(name, amount, f"{path}.{field}[{name}]", problems)
            if field == "limits":
                continue
            if name not in limits:
                if not may_overcommit(name):
                    problems.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
            elif Quantity(amount) != Quantity(limits[name]) and not may_overcommit(name):
                problems.invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limits[name]}")
            elif Quantity(amount) > Quantity(limits[name]):
                rule = f"must be less than or equal to {name} limit of {limits[name]}"
                problems.invalid(f"{path}.requests", amount, rule)


def may_overcommit(name: str) -> bool:
    """Whether a node can promise more of a resource than it has."""
    return ("/" not in name or "kubernetes.io/" in name) and not name.startswith("hugepages-")


def _amount(name: str, amount: str, path: str, problems: Problems) -> None:
    if Quantity(amount) < Quantity(0):
        problems.invalid(path, amount, "must be greater than or equal to 0")
    if not may_overcommit(name) and Quantity(amount).value % 1:
        problems.invalid(path, amount, "must be an integer")
