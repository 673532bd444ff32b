"""The strategy of Pod."""

from collections.abc import Iterator

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.time import format_time
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.columns import POD, completed
from windvane.cluster.apiserver.registry.core.pod.defaults import pod
from windvane.cluster.apiserver.registry.core.pod.ephemeral_containers import EphemeralContainersStrategy
from windvane.cluster.apiserver.registry.core.pod.qos import quality_of_service
from windvane.cluster.apiserver.registry.core.pod.resize import ResizeStrategy
from windvane.cluster.apiserver.registry.core.pod.template_warnings import name_warnings
from windvane.cluster.apiserver.registry.core.pod.validation import changed_pod, new_pod, pod_status
from windvane.cluster.apiserver.registry.core.pod.warnings import APP_ARMOR_OF, pod_warnings
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

LONGEST_PATH = 4095


class PodStatusStrategy(StatusStrategy):
    keeps_metadata = ("ownerReferences",)
    reset_fields = ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences")

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        pod_status(obj, old, problems)


class PodStrategy(BuiltinStrategy):
    model = core.Pod
    has_generation = True
    returned_when_deleted = True
    checks_metadata_again = True
    selectable_fields = (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName",
    )  # fmt: skip
    unset_fields = {"spec.hostNetwork": "false"}
    defaults = {"status": {}}
    columns = POD
    column_fields = {
        "IP": "core.v1.PodStatus.podIP",
        "Node": "core.v1.PodSpec.nodeName",
        "Nominated Node": "core.v1.PodStatus.nominatedNodeName",
        "Readiness Gates": "core.v1.PodSpec.readinessGates",
    }
    status = PodStatusStrategy()
    parts = {"ephemeralcontainers": EphemeralContainersStrategy(), "resize": ResizeStrategy()}

    def set_defaults(self, obj: Wire) -> None:
        pod(obj)

    def prepare_for_create(self, obj: Wire) -> None:
        _move_app_armor(obj)
        obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
        if obj["spec"].get("schedulingGates"):
            message = "Scheduling is blocked due to non-empty scheduling gates"
            gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": message}
            now = format_time(ambient.now())
            obj["status"]["conditions"] = [gated | {"lastProbeTime": None, "lastTransitionTime": now}]

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        new_pod(obj, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        changed_pod(obj, old, problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        if old is None:
            yield from name_warnings(obj, "the Pod's hostname")
            yield from pod_warnings(obj)

    def row_conditions(self, obj: Wire) -> list[Wire]:
        """Conditions by which `kubectl` knows that the pod has completed."""
        return completed(obj)

    def grace_period(self, current: Wire, requested: int | None) -> int | None:
        """The grace period; 0 for a pod that is not scheduled or has ended."""
        spec = current.get("spec", {})
        if not spec.get("nodeName") or current.get("status", {}).get("phase") in ("Failed", "Succeeded"):
            return 0
        period: int = spec.get("terminationGracePeriodSeconds", 0) if requested is None else requested
        return period if period >= 0 else 1


def _move_app_armor(pod: Wire) -> None:
    """An AppArmor profile in an annotation, where it was before there was a field for it, is also in the field."""
    spec, annotations = pod["spec"], pod["metadata"].get("annotations") or {}
    if (spec.get("os") or {}).get("name") == "windows":
        return
    own = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        profile = _app_armor_profile(annotations.get(APP_ARMOR_OF + container.get("name", ""), ""))
        if profile is None or profile == own:
            continue
        container["securityContext"] = {"appArmorProfile": profile, **(container.get("securityContext") or {})}


def _app_armor_profile(annotation: str) -> Wire | None:
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    name = annotation.removeprefix("localhost/")
    usable = name != annotation and 0 < len(name.encode()) <= LONGEST_PATH and name == name.strip()
    return {"type": "Localhost", "localhostProfile": name} if usable else None
