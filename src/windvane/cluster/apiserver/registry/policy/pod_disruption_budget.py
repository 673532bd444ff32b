"""The strategy of PodDisruptionBudget."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, integer
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.int_or_percent import at_most_all, int_or_percent
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.replica_counts import replica_counts
from windvane.cluster.apiserver.registry.validation.selector import shown_selector
from windvane.k8s import policy


class PodDisruptionBudgetStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        replica_counts(obj, ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"), (), problems)


class PodDisruptionBudgetStrategy(BuiltinStrategy):
    model = policy.PodDisruptionBudget
    has_generation = True
    allow_unconditional_update = False
    any_finalizer = True
    checks_metadata_change_once = True
    defaults = {
        "spec": {},
        "status.currentHealthy": 0,
        "status.desiredHealthy": 0,
        "status.disruptionsAllowed": 0,
        "status.expectedPods": 0,
    }
    columns = (
        NAME,
        Column("Min Available", lambda budget: str(field("spec.minAvailable", "N/A")(budget))),
        Column("Max Unavailable", lambda budget: str(field("spec.maxUnavailable", "N/A")(budget))),
        integer("Allowed Disruptions", "status.disruptionsAllowed"),
        AGE,
    )
    status = PodDisruptionBudgetStatusStrategy()

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        if "minAvailable" in spec and "maxUnavailable" in spec:
            shown = {
                "MinAvailable": spec["minAvailable"],
                "Selector": shown_selector(spec.get("selector")),
                "MaxUnavailable": spec["maxUnavailable"],
                "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
            }
            problems.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set")
        for name in ("minAvailable", "maxUnavailable"):
            if name in spec:
                int_or_percent(spec[name], f"spec.{name}", problems)
                at_most_all(spec[name], f"spec.{name}", problems)
        label_selector(spec.get("selector"), "spec.selector", problems)
        policy = spec.get("unhealthyPodEvictionPolicy")
        if policy is not None and policy not in ("AlwaysAllow", "IfHealthyBudget"):
            problems.unsupported("spec.unhealthyPodEvictionPolicy", policy, ("AlwaysAllow", "IfHealthyBudget"))
