"""Rules for pods and for templates of pods."""

import ipaddress

from windvane.api.json_value import Wire, json_copy
from windvane.api.names import label_key_problems, label_problems, label_value_problems, subdomain_problems
from windvane.cluster.apiserver.registry.core.pod.affinity import affinity, topology_spread
from windvane.cluster.apiserver.registry.core.pod.annotations import annotated, changed_annotations
from windvane.cluster.apiserver.registry.core.pod.containers import all_containers, only_in_pods
from windvane.cluster.apiserver.registry.core.pod.pod_level_resources import pod_resources
from windvane.cluster.apiserver.registry.core.pod.security_context import (
    host_network,
    host_process,
    host_users,
    operating_system,
    pod_context,
)
from windvane.cluster.apiserver.registry.core.pod.volumes import pod_volumes
from windvane.cluster.apiserver.registry.validation.object_meta import annotations, labels, qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems, same

DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
RESTART_POLICIES = ("Always", "OnFailure", "Never")
MUTABLE = (
    "`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)  # fmt: skip
_MAX = 2**31 - 1
UNMATCHED = "`selector` does not match template `labels`"


def new_pod(obj: Wire, problems: Problems) -> None:
    """Check a new pod."""
    any_pod(obj, problems)
    spec = obj["spec"]
    if spec.get("ephemeralContainers"):
        problems.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        problems.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def changed_pod(obj: Wire, old: Wire, problems: Problems) -> None:
    """Check that nothing in a pod changes but what may."""
    any_pod(obj, problems, old)
    changed_annotations(obj, old, problems)  # which says again what is wrong with them, as the real server does
    spec, before = obj["spec"], old["spec"]
    for sort in ("containers", "initContainers"):
        if len(spec.get(sort) or ()) != len(before.get(sort) or ()):
            problems.forbidden(f"spec.{sort}", "pod updates may not add or remove containers")
            return
        for index, container in enumerate(spec.get(sort) or ()):
            if not container.get("image"):
                problems.required(f"spec.{sort}[{index}].image")
    deadline, earlier = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if deadline is None and earlier is not None:
        rule = "must not update from a positive integer to nil value"
        problems.invalid("spec.activeDeadlineSeconds", None, rule)
    elif deadline is not None and earlier is not None and deadline > earlier:
        problems.invalid("spec.activeDeadlineSeconds", deadline, "must be less than or equal to previous value")
        return
    for toleration in before.get("tolerations") or ():
        if toleration not in (spec.get("tolerations") or ()):
            rule = "existing toleration can not be modified except its tolerationSeconds"
            problems.forbidden("spec.tolerations", rule)
            break
    had = {gate.get("name", "") for gate in before.get("schedulingGates") or ()}
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name", "")
        if name not in had:
            rule = f"only deletion is allowed, but found new scheduling gate '{name}'"
            problems.forbidden(f"spec.schedulingGates[{index}].name", rule)
    if not same(_fixed(spec, before, gated=bool(had)), before):
        problems.forbidden("spec", f"pod updates may not change fields other than {','.join(MUTABLE)}\n")


def pod_status(obj: Wire, old: Wire, problems: Problems) -> None:
    """Check the addresses in a pod's status, and the annotations that come along with it."""
    changed_annotations(obj, old, problems)
    for index, address in enumerate(obj.get("status", {}).get("podIPs") or ()):
        ip_address(address.get("ip", ""), f"status.podIPs[{index}]", problems)


def template(found: Wire, path: str, problems: Problems) -> None:
    """Check a template of pods."""
    metadata = found.get("metadata", {})
    labels(metadata.get("labels"), f"{path}.labels", problems)
    annotations(metadata.get("annotations"), f"{path}.annotations", problems)
    annotated(found, f"{path}.annotations", problems)
    pod_spec(found["spec"], f"{path}.spec", problems)
    if found["spec"].get("ephemeralContainers"):
        problems.forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def pod_spec(spec: Wire, path: str, problems: Problems) -> None:
    """Check the spec of a pod or of a template of pods."""
    volumes = pod_volumes(spec.get("volumes") or [], f"{path}.volumes", problems)
    all_containers(spec, volumes, path, problems)
    pod_resources(spec, path, problems)
    host_network(spec, path, problems)
    problems.one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), RESTART_POLICIES)
    problems.one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), DNS_POLICIES)
    labels(spec.get("nodeSelector"), f"{path}.nodeSelector", problems)
    pod_context(spec, f"{path}.securityContext", problems)
    affinity(spec.get("affinity") or {}, f"{path}.affinity", problems)
    _dns(spec, f"{path}.dnsConfig", problems)
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        qualified_name(gate.get("conditionType", ""), f"{path}.readinessGates[{index}].conditionType", problems)
    _scheduling_gates(spec.get("schedulingGates") or [], f"{path}.schedulingGates", problems)
    topology_spread(spec.get("topologySpreadConstraints") or [], f"{path}.topologySpreadConstraints", problems)
    host_process(spec, path, problems)
    host_users(spec, path, problems)
    for field in ("serviceAccountName", "nodeName"):
        if name := spec.get(field):
            problems.all_invalid(f"{path}.{field}", name, subdomain_problems(name))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX:
        problems.invalid(f"{path}.activeDeadlineSeconds", deadline, f"must be between 1 and {_MAX}, inclusive")
    for field in ("hostname", "subdomain"):
        if name := spec.get(field):
            problems.all_invalid(f"{path}.{field}", name, label_problems(name))
    _tolerations(spec.get("tolerations") or [], f"{path}.tolerations", problems)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        ip_address(alias.get("ip", ""), f"{path}.hostAliases[{index}].ip", problems)
        for number, name in enumerate(alias.get("hostnames") or ()):
            problems.all_invalid(f"{path}.hostAliases[{index}].hostnames[{number}]", name, subdomain_problems(name))
    for field in ("priorityClassName", "runtimeClassName"):
        if name := spec.get(field):
            problems.all_invalid(f"{path}.{field}", name, subdomain_problems(name))
    operating_system(spec, path, problems)


def ip_address(value: str, path: str, problems: Problems) -> None:
    """Check an IPv4 or IPv6 address."""
    try:
        known = "%" not in value and ipaddress.ip_address(value) is not None
    except ValueError:
        known = False
    if not known:
        problems.invalid(path, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")


def any_pod(obj: Wire, problems: Problems, old: Wire | None = None) -> None:
    """Check a pod, new or changed."""
    spec = obj["spec"]
    annotated(obj, "metadata.annotations", problems, old)
    pod_spec(spec, "spec", problems)
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate(spec.get("volumes") or ()):
            for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
                if "serviceAccountToken" in source:
                    where = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                    problems.forbidden(where, "must not be specified when serviceAccountName is not set")
    only_in_pods(spec, "spec", problems)


def _fixed(spec: Wire, before: Wire, *, gated: bool) -> Wire:
    """The new spec with all that may change put back."""
    result = json_copy(spec)
    mutable = ["activeDeadlineSeconds", "schedulingGates", "tolerations"]
    if gated:
        mutable += ["nodeSelector", "affinity"]
    for field in mutable:
        result[field] = before.get(field)
    for sort in ("containers", "initContainers"):
        for container, was in zip(result.get(sort) or (), before.get(sort) or (), strict=True):
            container["image"] = was.get("image")
    return result


def _dns(spec: Wire, path: str, problems: Problems) -> None:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            problems.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            rule = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            problems.required(f"{path}.nameservers", rule)
            return
    for index, server in enumerate((config or {}).get("nameservers") or ()):
        ip_address(server, f"{path}.nameservers[{index}]", problems)


def _scheduling_gates(gates: list[Wire], path: str, problems: Problems) -> None:
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        qualified_name(name, f"{path}[{index}]", problems)
        if name in seen:
            problems.duplicate(f"{path}[{index}]", name)
        seen.add(name)


def _tolerations(tolerations: list[Wire], path: str, problems: Problems) -> None:
    for index, toleration in enumerate(tolerations):
        here = f"{path}[{index}]"
        key, operator, value = (toleration.get(field, "") for field in ("key", "operator", "value"))
        effect = toleration.get("effect", "")
        if key:
            problems.all_invalid(f"{here}.key", key, label_key_problems(key))
        elif operator != "Exists":
            rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            problems.invalid(f"{here}.operator", operator, rule)
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            rule = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            problems.invalid(f"{here}.effect", effect, rule)
        if operator in ("Equal", ""):
            if why := label_value_problems(value):
                problems.invalid(f"{here}.operator", value, ";".join(why))
        elif operator == "Exists":
            if value:
                problems.invalid(f"{here}.operator", value, "value must be empty when `operator` is 'Exists'")
        else:
            problems.unsupported(f"{here}.operator", operator, ("Equal", "Exists"))
        if effect:
            taint_effect(effect, f"{here}.effect", problems)


def taint_effect(effect: str, path: str, problems: Problems) -> None:
    """Check what a taint does."""
    if effect not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
        problems.unsupported(path, effect, ("NoSchedule", "PreferNoSchedule", "NoExecute"))


def always_restarted(spec: Wire, words: str, problems: Problems) -> None:
    """Check that pods of a template run for ever."""
    pod_spec = spec["template"]["spec"]
    if pod_spec["restartPolicy"] != "Always":
        problems.unsupported("spec.template.spec.restartPolicy", pod_spec["restartPolicy"], ("Always",))
    if "activeDeadlineSeconds" in pod_spec:
        rule = f"activeDeadlineSeconds in {words} is not Supported"
        problems.forbidden("spec.template.spec.activeDeadlineSeconds", rule)
