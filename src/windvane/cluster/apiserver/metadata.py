"""The part of every object that the server keeps itself: identity, versions, generations, deletion."""

from typing import Any

from windvane import ambient
from windvane.api.json_value import same_json
from windvane.api.names import generate_name
from windvane.api.time import format_time
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import bad_request

Wire = dict[str, Any]

# Built-in kinds whose generation the server counts; custom kinds always have one.
WITH_GENERATION = frozenset(
    {
        "cronjobs.batch",
        "customresourcedefinitions.apiextensions.k8s.io",
        "daemonsets.apps",
        "deployments.apps",
        "endpointslices.discovery.k8s.io",
        "flowschemas.flowcontrol.apiserver.k8s.io",
        "ingressclasses.networking.k8s.io",
        "ingresses.networking.k8s.io",
        "jobs.batch",
        "mutatingadmissionpolicies.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "networkpolicies.networking.k8s.io",
        "poddisruptionbudgets.policy",
        "pods",
        "podtemplates",
        "priorityclasses.scheduling.k8s.io",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "replicasets.apps",
        "replicationcontrollers",
        "statefulsets.apps",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    }
)
# Metadata that is more than a note to those who look at the generation: annotations of a Deployment are copied to its
# ReplicaSets, and an EndpointSlice belongs to the Service that its labels name.
_COUNTED_METADATA = {"deployments.apps": "annotations", "endpointslices.discovery.k8s.io": "labels"}
# There is nothing about a PriorityClass that anybody would have to act upon.
_ALWAYS_THE_FIRST = "priorityclasses.scheduling.k8s.io"
REPEATED_OWNERS = (
    "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "
    "please fix your requests"
)


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


def wipe(wire: Wire) -> None:
    """Take away from a new object what only the server may say."""
    for mine in ("selfLink", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        wire["metadata"].pop(mine, None)


def begin(type_: ResourceType, wire: Wire) -> None:
    """Give a new object what the server gives it, when it changes no more."""
    wipe(wire)
    metadata = wire["metadata"]
    metadata["uid"] = ambient.uid()
    metadata["creationTimestamp"] = format_time(ambient.now())
    if counts_generations(type_):
        metadata["generation"] = 1


def called(wire: Wire) -> str:
    """What to call an object that may have no name yet."""
    return wire["metadata"].get("name") or wire["metadata"].get("generateName") or "Unknown"


def give_name(wire: Wire) -> None:
    """Give a new object the name that it asks the server to make."""
    metadata = wire["metadata"]
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generate_name(metadata["generateName"])


def tidy(wire: Wire) -> None:
    """Take out of a custom object's metadata what says nothing, as happens to what Go has read."""
    metadata = wire["metadata"]
    for name in [name for name, value in metadata.items() if value in (None, "", [], {})]:
        del metadata[name]


def drop_repeated_owners(wire: Wire, when: str = "") -> list[str]:
    """Keep each of several equal owner references once, and say so."""
    owners = wire["metadata"].get("ownerReferences")
    if not isinstance(owners, list):
        return []
    kept: list[Any] = []
    repeated = []
    for owner in owners:
        if owner in kept:
            repeated.append(str(owner.get("uid", "")))
        else:
            kept.append(owner)
    if not repeated:
        return []
    wire["metadata"]["ownerReferences"] = kept
    there = f".metadata.ownerReferences contains duplicate entries{when}"
    return [f"{there}; {REPEATED_OWNERS}; duplicate UID(s) observed: {', '.join(repeated)}"]


def keep_identity(wire: Wire, current: Wire) -> None:
    """Fill in what an update leaves out about who the object is; validation refuses what it changes."""
    metadata, existing = wire["metadata"], current["metadata"]
    for name in ("uid", "deletionGracePeriodSeconds", "resourceVersion"):
        if metadata.get(name) in (None, "") and name in existing:
            metadata[name] = existing[name]
    for name in ("generation", "creationTimestamp", "selfLink"):
        metadata.pop(name, None)
        if name in existing:
            metadata[name] = existing[name]
    if "deletionTimestamp" in existing:
        metadata["deletionTimestamp"] = existing["deletionTimestamp"]


def count_generation(type_: ResourceType, wire: Wire, current: Wire, subresource: str) -> None:
    """Move the generation if something changed that is neither metadata nor status."""
    if not counts_generations(type_) or subresource == "status" or type_.kind.resource == _ALWAYS_THE_FIRST:
        return
    ignored = {"metadata", "apiVersion", "kind"} | ({"status"} if type_.has_status else set())
    before = {key: value for key, value in current.items() if key not in ignored}
    after = {key: value for key, value in wire.items() if key not in ignored}
    counted = _COUNTED_METADATA.get(type_.kind.resource, "")
    noted = (wire["metadata"].get(counted) or {}) != (current["metadata"].get(counted) or {})
    if noted or not same_json(before, after):
        wire["metadata"]["generation"] = current["metadata"].get("generation", 0) + 1


def same(wire: Wire, current: Wire) -> bool:
    """Whether an update would change nothing: it then makes no new version. When it was written doesn't count."""
    return same_json(_comparable(wire), _comparable(current))


def _comparable(wire: Wire) -> Wire:
    metadata = {**wire["metadata"]}
    metadata.pop("resourceVersion", None)
    if entries := metadata.get("managedFields"):
        metadata["managedFields"] = [{**entry, "time": None} for entry in entries]
    return {**wire, "metadata": metadata}
