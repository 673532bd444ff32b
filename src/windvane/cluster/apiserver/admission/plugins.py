"""The admission plugins of an API server."""

from collections.abc import Collection
from dataclasses import dataclass

from windvane.cluster.apiserver.admission.certificates.certificate_approval import CertificateApproval
from windvane.cluster.apiserver.admission.certificates.certificate_signing import CertificateSigning
from windvane.cluster.apiserver.admission.certificates.certificate_subject_restriction import (
    CertificateSubjectRestriction,
)
from windvane.cluster.apiserver.admission.default_ingress_class import DefaultIngressClass
from windvane.cluster.apiserver.admission.default_toleration_seconds import DefaultTolerationSeconds
from windvane.cluster.apiserver.admission.limit_ranger import LimitRanger
from windvane.cluster.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from windvane.cluster.apiserver.admission.order import OFF_BY_DEFAULT
from windvane.cluster.apiserver.admission.owner_references_permission_enforcement import (
    OwnerReferencesPermissionEnforcement,
)
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.pod_resize_validator import PodResizeValidator
from windvane.cluster.apiserver.admission.pod_security.admitter import PodSecurity
from windvane.cluster.apiserver.admission.pod_topology_labels import PodTopologyLabels
from windvane.cluster.apiserver.admission.policies.mutating_admission_policy import MutatingAdmissionPolicy
from windvane.cluster.apiserver.admission.policies.parameter_access import ParameterAccess
from windvane.cluster.apiserver.admission.policies.validating_admission_policy import ValidatingAdmissionPolicy
from windvane.cluster.apiserver.admission.priority import Priority
from windvane.cluster.apiserver.admission.runtime_class import RuntimeClass
from windvane.cluster.apiserver.admission.service_account import ServiceAccount
from windvane.cluster.apiserver.admission.storage.default_storage_class import DefaultStorageClass
from windvane.cluster.apiserver.admission.storage.persistent_volume_claim_resize import PersistentVolumeClaimResize
from windvane.cluster.apiserver.admission.storage.storage_object_in_use_protection import StorageObjectInUseProtection
from windvane.cluster.apiserver.admission.taint_nodes_by_condition import TaintNodesByCondition
from windvane.cluster.apiserver.admission.webhooks.configuration import MUTATING, VALIDATING
from windvane.cluster.apiserver.admission.webhooks.dispatcher import WebhookDispatcher
from windvane.cluster.apiserver.admission.webhooks.invocation import WebhookInvoker
from windvane.cluster.apiserver.admission.webhooks.metrics import WebhookMetrics
from windvane.cluster.apiserver.admission.webhooks.mutating_webhook import MutatingAdmissionWebhook
from windvane.cluster.apiserver.admission.webhooks.validating_webhook import ValidatingAdmissionWebhook
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.storage.store import Store


@dataclass(frozen=True, kw_only=True)
class PluginDependencies:
    """What plugins need from the server."""

    store: Store
    catalog: Catalog
    authorizer: Authorizer
    conversions: Conversions
    caller: Caller
    webhook_counts: WebhookMetrics
    require_accounts: bool
    """Whether a pod whose ServiceAccount is missing is refused."""


def make_plugins(parts: PluginDependencies, switched_on: Collection[str] = ()) -> list[AdmissionPlugin]:
    """The plugins that are enabled by default, and those of `switched_on`."""
    store, catalog, authorizer = parts.store, parts.catalog, parts.authorizer
    invoker = WebhookInvoker(parts.caller, parts.webhook_counts)
    mutating = WebhookDispatcher(store, catalog, authorizer, invoker, MUTATING)
    validating = WebhookDispatcher(store, catalog, authorizer, invoker, VALIDATING)
    convert = parts.conversions.all_to_version
    every: list[AdmissionPlugin] = [
        CertificateApproval(authorizer),
        CertificateSigning(authorizer),
        CertificateSubjectRestriction(),
        DefaultIngressClass(store),
        DefaultStorageClass(store),
        DefaultTolerationSeconds(),
        LimitRanger(store),
        MutatingAdmissionPolicy(store, catalog, authorizer, convert),
        MutatingAdmissionWebhook(mutating),
        NamespaceLifecycle(store),
        OwnerReferencesPermissionEnforcement(authorizer, catalog),
        ParameterAccess(store, catalog, authorizer),
        PersistentVolumeClaimResize(store),
        PodResizeValidator(store),
        PodSecurity(store),
        PodTopologyLabels(store),
        Priority(store),
        RuntimeClass(store),
        ServiceAccount(store, required=parts.require_accounts),
        StorageObjectInUseProtection(),
        TaintNodesByCondition(),
        ValidatingAdmissionPolicy(store, catalog, authorizer, convert),
        ValidatingAdmissionWebhook(validating),
    ]
    return [each for each in every if each.name not in OFF_BY_DEFAULT or each.name in switched_on]
