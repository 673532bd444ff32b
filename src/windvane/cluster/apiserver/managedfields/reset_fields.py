"""Which fields a write through a subresource, or past it, resets to what they were: no manager comes to own them."""

from collections.abc import Mapping

from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.managedfields.field_set import FieldSet, fields_at

_SPEC, _STATUS, _METADATA = fields_at(("f:spec",)), fields_at(("f:status",)), fields_at(("f:metadata",))
_NOTHING: FieldSet = {}

# What else, beside spec, a status write of these kinds does not reach.
_BESIDE_SPEC: Mapping[str, FieldSet] = {
    "deployments.apps": fields_at(("f:metadata", "f:labels")),
    "pods": fields_at(("f:metadata", "f:deletionTimestamp"), ("f:metadata", "f:ownerReferences")),
    "certificatesigningrequests.certificates.k8s.io": fields_at(("f:status", "f:conditions")),
    **dict.fromkeys(
        (
            "apiservices.apiregistration.k8s.io",
            "flowschemas.flowcontrol.apiserver.k8s.io",
            "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
            "servicecidrs.networking.k8s.io",
            "storageversionmigrations.storagemigration.k8s.io",
            "validatingadmissionpolicies.admissionregistration.k8s.io",
            "volumeattachments.storage.k8s.io",
        ),
        _METADATA,
    ),
}
_REQUESTS = "certificatesigningrequests.certificates.k8s.io"


def reset_fields(type_: ResourceType, subresource: str) -> FieldSet:
    """The fields of a type that a write through that subresource (or through none) resets."""
    resource = type_.kind.resource
    if subresource == "status":
        return {**_SPEC, **(_METADATA if type_.custom else _BESIDE_SPEC.get(resource, _NOTHING))}
    if subresource == "approval":
        return {**_SPEC, **fields_at(("f:status", "f:certificate"))}
    if subresource == "finalize":
        return _STATUS
    if resource == _REQUESTS:
        return {**_SPEC, **_STATUS}
    return _STATUS if type_.has_status else _NOTHING
