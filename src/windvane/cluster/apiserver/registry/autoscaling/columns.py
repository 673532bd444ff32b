"""The columns of HorizontalPodAutoscalers, which are the same in both versions."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, quantity, read

# Where a metric's specification and its status are, by its type; and whether its name is shown.
METRICS = {
    "External": ("external", False),
    "Object": ("object", False),
    "Pods": ("pods", False),
    "Resource": ("resource", True),
    "ContainerResource": ("containerResource", True),
}


def _metric(spec: Wire, status: Wire) -> str:
    """One metric as `current/target`."""
    if spec.get("type") not in METRICS:
        return "<unknown type>"
    where, named = METRICS[spec["type"]]
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


HORIZONTAL_POD_AUTOSCALER = (
    NAME,
    Column("Reference", _reference),
    Column("Targets", _targets),
    Column("MinPods", _minimum),
    Column("MaxPods", field("spec.maxReplicas", 0)),
    Column("Replicas", field("status.currentReplicas", 0)),
    AGE,
)
