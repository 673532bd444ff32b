"""The strategy of Scale."""

from windvane.cluster.apiserver.columns.column import AGE, Column, field, integer
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import autoscaling


class ScaleStrategy(BuiltinStrategy):
    model = autoscaling.Scale
    has_path = False
    columns = (
        Column("Name", field("metadata.name")),
        integer("Desired", "spec.replicas"),
        integer("Available", "status.replicas"),
        AGE,
    )
