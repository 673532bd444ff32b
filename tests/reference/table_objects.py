"""Objects of every built-in kind, with statuses that `kubectl get` shows in different ways.

The status goes to the status subresource; what has a `deletionTimestamp` is deleted, and held by a finalizer.
"""

from typing import Any

JSONObject = dict[str, Any]

LONG_AGO = "2023-02-03T04:05:06Z"
LATER = "2023-02-05T10:05:06Z"
MICRO = "2023-02-03T04:05:06.000000Z"

TEMPLATE: JSONObject = {
    "metadata": {"labels": {"app": "web", "tier": "front"}},
    "spec": {"containers": [{"name": "web", "image": "nginx:1"}, {"name": "log", "image": "fluent:2"}]},
}
ONCE: JSONObject = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
SELECTOR: JSONObject = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["front", "back"]},
        {"key": "legacy", "operator": "DoesNotExist"},
        {"key": "app", "operator": "Exists"},
        {"key": "zone", "operator": "NotIn", "values": ["b", "a"]},
    ],
}


def thing(api_version: str, kind: str, name: str, status: JSONObject | None = None, **rest: Any) -> JSONObject:
    metadata = {"name": name, **rest.pop("metadata", {})}
    made = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
    return made if status is None else {**made, "status": status}


DELETED: JSONObject = {"deletionTimestamp": LONG_AGO, "finalizers": ["windvane.dev/hold"]}


def pod(name: str, status: JSONObject, *, init: list[JSONObject] | None = None, **rest: Any) -> JSONObject:
    spec = {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}], **rest.pop("spec", {})}
    if init:
        spec["initContainers"] = [{"image": "init:1", **each} for each in init]
    return thing("v1", "Pod", name, status, spec=spec, **rest)


def container(name: str, *, ready: bool = False, restarts: int = 0, last: str = "", **state: Any) -> JSONObject:
    made = {
        "name": name, "image": "x", "imageID": "", "ready": ready, "restartCount": restarts, "state": state,
        "lastState": {"terminated": {"exitCode": 1, "finishedAt": last}} if last else {},
    }  # fmt: skip
    if "started" in state:
        made["started"] = state.pop("started")
    return made


RUNNING: JSONObject = {"running": {"startedAt": LONG_AGO}}
DONE: JSONObject = {"terminated": {"exitCode": 0, "reason": "Completed"}}
READY: JSONObject = {"type": "Ready", "status": "True"}
INITIALIZED: JSONObject = {"type": "Initialized", "status": "True"}
TWO_INITS: list[JSONObject] = [{"name": "i"}, {"name": "j"}]
A_SIDECAR: list[JSONObject] = [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]

PODS = [
    pod("pending", {"phase": "Pending"}),
    pod("no-status", {}),
    pod("nominated", {"phase": "Pending", "nominatedNodeName": "node-2"}),
    pod(
        "gated",
        {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]},
        spec={"schedulingGates": [{"name": "example.com/wait"}]},
    ),
    pod(
        "running",
        {
            "phase": "Running",
            "conditions": [READY, {"type": "example.com/gate", "status": "True"}],
            "containerStatuses": [container("a", ready=True, **RUNNING), container("b", ready=True, **RUNNING)],
            "podIP": "10.1.2.3",
            "podIPs": [{"ip": "10.1.2.3"}, {"ip": "fd00::3"}],
        },
        spec={
            "nodeName": "node-1",
            "readinessGates": [{"conditionType": "example.com/gate"}, {"conditionType": "example.com/other"}],
        },
    ),
    pod(
        "restarted",
        {
            "phase": "Running",
            "containerStatuses": [
                container("a", restarts=3, last=LONG_AGO, waiting={"reason": "CrashLoopBackOff"}),
                container("b", ready=True, restarts=1, last=LATER, **RUNNING),
            ],
        },
    ),
    pod(
        "two-reasons",
        {
            "phase": "Pending",
            "containerStatuses": [
                container("a", waiting={"reason": "ImagePullBackOff"}),
                container("b", waiting={"reason": "CrashLoopBackOff"}),
            ],
        },
    ),
    pod("restarted-without-a-time", {"containerStatuses": [container("a", restarts=3, ready=True, **RUNNING)]}),
    pod("waiting-without-reason", {"phase": "Pending", "containerStatuses": [container("a", waiting={})]}),
    pod(
        "creating", {"phase": "Pending", "containerStatuses": [container("a", waiting={"reason": "ContainerCreating"})]}
    ),
    pod(
        "succeeded",
        {"phase": "Succeeded", "containerStatuses": [container("a", **DONE), container("b", **DONE)]},
        spec={"restartPolicy": "Never"},
    ),
    pod(
        "failed",
        {
            "phase": "Failed",
            "containerStatuses": [
                container("a", **DONE),
                container("b", terminated={"exitCode": 3, "reason": "Error"}),
            ],
        },
        spec={"restartPolicy": "Never"},
    ),
    pod("exit-code", {"phase": "Failed", "containerStatuses": [container("a", terminated={"exitCode": 7})]}),
    pod(
        "signal", {"phase": "Failed", "containerStatuses": [container("a", terminated={"exitCode": 137, "signal": 9})]}
    ),
    pod("evicted", {"phase": "Failed", "reason": "Evicted", "message": "no room"}),
    pod(
        "half-done",
        {
            "phase": "Running",
            "conditions": [READY],
            "containerStatuses": [container("a", **DONE), container("b", ready=True, **RUNNING)],
        },
    ),
    pod(
        "half-done-not-ready",
        {
            "phase": "Running",
            "containerStatuses": [container("a", **DONE), container("b", ready=True, **RUNNING)],
        },
    ),
    pod(
        "init-first",
        {"phase": "Pending", "initContainerStatuses": [container("i", **RUNNING), container("j", waiting={})]},
        init=TWO_INITS,
    ),
    pod(
        "init-second",
        {
            "phase": "Pending",
            "initContainerStatuses": [
                container("i", restarts=2, last=LONG_AGO, **DONE),
                container("j", waiting={"reason": "PodInitializing"}),
            ],
            "containerStatuses": [container("a", waiting={"reason": "PodInitializing"})],
        },
        init=TWO_INITS,
    ),
    pod(
        "init-crash",
        {
            "phase": "Pending",
            "initContainerStatuses": [container("i", restarts=4, last=LATER, waiting={"reason": "CrashLoopBackOff"})],
        },
        init=TWO_INITS,
    ),
    pod(
        "init-error",
        {"initContainerStatuses": [container("i", terminated={"exitCode": 1, "reason": "Error"})]},
        init=TWO_INITS,
    ),
    pod("init-exit", {"initContainerStatuses": [container("i", terminated={"exitCode": 5})]}, init=TWO_INITS),
    pod(
        "init-signal",
        {"initContainerStatuses": [container("i", terminated={"exitCode": 5, "signal": 2})]},
        init=TWO_INITS,
    ),
    pod(
        "init-again",
        {
            "conditions": [INITIALIZED],
            "initContainerStatuses": [container("i", restarts=2, **RUNNING)],
            "containerStatuses": [container("a", ready=True, restarts=1, **RUNNING)],
        },
        init=TWO_INITS,
    ),
    pod(
        "sidecar",
        {
            "phase": "Running",
            "initContainerStatuses": [
                container("i", restarts=9, last=LATER, **DONE),
                container("s", ready=True, restarts=2, last=LONG_AGO, started=True, **RUNNING),
            ],
            "containerStatuses": [container("a", ready=True, **RUNNING), container("b", ready=True, **RUNNING)],
        },
        init=A_SIDECAR,
    ),
    pod(
        "sidecar-starts",
        {"initContainerStatuses": [container("i", **DONE), container("s", started=False, **RUNNING)]},
        init=A_SIDECAR,
    ),
    pod(
        "sidecar-stopped",
        {
            "phase": "Succeeded",
            "initContainerStatuses": [container("i", **DONE), container("s", ready=True, started=True, **DONE)],
            "containerStatuses": [container("a", **DONE), container("b", **DONE)],
        },
        init=A_SIDECAR,
    ),
    pod("terminating", {"phase": "Running"}, metadata=DELETED),
    pod("terminating-lost", {"phase": "Running", "reason": "NodeLost"}, metadata=DELETED),
    pod("terminating-succeeded", {"phase": "Succeeded"}, metadata=DELETED),
]

WORKLOADS = [
    thing(
        "apps/v1", "Deployment", "web",
        {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1},
        spec={"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
    ),
    thing("apps/v1", "Deployment", "fresh", spec={"selector": SELECTOR, "template": TEMPLATE}),
    thing(
        "apps/v1", "ReplicaSet", "web", {"replicas": 2, "readyReplicas": 1},
        spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE},
    ),
    thing(
        "apps/v1", "StatefulSet", "web", {"replicas": 2, "readyReplicas": 1},
        spec={"replicas": 0, "serviceName": "web", "selector": SELECTOR, "template": TEMPLATE},
    ),
    thing(
        "apps/v1", "DaemonSet", "web",
        {
            "desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3, "updatedNumberScheduled": 2,
            "numberAvailable": 1, "numberMisscheduled": 0,
        },
        spec={
            "selector": SELECTOR,
            "template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "nodeSelector": {"disk": "ssd", "a": "b"}}},
        },
    ),
    thing("apps/v1", "DaemonSet", "bare", spec={"selector": SELECTOR, "template": TEMPLATE}),
    thing("apps/v1", "ControllerRevision", "plain", revision=1, data={}),
    thing(
        "apps/v1", "ControllerRevision", "owned", revision=7, data={},
        metadata={
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"},
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "2", "controller": True},
            ]
        },
    ),
    thing("v1", "ReplicationController", "web", {"replicas": 2, "readyReplicas": 1}, spec={"template": TEMPLATE}),
    thing("v1", "PodTemplate", "web", template=TEMPLATE),
    thing("batch/v1", "Job", "new", spec={"template": ONCE}),
    thing(
        "batch/v1", "Job", "counted", {"succeeded": 1, "startTime": LONG_AGO},
        spec={"completions": 3, "template": ONCE},
    ),
    thing("batch/v1", "Job", "queue", {"succeeded": 1}, spec={"parallelism": 4, "template": ONCE}),
    thing(
        "batch/v1", "Job", "complete",
        {
            "succeeded": 1, "startTime": LONG_AGO, "completionTime": LATER,
            "conditions": [
                {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"},
            ],
        },
        spec={"template": ONCE},
    ),
    thing(
        "batch/v1", "Job", "failed",
        {
            "startTime": LONG_AGO,
            "conditions": [{"type": "FailureTarget", "status": "True"}, {"type": "Failed", "status": "True"}],
        },
        spec={"template": ONCE},
    ),
    thing(
        "batch/v1", "Job", "failing",
        {"startTime": LONG_AGO, "conditions": [{"type": "FailureTarget", "status": "True"}]}, spec={"template": ONCE},
    ),
    thing(
        "batch/v1", "Job", "suspended", {"conditions": [{"type": "Suspended", "status": "True"}]},
        spec={"suspend": True, "template": ONCE},
    ),
    thing("batch/v1", "Job", "terminating", spec={"template": ONCE}, metadata=DELETED),
    thing("batch/v1", "CronJob", "new", spec={"schedule": "* * * * *", "jobTemplate": {"spec": {"template": ONCE}}}),
    thing(
        "batch/v1", "CronJob", "old",
        {"lastScheduleTime": LONG_AGO, "active": [{"kind": "Job", "name": "a"}, {"kind": "Job", "name": "b"}]},
        spec={
            "schedule": "@daily", "timeZone": "Europe/Zurich", "suspend": True,
            "jobTemplate": {"spec": {"template": ONCE}},
        },
    ),
    thing(
        "policy/v1", "PodDisruptionBudget", "least", {
            "disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3,
        },
        spec={"minAvailable": 1, "selector": SELECTOR},
    ),
    thing("policy/v1", "PodDisruptionBudget", "most", spec={"maxUnavailable": "30%", "selector": SELECTOR}),
]  # fmt: skip


def autoscaler(
    name: str, metrics: list[JSONObject], current: list[JSONObject] | None = None, **spec: Any
) -> JSONObject:
    status = {"currentReplicas": 3, "desiredReplicas": 4, "currentMetrics": current} if current is not None else None
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    rest = {"scaleTargetRef": target, "maxReplicas": 9, "metrics": metrics, **spec}
    return thing("autoscaling/v2", "HorizontalPodAutoscaler", name, status, spec=rest)


def metric(where: str, what: JSONObject) -> JSONObject:
    return {"type": where[0].upper() + where[1:], where: what}


PERCENT: JSONObject = {"type": "Utilization", "averageUtilization": 80}
AVERAGE: JSONObject = {"type": "AverageValue", "averageValue": "1500m"}
VALUE: JSONObject = {"type": "Value", "value": "2k"}
NAMED: JSONObject = {"metric": {"name": "queue"}}
OBJECT: JSONObject = {
    **NAMED,
    "describedObject": {"kind": "Ingress", "name": "x", "apiVersion": "networking.k8s.io/v1"},
}

AUTOSCALERS = [
    autoscaler("usual", [], minReplicas=2),
    autoscaler(
        "resource", [metric("resource", {"name": "cpu", "target": PERCENT})],
        [metric("resource", {"name": "cpu", "current": {"averageUtilization": 55, "averageValue": "5m"}})],
    ),
    autoscaler(
        "average",
        [metric("resource", {"name": "memory", "target": AVERAGE}), metric("pods", {**NAMED, "target": AVERAGE})],
        [
            metric("resource", {"name": "memory", "current": {"averageValue": "1Gi"}}),
            metric("pods", {**NAMED, "current": {"averageValue": "700m"}}),
        ],
    ),
    autoscaler(
        "many",
        [
            metric("containerResource", {"name": "cpu", "container": "web", "target": PERCENT}),
            metric("containerResource", {"name": "cpu", "container": "log", "target": AVERAGE}),
            metric("pods", {**NAMED, "target": AVERAGE}),
        ],
        [
            metric("containerResource", {"name": "cpu", "container": "web", "current": {"averageUtilization": 5}}),
            metric("containerResource", {"name": "cpu", "container": "log", "current": {}}),
        ],
    ),
    autoscaler(
        "external", [metric("external", {**NAMED, "target": VALUE}), metric("external", {**NAMED, "target": AVERAGE})],
        [
            metric("external", {**NAMED, "current": {"value": "3k"}}),
            metric("external", {**NAMED, "current": {"averageValue": "4k"}}),
        ],
    ),
    autoscaler(
        "object",
        [metric("object", {**OBJECT, "target": VALUE}), metric("object", {**OBJECT, "target": AVERAGE})],
        [
            metric("object", {**OBJECT, "current": {"value": "30k"}}),
            metric("object", {**OBJECT, "current": {"value": "1", "averageValue": "4k"}}),
        ],
    ),
    autoscaler(
        "object-unseen",
        [metric("object", {**OBJECT, "target": VALUE}), metric("external", {**NAMED, "target": AVERAGE})],
    ),
    autoscaler(
        "pods-unseen",
        [metric("pods", {**NAMED, "target": AVERAGE}), metric("resource", {"name": "cpu", "target": PERCENT})],
        [],
    ),
]  # fmt: skip

PORTS = [{"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]
SERVICES = [
    thing("v1", "Service", "plain", spec={"ports": PORTS, "selector": {"b": "2", "a": "1"}}),
    thing("v1", "Service", "headless", spec={"clusterIP": "None"}),
    thing("v1", "Service", "external-ips", spec={"ports": PORTS, "externalIPs": ["192.0.2.7", "192.0.2.6"]}),
    thing("v1", "Service", "node-port", spec={"type": "NodePort", "ports": PORTS}),
    thing("v1", "Service", "pending", spec={"type": "LoadBalancer", "ports": PORTS}),
    thing(
        "v1", "Service", "balanced",
        {"loadBalancer": {"ingress": [{"ip": "203.0.113.9"}, {"hostname": "lb.example.com"}, {"ip": "203.0.113.10"}]}},
        spec={"type": "LoadBalancer", "ports": PORTS, "externalIPs": ["192.0.2.9"]},
    ),
    thing("v1", "Service", "name", spec={"type": "ExternalName", "externalName": "db.example.com"}),
    thing("v1", "Endpoints", "none"),
    thing("v1", "Endpoints", "no-ports", subsets=[{"addresses": [{"ip": "10.0.9.1"}, {"ip": "fd00::1"}]}]),
    thing(
        "v1", "Endpoints", "many",
        subsets=[
            {
                "addresses": [{"ip": "10.0.9.1"}, {"ip": "fd00::1"}],
                "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}],
            },
            {"notReadyAddresses": [{"ip": "10.0.9.4"}], "ports": [{"port": 80, "name": "a"}]},
        ],
    ),
    thing("discovery.k8s.io/v1", "EndpointSlice", "empty", addressType="IPv4", endpoints=[]),
    thing(
        "discovery.k8s.io/v1", "EndpointSlice", "many", addressType="IPv4",
        endpoints=[{"addresses": [f"10.0.9.{number}"]} for number in range(1, 5)],
        ports=[{"port": 80, "name": "a"}, {"name": "b"}, {"port": 82, "name": "c"}, {"port": 83, "name": "d"}],
    ),
    thing(
        "networking.k8s.io/v1", "Ingress", "simple",
        spec={"defaultBackend": {"service": {"name": "x", "port": {"number": 80}}}},
    ),
    thing(
        "networking.k8s.io/v1", "Ingress", "full",
        {"loadBalancer": {"ingress": [{"hostname": "z.example.com"}, {"ip": "203.0.113.9"}]}},
        spec={
            "ingressClassName": "nginx", "tls": [{"hosts": ["a.example.com"]}],
            "defaultBackend": {"service": {"name": "x", "port": {"number": 80}}},
            "rules": [{"host": f"{name}.example.com"} for name in "abcde"],
        },
    ),
    thing("networking.k8s.io/v1", "NetworkPolicy", "all", spec={"podSelector": {}}),
    thing("networking.k8s.io/v1", "NetworkPolicy", "some", spec={"podSelector": SELECTOR}),
    thing("networking.k8s.io/v1", "IngressClass", "tables-bare", spec={"controller": "example.com/c"}),
    thing(
        "networking.k8s.io/v1", "IngressClass", "tables-default",
        metadata={"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
        spec={
            "controller": "example.com/c",
            "parameters": {"apiGroup": "example.com", "kind": "Params", "name": "p", "scope": "Cluster"},
        },
    ),
    thing(
        "networking.k8s.io/v1", "IPAddress", "192.0.2.44",
        spec={"parentRef": {"resource": "services", "namespace": "default", "name": "x"}},
    ),
    thing(
        "networking.k8s.io/v1", "IPAddress", "192.0.2.45",
        spec={"parentRef": {"group": "example.com", "resource": "Things", "name": "x"}},
    ),
    thing("networking.k8s.io/v1", "ServiceCIDR", "tables", spec={"cidrs": ["192.0.2.0/24", "fd00:1::/112"]}),
]  # fmt: skip

INFO = {
    "kubeletVersion": "v1.36.3", "osImage": "Linux", "kernelVersion": "6.1", "containerRuntimeVersion": "c://1",
    "architecture": "amd64", "machineID": "", "systemUUID": "", "bootID": "", "kubeProxyVersion": "",
    "operatingSystem": "linux",
}  # fmt: skip
CORE = [
    thing("v1", "ConfigMap", "three", data={"a": "1", "b": "2"}, binaryData={"c": "AAAA"}),
    thing("v1", "ConfigMap", "none"),
    thing("v1", "Secret", "opaque", data={"a": "AAAA"}),
    thing("v1", "Secret", "typed", type="example.com/type"),
    thing("v1", "ServiceAccount", "robot"),
    thing("v1", "LimitRange", "limits", spec={"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}),
    thing("v1", "Namespace", "tables-other"),
    thing("v1", "Node", "tables-bare"),
    thing(
        "v1", "Node", "tables-ready",
        {
            "conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
            "addresses": [
                {"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "10.0.0.1"},
                {"type": "InternalIP", "address": "10.0.0.2"}, {"type": "ExternalIP", "address": "192.0.2.1"},
            ],
            "nodeInfo": INFO,
        },
        metadata={
            "labels": {
                "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "x",
                "kubernetes.io/role": "special",
            }
        },
        spec={"unschedulable": True},
    ),
    thing(
        "v1", "Node", "tables-not-ready",
        {"conditions": [{"type": "Ready", "status": "Unknown"}], "nodeInfo": {**INFO, "kernelVersion": ""}},
    ),
    thing(
        "v1", "ResourceQuota", "quota",
        {
            "hard": {"pods": "4", "cpu": "1500m", "limits.cpu": "2", "limits.memory": "1Gi"},
            "used": {"pods": "1", "cpu": "500m", "limits.cpu": "1"},
        },
        spec={"hard": {"pods": "4"}},
    ),
    thing("v1", "ResourceQuota", "fresh", spec={"hard": {"pods": "4"}}),
]  # fmt: skip

VOLUME: JSONObject = {
    "hostPath": {"path": "/tmp/x"},
    "capacity": {"storage": "1024Mi"},
    "accessModes": ["ReadWriteOnce"],
}
CLAIM: JSONObject = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
STORAGE = [
    thing("v1", "PersistentVolume", "tables-free", {"phase": "Available"}, spec=VOLUME),
    thing(
        "v1", "PersistentVolume", "tables-bound", {"phase": "Bound", "reason": "because"},
        spec={
            **VOLUME, "storageClassName": "fast", "claimRef": {"namespace": "default", "name": "data"},
            "accessModes": ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"], "volumeMode": "Block",
            "persistentVolumeReclaimPolicy": "Delete",
        },
    ),
    thing(
        "v1", "PersistentVolume", "tables-annotated",
        metadata={**DELETED, "annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}, spec=VOLUME,
    ),
    thing("v1", "PersistentVolumeClaim", "pending", {"phase": "Pending"}, spec=CLAIM),
    thing(
        "v1", "PersistentVolumeClaim", "bound",
        {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOncePod"]},
        spec={**CLAIM, "volumeName": "tables-bound", "storageClassName": "fast", "volumeAttributesClassName": "gold"},
    ),
    thing("v1", "PersistentVolumeClaim", "named", spec={**CLAIM, "volumeName": "tables-free"}),
    thing("v1", "PersistentVolumeClaim", "terminating", {"phase": "Bound"}, spec=CLAIM, metadata=DELETED),
    thing("storage.k8s.io/v1", "StorageClass", "tables-plain", provisioner="example.com/p"),
    thing(
        "storage.k8s.io/v1", "StorageClass", "tables-default", provisioner="example.com/p", reclaimPolicy="Retain",
        volumeBindingMode="WaitForFirstConsumer", allowVolumeExpansion=True,
        metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    ),
    thing("storage.k8s.io/v1", "VolumeAttributesClass", "tables-gold", driverName="example.com", parameters={"a": "b"}),
    thing(
        "storage.k8s.io/v1", "VolumeAttachment", "tables-attached", {"attached": True},
        spec={"attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "pv"}},
    ),
    thing("storage.k8s.io/v1", "CSINode", "tables-node", spec={"drivers": [{"name": "a", "nodeID": "1"}]}),
    thing("storage.k8s.io/v1", "CSIDriver", "tables-bare"),
    thing(
        "storage.k8s.io/v1", "CSIDriver", "tables-full",
        spec={
            "attachRequired": False, "podInfoOnMount": True, "storageCapacity": True, "requiresRepublish": True,
            "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
            "volumeLifecycleModes": ["Persistent", "Ephemeral"],
        },
    ),
    thing("storage.k8s.io/v1", "CSIStorageCapacity", "capacity", storageClassName="fast", capacity="1Gi"),
]  # fmt: skip


def event(name: str, **rest: Any) -> JSONObject:
    about = {"kind": "Pod", "name": "web", "namespace": "tables", "fieldPath": "spec.containers{a}"}
    return thing("v1", "Event", name, **{"involvedObject": about, "reason": "Because", "type": "Normal", **rest})


EVENTS = [
    event(
        "old", firstTimestamp=LONG_AGO, lastTimestamp=LATER, count=5, message=" text \n",
        source={"component": "c", "host": "h"},
    ),
    event("bare"),
    event("kind-only", involvedObject={"kind": "Namespace", "namespace": "tables"}, source={"component": "c"}),
    event(
        "new", eventTime=MICRO, reportingComponent="example.com/c", reportingInstance="c-1", action="Do",
        series={"count": 7, "lastObservedTime": "2023-02-05T10:05:06.000000Z"},
    ),
    event("single", eventTime=MICRO, reportingComponent="example.com/c", reportingInstance="c-1", action="Do"),
    thing(
        "events.k8s.io/v1", "Event", "newer", eventTime=MICRO, reportingController="example.com/c",
        reportingInstance="c-2", action="Do", reason="Because", type="Warning", note="words",
        regarding={"kind": "Pod", "name": "web", "namespace": "tables"},
    ),
]  # fmt: skip

RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
SUBJECTS = [
    {"kind": "User", "name": "ann"}, {"kind": "User", "name": "bob"}, {"kind": "Group", "name": "all"},
    {"kind": "ServiceAccount", "name": "robot", "namespace": "default"},
]  # fmt: skip
ROLE_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
NEVER = {"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothings"]}
HOOK = {
    "name": "a.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [NEVER],
    "clientConfig": {"url": "https://example.com/hook"},
}  # fmt: skip
NEVER_MATCHED = {"resourceRules": [NEVER]}
PARAM_KIND = {"apiVersion": "example.com/v1", "kind": "Limit"}
MUTATION = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/spec'}]"}}


def bindings(kind: str, **spec: Any) -> list[JSONObject]:
    references: dict[str, JSONObject | None] = {
        "none": None,
        "named": {"name": "p", "namespace": "ns", "parameterNotFoundAction": "Allow"},
        "anywhere": {"name": "p", "parameterNotFoundAction": "Allow"},
        "selected": {"selector": SELECTOR, "parameterNotFoundAction": "Allow"},
        "all": {"selector": {}, "parameterNotFoundAction": "Allow"},
    }
    return [
        thing(
            "admissionregistration.k8s.io/v1", kind, f"tables-{name}",
            spec={"policyName": "tables-missing", **({"paramRef": reference} if reference else {}), **spec},
        )
        for name, reference in references.items()
    ]  # fmt: skip


POLICIES = [
    thing("rbac.authorization.k8s.io/v1", "Role", "role", rules=RULES),
    thing("rbac.authorization.k8s.io/v1", "ClusterRole", "tables-role", rules=RULES),
    thing("rbac.authorization.k8s.io/v1", "RoleBinding", "binding", roleRef=ROLE_REF, subjects=SUBJECTS),
    thing("rbac.authorization.k8s.io/v1", "RoleBinding", "nobody", roleRef={**ROLE_REF, "kind": "Role"}),
    thing("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "tables-binding", roleRef=ROLE_REF, subjects=SUBJECTS),
    thing("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "tables-m", webhooks=[HOOK]),
    thing("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "tables-none"),
    thing("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "tables-v", webhooks=[HOOK]),
    thing(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "tables-policy",
        spec={"validations": [{"expression": "true"}], "matchConstraints": NEVER_MATCHED},
    ),
    thing(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "tables-with-parameters",
        spec={"validations": [{"expression": "true"}], "matchConstraints": NEVER_MATCHED, "paramKind": PARAM_KIND},
    ),
    thing(
        "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "tables-policy",
        spec={
            "mutations": [MUTATION], "matchConstraints": NEVER_MATCHED, "paramKind": PARAM_KIND,
            "reinvocationPolicy": "Never",
        },
    ),
    *bindings("ValidatingAdmissionPolicyBinding", validationActions=["Deny"]),
    *bindings("MutatingAdmissionPolicyBinding"),
    thing(
        "flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "tables-a",
        spec={
            "matchingPrecedence": 9500, "priorityLevelConfiguration": {"name": "tables-limited"},
            "distinguisherMethod": {"type": "ByUser"},
        },
    ),
    thing(
        "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "tables-limited",
        spec={
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 3,
                "limitResponse": {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 5}},
            },
        },
    ),
    thing(
        "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "tables-rejecting",
        spec={"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}},
    ),
    thing("scheduling.k8s.io/v1", "PriorityClass", "tables-high", value=1000, preemptionPolicy="Never"),
    thing("node.k8s.io/v1", "RuntimeClass", "tables-gvisor", handler="runsc"),
    thing("coordination.k8s.io/v1", "Lease", "held", spec={"holderIdentity": "me", "leaseDurationSeconds": 5}),
    thing("coordination.k8s.io/v1", "Lease", "free"),
    thing(
        "apiregistration.k8s.io/v1", "APIService", "v1.tables.example.com",
        spec={
            "group": "tables.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 5,
            "service": {"namespace": "default", "name": "x"}, "insecureSkipTLSVerify": True,
        },
    ),
]  # fmt: skip

CLAIMED = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
ALLOCATION = {"devices": {"results": [{"request": "gpu", "driver": "example.com", "pool": "a", "device": "b"}]}}
CONSUMER = {"resource": "pods", "name": "a", "uid": "b"}
DEVICES = [
    thing("resource.k8s.io/v1", "DeviceClass", "tables-gpu", spec={}),
    thing("resource.k8s.io/v1", "ResourceClaim", "pending", spec=CLAIMED),
    thing("resource.k8s.io/v1", "ResourceClaim", "deleted", spec=CLAIMED, metadata=DELETED),
    thing("resource.k8s.io/v1", "ResourceClaim", "allocated", {"allocation": ALLOCATION}, spec=CLAIMED),
    thing(
        "resource.k8s.io/v1", "ResourceClaim", "reserved",
        {"allocation": ALLOCATION, "reservedFor": [CONSUMER]}, spec=CLAIMED, metadata=DELETED,
    ),
    thing("resource.k8s.io/v1", "ResourceClaimTemplate", "template", spec={"spec": CLAIMED}),
    thing(
        "resource.k8s.io/v1", "ResourceSlice", "tables-node",
        spec={"driver": "example.com", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}},
    ),
    thing(
        "resource.k8s.io/v1", "ResourceSlice", "tables-all",
        spec={"driver": "example.com", "allNodes": True, "pool": {"name": "p", "resourceSliceCount": 1}},
    ),
]  # fmt: skip

OBJECTS = [*PODS, *WORKLOADS, *AUTOSCALERS, *SERVICES, *CORE, *STORAGE, *EVENTS, *POLICIES, *DEVICES]
