"""The part of every object that the server keeps itself: identity, versions, generations, deletion."""

from copy import deepcopy
from typing import Any

from windvane import ambient
from windvane.api.names import generate_name
from windvane.api.time import format_time
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import bad_request, failure

Wire = dict[str, Any]

# Built-in kinds whose generation the server counts; custom kinds always have one.
WITH_GENERATION = frozenset(
    {
        "cronjobs.batch",
        "customresourcedefinitions.apiextensions.k8s.io",
        "daemonsets.apps",
        "deployments.apps",
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "ingresses.networking.k8s.io",
        "jobs.batch",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "networkpolicies.networking.k8s.io",
        "poddisruptionbudgets.policy",
        "pods",
        "podtemplates",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "replicasets.apps",
        "replicationcontrollers",
        "statefulsets.apps",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    }
)
# What an update may leave out, and may not change.
KEPT = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion")


def counts_generations(type_: ResourceType) -> bool:
    """Whether objects of this type have a generation."""
    return type_.custom or type_.kind.resource in WITH_GENERATION


def check_placement(type_: ResourceType, wire: Wire, namespace: str) -> Wire:
    """The object's metadata, once it fits the path that the request was sent to."""
    if wire.get("metadata") is None:
        wire["metadata"] = {}
    metadata: Wire = wire["metadata"]
    stated = metadata.get("namespace") or ""
    if not type_.kind.namespaced:
        metadata.pop("namespace", None)
        return metadata
    if stated and stated != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    metadata["namespace"] = namespace
    return metadata


def begin(type_: ResourceType, wire: Wire) -> None:
    """Give a new object what the server gives it, and take away what only the server may say."""
    metadata = wire["metadata"]
    if metadata.get("resourceVersion"):
        raise failure(500, "", "resourceVersion should not be set on objects to be created")
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generate_name(metadata["generateName"])
    for mine in ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "resourceVersion"):
        metadata.pop(mine, None)
    metadata["uid"] = ambient.uid()
    metadata["creationTimestamp"] = format_time(ambient.now())
    metadata.pop("generation", None)
    if counts_generations(type_):
        metadata["generation"] = 1


def keep_identity(wire: Wire, current: Wire) -> None:
    """Fill in what an update leaves out about who the object is; validation refuses what it changes."""
    metadata, existing = wire["metadata"], current["metadata"]
    for name in KEPT:
        if not metadata.get(name) and name in existing:
            metadata[name] = existing[name]
    for name in ("generation", "creationTimestamp", "selfLink"):
        metadata.pop(name, None)
        if name in existing:
            metadata[name] = existing[name]
    metadata.pop("managedFields", None)


def count_generation(type_: ResourceType, wire: Wire, current: Wire) -> None:
    """Move the generation if something changed that is neither metadata nor status."""
    if not counts_generations(type_):
        return
    ignored = {"metadata", "apiVersion", "kind"} | ({"status"} if type_.has_status else set())
    before = {key: value for key, value in current.items() if key not in ignored}
    after = {key: value for key, value in wire.items() if key not in ignored}
    if before != after:
        wire["metadata"]["generation"] = current["metadata"].get("generation", 0) + 1


def same(wire: Wire, current: Wire) -> bool:
    """Whether an update would change nothing: it then makes no new version."""
    return _comparable(wire) == _comparable(current)


def _comparable(wire: Wire) -> Wire:
    copy = {**wire, "metadata": {**wire["metadata"]}}
    copy["metadata"].pop("resourceVersion", None)
    return copy


def mark_deleted(wire: Wire, grace: int) -> Wire:
    """A copy of the object that says since when it is being deleted."""
    leaving = deepcopy(wire)
    metadata = leaving["metadata"]
    metadata.setdefault("deletionTimestamp", format_time(ambient.now()))
    metadata["deletionGracePeriodSeconds"] = grace
    if "generation" in metadata:
        metadata["generation"] += 1
    return leaving
