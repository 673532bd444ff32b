"""Whether a label selector in a spec selects an object, told from JSON."""

from collections.abc import Mapping

from windvane.api.json_value import Wire
from windvane.api.selector import Requirement, Selector

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def matches(selector: Wire | None, labels: Mapping[str, str]) -> bool | None:
    """Whether the selector matches these labels; None if it makes no sense."""
    if selector is None:
        return False
    try:
        requirements = [Requirement(key, "=", (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
        for each in selector.get("matchExpressions") or ():
            operator = _OPERATORS[each.get("operator", "")]
            requirements.append(Requirement(each.get("key", ""), operator, tuple(each.get("values") or ())))  # type: ignore[arg-type]
    except (ValueError, KeyError):
        return None
    return Selector(requirements).matches(labels)


def sorted_map(found: Mapping[str, str]) -> dict[str, str]:
    """A map in the order in which messages show it."""
    return dict(sorted(found.items()))


def shown_selector(selector: Wire | None) -> Wire | None:
    """A selector with its parts in the order in which messages show them."""
    if selector is None:
        return None
    shown: Wire = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = sorted_map(selector["matchLabels"])
    if selector.get("matchExpressions"):
        fields = ("key", "operator", "values")
        shown["matchExpressions"] = [
            {field: each[field] for field in fields if each.get(field)} for each in selector["matchExpressions"]
        ]
    return shown
