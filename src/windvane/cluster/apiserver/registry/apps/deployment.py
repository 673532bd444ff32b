"""The strategy of Deployment."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, containers, field, ratio, selector, wide
from windvane.cluster.apiserver.registry.apps.validation import changed_selector, rolling_update, selected_template
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import named_workload_warnings
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.int_or_percent import at_most_all, int_or_percent, number
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.replica_counts import available_are_ready, replica_counts
from windvane.k8s import apps


class DeploymentStatusStrategy(StatusStrategy):
    keeps_metadata = ("labels",)
    reset_fields = ("spec", "metadata.labels")

    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        fields = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
        replica_counts(
            obj, ("observedGeneration", *fields), ("updatedReplicas", "readyReplicas", "availableReplicas"), problems
        )
        available_are_ready(obj, "cannot be greater than readyReplicas", problems)
        before, now = (each.get("status", {}).get("collisionCount", 0) for each in (old, obj))
        if now < before:
            problems.invalid("status.collisionCount", now, "cannot be decremented")


class DeploymentStrategy(BuiltinStrategy):
    model = apps.Deployment
    has_generation = True
    generation_metadata = "annotations"  # which are copied to its ReplicaSets
    defaults = {
        "spec.progressDeadlineSeconds": 600,
        "spec.replicas": 1,
        "spec.revisionHistoryLimit": 10,
        "spec.strategy.type": "RollingUpdate",
        "status": {},
    }
    columns = (
        NAME,
        Column("Ready", ratio("status.readyReplicas", "spec.replicas")),
        Column("Up-to-date", field("status.updatedReplicas", 0)),
        Column("Available", field("status.availableReplicas", 0)),
        AGE,
        *containers("spec.template.spec.containers"),
        wide("Selector", selector("spec.selector", empty="", wrong="<invalid>")),
    )
    column_fields = {
        "Up-to-date": "apps.v1.DeploymentStatus.updatedReplicas",
        "Available": "apps.v1.DeploymentStatus.availableReplicas",
        "Selector": "apps.v1.DeploymentSpec.selector",
    }
    status = DeploymentStatusStrategy()

    def set_defaults(self, obj: Wire) -> None:
        rolling_update(obj["spec"]["strategy"], maxUnavailable="25%", maxSurge="25%")
        default_template(obj["spec"].setdefault("template", {}))

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        problems.not_negative("spec.replicas", spec.get("replicas"))
        selected_template(spec, "deployment", problems)
        strategy = spec["strategy"]
        if strategy["type"] == "Recreate":
            if "rollingUpdate" in strategy:
                rule = "may not be specified when strategy `type` is 'Recreate'"
                problems.forbidden("spec.strategy.rollingUpdate", rule)
        elif strategy["type"] == "RollingUpdate":
            _rolling_deployment(strategy["rollingUpdate"], "spec.strategy.rollingUpdate", problems)
        else:
            shown = {"Type": strategy["type"], "RollingUpdate": None}
            problems.unsupported("spec.strategy", shown, ("Recreate", "RollingUpdate"))
        problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
        problems.not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
        deadline = spec["progressDeadlineSeconds"]
        problems.not_negative("spec.progressDeadlineSeconds", deadline)
        if deadline <= spec.get("minReadySeconds", 0):
            problems.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        changed_selector(obj, old, problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        yield from named_workload_warnings(obj, old)


def _rolling_deployment(rolling: Wire, path: str, problems: Problems) -> None:
    for name in ("maxUnavailable", "maxSurge"):
        int_or_percent(rolling[name], f"{path}.{name}", problems)
    if number(rolling["maxUnavailable"]) == 0 and number(rolling["maxSurge"]) == 0:
        rule = "may not be 0 when `maxSurge` is 0"
        problems.invalid(f"{path}.maxUnavailable", rolling["maxUnavailable"], rule)
    at_most_all(rolling["maxUnavailable"], f"{path}.maxUnavailable", problems)
