"""HorizontalPodAutoscaler."""

from copy import deepcopy

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.autoscaling.columns import HORIZONTAL_POD_AUTOSCALER
from windvane.cluster.apiserver.registry.autoscaling.validation import autoscaler
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill_zero
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import autoscaling

_SCALE_UP_POLICIES = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)
_SCALE_DOWN_POLICIES = ({"type": "Percent", "value": 100, "periodSeconds": 15},)


class HorizontalPodAutoscalerStrategy(BuiltinStrategy):
    """HorizontalPodAutoscaler."""

    model = autoscaling.HorizontalPodAutoscaler
    defaults = {"spec.minReplicas": 1, "status.currentMetrics": None, "status.desiredReplicas": 0}
    columns = HORIZONTAL_POD_AUTOSCALER
    column_fields = {
        "Reference": "autoscaling.v2.HorizontalPodAutoscalerSpec.scaleTargetRef",
        "Targets": "autoscaling.v2.HorizontalPodAutoscalerSpec.metrics",
        "MinPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.minReplicas",
        "MaxPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.maxReplicas",
        "Replicas": "autoscaling.v2.HorizontalPodAutoscalerStatus.currentReplicas",
    }

    def set_defaults(self, obj: Wire) -> None:
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

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check an object."""
        autoscaler(obj, problems)
