"""Tolerations of devices' taints."""

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems, label_value_problems
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.problems import Problems

EFFECTS = ("NoExecute", "NoSchedule", "None")
OPERATORS = ("Equal", "Exists")


def default_tolerations(found: list[Wire]) -> None:
    """Fill in operators."""
    for toleration in found:
        fill(toleration, "operator", "Equal")


def toleration(found: Wire, path: str, problems: Problems) -> None:
    """Check a toleration."""
    if key := found.get("key"):
        problems.all_invalid(f"{path}.key", key, label_key_problems(key))
    operator, value = found.get("operator") or "", found.get("value") or ""
    if operator == "Exists":
        if value:
            problems.invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        problems.all_invalid(f"{path}.value", value, label_value_problems(value))
    else:
        problems.one_of(f"{path}.operator", operator, OPERATORS)
    if effect := found.get("effect"):
        problems.one_of(f"{path}.effect", effect, EFFECTS)
