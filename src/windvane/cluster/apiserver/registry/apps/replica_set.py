"""The strategy of ReplicaSet."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, containers, integer, selector, wide
from windvane.cluster.apiserver.registry.apps.validation import changed_selector, selected_template
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import named_workload_warnings
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.replica_counts import available_are_ready, replica_counts
from windvane.k8s import apps


class ReplicaSetStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        fields = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
        replica_counts(obj, fields, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), problems)
        available_are_ready(obj, "cannot be greater than readyReplicas", problems)


class ReplicaSetStrategy(BuiltinStrategy):
    model = apps.ReplicaSet
    has_generation = True
    defaults = {"spec.replicas": 1, "status.replicas": 0}
    columns = (
        NAME,
        integer("Desired", "spec.replicas"),
        integer("Current", "status.replicas"),
        integer("Ready", "status.readyReplicas"),
        AGE,
        *containers("spec.template.spec.containers"),
        wide("Selector", selector("spec.selector")),
    )
    column_fields = {
        "Desired": "apps.v1.ReplicaSetSpec.replicas",
        "Current": "apps.v1.ReplicaSetStatus.replicas",
        "Ready": "apps.v1.ReplicaSetStatus.readyReplicas",
        "Selector": "apps.v1.ReplicaSetSpec.selector",
    }
    status = ReplicaSetStatusStrategy()

    def set_defaults(self, obj: Wire) -> None:
        default_template(obj["spec"].setdefault("template", {}))

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        problems.not_negative("spec.replicas", spec.get("replicas"))
        problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
        selected_template(spec, "deployment", problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        changed_selector(obj, old, problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        yield from named_workload_warnings(obj, old)
