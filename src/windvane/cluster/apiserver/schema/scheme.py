"""The scheme: which kinds a real server can read, by group and version, whether it serves them or not.

A body may be of another kind than its path is about. The server reads it as what it says that it is, and only then
finds that it doesn't fit.
"""

from collections.abc import Mapping
from functools import cache

import msgspec

from windvane.api.meta import ListMeta
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.schema.connections import CONNECTIONS
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.k8s import policy

# Kinds that are read, mostly old versions of others. Those that have a class are read as that.
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
# Kinds of which there are no lists; nor are there of those that are only asked about, or say how something is done.
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
# Groups that have a server of their own inside of the real one. It reads nothing else, and nobody else reads them.
_APART = ("apiextensions.k8s.io", "apiregistration.k8s.io")


class NotRegistered(LookupError):
    """There is no such kind; the message is Go's."""


class Unread(msgspec.Struct):
    """Stands for a kind that can be read, but of which it is not known how."""


@cache
def _registered() -> Mapping[tuple[str, str], type[msgspec.Struct]]:
    found: dict[tuple[str, str], type[msgspec.Struct]] = {}
    for line in _KNOWN.strip().splitlines():
        version, _, names = line.partition(": ")
        found |= {(version, name): Unread for name in names.split()}
    for cls in builtin_models():
        found[kind_of(cls).api_version, kind_of(cls).name] = cls
    found |= {("v1", name): cls for name, cls in CONNECTIONS.items()}
    found["policy/v1beta1", "Eviction"] = policy.Eviction
    return found | {(version, name): Unread for version, _ in found for name in _EVERYWHERE}


@cache
def _list_of(cls: type[msgspec.Struct]) -> type[msgspec.Struct]:
    fields = [("apiVersion", str), ("kind", str), ("metadata", ListMeta), ("items", list[cls])]  # type: ignore[valid-type]
    return msgspec.defstruct(f"{cls.__name__}List", fields, module=cls.__module__)


def class_for(group: str, api_version: str, name: str) -> type[msgspec.Struct]:
    """What an object of that kind is read as, by the server that serves `group`; `NotRegistered` if it can't be."""
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
    """The Go package of what the server makes of an object of that group, whatever its version."""
    return "core" if group in ("", "events.k8s.io") else group.partition(".")[0]
