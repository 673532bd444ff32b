"""What the API server fills into what runs pods: templates, strategies, limits and the rest of their specs."""

from copy import deepcopy
from typing import Any

from windvane.cluster.apiserver.builtin.filling import fill, fill_path, fill_zero
from windvane.cluster.apiserver.builtin.pod_defaults import claim_spec, pod_spec

Json = dict[str, Any]

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _template(template: Json) -> None:
    template.setdefault("metadata", {})
    pod_spec(template.setdefault("spec", {}))


def replication_controller(obj: Json) -> None:
    """Fill a ReplicationController: its selector and its own labels follow from its template."""
    spec = obj["spec"]
    if "template" in spec:
        _template(spec["template"])
        if labels := spec["template"]["metadata"].get("labels"):
            fill_zero(spec, "selector", dict(labels))
            fill_zero(obj.setdefault("metadata", {}), "labels", dict(labels))


def pod_template(obj: Json) -> None:
    """Fill a PodTemplate."""
    _template(obj.setdefault("template", {}))


def _rolling_update(strategy: Json, **defaults: Any) -> None:
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        for field, value in defaults.items():
            fill(rolling, field, value)


def deployment(obj: Json) -> None:
    """Fill a Deployment."""
    _rolling_update(obj["spec"]["strategy"], maxUnavailable="25%", maxSurge="25%")
    _template(obj["spec"].setdefault("template", {}))


def daemon_set(obj: Json) -> None:
    """Fill a DaemonSet. How often its template has changed is not for its author to say, but it is always said."""
    obj["metadata"].setdefault("annotations", {}).setdefault(TEMPLATE_GENERATION, "0")
    _rolling_update(obj["spec"]["updateStrategy"], maxUnavailable=1, maxSurge=0)
    _template(obj["spec"].setdefault("template", {}))


def replica_set(obj: Json) -> None:
    """Fill a ReplicaSet."""
    _template(obj["spec"].setdefault("template", {}))


def stateful_set(obj: Json) -> None:
    """Fill a StatefulSet."""
    spec = obj["spec"]
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if "rollingUpdate" in strategy:
        _rolling_update(strategy, partition=0)
    _template(spec.setdefault("template", {}))
    for claim in spec.get("volumeClaimTemplates") or ():
        claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        claim.setdefault("metadata", {})
        claim_spec(claim.setdefault("spec", {}))
        fill_path(claim, "status.phase", "Pending")


def _job_spec(spec: Json) -> None:
    _template(spec.setdefault("template", {}))


def job(obj: Json) -> None:
    """Fill a Job."""
    spec = obj["spec"]
    if "parallelism" not in spec:
        spec["parallelism"] = 1
        spec.setdefault("completions", 1)
    spec.setdefault("backoffLimit", 6 if "backoffLimitPerIndex" not in spec else 2**31 - 1)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    for rule in spec.get("podFailurePolicy", {}).get("rules") or ():
        for condition in rule.get("onPodConditions") or ():
            fill(condition, "status", "True")
    _job_spec(spec)
    if labels := spec["template"]["metadata"].get("labels"):
        # Not a copy, as in Go: the labels that a new job's pods get later are the job's own too.
        fill_zero(obj.setdefault("metadata", {}), "labels", labels)


def cron_job(obj: Json) -> None:
    """Fill a CronJob."""
    template = obj["spec"].setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    _job_spec(template.setdefault("spec", {}))


_SCALE_UP_POLICIES = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)
_SCALE_DOWN_POLICIES = ({"type": "Percent", "value": 100, "periodSeconds": 15},)


def autoscaler(obj: Json) -> None:
    """Fill a HorizontalPodAutoscaler."""
    spec = obj["spec"]
    target = {"type": "Utilization", "averageUtilization": 80}
    fill_zero(spec, "metrics", [{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
    if "behavior" in spec:
        up = spec["behavior"].setdefault("scaleUp", {})
        up.setdefault("stabilizationWindowSeconds", 0)
        up.setdefault("policies", deepcopy(list(_SCALE_UP_POLICIES)))
        down = spec["behavior"].setdefault("scaleDown", {})
        down.setdefault("policies", deepcopy(list(_SCALE_DOWN_POLICIES)))
        for rules in (up, down):
            rules.setdefault("selectPolicy", "Max")
