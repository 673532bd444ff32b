"""Creating objects: what the server fills in, what it takes away, and what it refuses."""

import re
from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.objects import Thing, config_map, deployment, job, pod, service, without
from conformance.requests import Raw, Refused, Shows

LONG = "x" * 64

ANSWERED = [
    Case("an object is answered 201 and shown", "POST configmaps", config_map(data={"k": "v"}),
         Shows(201, {"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": "v"},
                     "metadata": {"name": "a", "namespace": "{ns}"}})),
    Case("a second object of that name already exists", "POST configmaps", config_map(),
         Refused(409, "AlreadyExists", 'configmaps "a" already exists', "configmaps a"),
         before=[("POST configmaps", config_map())]),
    Case("a second deployment of that name already exists", "POST deployments", deployment(),
         Refused(409, "AlreadyExists", 'deployments.apps "web" already exists', "deployments.apps web"),
         before=[("POST deployments", deployment())]),
    Case("an object without a name is refused", "POST configmaps", {"metadata": {}},
         Refused(422, "Invalid",
                 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
                 "ConfigMap", ["FieldValueRequired metadata.name"])),
    Case("an object without metadata is refused", "POST configmaps", {"data": {}},
         Refused(422, "Invalid",
                 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
                 "ConfigMap", ["FieldValueRequired metadata.name"])),
    Case("a resourceVersion may not be brought along", "POST configmaps",
         config_map(metadata={"resourceVersion": "1"}),
         Refused(500, "", "resourceVersion should not be set on objects to be created")),
    Case("a uid that is brought along is replaced", "POST configmaps", config_map(metadata={"uid": "mine"}),
         Shows(201)),
    Case("a deletion timestamp that is brought along is dropped", "POST configmaps",
         config_map(metadata={"deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5}),
         Shows(201, {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}})),
    Case("a generation that is brought along is replaced", "POST deployments", deployment(metadata={"generation": 7}),
         Shows(201, {"metadata": {"generation": 1}})),
    Case("a config map has no generation", "POST configmaps", config_map(),
         Shows(201, {"metadata": {"generation": None}})),
    Case("a self link that is brought along is dropped", "POST configmaps", config_map(metadata={"selfLink": "/x"}),
         Shows(201, {"metadata": {"selfLink": None}})),
    Case("a status that is brought along is dropped", "POST deployments", {**deployment(), "status": {"replicas": 3}},
         Shows(201, {"status": {"replicas": None}})),
    Case("the status of a new pod is the server's own", "POST pods", {**pod(), "status": {"phase": "Running"}},
         Shows(201, {"status": {"phase": "Pending", "qosClass": "BestEffort"}})),
    Case("a dry run shows what would be made", "POST configmaps?dryRun=All", config_map(),
         Shows(201, {"metadata": {"name": "a", "resourceVersion": None}})),
    Case("a dry run of another sort is refused", "POST configmaps?dryRun=Some", config_map(),
         Refused(422, "Invalid",
                 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: '
                 '"All"',
                 "CreateOptions.meta.k8s.io", ["FieldValueNotSupported dryRun"])),
    Case("a dry run needs a value", "POST configmaps?dryRun=", config_map(),
         Refused(422, "Invalid",
                 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All"',
                 "CreateOptions.meta.k8s.io", ["FieldValueNotSupported dryRun"])),
    Case("a namespace that is not there is not found", "POST /api/v1/namespaces/nowhere/configmaps", config_map(),
         Refused(404, "NotFound", 'namespaces "nowhere" not found', "namespaces nowhere")),
    Case("a namespace in the body must be that of the path", "POST configmaps",
         config_map(metadata={"namespace": "other"}),
         Refused(400, "BadRequest",
                 "the namespace of the provided object does not match the namespace sent on the request")),
    Case("a namespaced object can't be created in no namespace", "POST /api/v1/configmaps", config_map(),
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a namespace that a cluster object brings along is dropped", "POST /api/v1/namespaces",
         {"metadata": {"name": "{ns}-2", "namespace": "x"}}, Shows(201, {"metadata": {"namespace": None}})),
    Case("an object can't be created at its own path", "POST configmaps/a", config_map(),
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a field manager may not be longer than 128 characters", f"POST configmaps?fieldManager={'x' * 129}",
         config_map(),
         Refused(422, "Invalid",
                 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
                 "CreateOptions.meta.k8s.io", ["FieldValueTooLong fieldManager"])),
    Case("a field manager may not have control characters", "POST configmaps?fieldManager=a%07b", config_map(),
         Refused(422, "Invalid",
                 "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\ab\": invalid "
                 "character U+0007 (at position 1)",
                 "CreateOptions.meta.k8s.io", ["FieldValueInvalid fieldManager"])),
    Case("several complaints come in one answer", "POST deployments",
         deployment(replicas=-1, minReadySeconds=-1, revisionHistoryLimit=-1),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: [spec.replicas: Invalid value: -1: must be greater than or '
                 "equal to 0, spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0, "
                 "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0]",
                 "Deployment.apps web",
                 ["FieldValueInvalid spec.replicas", "FieldValueInvalid spec.minReadySeconds",
                  "FieldValueInvalid spec.revisionHistoryLimit"])),
    # Required fields
    Case("a pod needs containers", "POST pods", {"metadata": {"name": "p"}, "spec": {}},
         Refused(422, "Invalid", 'Pod "p" is invalid: spec.containers: Required value',
                 "Pod p", ["FieldValueRequired spec.containers"])),
    Case("a pod needs a spec", "POST pods", {"metadata": {"name": "p"}},
         Refused(422, "Invalid", 'Pod "p" is invalid: spec.containers: Required value',
                 "Pod p", ["FieldValueRequired spec.containers"])),
    Case("a container needs a name and an image", "POST pods",
         {"metadata": {"name": "p"}, "spec": {"containers": [{}]}},
         Refused(422, "Invalid",
                 'Pod "p" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required '
                 "value]",
                 "Pod p",
                 ["FieldValueRequired spec.containers[0].name", "FieldValueRequired spec.containers[0].image"])),
    Case("two containers may not have one name", "POST pods",
         pod(containers=[{"name": "x", "image": "x"}, {"name": "x", "image": "y"}]),
         Refused(422, "Invalid", 'Pod "p" is invalid: spec.containers[1].name: Duplicate value: "x"',
                 "Pod p", ["FieldValueDuplicate spec.containers[1].name"])),
    Case("a container's name is a DNS label", "POST pods", pod(container={"name": "Main_1"}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].name: Invalid value: "Main_1": a lowercase RFC 1123 label '
                 "must consist of lower case alphanumeric characters or '-', and must start and end with an "
                 "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                 "Pod p", ["FieldValueInvalid spec.containers[0].name"])),
    Case("a deployment needs a selector that matches its template", "POST deployments",
         deployment(selector={"matchLabels": {"app": "other"}}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"web"}: '
                 "`selector` does not match template `labels`",
                 "Deployment.apps web", ["FieldValueInvalid spec.template.metadata.labels"])),
    Case("a deployment needs a selector and a template", "POST deployments",
         {"metadata": {"name": "web"}, "spec": {}},
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: [spec.selector: Required value, spec.template.metadata.labels: '
                 "Invalid value: null: `selector` does not match template `labels`, spec.template.spec.containers: "
                 "Required value]",
                 "Deployment.apps web",
                 ["FieldValueRequired spec.selector", "FieldValueInvalid spec.template.metadata.labels",
                  "FieldValueRequired spec.template.spec.containers"])),
    Case("an empty selector is refused for a deployment", "POST deployments", deployment(selector={}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.selector: Invalid value: {}: empty selector is invalid for '
                 "deployment",
                 "Deployment.apps web", ["FieldValueInvalid spec.selector"])),
    Case("a deployment's pods always restart", "POST deployments",
         deployment(template={"metadata": {"labels": {"app": "web"}},
                              "spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "x"}]}}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.template.spec.restartPolicy: Unsupported value: "Never": '
                 'supported values: "Always"',
                 "Deployment.apps web", ["FieldValueNotSupported spec.template.spec.restartPolicy"])),
    Case("a deployment has no strategy of that name", "POST deployments", deployment(strategy={"type": "Fast"}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.strategy: Unsupported value: '
                 '{"Type":"Fast","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
                 "Deployment.apps web", ["FieldValueNotSupported spec.strategy"])),
    Case("a rolling update may not stand still", "POST deployments",
         deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: '
                 "may not be 0 when `maxSurge` is 0",
                 "Deployment.apps web", ["FieldValueInvalid spec.strategy.rollingUpdate.maxUnavailable"])),
    Case("recreating has no rolling update settings", "POST deployments",
         deployment(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.strategy.rollingUpdate: Forbidden: may not be specified '
                 "when strategy `type` is 'Recreate'",
                 "Deployment.apps web", ["FieldValueForbidden spec.strategy.rollingUpdate"])),
    Case("a percentage is digits and a sign", "POST deployments",
         deployment(strategy={"rollingUpdate": {"maxSurge": "many"}}),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.strategy.rollingUpdate.maxSurge: Invalid value: "many": a '
                 "valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
                 "regex used for validation is '[0-9]+%')",
                 "Deployment.apps web", ["FieldValueInvalid spec.strategy.rollingUpdate.maxSurge"])),
    Case("the progress deadline must exceed the minimum of ready seconds", "POST deployments",
         deployment(minReadySeconds=700),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.progressDeadlineSeconds: Invalid value: 600: must be '
                 "greater than minReadySeconds",
                 "Deployment.apps web", ["FieldValueInvalid spec.progressDeadlineSeconds"])),
    Case("a stateful set needs a selector that matches", "POST statefulsets",
         deployment(selector={"matchLabels": {"app": "other"}}, serviceName="s"),
         Refused(422, "Invalid",
                 'StatefulSet.apps "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"web"}: '
                 "`selector` does not match template `labels`",
                 "StatefulSet.apps web", ["FieldValueInvalid spec.template.metadata.labels"])),
    Case("a job's pods need a restart policy", "POST jobs",
         job(template={"spec": {"containers": [{"name": "m", "image": "x"}]}}),
         Refused(422, "Invalid",
                 'Job.batch "j" is invalid: spec.template.spec.restartPolicy: Required value: valid values: '
                 '"OnFailure", "Never"',
                 "Job.batch j", ["FieldValueRequired spec.template.spec.restartPolicy"])),
    Case("a job has no negative parallelism", "POST jobs", job(parallelism=-1),
         Refused(422, "Invalid",
                 'Job.batch "j" is invalid: spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
                 "Job.batch j", ["FieldValueInvalid spec.parallelism"])),
    Case("a cron job needs a schedule that can be read", "POST cronjobs",
         {"metadata": {"name": "c"}, "spec": {"schedule": "often", "jobTemplate": {"spec": job()["spec"]}}},
         Refused(422, "Invalid",
                 'CronJob.batch "c" is invalid: spec.schedule: Invalid value: "often": expected exactly 5 fields, '
                 "found 1: [often]",
                 "CronJob.batch c", ["FieldValueInvalid spec.schedule"])),
    Case("a cron job needs a schedule", "POST cronjobs",
         {"metadata": {"name": "c"}, "spec": {"jobTemplate": {"spec": job()["spec"]}}},
         Refused(422, "Invalid", 'CronJob.batch "c" is invalid: spec.schedule: Required value',
                 "CronJob.batch c", ["FieldValueRequired spec.schedule"])),
    Case("a cron job's name is at most 52 characters", "POST cronjobs",
         {"metadata": {"name": "x" * 53}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job()["spec"]}}},
         Refused(422, "Invalid",
                 'CronJob.batch "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is invalid: metadata.name: '
                 'Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": must be no more than 52 '
                 "characters",
                 "CronJob.batch xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                 ["FieldValueInvalid metadata.name"])),
    Case("a service needs ports", "POST services", {"metadata": {"name": "s"}, "spec": {}},
         Refused(422, "Invalid", 'Service "s" is invalid: spec.ports: Required value',
                 "Service s", ["FieldValueRequired spec.ports"])),
    Case("a port is between 1 and 65535", "POST services", service(ports=[{"port": 65536}]),
         Refused(422, "Invalid",
                 'Service "s" is invalid: [spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, '
                 "inclusive, spec.ports[0].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive]",
                 "Service s", ["FieldValueInvalid spec.ports[0].port", "FieldValueInvalid spec.ports[0].targetPort"])),
    Case("several ports need names", "POST services", service(ports=[{"port": 1}, {"port": 2}]),
         Refused(422, "Invalid",
                 'Service "s" is invalid: [spec.ports[0].name: Required value, spec.ports[1].name: Required value]',
                 "Service s", ["FieldValueRequired spec.ports[0].name", "FieldValueRequired spec.ports[1].name"])),
    Case("two ports may not have one name", "POST services",
         service(ports=[{"port": 1, "name": "x"}, {"port": 2, "name": "x"}]),
         Refused(422, "Invalid", 'Service "s" is invalid: spec.ports[1].name: Duplicate value: "x"',
                 "Service s", ["FieldValueDuplicate spec.ports[1].name"])),
    Case("a service has no type of that name", "POST services", service(type="Nope"),
         Refused(422, "Invalid",
                 'Service "s" is invalid: spec.type: Unsupported value: "Nope": supported values: "ClusterIP", '
                 '"ExternalName", "LoadBalancer", "NodePort"',
                 "Service s", ["FieldValueNotSupported spec.type"])),
    Case("a cluster address must be in the range", "POST services", service(clusterIP="192.168.7.7"),
         Refused(422, "Invalid",
                 'Service "s" is invalid: spec.clusterIPs: Invalid value: ["192.168.7.7"]: failed to allocate IP '
                 "192.168.7.7: the provided network does not match the current range",
                 "Service s", ["FieldValueInvalid spec.clusterIPs"])),
    Case("a cluster address must be an address", "POST services", service(clusterIP="here"),
         Refused(422, "Invalid",
                 'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: "here": must be a valid IP address, '
                 "(e.g. 10.9.8.7 or 2001:db8::ffff)",
                 "Service s", ["FieldValueInvalid spec.clusterIPs[0]"])),
    Case("a headless service has no cluster address", "POST services", service(clusterIP="None"),
         Shows(201, {"spec": {"clusterIP": "None", "clusterIPs": ["None"]}})),
    Case("an external name needs a name", "POST services",
         {"metadata": {"name": "s"}, "spec": {"type": "ExternalName"}},
         Refused(422, "Invalid", 'Service "s" is invalid: spec.externalName: Required value',
                 "Service s", ["FieldValueRequired spec.externalName"])),
    Case("an external name has no cluster address", "POST services",
         {"metadata": {"name": "s"}, "spec": {"type": "ExternalName", "externalName": "a.example"}},
         Shows(201, {"spec": {"clusterIP": None, "externalName": "a.example", "sessionAffinity": "None"}})),
    Case("a node port must be in the range", "POST services",
         service(type="NodePort", ports=[{"port": 80, "nodePort": 80}]),
         Refused(422, "Invalid",
                 'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the '
                 "valid range. The range of valid ports is 30000-32767",
                 "Service s", ["FieldValueInvalid spec.ports[0].nodePort"])),
    Case("a claim needs access modes and a size", "POST persistentvolumeclaims",
         {"metadata": {"name": "c"}, "spec": {}},
         Refused(422, "Invalid",
                 'PersistentVolumeClaim "c" is invalid: [spec.accessModes: Required value: at least 1 access mode '
                 "is required, spec.resources[storage]: Required value]",
                 "PersistentVolumeClaim c",
                 ["FieldValueRequired spec.accessModes", "FieldValueRequired spec.resources[storage]"])),
    Case("a claim's size is positive", "POST persistentvolumeclaims",
         {"metadata": {"name": "c"},
          "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}}},
         Refused(422, "Invalid",
                 'PersistentVolumeClaim "c" is invalid: spec.resources[storage]: Invalid value: "0": must be '
                 "greater than zero",
                 "PersistentVolumeClaim c", ["FieldValueInvalid spec.resources[storage]"])),
    Case("an ingress needs rules or a backend", "POST ingresses", {"metadata": {"name": "i"}, "spec": {}},
         Refused(422, "Invalid",
                 'Ingress.networking.k8s.io "i" is invalid: spec: Invalid value: null: either `defaultBackend` or '
                 "`rules` must be specified",
                 "Ingress.networking.k8s.io i", ["FieldValueInvalid spec"])),
    Case("an ingress' path needs a type", "POST ingresses",
         {"metadata": {"name": "i"}, "spec": {"rules": [{"host": "Bad Host", "http": {"paths": [
             {"path": "x", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}},
         Refused(422, "Invalid",
                 'Ingress.networking.k8s.io "i" is invalid: [spec.rules[0].host: Invalid value: "Bad Host": a '
                 "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
                 "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation "
                 "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), "
                 "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified]",
                 "Ingress.networking.k8s.io i",
                 ["FieldValueInvalid spec.rules[0].host", "FieldValueRequired spec.rules[0].http.paths[0].pathType"])),
    Case("an autoscaler needs a target and a maximum", "POST horizontalpodautoscalers",
         {"metadata": {"name": "h"}, "spec": {}},
         Refused(422, "Invalid",
                 'HorizontalPodAutoscaler.autoscaling "h" is invalid: [spec.maxReplicas: Required value: must be '
                 "set and greater than 0, spec.maxReplicas: Invalid value: 0: must be greater than or equal to "
                 "`minReplicas`, spec.scaleTargetRef.kind: Required value, spec.scaleTargetRef.name: Required "
                 'value, spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group]',
                 "HorizontalPodAutoscaler.autoscaling h",
                 ["FieldValueRequired spec.maxReplicas", "FieldValueInvalid spec.maxReplicas",
                  "FieldValueRequired spec.scaleTargetRef.kind", "FieldValueRequired spec.scaleTargetRef.name",
                  "FieldValueInvalid spec.scaleTargetRef.apiVersion"])),
    Case("a role needs verbs", "POST roles",
         {"metadata": {"name": "r"}, "rules": [{"resources": ["pods"], "apiGroups": [""]}]},
         Refused(422, "Invalid",
                 'Role.rbac.authorization.k8s.io "r" is invalid: rules[0].verbs: Required value: verbs must contain '
                 "at least one value",
                 "Role.rbac.authorization.k8s.io r", ["FieldValueRequired rules[0].verbs"])),
    Case("a role binding needs a role", "POST rolebindings", {"metadata": {"name": "r"}, "subjects": []},
         Refused(422, "Invalid",
                 'RoleBinding.rbac.authorization.k8s.io "r" is invalid: [roleRef.kind: Unsupported value: "": '
                 'supported values: "Role", "ClusterRole", roleRef.name: Required value]',
                 "RoleBinding.rbac.authorization.k8s.io r",
                 ["FieldValueNotSupported roleRef.kind", "FieldValueRequired roleRef.name"])),
    Case("a budget is a minimum or a maximum", "POST poddisruptionbudgets",
         {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "maxUnavailable": 1, "selector": {}}},
         Refused(422, "Invalid",
                 'PodDisruptionBudget.policy "b" is invalid: spec: Invalid value: '
                 '{"MinAvailable":1,"Selector":{},"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: '
                 "minAvailable and maxUnavailable cannot be both set",
                 "PodDisruptionBudget.policy b", ["FieldValueInvalid spec"])),
    Case("a lease's duration is positive", "POST leases",
         {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}},
         Refused(422, "Invalid",
                 'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be '
                 "greater than 0",
                 "Lease.coordination.k8s.io l", ["FieldValueInvalid spec.leaseDurationSeconds"])),
    Case("an environment variable needs a name", "POST pods", pod(container={"env": [{"value": "x"}]}),
         Refused(422, "Invalid", 'Pod "p" is invalid: spec.containers[0].env[0].name: Required value',
                 "Pod p", ["FieldValueRequired spec.containers[0].env[0].name"])),
    Case("an environment variable has one source", "POST pods",
         pod(container={"env": [{"name": "E", "value": "x",
                                "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified '
                 "when `value` is not empty",
                 "Pod p", ["FieldValueInvalid spec.containers[0].env[0].valueFrom"])),
    Case("a field reference names a field that there is", "POST pods",
         pod(container={"env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.color"}}}]}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: '
                 '"metadata.color": error converting fieldPath: field label not supported: metadata.color',
                 "Pod p", ["FieldValueInvalid spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"])),
    Case("a mount needs a volume", "POST pods", pod(container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]}),
         Refused(422, "Invalid", 'Pod "p" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "v"',
                 "Pod p", ["FieldValueNotFound spec.containers[0].volumeMounts[0].name"])),
    Case("two mounts may not have one path", "POST pods",
         pod(container={"volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v"}]},
             volumes=[{"name": "v", "emptyDir": {}}]),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/v": must be '
                 "unique",
                 "Pod p", ["FieldValueInvalid spec.containers[0].volumeMounts[1].mountPath"])),
    Case("a volume has one source", "POST pods",
         pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
                 "Pod p", ["FieldValueForbidden spec.volumes[0].hostPath"])),
    Case("a request may not exceed its limit", "POST pods",
         pod(container={"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than '
                 "or equal to cpu limit of 1",
                 "Pod p", ["FieldValueInvalid spec.containers[0].resources.requests"])),
    Case("a negative quantity is refused", "POST pods", pod(container={"resources": {"requests": {"cpu": "-1"}}}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be '
                 "greater than or equal to 0",
                 "Pod p", ["FieldValueInvalid spec.containers[0].resources.requests[cpu]"])),
    Case("an unknown resource is refused", "POST pods", pod(container={"resources": {"requests": {"wine": "1"}}}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: [spec.containers[0].resources.requests[wine]: Invalid value: "wine": must be '
                 "a standard resource type or fully qualified, spec.containers[0].resources.requests[wine]: Invalid "
                 'value: "wine": must be a standard resource for containers]',
                 "Pod p", ["FieldValueInvalid spec.containers[0].resources.requests[wine]",
                  "FieldValueInvalid spec.containers[0].resources.requests[wine]"])),
    Case("a container port is between 1 and 65535", "POST pods", pod(container={"ports": [{"containerPort": 0}]}),
         Refused(422, "Invalid", 'Pod "p" is invalid: spec.containers[0].ports[0].containerPort: Required value',
                 "Pod p", ["FieldValueRequired spec.containers[0].ports[0].containerPort"])),
    Case("a probe has one handler", "POST pods", pod(container={"livenessProbe": {}}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].livenessProbe: Required value: must specify a handler type',
                 "Pod p", ["FieldValueRequired spec.containers[0].livenessProbe"])),
    Case("a pull policy has one of three names", "POST pods", pod(container={"imagePullPolicy": "Sometimes"}),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported '
                 'values: "Always", "IfNotPresent", "Never"',
                 "Pod p", ["FieldValueNotSupported spec.containers[0].imagePullPolicy"])),
    Case("a restart policy has one of three names", "POST pods", pod(restartPolicy="Maybe"),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", '
                 '"OnFailure", "Never"',
                 "Pod p", ["FieldValueNotSupported spec.restartPolicy"])),
    Case("a pod's deadline is positive", "POST pods", pod(activeDeadlineSeconds=0),
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and '
                 "2147483647, inclusive",
                 "Pod p", ["FieldValueInvalid spec.activeDeadlineSeconds"])),
    Case("a pod's priority class must be there", "POST pods", pod(priorityClassName="nope"),
         Refused(403, "Forbidden", 'pods "p" is forbidden: no PriorityClass with name nope was found', "pods p")),
    Case("a secret of a type needs its keys", "POST secrets",
         {"metadata": {"name": "s"}, "type": "kubernetes.io/tls"},
         Refused(422, "Invalid",
                 'Secret "s" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]',
                 "Secret s", ["FieldValueRequired data[tls.crt]", "FieldValueRequired data[tls.key]"])),
    Case("a docker secret must hold JSON", "POST secrets",
         {"metadata": {"name": "s"}, "type": "kubernetes.io/dockerconfigjson",
          "stringData": {".dockerconfigjson": "x"}},
         Refused(422, "Invalid",
                 'Secret "s" is invalid: data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": '
                 "invalid character 'x' looking for beginning of value",
                 "Secret s", ["FieldValueInvalid data[.dockerconfigjson]"])),
    Case("a config map's keys have no slashes", "POST configmaps", config_map(data={"a/b": "x"}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: data[a/b]: Invalid value: "a/b": a valid config key must consist of '
                 "alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex "
                 "used for validation is '[-._a-zA-Z0-9]+')",
                 "ConfigMap a", ["FieldValueInvalid data[a/b]"])),
    Case("a key can't be text and bytes", "POST configmaps", config_map(data={"k": "x"}, binaryData={"k": "eA=="}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: data[k]: Invalid value: "k": duplicate of key present in binaryData',
                 "ConfigMap a", ["FieldValueInvalid data[k]"])),
    Case("a config map holds one mebibyte", "POST configmaps", config_map(data={"k": "x" * (1024 * 1024 + 1)}),
         Refused(422, "Invalid", 'ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes',
                 "ConfigMap a", ["FieldValueTooLong []"])),
]  # fmt: skip


@each(ANSWERED)
async def test_create(raw: Raw, case: Case) -> None:
    await case.check(raw)


# A wrong type is found when the body is read, before anything knows what the object is called.
UNREADABLE = [
    Case("text where a number belongs", "POST deployments", deployment(replicas="three"),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into '
                 "Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a fraction where a number belongs", "POST deployments", deployment(replicas=1.5),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 1.5 '
                 "into Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a number that is too large for its field", "POST deployments", deployment(replicas=2**31),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number '
                 "2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a number where text belongs", "POST configmaps", config_map(data={"k": 1}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go '
                 "struct field ConfigMap.data of type string")),
    Case("a list where an object belongs", "POST configmaps", config_map(data=[]),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go '
                 "struct field ConfigMap.data of type map[string]string")),
    Case("an object where a list belongs", "POST pods", {"metadata": {"name": "p"}, "spec": {"containers": {}}},
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal object into Go struct '
                 "field PodSpec.spec.containers of type []v1.Container")),
    Case("text that is no quantity", "POST pods", pod(container={"resources": {"requests": {"cpu": "lots"}}}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression '
                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")),
    Case("text that is no time", "POST configmaps", config_map(metadata={"creationTimestamp": "yesterday"}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: parsing time "yesterday" as '
                 '"2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"')),
    Case("a number that is no time", "POST configmaps", config_map(metadata={"creationTimestamp": 1}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go '
                 "struct field ObjectMeta.metadata.creationTimestamp of type string")),
    Case("text that is no base64", "POST secrets", {"metadata": {"name": "s"}, "data": {"k": "not base64!"}},
         Refused(400, "BadRequest",
                 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 3')),
    Case("a boolean in quotes", "POST configmaps", config_map(immutable="true"),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go '
                 "struct field ConfigMap.immutable of type bool")),
    Case("labels that are no text", "POST configmaps", config_map(metadata={"labels": {"a": True}}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal bool into Go '
                 "struct field ObjectMeta.metadata.labels of type string")),
    Case("a port that is neither number nor text", "POST services", service(ports=[{"port": 80, "targetPort": True}]),
         Refused(400, "BadRequest",
                 'Service in version "v1" cannot be handled as a Service: json: cannot unmarshal bool into Go '
                 "struct field ServicePort.spec.ports.targetPort of type int32")),
]  # fmt: skip


@each(UNREADABLE)
async def test_a_body_with_a_wrong_type_can_not_be_read(raw: Raw, case: Case) -> None:
    await case.check(raw)


NULLS = [
    Case("null is no value for a map", "POST configmaps", config_map(data=None), Shows(201, {"data": None})),
    Case("null is no value for a number with a default", "POST deployments", deployment(replicas=None),
         Shows(201, {"spec": {"replicas": 1}})),
    Case("null is an empty text in a map of texts", "POST configmaps", config_map(data={"k": None}),
         Shows(201, {"data": {"k": ""}})),
    Case("null metadata is no metadata", "POST configmaps", {"metadata": None},
         Refused(422, "Invalid",
                 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
                 "ConfigMap", ["FieldValueRequired metadata.name"])),
]  # fmt: skip


@each(NULLS)
async def test_null(raw: Raw, case: Case) -> None:
    await case.check(raw)


async def test_the_server_gives_uid_version_and_time(raw: Raw) -> None:
    meta = (await raw.ok("POST configmaps", config_map()))["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", meta["uid"])
    assert meta["resourceVersion"].isdecimal()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["creationTimestamp"])
    assert set(meta) == {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}


async def test_a_time_that_is_brought_along_is_replaced(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(metadata={"creationTimestamp": "2001-01-01T00:00:00Z"}))
    assert not made["metadata"]["creationTimestamp"].startswith("2001")


async def test_every_write_has_a_higher_version(raw: Raw) -> None:
    versions = [
        int((await raw.ok("POST configmaps", config_map(name)))["metadata"]["resourceVersion"]) for name in "abc"
    ]
    assert versions == sorted(set(versions))


async def test_a_dry_run_makes_nothing(raw: Raw) -> None:
    await raw.ok("POST configmaps?dryRun=All", config_map())
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_dry_run_of_what_exists_is_refused_all_the_same(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    assert (await raw("POST configmaps?dryRun=All", config_map())).refusal.reason == "AlreadyExists"


async def test_generate_name_adds_five_characters_without_vowels(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x-"}})
    assert re.fullmatch(r"x-[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])
    assert made["metadata"]["generateName"] == "x-"


async def test_a_name_wins_over_generate_name(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x-", "name": "a"}})
    assert made["metadata"]["name"] == "a"


async def test_generate_name_is_cut_so_that_the_name_fits_a_label(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", {"metadata": {"generateName": "x" * 70}})
    assert made["metadata"]["name"][:58] == "x" * 58
    assert len(made["metadata"]["name"]) == 63


async def test_secrets_read_string_data_and_never_show_it(raw: Raw) -> None:
    made = await raw.ok(
        "POST secrets", {"metadata": {"name": "s"}, "data": {"a": "eA=="}, "stringData": {"a": "y", "b": "z"}}
    )
    assert (made["data"], made["type"]) == ({"a": "eQ==", "b": "eg=="}, "Opaque")
    assert "stringData" not in made


async def test_a_deployment_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    assert made["spec"] == {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "nginx",
                        "resources": {},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                        "imagePullPolicy": "Always",
                    }
                ],
                "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30,
                "dnsPolicy": "ClusterFirst",
                "securityContext": {},
                "schedulerName": "default-scheduler",
            },
        },
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }
    assert made["status"] == {}


async def test_a_pod_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST pods", pod())
    assert made["spec"] == {
        "containers": [
            {
                "name": "main",
                "image": "nginx",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "Always",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
            {
                "key": "node.kubernetes.io/unreachable",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


async def test_a_service_is_filled_with_defaults_and_an_address(raw: Raw) -> None:
    made = await raw.ok("POST services", service())
    address = made["spec"].pop("clusterIP")
    assert made["spec"].pop("clusterIPs") == [address]
    assert address.startswith("10.0.")
    assert made["spec"] == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }
    assert made["status"] == {"loadBalancer": {}}


async def test_a_job_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST jobs", job())
    uid = made["metadata"]["uid"]
    labels = made["spec"]["template"].pop("metadata")["labels"]
    assert labels == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
    }
    assert made["spec"].pop("selector") == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert {key: value for key, value in made["spec"].items() if key != "template"} == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "manualSelector": False,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }


async def test_a_stateful_set_is_filled_with_defaults(raw: Raw) -> None:
    made = await raw.ok("POST statefulsets", deployment(serviceName="s"))
    assert without(without(made["spec"], "template"), "selector") == {
        "replicas": 1,
        "serviceName": "s",
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }


async def test_a_claim_is_filled_with_defaults(raw: Raw) -> None:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = await raw.ok("POST persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": wanted})
    assert made["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeMode": "Filesystem",
    }
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert made["status"] == {"phase": "Pending"}


async def test_two_services_can_not_have_one_address(raw: Raw) -> None:
    first = await raw.ok("POST services", service("a"))
    answer = await raw("POST services", service("b", clusterIP=first["spec"]["clusterIP"]))
    assert answer.refusal.message.replace(first["spec"]["clusterIP"], "ADDRESS") == (
        'Service "b" is invalid: spec.clusterIPs: Invalid value: ["ADDRESS"]: failed to allocate IP '
        "ADDRESS: provided IP is already allocated"
    )


QUANTITIES = [
    ("1000m", "1"), ("0.5", "500m"), ("1e3", "1e3"), ("0.1234", "124m"), ("1024Ki", "1Mi"),
    (2, "2"), ("1.5Gi", "1536Mi"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "shown"), QUANTITIES)
async def test_a_quantity_is_shown_in_its_canonical_form(raw: Raw, written: Any, shown: str) -> None:
    made = await raw.ok("POST pods", pod(container={"resources": {"limits": {"memory": written}}}))
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"memory": shown}


async def test_a_selector_can_not_be_chosen_for_a_job(raw: Raw) -> None:
    refusal = (await raw("POST jobs", job(selector={"matchLabels": {"a": "b"}}))).refusal
    assert re.sub(r'"[0-9a-f-]{36}"', "UID", refusal.message) == (
        'Job.batch "j" is invalid: [spec.selector: Invalid value: '
        '{"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":UID}}: `selector` not '
        "auto-generated, spec.template.metadata.labels: Invalid value: "
        '{"batch.kubernetes.io/controller-uid":UID,"batch.kubernetes.io/job-name":"j",'
        '"controller-uid":UID,"job-name":"j"}: '
        "`selector` does not match template `labels`]"
    )
    assert refusal.causes == ["FieldValueInvalid spec.selector", "FieldValueInvalid spec.template.metadata.labels"]


PLACES_AND_PRIORITIES = [
    Case(
        "nothing is checked in a namespace that is not there",
        "POST /api/v1/namespaces/nope/configmaps",
        config_map("BAD"),
        Refused(404, "NotFound", 'namespaces "nope" not found', "namespaces nope"),
    ),
    Case(
        "a version in what is created, in a dry run",
        "POST configmaps?dryRun=All",
        config_map(metadata={"resourceVersion": "5"}),
        Shows(201, {"metadata": {"name": "a", "resourceVersion": "5"}}),
    ),
    Case(
        "rules come before versions in what is created",
        "POST configmaps",
        config_map("BAD", metadata={"resourceVersion": "5"}),
        Refused(
            422,
            "Invalid",
            (
                'ConfigMap "BAD" is invalid: metadata.name: Invalid value: "BAD": a lowercase '
                "RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
                "'.', and must start and end with an alphanumeric character (e.g. 'example.com',"
                " regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ),
            "ConfigMap BAD",
            ["FieldValueInvalid metadata.name"],
        ),
    ),
    Case(
        "a priority that is not the class' own",
        "POST pods",
        pod(priority=5),
        Refused(
            403,
            "Forbidden",
            (
                'pods "p" is forbidden: the integer value of priority (5) must not be provided '
                "in pod spec; priority admission controller computed 0 from the given "
                "PriorityClass name"
            ),
            "pods p",
        ),
    ),
    Case(
        "a preemption that is not the class' own",
        "POST pods",
        pod(preemptionPolicy="Never"),
        Refused(
            403,
            "Forbidden",
            (
                'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be'
                " provided in pod spec; priority admission controller computed "
                "PreemptLowerPriority from the given PriorityClass name"
            ),
            "pods p",
        ),
    ),
    Case(
        "a system priority",
        "POST pods",
        pod(priorityClassName="system-node-critical"),
        Shows(201, {"spec": {"priority": 2000001000}}),
    ),
    # These node ports are some that a server gives only to who names them: see CELLS in test_representations.
    Case(
        "one port in two protocols shares a node port",
        "POST services",
        service(
            type="NodePort",
            ports=[{"name": "a", "port": 53, "nodePort": 30063}, {"name": "b", "port": 53, "protocol": "UDP"}],
        ),
        Shows(201, {"spec": {"ports": [{"nodePort": 30063}, {"nodePort": 30063}]}}),
    ),
    Case(
        "a node port for two ports",
        "POST services",
        service(
            type="NodePort",
            ports=[{"name": "a", "port": 1, "nodePort": 30064}, {"name": "b", "port": 2, "nodePort": 30064}],
        ),
        Refused(
            422,
            "Invalid",
            (
                'Service "s" is invalid: spec.ports[1].nodePort: Invalid value: 30064: provided '
                "port is already allocated"
            ),
            "Service s",
            ["FieldValueInvalid spec.ports[1].nodePort"],
        ),
    ),
    Case(
        "a node port that is taken",
        "POST services",
        service("t", type="NodePort", ports=[{"port": 80, "nodePort": 30065}]),
        Refused(
            422,
            "Invalid",
            (
                'Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 30065: provided '
                "port is already allocated"
            ),
            "Service t",
            ["FieldValueInvalid spec.ports[0].nodePort"],
        ),
        before=[("POST services", service(type="NodePort", ports=[{"port": 80, "nodePort": 30065}]))],
    ),
    Case(
        "files at one path",
        "POST pods",
        pod(
            volumes=[
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}},
                            {"configMap": {"name": "c", "items": [{"key": "k", "path": "a"}]}},
                        ]
                    },
                }
            ]
        ),
        Refused(
            422,
            "Invalid",
            ('Pod "p" is invalid: spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths'),
            "Pod p",
            ["FieldValueInvalid spec.volumes[0].projected"],
        ),
    ),
    Case(
        "a source range that is no network",
        "POST services",
        service(type="LoadBalancer", loadBalancerSourceRanges=["10.0.0.1/8"]),
        Refused(
            422,
            "Invalid",
            (
                'Service "s" is invalid: spec.LoadBalancerSourceRanges[0]: Invalid value: '
                '"10.0.0.1/8": must not have bits set beyond the prefix length'
            ),
            "Service s",
            ["FieldValueInvalid spec.LoadBalancerSourceRanges[0]"],
        ),
    ),
]


@each(PLACES_AND_PRIORITIES)
async def test_create_in_order(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_a_node_brings_its_status_along(raw: Raw) -> None:
    status = {"capacity": {"cpu": "2"}, "conditions": [{"type": "Ready", "status": "True"}]}
    made = await raw.ok("POST /api/v1/nodes", {"metadata": {"generateName": "node-"}, "status": status})
    assert made["status"]["capacity"] == made["status"]["allocatable"] == {"cpu": "2"}
    assert [(each["type"], each["status"]) for each in made["status"]["conditions"]] == [("Ready", "True")]
    assert [entry["fieldsV1"] for entry in made["metadata"]["managedFields"]] == [
        {"f:metadata": {"f:generateName": {}}}
    ]


async def test_some_lists_are_written_even_if_there_is_nothing_in_them(raw: Raw) -> None:
    limits: list[Thing] = [{}, {"limits": []}]
    for number, spec in enumerate(limits):
        made = await raw.ok("POST limitranges", {"metadata": {"name": f"l{number}"}, "spec": spec})
        assert made["spec"] == {"limits": None}
    volumes: list[Thing] = [{}, {"sources": []}]
    for number, projected in enumerate(volumes):
        made = await raw.ok("POST pods", pod(f"p{number}", volumes=[{"name": "v", "projected": projected}]))
        assert made["spec"]["volumes"] == [{"name": "v", "projected": {"sources": None, "defaultMode": 420}}]
        owned = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:volumes"]['k:{"name":"v"}']
        assert owned["f:projected"] == {".": {}, "f:defaultMode": {}, "f:sources": {}}
        labelled = {"metadata": {"labels": {"a": "b"}}}
        assert (await raw.ok(f"PATCH pods/p{number}", labelled, patch="merge"))["spec"] == made["spec"]
