"""The admission plugin DefaultStorageClass: a claim that names no class gets the default one."""

from windvane.cluster.apiserver.admission.default_class import annotations_of, default_class
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.stored_objects import stored_objects
from windvane.cluster.apiserver.storage.store import Store

COLLECTION = "storage.k8s.io/storageclasses"
IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
CLASS = "volume.beta.kubernetes.io/storage-class"
"""The annotation by which a claim could name its class before it had a field."""


class DefaultStorageClass(AdmissionPlugin):
    """Goes by the StorageClasses in the store."""

    name = "DefaultStorageClass"
    resources = frozenset({"persistentvolumeclaims"})
    operations = frozenset({"CREATE"})

    def __init__(self, store: Store) -> None:
        self._store = store

    async def mutate(self, request: AdmissionRequest) -> None:
        """Fill it in. A claim that says "of none" does name its class."""
        if (claim := request.object) is None:
            return
        spec = claim.setdefault("spec", {})
        if spec.get("storageClassName") is not None or CLASS in annotations_of(claim):
            return
        if default := default_class(stored_objects(self._store, COLLECTION), IS_DEFAULT):
            spec["storageClassName"] = default
