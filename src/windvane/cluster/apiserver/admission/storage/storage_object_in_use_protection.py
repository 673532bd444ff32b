"""The admission plugin StorageObjectInUseProtection: a finalizer protects volumes and claims that are in use."""

from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest

FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
}


class StorageObjectInUseProtection(AdmissionPlugin):
    """Gives new ones the finalizer; a controller takes it away."""

    name = "StorageObjectInUseProtection"
    resources = frozenset(FINALIZERS)
    operations = frozenset({"CREATE"})

    async def mutate(self, request: AdmissionRequest) -> None:
        if request.object is None:
            return
        finalizer = FINALIZERS[request.type.kind.resource]
        finalizers = request.object["metadata"].setdefault("finalizers", [])
        if finalizer not in finalizers:
            finalizers.append(finalizer)
