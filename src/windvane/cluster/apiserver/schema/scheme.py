"""The scheme: the kinds that a real server can decode, by group and version, served or not.

The server decodes a body as the kind that it states, and only then finds that it is not the kind of the path.
"""

from collections.abc import Mapping
from functools import cache

import msgspec

from windvane.api.meta import ListMeta
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.schema.connect_options import CONNECT_OPTIONS
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.k8s import policy

# Kinds that can be decoded, mostly old versions of others. Those that have a class are decoded as that.
_KNOWN = """
admission.k8s.io/v1: AdmissionReview
admission.k8s.io/v1beta1: AdmissionReview
admissionregistration.k8s.io/v1alpha1: ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1alpha1: MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1beta1: ValidatingWebhookConfiguration MutatingWebhookConfiguration
admissionregistration.k8s.io/v1beta1: ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1beta1: MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
apps/v1beta1: ControllerRevision Deployment DeploymentRollback Scale StatefulSet
apps/v1beta2: ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet
authentication.k8s.io/v1alpha1: SelfSubjectReview
authentication.k8s.io/v1beta1: SelfSubjectReview TokenReview
authorization.k8s.io/v1beta1: LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview
authorization.k8s.io/v1beta1: SubjectAccessReview
autoscaling/v1: HorizontalPodAutoscaler
batch/v1beta1: CronJob
certificates.k8s.io/v1alpha1: ClusterTrustBundle
certificates.k8s.io/v1beta1: CertificateSigningRequest ClusterTrustBundle PodCertificateRequest
coordination.k8s.io/v1alpha2: LeaseCandidate
coordination.k8s.io/v1beta1: Lease LeaseCandidate
discovery.k8s.io/v1beta1: EndpointSlice
events.k8s.io/v1beta1: Event
extensions/v1beta1: DaemonSet Deployment DeploymentRollback Ingress NetworkPolicy ReplicaSet Scale
flowcontrol.apiserver.k8s.io/v1beta1: FlowSchema PriorityLevelConfiguration
flowcontrol.apiserver.k8s.io/v1beta2: FlowSchema PriorityLevelConfiguration
flowcontrol.apiserver.k8s.io/v1beta3: FlowSchema PriorityLevelConfiguration
imagepolicy.k8s.io/v1alpha1: ImageReview
internal.apiserver.k8s.io/v1alpha1: StorageVersion
networking.k8s.io/v1beta1: IPAddress Ingress IngressClass ServiceCIDR
node.k8s.io/v1alpha1: RuntimeClass
node.k8s.io/v1beta1: RuntimeClass
policy/v1beta1: PodDisruptionBudget
rbac.authorization.k8s.io/v1alpha1: ClusterRole ClusterRoleBinding Role RoleBinding
rbac.authorization.k8s.io/v1beta1: ClusterRole ClusterRoleBinding Role RoleBinding
resource.k8s.io/v1: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1alpha3: DeviceTaintRule ResourcePoolStatusRequest
resource.k8s.io/v1beta1: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1beta2: DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice
scheduling.k8s.io/v1alpha2: PodGroup Workload
scheduling.k8s.io/v1beta1: PriorityClass
storage.k8s.io/v1alpha1: CSIStorageCapacity VolumeAttachment VolumeAttributesClass
storage.k8s.io/v1beta1: CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass
v1: PodLogOptions PodStatusResult RangeAllocation SerializedReference Status
v1: APIGroup APIGroupList APIResourceList APIVersions List
"""
# Kinds without lists, besides reviews and options.
_NOT_LISTED = frozenset(
    {
        "APIGroup", "APIVersions", "Binding", "DeploymentRollback", "Eviction", "List", "PodStatusResult",
        "RangeAllocation", "Scale", "SerializedReference", "Status", "TokenRequest", "WatchEvent",
    }
)  # fmt: skip
# Kinds that every group and version has.
_EVERYWHERE = frozenset(
    {"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent"}
)
# Groups with a scheme of their own in the real server, which has no other kinds.
_APART = ("apiextensions.k8s.io", "apiregistration.k8s.io")


class NotRegistered(LookupError):
    """The scheme has no such kind; the message is Go's."""


class OpaqueKind(msgspec.Struct):
    """Stands for a kind that is registered, but whose fields are unknown here."""


@cache
def _registered() -> Mapping[tuple[str, str], type[msgspec.Struct]]:
    found: dict[tuple[str, str], type[msgspec.Struct]] = {}
    for line in _KNOWN.strip().splitlines():
        version, _, names = line.partition(": ")
        found |= {(version, name): OpaqueKind for name in names.split()}
    for cls in builtin_models():
        found[kind_of(cls).api_version, kind_of(cls).name] = cls
    found |= {("v1", name): cls for name, cls in CONNECT_OPTIONS.items()}
    found["policy/v1beta1", "Eviction"] = policy.Eviction
    return found | {(version, name): OpaqueKind for version, _ in found for name in _EVERYWHERE}


@cache
def _list_of(cls: type[msgspec.Struct]) -> type[msgspec.Struct]:
    fields = [("apiVersion", str), ("kind", str), ("metadata", ListMeta), ("items", list[cls])]  # type: ignore[valid-type]
    return msgspec.defstruct(f"{cls.__name__}List", fields, module=cls.__module__)


def class_for(group: str, api_version: str, name: str) -> type[msgspec.Struct]:
    """The class that the server of `group` decodes a kind as; `NotRegistered` if there is none."""
    cls = _registered().get((api_version, name))
    item = name.removesuffix("List")
    if cls is None and item != name and item not in _NOT_LISTED and not item.endswith(("Options", "Review")):
        cls = _registered().get((api_version, item))
        cls = cls and _list_of(cls)
    stated = api_version.partition("/")[0]
    if cls is None or (group != stated and (group in _APART or stated in _APART)):
        where = f'for version "{api_version}" in scheme "pkg/runtime/scheme.go:111"'
        raise NotRegistered(f'no kind "{name}" is registered {where}')
    return cls


def package_of(api_version: str, name: str) -> str:
    """The Go package of a kind, which is its version but for kinds that all groups share."""
    return "v1" if name in _EVERYWHERE else api_version.rpartition("/")[2]


def internal_package(group: str) -> str:
    """The Go package of the internal version of a group."""
    return "core" if group in ("", "events.k8s.io") else group.partition(".")[0]
