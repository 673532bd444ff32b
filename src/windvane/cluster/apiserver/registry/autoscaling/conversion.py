"""HorizontalPodAutoscalers of autoscaling/v1, which are stored as those of v2 and can say less.

What only v2 can say is in annotations of v1, as JSON, so that nothing is lost on the way through it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from windvane.api.json_value import Wire
from windvane.api.markers import Int32
from windvane.api.resource import Object
from windvane.api.struct import Struct, field

PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, CURRENT, CONDITIONS, BEHAVIOR = (
    f"{PREFIX}{name}" for name in ("metrics", "current-metrics", "conditions", "behavior")
)
OURS = (METRICS, CURRENT, CONDITIONS, BEHAVIOR)
DEFAULT_PERCENTAGE = 80

# The name of a metric's part in both versions, by its type.
PARTS = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


class CrossVersionObjectReference(Struct, atomic=True):
    """What is scaled."""

    api_version: str | None = None
    kind: str
    name: str


class HorizontalPodAutoscalerSpec(Struct):
    """How far it is scaled, and when."""

    max_replicas: Int32
    min_replicas: Int32 | None = None
    scale_target_ref: CrossVersionObjectReference
    target_cpu_utilization_percentage: Int32 | None = field(default=None, name="targetCPUUtilizationPercentage")


class HorizontalPodAutoscalerStatus(Struct):
    """What was seen, and done about it."""

    current_cpu_utilization_percentage: Int32 | None = field(default=None, name="currentCPUUtilizationPercentage")
    current_replicas: Int32 = 0
    desired_replicas: Int32 = 0
    last_scale_time: datetime | None = None
    observed_generation: int | None = None


class HorizontalPodAutoscaler(
    Object,
    group="autoscaling",
    version="v1",
    plural="horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
):
    """The kind as autoscaling/v1 knows it."""

    spec: HorizontalPodAutoscalerSpec | None = None
    status: HorizontalPodAutoscalerStatus | None = None


def fill_percentage(older: Wire) -> None:
    """Say what one of v1 goes by that says nothing about that."""
    if not _read(older["metadata"].get("annotations") or {}, METRICS):
        older["spec"].setdefault("targetCPUUtilizationPercentage", DEFAULT_PERCENTAGE)


def to_v2(older: Wire) -> Wire:
    """An autoscaler of v1 in the form of v2."""
    metadata, annotations = _without_ours(older)
    spec, status = dict(older.get("spec") or {}), dict(older.get("status") or {})
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = [_to_v2(metric, "target") for metric in _read(annotations, METRICS) or ()]
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    spec["metrics"] = metrics
    if behavior := _read(annotations, BEHAVIOR):
        spec["behavior"] = _renamed(behavior, lambda name: name[:1].lower() + name[1:])
    seen = status.pop("currentCPUUtilizationPercentage", None)
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    status["currentMetrics"] = None
    if current := _read(annotations, CURRENT):
        status["currentMetrics"] = [_to_v2(metric, "current") for metric in current]
    elif seen is not None:
        used = {"name": "cpu", "current": {"averageUtilization": seen}}
        status["currentMetrics"] = [{"type": "Resource", "resource": used}]
    if conditions := _read(annotations, CONDITIONS):
        status["conditions"] = conditions
    return {**older, "metadata": metadata, "spec": spec, "status": status}


def to_v1(newer: Wire) -> Wire:
    """An autoscaler of v2 in the form of v1."""
    metadata, _ = _without_ours(newer)
    spec, status = dict(newer.get("spec") or {}), {"currentReplicas": 0} | (newer.get("status") or {})
    lossless: Wire = {}
    metrics = spec.pop("metrics", None) or []
    percentages = [percentage for metric in metrics if (percentage := _cpu(metric, "target")) is not None]
    if percentages:
        spec["targetCPUUtilizationPercentage"] = percentages[0]
    lossless[METRICS] = [_to_v1(metric, "target") for metric in metrics if _cpu(metric, "target") is None]
    current = status.pop("currentMetrics", None) or []
    for metric in current:
        if (seen := _cpu(metric, "current")) is not None:
            status["currentCPUUtilizationPercentage"] = seen
    lossless[CURRENT] = [_to_v1(metric, "current") for metric in current]
    if behavior := spec.pop("behavior", None):
        lossless[BEHAVIOR] = _renamed(behavior, lambda name: name[:1].upper() + name[1:])
    lossless[CONDITIONS] = status.pop("conditions", None) or []
    annotations = {name: msgspec.json.encode(value).decode() for name, value in lossless.items() if value}
    if annotations:
        metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    return {**newer, "metadata": metadata, "spec": spec, "status": status}


def _cpu(metric: Wire, word: str) -> int | None:
    """The part of the processors' time that a metric is about, if it is about that."""
    resource = metric.get("resource") or {}
    found: int | None = (resource.get(word) or {}).get("averageUtilization")
    return found if metric.get("type") == "Resource" and resource.get("name") == "cpu" else None


def _to_v1(metric: Wire, word: str) -> Wire:
    """A metric (`word` is target) or what was seen of it (current), as v1 writes it into an annotation."""
    part = PARTS.get(metric["type"], "")
    source = metric.get(part) or {}
    amounts, named = source.get(word) or {}, source.get("metric") or {}
    made: Wire
    match part:
        case "resource" | "containerResource":
            made = {"name": source.get("name"), "container": source.get("container")}
            made |= {f"{word}AverageUtilization": amounts.get("averageUtilization")}
            made |= {f"{word}AverageValue": amounts.get("averageValue")}
        case "pods":
            made = {"metricName": named.get("name"), "selector": named.get("selector")}
            made |= {f"{word}AverageValue": amounts.get("averageValue")}
        case "object":
            made = {"target": source.get("describedObject"), "metricName": named.get("name")}
            made |= {f"{word}Value": amounts.get("value", "0"), "averageValue": amounts.get("averageValue")}
            made |= {"selector": named.get("selector")}
        case _:
            made = {"metricName": named.get("name"), "metricSelector": named.get("selector")}
            made |= {f"{word}Value": amounts.get("value"), f"{word}AverageValue": amounts.get("averageValue")}
    return {"type": metric["type"], part: _but_none(made)}


def _to_v2(metric: Wire, word: str) -> Wire:
    """The way back."""
    part = PARTS.get(metric.get("type", ""), "")
    source = metric.get(part) or {}
    named = {"name": source.get("metricName"), "selector": source.get("selector") or source.get("metricSelector")}
    amounts = {
        "averageUtilization": source.get(f"{word}AverageUtilization"),
        "averageValue": source.get(f"{word}AverageValue") or source.get("averageValue"),
        "value": source.get(f"{word}Value"),
    }
    if part == "object" and amounts["averageValue"] is not None and amounts["value"] == "0":
        amounts["value"] = None  # v1 can't leave it out
    if word == "target":
        amounts["type"] = _target_type(part, amounts)
    made: Wire = {word: _but_none(amounts)}
    if part in ("resource", "containerResource"):
        made |= {"name": source.get("name"), "container": source.get("container")}
    else:
        made |= {"metric": _but_none(named), "describedObject": source.get("target")}
    return {"type": metric.get("type"), part: _but_none(made)}


def _target_type(part: str, amounts: Wire) -> str:
    if amounts["averageUtilization"] is not None:
        return "Utilization"
    if part == "object":
        return "Value" if amounts["averageValue"] is None else "AverageValue"
    return "AverageValue" if amounts["value"] is None else "Value"


def _without_ours(obj: Wire) -> tuple[Wire, Wire]:
    """The metadata without the annotations that v1 needs, and all annotations."""
    metadata, annotations = dict(obj["metadata"]), obj["metadata"].get("annotations") or {}
    kept = {name: value for name, value in annotations.items() if name not in OURS}
    metadata.pop("annotations", None)
    if kept:
        metadata["annotations"] = kept
    return metadata, annotations


def _read(annotations: Wire, name: str) -> Any:
    """What an annotation says; what can't be read says nothing."""
    try:
        return msgspec.json.decode(annotations.get(name, "null"))
    except msgspec.DecodeError:
        return None


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    """The same with other names: Go wrote the behavior into its annotation under the names of its own fields."""
    if isinstance(value, dict):
        return {rename(name): _renamed(inner, rename) for name, inner in value.items() if inner is not None}
    return [_renamed(item, rename) for item in value] if isinstance(value, list) else value


def _but_none(wire: Wire) -> Wire:
    return {name: value for name, value in wire.items() if value is not None}
