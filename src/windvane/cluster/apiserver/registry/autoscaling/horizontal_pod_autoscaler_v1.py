"""HorizontalPodAutoscaler of autoscaling/v1, which is stored as the one of v2."""

from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.registry.autoscaling.columns import HORIZONTAL_POD_AUTOSCALER
from windvane.cluster.apiserver.registry.autoscaling.conversion import (
    HorizontalPodAutoscaler,
    fill_percentage,
    to_v1,
    to_v2,
)
from windvane.cluster.apiserver.registry.autoscaling.validation import autoscaler
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import autoscaling


class HorizontalPodAutoscalerV1Strategy(BuiltinStrategy):
    """HorizontalPodAutoscaler."""

    model = HorizontalPodAutoscaler
    defaults = {"spec.minReplicas": 1, "status.currentReplicas": 0, "status.desiredReplicas": 0}
    columns = HORIZONTAL_POD_AUTOSCALER
    column_fields = {
        "Reference": "autoscaling.v2.HorizontalPodAutoscalerSpec.scaleTargetRef",
        "Targets": "autoscaling.v2.HorizontalPodAutoscalerSpec.metrics",
        "MinPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.minReplicas",
        "MaxPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.maxReplicas",
        "Replicas": "autoscaling.v2.HorizontalPodAutoscalerStatus.currentReplicas",
    }

    def set_defaults(self, obj: Wire) -> None:
        """Fill in what is absent."""
        fill_percentage(obj)

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check an object."""
        autoscaler(obj, problems)

    @property
    def stored_kind(self) -> Kind:
        """The one of v2."""
        return kind_of(autoscaling.HorizontalPodAutoscaler)

    def to_storage(self, wire: Wire) -> Wire:
        """In the form of v2."""
        return to_v2(wire)

    def from_storage(self, wire: Wire) -> Wire:
        """Out of the form of v2."""
        return to_v1(wire)
