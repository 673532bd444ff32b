"""The order of the admission plugins, by kube-apiserver's names for them, and which are enabled.

This is the only place where the order is defined. It is that of kube-apiserver. No plugin can be disabled.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin

PARAMETER_ACCESS = "parameters of policies"
"""No plugin in kube-apiserver, which checks this when it validates policies."""
ORDER = (
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "TaintNodesByCondition",
    "PodSecurity",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "PodTopologyLabels",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    PARAMETER_ACCESS,
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",  # not in the chain: quotas are written together with the object
)
OFF_BY_DEFAULT = frozenset({"OwnerReferencesPermissionEnforcement"})
ALWAYS_ON = frozenset(ORDER) - OFF_BY_DEFAULT - {PARAMETER_ACCESS}


def in_order(plugins: Iterable["AdmissionPlugin"]) -> tuple["AdmissionPlugin", ...]:
    """Plugins in the order in which they are called."""
    return tuple(sorted(plugins, key=lambda each: ORDER.index(each.name)))


def switched_on(names: Iterable[str]) -> frozenset[str]:
    """The named plugins that are disabled by default; `ValueError` for an unknown name."""
    named = frozenset(names)
    if unknown := sorted(named - OFF_BY_DEFAULT - ALWAYS_ON):
        raise ValueError(
            f"there is no admission plugin {unknown[0]}. Can be enabled: {', '.join(sorted(OFF_BY_DEFAULT))}. "
            f"Always on: {', '.join(sorted(ALWAYS_ON))}"
        )
    return named & OFF_BY_DEFAULT
