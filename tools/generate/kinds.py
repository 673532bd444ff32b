"""What the OpenAPI definitions don't say about the kinds: plural, scope, short names, categories, subresources.

Written by hand; `tests/reference/test_builtin_kinds.py` compares it with what a real API server says.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """About one kind. Words are separated by spaces."""

    plural: str
    cluster: bool = False
    short: str = ""
    categories: str = ""
    subresources: str = ""


@dataclass(frozen=True)
class Group:
    """One version of an API group, and the module that its kinds go to."""

    module: str
    definitions: str
    """What the full names of its definitions start with."""
    kinds: Mapping[str, Facts]


GROUPS = (
    Group(
        "admissionregistration",
        "io.k8s.api.admissionregistration.v1",
        {
            "MutatingAdmissionPolicy": Facts("mutatingadmissionpolicies", cluster=True, categories="api-extensions"),
            "MutatingAdmissionPolicyBinding": Facts(
                "mutatingadmissionpolicybindings", cluster=True, categories="api-extensions"
            ),
            "MutatingWebhookConfiguration": Facts(
                "mutatingwebhookconfigurations", cluster=True, categories="api-extensions"
            ),
            "ValidatingAdmissionPolicy": Facts(
                "validatingadmissionpolicies", cluster=True, categories="api-extensions", subresources="status"
            ),
            "ValidatingAdmissionPolicyBinding": Facts(
                "validatingadmissionpolicybindings", cluster=True, categories="api-extensions"
            ),
            "ValidatingWebhookConfiguration": Facts(
                "validatingwebhookconfigurations", cluster=True, categories="api-extensions"
            ),
        },
    ),
    Group(
        "apiextensions",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
        {
            "CustomResourceDefinition": Facts(
                "customresourcedefinitions",
                cluster=True,
                short="crd crds",
                categories="api-extensions",
                subresources="status",
            ),
        },
    ),
    Group(
        "apiregistration",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
        {
            "APIService": Facts("apiservices", cluster=True, categories="api-extensions", subresources="status"),
        },
    ),
    Group(
        "apps",
        "io.k8s.api.apps.v1",
        {
            "ControllerRevision": Facts("controllerrevisions"),
            "DaemonSet": Facts("daemonsets", short="ds", categories="all", subresources="status"),
            "Deployment": Facts("deployments", short="deploy", categories="all", subresources="scale status"),
            "ReplicaSet": Facts("replicasets", short="rs", categories="all", subresources="scale status"),
            "StatefulSet": Facts("statefulsets", short="sts", categories="all", subresources="scale status"),
        },
    ),
    Group(
        "authentication",
        "io.k8s.api.authentication.v1",
        {
            "SelfSubjectReview": Facts("selfsubjectreviews", cluster=True),
            # No resource of its own: what is posted to serviceaccounts/token.
            "TokenRequest": Facts("tokenrequests"),
            "TokenReview": Facts("tokenreviews", cluster=True),
        },
    ),
    Group(
        "authorization",
        "io.k8s.api.authorization.v1",
        {
            "LocalSubjectAccessReview": Facts("localsubjectaccessreviews"),
            "SelfSubjectAccessReview": Facts("selfsubjectaccessreviews", cluster=True),
            "SelfSubjectRulesReview": Facts("selfsubjectrulesreviews", cluster=True),
            "SubjectAccessReview": Facts("subjectaccessreviews", cluster=True),
        },
    ),
    Group(
        "autoscaling",
        "io.k8s.api.autoscaling.v2",
        {
            "HorizontalPodAutoscaler": Facts(
                "horizontalpodautoscalers", short="hpa", categories="all", subresources="status"
            ),
        },
    ),
    Group(
        "autoscaling",
        "io.k8s.api.autoscaling.v1",
        {
            # No resource of its own: what deployments/scale and the like read and write.
            "Scale": Facts("scales"),
        },
    ),
    Group(
        "batch",
        "io.k8s.api.batch.v1",
        {
            "CronJob": Facts("cronjobs", short="cj", categories="all", subresources="status"),
            "Job": Facts("jobs", categories="all", subresources="status"),
        },
    ),
    Group(
        "certificates",
        "io.k8s.api.certificates.v1",
        {
            "CertificateSigningRequest": Facts(
                "certificatesigningrequests", cluster=True, short="csr", subresources="approval status"
            ),
        },
    ),
    Group(
        "coordination",
        "io.k8s.api.coordination.v1",
        {
            "Lease": Facts("leases"),
        },
    ),
    Group(
        "core",
        "io.k8s.api.core.v1",
        {
            "Binding": Facts("bindings"),
            "ComponentStatus": Facts("componentstatuses", cluster=True, short="cs"),
            "ConfigMap": Facts("configmaps", short="cm"),
            "Endpoints": Facts("endpoints", short="ep"),
            "Event": Facts("events", short="ev"),
            "LimitRange": Facts("limitranges", short="limits"),
            "Namespace": Facts("namespaces", cluster=True, short="ns", subresources="finalize status"),
            "Node": Facts("nodes", cluster=True, short="no", subresources="proxy status"),
            "PersistentVolume": Facts("persistentvolumes", cluster=True, short="pv", subresources="status"),
            "PersistentVolumeClaim": Facts("persistentvolumeclaims", short="pvc", subresources="status"),
            "Pod": Facts(
                "pods",
                short="po",
                categories="all",
                subresources=("attach binding ephemeralcontainers eviction exec log portforward proxy resize status"),
            ),
            "PodTemplate": Facts("podtemplates"),
            "ReplicationController": Facts(
                "replicationcontrollers", short="rc", categories="all", subresources="scale status"
            ),
            "ResourceQuota": Facts("resourcequotas", short="quota", subresources="status"),
            "Secret": Facts("secrets"),
            "Service": Facts("services", short="svc", categories="all", subresources="proxy status"),
            "ServiceAccount": Facts("serviceaccounts", short="sa", subresources="token"),
        },
    ),
    Group(
        "discovery",
        "io.k8s.api.discovery.v1",
        {
            "EndpointSlice": Facts("endpointslices"),
        },
    ),
    Group(
        "events",
        "io.k8s.api.events.v1",
        {
            "Event": Facts("events", short="ev"),
        },
    ),
    Group(
        "flowcontrol",
        "io.k8s.api.flowcontrol.v1",
        {
            "FlowSchema": Facts("flowschemas", cluster=True, subresources="status"),
            "PriorityLevelConfiguration": Facts("prioritylevelconfigurations", cluster=True, subresources="status"),
        },
    ),
    Group(
        "networking",
        "io.k8s.api.networking.v1",
        {
            "IPAddress": Facts("ipaddresses", cluster=True, short="ip"),
            "Ingress": Facts("ingresses", short="ing", subresources="status"),
            "IngressClass": Facts("ingressclasses", cluster=True),
            "NetworkPolicy": Facts("networkpolicies", short="netpol"),
            "ServiceCIDR": Facts("servicecidrs", cluster=True, subresources="status"),
        },
    ),
    Group(
        "node",
        "io.k8s.api.node.v1",
        {
            "RuntimeClass": Facts("runtimeclasses", cluster=True),
        },
    ),
    Group(
        "policy",
        "io.k8s.api.policy.v1",
        {
            # No resource of its own: what is posted to pods/eviction.
            "Eviction": Facts("evictions"),
            "PodDisruptionBudget": Facts("poddisruptionbudgets", short="pdb", subresources="status"),
        },
    ),
    # Eviction alone reaches what windvane.api leaves out of meta/v1: DeleteOptions.
    Group("policy", "io.k8s.apimachinery.pkg.apis.meta.v1", {}),
    Group(
        "rbac",
        "io.k8s.api.rbac.v1",
        {
            "ClusterRole": Facts("clusterroles", cluster=True),
            "ClusterRoleBinding": Facts("clusterrolebindings", cluster=True),
            "Role": Facts("roles"),
            "RoleBinding": Facts("rolebindings"),
        },
    ),
    Group(
        "resource",
        "io.k8s.api.resource.v1",
        {
            "DeviceClass": Facts("deviceclasses", cluster=True),
            "ResourceClaim": Facts("resourceclaims", subresources="status"),
            "ResourceClaimTemplate": Facts("resourceclaimtemplates"),
            "ResourceSlice": Facts("resourceslices", cluster=True),
        },
    ),
    Group(
        "scheduling",
        "io.k8s.api.scheduling.v1",
        {
            "PriorityClass": Facts("priorityclasses", cluster=True, short="pc"),
        },
    ),
    Group(
        "storage",
        "io.k8s.api.storage.v1",
        {
            "CSIDriver": Facts("csidrivers", cluster=True),
            "CSINode": Facts("csinodes", cluster=True),
            "CSIStorageCapacity": Facts("csistoragecapacities"),
            "StorageClass": Facts("storageclasses", cluster=True, short="sc"),
            "VolumeAttachment": Facts("volumeattachments", cluster=True, subresources="status"),
            "VolumeAttributesClass": Facts("volumeattributesclasses", cluster=True, short="vac"),
        },
    ),
    Group(
        "storagemigration",
        "io.k8s.api.storagemigration.v1beta1",
        {
            "StorageVersionMigration": Facts("storageversionmigrations", cluster=True, subresources="status"),
        },
    ),
)
