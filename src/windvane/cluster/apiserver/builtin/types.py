"""What the server must know about each built-in kind: its verbs, the fields that selectors may use, its schema.

Only what a class can't say stands here. Schemas are made when first asked for: all of them together take longer than
the rest of the server's start.
"""

from collections.abc import Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

from windvane.api.custom_resources.schema import Schema, schema
from windvane.api.kind import Kind
from windvane.api.resource import Object, kind_of
from windvane.cluster.apiserver.builtin import autoscalers
from windvane.cluster.apiserver.builtin.events import from_newer, to_newer
from windvane.cluster.apiserver.catalog import ResourceType, builtin_kinds
from windvane.k8s import (
    authentication,
    authorization,
    autoscaling,
    batch,
    certificates,
    core,
    events,
    policy,
    storage,
    storagemigration,
)

EVERYTHING = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
ONLY_ASKED = ("create",)

# What subresources read and write; there is no place in the API where they are kept.
WITHOUT_RESOURCE: frozenset[type[Object]] = frozenset({authentication.TokenRequest, autoscaling.Scale, policy.Eviction})

# Questions that are answered and forgotten.
REVIEWS: tuple[type[Object], ...] = (
    authentication.SelfSubjectReview,
    authentication.TokenReview,
    authorization.LocalSubjectAccessReview,
    authorization.SelfSubjectAccessReview,
    authorization.SelfSubjectRulesReview,
    authorization.SubjectAccessReview,
)

VERBS: Mapping[type[Object], tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(REVIEWS, ONLY_ASKED),
        core.Binding: ONLY_ASKED,
        core.ComponentStatus: ("get", "list"),
        # Nobody may delete all namespaces with one request.
        core.Namespace: ("create", "delete", "get", "list", "patch", "update", "watch"),
    }
)


def _object_reference(field: str) -> tuple[str, ...]:
    parts = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
    return tuple(f"{field}.{part}" for part in parts)


SELECTABLE: Mapping[type[Object], tuple[str, ...]] = MappingProxyType(
    {
        core.Event: (*_object_reference("involvedObject"), "reason", "reportingComponent", "source", "type"),
        core.Namespace: ("status.phase",),
        core.Node: ("spec.unschedulable",),
        core.Pod: (
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ),
        core.ReplicationController: ("status.replicas",),
        core.Secret: ("type",),
        core.Service: ("spec.clusterIP", "spec.type"),
        batch.Job: ("status.successful",),
        certificates.CertificateSigningRequest: ("spec.signerName",),
        events.Event: (*_object_reference("regarding"), "reason", "reportingController", "type"),
    }
)

RETURNED_WHEN_DELETED: frozenset[type[Object]] = frozenset(
    {
        core.PersistentVolume,
        core.PersistentVolumeClaim,
        core.Pod,
        core.PodTemplate,
        core.ResourceQuota,
        core.Service,
        core.ServiceAccount,
        storage.CSIDriver,
        storage.CSINode,
        storage.StorageClass,
        storage.VolumeAttachment,
        storage.VolumeAttributesClass,
    }
)


class BuiltinType(ResourceType):
    """A built-in kind as it is served, with the class it comes from."""

    model: type[Object]

    @property
    def returned_when_deleted(self) -> bool:
        """Whether DELETE answers with the object that is gone, and not with a Status."""
        return self.model in RETURNED_WHEN_DELETED

    def __init__(self, model: type[Object]) -> None:
        super().__init__(
            kind=kind_of(model),
            schema={},
            verbs=VERBS.get(model, EVERYTHING),
            selectable=SELECTABLE.get(model, ()),
        )
        vars(self)["model"] = model
        del vars(self)["schema"]  # a value on the object would hide the property

    @cached_property
    def schema(self) -> Schema:
        """Made at the first look."""
        return _schema_of(self.model)


@cache
def _schema_of(model: type[Object]) -> Schema:
    """Made once for all servers of a process: that of pods takes longer than to start one. Nobody changes it."""
    return schema(model, builtin=True)


class NewerEventType(BuiltinType):
    """The Event of events.k8s.io, which is the one of the core group in another form."""

    @property
    def stored_kind(self) -> Kind:
        """The core group's Event."""
        return kind_of(core.Event)

    def to_storage(self, wire: dict[str, Any]) -> dict[str, Any]:
        """In the core group's form."""
        return from_newer(wire)

    def from_storage(self, wire: dict[str, Any]) -> dict[str, Any]:
        """Out of the core group's form."""
        return to_newer(wire)


class OlderAutoscalerType(BuiltinType):
    """The HorizontalPodAutoscaler of autoscaling/v1, which is the one of v2 in another form."""

    @property
    def stored_kind(self) -> Kind:
        """The one of v2."""
        return kind_of(autoscaling.HorizontalPodAutoscaler)

    def to_storage(self, wire: dict[str, Any]) -> dict[str, Any]:
        """In the form of v2."""
        return autoscalers.to_v2(wire)

    def from_storage(self, wire: dict[str, Any]) -> dict[str, Any]:
        """Out of the form of v2."""
        return autoscalers.to_v1(wire)


CONVERTED: Mapping[type[Object], type[BuiltinType]] = MappingProxyType(
    {events.Event: NewerEventType, autoscalers.HorizontalPodAutoscaler: OlderAutoscalerType}
)


OFF_BY_DEFAULT: tuple[type[Object], ...] = (storagemigration.StorageVersionMigration,)


def builtin_types() -> list[BuiltinType]:
    """Every built-in kind that has a place in the API."""
    models = dict.fromkeys((*builtin_kinds(), *REVIEWS, *CONVERTED))
    left_out = (*WITHOUT_RESOURCE, *OFF_BY_DEFAULT)
    return [CONVERTED.get(model, BuiltinType)(model) for model in models if model not in left_out]


def optional_types() -> list[BuiltinType]:
    """Those that have one only if the server is told to serve them."""
    return [BuiltinType(model) for model in OFF_BY_DEFAULT]
