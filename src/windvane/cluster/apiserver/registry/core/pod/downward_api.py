"""Rules for what a container may learn about its pod: fields of the pod and resources of containers."""

import re

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.validation.object_meta import qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems

IN_VOLUMES = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
IN_ENVIRONMENT = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_CONVERTIBLE = frozenset({*IN_VOLUMES, *IN_ENVIRONMENT, "spec.restartPolicy", "spec.schedulerName", "status.phase"})
RESOURCES = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_SUBSCRIPT = re.compile(r"(?P<path>.+)\['(?P<key>.*)'\]")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def field_ref(ref: Wire, supported: tuple[str, ...], path: str, problems: Problems) -> None:
    """Check a reference to a field of the pod."""
    field = ref.get("fieldPath", "")
    if not field:
        problems.required(f"{path}.fieldPath")
        return
    subscript = _SUBSCRIPT.fullmatch(field)
    if (subscript["path"] if subscript else field) not in _CONVERTIBLE:
        why = f"error converting fieldPath: field label not supported: {subscript['path'] if subscript else field}"
        problems.invalid(f"{path}.fieldPath", field, why)
    elif subscript and subscript["path"] in ("metadata.annotations", "metadata.labels"):
        key = subscript["key"]
        qualified_name(key if subscript["path"].endswith("labels") else key.lower(), path, problems)
    elif subscript:
        problems.invalid(path, subscript["path"], "does not support subscript")
    elif field not in supported:
        problems.unsupported(f"{path}.fieldPath", field, supported)


def resource_ref(ref: Wire, path: str, problems: Problems) -> None:
    """Check a reference to a resource of a container."""
    resource, divisor = ref.get("resource", ""), ref.get("divisor", "0")
    if not resource:
        problems.required(f"{path}.resource")
    elif resource not in RESOURCES and not resource.startswith(("limits.hugepages-", "requests.hugepages-")):
        problems.unsupported(f"{path}.resource", resource, RESOURCES)
    if divisor == "0":
        return
    counted = resource.partition(".")[2]
    if counted == "cpu" and divisor not in ("1m", "1"):
        rule = "only divisor's values 1m and 1 are supported with the cpu resource"
        problems.invalid(f"{path}.divisor", resource, rule)
    elif counted in ("memory", "ephemeral-storage") and divisor not in _BYTES:
        what = "memory" if counted == "memory" else "local ephemeral storage"
        rule = f"only divisor's values {', '.join(_BYTES)} are supported with the {what} resource"
        problems.invalid(f"{path}.divisor", resource, rule)
