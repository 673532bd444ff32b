"""The strategy of HorizontalPodAutoscaler."""

from copy import deepcopy

from windvane.api.json_value import Wire
from windvane.api.resource import Object
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, quantity, read
from windvane.cluster.apiserver.registry.autoscaling.validation import autoscaler as validate_autoscaler
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill_zero
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import autoscaling

_SCALE_UP_POLICIES = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)
_SCALE_DOWN_POLICIES = ({"type": "Percent", "value": 100, "periodSeconds": 15},)
# Where a metric's specification and its status are, by its type; and whether its name is shown.
_SHOWN_METRICS = {
    "External": ("external", False),
    "Object": ("object", False),
    "Pods": ("pods", False),
    "Resource": ("resource", True),
    "ContainerResource": ("containerResource", True),
}


def _targets(autoscaler: Wire) -> str:
    specs, statuses = items(autoscaler, "spec.metrics"), items(autoscaler, "status.currentMetrics")
    shown = [_metric(spec, statuses[i] if i < len(statuses) else {}) for i, spec in enumerate(specs)]
    text = ", ".join(shown[:2]) or "<none>"
    return f"{text} + {len(shown) - 2} more..." if len(shown) > 2 else text


def _reference(autoscaler: Wire) -> str:
    target = read(autoscaler, "spec.scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _minimum(autoscaler: Wire) -> str:
    return str(field("spec.minReplicas", "<unset>")(autoscaler))


class HorizontalPodAutoscalerStrategy(BuiltinStrategy):
    model: type[Object] = autoscaling.HorizontalPodAutoscaler
    defaults = {"spec.minReplicas": 1, "status.currentMetrics": None, "status.desiredReplicas": 0}
    columns = (
        NAME,
        Column("Reference", _reference),
        Column("Targets", _targets),
        Column("MinPods", _minimum),
        Column("MaxPods", field("spec.maxReplicas", 0)),
        Column("Replicas", field("status.currentReplicas", 0)),
        AGE,
    )
    column_fields = {
        "Reference": "autoscaling.v2.HorizontalPodAutoscalerSpec.scaleTargetRef",
        "Targets": "autoscaling.v2.HorizontalPodAutoscalerSpec.metrics",
        "MinPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.minReplicas",
        "MaxPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.maxReplicas",
        "Replicas": "autoscaling.v2.HorizontalPodAutoscalerStatus.currentReplicas",
    }

    def set_defaults(self, obj: Wire) -> None:
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

    def validate(self, obj: Wire, problems: Problems) -> None:
        validate_autoscaler(obj, problems)


def _metric(spec: Wire, status: Wire) -> str:
    """One metric as `current/target`."""
    if spec.get("type") not in _SHOWN_METRICS:
        return "<unknown type>"
    where, named = _SHOWN_METRICS[spec["type"]]
    source, seen = spec.get(where) or {}, status.get(where)
    target, current = source.get("target") or {}, (seen or {}).get("current") or {}
    average = target.get("averageValue")
    if named and average is None:
        shown = f"{_percent(current, '<unknown>')}/{_percent(target, '<auto>')}"
    elif named or where == "pods":
        shown = f"{_amount(seen, current, 'averageValue')}/{quantity(average, '<nil>')}"
    elif average is not None:
        shown = f"{quantity(current.get('averageValue'), '<unknown>')}/{quantity(average)} (avg)"
    else:
        shown = f"{_amount(seen, current, 'value')}/{quantity(target.get('value'), '<nil>')}"
    return f"{source.get('name', '')}: {shown}" if named else shown


def _amount(seen: Wire | None, current: Wire, name: str) -> str:
    return "<unknown>" if seen is None else quantity(current.get(name), "<nil>")


def _percent(value: Wire, missing: str) -> str:
    utilization = value.get("averageUtilization")
    return missing if utilization is None else f"{utilization}%"
