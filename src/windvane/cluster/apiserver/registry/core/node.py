"""The strategy of Node."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, read, wide
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.validation import taint_effect
from windvane.cluster.apiserver.registry.validation.address import cidr, network_warnings
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip
ROLE_PREFIX = "node-role.kubernetes.io/"


def _node_status(node: Wire) -> str:
    ready = [each for each in items(node, "status.conditions") if each.get("type") == "Ready"]
    status = ("Ready" if ready[-1].get("status") == "True" else "NotReady") if ready else "Unknown"
    return f"{status},SchedulingDisabled" if read(node, "spec.unschedulable") else status


def _roles(node: Wire) -> str:
    roles = set()
    for key, value in (read(node, "metadata.labels") or {}).items():
        if key.startswith(ROLE_PREFIX):
            roles.add(key.removeprefix(ROLE_PREFIX))
        elif key == "kubernetes.io/role":
            roles.add(value)
    return ",".join(sorted(roles - {""})) or "<none>"


def _kernel(node: Wire) -> str:
    kernel = read(node, "status.nodeInfo.kernelVersion") or "<unknown>"
    architecture = read(node, "status.nodeInfo.architecture")
    return f"{kernel} ({architecture})" if architecture else kernel


class NodeStrategy(BuiltinStrategy):
    model = core.Node
    keeps_status_of_new = True
    selectable_fields = ("spec.unschedulable",)
    unset_fields = {"spec.unschedulable": "false"}
    defaults = {
        "spec": {},
        "status.daemonEndpoints.kubeletEndpoint.Port": 0,
        **dict.fromkeys((f"status.nodeInfo.{name}" for name in NODE_INFO), ""),
    }
    columns = (
        NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        AGE,
        Column("Version", field("status.nodeInfo.kubeletVersion")),
        wide("Internal-IP", lambda node: _address(node, "InternalIP")),
        wide("External-IP", lambda node: _address(node, "ExternalIP")),
        wide("OS-Image", lambda node: read(node, "status.nodeInfo.osImage") or "<unknown>"),
        wide("Kernel-Version", _kernel),
        wide("Container-Runtime", lambda node: read(node, "status.nodeInfo.containerRuntimeVersion") or "<unknown>"),
    )
    column_fields = {
        "Version": "core.v1.NodeSystemInfo.kubeletVersion",
        "Internal-IP": "core.v1.NodeStatus.addresses",
        "External-IP": "core.v1.NodeStatus.addresses",
        "OS-Image": "core.v1.NodeSystemInfo.osImage",
        "Kernel-Version": "core.v1.NodeSystemInfo.kernelVersion",
        "Container-Runtime": "core.v1.NodeSystemInfo.containerRuntimeVersion",
    }

    def set_defaults(self, obj: Wire) -> None:
        status = obj["status"]
        if "capacity" in status:
            status.setdefault("allocatable", dict(status["capacity"]))

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj.get("spec", {})
        for index, taint in enumerate(spec.get("taints") or ()):
            path, key = f"metadata.taints[{index}]", taint.get("key", "")
            problems.all_invalid(f"{path}.key", key, label_key_problems(key))
            taint_effect(taint.get("effect", ""), f"{path}.effect", problems)
        for index, part in enumerate(spec.get("podCIDRs") or [each for each in [spec.get("podCIDR")] if each]):
            cidr(part, f"spec.podCIDRs[{index}]", problems)

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        spec = obj.get("spec") or {}
        if spec.get("configSource") is not None:
            yield "spec.configSource: the feature is removed"
        if spec.get("externalID"):
            yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
        for index, network in enumerate(spec.get("podCIDRs") or ()):
            yield from network_warnings(f"spec.podCIDRs[{index}]", network)


def _address(node: Wire, type_: str) -> str:
    addresses = (each.get("address", "") for each in items(node, "status.addresses") if each.get("type") == type_)
    return next(addresses, "<none>")
