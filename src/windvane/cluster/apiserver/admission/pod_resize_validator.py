"""The admission plugin PodResizeValidator: a resized pod may not request more than its node has."""

from collections.abc import Callable, Mapping

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.pod_resources import add, of_pod, read_amounts
from windvane.k8s.core import Pod

OS = "kubernetes.io/os"
NONE = Quantity(0)
WHOLE: Mapping[str, Callable[[Quantity], int]] = {"cpu": Quantity.milli, "memory": int}
"""The resources that are compared, and how messages show them."""


class PodResizeValidator(StorePlugin):
    """Goes by the nodes in the store."""

    name = "PodResizeValidator"
    resources = frozenset({"pods"})

    def handles(self, request: AdmissionRequest) -> bool:
        return request.operation == "UPDATE" and request.subresource == "resize"

    async def validate(self, request: AdmissionRequest) -> None:
        pod, old = request.object, request.old
        if pod is None or old is None or pod["spec"] == old["spec"] or not (node := pod["spec"].get("nodeName")):
            return
        if refusal := _refusal(pod, self.stored_object("/nodes", node)):
            raise refusal


def _refusal(pod: Wire, node: Wire | None) -> Failure | None:
    """Why a pod may not be resized; None if it may."""
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
