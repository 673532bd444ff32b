"""What can't be written through a subresource, or past it: such fields are put back, so nobody comes to own them."""

from collections.abc import Mapping

from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.ownership.fields import Fields, fields_at

_SPEC, _STATUS, _METADATA = ("f:spec",), ("f:status",), ("f:metadata",)

# What else, beside spec, a status write of these kinds does not reach.
_BESIDE_SPEC: Mapping[str, Fields] = {
    "deployments.apps": fields_at(("f:metadata", "f:labels")),
    "pods": fields_at(("f:metadata", "f:deletionTimestamp"), ("f:metadata", "f:ownerReferences")),
    "certificatesigningrequests.certificates.k8s.io": fields_at(("f:status", "f:conditions")),
    **dict.fromkeys(
        (
            "apiservices.apiregistration.k8s.io",
            "flowschemas.flowcontrol.apiserver.k8s.io",
            "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
            "servicecidrs.networking.k8s.io",
            "validatingadmissionpolicies.admissionregistration.k8s.io",
            "volumeattachments.storage.k8s.io",
        ),
        fields_at(_METADATA),
    ),
}
_REQUESTS = "certificatesigningrequests.certificates.k8s.io"


def unreachable(type_: ResourceType, subresource: str) -> Fields:
    """The fields of a type that a write through that subresource (or through none) does not reach."""
    resource = type_.kind.resource
    if subresource == "status":
        if type_.custom:
            return fields_at(_METADATA, _SPEC)
        return {**fields_at(_SPEC), **_BESIDE_SPEC.get(resource, {})}
    if subresource == "approval":
        return fields_at(_SPEC, ("f:status", "f:certificate"))
    if subresource == "finalize":
        return fields_at(_STATUS)
    if resource == _REQUESTS:
        return fields_at(_SPEC, _STATUS)
    return fields_at(_STATUS) if type_.has_status else {}
