"""A claim may grow if it has a volume, and its class says that those may: the plugin PersistentVolumeClaimResize."""

from typing import Any

from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.admission.default_classes import CLAIM_CLASS
from windvane.cluster.pod_resources import amounts

Wire = dict[str, Any]
NONE = Quantity(0)
FIXED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


def class_of(claim: Wire) -> str:
    """The name of a claim's StorageClass; empty if it has none."""
    annotated = (claim["metadata"].get("annotations") or {}).get(CLAIM_CLASS)
    return str(annotated or claim["spec"].get("storageClassName") or "")


def refusal(claim: Wire, old: Wire, storage_class: Wire | None) -> str | None:
    """Why a claim may not become what it shall be; None if it may."""
    if amounts(claim["spec"], "requests").get("storage", NONE) <= amounts(old["spec"], "requests").get("storage", NONE):
        return None
    if (old.get("status") or {}).get("phase") != "Bound":
        return "Only bound persistent volume claims can be expanded"
    if class_of(claim) == class_of(old) and storage_class and storage_class.get("allowVolumeExpansion"):
        return None
    return FIXED
