"""The order of the admission plugins, by kube-apiserver's names for them, and which of them are on.

This is the only place where the order stands. It is that of kube-apiserver. No plugin can be switched off.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin

PARAMETER_ACCESS = "parameters of policies"
"""No plugin of kube-apiserver's, which looks at that where it validates policies."""
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
    "ResourceQuota",  # not in the chain: what it counts is written together with the object
)
OFF_BY_DEFAULT = frozenset({"OwnerReferencesPermissionEnforcement"})
ALWAYS_ON = frozenset(ORDER) - OFF_BY_DEFAULT - {PARAMETER_ACCESS}


def in_order(plugins: Iterable["AdmissionPlugin"]) -> tuple["AdmissionPlugin", ...]:
    """Plugins in the order in which they are asked."""
    return tuple(sorted(plugins, key=lambda each: ORDER.index(each.name)))


def switched_on(names: Iterable[str]) -> frozenset[str]:
    """Those of the named plugins that are off by default; `ValueError` if there is none of a name."""
    named = frozenset(names)
    if unknown := sorted(named - OFF_BY_DEFAULT - ALWAYS_ON):
        raise ValueError(
            f"there is no admission plugin {unknown[0]}. Can be enabled: {', '.join(sorted(OFF_BY_DEFAULT))}. "
            f"Always on: {', '.join(sorted(ALWAYS_ON))}"
        )
    return named & OFF_BY_DEFAULT
