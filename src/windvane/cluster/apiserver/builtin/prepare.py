"""What the API server itself writes into an object: most of it after its defaults and before it is validated."""

from collections.abc import Callable, Mapping
from typing import Any

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.quantity import Quantity
from windvane.api.status import StatusCause
from windvane.api.time import format_time
from windvane.api.wording import invalid
from windvane.cluster.apiserver.builtin.definitions.status import first_status, note_stored_version
from windvane.cluster.apiserver.builtin.filling import fill_zero
from windvane.cluster.apiserver.builtin.pod_warnings import APP_ARMOR_OF
from windvane.cluster.apiserver.builtin.workload_defaults import TEMPLATE_GENERATION

Json = dict[str, Any]
LONGEST_PATH = 4095


def prepare_create(kind: Kind, obj: Json) -> None:
    """Complete a new object in place; it has its name and uid, and nothing in its status but defaults."""
    if special := _SPECIAL.get(f"{kind.group}/{kind.name}"):
        special(obj)


def prepare_update(kind: Kind, obj: Json, old: Json) -> None:
    """Take away, in place, what an object's new form has no use for, and what can't be changed this way."""
    if (kind.group, kind.name) == ("", "Service"):
        _service(obj["spec"], old["spec"])
    elif (kind.group, kind.name) == ("apps", "DaemonSet"):
        _changed_daemon_set(obj, old)
    elif (kind.group, kind.name) == ("apps", "StatefulSet"):
        _stateful_set(obj)
    elif kind.name in ("Namespace", "CertificateSigningRequest"):
        obj["spec"] = old["spec"]
    elif kind.name == "CustomResourceDefinition" and "status" in obj:
        note_stored_version(obj)


def prepare_status_update(kind: Kind, obj: Json, old: Json) -> None:
    """The same for a write of the status alone."""
    if (kind.group, kind.name) == ("", "PersistentVolume"):
        _changed_volume_status(obj.setdefault("status", {}), old.get("status") or {})


def read_back(kind: Kind, obj: Json) -> None:
    """Give a new object that nobody refused those defaults, in place, that it has only once it is read again."""
    if (kind.group, kind.name) == ("batch", "Job"):
        fill_zero(obj["metadata"], "labels", dict(obj["spec"]["template"]["metadata"].get("labels") or {}))
    elif (kind.group, kind.name) == ("", "PersistentVolumeClaim"):
        obj["status"]["phase"] = "Pending"


def choose_families(spec: Json, before: Json) -> list[StatusCause]:
    """Say of which families a Service's addresses are, in place, or what is wrong with those it states.

    This is a cluster of IPv4 alone.
    """
    if spec["type"] == "ExternalName":
        return []
    # Whoever has neither an address nor a selector may stand for anything, also outside of this cluster.
    anything = spec.get("clusterIP") == "None" and not spec.get("selector")
    usual = "RequireDualStack" if anything else "SingleStack"
    policy = spec.setdefault("ipFamilyPolicy", before.get("ipFamilyPolicy", usual))
    stated, had = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
    families = spec["ipFamilies"] = stated or ["IPv4"]
    if policy == "SingleStack":
        if families == had:
            del families[1:]
        return []
    if len(stated) == 1 and len(had) == 2:
        return [invalid("spec.ipFamilyPolicy", policy, "must be 'SingleStack' to release the secondary IP family")]
    if anything and len(families) == 1:
        families.append("IPv6" if families == ["IPv4"] else "IPv4")
    return []


def quality_of_service(spec: Json) -> str:
    """How a pod's claim to resources is treated when they get scarce."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    holders = [spec] if spec.get("resources") is not None else containers
    requests = [_counted(holder, "requests") for holder in holders]
    limits = [_counted(holder, "limits") for holder in holders]
    if not any(requests) and not any(limits):
        return "BestEffort"
    complete = all(set(limit) == {"cpu", "memory"} for limit in limits)
    return "Guaranteed" if complete and requests == limits else "Burstable"


def _counted(holder: Json, amounts: str) -> dict[str, Quantity]:
    found = (holder.get("resources") or {}).get(amounts) or {}
    counted = {name: Quantity.from_wire(found[name]) for name in ("cpu", "memory") if name in found}
    return {name: quantity for name, quantity in counted.items() if quantity > Quantity(0)}


def _pod(obj: Json) -> None:
    _move_app_armor(obj)
    obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
    if obj["spec"].get("schedulingGates"):
        message = "Scheduling is blocked due to non-empty scheduling gates"
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": message}
        now = format_time(ambient.now())
        obj["status"]["conditions"] = [gated | {"lastProbeTime": None, "lastTransitionTime": now}]


def _move_app_armor(pod: Json) -> None:
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


def _app_armor_profile(annotation: str) -> Json | None:
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    name = annotation.removeprefix("localhost/")
    usable = name != annotation and 0 < len(name.encode()) <= LONGEST_PATH and name == name.strip()
    return {"type": "Localhost", "localhostProfile": name} if usable else None


def _namespace(obj: Json) -> None:
    """A namespace can go when its content is gone; who sees to that removes this finalizer."""
    metadata = obj["metadata"]
    if name := metadata.get("name"):  # one that was generated is known only now
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    finalizers = obj["spec"].setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")


def _job(obj: Json) -> None:
    """A job finds its pods by its uid, unless its author chose the selector."""
    spec, metadata = obj["spec"], obj["metadata"]
    if spec["manualSelector"]:
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for prefix in ("", "batch.kubernetes.io/"):
        labels.setdefault(f"{prefix}job-name", metadata.get("name", ""))
        labels.setdefault(f"{prefix}controller-uid", metadata["uid"])
    selector = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    selector.setdefault("batch.kubernetes.io/controller-uid", metadata["uid"])


def _new_service(obj: Json) -> None:
    """Say which addresses a Service has, all but the ones that must be allocated."""
    spec = obj["spec"]
    if spec["type"] == "ExternalName":
        return
    if address := spec.get("clusterIP"):
        spec.setdefault("clusterIPs", [address])
    choose_families(spec, {})


def _service(spec: Json, before: Json) -> None:
    """What a Service was given for its type goes with the type."""
    lost = []
    if before["type"] != "ExternalName" and spec["type"] == "ExternalName":
        lost += ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]
    if before["type"] == "LoadBalancer" and spec["type"] != "LoadBalancer":
        lost += ["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]
    open_types = ("NodePort", "LoadBalancer")
    if _is_external(before) and not _is_external(spec):
        lost.append("externalTrafficPolicy")
    if before["type"] in open_types and spec["type"] not in open_types and _node_ports(spec) <= _node_ports(before):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    for field in lost:
        if spec.get(field) == before.get(field):
            spec.pop(field, None)


def _is_external(spec: Json) -> bool:
    """Whether a Service can be reached from outside."""
    kind = spec["type"]
    return kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def _node_ports(spec: Json) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _changed_daemon_set(obj: Json, old: Json) -> None:
    """The template of a DaemonSet is counted in an annotation, which nobody else can change."""
    counted = int((old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1"))
    if obj["spec"].get("template") != old["spec"].get("template"):
        counted += 1
    obj["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = str(counted)


def _daemon_set(obj: Json) -> None:
    obj["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def _volume(obj: Json) -> None:
    obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": format_time(ambient.now())}


def _changed_volume_status(status: Json, before: Json) -> None:
    """When the phase changed is for the author to say, but it is always said."""
    since, stated = before.get("lastPhaseTransitionTime"), status.get("lastPhaseTransitionTime")
    if status.get("phase") != before.get("phase"):
        if stated in (None, since):
            status["lastPhaseTransitionTime"] = format_time(ambient.now())
    elif stated is None and since is not None:
        status["lastPhaseTransitionTime"] = since


def _claim(obj: Json) -> None:
    obj["status"] = {}


def _stateful_set(obj: Json) -> None:
    """What only a feature that is not on by default looks at is not kept."""
    rolling = (obj["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    rolling.pop("maxUnavailable", None)


_SPECIAL: Mapping[str, Callable[[Json], None]] = {
    "apiextensions.k8s.io/CustomResourceDefinition": first_status,
    "/Namespace": _namespace,
    "/PersistentVolume": _volume,
    "/PersistentVolumeClaim": _claim,
    "/Pod": _pod,
    "/Service": _new_service,
    "apps/DaemonSet": _daemon_set,
    "apps/StatefulSet": _stateful_set,
    "batch/Job": _job,
}
