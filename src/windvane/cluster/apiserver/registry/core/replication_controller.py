"""The strategy of ReplicationController."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.selector import Selector
from windvane.cluster.apiserver.columns.column import AGE, NAME, containers, integer, labels, wide
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import named_workload_warnings
from windvane.cluster.apiserver.registry.core.pod.validation import UNMATCHED, always_restarted, template
from windvane.cluster.apiserver.registry.defaults import fill_zero
from windvane.cluster.apiserver.registry.scale import ScaleStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.selector import sorted_map
from windvane.k8s import core


class ReplicationControllerScaleStrategy(ScaleStrategy):
    """Its selector is a map of labels, which is older than label selectors."""

    def selector(self, obj: Wire) -> str:
        return str(Selector.of(obj.get("spec", {}).get("selector") or {}))


class ReplicationControllerStrategy(BuiltinStrategy):
    model = core.ReplicationController
    has_generation = True
    default_propagation = "Orphan"  # it is older than garbage collection
    selectable_fields = ("status.replicas",)
    unset_fields = {"status.replicas": "0"}
    defaults = {"spec.replicas": 1, "status.replicas": 0}
    columns = (
        NAME,
        integer("Desired", "spec.replicas"),
        integer("Current", "status.replicas"),
        integer("Ready", "status.readyReplicas"),
        AGE,
        *containers("spec.template.spec.containers"),
        wide("Selector", labels("spec.selector")),
    )
    column_fields = {
        "Desired": "core.v1.ReplicationControllerSpec.replicas",
        "Current": "core.v1.ReplicationControllerStatus.replicas",
        "Ready": "core.v1.ReplicationControllerStatus.readyReplicas",
        "Selector": "core.v1.ReplicationControllerSpec.selector",
    }
    scale = ReplicationControllerScaleStrategy()

    def set_defaults(self, obj: Wire) -> None:
        """Default the selector and the labels to those of the template."""
        spec = obj["spec"]
        if "template" in spec:
            default_template(spec["template"])
            if labels := spec["template"]["metadata"].get("labels"):
                fill_zero(spec, "selector", dict(labels))
                fill_zero(obj.setdefault("metadata", {}), "labels", dict(labels))

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        problems.not_negative("spec.replicas", spec.get("replicas"))
        problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
        selector = spec.get("selector") or {}
        if not selector:
            problems.required("spec.selector")
        if "template" not in spec:
            problems.required("spec.template")
            return
        found = spec["template"]["metadata"].get("labels") or {}
        if selector and not selector.items() <= found.items():
            problems.invalid("spec.template.metadata.labels", sorted_map(found), UNMATCHED)
        template(spec["template"], "spec.template", problems)
        always_restarted(spec, "ReplicationController", problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        yield from named_workload_warnings(obj, old)
