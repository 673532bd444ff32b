"""Claims and Ingresses that name no class get the default one: the plugins DefaultStorageClass and DefaultIngressClass.

A class says by an annotation that it is the default. If several do, it is the newest, and of those the first by name.
"""

from collections.abc import Iterable
from typing import Any

Wire = dict[str, Any]
DEFAULT_STORAGE = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
DEFAULT_INGRESS = ("ingressclass.kubernetes.io/is-default-class",)
CLAIM_CLASS = "volume.beta.kubernetes.io/storage-class"
INGRESS_CLASS = "kubernetes.io/ingress.class"


def fill_in_claim(claim: Wire, classes: Iterable[Wire]) -> None:
    """Give a claim that names no class the default one. One that says "of none" does name it."""
    spec = claim.setdefault("spec", {})
    says = spec.get("storageClassName") is not None or CLAIM_CLASS in _annotations(claim)
    if not says and (default := _default(classes, DEFAULT_STORAGE)):
        spec["storageClassName"] = default


def fill_in_ingress(ingress: Wire, classes: Iterable[Wire]) -> None:
    """The same for an Ingress."""
    spec = ingress.setdefault("spec", {})
    says = spec.get("ingressClassName") is not None or INGRESS_CLASS in _annotations(ingress)
    if not says and (default := _default(classes, DEFAULT_INGRESS)):
        spec["ingressClassName"] = default


def _default(classes: Iterable[Wire], annotations: Iterable[str]) -> str | None:
    named = sorted(classes, key=lambda each: str(each["metadata"]["name"]))
    defaults = [each for each in named if any(_annotations(each).get(key) == "true" for key in annotations)]
    newest = max(defaults, key=lambda each: str(each["metadata"].get("creationTimestamp", "")), default=None)
    return None if newest is None else str(newest["metadata"]["name"])


def _annotations(wire: Wire) -> Wire:
    return wire["metadata"].get("annotations") or {}
