"""Manifests of built-in kinds, right and wrong, and what kube-apiserver answered to each.

The answers are in `builtin_answers.json`. Unit tests hold ours against them; a reference test asks a real server
again, so that they stay true, and with WINDVANE_RECORD=1 writes them anew.
"""

import json
import os
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import resource_cases
from windvane.api.kind import Kind
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.kinds import strategies

Json = dict[str, Any]
Answer = Any
"""An object that was accepted; a list of [reason, field, message]; or a string, the message of a 400."""

ABSENT = object()
RECORDED = Path(__file__).parent / "builtin_answers.json"
LONG = "x" * 64
LABELS = {"app": "web"}


class Case(NamedTuple):
    name: str
    manifest: Json
    change: Json | None = None
    """Of an object made from the manifest, as paths and values; None for a case of creation."""

    @property
    def strategy(self) -> BuiltinStrategy:
        return STRATEGIES[self.manifest["apiVersion"], self.manifest["kind"]]

    @property
    def kind(self) -> Kind:
        return self.strategy.kind


STRATEGIES: dict[tuple[str, str], BuiltinStrategy] = {
    (cls.__kind__.api_version, cls.__kind__.name): strategy() for cls, strategy in strategies().items()
}
KINDS: dict[tuple[str, str], Kind] = {key: strategy.kind for key, strategy in STRATEGIES.items()}


def answers() -> dict[str, Answer]:
    """What was recorded, by the name of the case."""
    recorded: dict[str, Answer] = json.loads(RECORDED.read_text())
    return recorded


def recording() -> bool:
    """Whether the answers are to be written anew."""
    return os.environ.get("WINDVANE_RECORD") == "1"


def record(given: dict[str, Answer]) -> None:
    """Write the answers, one line each."""
    lines = (f"{json.dumps(name)}: {json.dumps(answer, sort_keys=True)}" for name, answer in sorted(given.items()))
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def but(manifest: Json, changes: Json) -> Json:
    """A copy of the manifest with the values at these paths changed: `spec.containers.0.image`."""
    result = deepcopy(manifest)
    for path, value in changes.items():
        place: Any = result
        *parents, last = path.split(".")
        for parent in parents:
            place = place[int(parent)] if isinstance(place, list) else place.setdefault(parent, {})
        if isinstance(place, list):
            if int(last) == len(place):
                place.append(deepcopy(value))
            else:
                place[int(last)] = deepcopy(value)
        elif value is ABSENT:
            place.pop(last, None)
        else:
            place[last] = deepcopy(value)
    return result


def named(manifest: Json, changes: Json, verb: str) -> str:
    said = ", ".join(f"{path}={'absent' if value is ABSENT else _short(value)}" for path, value in changes.items())
    return f"{verb} {manifest['kind']} {manifest['apiVersion']}{': ' if said else ''}{said}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


def creates(manifest: Json, *changes: Json) -> Iterator[Case]:
    """The manifest, and with each of the changes."""
    for change in ({}, *changes):
        yield Case(named(manifest, change, "create"), but(manifest, change))


def updates(manifest: Json, *changes: Json, verb: str = "update") -> Iterator[Case]:
    """An object made from the manifest, with each of the changes."""
    for change in changes:
        yield Case(named(manifest, change, verb), manifest, change)


def made(case: Case) -> Json:
    """The object that the real server would make from the manifest, before it looks at any rule."""
    obj = json.loads(json.dumps(case.manifest).replace('"NAMESPACE"', '"rules"'))
    obj["metadata"]["uid"] = "UID"
    if case.kind.namespaced:
        obj["metadata"]["namespace"] = "rules"
    case.strategy.apply_defaults(obj)
    case.strategy.prepare_for_create(obj)
    case.strategy.after_create(obj)
    return obj  # type: ignore[no-any-return]


UID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def without_uids(answer: Any) -> Any:
    """An answer that is the same each time."""
    return json.loads(UID.sub("UID", json.dumps(answer)))


NOISE = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "namespace")
FROM_ADMISSION = ("priority", "preemptionPolicy")
IN_USE = ("kubernetes.io/pvc-protection", "kubernetes.io/pv-protection")


def bare(obj: Json) -> Json:
    """An accepted object without what differs each time, what is allocated and what admission adds."""
    result = deepcopy(obj)
    metadata = result["metadata"]
    for field in NOISE:
        metadata.pop(field, None)
    metadata["finalizers"] = [each for each in metadata.get("finalizers", []) if each not in IN_USE]
    if not metadata["finalizers"]:
        del metadata["finalizers"]
    spec = result.get("spec", {})
    if result["kind"] == "Service" and spec.get("clusterIP") != "None":
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)
    if result["kind"] == "CustomResourceDefinition":
        result.pop("status", None)
    if result["kind"] == "Node":
        spec.pop("taints", None)
    result.get("status", {}).pop("lastPhaseTransitionTime", None)
    for condition in result.get("status", {}).get("conditions") or ():
        condition.pop("lastTransitionTime", None)
    if result["kind"] == "Pod":
        for field in FROM_ADMISSION:
            spec.pop(field, None)
        tolerations = [each for each in spec.pop("tolerations", []) if each.get("tolerationSeconds") != 300]
        if tolerations:
            spec["tolerations"] = tolerations
    return result


def make(api_version: str, kind: str, spec: Json | None = None, **rest: Any) -> Json:
    """A manifest of an object named `web`."""
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}} | rest
    return manifest if spec is None else manifest | {"spec": spec}


CONTAINER = {"name": "web", "image": "nginx"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}
ONCE = but(TEMPLATE, {"spec.restartPolicy": "Never"})
POD = make("v1", "Pod", {"containers": [CONTAINER]})
DEPLOYMENT = make("apps/v1", "Deployment", {"selector": {"matchLabels": LABELS}, "template": TEMPLATE})
REPLICA_SET = make("apps/v1", "ReplicaSet", {"selector": {"matchLabels": LABELS}, "template": TEMPLATE})
DAEMON_SET = make("apps/v1", "DaemonSet", {"selector": {"matchLabels": LABELS}, "template": TEMPLATE})
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
STATEFUL_SET = make(
    "apps/v1",
    "StatefulSet",
    {
        "selector": {"matchLabels": LABELS},
        "serviceName": "web",
        "template": but(TEMPLATE, {"spec.containers.0.volumeMounts": [{"name": "data", "mountPath": "/data"}]}),
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM_SPEC}],
    },
)
JOB = make("batch/v1", "Job", {"template": ONCE})
CRON_JOB = make("batch/v1", "CronJob", {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": ONCE}}})
SERVICE = make("v1", "Service", {"selector": LABELS, "ports": [{"port": 80}]})
CONFIG_MAP = make("v1", "ConfigMap", data={"a": "1"})
SECRET = make("v1", "Secret", data={"a": "MQ=="})
NAMESPACE = make("v1", "Namespace")
CLAIM = make("v1", "PersistentVolumeClaim", CLAIM_SPEC)
VOLUME = make(
    "v1",
    "PersistentVolume",
    {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}},
)
SERVICE_ACCOUNT = make("v1", "ServiceAccount")
RBAC = "rbac.authorization.k8s.io"
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
ROLE = make(f"{RBAC}/v1", "Role", rules=[RULE])
CLUSTER_ROLE = make(f"{RBAC}/v1", "ClusterRole", rules=[RULE])
SUBJECT = {"kind": "ServiceAccount", "name": "web", "namespace": "default"}
ROLE_BINDING = make(f"{RBAC}/v1", "RoleBinding", roleRef={"kind": "Role", "name": "web"}, subjects=[SUBJECT])
CLUSTER_ROLE_BINDING = make(
    f"{RBAC}/v1", "ClusterRoleBinding", roleRef={"kind": "ClusterRole", "name": "web"}, subjects=[SUBJECT]
)
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
INGRESS = make(
    "networking.k8s.io/v1",
    "Ingress",
    {"rules": [{"host": "a.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}]},
)
INGRESS_CLASS = make("networking.k8s.io/v1", "IngressClass", {"controller": "a.com/b"})
NETWORK_POLICY = make("networking.k8s.io/v1", "NetworkPolicy", {"podSelector": {}})
BUDGET = make("policy/v1", "PodDisruptionBudget", {"minAvailable": 1, "selector": {"matchLabels": LABELS}})
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
AUTOSCALER = make("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": TARGET, "maxReplicas": 3})
STORAGE_CLASS = make("storage.k8s.io/v1", "StorageClass", provisioner="a.com/b")
PRIORITY_CLASS = make("scheduling.k8s.io/v1", "PriorityClass", value=10)
LEASE = make("coordination.k8s.io/v1", "Lease", {"holderIdentity": "a", "leaseDurationSeconds": 15})
QUOTA = make("v1", "ResourceQuota", {"hard": {"pods": "10", "requests.cpu": "0.5"}})
LIMIT_RANGE = make("v1", "LimitRange", {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "0.1"}}]})
ENDPOINTS = make("v1", "Endpoints", subsets=[{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}])
ENDPOINT_SLICE = make(
    "discovery.k8s.io/v1",
    "EndpointSlice",
    addressType="IPv4",
    endpoints=[{"addresses": ["10.1.2.3"]}],
    ports=[{"port": 80}],
)
EVENT = make(
    "v1",
    "Event",
    involvedObject={"kind": "Pod", "name": "web", "namespace": "NAMESPACE"},
    reason="Started",
    type="Normal",
)
HOOK = {
    "name": "a.example.com",
    "clientConfig": {"service": {"name": "a", "namespace": "b"}},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
VALIDATING = make("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[HOOK])
MUTATING = make("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", webhooks=[HOOK])
REPLICATION_CONTROLLER = make("v1", "ReplicationController", {"template": TEMPLATE})
POD_TEMPLATE = make("v1", "PodTemplate", template=TEMPLATE)
NODE = make("v1", "Node")
CSI_DRIVER = make("storage.k8s.io/v1", "CSIDriver", {})
REVISION = make("apps/v1", "ControllerRevision", revision=1, data={"a": None})
RUNTIME_CLASS = make("node.k8s.io/v1", "RuntimeClass", handler="runc")


DEFINITION = make(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    {
        "group": "a.example.com",
        "names": {"kind": "Web", "plural": "webs"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
    metadata={"name": "webs.a.example.com"},
)
API_SERVICE = make(
    "apiregistration.k8s.io/v1",
    "APIService",
    {
        "group": "b.example.com",
        "version": "v1",
        "service": {"name": "a", "namespace": "b"},
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
    },
    metadata={"name": "v1.b.example.com"},
)
MATCHED = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
ADMISSION_POLICY = make(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    {"matchConstraints": {"resourceRules": [MATCHED]}, "validations": [{"expression": "true"}]},
)
ADMISSION_BINDING = make(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    {"policyName": "a", "validationActions": ["Deny"], "matchResources": {"resourceRules": [MATCHED]}},
)
FLOW_SCHEMA = make("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", {"priorityLevelConfiguration": {"name": "a"}})
PRIORITY_LEVEL = make(
    "flowcontrol.apiserver.k8s.io/v1",
    "PriorityLevelConfiguration",
    {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 64}}}},
)
NEW_EVENT = make(
    "events.k8s.io/v1",
    "Event",
    eventTime="2026-01-01T00:00:00.000000Z",
    reportingController="a.com/b",
    reportingInstance="c",
    action="Start",
    reason="Started",
    type="Normal",
    regarding={"kind": "Pod", "name": "web", "namespace": "NAMESPACE"},
)


def container(**fields: Any) -> Json:
    """A change of the first container of a pod."""
    return {f"spec.containers.0.{field}": value for field, value in fields.items()}


def sysctls(*names: str) -> Json:
    """The kernel parameters that a pod asks for."""
    return {"spec.securityContext": {"sysctls": [{"name": name, "value": "1"} for name in names]}}


def volume(**source: Any) -> Json:
    """A pod's only volume."""
    return {"spec.volumes": [{"name": "v"} | source]}


HTTP = {"httpGet": {"port": 80}}

METADATA = (
    {"metadata.name": "Web"},
    {"metadata.name": "web."},
    {"metadata.name": "a" * 254},
    {"metadata.name": ABSENT},
    {"metadata.labels": {"a": "b c"}},
    {"metadata.labels": {"a b": "c"}},
    {"metadata.labels": {"a/b/c": "d"}},
    {"metadata.labels": {"A.com/b": "d"}},
    {"metadata.labels": {"a": LONG}},
    {"metadata.annotations": {"a b": "c"}},
    {"metadata.annotations": {"A.com/B": "c"}},
    {"metadata.annotations": {"a": "x" * 262145}},
    {"metadata.finalizers": ["a b"]},
    {"metadata.finalizers": ["kubernetes"]},
    {"metadata.finalizers": ["foregroundDeletion", "orphan"]},
    {"metadata.ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]},
    {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "b"}]},
    {
        "metadata.ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True} for name in ("a", "b")
        ]
    },
    {"metadata.generation": -1},
)

POD_CREATES: tuple[Json, ...] = (
    {"spec": {}},
    {"spec.containers": []},
    {"spec.containers.0.name": ABSENT},
    {"spec.containers.0.name": "Web"},
    {"spec.containers.0.name": "a.b"},
    {"spec.containers.0.name": LONG},
    {"spec.containers.0.image": ABSENT},
    {"spec.containers.0.image": ""},
    {"spec.containers.0.image": " nginx"},
    {"spec.containers.0.image": "nginx:1.27"},
    {"spec.containers.0.image": "a:5000/nginx"},
    {"spec.containers.0.image": "a:5000/nginx:latest"},
    {"spec.containers.0.image": "nginx@sha256:" + "a" * 64},
    {"spec.containers.1": CONTAINER},
    {"spec.initContainers": [CONTAINER]},
    {"spec.initContainers": [{"name": "init", "image": "a:1", "readinessProbe": HTTP}]},
    {"spec.initContainers": [{"name": "init", "image": "a:1", "restartPolicy": "Always", "readinessProbe": HTTP}]},
    {"spec.initContainers": [{"name": "init", "image": "a:1", "restartPolicy": "Perhaps"}]},
    {"spec.ephemeralContainers": [{"name": "debug", "image": "a:1"}]},
    {"spec.restartPolicy": "Sometimes"},
    {"spec.restartPolicy": "Never", "spec.hostNetwork": True, "spec.containers.0.ports": [{"containerPort": 80}]},
    sysctls("kernel.shmmax", "net/ipv4/ip_local_port_range"),
    sysctls("foo-", "bar..", "", "a" * 254),
    sysctls("kernel.sem", "kernel.sem"),
    sysctls("net.ipv4.tcp_syncookies", "net/ipv4/conf/eth0.1/forwarding", "kernel.sem") | {"spec.hostNetwork": True},
    sysctls("kernel.shmmax", "fs.mqueue.msg_max", "fs/mqueue/msg_max", "net.a", "kernel.a") | {"spec.hostIPC": True},
    {"spec.hostUsers": False, "spec.hostNetwork": True, "spec.hostPID": True, "spec.hostIPC": True},
    {"spec.hostUsers": False, "spec.containers.0.securityContext": {"procMount": "Unmasked"}},
    {"spec.resources": {}, "spec.containers.0.resources": {"requests": {"cpu": "1"}}},
    {"spec.resources": {"requests": {"cpu": "2"}}, "spec.containers.0.resources": {"requests": {"memory": "1Gi"}}},
    {"spec.resources": {"limits": {"cpu": "2"}}, "spec.containers.0.resources": {"requests": {"memory": "1Gi"}}},
    {"spec.resources": {"limits": {"ephemeral-storage": "1Gi"}}},
    {"spec.resources": {"requests": {"cpu": "1"}}, "spec.containers.0.resources": {"requests": {"cpu": "2"}}},
    {"spec.resources": {"limits": {"cpu": "1"}}, "spec.containers.0.resources": {"limits": {"cpu": "2"}}},
    {"spec.resources": {"requests": {"cpu": "1"}}, "spec.os": {"name": "windows"}},
    {"spec.os": {"name": ""}},
    {"spec.os": {"name": "plan9"}},
    {"spec.os": {"name": "linux"}, "spec.securityContext.windowsOptions": {"runAsUserName": "a"}},
    {
        "spec.os": {"name": "windows"},
        "spec.hostPID": True,
        "spec.securityContext": {"fsGroup": 1, "runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
        "spec.containers.0.securityContext": {"capabilities": {}, "privileged": False},
    },
    {
        "spec.securityContext.windowsOptions": {"hostProcess": True},
        "spec.containers.0.securityContext": {"windowsOptions": {"hostProcess": False}},
        "spec.initContainers": [{"name": "first", "image": "a"}],
    },
    {"spec.securityContext": {"seccompProfile": {}, "appArmorProfile": {}}},
    {"spec.securityContext": {"seccompProfile": {"type": "A"}, "appArmorProfile": {"type": "A"}}},
    {"spec.securityContext": {"seccompProfile": {"type": "Localhost"}, "appArmorProfile": {"type": "Localhost"}}},
    {"spec.dnsPolicy": "Sometimes"},
    {"spec.dnsPolicy": "None"},
    {"spec.dnsPolicy": "None", "spec.dnsConfig": {"nameservers": ["1.2.3.4"]}},
    {"spec.nodeSelector": {"a": "b c"}},
    {"spec.serviceAccountName": "A"},
    {"spec.serviceAccountName": "a"},
    {"spec.serviceAccount": "a"},
    {"spec.nodeName": "A"},
    {"spec.activeDeadlineSeconds": 0},
    {"spec.terminationGracePeriodSeconds": -1},
    {"spec.hostname": "A"},
    {"spec.subdomain": "a.b"},
    {"spec.imagePullSecrets": [{"name": "a"}]},
    {"spec.schedulingGates": [{"name": "a"}]},
    {"spec.schedulingGates": [{"name": "a b"}]},
    {"spec.schedulingGates": [{"name": "a"}, {"name": "a"}]},
    {"spec.schedulingGates": [{"name": "a"}], "spec.nodeName": "b"},
    {"spec.readinessGates": [{"conditionType": "a b"}]},
    {"spec.hostAliases": [{"ip": "a", "hostnames": ["b"]}]},
    {"spec.hostAliases": [{"ip": "1.2.3.4", "hostnames": ["B"]}]},
    {"spec.tolerations": [{"key": "a b", "operator": "Exists"}]},
    {"spec.tolerations": [{"value": "b"}]},
    {"spec.tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
    {"spec.tolerations": [{"key": "a", "operator": "Sometimes"}]},
    {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "Sometimes"}]},
    {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1}]},
    {"spec.shareProcessNamespace": True, "spec.hostPID": True},
    {"spec.securityContext.runAsUser": -1},
    {"spec.securityContext.fsGroup": -1},
    {"spec.topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Sometimes"}]},
    {"spec.topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]},
    {
        "spec.affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["A b"]},
                                {"key": "metadata.uid", "operator": "Exists"},
                            ],
                            "matchExpressions": [
                                {"key": "a b", "operator": "In", "values": ["c d"]},
                                {"key": "e f", "operator": "In", "values": ["g h"]},
                            ],
                        }
                    ]
                }
            }
        }
    },
    {"spec.securityContext": {"fsGroupChangePolicy": ""}},
    volume(iscsi={"targetPortal": "a:1", "iqn": "iqn.2001-04.com.a:b", "lun": 0, "chapAuthDiscovery": False}),
    {"spec.affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
    {
        "spec.affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": LABELS}, "topologyKey": ""}
                ]
            }
        }
    },
    {
        "spec.affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Sometimes"}]}]
                }
            }
        }
    },
    {
        "spec.affinity": {
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 0, "podAffinityTerm": {"topologyKey": "a", "labelSelector": {"matchLabels": LABELS}}}
                ]
            }
        }
    },
    container(imagePullPolicy="Sometimes"),
    container(terminationMessagePolicy="Sometimes"),
    container(restartPolicy="Sometimes"),
    container(ports=[{"containerPort": 80}]),
    container(ports=[{}]),
    container(ports=[{"containerPort": 70000}]),
    container(ports=[{"containerPort": 80, "hostPort": -1}]),
    container(ports=[{"containerPort": 80, "protocol": "ICMP"}]),
    container(ports=[{"containerPort": 80, "name": "http"}, {"containerPort": 81, "name": "http"}]),
    container(ports=[{"containerPort": 80, "name": "HTTP"}]),
    container(ports=[{"containerPort": 80, "name": "a-very-long-name-of-a-port"}]),
    container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]),
    container(env=[{"name": "A", "value": "b"}]),
    container(env=[{"name": ""}]),
    container(env=[{"name": "A=B"}]),
    container(env=[{"name": "A", "valueFrom": {}}]),
    container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
    container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": ""}}}]),
    container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.hostname"}}}]),
    container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.phase"}}}]),
    container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}]),
    container(env=[{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
    container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}]),
    container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "A", "key": ""}}}]),
    container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b c"}}}]),
    container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]),
    container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}}]),
    container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}}]),
    container(envFrom=[{"configMapRef": {"name": ""}}]),
    container(envFrom=[{}]),
    container(envFrom=[{"secretRef": {"name": "a"}, "prefix": "A_"}]),
    container(resources={"limits": {"cpu": "0.5", "memory": 1073741824}}),
    container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
    container(resources={"limits": {"cpu": "0.0001"}}),
    container(resources={"limits": {"cpu": "-1"}}),
    container(resources={"limits": {"gpu": "1"}}),
    container(resources={"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "2"}}),
    container(resources={"requests": {"nvidia.com/gpu": "1"}}),
    container(resources={"limits": {"nvidia.com/gpu": "0.5"}}),
    container(resources={"requests": {"storage": "1Gi"}}),
    container(livenessProbe=HTTP),
    container(livenessProbe={}),
    container(livenessProbe=HTTP | {"successThreshold": 2}),
    container(livenessProbe=HTTP | {"periodSeconds": -1, "initialDelaySeconds": -1}),
    container(readinessProbe=HTTP | {"tcpSocket": {"port": 80}}),
    container(readinessProbe=HTTP | {"terminationGracePeriodSeconds": 5}),
    container(readinessProbe={"httpGet": {"port": "http", "path": "/x", "scheme": "GOPHER"}}),
    container(readinessProbe={"httpGet": {"port": 0}}),
    container(readinessProbe={"exec": {"command": []}}),
    container(readinessProbe={"tcpSocket": {"port": "Http"}}),
    container(startupProbe={"grpc": {"port": 5000}}),
    container(lifecycle={"preStop": {"exec": {"command": ["a"]}}}),
    container(lifecycle={"preStop": {}}),
    container(lifecycle={"preStop": {"sleep": {"seconds": 60}}}),
    container(lifecycle={"postStart": {"httpGet": {"port": 80}}}),
    container(securityContext={"runAsUser": -1}),
    container(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
    container(securityContext={"procMount": "Unmasked", "seccompProfile": {"type": "Unconfined"}}),
    container(securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "/a/../b"}}),
    container(securityContext={"seccompProfile": {"type": "Unconfined", "localhostProfile": "a"}}),
    container(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}}),
    container(securityContext={"appArmorProfile": {"type": "Unconfined", "localhostProfile": "a"}}),
    container(ports=[{"containerPort": 80, "hostPort": 81}]) | {"spec.hostNetwork": True},
    {
        "spec.initContainers": [
            {
                "name": "first",
                "image": "a",
                "ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}],
            }
        ]
    },
    container(securityContext={"capabilities": {"add": ["CAP_SYS_ADMIN"]}, "allowPrivilegeEscalation": False}),
    container(securityContext={"procMount": "Sometimes"}),
    container(volumeMounts=[{"name": "none", "mountPath": "/x"}]),
    container(volumeMounts=[{"name": "v", "mountPath": ""}]) | volume(),
    container(volumeMounts=[{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/a"}]) | volume(),
    container(volumeMounts=[{"name": "v", "mountPath": "/a", "subPath": "../b"}]) | volume(),
    container(volumeMounts=[{"name": "v", "mountPath": "/a", "subPath": "/b"}]) | volume(),
    container(volumeMounts=[{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}]) | volume(),
    container(volumeDevices=[{"name": "v", "devicePath": "/dev/a"}]) | volume(),
    volume(),
    {"spec.volumes": [{"name": "v"}, {"name": "v"}]},
    {"spec.volumes": [{"name": "V", "emptyDir": {}}]},
    {"spec.volumes": [{"emptyDir": {}}]},
    volume(emptyDir={"sizeLimit": "1024Mi", "medium": "Memory"}),
    volume(emptyDir={"sizeLimit": "-1"}),
    volume(emptyDir={}, hostPath={"path": "/a"}),
    volume(hostPath={"path": "/a"}),
    volume(hostPath={"path": ""}),
    volume(hostPath={"path": "/a/../b"}),
    volume(hostPath={"path": "/a", "type": "Sometimes"}),
    volume(secret={"secretName": "a"}),
    volume(secret={"secretName": ""}),
    volume(secret={"secretName": "a", "defaultMode": 1000}),
    volume(secret={"secretName": "a", "items": [{"key": "", "path": "../x"}]}),
    volume(configMap={"name": "a"}),
    volume(configMap={"name": ""}),
    volume(configMap={"name": "a", "items": [{"key": "b", "path": "/c", "mode": 512}]}),
    volume(persistentVolumeClaim={"claimName": ""}),
    volume(persistentVolumeClaim={"claimName": "a"}),
    volume(downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}),
    volume(downwardAPI={"items": [{"path": "a"}]}),
    volume(projected={"sources": [{"configMap": {"name": "a"}}, {"secret": {"name": "b"}}]}),
    volume(projected={"sources": [{"serviceAccountToken": {"path": "token"}}]}),
    {"spec.serviceAccountName": "a"} | volume(projected={"sources": [{"serviceAccountToken": {"path": "token"}}]}),
    {"spec.serviceAccountName": "a"}
    | volume(projected={"sources": [{"serviceAccountToken": {"path": "a", "expirationSeconds": 1}}]}),
    volume(projected={"sources": [{}]}),
    volume(projected={"sources": [{"configMap": {"name": "a"}, "secret": {"name": "b"}}]}),
    volume(nfs={"server": "a", "path": "b"}),
    volume(nfs={"server": "", "path": ""}),
    volume(csi={"driver": ""}),
    volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM_SPEC}}),
    volume(ephemeral={}),
    volume(image={"reference": "a:latest"}),
)

POD_EMPTY: tuple[Json, ...] = (
    {"metadata.labels": {}, "metadata.annotations": {}, "metadata.finalizers": []},
    container(args=[], command=[], env=[], ports=[], volumeMounts=[], resources={"limits": {}}),
    {"spec.volumes": [], "spec.nodeSelector": {}, "spec.affinity": {}, "spec.initContainers": None},
    container(env=[{"name": "A", "value": None}], args=["a", None]),
    container(resources={"requests": {"cpu": 0.5, "memory": "1.5Gi"}}),
    container(resources={"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "2000m", "memory": "1024Mi"}}),
    container(securityContext={"runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}}),
    {"spec.topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}]},
    {"spec.containers": [None]},
    {"spec.hostNetwork": False, "spec.hostPID": False, "spec.automountServiceAccountToken": False, "spec.nodeName": ""},
    container(env=[{"name": "A", "value": ""}], stdin=False, tty=False, workingDir=""),
    container(readinessProbe={"initialDelaySeconds": 0, "httpGet": {"port": 80, "host": ""}}),
    container(ports=[{"containerPort": 80, "name": "", "hostPort": 0, "hostIP": ""}]),
    container(securityContext={"privileged": False, "runAsUser": 0, "readOnlyRootFilesystem": False}),
    container(volumeMounts=[{"name": "v", "mountPath": "/a", "readOnly": False, "subPath": ""}])
    | volume(emptyDir={"medium": ""}),
    volume(secret={"secretName": "a", "optional": False}),
    {"spec.hostAliases": [{"ip": "1.2.3.4", "hostnames": ["a.b"]}], "spec.subdomain": "a", "spec.hostname": "b"},
    {"spec.resources": {"limits": {"cpu": "1"}}},
)

POD_DECODES: tuple[Json, ...] = (
    {"spec": "x"},
    {"spec.containers": {}},
    {"spec.containers": ["x"]},
    {"spec.containers.0.image": 1},
    {"spec.containers.0.ports": [{"containerPort": "80"}]},
    {"spec.containers.0.ports": [{"containerPort": 80.5}]},
    {"spec.containers.0.ports": [{"containerPort": 3000000000}]},
    {"spec.containers.0.env": [{"name": "A", "value": 1}]},
    {"spec.containers.0.env": {"A": "b"}},
    {"spec.containers.0.command": "sh"},
    {"spec.containers.0.args": [1]},
    {"spec.containers.0.resources.limits": {"cpu": "lots"}},
    {"spec.containers.0.resources.limits": {"cpu": True}},
    {"spec.containers.0.resources.limits": {"cpu": "1KK"}},
    {"spec.containers.0.resources.limits": {"cpu": ""}},
    {"spec.containers.0.resources.limits": {"cpu": "1 Gi"}},
    {"spec.containers.0.resources.limits": []},
    {"spec.containers.0.livenessProbe": {"httpGet": {"port": True}}},
    {"spec.containers.0.livenessProbe": {"httpGet": {"port": 1.5}}},
    {"spec.containers.0.livenessProbe": {"periodSeconds": "5"}},
    {"spec.restartPolicy": 1},
    {"spec.hostNetwork": "yes"},
    {"spec.volumes": [{"name": "v", "emptyDir": []}]},
    {"spec.volumes": [{"name": "v", "secret": {"defaultMode": "0644"}}]},
    {"spec.activeDeadlineSeconds": "5"},
    {"metadata.labels": {"a": 1}},
    {"metadata.labels": []},
    {"metadata.name": 1},
    {"metadata.creationTimestamp": "yesterday"},
    {"metadata.creationTimestamp": 1},
    {"metadata.ownerReferences": {}},
    {"metadata.ownerReferences": [{"controller": "yes"}]},
    {"metadata": "x"},
    {"metadata.finalizers": "x"},
    {"status": []},
    {"status.startTime": "x"},
)

REPLICAS = ({"spec.replicas": -1}, {"spec.replicas": 0})
WORKLOAD: tuple[Json, ...] = (
    {"spec": {}},
    {"spec.minReadySeconds": -1},
    {"spec.selector": ABSENT},
    {"spec.selector": {}},
    {"spec.selector": {"matchLabels": {"app": "other"}}},
    {"spec.selector": {"matchLabels": {"app": "a b"}}},
    {"spec.selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": []}]}},
    {"spec.selector": {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["a"]}]}},
    {"spec.selector": {"matchExpressions": [{"key": "app", "operator": "Sometimes"}]}},
    {"spec.template": ABSENT},
    {"spec.template.metadata": ABSENT},
    {"spec.template.metadata.labels": {"app": "web", "a": "b c"}},
    {"spec.template.metadata.annotations": {"a b": "c"}},
    {"spec.template.spec.containers": []},
    {"spec.template.spec.containers.0.image": ABSENT},
    {"spec.template.spec.containers.0.resources": {"limits": {"cpu": "0.5"}}},
    {"spec.template.spec.restartPolicy": "Never"},
    {"spec.template.spec.activeDeadlineSeconds": 5},
)

CREATES = (
    *creates(POD, *METADATA, *POD_CREATES, *POD_EMPTY, *POD_DECODES),
    *creates(
        DEPLOYMENT,
        *WORKLOAD,
        *REPLICAS,
        {"metadata.name": "a.b"},
        {"metadata.name": "a_b"},
        {"spec.strategy": {"type": "Recreate"}},
        {"spec.strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
        {"spec.strategy": {"type": "Sometimes"}},
        {"spec.strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
        {"spec.strategy": {"rollingUpdate": {"maxSurge": "a"}}},
        {"spec.strategy": {"rollingUpdate": {"maxUnavailable": "150%"}}},
        {"spec.strategy": {"rollingUpdate": {"maxUnavailable": -1}}},
        {"spec.revisionHistoryLimit": -1},
        {"spec.progressDeadlineSeconds": 5, "spec.minReadySeconds": 5},
        {"spec.paused": True},
        {"spec.paused": False, "spec.minReadySeconds": 0},
        {"spec.replicas": "3"},
        {"spec.replicas": 1.5},
        {"spec.replicas": None},
        {"spec.selector": "app=web"},
        {"spec.selector.matchLabels.app": 1},
        {"spec.strategy.rollingUpdate.maxSurge": True},
        {"spec.template.spec.containers.0.image": 1},
        {"spec.template.spec.terminationGracePeriodSeconds": "30"},
        {"spec.paused": "no"},
    ),
    *creates(REPLICA_SET, *WORKLOAD, *REPLICAS),
    *creates(
        DAEMON_SET,
        *WORKLOAD,
        {"spec.updateStrategy": {"type": "OnDelete"}},
        {"spec.updateStrategy": {"type": "Sometimes"}},
        {"spec.updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}},
        {"spec.updateStrategy": {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}},
    ),
    *creates(
        STATEFUL_SET,
        *WORKLOAD,
        *REPLICAS,
        {"metadata.name": "a.b"},
        {"spec.serviceName": ABSENT},
        {"spec.serviceName": "A"},
        {"spec.podManagementPolicy": "Parallel"},
        {"spec.podManagementPolicy": "Sometimes"},
        {"spec.updateStrategy": {"type": "OnDelete"}},
        {"spec.updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
        {"spec.updateStrategy": {"type": "Sometimes"}},
        {"spec.updateStrategy": {"type": "RollingUpdate"}},
        {"spec.updateStrategy": {"rollingUpdate": {"partition": -1}}},
        {"spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Sometimes"}},
        {"spec.ordinals": {"start": -1}},
        {"spec.volumeClaimTemplates": []},
        {"spec.volumeClaimTemplates.0.spec.accessModes": []},
        {"spec.volumeClaimTemplates.0.spec.resources": {}},
    ),
    *creates(
        JOB,
        {"spec": {}},
        {"spec.template.spec.restartPolicy": ABSENT},
        {"spec.template.spec.restartPolicy": "Always"},
        {"spec.template.spec.restartPolicy": "Sometimes"},
        {"spec.template.spec.containers": []},
        {"spec.template.metadata": ABSENT},
        {"spec.parallelism": -1, "spec.completions": -1, "spec.backoffLimit": -1},
        {"spec.activeDeadlineSeconds": -1},
        {"spec.ttlSecondsAfterFinished": -1},
        {"spec.parallelism": 3},
        {"spec.completions": 3},
        {"spec.completionMode": "Indexed"},
        {"spec.completionMode": "Indexed", "spec.completions": 3},
        {"spec.completionMode": "Indexed", "spec.completions": 3, "spec.backoffLimitPerIndex": 1},
        {"spec.completionMode": "Sometimes"},
        {"spec.backoffLimitPerIndex": 1},
        {"spec.maxFailedIndexes": 1},
        {"spec.selector": {"matchLabels": LABELS}},
        {"spec.selector": {"matchLabels": LABELS}, "spec.manualSelector": True},
        {"spec.manualSelector": True},
        {"spec.podReplacementPolicy": "Sometimes"},
        {"spec.podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}},
        {"spec.podFailurePolicy": {"rules": [{"action": "Sometimes"}]}},
        {"spec.podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}},
        {"spec.suspend": True},
        {"spec.completions": "3"},
    ),
    *creates(
        CRON_JOB,
        {"spec": {}},
        {"metadata.name": "a" * 53},
        {"spec.schedule": ""},
        {"spec.schedule": "* * * *"},
        {"spec.schedule": "60 * * * *"},
        {"spec.schedule": "a * * * *"},
        {"spec.schedule": "*/0 * * * *"},
        {"spec.schedule": "5-1 * * * *"},
        {"spec.schedule": "@never"},
        {"spec.schedule": "@every 5"},
        {"spec.schedule": "@hourly"},
        {"spec.schedule": "TZ=UTC 0 0 * * *"},
        {"spec.timeZone": "Europe/Berlin"},
        {"spec.timeZone": "Europe/Nowhere"},
        {"spec.timeZone": "Local"},
        {"spec.timeZone": ""},
        {"spec.timeZone": "a b"},
        {"spec.concurrencyPolicy": "Sometimes"},
        {"spec.startingDeadlineSeconds": -1},
        {"spec.successfulJobsHistoryLimit": -1, "spec.failedJobsHistoryLimit": -1},
        {"spec.jobTemplate.spec.template.spec.restartPolicy": "Always"},
        {"spec.jobTemplate.spec.selector": {"matchLabels": LABELS}},
        {"spec.jobTemplate.spec.manualSelector": True},
        {"spec.schedule": 5},
    ),
    *creates(
        SERVICE,
        {"metadata.name": "1web"},
        {"metadata.name": "a.b"},
        {"spec": {}},
        {"spec.ports": []},
        {"spec.selector": ABSENT},
        {"spec.selector": {"a": "b c"}},
        {"spec.ports": [{"port": 0}]},
        {"spec.ports": [{"port": 70000}]},
        {"spec.ports": [{"port": 80}, {"port": 81}]},
        {"spec.ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]},
        {"spec.ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
        {"spec.ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b", "protocol": "UDP"}]},
        {"spec.ports": [{"port": 80, "name": "A"}]},
        {"spec.ports": [{"port": 80, "protocol": "ICMP"}]},
        {"spec.ports": [{"port": 80, "targetPort": "http"}]},
        {"spec.ports": [{"port": 80, "targetPort": "HTTP_1"}]},
        {"spec.ports": [{"port": 80, "targetPort": 70000}]},
        {"spec.ports": [{"port": 80, "nodePort": 30000}]},
        {"spec.type": "NodePort", "spec.ports": [{"port": 80, "nodePort": 30080}]},
        {"spec.type": "NodePort", "spec.ports": [{"port": 80, "nodePort": 80}]},
        {"spec.type": "LoadBalancer", "spec.ports": [{"port": 80, "nodePort": 30080}]},
        {"spec.type": "Sometimes"},
        {"spec.type": "ExternalName"},
        {"spec.type": "ExternalName", "spec.externalName": "a.com", "spec.ports": ABSENT},
        {"spec.type": "ExternalName", "spec.externalName": "A_b"},
        {"spec.type": "ExternalName", "spec.externalName": "a.com", "spec.clusterIP": "None"},
        {"spec.clusterIP": "None"},
        {"spec.clusterIP": "None", "spec.ports": ABSENT},
        {"spec.clusterIP": "None", "spec.type": "NodePort"},
        {"spec.clusterIP": "None", "spec.selector": ABSENT},
        {"spec.clusterIP": "None", "spec.ipFamilyPolicy": "PreferDualStack"},
        {"spec.ipFamilyPolicy": "PreferDualStack"},
        {"spec.clusterIPs": ["10.0.0.9"]},
        {"spec.clusterIP": "10.0.0.99"},
        {"spec.clusterIP": "a"},
        {"spec.sessionAffinity": "ClientIP"},
        {"spec.sessionAffinity": "ClientIP", "spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}},
        {"spec.sessionAffinity": "Sometimes"},
        {"spec.externalIPs": ["a"]},
        {"spec.externalIPs": ["127.0.0.1"]},
        {"spec.externalIPs": ["1.2.3.4"]},
        {"spec.externalTrafficPolicy": "Local"},
        {
            "spec.type": "NodePort",
            "spec.externalTrafficPolicy": "Sometimes",
            "spec.ports": [{"port": 80, "nodePort": 30080}],
        },
        {"spec.internalTrafficPolicy": "Local"},
        {"spec.internalTrafficPolicy": "Sometimes"},
        {"spec.loadBalancerSourceRanges": ["10.0.0.0/8"]},
        {"spec.ipFamilyPolicy": "Sometimes"},
        {"spec.ipFamilies": ["IPv5"]},
        {"spec.loadBalancerClass": "a"},
        {"spec.allocateLoadBalancerNodePorts": True},
        {"spec.ports": [{"port": "80"}]},
        {"spec.ports": {"port": 80}},
    ),
    *creates(
        CONFIG_MAP,
        {"metadata.name": "A"},
        {"data": ABSENT},
        {"data": {"a b": "c"}},
        {"data": {"..": "c"}},
        {"data": {"..a": "c"}},
        {"data": {"a" * 254: "c"}},
        {"binaryData": {"b": "MQ=="}},
        {"binaryData": {"a": "MQ=="}},
        {"binaryData": {"b": "?"}},
        {"data": {"a": 1}},
        {"data": {"a": True}},
        {"data": {"a": "x" * 1048577}},
        {"immutable": True},
    ),
    *creates(
        SECRET,
        {"data": ABSENT},
        {"data": {"a b": "MQ=="}},
        {"data": {"a": "?"}},
        {"data": {"a": 1}},
        {"data": {"a": "A" * 1398104}},
        {"data": {"a": "MTIz\nMQ==\n"}},
        {"stringData": {"b": "c"}},
        {"stringData": {"a": "c"}},
        {"type": "kubernetes.io/tls"},
        {"type": "kubernetes.io/dockerconfigjson"},
        {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "MQ=="}},
        {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "eA=="}},
        {"type": "kubernetes.io/basic-auth"},
        {"type": "kubernetes.io/basic-auth", "data": {"username": "MQ=="}},
        {"type": "kubernetes.io/ssh-auth"},
        {"type": "kubernetes.io/service-account-token"},
    ),
    *creates(
        NAMESPACE,
        {"metadata.name": "a.b"},
        {"metadata.name": "A"},
        {"metadata.name": LONG},
        {"spec": {}},
        {"metadata.labels": {"a": "b"}},
    ),
    *creates(
        CLAIM,
        {"spec": {}},
        {"spec.accessModes": []},
        {"spec.accessModes": ["Sometimes"]},
        {"spec.accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]},
        {"spec.resources": {}},
        {"spec.resources.requests.storage": "0"},
        {"spec.resources.requests.storage": "-1Gi"},
        {"spec.resources.requests.storage": "1024Mi"},
        {"spec.storageClassName": "A"},
        {"spec.storageClassName": ""},
        {"spec.volumeMode": "Block"},
        {"spec.volumeMode": "Sometimes"},
        {"spec.selector": {"matchLabels": {"a": "b c"}}},
        {"spec.dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}},
    ),
    *creates(
        VOLUME,
        {"spec": {}},
        {"spec.capacity": ABSENT},
        {"spec.capacity": {"cpu": "1"}},
        {"spec.capacity": {"storage": "0"}},
        {"spec.accessModes": []},
        {"spec.accessModes": ["Sometimes"]},
        {"spec.hostPath": ABSENT},
        {"spec.hostPath": {"path": ""}},
        {"spec.nfs": {"server": "a", "path": "/b"}},
        {"spec.persistentVolumeReclaimPolicy": "Sometimes"},
        {"spec.storageClassName": "A"},
        {"spec.volumeMode": "Sometimes"},
    ),
    *creates(SERVICE_ACCOUNT, {"metadata.name": "A"}, {"automountServiceAccountToken": False}),
    *creates(
        ROLE,
        {"metadata.name": "A:b"},
        {"metadata.name": "a%b"},
        {"rules": ABSENT},
        {"rules": []},
        {"rules.0.verbs": ABSENT},
        {"rules.0.apiGroups": ABSENT},
        {"rules.0.resources": ABSENT},
        {"rules.0": {"nonResourceURLs": ["/x"], "verbs": ["get"]}},
    ),
    *creates(
        CLUSTER_ROLE,
        {"rules.0": {"nonResourceURLs": ["/x"], "verbs": ["get"]}},
        {"rules.0.nonResourceURLs": ["/x"]},
        {"rules.0.verbs": []},
        {"aggregationRule": {"clusterRoleSelectors": []}},
        {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b c"}}]}},
    ),
    *creates(
        ROLE_BINDING,
        {"roleRef": ABSENT},
        {"roleRef.kind": "User"},
        {"roleRef.name": ""},
        {"roleRef.name": "a/b"},
        {"roleRef.apiGroup": "v1"},
        {"subjects": ABSENT},
        {"subjects": [{"kind": "User", "name": "a"}, {"kind": "Group", "name": "b"}]},
        {"subjects": [{"kind": "User", "name": ""}]},
        {"subjects": [{"kind": "User", "name": "a", "apiGroup": "x"}]},
        {"subjects": [{"kind": "ServiceAccount", "name": "A"}]},
        {"subjects": [{"kind": "ServiceAccount", "name": "a", "apiGroup": "x", "namespace": "b"}]},
        {"subjects": [{"kind": "Sometimes", "name": "a"}]},
    ),
    *creates(CLUSTER_ROLE_BINDING, {"roleRef.kind": "Role"}, {"subjects": [{"kind": "ServiceAccount", "name": "a"}]}),
    *creates(
        INGRESS,
        {"spec": {}},
        {"spec.rules.0.host": "A_b"},
        {"spec.rules.0.host": "1.2.3.4"},
        {"spec.rules.0.host": "*.a.com"},
        {"spec.rules.0.host": "*.*.com"},
        {"spec.rules.0.http.paths": []},
        {"spec.rules.0.http.paths.0.pathType": ABSENT},
        {"spec.rules.0.http.paths.0.pathType": "Sometimes"},
        {"spec.rules.0.http.paths.0.path": "a"},
        {"spec.rules.0.http.paths.0.path": ABSENT},
        {"spec.rules.0.http.paths.0.path": "/a//b"},
        {"spec.rules.0.http.paths.0.pathType": "ImplementationSpecific", "spec.rules.0.http.paths.0.path": ABSENT},
        {"spec.rules.0.http.paths.0.backend": {}},
        {"spec.rules.0.http.paths.0.backend.service.name": ""},
        {"spec.rules.0.http.paths.0.backend.service.name": "A"},
        {"spec.rules.0.http.paths.0.backend.service.port": {}},
        {"spec.rules.0.http.paths.0.backend.service.port": {"name": "a", "number": 1}},
        {"spec.rules.0.http.paths.0.backend.service.port": {"number": 70000}},
        {"spec.rules.0.http.paths.0.backend.resource": {"kind": "A", "name": "b"}},
        {"spec.defaultBackend": BACKEND, "spec.rules": ABSENT},
        {"spec.ingressClassName": "A"},
        {"spec.tls": [{"hosts": ["A_b"], "secretName": "A"}]},
    ),
    *creates(INGRESS_CLASS, {"spec.controller": "a"}, {"spec.parameters": {"kind": "A", "name": "b"}}),
    *creates(
        NETWORK_POLICY,
        {"spec": {}},
        {"spec.podSelector": {"matchLabels": {"a": "b c"}}},
        {"spec.egress": [{}]},
        {"spec.ingress": [{"ports": [{"port": 80}]}]},
        {"spec.ingress": [{"ports": [{"port": 70000}]}]},
        {"spec.ingress": [{"ports": [{"port": "HTTP"}]}]},
        {"spec.ingress": [{"ports": [{"protocol": "ICMP"}]}]},
        {"spec.ingress": [{"ports": [{"endPort": 90}]}]},
        {"spec.ingress": [{"ports": [{"port": 100, "endPort": 90}]}]},
        {"spec.ingress": [{"from": [{}]}]},
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "a"}}]}]},
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}}]}]},
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]}]},
        {"spec.policyTypes": ["Sometimes"]},
    ),
    *creates(
        BUDGET,
        {"spec.maxUnavailable": 1},
        {"spec.minAvailable": -1},
        {"spec.minAvailable": "a"},
        {"spec.minAvailable": "150%"},
        {"spec.minAvailable": "50%"},
        {"spec.minAvailable": ABSENT},
        {"spec.selector": {"matchLabels": {"a": "b c"}}},
        {"spec.selector": ABSENT},
        {"spec.unhealthyPodEvictionPolicy": "Sometimes"},
    ),
    *creates(
        AUTOSCALER,
        {"spec.maxReplicas": ABSENT},
        {"spec.maxReplicas": 0},
        {"spec.minReplicas": 0},
        {"spec.minReplicas": 5},
        {"spec.scaleTargetRef": {}},
        {"spec.scaleTargetRef.name": "a/b"},
        {"spec.metrics": [{"type": "Sometimes"}]},
        {"spec.metrics": [{"type": "Resource"}]},
        {"spec.metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]},
        {
            "spec.metrics": [
                {
                    "type": "Pods",
                    "pods": {"metric": {"name": "a"}, "target": {"type": "AverageValue", "averageValue": "0.5"}},
                }
            ]
        },
        {"spec.behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}}},
        {"spec.behavior": {"scaleDown": {"stabilizationWindowSeconds": 4000}}},
        {"spec.behavior": {"scaleUp": {"selectPolicy": "Sometimes", "policies": []}}},
    ),
    *creates(STORAGE_CLASS, {"provisioner": ""}, {"reclaimPolicy": "Sometimes"}, {"volumeBindingMode": "Sometimes"}),
    *creates(PRIORITY_CLASS, {"value": 2000000000}, {"preemptionPolicy": "Sometimes"}, {"metadata.name": "system-a"}),
    *creates(
        LEASE, {"spec.leaseDurationSeconds": 0}, {"spec.leaseTransitions": -1}, {"spec": {}}, {"spec.renewTime": "x"}
    ),
    *creates(QUOTA, {"spec.hard": {"a b": "1"}}, {"spec.hard": {"pods": "-1"}}, {"spec.hard": {"pods": "0.5"}}),
    *creates(
        LIMIT_RANGE,
        {"spec.limits.0.max.cpu": "0.01"},
        {"spec.limits.0.default": {"cpu": "3"}},
        {"spec.limits.0.type": "Sometimes"},
    ),
    *creates(ENDPOINTS, {"subsets.0.addresses": [{"ip": "a"}]}, {"subsets.0.ports": [{"port": 0}]}),
    *creates(
        ENDPOINT_SLICE, {"addressType": "Sometimes"}, {"endpoints": [{"addresses": ["a"]}]}, {"addressType": ABSENT}
    ),
    *creates(EVENT, {"involvedObject.namespace": "other"}),
    *creates(
        VALIDATING,
        {"webhooks.0.name": "a"},
        {"webhooks.0.sideEffects": "Some"},
        {"webhooks.0.clientConfig": {}},
        {"webhooks.0.admissionReviewVersions": []},
        {"webhooks.0.failurePolicy": "Sometimes"},
        {"webhooks.0.timeoutSeconds": 60},
        {"webhooks.0.rules.0.operations": ["SOMETIMES"]},
    ),
    *creates(MUTATING, {"webhooks.0.reinvocationPolicy": "Sometimes"}),
    *creates(REPLICATION_CONTROLLER, {"spec.replicas": -1}, {"spec.selector": {"a": "b"}}),
    *creates(POD_TEMPLATE),
    *creates(NODE, {"spec.taints": [{"key": "a b", "effect": "NoSchedule"}]}, {"spec.podCIDR": "a"}),
    *creates(CSI_DRIVER),
    *creates(REVISION, {"revision": -1}, {"data": ABSENT}),
    *creates(RUNTIME_CLASS, {"handler": ""}),
    *creates(DEFINITION),
    *creates(API_SERVICE),
    *creates(ADMISSION_POLICY),
    *creates(ADMISSION_BINDING),
    *creates(FLOW_SCHEMA),
    *creates(PRIORITY_LEVEL),
    *creates(NEW_EVENT),
    *creates(resource_cases.DEVICE_CLASS, *resource_cases.DEVICE_CLASS_CREATES),
    *creates(resource_cases.CLAIM, *resource_cases.CLAIM_CREATES),
    *creates(resource_cases.TEMPLATE, *resource_cases.TEMPLATE_CREATES),
    *creates(resource_cases.SLICE, *resource_cases.SLICE_CREATES),
)

TWO_CLASSES = but(CLAIM, {"spec.storageClassName": "a"})
WITH_IP = but(SERVICE, {"spec.clusterIP": "10.0.0.77"})
SEALED_MAP = but(CONFIG_MAP, {"immutable": True})
SEALED_SECRET = but(SECRET, {"immutable": True})
GATED = but(POD, {"spec.schedulingGates": [{"name": "a"}]})
SUSPENDED = but(JOB, {"spec.suspend": True})

UPDATES = (
    *updates(
        POD,
        {"metadata.labels": {"a": "b"}},
        {"metadata.labels": {"a": "b c"}},
        {"metadata.finalizers": ["a b"]},
        {"spec.containers.0.image": "nginx:2"},
        {"spec.containers.0.image": ""},
        {"spec.containers.0.command": ["sh"]},
        {"spec.containers.1": {"name": "other", "image": "a:1"}},
        {"spec.activeDeadlineSeconds": 5},
        {"spec.restartPolicy": "Never"},
        {"spec.nodeName": "a"},
        {"spec.schedulingGates": [{"name": "a"}]},
    ),
    *updates(GATED, {"spec.schedulingGates": []}, {"spec.nodeSelector": {"a": "b"}}),
    *updates(
        DEPLOYMENT,
        {"spec.replicas": 5},
        {"spec.replicas": -1},
        {"spec.template.spec.containers.0.image": "nginx:2"},
        {"spec.selector": {"matchLabels": {"app": "web", "a": "b"}}, "spec.template.metadata.labels.a": "b"},
        {"spec.selector": {"matchLabels": {"app": "other"}}},
        {"metadata.generateName": "other"},
        {"metadata.creationTimestamp": "2020-01-01T00:00:00Z"},
    ),
    *updates(
        REPLICA_SET,
        {"spec.selector": {"matchLabels": {"app": "web", "a": "b"}}, "spec.template.metadata.labels.a": "b"},
    ),
    *updates(
        DAEMON_SET, {"spec.selector": {"matchLabels": {"app": "web", "a": "b"}}, "spec.template.metadata.labels.a": "b"}
    ),
    *updates(
        STATEFUL_SET,
        {"spec.replicas": 5},
        {"spec.serviceName": "other"},
        {"spec.podManagementPolicy": "Parallel"},
        {"spec.volumeClaimTemplates.0.spec.resources.requests.storage": "2Gi"},
        {"spec.template.spec.containers.0.image": "nginx:2"},
        {"spec.minReadySeconds": 5},
    ),
    *updates(
        JOB,
        {"spec.parallelism": 2},
        {"spec.completions": 2},
        {"spec.backoffLimit": 2},
        {"spec.completionMode": "Indexed"},
        {"spec.template.spec.containers.0.image": "nginx:2"},
        {"spec.selector": {"matchLabels": {"a": "b"}}},
        {"spec.suspend": True},
        {"spec.ttlSecondsAfterFinished": 5},
    ),
    *updates(SUSPENDED, {"spec.template.spec.nodeSelector": {"a": "b"}}, {"spec.suspend": False}),
    *updates(CRON_JOB, {"spec.schedule": "@daily"}, {"spec.schedule": "x"}, {"spec.suspend": True}),
    *updates(
        WITH_IP,
        {"metadata.labels": {"a": "b c"}},
        {"spec.clusterIP": "10.0.0.78", "spec.clusterIPs": ["10.0.0.78"]},
        {"spec.clusterIP": "10.0.0.78"},
        {"spec.ports": []},
        {"spec.selector": {"a": "b"}},
        {"spec.type": "NodePort", "spec.ports.0.nodePort": 30123},
        {"spec.type": "ExternalName", "spec.externalName": "a.com"},
    ),
    *updates(CONFIG_MAP, {"data": {"a": "2"}}, {"immutable": True}, {"data": {"a b": "c"}}),
    *updates(
        SEALED_MAP,
        {"data": {"a": "2"}},
        {"immutable": False},
        {"immutable": ABSENT},
        {"metadata.labels": {"a": "b"}},
        verb="update immutable",
    ),
    *updates(SECRET, {"type": "a"}, {"data": {"a": "Mg=="}}),
    *updates(SEALED_SECRET, {"data": {"a": "Mg=="}}, {"immutable": False}, {"type": "a"}, verb="update immutable"),
    *updates(NAMESPACE, {"metadata.labels": {"a": "b"}}, {"spec.finalizers": []}),
    *updates(
        TWO_CLASSES,
        {"spec.storageClassName": "b"},
        {"spec.accessModes": ["ReadWriteMany"]},
        {"spec.volumeName": "a"},
        {"spec.resources.requests.storage": "2Gi"},
        {"spec.resources.requests.storage": "500Mi"},
        {"spec.volumeMode": "Block"},
    ),
    *updates(
        VOLUME,
        {"spec.hostPath.path": "/other"},
        {"spec.volumeMode": "Block"},
        {"spec.persistentVolumeReclaimPolicy": "Delete"},
        {"spec.capacity.storage": "2Gi"},
    ),
    *updates(ROLE_BINDING, {"roleRef.name": "other"}, {"subjects": []}),
    *updates(CLUSTER_ROLE_BINDING, {"roleRef.name": "other"}),
    *updates(INGRESS, {"spec.rules.0.host": "b.com"}),
    *updates(INGRESS_CLASS, {"spec.controller": "a.com/c"}),
    *updates(BUDGET, {"spec.minAvailable": 2}, {"spec.selector": {"matchLabels": {"a": "b"}}}),
    *updates(
        STORAGE_CLASS,
        {"parameters": {"a": "b"}},
        {"provisioner": "a.com/c"},
        {"reclaimPolicy": "Retain"},
        {"volumeBindingMode": "WaitForFirstConsumer"},
        {"allowVolumeExpansion": True},
    ),
    *updates(PRIORITY_CLASS, {"value": 11}, {"preemptionPolicy": "Never"}, {"globalDefault": True}),
    *updates(LEASE, {"spec.leaseTransitions": 1}, {"spec.leaseDurationSeconds": -1}),
    *updates(AUTOSCALER, {"spec.minReplicas": 9}),
    *updates(ENDPOINT_SLICE, {"addressType": "IPv6", "endpoints.0.addresses": ["::1"]}),
    *updates(REVISION, {"data": {"a": 1}}, {"revision": 2}),
    *updates(RUNTIME_CLASS, {"handler": "other"}),
    *updates(QUOTA, {"spec.scopes": ["Terminating"]}),
    *updates(REPLICATION_CONTROLLER, {"spec.selector": {"a": "b"}}),
    *updates(resource_cases.DEVICE_CLASS, *resource_cases.DEVICE_CLASS_UPDATES),
    *updates(resource_cases.CLAIM, *resource_cases.CLAIM_UPDATES),
    *updates(resource_cases.TEMPLATE, *resource_cases.TEMPLATE_UPDATES),
    *updates(resource_cases.SLICE, *resource_cases.SLICE_UPDATES),
)

TRUE = "True"
STATUSES = (
    *updates(
        DEPLOYMENT,
        {"status.replicas": -1},
        {"status.replicas": 1, "status.readyReplicas": 2},
        {"status.replicas": 2, "status.readyReplicas": 1, "status.availableReplicas": 2},
        {"status.observedGeneration": -1},
        {"status.replicas": 2, "status.updatedReplicas": 2},
        {"status.observedGeneration": 0},
        verb="status of",
    ),
    *updates(REPLICA_SET, {"status.replicas": -1}, {"status.fullyLabeledReplicas": 1}, verb="status of"),
    *updates(
        STATEFUL_SET,
        {"status.replicas": -1},
        {"status.currentReplicas": 1},
        {"status.replicas": 2, "status.readyReplicas": 1, "status.availableReplicas": 2},
        verb="status of",
    ),
    *updates(DAEMON_SET, {"status.numberReady": -1}, verb="status of"),
    *updates(
        JOB,
        {"status.active": -1},
        {"status.active": 1, "status.ready": 2},
        {"status.conditions": [{"type": "Complete", "status": TRUE}]},
        {"status.conditions": [{"type": "Failed", "status": TRUE}]},
        {"status.conditions": [{"type": "Failed", "status": TRUE}, {"type": "Complete", "status": TRUE}]},
        verb="status of",
    ),
    *updates(BUDGET, {"status.currentHealthy": -1}, verb="status of"),
    *updates(POD, {"status.phase": "Running"}, {"status.podIPs": [{"ip": "a"}]}, verb="status of"),
    *updates(resource_cases.CLAIM, *resource_cases.CLAIM_STATUSES, verb="status of"),
)
