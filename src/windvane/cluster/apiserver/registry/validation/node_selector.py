"""Rules for node selectors: terms over labels of nodes, and over their names."""

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems, label_value_problems, subdomain_problems
from windvane.cluster.apiserver.registry.validation.problems import Problems


def node_selector(selector: Wire, path: str, problems: Problems) -> None:
    """Check a node selector."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        problems.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]", problems)


def node_selector_term(term: Wire, path: str, problems: Problems, *, any_value: bool = False) -> None:
    """Check one of its terms; `any_value`, if values may be compared with that no label can have."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        _expression(expression, f"{path}.matchExpressions[{index}]", problems, any_value=any_value)
    for index, expression in enumerate(term.get("matchFields") or ()):
        _field(expression, f"{path}.matchFields[{index}]", problems)


def _expression(expression: Wire, path: str, problems: Problems, *, any_value: bool) -> None:
    operator, values, key = expression.get("operator", ""), expression.get("values") or [], expression.get("key", "")
    if operator in ("In", "NotIn"):
        if not values:
            problems.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            problems.forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            problems.required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    problems.all_invalid(f"{path}.key", key, label_key_problems(key))
    if not any_value:
        for index, value in enumerate(values):
            problems.all_invalid(f"{path}.values[{index}]", value, label_value_problems(value))


def _field(expression: Wire, path: str, problems: Problems) -> None:
    operator, values, key = expression.get("operator", ""), expression.get("values") or [], expression.get("key", "")
    if operator not in ("In", "NotIn"):
        problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        problems.required(f"{path}.values", rule)
    if key != "metadata.name":
        problems.invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        problems.all_invalid(f"{path}.values[{index}]", value, subdomain_problems(value))
