"""HorizontalPodAutoscalers are the same in both versions of their group; what v1 can't say it keeps in annotations."""

import json
from typing import Any

from conformance.requests import Raw

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
MEMORY = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}
ANNOTATION = "autoscaling.alpha.kubernetes.io/"


def place(raw: Raw, version: str, name: str = "") -> str:
    return f"/apis/autoscaling/{version}/namespaces/{raw.namespace}/horizontalpodautoscalers{name and '/'}{name}"


def cpu(percentage: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percentage}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


async def test_what_v1_can_not_say_is_in_annotations_and_not_lost(raw: Raw) -> None:
    requests = {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Service", "name": "web", "apiVersion": "v1"},
            "metric": {"name": "requests", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "Value", "value": "10"},
        },
    }
    queue = {
        "type": "External",
        "external": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "5"}},
    }
    packets = {
        "type": "Pods",
        "pods": {"metric": {"name": "packets"}, "target": {"type": "AverageValue", "averageValue": "1k"}},
    }
    metrics = [cpu(50), MEMORY, requests, queue, packets]
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3, "metrics": metrics, "behavior": behavior}
    newer = await raw.ok(f"POST {place(raw, 'v2')}", {"metadata": {"name": "web"}, "spec": spec})
    older = await raw.ok(f"GET {place(raw, 'v1', 'web')}")
    assert older["spec"]["targetCPUUtilizationPercentage"] == 50
    told = {name: json.loads(value) for name, value in older["metadata"]["annotations"].items()}
    assert told[f"{ANNOTATION}metrics"] == [
        {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
        {
            "type": "Object",
            "object": {
                "target": {"kind": "Service", "name": "web", "apiVersion": "v1"},
                "metricName": "requests",
                "targetValue": "10",
                "selector": {"matchLabels": {"a": "b"}},
            },
        },
        {"type": "External", "external": {"metricName": "queue", "targetAverageValue": "5"}},
        {"type": "Pods", "pods": {"metricName": "packets", "targetAverageValue": "1k"}},
    ]
    assert told[f"{ANNOTATION}behavior"]["ScaleDown"]["StabilizationWindowSeconds"] == 60
    older["spec"]["maxReplicas"] = 5
    await raw.ok(f"PUT {place(raw, 'v1', 'web')}", older)
    again = await raw.ok(f"GET {place(raw, 'v2', 'web')}")
    assert again["spec"]["maxReplicas"] == 5
    assert again["spec"]["behavior"] == newer["spec"]["behavior"]
    assert sorted(again["spec"]["metrics"], key=str) == sorted(newer["spec"]["metrics"], key=str)
    assert "annotations" not in again["metadata"]


async def test_both_versions_have_the_same_columns(raw: Raw) -> None:
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
    await raw.ok(f"POST {place(raw, 'v1')}", {"metadata": {"name": "web"}, "spec": spec})
    table = "application/json;as=Table;g=meta.k8s.io;v=v1"
    older, newer = [(await raw.ok(f"GET {place(raw, version)}", accept=table))["rows"] for version in ("v1", "v2")]
    assert older[0]["cells"][:6] == newer[0]["cells"][:6]
