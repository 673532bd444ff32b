"""The strategy of HorizontalPodAutoscaler of autoscaling/v1, which is stored as the one of v2."""

from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.registry.autoscaling.conversion import (
    HorizontalPodAutoscaler,
    fill_percentage,
    to_v1,
    to_v2,
)
from windvane.cluster.apiserver.registry.autoscaling.horizontal_pod_autoscaler import HorizontalPodAutoscalerStrategy
from windvane.k8s import autoscaling


class HorizontalPodAutoscalerV1Strategy(HorizontalPodAutoscalerStrategy):
    """What differs in v1; columns and rules are those of v2."""

    model = HorizontalPodAutoscaler
    defaults = {"spec.minReplicas": 1, "status.currentReplicas": 0, "status.desiredReplicas": 0}

    def set_defaults(self, obj: Wire) -> None:
        fill_percentage(obj)

    @property
    def stored_kind(self) -> Kind:
        return kind_of(autoscaling.HorizontalPodAutoscaler)

    def to_storage(self, wire: Wire) -> Wire:
        return to_v2(wire)

    def from_storage(self, wire: Wire) -> Wire:
        return to_v1(wire)
