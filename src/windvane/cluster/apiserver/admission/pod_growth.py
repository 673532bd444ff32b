"""A pod that has a node may not come to ask for more than that has: the plugin PodResizeValidator."""

from collections.abc import Callable, Mapping
from typing import Any

from windvane.api.quantity import Quantity
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.pod_resources import add, of_pod, read_amounts
from windvane.k8s.core import Pod

Wire = dict[str, Any]
OS = "kubernetes.io/os"
NONE = Quantity(0)
WHOLE: Mapping[str, Callable[[Quantity], int]] = {"cpu": Quantity.milli, "memory": int}
"""What is compared, and how it is told."""


def refusal(pod: Wire, node: Wire | None) -> Failure | None:
    """Why a pod may not be resized as it shall be; None if it may."""
    name = pod["spec"]["nodeName"]
    if node is None:
        return _refused(pod, f'node "{name}" not found')
    system = (node["metadata"].get("labels") or {}).get(OS, "linux")
    if system != "linux":
        why = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
        return _refused(pod, why, "UnsupportedPlatform")
    has = read_amounts((node.get("status") or {}).get("allocatable"))
    wants = dict(of_pod(pod["spec"], "requests"))
    add(wants, read_amounts(pod["spec"].get("overhead")))
    lacking = [
        f"{what}, requested: {whole(wants[what])}, allocatable: {whole(has.get(what, NONE))}"
        for what, whole in WHOLE.items()
        if wants.get(what, NONE) > has.get(what, NONE)
    ]
    why = f"node didn't have enough allocatable resources: {'; '.join(lacking)}"
    return _refused(pod, why, "NodeCapacity") if lacking else None


def _refused(pod: Wire, why: str, reason: str = "") -> Failure:
    failure = forbidden(Pod.__kind__, pod["metadata"]["name"], why)
    if reason and failure.status.details is not None:
        failure.status.details.causes = [StatusCause(reason=reason)]
    return failure
