"""Rules for HorizontalPodAutoscalers, which are told in the words of v2 in both versions."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.registry.autoscaling.conversion import to_v2
from windvane.cluster.apiserver.registry.validation.problems import Problems

_CORE_TARGETS = ("ReplicationController",)
METRICS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_ONE_TARGET = "must set either a target raw value or a target utilization"


def autoscaler(obj: Wire, problems: Problems) -> None:
    """Check a HorizontalPodAutoscaler; what is wrong with one of v1 is told in the words of v2."""
    # One without metrics is of v1: those of v2 have been given some by default.
    spec = (obj if "metrics" in obj["spec"] else to_v2(obj))["spec"]
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and least < 1:
        problems.invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        problems.required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        problems.invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        problems.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef", {})
    for field in ("kind", "name"):
        if not target.get(field):
            problems.required(f"spec.scaleTargetRef.{field}")
        else:
            problems.all_invalid(f"spec.scaleTargetRef.{field}", target[field], path_segment_problems(target[field]))
    if target.get("kind") not in _CORE_TARGETS and "/" not in target.get("apiVersion", ""):
        problems.invalid(
            "spec.scaleTargetRef.apiVersion", target.get("apiVersion", ""), "apiVersion must specify API group"
        )
    metrics = spec.get("metrics") or []
    for index, metric in enumerate(metrics):
        _metric(metric, f"spec.metrics[{index}]", problems)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        rule = "must specify at least one Object or External metric to support scaling to zero replicas"
        problems.forbidden("spec.metrics", rule)
    for direction in ("scaleUp", "scaleDown"):
        if rules := (spec.get("behavior") or {}).get(direction):
            _scaling_rules(rules, f"spec.behavior.{direction}", problems)


def _metric(metric: Wire, path: str, problems: Problems) -> None:
    sort = metric.get("type")
    if not sort:
        problems.required(f"{path}.type", "must specify a metric source type")
    if sort not in METRICS:
        problems.unsupported(f"{path}.type", sort or "", tuple(sorted(METRICS)))
    given = [name for name in METRICS.values() if name in metric]
    if given and "target" in metric[given[0]]:
        _metric_target(metric[given[0]]["target"], f"{path}.{given[0]}.target", problems)
    if sort not in METRICS:
        problems.unsupported(f"{path}.type", sort or "", tuple(sorted(METRICS)))
    elif METRICS[sort] not in given:
        problems.required(f"{path}.{METRICS[sort]}", "must populate information for the given metric source")
    for name in given:
        if len(given) > 1 and name != METRICS.get(sort or ""):
            problems.forbidden(f"{path}.{name}", "must populate the given metric source only")


def _metric_target(target: Wire, path: str, problems: Problems) -> None:
    if not any(field in target for field in ("value", "averageValue", "averageUtilization")):
        problems.required(f"{path}.averageUtilization", _ONE_TARGET)
    for field in ("value", "averageValue"):
        if field in target and Quantity(target[field]) <= Quantity(0):
            problems.invalid(f"{path}.{field}", target[field], "must be positive")
    if (percentage := target.get("averageUtilization")) is not None and percentage < 1:
        problems.invalid(f"{path}.averageUtilization", percentage, "must be greater than 0")


def _scaling_rules(rules: Wire, path: str, problems: Problems) -> None:
    window = rules.get("stabilizationWindowSeconds")
    problems.not_negative(f"{path}.stabilizationWindowSeconds", window)
    if window is not None and window > 3600:
        problems.invalid(f"{path}.stabilizationWindowSeconds", window, "must be less than or equal to 3600")
    if rules.get("selectPolicy") not in ("Disabled", "Max", "Min"):
        problems.unsupported(f"{path}.selectPolicy", rules.get("selectPolicy"), ("Disabled", "Max", "Min"))
    if not rules.get("policies"):
        problems.required(f"{path}.policies", "must specify at least one Policy")
