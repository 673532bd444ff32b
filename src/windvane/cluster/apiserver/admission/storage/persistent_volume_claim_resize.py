"""The admission plugin PersistentVolumeClaimResize: a claim may grow if it has a volume whose class lets it."""

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.admission.default_class import annotations_of
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.storage.default_storage_class import DefaultStorageClass
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import forbidden
from windvane.cluster.pod_resources import amounts

NONE = Quantity(0)
FIXED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class PersistentVolumeClaimResize(StorePlugin):
    """Goes by the StorageClasses in the store."""

    name = "PersistentVolumeClaimResize"
    resources = frozenset({"persistentvolumeclaims"})
    operations = frozenset({"UPDATE"})

    async def validate(self, request: AdmissionRequest) -> None:
        claim, old = request.object, request.old
        if claim is None or old is None or _size(claim) <= _size(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            why = "Only bound persistent volume claims can be expanded"
            raise forbidden(request.type.kind, request.name, why)
        storage_class = self.stored_object(DefaultStorageClass.collection, _class_of(claim))
        if _class_of(claim) != _class_of(old) or not storage_class or not storage_class.get("allowVolumeExpansion"):
            raise forbidden(request.type.kind, request.name, FIXED)


def _size(claim: Wire) -> Quantity:
    return amounts(claim["spec"], "requests").get("storage", NONE)


def _class_of(claim: Wire) -> str:
    """The name of a claim's StorageClass; empty if it has none."""
    return str(annotations_of(claim).get(DefaultStorageClass.annotation) or claim["spec"].get("storageClassName") or "")
