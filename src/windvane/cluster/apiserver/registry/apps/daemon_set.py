"""The strategy of DaemonSet."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, containers, integer, labels, selector, wide
from windvane.cluster.apiserver.registry.apps.validation import changed_selector, rolling_update
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.validation import UNMATCHED, always_restarted, template
from windvane.cluster.apiserver.registry.core.pod.warnings import pod_warnings
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.int_or_percent import at_most_all, int_or_percent, number
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.replica_counts import replica_counts
from windvane.cluster.apiserver.registry.validation.selector import matches, sorted_map
from windvane.k8s import apps

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


class DaemonSetStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        fields = (
            "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
            "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
        )  # fmt: skip
        replica_counts(obj, fields, (), problems)


class DaemonSetStrategy(BuiltinStrategy):
    model = apps.DaemonSet
    has_generation = True
    defaults = {
        "spec.revisionHistoryLimit": 10,
        "spec.updateStrategy.type": "RollingUpdate",
        "status.currentNumberScheduled": 0,
        "status.desiredNumberScheduled": 0,
        "status.numberMisscheduled": 0,
        "status.numberReady": 0,
    }
    columns = (
        NAME,
        integer("Desired", "status.desiredNumberScheduled"),
        integer("Current", "status.currentNumberScheduled"),
        integer("Ready", "status.numberReady"),
        integer("Up-to-date", "status.updatedNumberScheduled"),
        integer("Available", "status.numberAvailable"),
        Column("Node Selector", labels("spec.template.spec.nodeSelector")),
        AGE,
        *containers("spec.template.spec.containers"),
        wide("Selector", selector("spec.selector")),
    )
    column_fields = {
        "Desired": "apps.v1.DaemonSetStatus.desiredNumberScheduled",
        "Current": "apps.v1.DaemonSetStatus.currentNumberScheduled",
        "Ready": "apps.v1.DaemonSetStatus.numberReady",
        "Up-to-date": "apps.v1.DaemonSetStatus.updatedNumberScheduled",
        "Available": "apps.v1.DaemonSetStatus.numberAvailable",
        "Node Selector": "core.v1.PodSpec.nodeSelector",
        "Selector": "apps.v1.DaemonSetSpec.selector",
    }
    status = DaemonSetStatusStrategy()

    def set_defaults(self, obj: Wire) -> None:
        """Fill in a DaemonSet, and the annotation that counts the changes of its template."""
        obj["metadata"].setdefault("annotations", {}).setdefault(TEMPLATE_GENERATION, "0")
        rolling_update(obj["spec"]["updateStrategy"], maxUnavailable=1, maxSurge=0)
        default_template(obj["spec"].setdefault("template", {}))

    def prepare_for_create(self, obj: Wire) -> None:
        obj["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        """Count a change of the template in the annotation, which clients can't change."""
        counted = int((old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1"))
        if obj["spec"].get("template") != old["spec"].get("template"):
            counted += 1
        obj["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = str(counted)

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        selector = spec.get("selector")
        label_selector(selector, "spec.selector", problems)
        found = spec["template"]["metadata"].get("labels") or {}
        if matches(selector, found) is False:
            problems.invalid("spec.template.metadata.labels", sorted_map(found) or None, UNMATCHED)
        if selector is not None and not selector:
            problems.invalid("spec.selector", {}, "empty selector is invalid for daemonset")
        template(spec["template"], "spec.template", problems)
        always_restarted(spec, "DaemonSet", problems)
        problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
        strategy = spec["updateStrategy"]
        if strategy["type"] == "RollingUpdate":
            _rolling_daemons(strategy["rollingUpdate"], "spec.updateStrategy.rollingUpdate", problems)
        elif strategy["type"] != "OnDelete":
            shown = {"Type": strategy["type"], "RollingUpdate": None}
            problems.unsupported("spec.updateStrategy", shown, ("RollingUpdate", "OnDelete"))
        problems.not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed object; here, immutable fields come first."""
        changed_selector(obj, old, problems)
        super().validate_change(obj, old, problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        if old is None or obj["spec"].get("template") != old["spec"].get("template"):
            yield from pod_warnings(obj["spec"].get("template") or {}, "spec.template")


def _rolling_daemons(rolling: Wire, path: str, problems: Problems) -> None:
    for check in (int_or_percent, at_most_all):
        for field in ("maxUnavailable", "maxSurge"):
            check(rolling[field], f"{path}.{field}", problems)
    unavailable, surge = number(rolling["maxUnavailable"]), number(rolling["maxSurge"])
    if unavailable and surge:
        problems.invalid(f"{path}.maxSurge", rolling["maxSurge"], "may not be set when maxUnavailable is non-zero")
    elif not unavailable and not surge:
        problems.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")
