"""Rules for the security contexts of pods and of containers."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.sysctls import sysctls
from windvane.cluster.apiserver.registry.core.pod.volumes import relative_path
from windvane.cluster.apiserver.registry.validation.problems import Problems

PROC_MOUNTS = ("Default", "Unmasked")
PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
LONGEST_PROFILE = 4095
SYSTEMS = ("linux", "windows")
_ID = "must be between 0 and 2147483647, inclusive"
# What Windows doesn't know: of a pod, where the name of its context is left out for what is in it, and of a container.
_NOT_ON_WINDOWS = (
    "securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC",
    "securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup",
    "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)  # fmt: skip
_NOT_IN_WINDOWS_CONTAINERS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


def pod_context(spec: Wire, path: str, problems: Problems) -> None:
    """Check the security context of a pod's spec."""
    context = spec.get("securityContext") or {}
    _user_and_group(context, path, problems)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        rule = "ShareProcessNamespace and HostPID cannot both be enabled"
        problems.invalid(f"{path}.shareProcessNamespace", True, rule)
    sysctls(spec, f"{path}.sysctls", problems)
    policy = context.get("fsGroupChangePolicy")
    if policy is not None and policy not in ("Always", "OnRootMismatch"):
        problems.unsupported(f"{path}.fsGroupChangePolicy", policy, ("Always", "OnRootMismatch"))
    _profiles(context, path, problems)


def container_context(container: Wire, spec: Wire, path: str, problems: Problems) -> None:
    """Check the security context of a container of a pod with that spec."""
    context = container.get("securityContext") or {}
    _user_and_group(context, path, problems)
    if mount := context.get("procMount"):
        if mount not in PROC_MOUNTS:
            problems.unsupported(f"{path}.procMount", mount, PROC_MOUNTS)
        if mount == "Unmasked" and spec.get("hostUsers") is not False:
            problems.invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile", problems)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            rule = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            problems.invalid(path, _go_context(context), rule)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            rule = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            problems.invalid(path, _go_context(context), rule)
    _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile", problems)


def host_network(spec: Wire, path: str, problems: Problems) -> None:
    """Check that a pod in the network of its host has its ports there."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            stated = port.get("hostPort")
            if stated and stated != port.get("containerPort"):
                where = f"{path}.containers[{index}].ports[{number}].hostPort"
                problems.invalid(where, stated, "must match `containerPort` when `hostNetwork` is true")


def host_users(spec: Wire, path: str, problems: Problems) -> None:
    """Check that a pod with users of its own shares nothing else with its host."""
    if spec.get("hostUsers") is not False:
        return
    for field, told in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(field):
            problems.forbidden(f"{path}.{told}", "when `hostUsers` is false")


def host_process(spec: Wire, path: str, problems: Problems) -> None:
    """Check that all containers of a pod are processes of a Windows host, or none of them is."""
    of_pod = _is_host_process(spec.get("securityContext"))
    found = []
    for container, here in _containers(spec, path):
        own = _is_host_process(container.get("securityContext"))
        if own is not None and of_pod is not None and own != of_pod:
            why = f"pod hostProcess value must be identical if both are specified, was {str(of_pod).lower()}"
            problems.invalid(f"{here}.securityContext.windowsOptions.hostProcess", own, why)
        found.append(bool(of_pod if own is None else own))
    if any(found) and not all(found):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        problems.invalid(path, "", why)
    if any(found) and not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        problems.invalid(f"{path}.hostNetwork", False, why)


def operating_system(spec: Wire, path: str, problems: Problems) -> None:
    """Check that a pod that says which system it is for asks for nothing that the other one has."""
    if (system := spec.get("os")) is None:
        return
    name = system.get("name") or ""
    if not name:
        problems.required(f"{path}.os.name")
    elif name not in SYSTEMS:
        problems.unsupported(f"{path}.os", name, SYSTEMS)
    elif name == "linux":
        contexts = [(spec, path), *_containers(spec, path)]
        for each, here in contexts:
            if (each.get("securityContext") or {}).get("windowsOptions") is not None:
                where = f"{here}.securityContext.windowsOptions"
                problems.forbidden(where, "windows options cannot be set for a linux pod")
    else:
        _windows(spec, path, problems)


def _windows(spec: Wire, path: str, problems: Problems) -> None:
    context = spec.get("securityContext") or {}
    for field in _NOT_ON_WINDOWS:
        outer, _, inner = field.rpartition(".")
        if (context if outer else spec).get(inner) is not None:
            problems.forbidden(f"{path}.{field}", "cannot be set for a windows pod")
    for container, here in _containers(spec, path):
        for field in _NOT_IN_WINDOWS_CONTAINERS:
            if (container.get("securityContext") or {}).get(field) is not None:
                problems.forbidden(f"{here}.securityContext.{field}", "cannot be set for a windows pod")


def _containers(spec: Wire, path: str) -> Iterator[tuple[Wire, str]]:
    for sort in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(sort) or ()):
            yield container, f"{path}.{sort}[{index}]"


def _is_host_process(context: Wire | None) -> bool | None:
    stated: bool | None = ((context or {}).get("windowsOptions") or {}).get("hostProcess")
    return stated


def _user_and_group(context: Wire, path: str, problems: Problems) -> None:
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        if (number := context.get(field)) is not None and not 0 <= number < 2**31:
            problems.invalid(f"{path}.{field}", number, _ID)


def _profiles(context: Wire, path: str, problems: Problems) -> None:
    _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile", problems)
    _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile", problems)


def _seccomp(profile: Wire | None, path: str, problems: Problems) -> None:
    if profile is None:
        return
    _profile_type(profile, "seccompProfile", path, problems)
    type_, name = profile.get("type") or "", profile.get("localhostProfile")
    if type_ != "Localhost":
        if name is not None:
            shown = {"Type": type_, "LocalhostProfile": name}
            problems.invalid(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost")
    elif name is None:
        problems.required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
    else:
        relative_path(name, f"{path}.localhostProfile", problems)


def _app_armor(profile: Wire | None, path: str, problems: Problems) -> None:
    if profile is None:
        return
    _profile_type(profile, "appArmorProfile", path, problems)
    type_, name = profile.get("type") or "", profile.get("localhostProfile")
    here = f"{path}.localhostProfile"
    if type_ in ("RuntimeDefault", "Unconfined") and name is not None:
        problems.invalid(here, name, "can only be set when AppArmor type is Localhost")
    if type_ != "Localhost":
        return
    if name is not None and name != name.strip():
        problems.invalid(here, name, "must not be padded with whitespace")
    elif not name:
        problems.required(here, "must be set when AppArmor type is Localhost")
    if len((name or "").encode()) > LONGEST_PROFILE:
        problems.too_long(here, LONGEST_PROFILE)


def _profile_type(profile: Wire, field: str, path: str, problems: Problems) -> None:
    type_ = profile.get("type") or ""
    if not type_:
        problems.required(f"{path}.type", f"type is required when {field} is set")
    elif type_ not in PROFILES:
        problems.unsupported(f"{path}.type", type_, PROFILES)


def _go_context(context: Wire) -> Wire:
    """A security context as Go's internal type shows it."""
    capabilities = context.get("capabilities")
    return {
        "Capabilities": capabilities and {"Add": capabilities.get("add"), "Drop": capabilities.get("drop")},
        "Privileged": context.get("privileged"),
        "SELinuxOptions": None,
        "WindowsOptions": None,
        "RunAsUser": context.get("runAsUser"),
        "RunAsGroup": context.get("runAsGroup"),
        "RunAsNonRoot": context.get("runAsNonRoot"),
        "ReadOnlyRootFilesystem": context.get("readOnlyRootFilesystem"),
        "AllowPrivilegeEscalation": context.get("allowPrivilegeEscalation"),
        "ProcMount": context.get("procMount"),
        "SeccompProfile": None,
        "AppArmorProfile": None,
    }
