"""The strategy of PriorityClass."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, integer
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import scheduling

HIGHEST_PRIORITY = 1_000_000_000
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class PriorityClassStrategy(BuiltinStrategy):
    model = scheduling.PriorityClass
    has_generation = True
    generation_is_constant = True  # there is nothing about it that a controller would have to act upon
    defaults = {"preemptionPolicy": "PreemptLowerPriority"}
    columns = (
        NAME,
        integer("Value", "value"),
        Column("Global-Default", field("globalDefault", False), "boolean"),
        AGE,
        Column("PreemptionPolicy", field("preemptionPolicy")),
    )
    column_fields = {
        "Value": "scheduling.v1.PriorityClass.value",
        "Global-Default": "scheduling.v1.PriorityClass.globalDefault",
        "PreemptionPolicy": "scheduling.v1.PriorityClass.preemptionPolicy",
    }

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        value, name = obj.get("value", 0), obj["metadata"].get("name", "")
        if name.startswith("system-"):
            if why := _system_priority_problem(obj, name):
                rule = "priority class names with 'system-' prefix are reserved for system use only. error: "
                problems.forbidden("metadata.name", f"{rule}{why}")
        elif value > HIGHEST_PRIORITY:
            rule = f"maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}"
            problems.forbidden("value", rule)
        _preemption(obj, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        if obj.get("value", 0) != old.get("value", 0):
            problems.forbidden("value", "may not be changed in an update.")
        problems.immutable("preemptionPolicy", obj.get("preemptionPolicy"), old.get("preemptionPolicy"))


def _system_priority_problem(obj: Wire, name: str) -> str:
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if obj.get("value", 0) != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""


def _preemption(obj: Wire, problems: Problems) -> None:
    policies = ("PreemptLowerPriority", "Never")
    if obj["preemptionPolicy"] not in policies:
        problems.unsupported("preemptionPolicy", obj["preemptionPolicy"], policies)
