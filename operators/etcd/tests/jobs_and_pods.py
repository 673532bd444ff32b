"""Jobs and pods as they look at some moment, for functions that only look."""

from datetime import datetime, timedelta
from typing import Any

from etcd_operator import backups
from etcd_operator.api import EtcdCluster
from windvane import object_from_wire
from windvane.k8s import batch, core


def cluster(**spec: Any) -> EtcdCluster:
    """An EtcdCluster."""
    content = {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {
            "name": "prod",
            "namespace": "db",
            "uid": "u-1",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"version": "3.5.1", "storageSize": "10Gi", "backupSchedule": "0 2 * * *", **spec},
    }
    return object_from_wire(content, EtcdCluster)


def job(name: str, verdict: str = "", *, at: datetime | None = None, message: str = "") -> batch.Job:
    """A Job that takes a snapshot of prod: it runs, or came to a verdict a minute after it had begun."""
    made = backups.job_for(cluster(), name=name, purpose="scheduled")
    made.metadata.uid = f"uid-of-{name}"
    if verdict and at is not None:
        made.status.start_time = at - timedelta(minutes=1)
        made.status.completion_time = at if verdict == "Complete" else None
        condition = batch.JobCondition(type=verdict, status="True", last_transition_time=at, message=message)
        made.status.conditions = [condition]
    return made


def pod(of: batch.Job, phase: str, *, number: int = 0, conditions: Any = (), **containers: Any) -> core.Pod:
    """A pod of a Job, with the state of each container that has one."""

    def status(name: str, state: Any) -> dict[str, Any]:
        return {"name": name, "image": "", "imageID": "", "ready": False, "restartCount": 0, "state": state}

    content = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{of.metadata.name}-{number}",
            "namespace": "db",
            "creationTimestamp": f"2026-01-02T02:00:0{number}Z",
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "", "uid": of.metadata.uid}],
        },
        "spec": {"containers": [{"name": "keep"}]},
        "status": {
            "phase": phase,
            "conditions": list(conditions),
            "initContainerStatuses": [status(*each) for each in containers.items() if each[0] != "keep"],
            "containerStatuses": [status(*each) for each in containers.items() if each[0] == "keep"],
        },
    }
    return object_from_wire(content, core.Pod)


def ended(code: int, message: str = "", reason: str = "") -> dict[str, Any]:
    """The state of a container that has ended."""
    return {"terminated": {"exitCode": code, "message": message, "reason": reason}}
