"""Conditions that a device must have, or must not have, before pods may be bound to its node."""

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.registry.resource.lists import check_list, no_duplicates
from windvane.cluster.apiserver.registry.validation.problems import Problems

MOST_CONDITIONS = 4


def binding_conditions(device: Wire, path: str, problems: Problems) -> None:
    """Check both lists of conditions."""
    ready, failed = device.get("bindingConditions") or [], device.get("bindingFailureConditions") or []
    for field, found in (("bindingConditions", ready), ("bindingFailureConditions", failed)):
        check_list(found, MOST_CONDITIONS, _condition, f"{path}.{field}", problems)
    no_duplicates(ready, f"{path}.bindingConditions", problems)
    seen: set[str] = set()
    for index, condition in enumerate(failed):
        here = f"{path}.bindingFailureConditions[{index}]"
        if condition in seen:
            problems.duplicate(here, condition)
        seen.add(condition)
        if condition in ready:
            problems.invalid(here, condition, "bindingFailureConditions must not overlap with bindingConditions")
    if failed and not ready:
        rule = "bindingConditions are required to use bindingFailureConditions"
        problems.invalid(f"{path}.bindingConditions", None, rule)
    if ready and not failed:
        rule = "bindingFailureConditions are required to use bindingConditions"
        problems.invalid(f"{path}.bindingFailureConditions", None, rule)


def _condition(name: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, name, label_key_problems(name))
