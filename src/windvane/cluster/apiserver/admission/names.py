"""The admission plugins by kube-apiserver's names for them: which are always on, and which can be switched on.

No plugin can be switched off.
"""

from collections.abc import Iterable

OWNER_REFERENCES = "OwnerReferencesPermissionEnforcement"
OPTIONAL = frozenset({OWNER_REFERENCES})
ALWAYS_ON = frozenset(
    {
        "CertificateApproval",
        "CertificateSigning",
        "CertificateSubjectRestriction",
        "DefaultIngressClass",
        "DefaultStorageClass",
        "DefaultTolerationSeconds",
        "LimitRanger",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionWebhook",
        "NamespaceLifecycle",
        "PersistentVolumeClaimResize",
        "PodResizeValidator",
        "PodSecurity",
        "PodTopologyLabels",
        "Priority",
        "ResourceQuota",
        "RuntimeClass",
        "ServiceAccount",
        "StorageObjectInUseProtection",
        "TaintNodesByCondition",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
    }
)


def plugins(names: Iterable[str]) -> frozenset[str]:
    """Those of the named plugins that are to be switched on; `ValueError` if there is none of a name."""
    named = frozenset(names)
    if unknown := sorted(named - OPTIONAL - ALWAYS_ON):
        raise ValueError(
            f"there is no admission plugin {unknown[0]}. Can be enabled: {', '.join(sorted(OPTIONAL))}. "
            f"Always on: {', '.join(sorted(ALWAYS_ON))}"
        )
    return named & OPTIONAL
