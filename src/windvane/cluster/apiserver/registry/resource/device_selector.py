"""Selectors of devices. No expression is run here: they are compiled to see what is wrong with them."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.resource.lists import check_list
from windvane.cluster.apiserver.registry.validation.problems import Problems

MOST_SELECTORS = 32
LONGEST_EXPRESSION = 10 * 1024
HIGHEST_COST = 1_000_000


def selectors(found: list[Wire], path: str, problems: Problems) -> None:
    """Check a list of selectors."""
    check_list(found, MOST_SELECTORS, _selector, path, problems)


def _selector(selector: Wire, path: str, problems: Problems) -> None:
    if (cel := selector.get("cel")) is None:
        problems.required(f"{path}.cel")
        return
    expression, here = cel.get("expression") or "", f"{path}.cel.expression"
    if len(expression.encode()) > LONGEST_EXPRESSION:
        problems.too_long(here, LONGEST_EXPRESSION)
        return
    # The engine takes long to import, and most servers never see a device.
    from windvane.cluster.apiserver.registry.resource.device_expression import compile_selector

    compiled = compile_selector(expression)
    if compiled.problem:
        problems.invalid(here, expression, compiled.problem)
    elif compiled.most_cost > HIGHEST_COST:
        problems.forbidden(here, "too complex, exceeds cost limit")
