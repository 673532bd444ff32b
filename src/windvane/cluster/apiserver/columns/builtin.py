"""Which columns each built-in kind has.

A kind that is not here shows its name and when it was made, as on a real cluster.
"""

from collections.abc import Mapping

from windvane.cluster.apiserver.columns import core, events, networking, pods, policy, storage, workloads
from windvane.cluster.apiserver.columns.column import NAME, Column, Columns, field

# `kubectl` turns the time into an age, and the head into AGE.
DEFAULT: Columns = (NAME, Column("Created At", field("metadata.creationTimestamp", None), "date"))

BUILTIN: Mapping[tuple[str, str], Columns] = {
    ("", "ComponentStatus"): core.COMPONENT_STATUS,
    ("", "ConfigMap"): core.CONFIG_MAP,
    ("", "Endpoints"): core.ENDPOINTS,
    ("", "Event"): events.EVENT,
    ("", "Namespace"): core.NAMESPACE,
    ("", "Node"): core.NODE,
    ("", "PersistentVolume"): core.PERSISTENT_VOLUME,
    ("", "PersistentVolumeClaim"): core.PERSISTENT_VOLUME_CLAIM,
    ("", "Pod"): pods.POD,
    ("", "PodTemplate"): pods.POD_TEMPLATE,
    ("", "ReplicationController"): core.REPLICATION_CONTROLLER,
    ("", "ResourceQuota"): core.RESOURCE_QUOTA,
    ("", "Secret"): core.SECRET,
    ("", "Service"): core.SERVICE,
    ("", "ServiceAccount"): core.SERVICE_ACCOUNT,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): policy.MUTATING_ADMISSION_POLICY,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): policy.ADMISSION_POLICY_BINDING,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): policy.WEBHOOK_CONFIGURATION,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): policy.VALIDATING_ADMISSION_POLICY,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): policy.ADMISSION_POLICY_BINDING,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): policy.WEBHOOK_CONFIGURATION,
    ("apiregistration.k8s.io", "APIService"): policy.API_SERVICE,
    ("apps", "ControllerRevision"): workloads.CONTROLLER_REVISION,
    ("apps", "DaemonSet"): workloads.DAEMON_SET,
    ("apps", "Deployment"): workloads.DEPLOYMENT,
    ("apps", "ReplicaSet"): workloads.REPLICA_SET,
    ("apps", "StatefulSet"): workloads.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): workloads.HORIZONTAL_POD_AUTOSCALER,
    ("autoscaling", "Scale"): workloads.SCALE,
    ("batch", "CronJob"): workloads.CRON_JOB,
    ("batch", "Job"): workloads.JOB,
    ("certificates.k8s.io", "CertificateSigningRequest"): policy.CERTIFICATE_SIGNING_REQUEST,
    ("coordination.k8s.io", "Lease"): policy.LEASE,
    ("discovery.k8s.io", "EndpointSlice"): networking.ENDPOINT_SLICE,
    ("events.k8s.io", "Event"): events.NEWER_EVENT,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): policy.FLOW_SCHEMA,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): policy.PRIORITY_LEVEL_CONFIGURATION,
    ("networking.k8s.io", "IPAddress"): networking.IP_ADDRESS,
    ("networking.k8s.io", "Ingress"): networking.INGRESS,
    ("networking.k8s.io", "IngressClass"): networking.INGRESS_CLASS,
    ("networking.k8s.io", "NetworkPolicy"): networking.NETWORK_POLICY,
    ("networking.k8s.io", "ServiceCIDR"): networking.SERVICE_CIDR,
    ("node.k8s.io", "RuntimeClass"): policy.RUNTIME_CLASS,
    ("policy", "PodDisruptionBudget"): workloads.POD_DISRUPTION_BUDGET,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): policy.ROLE_BINDING,
    ("rbac.authorization.k8s.io", "RoleBinding"): policy.ROLE_BINDING,
    ("scheduling.k8s.io", "PriorityClass"): policy.PRIORITY_CLASS,
    ("storage.k8s.io", "CSIDriver"): storage.CSI_DRIVER,
    ("storage.k8s.io", "CSINode"): storage.CSI_NODE,
    ("storage.k8s.io", "StorageClass"): storage.STORAGE_CLASS,
    ("storage.k8s.io", "VolumeAttachment"): storage.VOLUME_ATTACHMENT,
    ("storage.k8s.io", "VolumeAttributesClass"): storage.VOLUME_ATTRIBUTES_CLASS,
    ("storagemigration.k8s.io", "StorageVersionMigration"): storage.STORAGE_VERSION_MIGRATION,
}
