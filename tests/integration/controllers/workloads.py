"""Workloads for tests of the built-in controllers, each with a template of one container."""

from typing import Any

from windvane.api import codec
from windvane.k8s.apps import DaemonSet, Deployment, ReplicaSet
from windvane.k8s.batch import CronJob, Job
from windvane.k8s.core import Node, Pod, ReplicationController

LABELS = {"app": "web"}


def template(image: str = "web:1", labels: dict[str, str] | None = None) -> dict[str, Any]:
    """A pod template."""
    return {"metadata": {"labels": labels or LABELS}, "spec": {"containers": [{"name": "web", "image": image}]}}


def replicaset(replicas: int, **spec: Any) -> ReplicaSet:
    """A ReplicaSet `web`."""
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template()} | spec
    return codec.from_wire({"metadata": {"name": "web"}, "spec": spec}, ReplicaSet)


def replicationcontroller(replicas: int, **spec: Any) -> ReplicationController:
    """A ReplicationController `web`."""
    spec = {"replicas": replicas, "selector": LABELS, "template": template()} | spec
    return codec.from_wire({"metadata": {"name": "web"}, "spec": spec}, ReplicationController)


def pod(name: str, labels: dict[str, str] | None = None) -> Pod:
    """A pod that nobody looks after yet."""
    metadata = {"name": name, "labels": LABELS if labels is None else labels}
    return codec.from_wire({"metadata": metadata, "spec": template()["spec"]}, Pod)


def deployment(replicas: int, image: str = "web:1", **spec: Any) -> Deployment:
    """A Deployment `web`."""
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template(image)} | spec
    return codec.from_wire({"metadata": {"name": "web"}, "spec": spec}, Deployment)


def daemonset(image: str = "web:1", **spec: Any) -> DaemonSet:
    """A DaemonSet `web`."""
    spec = {"selector": {"matchLabels": LABELS}, "template": template(image)} | spec
    return codec.from_wire({"metadata": {"name": "web"}, "spec": spec}, DaemonSet)


def node(name: str, *taints: str, **labels: str) -> Node:
    """A node, with taints such as `gpu:NoSchedule`."""
    spec = {"taints": [dict(zip(("key", "effect"), each.split(":"), strict=True)) for each in taints]}
    return codec.from_wire({"metadata": {"name": name, "labels": labels}, "spec": spec}, Node)


def job(**spec: Any) -> Job:
    """A Job `work`, whose pods are not restarted."""
    made = template()
    made["spec"]["restartPolicy"] = spec.pop("restartPolicy", "Never")
    made["spec"] |= spec.pop("pod", {})
    return codec.from_wire({"metadata": {"name": "work"}, "spec": {"template": made} | spec}, Job)


def cronjob(schedule: str, **spec: Any) -> CronJob:
    """A CronJob `tick`, whose Jobs have the label and the annotation `by: tick`."""
    made = {"metadata": {"labels": {"by": "tick"}, "annotations": {"by": "tick"}}, "spec": {"template": template()}}
    made["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    spec = {"schedule": schedule, "jobTemplate": made} | spec
    return codec.from_wire({"metadata": {"name": "tick"}, "spec": spec}, CronJob)
