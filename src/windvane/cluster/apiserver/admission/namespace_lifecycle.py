"""The admission plugin NamespaceLifecycle: no new objects in a namespace that is missing or being deleted."""

from windvane.api.kind import Kind
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import Failure, forbidden, not_found

NAMESPACE = Kind(group="", version="v1", name="Namespace", plural="namespaces", namespaced=False)
REVIEWS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Groups of reviews, which may be about any namespace."""


class NamespaceLifecycle(StorePlugin):
    """Goes by the namespaces in the store."""

    name = "NamespaceLifecycle"

    def handles(self, request: AdmissionRequest) -> bool:
        kind = request.type.kind
        return (
            request.operation == "CREATE"
            and kind.namespaced
            and (kind.group not in REVIEWS or request.subresource != "")
        )

    async def mutate(self, request: AdmissionRequest) -> None:
        """Refuse it here, before other plugins see it; nothing is changed."""
        if (namespace := self.stored_object("/namespaces", request.namespace)) is None:
            raise not_found(NAMESPACE, request.namespace)
        if "deletionTimestamp" in namespace["metadata"]:
            raise _refusal(request)


def _refusal(request: AdmissionRequest) -> Failure:
    why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
    refusal = forbidden(request.type.kind, request.name or called(request.object or {"metadata": {}}), why)
    if refusal.status.details is not None:
        cause = f"namespace {request.namespace} is being terminated"
        refusal.status.details.causes = [
            StatusCause(reason="NamespaceTerminating", message=cause, field="metadata.namespace")
        ]
    return refusal
