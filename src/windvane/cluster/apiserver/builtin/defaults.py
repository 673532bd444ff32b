"""What the API server fills into objects of its own kinds where their author left something out.

What is always the same is in the table; what depends on the rest of the object is a function beside it. What
admission adds (tolerations, priorities, a service account's token), and what is allocated (cluster IPs, node ports), is
not here.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from windvane.api.kind import Kind
from windvane.cluster.apiserver.builtin import autoscalers, workload_defaults
from windvane.cluster.apiserver.builtin.canonical import make_canonical
from windvane.cluster.apiserver.builtin.filling import fill, fill_path, fill_zero
from windvane.cluster.apiserver.builtin.pod_defaults import block_volume, claim_spec, pod

Json = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"


def apply_defaults(kind: Kind, obj: Json) -> None:
    """Fill in what is absent, in place. `kind` is built-in, and decoding has found no wrong types in `obj`."""
    make_canonical(kind, obj)
    name = f"{kind.group}/{kind.version}/{kind.name}"
    for path, value in _ALWAYS.get(name, {}).items():
        fill_path(obj, path, deepcopy(value))
    if special := _SPECIAL.get(name):
        special(obj)


_NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip

# Also what Go writes even where there is nothing to say.
_ALWAYS: Mapping[str, Mapping[str, Any]] = {
    "/v1/Binding": {"target": {}},
    "/v1/Event": {
        "eventTime": None,
        "firstTimestamp": None,
        "lastTimestamp": None,
        "reportingComponent": "",
        "reportingInstance": "",
        "source": {},
    },
    "/v1/Namespace": {"spec": {}, "status.phase": "Active"},
    "/v1/Node": {
        "spec": {},
        "status.daemonEndpoints.kubeletEndpoint.Port": 0,
        **{f"status.nodeInfo.{field}": "" for field in _NODE_INFO},
    },
    "/v1/PersistentVolume": {
        "spec.persistentVolumeReclaimPolicy": "Retain",
        "spec.volumeMode": "Filesystem",
        "status.phase": "Pending",
    },
    "/v1/PersistentVolumeClaim": {"spec": {}, "status.phase": "Pending"},
    "/v1/Pod": {"status": {}},
    "/v1/ReplicationController": {"spec.replicas": 1, "status.replicas": 0},
    "/v1/ResourceQuota": {"spec": {}, "status": {}},
    "/v1/LimitRange": {"spec.limits": None},
    "/v1/Secret": {"type": "Opaque"},
    "/v1/Service": {"spec.sessionAffinity": "None", "spec.type": "ClusterIP", "status.loadBalancer": {}},
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": {"status": {}},
    "authentication.k8s.io/v1/SelfSubjectReview": {"status.userInfo": {}},
    "authentication.k8s.io/v1/TokenRequest": {
        "spec.audiences": None,
        "spec.boundObjectRef": None,
        "spec.expirationSeconds": 3600,
        "status.expirationTimestamp": None,
        "status.token": "",
    },
    "authentication.k8s.io/v1/TokenReview": {"spec": {}, "status.user": {}},
    "authorization.k8s.io/v1/LocalSubjectAccessReview": {"spec": {}, "status.allowed": False},
    "authorization.k8s.io/v1/SelfSubjectAccessReview": {"spec": {}, "status.allowed": False},
    "authorization.k8s.io/v1/SelfSubjectRulesReview": {
        "spec": {},
        "status.incomplete": False,
        "status.nonResourceRules": None,
        "status.resourceRules": None,
    },
    "authorization.k8s.io/v1/SubjectAccessReview": {"spec": {}, "status.allowed": False},
    "apps/v1/DaemonSet": {
        "spec.revisionHistoryLimit": 10,
        "spec.updateStrategy.type": "RollingUpdate",
        "status.currentNumberScheduled": 0,
        "status.desiredNumberScheduled": 0,
        "status.numberMisscheduled": 0,
        "status.numberReady": 0,
    },
    "apps/v1/Deployment": {
        "spec.progressDeadlineSeconds": 600,
        "spec.replicas": 1,
        "spec.revisionHistoryLimit": 10,
        "spec.strategy.type": "RollingUpdate",
        "status": {},
    },
    "apps/v1/ReplicaSet": {"spec.replicas": 1, "status.replicas": 0},
    "apps/v1/StatefulSet": {
        "spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled": "Retain",
        "spec.podManagementPolicy": "OrderedReady",
        "spec.serviceName": "",
        "spec.replicas": 1,
        "spec.revisionHistoryLimit": 10,
        "status.availableReplicas": 0,
        "status.replicas": 0,
    },
    "autoscaling/v1/HorizontalPodAutoscaler": {
        "spec.minReplicas": 1,
        "status.currentReplicas": 0,
        "status.desiredReplicas": 0,
    },
    "autoscaling/v2/HorizontalPodAutoscaler": {
        "spec.minReplicas": 1,
        "status.currentMetrics": None,
        "status.desiredReplicas": 0,
    },
    "batch/v1/CronJob": {
        "spec.concurrencyPolicy": "Allow",
        "spec.failedJobsHistoryLimit": 1,
        "spec.successfulJobsHistoryLimit": 3,
        "spec.suspend": False,
        "status": {},
    },
    "batch/v1/Job": {
        "spec.completionMode": "NonIndexed",
        "spec.manualSelector": False,
        "spec.suspend": False,
        "status": {},
    },
    "certificates.k8s.io/v1/CertificateSigningRequest": {"status": {}},
    "storagemigration.k8s.io/v1beta1/StorageVersionMigration": {"status": {}},
    "coordination.k8s.io/v1/Lease": {"spec": {}},
    "discovery.k8s.io/v1/EndpointSlice": {"endpoints": None, "ports": None},
    "events.k8s.io/v1/Event": {
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
        "deprecatedSource": {},
    },
    "networking.k8s.io/v1/Ingress": {"spec": {}, "status.loadBalancer": {}},
    "networking.k8s.io/v1/NetworkPolicy": {"spec.podSelector": {}},
    "policy/v1/PodDisruptionBudget": {
        "spec": {},
        "status.currentHealthy": 0,
        "status.desiredHealthy": 0,
        "status.disruptionsAllowed": 0,
        "status.expectedPods": 0,
    },
    f"{RBAC}/v1/ClusterRole": {"rules": None},
    f"{RBAC}/v1/Role": {"rules": None},
    f"{RBAC}/v1/ClusterRoleBinding": {"roleRef.apiGroup": RBAC},
    f"{RBAC}/v1/RoleBinding": {"roleRef.apiGroup": RBAC},
    "scheduling.k8s.io/v1/PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "storage.k8s.io/v1/CSIDriver": {
        "spec.attachRequired": True,
        "spec.fsGroupPolicy": "ReadWriteOnceWithFSType",
        "spec.podInfoOnMount": False,
        "spec.requiresRepublish": False,
        "spec.seLinuxMount": False,
        "spec.storageCapacity": False,
    },
    "storage.k8s.io/v1/StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
}


def _namespace(obj: Json) -> None:
    """Every namespace can be selected by its name, also by those who see only labels."""
    metadata = obj.get("metadata", {})
    if name := metadata.get("name"):
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _node(obj: Json) -> None:
    status = obj["status"]
    if "capacity" in status:
        status.setdefault("allocatable", dict(status["capacity"]))


def _persistent_volume(obj: Json) -> None:
    if host_path := obj["spec"].get("hostPath"):
        host_path.setdefault("type", "")
    block_volume(obj["spec"])


def _claim(obj: Json) -> None:
    """The source of a claim's data is told in two fields, an old and a new one, that say the same."""
    spec = obj["spec"]
    claim_spec(spec)
    for one, other in (("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")):
        if one in spec and not spec[one].get("namespace"):
            spec[one].setdefault("apiGroup", None)
            spec.setdefault(other, dict(spec[one]))


def _secret(obj: Json) -> None:
    for key, text in obj.pop("stringData", {}).items():
        obj.setdefault("data", {})[key] = b64encode(text.encode()).decode()


def _limit_range(obj: Json) -> None:
    """What is not said for containers follows from what is: the most is the default, the default is requested."""
    for item in obj["spec"].get("limits") or ():
        if item.get("type") != "Container":
            continue
        default = item.get("max", {}) | item.get("default", {})
        request = item.get("min", {}) | default | item.get("defaultRequest", {})
        item |= {name: value for name, value in (("default", default), ("defaultRequest", request)) if value}


def _service(obj: Json) -> None:
    spec = obj["spec"]
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        fill_path(spec, "sessionAffinityConfig.clientIP.timeoutSeconds", 10800)
    for port in spec.get("ports") or ():
        fill(port, "protocol", "TCP")
        fill_zero(port, "targetPort", port.get("port", 0))
    outside = spec["type"] in ("NodePort", "LoadBalancer")
    if outside or (spec["type"] == "ClusterIP" and spec.get("externalIPs")):
        fill(spec, "externalTrafficPolicy", "Cluster")
    if outside or spec["type"] == "ClusterIP":
        fill(spec, "internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        fill(spec, "allocateLoadBalancerNodePorts", True)
        for ingress in obj["status"]["loadBalancer"].get("ingress") or ():
            if ingress.get("ip"):
                fill(ingress, "ipMode", "VIP")


def _endpoints(obj: Json) -> None:
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            fill(port, "protocol", "TCP")


def _endpoint_slice(obj: Json) -> None:
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        fill(port, "protocol", "TCP")
    for endpoint in obj.get("endpoints") or ():
        endpoint.setdefault("conditions", {})


def _network_policy(obj: Json) -> None:
    spec = obj["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in [*(spec.get("ingress") or ()), *(spec.get("egress") or ())]:
        for port in rule.get("ports") or ():
            fill(port, "protocol", "TCP")


def _ingress_class(obj: Json) -> None:
    if parameters := obj.get("spec", {}).get("parameters"):
        fill(parameters, "scope", "Cluster")


def _role_binding(obj: Json) -> None:
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            fill(subject, "apiGroup", RBAC)


def _csi_driver(obj: Json) -> None:
    fill_zero(obj["spec"], "volumeLifecycleModes", ["Persistent"])


def _rules(holder: Json) -> Iterator[Json]:
    yield from holder.get("rules") or holder.get("resourceRules") or ()


def _webhooks(obj: Json, **more: str) -> None:
    for webhook in obj.get("webhooks") or ():
        for field, value in {
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "timeoutSeconds": 10,
            **more,
        }.items():
            webhook.setdefault(field, value)
        for selector in ("namespaceSelector", "objectSelector"):
            webhook.setdefault(selector, {})
        for rule in _rules(webhook):
            rule.setdefault("scope", "*")
        if (service := webhook.get("clientConfig", {}).get("service")) is not None:
            fill(service, "port", 443)


def _mutating_webhooks(obj: Json) -> None:
    _webhooks(obj, reinvocationPolicy="Never")


def _match_resources(match: Json | None) -> None:
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        match.setdefault(selector, {})
    for rule in [*(match.get("resourceRules") or ()), *(match.get("excludeResourceRules") or ())]:
        rule.setdefault("scope", "*")


def _admission_policy(obj: Json) -> None:
    obj.setdefault("spec", {}).setdefault("failurePolicy", "Fail")
    _match_resources(obj["spec"].get("matchConstraints"))


def _admission_binding(obj: Json) -> None:
    _match_resources(obj.get("spec", {}).get("matchResources"))


def _definition(obj: Json) -> None:
    """A custom resource definition."""
    spec = obj.setdefault("spec", {})
    names = spec.setdefault("names", {})
    if kind := names.get("kind"):
        fill(names, "singular", kind.lower())
        fill(names, "listKind", f"{kind}List")
    fill_path(spec, "conversion.strategy", "None")
    if service := (spec["conversion"].get("webhook") or {}).get("clientConfig", {}).get("service"):
        fill(service, "port", 443)


def _api_service(obj: Json) -> None:
    if service := obj.setdefault("spec", {}).get("service"):
        fill(service, "port", 443)
    obj.setdefault("status", {})


def _flow_schema(obj: Json) -> None:
    fill_zero(obj.setdefault("spec", {}), "matchingPrecedence", 1000)
    obj.setdefault("status", {})


def _priority_level(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    if exempt := spec.get("exempt"):
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)
    if limited := spec.get("limited"):
        limited.setdefault("nominalConcurrencyShares", 30)
        limited.setdefault("lendablePercent", 0)
        if queuing := limited.get("limitResponse", {}).get("queuing"):
            for field, value in {"queues": 64, "handSize": 8, "queueLengthLimit": 50}.items():
                fill_zero(queuing, field, value)
    obj.setdefault("status", {})


_SPECIAL: Mapping[str, Callable[[Json], None]] = {
    "/v1/Endpoints": _endpoints,
    "/v1/LimitRange": _limit_range,
    "/v1/Namespace": _namespace,
    "/v1/Node": _node,
    "/v1/PersistentVolume": _persistent_volume,
    "/v1/PersistentVolumeClaim": _claim,
    "/v1/Pod": pod,
    "/v1/PodTemplate": workload_defaults.pod_template,
    "/v1/ReplicationController": workload_defaults.replication_controller,
    "/v1/Secret": _secret,
    "/v1/Service": _service,
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": _admission_policy,
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": _admission_binding,
    "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": _mutating_webhooks,
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": _admission_policy,
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": _admission_binding,
    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": _webhooks,
    "apiextensions.k8s.io/v1/CustomResourceDefinition": _definition,
    "apiregistration.k8s.io/v1/APIService": _api_service,
    "apps/v1/DaemonSet": workload_defaults.daemon_set,
    "apps/v1/Deployment": workload_defaults.deployment,
    "apps/v1/ReplicaSet": workload_defaults.replica_set,
    "apps/v1/StatefulSet": workload_defaults.stateful_set,
    "autoscaling/v1/HorizontalPodAutoscaler": autoscalers.fill_percentage,
    "autoscaling/v2/HorizontalPodAutoscaler": workload_defaults.autoscaler,
    "batch/v1/CronJob": workload_defaults.cron_job,
    "batch/v1/Job": workload_defaults.job,
    "discovery.k8s.io/v1/EndpointSlice": _endpoint_slice,
    "flowcontrol.apiserver.k8s.io/v1/FlowSchema": _flow_schema,
    "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": _priority_level,
    "networking.k8s.io/v1/IngressClass": _ingress_class,
    "networking.k8s.io/v1/NetworkPolicy": _network_policy,
    f"{RBAC}/v1/ClusterRoleBinding": _role_binding,
    f"{RBAC}/v1/RoleBinding": _role_binding,
    "storage.k8s.io/v1/CSIDriver": _csi_driver,
}
