"""The admission plugin DefaultIngressClass: an Ingress that names no class gets the default one."""

from windvane.cluster.apiserver.admission.default_class import annotations_of, default_class
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.stored_objects import stored_objects
from windvane.cluster.apiserver.storage.store import Store

COLLECTION = "networking.k8s.io/ingressclasses"
IS_DEFAULT = ("ingressclass.kubernetes.io/is-default-class",)
CLASS = "kubernetes.io/ingress.class"
"""The annotation by which an Ingress could name its class before it had a field."""


class DefaultIngressClass(AdmissionPlugin):
    """Goes by the IngressClasses in the store."""

    name = "DefaultIngressClass"
    resources = frozenset({"ingresses.networking.k8s.io"})
    operations = frozenset({"CREATE"})

    def __init__(self, store: Store) -> None:
        self._store = store

    async def mutate(self, request: AdmissionRequest) -> None:
        """Fill it in."""
        if (ingress := request.object) is None:
            return
        spec = ingress.setdefault("spec", {})
        if spec.get("ingressClassName") is not None or CLASS in annotations_of(ingress):
            return
        if default := default_class(stored_objects(self._store, COLLECTION), IS_DEFAULT):
            spec["ingressClassName"] = default
