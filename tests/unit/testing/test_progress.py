"""What is still under way in a cluster, as far as its objects tell."""

from typing import Any

import pytest

from windvane.testing.progress import under_way


def thing(kind: str, *, spec: Any = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "web", **meta}, "spec": spec or {}, "status": status or {}}


def pod(phase: str, *, ready: str = "", waiting: str | None = None, reason: str = "") -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}] if ready else []
    if reason:
        conditions.append({"type": "PodScheduled", "status": "False", "reason": reason})
    states = [] if waiting is None else [{"state": {"waiting": {"reason": waiting}}}]
    return thing("Pod", status={"phase": phase, "conditions": conditions, "containerStatuses": states})


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (thing("ConfigMap"), ""),
        (thing("ConfigMap", deletionTimestamp="2030-01-01T00:00:00Z"), "ConfigMap web is being deleted"),
        (pod("Pending"), "Pod web has yet to start"),
        (pod("Pending", waiting="ContainerCreating"), "Pod web has yet to start"),
        (pod("Pending", waiting="ErrImagePull"), ""),
        (pod("Pending", reason="Unschedulable"), ""),
        (pod("Running"), "Pod web is not ready"),
        (pod("Running", ready="False"), "Pod web is not ready"),
        (pod("Running", ready="True"), ""),
        (pod("Succeeded"), ""),
        (pod("Failed", ready="False"), ""),
        (
            thing("Site", generation=2, status={"observedGeneration": 1}),
            "the latest change of Site web has not been seen",
        ),
        (thing("Site", generation=2, status={"observedGeneration": 2}), ""),
        (thing("Site", generation=2), ""),  # it has no controller that would say so
        (thing("Deployment", generation=1), "the latest change of Deployment web has not been seen"),
        (thing("Deployment", spec={"replicas": 2}, status={"replicas": 1}), "Deployment web has 1 of 2 pods"),
        (thing("ReplicaSet", status={"replicas": 1}), "ReplicaSet web has 0 of 1 pods ready"),
        (thing("StatefulSet", spec={"replicas": 2}, status={"replicas": 2, "readyReplicas": 2}), ""),
        (thing("Deployment", spec={"replicas": 0}), ""),
        (thing("DaemonSet", status={"desiredNumberScheduled": 2, "currentNumberScheduled": 2}), "0 of 2 pods ready"),
        (thing("DaemonSet", generation=1, status={"observedGeneration": 1}), ""),
    ],
)
def test_what_is_still_to_come_is_told(there: dict[str, Any], words: str) -> None:
    told = under_way(there)
    assert words in told
    assert bool(told) == bool(words)
