"""Whether an object of a built-in kind keeps the rules of the API server, and in the server's words where it doesn't.

Rules are pure functions of the object, and of what it was before; they are in a module for each family of kinds. Here
is who checks what. Objects have had their types checked and their defaults filled in before.
"""

from collections.abc import Callable, Mapping
from typing import Any

from windvane.api.kind import Kind
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.builtin import (
    access,
    cluster,
    config,
    events,
    jobs,
    limit_ranges,
    migrations,
    networking,
    pod_parts,
    pods,
    policies,
    quotas,
    scaling,
    services,
    signing_requests,
    storage,
    webhooks,
    workload_status,
    workloads,
)
from windvane.cluster.apiserver.builtin.metadata import (
    changed_metadata,
    known_finalizers,
    metadata_by_itself,
    new_metadata,
)
from windvane.cluster.apiserver.builtin.problems import Problems

Json = dict[str, Any]
Rule = Callable[[Json, Problems], None]
ChangeRule = Callable[[Json, Json, Problems], None]


def validate_create(kind: Kind, obj: Json) -> list[StatusCause]:
    """What is wrong with a new object."""
    problems = Problems()
    new_metadata(kind, obj, problems)
    if _name(kind) not in _ANY_FINALIZER:
        known_finalizers(obj, problems)
    if rule := (_NEW.get(_name(kind)) or _ALWAYS.get(_name(kind))):
        rule(obj, problems)
    return problems


def validate_update(kind: Kind, obj: Json, old: Json) -> list[StatusCause]:
    """What is wrong with an object that was `old` until now."""
    problems = Problems()
    _change_of_metadata(kind, obj, old, problems)
    if _name(kind) in _CHECKED_AGAIN:
        metadata_by_itself(obj, problems)
        known_finalizers(obj, problems)
    rule, change = _ALWAYS.get(_name(kind)), _CHANGED.get(_name(kind))
    if change and _name(kind) in _CHANGE_FIRST:
        change(obj, old, problems)
    if rule:
        rule(obj, problems)
    if change and _name(kind) not in _CHANGE_FIRST:
        change(obj, old, problems)
    return problems


def validate_status_update(kind: Kind, obj: Json, old: Json) -> list[StatusCause]:
    """What is wrong with an object whose status is written through its subresource."""
    problems = Problems()
    _change_of_metadata(kind, obj, old, problems)
    if rule := _STATUS.get(_name(kind)):
        rule(obj, old, problems)
    return problems


def validate_part(subresource: str, kind: Kind, obj: Json, old: Json) -> list[StatusCause]:
    """What is wrong with an object of which a part is changed, through a subresource that is there only for that."""
    problems = Problems()
    _change_of_metadata(kind, obj, old, problems)
    _PARTS[subresource](obj, old, problems)
    return problems


def validate_finalize(kind: Kind, obj: Json, old: Json) -> list[StatusCause]:
    """What is wrong with a namespace whose own finalizers are written through their subresource."""
    problems = Problems()
    _change_of_metadata(kind, obj, old, problems)
    cluster.namespace_finalizers(obj, problems)
    return problems


def validate_custom_metadata(kind: Kind, obj: Json, old: Json | None) -> list[StatusCause]:
    """What is wrong with the metadata of a custom object, new or changed; the rest of it has a schema."""
    problems = Problems()
    if old is None:
        new_metadata(kind, obj, problems)
    else:
        metadata_by_itself(obj, problems)
        changed_metadata(obj, old, problems)
        changed_metadata(obj, old, problems)
    return problems


def _change_of_metadata(kind: Kind, obj: Json, old: Json, problems: Problems) -> None:
    """The real server looks at the metadata of a change again and again, and counts what it finds each time."""
    metadata_by_itself(obj, problems)
    changed_metadata(obj, old, problems)
    if _name(kind) not in _CHECKED_ONCE:
        changed_metadata(obj, old, problems)
    if _name(kind) not in _ANY_FINALIZER:
        known_finalizers(obj, problems)


def _name(kind: Kind) -> str:
    return f"{kind.group}/{kind.name}"


RBAC = "rbac.authorization.k8s.io"
NETWORKING = "networking.k8s.io"
STORAGE = "storage.k8s.io"
MIGRATION = "storagemigration.k8s.io/StorageVersionMigration"
ADMISSION = "admissionregistration.k8s.io"

# Kinds of which finalizers may be called anything.
_ANY_FINALIZER = frozenset(
    {
        "apiextensions.k8s.io/CustomResourceDefinition",
        "apiregistration.k8s.io/APIService",
        "coordination.k8s.io/Lease",
        "policy/PodDisruptionBudget",
    }
)
# Kinds whose metadata is looked at once less than others', and once more.
_CHECKED_ONCE = frozenset({"policy/PodDisruptionBudget"})
_CHECKED_AGAIN = frozenset(
    {
        "/ConfigMap", "/Namespace", "/PersistentVolumeClaim", "/Pod", "/Secret", "/ServiceAccount", "batch/Job",
        f"{NETWORKING}/Ingress",
    }
)  # fmt: skip

# What is checked of a new object alone, in place of what is checked always.
_NEW: Mapping[str, Rule] = {
    "/Pod": pods.new_pod,
    "apps/StatefulSet": workloads.new_stateful_set,
    "batch/CronJob": jobs.new_cron_job,
    "events.k8s.io/Event": events.newer_event,
    "scheduling.k8s.io/PriorityClass": cluster.priority_class,
    f"{ADMISSION}/MutatingAdmissionPolicy": policies.mutating_policy,
    f"{ADMISSION}/MutatingWebhookConfiguration": webhooks.new_webhooks,
    f"{ADMISSION}/ValidatingAdmissionPolicy": policies.validating_policy,
    f"{ADMISSION}/ValidatingWebhookConfiguration": webhooks.new_webhooks,
}

_ALWAYS: Mapping[str, Rule] = {
    "/ConfigMap": config.config_map,
    "/Endpoints": networking.endpoints,
    "/Event": events.event,
    "/LimitRange": limit_ranges.limit_range,
    "/Namespace": cluster.namespace,
    "/Node": cluster.node,
    "/PersistentVolume": storage.persistent_volume,
    "/PersistentVolumeClaim": storage.claim,
    "/PodTemplate": workloads.pod_template,
    "/ReplicationController": workloads.replication_controller,
    "/ResourceQuota": quotas.quota,
    "/Secret": config.secret,
    "/Service": services.service,
    "apps/ControllerRevision": workloads.controller_revision,
    "apps/DaemonSet": workloads.daemon_set,
    "apps/Deployment": workloads.deployment,
    "apps/ReplicaSet": workloads.replica_set,
    "apps/StatefulSet": workloads.stateful_set,
    "autoscaling/HorizontalPodAutoscaler": scaling.autoscaler,
    "batch/CronJob": jobs.cron_job,
    "batch/Job": jobs.job,
    "certificates.k8s.io/CertificateSigningRequest": signing_requests.request,
    "coordination.k8s.io/Lease": cluster.lease,
    "discovery.k8s.io/EndpointSlice": networking.endpoint_slice,
    "node.k8s.io/RuntimeClass": cluster.runtime_class,
    "policy/PodDisruptionBudget": scaling.disruption_budget,
    f"{ADMISSION}/MutatingAdmissionPolicyBinding": policies.mutating_binding,
    f"{ADMISSION}/ValidatingAdmissionPolicyBinding": policies.validating_binding,
    f"{NETWORKING}/Ingress": networking.ingress,
    f"{NETWORKING}/IngressClass": networking.ingress_class,
    f"{NETWORKING}/NetworkPolicy": networking.network_policy,
    f"{RBAC}/ClusterRole": access.cluster_role,
    f"{RBAC}/ClusterRoleBinding": access.cluster_role_binding,
    f"{RBAC}/Role": access.role,
    f"{RBAC}/RoleBinding": access.role_binding,
    f"{STORAGE}/StorageClass": storage.storage_class,
    MIGRATION: migrations.migration,
}

# What is checked of a change, after what is checked always.
_CHANGED: Mapping[str, ChangeRule] = {
    "/ConfigMap": config.changed_config_map,
    "/PersistentVolume": storage.changed_persistent_volume,
    "/PersistentVolumeClaim": storage.changed_claim,
    "/Pod": pods.changed_pod,
    "/Secret": config.changed_secret,
    "/ResourceQuota": quotas.changed_quota,
    "/Service": services.changed_service,
    "apps/ControllerRevision": workloads.changed_controller_revision,
    "apps/DaemonSet": workloads.changed_selector,
    "apps/Deployment": workloads.changed_selector,
    "apps/ReplicaSet": workloads.changed_selector,
    "apps/StatefulSet": workloads.changed_stateful_set,
    "batch/Job": jobs.changed_job,
    "discovery.k8s.io/EndpointSlice": networking.changed_endpoint_slice,
    "events.k8s.io/Event": events.changed_newer_event,
    "node.k8s.io/RuntimeClass": cluster.changed_runtime_class,
    "scheduling.k8s.io/PriorityClass": cluster.changed_priority_class,
    f"{ADMISSION}/MutatingAdmissionPolicy": policies.changed_mutating_policy,
    f"{ADMISSION}/MutatingWebhookConfiguration": webhooks.changed_webhooks,
    f"{ADMISSION}/ValidatingAdmissionPolicy": policies.changed_validating_policy,
    f"{ADMISSION}/ValidatingWebhookConfiguration": webhooks.changed_webhooks,
    f"{NETWORKING}/IngressClass": networking.changed_ingress_class,
    f"{RBAC}/ClusterRoleBinding": access.changed_binding,
    f"{RBAC}/RoleBinding": access.changed_binding,
    f"{STORAGE}/StorageClass": storage.changed_storage_class,
    MIGRATION: migrations.changed_migration,
}

# Where it is checked before.
_CHANGE_FIRST = frozenset({"apps/DaemonSet"})

_STATUS: Mapping[str, ChangeRule] = {
    "/Namespace": cluster.namespace_status,
    "/Pod": pods.pod_status,
    "/ResourceQuota": quotas.quota_status,
    "apps/DaemonSet": workload_status.daemon_set_status,
    "apps/Deployment": workload_status.deployment_status,
    "apps/ReplicaSet": workload_status.replica_set_status,
    "apps/StatefulSet": workload_status.stateful_set_status,
    "batch/Job": jobs.job_status,
    "certificates.k8s.io/CertificateSigningRequest": signing_requests.changed_status,
    "policy/PodDisruptionBudget": workload_status.disruption_budget_status,
    f"{ADMISSION}/ValidatingAdmissionPolicy": policies.changed_status,
    MIGRATION: migrations.migration_status,
}

_PARTS: Mapping[str, ChangeRule] = {
    "approval": signing_requests.changed_approval,
    "ephemeralcontainers": pod_parts.changed_ephemeral_containers,
    "resize": pod_parts.resized_pod,
}
